#include "net/url.h"

#include <algorithm>
#include <charconv>

namespace gimbal::net {

Result<Url> ParseUrl(std::string_view text) {
  const std::string shown(text.substr(0, 200));
  const auto bad = [&](const std::string& what) {
    return InvalidError("URL \"" + shown + "\": " + what + ", expected http://HOST:PORT");
  };
  constexpr std::string_view kScheme = "http://";
  if (text.starts_with("https://")) return bad("https is not supported by this version");
  if (!text.starts_with(kScheme)) return bad("unknown scheme");
  text.remove_prefix(kScheme.size());
  Url url;
  const size_t slash = std::min(text.find('/'), text.size());
  url.authority = text.substr(0, slash);
  url.path = text.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  std::string_view host = url.authority;
  const size_t bracket = host.rfind(']');
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const std::string_view port = host.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc() || end != port.data() + port.size() || url.port == 0) {
      return bad("bad port");
    }
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || host.find_first_of("[]@?# \t\r\n") != std::string_view::npos ||
      url.path.find_first_of("?# \t\r\n") != std::string::npos) {
    return bad("bad host or path");
  }
  url.host = host;
  return url;
}

std::string FormatRequest(const Url& url, std::string_view path, std::string_view content_type,
                          std::string_view body) {
  const bool post = !content_type.empty();
  std::string bytes;
  bytes.reserve(160 + url.path.size() + path.size() + url.authority.size() + body.size());
  bytes.append(post ? "POST " : "GET ").append(url.path).append(path).append(" HTTP/1.1\r\nHost: ");
  bytes.append(url.authority).append("\r\nUser-Agent: gimbal\r\n");
  if (post) {
    bytes.append("Content-Type: ").append(content_type);
    bytes.append("\r\nContent-Length: ").append(std::to_string(body.size())).append("\r\n");
  }
  return bytes.append("\r\n").append(body);
}

}  // namespace gimbal::net
