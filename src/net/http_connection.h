#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/mutex.h"
#include "net/http_message.h"
#include "net/http_server.h"
#include "net/io_loop.h"

namespace gimbal::net {

// What the connections of a server share. Lives as long as the last of them.
struct ServerShared {
  ServerShared(HttpServer::Options o, HttpHandler& h) : options(std::move(o)), handler(h) {}

  const HttpServer::Options options;
  HttpHandler& handler;
  std::atomic<bool> draining{false};
  std::atomic<uint64_t> timed_out{0};
  std::atomic<uint64_t> gone{0};

  Mutex mu;
  CondVar changed;  // open became smaller
  int open GUARDED_BY(mu) = 0;
};

// One client connection: bytes in, requests to the handler, answers out, in order. Lives on one
// loop; every method except those of ExchangeSink is called on its thread. Owned by the server's
// set of connections and by the exchange under way.
class HttpConnection : public ExchangeSink {
 public:
  using ClosedFn = std::function<void(HttpConnection*)>;

  virtual void Start() = 0;
  virtual void Tick(TimePoint now) = 0;   // looks at the timers
  virtual void Drain(TimePoint now) = 0;  // ServerShared::draining was set
  virtual void Abort() = 0;               // closes, whatever is under way
};

// Takes ownership of the connected socket `fd`. `closed` is called once, on the loop's thread.
std::shared_ptr<HttpConnection> MakeHttpConnection(std::shared_ptr<IoLoop> loop,
                                                   std::shared_ptr<ServerShared> shared, int fd,
                                                   HttpConnection::ClosedFn closed);

}  // namespace gimbal::net
