#include "net/http_connection.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <cstring>
#include <vector>

#include "net/http_parser.h"

namespace gimbal::net {
namespace {

namespace asio = boost::asio;
using Error = boost::system::error_code;

constexpr size_t kSmallBuffer = 4 << 10;
constexpr size_t kLargeBuffer = 64 << 10;
// What a client may send ahead while its request is under way.
constexpr size_t kMaxPipelined = 64 << 10;
// An unread body up to this size is thrown away, so that the connection can go on.
constexpr uint64_t kMaxDiscarded = 64 << 10;
constexpr int64_t kMaxLinger = 64 << 20;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Input that was read and not yet consumed, in one piece.
class InputBuffer {
 public:
  std::string_view unread() const { return {bytes_.data() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  size_t size() const { return end_ - begin_; }
  void Consume(size_t n) { begin_ += n; }
  void Clear() { begin_ = end_ = 0; }
  void Append(size_t n) { end_ += n; }

  // Space behind the unread bytes; `wanted` is the capacity to aim at. REQUIRES: no read is
  // pending.
  asio::mutable_buffer Room(size_t wanted) {
    if (begin_ > 0) {
      std::memmove(bytes_.data(), bytes_.data() + begin_, size());
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == 0 && bytes_.size() > wanted) std::vector<char>(wanted).swap(bytes_);
    if (bytes_.size() < wanted) bytes_.resize(wanted);
    if (end_ == bytes_.size()) bytes_.resize(bytes_.size() * 2);
    return asio::buffer(bytes_.data() + end_, bytes_.size() - end_);
  }

 private:
  std::vector<char> bytes_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

bool WantsContinue(const RequestHead& head) {
  const auto expect = head.Find("expect");
  return expect && expect->size() == 12 && head.version() == 11 &&
         strncasecmp(expect->data(), "100-continue", 12) == 0;
}

class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<IoLoop> loop, std::shared_ptr<ServerShared> shared, int fd,
             ClosedFn closed)
      : loop_(std::move(loop)),
        shared_(std::move(shared)),
        fd_(fd),
        socket_(loop_->context()),
        parser_(shared_->options.max_header_bytes),
        closed_(std::move(closed)) {}

  void Start() override;
  void Tick(TimePoint now) override;
  void Drain(TimePoint now) override;
  // The handler hears of it, so that what the client asked for is not computed for nobody.
  void Abort() override {
    const auto gone = std::exchange(gone_, nullptr);
    Close();
    if (gone) gone();
  }
  void Reply(HttpResponse response, SentFn sent) override;
  void Run(std::function<void()> work) override;
  void SetGone(std::function<void()> gone) override { gone_ = std::move(gone); }

 private:
  enum class State {
    kReading,    // a request, or the end of a body that nobody wants
    kInFlight,   // the handler has the request
    kWriting,    // its answer goes out
    kLingering,  // answered; the client may still be sending what nobody reads
    kClosed,
  };
  // What happens to a body that was not read when its answer has gone out.
  enum class Unread { kNone, kDiscard, kClose };

  const HttpServer::Options& options() const { return shared_->options; }
  TimePoint Now() const { return options().clock->Now(); }
  bool Idle() const { return state_ == State::kReading && !parser_.started() && input_.empty(); }

  void ReadMore();
  void OnRead(const Error& error, size_t n);
  void OnPeerLeft();
  void Process();
  bool Step();
  void OnHeaders();
  void BeginRequest();
  void Deliver(Refusal refusal, bool body_read);

  void DoReply(HttpResponse response, SentFn sent);
  void Write();
  void OnWritten(const Error& error);
  void TellSent(bool ok);
  void AfterAnswer();
  void Linger();
  void Close();

  // Constant after construction.
  const std::shared_ptr<IoLoop> loop_;
  const std::shared_ptr<ServerShared> shared_;
  const int fd_;

  // Owned by the loop's thread.
  asio::generic::stream_protocol::socket socket_;
  InputBuffer input_;
  RequestParser parser_;
  ClosedFn closed_;
  State state_ = State::kReading;
  TimePoint deadline_ = kNever;
  bool reading_ = false;     // a read is pending; the input buffer must not move
  bool processing_ = false;  // Process is on the stack
  bool peer_left_ = false;
  int64_t lingered_ = 0;

  // The request under way.
  TimePoint first_byte_;
  TimePoint last_read_;
  int64_t request_bytes_ = 0;
  bool discarding_ = false;
  bool keep_alive_ = true;
  bool http10_ = false;
  bool head_only_ = false;
  Unread unread_ = Unread::kNone;
  std::function<void()> gone_;

  // Its answer.
  std::string out_head_;
  std::string out_body_;
  size_t written_ = 0;
  SentFn sent_;
};

void Connection::Start() {
  Error error;
  // The family is only remembered for naming endpoints, which nobody asks for.
  socket_.assign(asio::generic::stream_protocol(AF_INET, SOCK_STREAM), fd_, error);
  if (error) {
    ::close(fd_);
    return Close();
  }
  socket_.non_blocking(true, error);  // a client may have left already; the first read then says so
  const int on = 1;                   // not an option of every kind of socket, so a failure is none
  setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  BeginRequest();
  ReadMore();
}

// --- input ---

void Connection::ReadMore() {
  if (reading_ || peer_left_ || state_ == State::kClosed) return;
  const bool busy = state_ == State::kInFlight || state_ == State::kWriting;
  if (busy && input_.size() >= kMaxPipelined) return;
  const bool body = state_ == State::kReading && parser_.headers_done();
  reading_ = true;
  socket_.async_read_some(
      input_.Room(body || state_ == State::kLingering ? kLargeBuffer : kSmallBuffer),
      [self = shared_from_this()](const Error& error, size_t n) { self->OnRead(error, n); });
}

// One read is always pending, also while a request is under way: its end is how a client that
// leaves is noticed, and what comes meanwhile is the next request.
void Connection::OnRead(const Error& error, size_t n) {
  reading_ = false;
  if (state_ == State::kClosed) return;
  if (error) return OnPeerLeft();
  last_read_ = Now();
  if (state_ == State::kLingering) {
    lingered_ += static_cast<int64_t>(n);
    input_.Clear();
    if (lingered_ > kMaxLinger) return Close();
    return ReadMore();
  }
  if (Idle()) {
    first_byte_ = last_read_;
    deadline_ = last_read_ + options().header_timeout;
  }
  input_.Append(n);
  Process();
  ReadMore();
}

void Connection::OnPeerLeft() {
  peer_left_ = true;
  switch (state_) {
    case State::kWriting:
      return;  // it may still read; a write tells
    case State::kInFlight: {
      shared_->gone.fetch_add(1, std::memory_order_relaxed);
      const auto gone = std::move(gone_);
      Close();
      if (gone) gone();
      return;
    }
    case State::kReading: {
      const bool inside = !Idle() && !discarding_;
      Close();
      if (inside)
        Deliver({CancelledError("the client left before its request was complete")}, false);
      return;
    }
    default:
      return Close();
  }
}

// A loop and not a recursion: an answer given inside the handler comes back here.
void Connection::Process() {
  if (processing_) return;
  processing_ = true;
  while (state_ == State::kReading && Step()) {
  }
  processing_ = false;
}

// Whether there may be more to do.
bool Connection::Step() {
  size_t consumed = 0;
  const RequestParser::Step step = parser_.Put(input_.unread(), consumed);
  input_.Consume(consumed);
  request_bytes_ += static_cast<int64_t>(consumed);
  switch (step) {
    case RequestParser::Step::kNeedMore:
      if (input_.size() <= kLargeBuffer + options().max_header_bytes) return false;
      Deliver({InvalidError("malformed HTTP request: a line without end")}, false);
      return true;
    case RequestParser::Step::kHeaders:
      OnHeaders();
      return true;
    case RequestParser::Step::kDone:
      if (discarding_) {
        BeginRequest();
      } else {
        Deliver({}, true);
      }
      return true;
    case RequestParser::Step::kRefused:
      if (discarding_) {
        Close();
      } else {
        Deliver(parser_.refusal(), false);
      }
      return true;
  }
  return false;
}

void Connection::OnHeaders() {
  const RequestHead& head = parser_.head();
  deadline_ = Now() + options().body_timeout;
  const BodyPlan plan = shared_->handler.OnHeaders(head);
  const uint64_t length = head.content_length().value_or(0);
  const auto limit = static_cast<uint64_t>(plan.max_body.value);
  parser_.SetBodyPlan(plan.max_body, true);
  if (!head.has_body()) return;
  const bool expects = WantsContinue(head) && input_.empty();
  if (!plan.read || length > limit) {
    unread_ =
        head.chunked() || expects || length > kMaxDiscarded ? Unread::kClose : Unread::kDiscard;
    if (plan.read) {
      return Deliver({TooLargeError(fmt::format("the body has {} bytes, the limit is {}", length,
                                                FormatBytes(plan.max_body)))},
                     false);
    }
    return Deliver({}, false);
  }
  if (expects) {
    Error ignored;  // a full socket means that the client does not wait for this
    socket_.write_some(asio::buffer(kContinue), ignored);
  }
}

void Connection::BeginRequest() {
  parser_.Reset();
  state_ = State::kReading;
  request_bytes_ = 0;
  discarding_ = false;
  unread_ = Unread::kNone;
  if (!input_.empty()) {
    first_byte_ = last_read_;
    deadline_ = Now() + options().header_timeout;
  } else {
    const bool draining = shared_->draining.load(std::memory_order_relaxed);
    deadline_ = Now() + (draining ? options().drain_idle : options().idle_timeout);
  }
}

void Connection::Deliver(Refusal refusal, bool body_read) {
  const RequestHead& head = parser_.head();
  if (state_ != State::kClosed) state_ = State::kInFlight;
  deadline_ = kNever;
  const bool refused = !refusal.status.ok();
  if (refused && unread_ == Unread::kNone) unread_ = Unread::kClose;
  keep_alive_ = parser_.headers_done() && head.keep_alive();
  http10_ = head.version() == 10;
  head_only_ = head.method() == "HEAD";
  auto exchange = std::make_unique<HttpExchange>(shared_from_this(), std::move(parser_.head()),
                                                 HttpExchange::Times{first_byte_, Now()});
  exchange->set_body(std::move(parser_.body()), body_read);
  if (refused) exchange->set_refusal(std::move(refusal));
  exchange->set_request_bytes({request_bytes_});
  shared_->handler.OnRequest(std::move(exchange));
}

// --- output ---

void Connection::Reply(HttpResponse response, SentFn sent) {
  if (loop_->InLoop()) return DoReply(std::move(response), std::move(sent));
  struct Pending {
    HttpResponse response;
    SentFn sent;
  };
  auto pending = std::make_shared<Pending>(std::move(response), std::move(sent));
  const bool posted = loop_->Post([self = shared_from_this(), pending] {
    self->DoReply(std::move(pending->response), std::move(pending->sent));
  });
  if (!posted && pending->sent) pending->sent({Now(), {}, false});
}

void Connection::Run(std::function<void()> work) {
  if (loop_->InLoop()) return work();
  auto shared_work = std::make_shared<std::function<void()>>(std::move(work));
  if (!loop_->Post([self = shared_from_this(), shared_work] { (*shared_work)(); }))
    (*shared_work)();
}

void Connection::DoReply(HttpResponse response, SentFn sent) {
  sent_ = std::move(sent);
  gone_ = nullptr;
  if (state_ != State::kInFlight) {
    written_ = 0;
    return TellSent(false);
  }
  state_ = State::kWriting;
  deadline_ = Now() + options().write_timeout;
  keep_alive_ = keep_alive_ && !response.close && unread_ != Unread::kClose && !peer_left_ &&
                !shared_->draining.load(std::memory_order_relaxed);
  out_head_ = FormatResponseHead(response, http10_, keep_alive_);
  out_body_ = head_only_ ? std::string() : std::move(response.body);
  written_ = 0;
  Write();
}

// Straight to the socket as long as it takes the bytes: the usual answer leaves in one system call.
void Connection::Write() {
  Error error;
  const size_t total = out_head_.size() + out_body_.size();
  while (!error && written_ < total) {
    const size_t head = std::min(written_, out_head_.size());
    const std::array buffers = {asio::buffer(out_head_) + head,
                                asio::buffer(out_body_) + (written_ - head)};
    written_ += socket_.write_some(buffers, error);
  }
  if (error != asio::error::would_block && error != asio::error::try_again) return OnWritten(error);
  socket_.async_wait(asio::socket_base::wait_write,
                     [self = shared_from_this()](const Error& wait_error) {
                       if (self->state_ != State::kWriting) return;
                       wait_error ? self->OnWritten(wait_error) : self->Write();
                     });
}

void Connection::OnWritten(const Error& error) {
  TellSent(!error);
  out_body_ = std::string();
  if (error) return Close();
  AfterAnswer();
}

void Connection::TellSent(bool ok) {
  const SentFn sent = std::exchange(sent_, nullptr);
  if (sent) sent({Now(), {static_cast<int64_t>(written_)}, ok});
}

void Connection::AfterAnswer() {
  // The client stopped sending while its answer was written. Complete requests that it had
  // pipelined before would need answers too, but whoever half-closes counts as leaving
  // (docs/protocols.md).
  if (peer_left_) return Close();
  if (!keep_alive_) {
    // Closing a socket with unread input resets it, and the reset may overtake the answer.
    return unread_ != Unread::kNone || !input_.empty() ? Linger() : Close();
  }
  if (unread_ == Unread::kDiscard) {
    state_ = State::kReading;
    unread_ = Unread::kNone;
    discarding_ = true;
    deadline_ = Now() + options().body_timeout;
    parser_.SetBodyPlan({static_cast<int64_t>(kMaxDiscarded)}, false);
  } else {
    BeginRequest();
  }
  Process();
  ReadMore();
}

void Connection::Linger() {
  if (peer_left_) return Close();
  Error ignored;  // a reset client is noticed by the read
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  state_ = State::kLingering;
  deadline_ = Now() + options().linger;
  input_.Clear();
  ReadMore();
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  Error ignored;
  socket_.close(ignored);
  if (sent_) TellSent(false);
  const auto keep = shared_from_this();
  std::exchange(closed_, nullptr)(this);
}

// --- timers ---

void Connection::Tick(TimePoint now) {
  if (now < deadline_) return;
  shared_->timed_out.fetch_add(1, std::memory_order_relaxed);
  if (state_ != State::kReading || Idle() || discarding_) return Close();
  const bool body = parser_.headers_done();
  const Duration limit = body ? options().body_timeout : options().header_timeout;
  unread_ = Unread::kClose;
  Deliver({InvalidError(fmt::format("the {} was not complete within {}", body ? "body" : "head",
                                    FormatDuration(limit))),
           408},
          false);
}

void Connection::Drain(TimePoint now) {
  if (Idle()) deadline_ = std::min(deadline_, now + options().drain_idle);
}

}  // namespace

std::shared_ptr<HttpConnection> MakeHttpConnection(std::shared_ptr<IoLoop> loop,
                                                   std::shared_ptr<ServerShared> shared, int fd,
                                                   HttpConnection::ClosedFn closed) {
  return std::make_shared<Connection>(std::move(loop), std::move(shared), fd, std::move(closed));
}

}  // namespace gimbal::net
