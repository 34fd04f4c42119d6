#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "net/http_answer.h"
#include "net/url.h"

namespace gimbal::net {

// What became of one request.
struct HttpResult {
  enum class Failure {
    kNone,       // answered, with whatever status
    kConnect,    // no connection could be made
    kReset,      // the connection broke or was closed before the first byte of an answer
    kTruncated,  // it broke or was closed inside the answer
    kTimeout,
    kMalformed,  // the answer is not HTTP/1.x
    kTooLarge,   // the answer is over the client's limit
  };
  uint64_t token = 0;
  Failure failure = Failure::kNone;
  TimePoint first_byte;                // of the answer; the epoch when there was none
  TimePoint done;                      // last byte read, or the failure was seen
  const HttpAnswer* answer = nullptr;  // valid during the call; null on failure
};
std::string_view FailureName(HttpResult::Failure failure);  // "none", "connect", "reset", ...

// Many requests at a time from one thread, over keep-alive connections of which each has one
// request in flight. Nothing blocks but Poll and Open, nothing is retried, and every request ends
// in exactly one OnResult, inside Poll. Owned and called by one thread.
//
//   client->Send(token, bytes);  client->Poll(until, sink);
class HttpClient {
 public:
  struct Options {
    Url url;
    int max_connections = 1024;  // > 0
    Bytes max_answer = MiB(256);
    Duration timeout = std::chrono::seconds(30);  // from Send to the last byte
    // The end of each wait of Poll that is spent looking instead of sleeping, because a sleeping
    // thread wakes late. 0: always sleep.
    Duration spin{0};
    const Clock* clock = &Clock::Steady();
  };
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void OnResult(const HttpResult& result) = 0;  // must not call the client
  };

  // Finds the host's address (this may block), connects nothing.
  static Result<std::unique_ptr<HttpClient>> Create(Options options);
  ~HttpClient();  // drops what is in flight

  // Connects until `count` connections stand idle; blocking, for before the measurement.
  Status Open(int count);

  // Starts a request on an idle connection, or on a new one. False, and nothing done, when all
  // max_connections are in use. REQUIRES: `bytes` stay valid until the result.
  bool Send(uint64_t token, std::string_view bytes);

  // Waits for events until `until`, a signal, or the first event, and handles what is there;
  // returns once `until` has come even if more is there, so that a sender is not kept from its
  // schedule.
  void Poll(TimePoint until, Sink& sink);

  int connections() const;       // open now
  int peak_connections() const;  // most at a time
  int in_flight() const;

 private:
  struct Impl;
  explicit HttpClient(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

// One GET on a connection of its own, blocking. An answer of any status is OK.
Result<HttpAnswer> HttpGet(const Url& url, std::string_view path, Duration timeout);

}  // namespace gimbal::net
