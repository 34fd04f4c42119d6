#include "net/http_message.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace gimbal::net {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return Lower(x) == Lower(y); });
}

// A line break inside a value would end the field and begin another one.
void AppendValue(std::string& out, std::string_view value) {
  for (const char c : value) out += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
}

}  // namespace

std::string_view RequestHead::path() const {
  std::string_view path = target();
  // Absolute form, as proxies send it: "http://host/path".
  if (const size_t scheme = path.find("://"); scheme != std::string_view::npos && path[0] != '/') {
    const size_t slash = path.find('/', scheme + 3);
    path = slash == std::string_view::npos ? "/" : path.substr(slash);
  }
  return path.substr(0, path.find('?'));
}

std::optional<std::string_view> RequestHead::Find(std::string_view name) const {
  for (const Field& field : fields_) {
    if (EqualIgnoringCase(View(field.name), name)) return View(field.value);
  }
  return std::nullopt;
}

RequestHead::Span RequestHead::Append(std::string_view text) {
  const Span span{static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(text.size())};
  text_.append(text);
  return span;
}

void RequestHead::SetRequestLine(std::string_view method, std::string_view target, int version) {
  constexpr size_t kUsualHead = 512;
  text_.reserve(kUsualHead);
  fields_.reserve(8);
  method_ = Append(method);
  target_ = Append(target);
  version_ = version;
}

void RequestHead::AddField(std::string_view name, std::string_view value) {
  const Span at = Append(name);
  fields_.push_back({at, Append(value)});
}

void RequestHead::SetFraming(std::optional<uint64_t> content_length, bool chunked,
                             bool keep_alive) {
  content_length_ = content_length;
  chunked_ = chunked;
  keep_alive_ = keep_alive;
}

void RequestHead::Clear() { *this = RequestHead(); }

HttpExchange::HttpExchange(std::shared_ptr<ExchangeSink> sink, RequestHead head, Times times)
    : sink_(std::move(sink)), head_(std::move(head)), times_(times) {}

HttpExchange::~HttpExchange() {
  if (!sink_) return;
  Reply({.status = 500,
         .content_type = "text/plain",
         .headers = {},
         .body = "the request was dropped without an answer\n"},
        nullptr);
}

void HttpExchange::Reply(HttpResponse response, SentFn sent) {
  CHECK(sink_ != nullptr, "an exchange is answered once");
  std::exchange(sink_, nullptr)->Reply(std::move(response), std::move(sent));
}

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

std::string FormatResponseHead(const HttpResponse& response, bool http10, bool keep_alive) {
  std::string out;
  out.reserve(512);
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", response.status,
                 ReasonPhrase(response.status));
  if (!response.body.empty()) {
    fmt::format_to(std::back_inserter(out), "Content-Type: {}\r\n", response.content_type);
  }
  fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", response.body.size());
  for (const auto& [name, value] : response.headers) {
    out.append(name).append(": ");
    AppendValue(out, value);
    out += "\r\n";
  }
  if (!keep_alive) {
    out += "Connection: close\r\n";
  } else if (http10) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
  return out;
}

}  // namespace gimbal::net
