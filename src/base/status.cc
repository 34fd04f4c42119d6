#include "base/status.h"

#include <array>

namespace gimbal {
namespace {

struct CodeRow {
  Code code;
  std::string_view name;
  int http;
  int grpc;
};

// grpc: 0 OK, 1 CANCELLED, 3 INVALID_ARGUMENT, 4 DEADLINE_EXCEEDED, 5 NOT_FOUND, 7
// PERMISSION_DENIED, 8 RESOURCE_EXHAUSTED, 11 OUT_OF_RANGE, 13 INTERNAL, 14 UNAVAILABLE, 16
// UNAUTHENTICATED.
constexpr std::array<CodeRow, kCodeCount> kCodes = {{
    {Code::kOk, "ok", 200, 0},
    {Code::kInvalid, "invalid", 400, 3},
    {Code::kUnauthenticated, "unauthenticated", 401, 16},
    {Code::kForbidden, "forbidden", 403, 7},
    {Code::kNotFound, "not_found", 404, 5},
    {Code::kTooLarge, "too_large", 413, 11},
    {Code::kUnsupportedMedia, "unsupported_media", 415, 3},
    {Code::kUnprocessable, "unprocessable", 422, 3},
    {Code::kOverloaded, "overloaded", 429, 8},
    {Code::kQuota, "quota", 429, 8},
    {Code::kUnavailable, "unavailable", 503, 14},
    {Code::kOutOfMemoryBudget, "out_of_memory_budget", 503, 14},
    {Code::kDeadline, "deadline", 504, 4},
    {Code::kCancelled, "cancelled", 499, 1},
    {Code::kInternal, "internal", 500, 13},
}};

constexpr bool TableInEnumOrder() {
  for (int i = 0; i < kCodeCount; ++i) {
    if (static_cast<int>(kCodes[i].code) != i) return false;
  }
  return true;
}
static_assert(TableInEnumOrder());

const CodeRow& Row(Code code) { return kCodes[static_cast<size_t>(code)]; }

}  // namespace

std::string_view CodeName(Code code) { return Row(code).name; }
int HttpStatus(Code code) { return Row(code).http; }
int GrpcStatus(Code code) { return Row(code).grpc; }

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  Status out = *this;
  out.message_ = std::string(context) + ": " + message_;
  return out;
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  return std::string(CodeName(code_)) + ": " + message_;
}

Status InvalidError(std::string message) { return {Code::kInvalid, std::move(message)}; }
Status NotFoundError(std::string message) { return {Code::kNotFound, std::move(message)}; }
Status TooLargeError(std::string message) { return {Code::kTooLarge, std::move(message)}; }
Status UnprocessableError(std::string message) {
  return {Code::kUnprocessable, std::move(message)};
}
Status UnavailableError(std::string message) { return {Code::kUnavailable, std::move(message)}; }
Status DeadlineError(std::string message) { return {Code::kDeadline, std::move(message)}; }
Status CancelledError(std::string message) { return {Code::kCancelled, std::move(message)}; }
Status InternalError(std::string message) { return {Code::kInternal, std::move(message)}; }

}  // namespace gimbal
