#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "net/http_message.h"

namespace gimbal::net {

// An HTTP/1.1 server: sockets, framing, limits and timers, no meaning. Each I/O thread runs its own
// loop and owns the connections given to it; a connection has one request in flight, and pipelined
// ones wait their turn in a bounded buffer. Owned by `app`; Stop() and the destructor from one
// thread.
//
// A request whose first byte was read is answered, also while draining: then with
// `Connection: close`.
class HttpServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:0";  // "H:P" or "[V6]:P"; port 0 picks a free one
    std::string flag = "--http";          // what to change when the address is taken; for messages
    std::string thread_name = "http";     // threads are called NAME-0, NAME-1, ...
    int io_threads = 1;                   // > 0
    size_t max_header_bytes = 16 << 10;   // request line and fields; > 0
    int max_connections = 1024;           // over it: accepted, answered 503, closed, counted; > 0
    // All limits of time are totals from the named start; zero is not allowed.
    Duration header_timeout = std::chrono::seconds(10);  // first byte to end of headers
    Duration body_timeout = std::chrono::seconds(60);    // end of headers to end of body
    Duration idle_timeout = std::chrono::seconds(75);    // between requests
    Duration write_timeout = std::chrono::seconds(60);   // first to last byte of an answer
    Duration linger = std::chrono::seconds(2);           // for a refused client to read the answer
    Duration drain_idle = std::chrono::milliseconds(500);  // for one last request while draining
    const Clock* clock = &Clock::Steady();                 // for stamps and timers
  };

  // Binds, listens and starts. A taken address is kUnavailable, with the address in the message.
  static Result<std::unique_ptr<HttpServer>> Create(Options options, HttpHandler& handler);
  ~HttpServer();  // Stop(now)

  // "127.0.0.1:8000", with the port that was picked.
  const std::string& address() const;

  // Begins the drain and returns at once: the listener closes (after taking what had connected),
  // requests under way are answered, connections close after their answer or when idle.
  void StopAccepting();

  // Drains until every connection has closed or `deadline`, then closes the rest and joins.
  // Exchanges still held are answered into the void: their `sent` gets ok = false. Whether all had
  // closed.
  bool Stop(TimePoint deadline);

  struct Stats {
    int connections = 0;     // open now
    uint64_t accepted = 0;   // since the start
    uint64_t refused = 0;    // over max_connections
    uint64_t timed_out = 0;  // closed by the header, body, idle or write timer
    uint64_t gone = 0;       // left with a request in flight
  };
  Stats stats() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gimbal::net
