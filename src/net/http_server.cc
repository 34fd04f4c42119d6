#include "net/http_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <unordered_map>

#include "base/check.h"
#include "net/http_connection.h"
#include "net/io_loop.h"

namespace gimbal::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;

constexpr std::string_view kTooManyConnections =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 21\r\n"
    "Retry-After: 1\r\nConnection: close\r\n\r\ntoo many connections\n";

// "H:P" or "[V6]:P".
Result<tcp::endpoint> ParseAddress(const std::string& text) {
  const auto bad = [&] {
    return InvalidError(
        fmt::format("address \"{}\": expected HOST:PORT with a numeric host, such as "
                    "127.0.0.1:8000 or [::1]:8000",
                    text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size()) return bad();
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host == "localhost") host = "127.0.0.1";
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
  if (parsed.ec != std::errc() || parsed.ptr != end) return bad();
  Error error;
  const auto address = asio::ip::make_address(host, error);
  if (error) return bad();
  return tcp::endpoint(address, port);
}

std::string FormatAddress(const tcp::endpoint& endpoint) {
  const std::string host = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", host, endpoint.port())
                                    : fmt::format("{}:{}", host, endpoint.port());
}

// One loop and the connections that live on it. Everything but Open and Post runs on its thread.
class Worker : public std::enable_shared_from_this<Worker> {
 public:
  Worker(std::string name, std::shared_ptr<ServerShared> shared)
      : loop_(std::make_shared<IoLoop>(std::move(name))),
        shared_(std::move(shared)),
        timer_(loop_->context()) {}

  IoLoop& loop() { return *loop_; }
  int open() const { return open_.load(std::memory_order_relaxed); }

  // Any thread. Takes the socket and its place in ServerShared::open.
  void Open(int fd) {
    open_.fetch_add(1, std::memory_order_relaxed);
    loop_->Post([self = shared_from_this(), fd] {
      auto connection = MakeHttpConnection(
          self->loop_, self->shared_, fd,
          [self = self.get()](HttpConnection* closed) { self->OnClosed(closed); });
      const bool first = self->connections_.empty();
      self->connections_.emplace(connection.get(), connection);
      if (first && !self->ticking_) self->StartTimer();
      connection->Start();
    });
  }

  void Drain() {
    ForEach([now = Now()](HttpConnection& connection) { connection.Drain(now); });
  }
  void Abort() {
    ForEach([](HttpConnection& connection) { connection.Abort(); });
    timer_.cancel();
  }

 private:
  TimePoint Now() const { return shared_->options.clock->Now(); }

  void OnClosed(HttpConnection* connection) {
    connections_.erase(connection);
    open_.fetch_sub(1, std::memory_order_relaxed);
    MutexLock lock(shared_->mu);
    --shared_->open;
    shared_->changed.NotifyAll();
  }

  template <typename Fn>
  void ForEach(Fn fn) {
    // A copy: a connection may leave the set while it is looked at.
    std::vector<std::shared_ptr<HttpConnection>> all;
    all.reserve(connections_.size());
    for (const auto& [key, connection] : connections_) all.push_back(connection);
    for (const auto& connection : all) fn(*connection);
  }

  // One timer looks at all connections: a request then costs an assignment and no timer operations.
  void StartTimer() {
    ticking_ = true;
    timer_.expires_after(Interval());
    timer_.async_wait([self = shared_from_this()](const Error& error) {
      self->ticking_ = false;
      if (error) return;
      const TimePoint now = self->Now();
      self->ForEach([now](HttpConnection& connection) { connection.Tick(now); });
      if (!self->connections_.empty()) self->StartTimer();
    });
  }
  std::chrono::nanoseconds Interval() const {
    const HttpServer::Options& o = shared_->options;
    const Duration least = std::min({o.header_timeout, o.body_timeout, o.idle_timeout,
                                     o.write_timeout, o.linger, o.drain_idle});
    return std::clamp<Duration>(least / 4, std::chrono::milliseconds(5),
                                std::chrono::milliseconds(500));
  }

  const std::shared_ptr<IoLoop> loop_;
  const std::shared_ptr<ServerShared> shared_;
  std::atomic<int> open_{0};

  // Owned by the loop's thread.
  asio::steady_timer timer_;
  bool ticking_ = false;
  std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
};

}  // namespace

struct HttpServer::Impl {
  Impl(Options options, HttpHandler& handler)
      : shared(std::make_shared<ServerShared>(std::move(options), handler)) {}

  const Options& options() const { return shared->options; }

  Status Listen() {
    ASSIGN_OR_RETURN(const tcp::endpoint endpoint, ParseAddress(options().address));
    Error error;
    acceptor->open(endpoint.protocol(), error);
    if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor->bind(endpoint, error);
    if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
    if (!error) acceptor->non_blocking(true, error);
    if (!error) address = FormatAddress(acceptor->local_endpoint(error));
    if (error == asio::error::address_in_use) {
      return UnavailableError(
          fmt::format("{}: address already in use; choose another with {} or "
                      "port 0",
                      options().address, options().flag));
    }
    if (error) return UnavailableError(fmt::format("{}: {}", options().address, error.message()));
    return Status::Ok();
  }

