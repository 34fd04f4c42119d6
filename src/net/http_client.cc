#include "net/http_client.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "base/check.h"

namespace gimbal::net {
namespace {

using Failure = HttpResult::Failure;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int family = AF_INET;
};

Result<Address> Resolve(const Url& url) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found);
  if (error != 0) {
    return UnavailableError("host \"" + url.host + "\" not found: " + gai_strerror(error));
  }
  // Servers mostly listen on IPv4 alone, and "localhost" gives both.
  const addrinfo* chosen = found;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (at->ai_family == AF_INET) {
      chosen = at;
      break;
    }
  }
  Address address;
  std::memcpy(&address.storage, chosen->ai_addr, chosen->ai_addrlen);
  address.size = chosen->ai_addrlen;
  address.family = chosen->ai_family;
  freeaddrinfo(found);
  return address;
}

}  // namespace

std::string_view FailureName(Failure failure) {
  switch (failure) {
    case Failure::kNone:
      return "none";
    case Failure::kConnect:
      return "connect";
    case Failure::kReset:
      return "reset";
    case Failure::kTruncated:
      return "truncated";
    case Failure::kTimeout:
      return "timeout";
    case Failure::kMalformed:
      return "malformed";
    case Failure::kTooLarge:
      return "answer_too_large";
  }
  return "";
}

struct HttpClient::Impl {
  explicit Impl(Options o) : options(std::move(o)), buffer(64 << 10) {}
  ~Impl();

  enum class Phase { kClosed, kConnecting, kIdle, kSending, kWaiting };

  struct Connection {
    explicit Connection(Bytes max_answer) : parser(max_answer) {}
    int fd = -1;
    Phase phase = Phase::kClosed;
    HttpAnswerParser parser;
    bool wants_write = false;  // what epoll was told
    // The request in flight.
    uint64_t serial = 0;  // which one, 0: none
    uint64_t token = 0;
    std::string_view to_send;
    TimePoint first_byte;
  };
  struct Expiry {
    TimePoint at;
    size_t connection;
    uint64_t serial;
  };

  bool OpenSocket(size_t index);
  void Close(size_t index);
  void WatchWrite(Connection& c, size_t index, bool write);
  void Write(size_t index, Sink* sink);
  void Read(size_t index, Sink& sink);
  void OnBytes(size_t index, std::string_view bytes, Sink& sink);
  void OnClosed(size_t index, Failure before_answer, Sink& sink);
  void OnConnected(size_t index, Sink& sink);
  void OnEvent(size_t index, uint32_t events, Sink& sink);
  void Finish(size_t index, Failure failure, bool reuse, Sink& sink);
  void Fail(size_t index, Failure failure, Sink& sink);
  void ExpireUntil(TimePoint now, Sink& sink);
  bool DeliverFailed(Sink& sink);
  TimePoint NextExpiry();
  int Wait(TimePoint until, std::span<epoll_event> events);

  const Options options;
  Address address;
  int epoll = -1;
  std::vector<char> buffer;
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<size_t> idle;     // of kIdle; the last one is the warmest
  std::vector<size_t> closed;   // free entries of `connections`
  std::deque<Expiry> expiries;  // in order of time, because all requests have the same timeout
  // Requests that failed inside Send, to be told by Poll.
  std::vector<HttpResult> failed;
  uint64_t next_serial = 1;
  int open = 0;
  int peak = 0;
  int in_flight = 0;
};

HttpClient::Impl::~Impl() {
  for (const auto& c : connections) {
    if (c->fd >= 0) close(c->fd);
  }
  if (epoll >= 0) close(epoll);
}

