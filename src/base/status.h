#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gimbal {

// The canonical error codes, and the only list of them. Name, HTTP status and gRPC status of each
// stand in one table in status.cc.
enum class Code {
  kOk,
  kInvalid,            // malformed or contradictory input
  kUnauthenticated,    // no valid credential
  kForbidden,          // the credential does not allow this
  kNotFound,           // unknown model, version or route
  kTooLarge,           // over a stated limit, or can never fit the memory budget
  kUnsupportedMedia,   // content type or encoding
  kUnprocessable,      // a text or an image that cannot be tokenised or decoded
  kOverloaded,         // queue full; carries retry_after
  kQuota,              // the client's own rate or quota; carries retry_after
  kUnavailable,        // not ready, killed or draining
  kOutOfMemoryBudget,  // no memory free at the moment
  kDeadline,           // the deadline passed
  kCancelled,          // the client left
  kInternal,           // a fault of ours
};

inline constexpr int kCodeCount = static_cast<int>(Code::kInternal) + 1;

// The `type` of an error on every protocol and the `code` label of metrics: "ok", "invalid", ...
std::string_view CodeName(Code code);
int HttpStatus(Code code);  // 200, 400, ...; 499 for kCancelled, which is never sent
int GrpcStatus(Code code);  // numeric grpc::StatusCode

// Success, or a code with a message for the person who sent the request. The message names the
// field, what was expected and what came; it never holds a payload or a secret.
class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Ok() { return {}; }

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // When a refused client should try again; only with kOverloaded, kQuota and kUnavailable.
  const std::optional<std::chrono::milliseconds>& retry_after() const { return retry_after_; }
  Status&& WithRetryAfter(std::chrono::milliseconds after) && {
    retry_after_ = after;
    return std::move(*this);
  }
  // The same status with `context: ` in front of its message.
  Status WithContext(std::string_view context) const;

  std::string ToString() const;  // "invalid: message", or "ok"

 private:
  Code code_ = Code::kOk;
  std::string message_;
  std::optional<std::chrono::milliseconds> retry_after_;
};

Status InvalidError(std::string message);
Status NotFoundError(std::string message);
Status TooLargeError(std::string message);
Status UnprocessableError(std::string message);
Status UnavailableError(std::string message);
Status DeadlineError(std::string message);
Status CancelledError(std::string message);
Status InternalError(std::string message);

#define GIMBAL_CONCAT_INNER(a, b) a##b
#define GIMBAL_CONCAT(a, b) GIMBAL_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expr` (a Status) is an error.
#define RETURN_IF_ERROR(expr)                                                            \
  do {                                                                                   \
    if (::gimbal::Status status_macro = (expr); !status_macro.ok()) return status_macro; \
  } while (false)

// `lhs` = value of `expr` (a Result<T>), or return its error.
#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_INNER(GIMBAL_CONCAT(result_macro_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_INNER(result, lhs, expr) \
  auto result = (expr);                           \
  if (!result.ok()) return result.status();       \
  lhs = std::move(result).value()

}  // namespace gimbal
