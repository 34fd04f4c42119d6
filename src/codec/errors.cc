#include "codec/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/json_writer.h"

namespace gimbal::codec {
namespace {

// The public API's own error types; our code goes into `code`.
std::string_view OpenAiType(Code code) {
  switch (code) {
    case Code::kUnauthenticated:
      return "authentication_error";
    case Code::kForbidden:
      return "permission_error";
    case Code::kOverloaded:
    case Code::kQuota:
      return "rate_limit_error";
    case Code::kUnavailable:
    case Code::kOutOfMemoryBudget:
    case Code::kDeadline:
    case Code::kCancelled:
    case Code::kInternal:
      return "server_error";
    default:
      return "invalid_request_error";
  }
}

void WriteNative(JsonWriter& w, const Status& status, std::string_view id) {
  w.BeginObject();
  if (!id.empty()) w.Key("id").String(id);
  w.Key("status").String("error").Key("type").String(CodeName(status.code()));
  w.Key("reason").String(status.message());
  if (status.retry_after()) w.Key("retry_after_ms").Int(status.retry_after()->count());
  w.EndObject();
}

void WriteOpenAi(JsonWriter& w, const Status& status, std::string_view param) {
  w.BeginObject().Key("error").BeginObject();
  w.Key("message").String(status.message()).Key("type").String(OpenAiType(status.code()));
  w.Key("param");
  param.empty() ? w.Null() : w.String(param);
  w.Key("code").String(CodeName(status.code()));
  if (status.retry_after()) w.Key("retry_after_ms").Int(status.retry_after()->count());
  w.EndObject().EndObject();
}

void WriteKserve(JsonWriter& w, const Status& status) {
  w.BeginObject().Key("error").String(status.message());
  if (status.retry_after()) w.Key("retry_after_ms").Int(status.retry_after()->count());
  w.EndObject();
}

// Levenshtein distance; both words are short.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

Answer EncodeError(model::Protocol protocol, const Status& status, std::string_view label) {
  CHECK(!status.ok(), "an error answer needs an error");
  JsonWriter w;
  switch (protocol) {
    case model::Protocol::kNative:
      WriteNative(w, status, label);
      break;
    case model::Protocol::kOpenAi:
      WriteOpenAi(w, status, label);
      break;
    case model::Protocol::kKserve:
      WriteKserve(w, status);
      break;
  }
  return {HttpStatus(status.code()), status.code(), std::move(w).Take(), status.retry_after()};
}

std::string RetryAfterSeconds(std::chrono::milliseconds after) {
  return std::to_string(std::max<int64_t>(1, (after.count() + 999) / 1000));
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> known) {
  constexpr size_t kLongest = 32;
  if (word.size() > kLongest) return "";
  std::string_view best;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;  // about one slip in three letters
  for (const std::string_view candidate : known) {
    const size_t distance = Distance(word, candidate);
    if (distance < least) least = distance, best = candidate;
  }
  return best.empty() ? "" : fmt::format(", did you mean \"{}\"?", best);
}

}  // namespace gimbal::codec