// False when not even a socket could be had, or the connection failed at once.
bool HttpClient::Impl::OpenSocket(size_t index) {
  Connection& c = *connections[index];
  c.fd = socket(address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (c.fd < 0) return false;
  const int on = 1;
  setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const int rc = connect(c.fd, reinterpret_cast<const sockaddr*>(&address.storage), address.size);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT;
  event.data.u64 = index;
  if ((rc != 0 && errno != EINPROGRESS) || epoll_ctl(epoll, EPOLL_CTL_ADD, c.fd, &event) != 0) {
    close(c.fd);
    c.fd = -1;
    return false;
  }
  c.wants_write = true;
  c.phase = Phase::kConnecting;
  peak = std::max(peak, ++open);
  return true;
}

void HttpClient::Impl::Close(size_t index) {
  Connection& c = *connections[index];
  if (c.fd >= 0) {
    close(c.fd);  // leaves epoll by itself
    --open;
  }
  c.fd = -1;
  c.phase = Phase::kClosed;
  closed.push_back(index);
}

void HttpClient::Impl::WatchWrite(Connection& c, size_t index, bool write) {
  if (c.wants_write == write) return;
  epoll_event event{};
  event.events = write ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = index;
  CHECK(epoll_ctl(epoll, EPOLL_CTL_MOD, c.fd, &event) == 0, "the descriptor is ours and was added");
  c.wants_write = write;
}

// Without a sink (inside Send) a broken connection is left for Poll, which sees it as an event.
void HttpClient::Impl::Write(size_t index, Sink* sink) {
  Connection& c = *connections[index];
  while (!c.to_send.empty()) {
    const ssize_t n = send(c.fd, c.to_send.data(), c.to_send.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      c.to_send.remove_prefix(static_cast<size_t>(n));
      continue;
    }
    if (errno == EINTR) continue;
    const bool full = errno == EAGAIN || errno == EWOULDBLOCK;
    if (full || sink == nullptr) return WatchWrite(c, index, true);
    // A server may answer and close without reading everything, so look for the answer first.
    const uint64_t serial = c.serial;
    Read(index, *sink);
    if (c.serial == serial) OnClosed(index, Failure::kReset, *sink);
    return;
  }
  c.phase = Phase::kWaiting;
  WatchWrite(c, index, false);
}

void HttpClient::Impl::Read(size_t index, Sink& sink) {
  Connection& c = *connections[index];
  const uint64_t serial = c.serial;
  while (true) {
    const ssize_t n = recv(c.fd, buffer.data(), buffer.size(), 0);
    if (n > 0) {
      OnBytes(index, {buffer.data(), static_cast<size_t>(n)}, sink);
      const bool same = c.phase != Phase::kClosed && c.phase != Phase::kIdle && c.serial == serial;
      if (!same || n < static_cast<ssize_t>(buffer.size())) return;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    return OnClosed(index, Failure::kReset, sink);
  }
}

void HttpClient::Impl::OnBytes(size_t index, std::string_view bytes, Sink& sink) {
  Connection& c = *connections[index];
  if (c.phase == Phase::kIdle) return OnClosed(index, Failure::kReset, sink);  // nobody asked
  if (!c.parser.started()) c.first_byte = options.clock->Now();
  switch (c.parser.Feed(bytes)) {
    case HttpAnswerParser::State::kReading:
      return;
    case HttpAnswerParser::State::kComplete:
      // Bytes beyond the answer belong to nothing that was asked; such a connection is not kept.
      return Finish(index, Failure::kNone,
                    c.parser.keep_alive() && bytes.empty() && c.to_send.empty(), sink);
    case HttpAnswerParser::State::kMalformed:
      return Fail(index, Failure::kMalformed, sink);
    case HttpAnswerParser::State::kTooLarge:
      return Fail(index, Failure::kTooLarge, sink);
  }
}

void HttpClient::Impl::OnClosed(size_t index, Failure before_answer, Sink& sink) {
  Connection& c = *connections[index];
  if (c.phase == Phase::kIdle) {  // a server may close an idle connection; that is no failure
    std::erase(idle, index);
    return Close(index);
  }
  if (c.parser.End() == HttpAnswerParser::State::kComplete) {
    return Finish(index, Failure::kNone, false, sink);
  }
  Fail(index, c.parser.started() ? Failure::kTruncated : before_answer, sink);
}

void HttpClient::Impl::OnConnected(size_t index, Sink& sink) {
  Connection& c = *connections[index];
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(c.fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return Fail(index, Failure::kConnect, sink);
  c.phase = Phase::kSending;
  Write(index, &sink);
}

void HttpClient::Impl::OnEvent(size_t index, uint32_t events, Sink& sink) {
  Connection& c = *connections[index];
  if (c.phase == Phase::kClosed) return;
  if (c.phase == Phase::kConnecting) return OnConnected(index, sink);
  const uint64_t serial = c.serial;
  if ((events & EPOLLOUT) != 0 && c.phase == Phase::kSending) Write(index, &sink);
  if (c.phase == Phase::kClosed || c.serial != serial) return;
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Read(index, sink);
}

void HttpClient::Impl::Finish(size_t index, Failure failure, bool reuse, Sink& sink) {
  Connection& c = *connections[index];
  HttpResult result;
  result.token = c.token;
  result.failure = failure;
  result.done = options.clock->Now();
  result.first_byte = c.parser.started() ? c.first_byte : TimePoint();
  if (failure == Failure::kNone) result.answer = &c.parser.answer();
  c.serial = 0;
  c.to_send = {};
  --in_flight;
  if (!reuse && c.fd >= 0) {
    close(c.fd);
    c.fd = -1;
    --open;
  }
  // Not offered to Send before the sink is done with the answer, which lives in this connection.
  sink.OnResult(result);
  if (reuse) {
    c.phase = Phase::kIdle;
    idle.push_back(index);
  } else {
    Close(index);
  }
}

void HttpClient::Impl::Fail(size_t index, Failure failure, Sink& sink) {
  Finish(index, failure, false, sink);
}

void HttpClient::Impl::ExpireUntil(TimePoint now, Sink& sink) {
  while (!expiries.empty()) {
    const Expiry expiry = expiries.front();
    const bool over = connections[expiry.connection]->serial != expiry.serial;
    if (!over && expiry.at > now) return;
    expiries.pop_front();
    if (!over) Fail(expiry.connection, Failure::kTimeout, sink);
  }
}

bool HttpClient::Impl::DeliverFailed(Sink& sink) {
  if (failed.empty()) return false;
  std::vector<HttpResult> now;
  now.swap(failed);
  for (const HttpResult& result : now) {
    --in_flight;
    sink.OnResult(result);
  }
  return true;
}

TimePoint HttpClient::Impl::NextExpiry() {
  while (!expiries.empty() &&
         connections[expiries.front().connection]->serial != expiries.front().serial) {
    expiries.pop_front();
  }
  return expiries.empty() ? kNever : expiries.front().at;
}

// Sleeps, then looks without sleeping for the last `spin`, which a sleeper would overshoot.
int HttpClient::Impl::Wait(TimePoint until, std::span<epoll_event> events) {
  const int room = static_cast<int>(events.size());
  while (true) {
    const Duration left = until == kNever ? std::chrono::hours(1) : until - options.clock->Now();
    const Duration sleep = std::max(Duration(0), left - options.spin);
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(sleep);
    const timespec timeout{whole.count(), (sleep - whole).count()};
    const int n = epoll_pwait2(epoll, events.data(), room, &timeout, nullptr);
    if (n != 0 || left <= Duration(0)) return n;
  }
}

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::~HttpClient() = default;

Result<std::unique_ptr<HttpClient>> HttpClient::Create(Options options) {
  if (options.max_connections <= 0) return InvalidError("max_connections: expected more than 0");
  auto impl = std::make_unique<Impl>(std::move(options));
  ASSIGN_OR_RETURN(impl->address, Resolve(impl->options.url));
  impl->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (impl->epoll < 0) return InternalError(std::string("epoll: ") + std::strerror(errno));
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(impl)));
}

Status HttpClient::Open(int count) {
  Impl& impl = *impl_;
  const Url& url = impl.options.url;
  while (static_cast<int>(impl.idle.size()) < count) {
    const size_t index = impl.connections.size();
    impl.connections.push_back(std::make_unique<Impl::Connection>(impl.options.max_answer));
    Impl::Connection& c = *impl.connections[index];
    int error = impl.OpenSocket(index) ? 0 : errno;
    if (error == 0) {
      epoll_event event{};
      timespec timeout{5, 0};
      // Only the new one can have events: nothing was sent on the others.
      while (epoll_pwait2(impl.epoll, &event, 1, &timeout, nullptr) < 0 && errno == EINTR) {
      }
      socklen_t size = sizeof error;
      getsockopt(c.fd, SOL_SOCKET, SO_ERROR, &error, &size);
      if (error == 0 && event.events == 0) error = ETIMEDOUT;
    }
    if (error != 0) {
      impl.Close(index);
      return UnavailableError("cannot connect to " + url.authority + ": " + std::strerror(error));
    }
    c.phase = Impl::Phase::kIdle;
    impl.WatchWrite(c, index, false);
    impl.idle.push_back(index);
  }
  return Status::Ok();
}

bool HttpClient::Send(uint64_t token, std::string_view bytes) {
  Impl& impl = *impl_;
  size_t index = 0;
  const bool reused = !impl.idle.empty();
  if (reused) {
    index = impl.idle.back();
    impl.idle.pop_back();
  } else {
    if (impl.open >= impl.options.max_connections) return false;
    if (impl.closed.empty()) {
      impl.closed.push_back(impl.connections.size());
      impl.connections.push_back(std::make_unique<Impl::Connection>(impl.options.max_answer));
    }
    index = impl.closed.back();
    impl.closed.pop_back();
  }
  ++impl.in_flight;
  const TimePoint now = impl.options.clock->Now();
  if (!reused && !impl.OpenSocket(index)) {
    impl.closed.push_back(index);
    impl.failed.push_back({token, Failure::kConnect, {}, now, nullptr});
    return true;
  }
  Impl::Connection& c = *impl.connections[index];
  c.parser.Reset();
  c.serial = impl.next_serial++;
  c.token = token;
  c.to_send = bytes;
  impl.expiries.push_back({now + impl.options.timeout, index, c.serial});
  if (reused) {
    c.phase = Impl::Phase::kSending;
    impl.Write(index, nullptr);
  }
  return true;
}

void HttpClient::Poll(TimePoint until, Sink& sink) {
  Impl& impl = *impl_;
  if (impl.DeliverFailed(sink)) until = TimePoint();
  std::array<epoll_event, 32> events{};
  const int n = impl.Wait(std::min(until, impl.NextExpiry()), events);
  for (int i = 0; i < n; ++i) {
    impl.OnEvent(events[static_cast<size_t>(i)].data.u64, events[static_cast<size_t>(i)].events,
                 sink);
    // The rest is reported again by the next call.
    if (i + 1 < n && impl.options.clock->Now() >= until) break;
  }
  impl.ExpireUntil(impl.options.clock->Now(), sink);
}

int HttpClient::connections() const { return impl_->open; }
int HttpClient::peak_connections() const { return impl_->peak; }
int HttpClient::in_flight() const { return impl_->in_flight; }

Result<HttpAnswer> HttpGet(const Url& url, std::string_view path, Duration timeout) {
  struct Keep : HttpClient::Sink {
    void OnResult(const HttpResult& result) override {
      done = true;
      failure = result.failure;
      if (result.answer != nullptr) answer = *result.answer;
    }
    bool done = false;
    Failure failure = Failure::kNone;
    HttpAnswer answer;
  };
  HttpClient::Options options;
  options.url = url;
  options.max_connections = 1;
  options.timeout = timeout;
  ASSIGN_OR_RETURN(const std::unique_ptr<HttpClient> client, HttpClient::Create(options));
  const std::string request = FormatRequest(url, path, "", "");
  Keep keep;
  client->Send(0, request);
  while (!keep.done) client->Poll(kNever, keep);
  if (keep.failure == Failure::kNone) return std::move(keep.answer);
  return UnavailableError("GET http://" + url.authority + std::string(path) + ": " +
                          std::string(FailureName(keep.failure)));
}

}  // namespace gimbal::net
