#include "config/settings.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.h"
#include "base/units.h"
#include "config/suggest.h"

namespace gimbal::config {
namespace {

constexpr size_t kLongestName = 128;
constexpr size_t kLongestPath = 4096;  // PATH_MAX of Linux

// The value as it came, cut so that a hostile file cannot flood the message.
std::string Quoted(std::string_view text) {
  constexpr size_t kShown = 64;
  return "\"" + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "…\"" : "\"");
}

Status Expected(const std::string& what, std::string_view got) {
  return InvalidError("expected " + what + ", got " + (got.empty() ? "nothing" : Quoted(got)));
}

bool IsAlnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "a, b or c".
std::string Alternatives(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

Result<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  if (error == std::errc::result_out_of_range) {
    return text.starts_with('-') ? std::numeric_limits<int64_t>::min()
                                 : std::numeric_limits<int64_t>::max();
  }
  return Expected("an integer", text);
}

// A number of the setting's base unit.
Result<int64_t> ParseNumber(const Setting& setting, std::string_view text) {
  if (setting.type == Type::kInt) return ParseInteger(text);
  if (setting.type == Type::kBytes) {
    ASSIGN_OR_RETURN(const Bytes bytes, ParseBytes(text));
    return bytes.value;
  }
  ASSIGN_OR_RETURN(const Duration duration, ParseDuration(text));
  return duration.count();
}

std::string NumberText(const Setting& setting, int64_t value) {
  if (setting.type == Type::kInt) return std::to_string(value);
  if (setting.type == Type::kBytes) return FormatBytes(Bytes{value});
  // Seconds are what people write for nothing at all.
  return value == 0 ? "0s" : FormatDuration(Duration(value));
}

Status CheckChoice(const Setting& setting, std::string_view text) {
  const std::vector<std::string_view> choices = SplitWords(setting.choices);
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return Status::Ok();
  std::string message = Expected(Alternatives(choices), text).message();
  const std::string_view near = Nearest(text, choices);
  if (!near.empty()) message += "; did you mean \"" + std::string(near) + "\"?";
  return InvalidError(message);
}

Status CheckPath(std::string_view text) {
  const bool control = std::any_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (text.empty() || text.size() > kLongestPath || control) return Expected("a path", text);
  return Status::Ok();
}

Status CheckText(const Setting& setting, std::string_view text) {
  if (text.empty() && !setting.zero.empty()) return Status::Ok();
  switch (setting.type) {
    case Type::kAddress:
      return CheckAddress(text);
    case Type::kName:
      return CheckName(text);
    case Type::kPath:
      return CheckPath(text);
    default:
      return CheckChoice(setting, text);
  }
}

Status SetNumber(const Setting& setting, std::string_view text, const Field& field) {
  ASSIGN_OR_RETURN(const int64_t value, ParseNumber(setting, text));
  const bool means_zero = value == 0 && !setting.zero.empty();
  if (!means_zero && (value < setting.min || value > setting.max)) {
    return InvalidError("expected " + RangeText(setting) + ", got " + std::string(text));
  }
  if (auto* number = std::get_if<int*>(&field)) **number = static_cast<int>(value);
  if (auto* bytes = std::get_if<Bytes*>(&field)) **bytes = Bytes{value};
  if (auto* duration = std::get_if<Duration*>(&field)) **duration = Duration(value);
  return Status::Ok();
}

}  // namespace

std::string_view SectionName(Section section) {
  switch (section) {
    case Section::kServer:
      return "server";
    case Section::kLimits:
      return "limits";
    case Section::kModel:
      return "models";
  }
  return "";
}

Status SetText(const Setting& setting, std::string_view text, const Place& place) {
  const Field field = setting.field(place);
  if (auto* flag = std::get_if<bool*>(&field)) {
    if (text != "true" && text != "false") return Expected("true or false", text);
    **flag = text == "true";
    return Status::Ok();
  }
  if (auto* string = std::get_if<std::string*>(&field)) {
    RETURN_IF_ERROR(CheckText(setting, text));
    **string = std::string(text);
    return Status::Ok();
  }
  return SetNumber(setting, text, field);
}

std::string GetText(const Setting& setting, const Place& place) {
  const Field field = setting.field(place);
  if (auto* flag = std::get_if<bool*>(&field)) return **flag ? "true" : "false";
  if (auto* string = std::get_if<std::string*>(&field)) return **string;
  if (auto* number = std::get_if<int*>(&field)) return NumberText(setting, **number);
  if (auto* bytes = std::get_if<Bytes*>(&field)) return NumberText(setting, (*bytes)->value);
  return NumberText(setting, (*std::get<Duration*>(field)).count());
}

std::string DefaultText(const Setting& setting) {
  ServerConfig server;
  LimitsConfig limits;
  ModelConfig model;
  return GetText(setting, {&server, &limits, &model});
}

std::string RangeText(const Setting& setting) {
  switch (setting.type) {
    case Type::kBool:
      return "true or false";
    case Type::kAddress:
      return "HOST:PORT";
    case Type::kName:
      return "letters, digits, \".\", \"_\" and \"-\"";
    case Type::kPath:
      return "a path";
    case Type::kChoice:
      return Alternatives(SplitWords(setting.choices));
    default:
      break;
  }
  std::string text = NumberText(setting, setting.min) + ".." + NumberText(setting, setting.max);
  if (!setting.unit.empty()) text += " " + std::string(setting.unit);
  return setting.zero.empty() ? text : NumberText(setting, 0) + " or " + text;
}

std::string TypeText(const Setting& setting) {
  switch (setting.type) {
    case Type::kBool:
      return "boolean";
    case Type::kInt:
      return "integer";
    case Type::kBytes:
      return "size";
    case Type::kDuration:
      return "duration";
    case Type::kAddress:
      return "address";
    case Type::kName:
      return "name";
    case Type::kPath:
      return "path";
    case Type::kChoice:
      return "choice";
  }
  return "";
}

std::vector<std::string_view> SplitWords(std::string_view words) {
  std::vector<std::string_view> list;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (end > 0) list.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return list;
}

Status CheckAddress(std::string_view text) {
  const std::string what = "HOST:PORT such as 127.0.0.1:8000";
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return Expected(what, text);
  const std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  int number = -1;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool port_ok = error == std::errc() && end == port.data() + port.size() && number >= 0 &&
                       number <= 65535 && port.size() <= 5;
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string_view name = bracketed ? host.substr(1, host.size() - 2) : host;
  const bool host_ok = std::all_of(name.begin(), name.end(), [&](char c) {
    return IsAlnum(c) || c == '.' || c == '-' || c == '_' || (bracketed && (c == ':' || c == '%'));
  });
  if (!port_ok || !host_ok || host.size() > 255) return Expected(what, text);
  return Status::Ok();
}

Status CheckName(std::string_view text) {
  const bool letters = std::all_of(text.begin(), text.end(), [](char c) {
    return IsAlnum(c) || c == '.' || c == '_' || c == '-';
  });
  if (text.empty() || text.size() > kLongestName || !letters || !IsAlnum(text.front())) {
    return Expected(
        "a name of letters, digits, \".\", \"_\" and \"-\" that starts with a letter or "
        "digit",
        text);
  }
  return Status::Ok();
}

}  // namespace gimbal::config
