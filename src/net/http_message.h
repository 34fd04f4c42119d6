#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "base/units.h"

namespace gimbal::net {

// Request line and header fields of one request. All text lives in one string, so a head costs two
// allocations and the views stay valid until the head is assigned to or destroyed; a moved head
// keeps its fields. Owned by whoever holds it; not shared between threads.
class RequestHead {
 public:
  std::string_view method() const { return View(method_); }  // as sent: "GET"
  std::string_view target() const { return View(target_); }  // as sent: "/v2/models/m?x=1"
  std::string_view path() const;                             // the target's path, not decoded
  int version() const { return version_; }                   // 10 or 11

  // Value of the first field of that name (ASCII case does not matter), or nothing.
  std::optional<std::string_view> Find(std::string_view name) const;
  size_t field_count() const { return fields_.size(); }

  // What the framing fields say.
  std::optional<uint64_t> content_length() const { return content_length_; }
  bool chunked() const { return chunked_; }
  bool keep_alive() const { return keep_alive_; }
  bool has_body() const { return chunked_ || content_length_.value_or(0) > 0; }

  // For the parser and for tests.
  void SetRequestLine(std::string_view method, std::string_view target, int version);
  void AddField(std::string_view name, std::string_view value);
  void SetFraming(std::optional<uint64_t> content_length, bool chunked, bool keep_alive);
  void Clear();

 private:
  struct Span {
    uint32_t offset = 0;
    uint32_t size = 0;
  };
  struct Field {
    Span name;
    Span value;
  };
  Span Append(std::string_view text);
  std::string_view View(Span span) const {
    return std::string_view(text_).substr(span.offset, span.size);
  }

  std::string text_;
  std::vector<Field> fields_;
  Span method_;
  Span target_;
  int version_ = 11;
  std::optional<uint64_t> content_length_;
  bool chunked_ = false;
  bool keep_alive_ = true;
};

// An answer. The server adds Content-Length and, where it must, Connection; line breaks in header
// values become spaces.
struct HttpResponse {
  int status = 200;
  std::string_view content_type = "application/json";             // REQUIRES: static storage
  std::vector<std::pair<std::string_view, std::string>> headers;  // names: static storage
  std::string body;
  bool close = false;  // end the connection after this answer
};

// What became of an answer.
struct SentInfo {
  TimePoint at;     // when the last byte was handed to the socket, or the failure was seen
  Bytes bytes;      // handed over, head included
  bool ok = false;  // false: the client had left, or the server was stopped
};
using SentFn = std::function<void(const SentInfo&)>;

// Why the server itself cuts a request off before its body is complete.
struct Refusal {
  Status status;        // OK: the request is complete
  int http_status = 0;  // 0: the one of the status' code
};

// Where an exchange sends its answer: the connection, or a puppet in tests.
class ExchangeSink {
 public:
  virtual ~ExchangeSink() = default;
  virtual void Reply(HttpResponse response, SentFn sent) = 0;
  virtual void Run(std::function<void()> work) = 0;
  virtual void SetGone(std::function<void()> gone) = 0;
};

// One request and the duty to answer it exactly once. Made by the server, owned by the handler,
// which may pass it to any thread. An exchange that is destroyed unanswered answers 500.
//
//   exchange->Reply({.status = 200, .body = "{}"}, [](const SentInfo& sent) { ... });
class HttpExchange {
 public:
  struct Times {
    TimePoint first_byte;  // the read that brought the first byte of the request
    TimePoint received;    // the request was complete, or refused
  };
  HttpExchange(std::shared_ptr<ExchangeSink> sink, RequestHead head, Times times);
  ~HttpExchange();
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  const RequestHead& head() const { return head_; }
  std::string& body() { return body_; }
  // Not OK: the server cut the request off; the handler answers with this and nothing else.
  const Refusal& refusal() const { return refusal_; }
  // False: the handler asked in OnHeaders not to read the body, or the request was refused.
  bool body_read() const { return body_read_; }
  TimePoint first_byte() const { return times_.first_byte; }
  TimePoint received() const { return times_.received; }
  Bytes request_bytes() const { return request_bytes_; }  // read for this request

  // `gone` runs on the connection's I/O thread, at most once, when the client leaves before the
  // answer. REQUIRES: called inside OnRequest.
  void WatchClient(std::function<void()> gone) { sink_->SetGone(std::move(gone)); }

  // Runs `work` on the connection's I/O thread: at once when already there; in the caller when the
  // server has been stopped. Never dropped. Any thread.
  void RunOnIoThread(std::function<void()> work) { sink_->Run(std::move(work)); }

  // Any thread. `sent` (may be empty) runs exactly once: on the I/O thread, or in the caller when
  // the server has been stopped. REQUIRES: not answered yet.
  void Reply(HttpResponse response, SentFn sent);

  // For the server and for tests.
  void set_body(std::string body, bool read) { body_ = std::move(body), body_read_ = read; }
  void set_refusal(Refusal refusal) { refusal_ = std::move(refusal); }
  void set_request_bytes(Bytes bytes) { request_bytes_ = bytes; }

 private:
  std::shared_ptr<ExchangeSink> sink_;  // null once answered
  RequestHead head_;
  std::string body_;
  Times times_;
  Refusal refusal_;
  Bytes request_bytes_;
  bool body_read_ = true;
};

// What the server shall do with the body of a request whose headers it has read.
struct BodyPlan {
  bool read = true;  // false: hand the request over now; its body is never stored
  Bytes max_body;    // longer is refused: unread when Content-Length says so, else cut there
};

// Whoever answers requests. Called on I/O threads, for different connections at the same time; must
// not block and must not throw. Outlives the server and all exchanges.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  virtual BodyPlan OnHeaders(const RequestHead& head) = 0;
  // Every request ends here exactly once: complete, unread as the plan said, or refused (then the
  // head may be empty). `exchange->Reply` may be called inside or later.
  virtual void OnRequest(std::unique_ptr<HttpExchange> exchange) = 0;
};

// Standard reason phrase: "Not Found".
std::string_view ReasonPhrase(int status);

// Status line and header block of an answer, up to and with the empty line.
std::string FormatResponseHead(const HttpResponse& response, bool http10, bool keep_alive);

}  // namespace gimbal::net
