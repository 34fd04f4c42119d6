#include "frontend/http/headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gimbal::frontend {
namespace {

constexpr size_t kMaxRequestId = 128;
constexpr size_t kShown = 64;  // of a header's value in a message
constexpr double kMaxTimeoutMs = 24.0 * 3600 * 1000;

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return out;
}

Status Unsupported(std::string_view header, std::string_view expected, std::string_view got) {
  return {Code::kUnsupportedMedia,
          fmt::format("{}: expected {}, got \"{}\"", header, expected, got.substr(0, kShown))};
}

}  // namespace

std::optional<std::string> RequestIdOf(const net::RequestHead& head) {
  const auto id = head.Find("x-request-id");
  if (!id || id->empty() || id->size() > kMaxRequestId) return std::nullopt;
  const auto printable = [](char c) { return c > ' ' && c <= '~'; };
  if (!std::all_of(id->begin(), id->end(), printable)) return std::nullopt;
  return std::string(*id);
}

Result<std::optional<Duration>> TimeoutOf(const net::RequestHead& head) {
  const auto given = head.Find("x-timeout-ms");
  if (!given) return std::optional<Duration>();
  const std::string_view text = Trim(*given);
  double ms = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), ms);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  if (!whole || !std::isfinite(ms) || ms <= 0) {
    return InvalidError(
        fmt::format("X-Timeout-Ms: expected a number of milliseconds above 0, got \"{}\"",
                    text.substr(0, kShown)));
  }
  return std::optional<Duration>(FromSeconds(std::min(ms, kMaxTimeoutMs) / 1000));
}

Status CheckJsonBody(const net::RequestHead& head) {
  constexpr std::string_view kExpected = "application/json";
  if (const auto encoding = head.Find("content-encoding")) {
    const std::string value = Lower(Trim(*encoding));
    if (!value.empty() && value != "identity") {
      return Unsupported("Content-Encoding", "identity", *encoding);
    }
  }
  const auto type = head.Find("content-type");
  if (!type || Trim(*type).empty()) return Status::Ok();
  std::string value = Lower(*type);
  const size_t semicolon = value.find(';');
  if (Trim(std::string_view(value).substr(0, semicolon)) != kExpected) {
    return Unsupported("Content-Type", kExpected, *type);
  }
  const size_t charset = value.find("charset=");
  if (charset == std::string::npos) return Status::Ok();
  std::erase(value, '"');
  std::string_view name = std::string_view(value).substr(value.find("charset=") + 8);
  name = Trim(name.substr(0, name.find(';')));
  if (name == "utf-8" || name == "utf8") return Status::Ok();
  return Unsupported("Content-Type", "charset=utf-8", *type);
}

}  // namespace gimbal::frontend
