#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gimbal::net {

// "http://host[:port][/path]" taken apart.
struct Url {
  std::string host;  // IPv6 addresses without their brackets
  uint16_t port = 80;
  std::string path;       // "" or "/...", without a / at its end
  std::string authority;  // for the Host field: "127.0.0.1:8000", "[::1]:8000"
};
Result<Url> ParseUrl(std::string_view text);

// The bytes of one HTTP/1.1 request; POST when there is a content type, else GET.
std::string FormatRequest(const Url& url, std::string_view path, std::string_view content_type,
                          std::string_view body);

}  // namespace gimbal::net