  // On the first loop's thread, as is all that follows up to StopAccepting.
  void WaitForClients() {
    acceptor->async_wait(asio::socket_base::wait_read, [this](const Error& error) {
      if (error || !acceptor->is_open()) return;
      if (TakeClients()) return WaitForClients();
      // Out of descriptors: clients wait in the kernel's queue until some connection has closed.
      retry->expires_after(std::chrono::milliseconds(100));
      retry->async_wait([this](const Error& retry_error) {
        if (!retry_error && acceptor->is_open()) WaitForClients();
      });
    });
  }

  // Accepts whoever has connected. False when the process has no descriptor left.
  bool TakeClients() {
    while (true) {
      const int fd =
          accept4(acceptor->native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
        Admit(fd);
      } else if (errno != EINTR && errno != ECONNABORTED) {
        return errno == EAGAIN || errno == EWOULDBLOCK;
      }
    }
  }

  void Admit(int fd) {
    accepted.fetch_add(1, std::memory_order_relaxed);
    bool full = false;
    {
      MutexLock lock(shared->mu);
      full = shared->open >= options().max_connections;
      if (!full) ++shared->open;
    }
    if (full) {
      refused.fetch_add(1, std::memory_order_relaxed);
      // The empty socket takes so few bytes at once; a client that has left already needs none.
      [[maybe_unused]] const ssize_t n =
          send(fd, kTooManyConnections.data(), kTooManyConnections.size(), MSG_NOSIGNAL);
      ::close(fd);
      return;
    }
    const auto least = std::min_element(workers.begin(), workers.end(),
                                        [](auto& a, auto& b) { return a->open() < b->open(); });
    (*least)->Open(fd);
  }

  void StopAccepting() {
    if (shared->draining.exchange(true)) return;
    workers.front()->loop().Post([this] {
      if (acceptor->is_open()) {  // not after a failed Create
        TakeClients();
        Error ignored;
        acceptor->close(ignored);
        retry->cancel();
      }
      // Behind the clients that were just handed out.
      for (const auto& worker : workers) {
        worker->loop().Post([worker] { worker->Drain(); });
      }
      MutexLock lock(shared->mu);
      listening = false;
      shared->changed.NotifyAll();
    });
  }

  bool WaitUntilDrained(TimePoint deadline) {
    const Clock& clock = *options().clock;
    MutexLock lock(shared->mu);
    while ((listening || shared->open > 0) && clock.Now() < deadline) {
      clock.Wait(shared->changed, shared->mu, deadline);
    }
    return !listening && shared->open == 0;
  }

  // The acceptor's close was posted before, and a loop runs what was posted in order.
  bool Stop(TimePoint deadline) {
    if (stopped) return true;
    stopped = true;
    StopAccepting();
    const bool drained = WaitUntilDrained(deadline);
    // Accepting ends first, so that no connection is handed to a loop behind its Abort.
    workers.front()->loop().Post([this] {
      for (const auto& worker : workers) worker->loop().Post([worker] { worker->Abort(); });
    });
    WaitUntilDrained(kNever);
    for (const auto& worker : workers) worker->loop().Post([worker] { worker->Abort(); });
    for (const auto& worker : workers) worker->loop().Stop();
    return drained;
  }

  const std::shared_ptr<ServerShared> shared;
  std::string address;
  std::atomic<uint64_t> accepted{0};
  std::atomic<uint64_t> refused{0};
  std::vector<std::shared_ptr<Worker>> workers;  // constant after Create
  std::optional<tcp::acceptor> acceptor;         // owned by the first loop's thread after Create
  std::optional<asio::steady_timer> retry;       // likewise
  bool listening = true;                         // guarded by shared->mu
  bool stopped = false;                          // owned by whoever calls Stop
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(TimePoint::min()); }

Result<std::unique_ptr<HttpServer>> HttpServer::Create(Options options, HttpHandler& handler) {
  CHECK(options.io_threads > 0 && options.max_connections > 0,
        "the caller has checked its settings");
  auto impl = std::make_unique<Impl>(std::move(options), handler);
  for (int i = 0; i < impl->options().io_threads; ++i) {
    impl->workers.push_back(std::make_shared<Worker>(
        fmt::format("{}-{}", impl->options().thread_name, i), impl->shared));
  }
  asio::io_context& first = impl->workers.front()->loop().context();
  impl->acceptor.emplace(first);
  impl->retry.emplace(first);
  const Status listening = impl->Listen();
  Impl* const raw = impl.get();
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(impl)));
  if (!listening.ok()) return listening;
  raw->workers.front()->loop().Post([raw] { raw->WaitForClients(); });
  return server;
}

const std::string& HttpServer::address() const { return impl_->address; }
void HttpServer::StopAccepting() { impl_->StopAccepting(); }
bool HttpServer::Stop(TimePoint deadline) { return impl_->Stop(deadline); }

HttpServer::Stats HttpServer::stats() const {
  Stats out;
  {
    MutexLock lock(impl_->shared->mu);
    out.connections = impl_->shared->open;
  }
  out.accepted = impl_->accepted.load(std::memory_order_relaxed);
  out.refused = impl_->refused.load(std::memory_order_relaxed);
  out.timed_out = impl_->shared->timed_out.load(std::memory_order_relaxed);
  out.gone = impl_->shared->gone.load(std::memory_order_relaxed);
  return out;
}

}  // namespace gimbal::net
