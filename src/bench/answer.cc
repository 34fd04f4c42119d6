#include "bench/answer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "codec/json_reader.h"

namespace gimbal::bench {
namespace {

constexpr size_t kLongestErrorType = 64;

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes the part before `separator` (outside of quotes) off the front.
std::string_view TakePart(std::string_view& text, char separator) {
  bool quoted = false;
  size_t end = 0;
  while (end < text.size() && (quoted || text[end] != separator)) {
    if (text[end] == '"') quoted = !quoted;
    if (quoted && text[end] == '\\' && end + 1 < text.size()) ++end;
    ++end;
  }
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return Trim(part);
}

std::optional<double> Number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<codec::JsonValue> Member(const codec::JsonValue& object, std::string_view key) {
  if (!object.is(codec::JsonType::kObject)) return std::nullopt;
  for (const codec::JsonMember& member : object.members()) {
    if (member.key == key) return member.value;
  }
  return std::nullopt;
}

std::string TypeOf(const codec::JsonValue& object, std::string_view key) {
  const auto value = Member(object, key);
  if (!value || !value->is(codec::JsonType::kString)) return "";
  return std::string(value->string().substr(0, kLongestErrorType));
}

std::string ErrorBodyType(int status, std::string_view body) {
  std::string type;
  if (const auto document = codec::JsonDocument::Parse(body, "body"); document.ok()) {
    const codec::JsonValue root = document->root();
    type = TypeOf(root, "type");
    // OpenAI's shape: `code` is our type, `type` its own wider class.
    if (const auto error = Member(root, "error"); type.empty() && error) {
      type = TypeOf(*error, "code");
      if (type.empty()) type = TypeOf(*error, "type");
    }
  }
  return type.empty() ? "http_" + std::to_string(status) : type;
}

// The string after `"key":`, in the part of `body` that holds no values of the client.
std::string_view StringAfter(std::string_view body, std::string_view key) {
  size_t at = body.find(key);
  if (at == std::string_view::npos) return {};
  at = body.find_first_not_of(" \t\r\n:", at + key.size());
  if (at == std::string_view::npos || body[at] != '"') return {};
  const size_t end = body.find('"', at + 1);
  return end == std::string_view::npos ? std::string_view() : body.substr(at + 1, end - at - 1);
}

}  // namespace

void ParseServerTiming(std::string_view header, std::vector<StageTime>& stages) {
  stages.clear();
  while (!header.empty()) {
    std::string_view metric = TakePart(header, ',');
    const std::string_view name = TakePart(metric, ';');
    std::optional<double> ms;
    while (!metric.empty()) {
      const std::string_view parameter = TakePart(metric, ';');
      const size_t equals = parameter.find('=');
      if (equals == std::string_view::npos || Trim(parameter.substr(0, equals)) != "dur") continue;
      std::string_view value = Trim(parameter.substr(equals + 1));
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
      }
      if (!ms) ms = Number(value);
    }
    if (!name.empty() && name != "total" && ms && *ms >= 0) stages.push_back({name, *ms});
  }
}

std::string AnswerError(model::Protocol protocol, int status, std::string_view body) {
  if (status < 200 || status >= 300) return ErrorBodyType(status, body);
  // Whole answers are large and mostly numbers; only what tells success is looked at.
  if (protocol == model::Protocol::kOpenAi) {
    return body.starts_with('{') && body.find("\"data\"") != std::string_view::npos ? ""
                                                                                    : "malformed";
  }
  const std::string_view told = StringAfter(body.substr(0, 1024), "\"status\"");
  if (told == "ok") return "";
  return told == "partial" ? "partial" : "malformed";
}

double BatchSizeOfCost(std::string_view body) {
  constexpr std::string_view kKey = "\"batch_size\"";
  const std::string_view tail = body.substr(body.size() - std::min<size_t>(body.size(), 1024));
  size_t at = tail.rfind(kKey);
  if (at == std::string_view::npos) return 0;
  at = tail.find_first_not_of(" \t\r\n:", at + kKey.size());
  if (at == std::string_view::npos) return 0;
  const size_t end = std::min(tail.find_first_of(",} \t\r\n", at), tail.size());
  return std::max(0., Number(tail.substr(at, end - at)).value_or(0));
}

}  // namespace gimbal::bench
