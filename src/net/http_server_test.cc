#include "net/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <future>
#include <thread>

#include "base/mutex.h"

namespace gimbal::net {
namespace {

using std::chrono::milliseconds;

// A blocking client on a plain socket. Reads give up after ten seconds, which fails the test.
class Client {
 public:
  explicit Client(const std::string& address) {
    const size_t colon = address.rfind(':');
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
    inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval limit{10, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  ~Client() { Close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  void Reset() {
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    Close();
  }
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  // Up to and with the empty line; what was read beyond stays for the next call.
  std::string ReadHead() {
    while (pending_.find("\r\n\r\n") == std::string::npos && More()) {
    }
    return Take(pending_.find("\r\n\r\n") + 4);
  }
  std::string Read(size_t bytes) {
    while (pending_.size() < bytes && More()) {
    }
    return Take(bytes);
  }
  // One response with Content-Length: status and body, as "200 body".
  std::string ReadResponse() {
    const std::string head = ReadHead();
    const size_t length = head.find("Content-Length: ");
    if (length == std::string::npos) return "no response";
    return head.substr(9, 3) + " " + Read(std::stoul(head.substr(length + 16)));
  }
  // Whether the server closes now, in order (not by a reset).
  bool ReadsEnd() {
    while (More()) {
    }
    return last_ == 0;
  }
  std::string ReadAll() {
    while (More()) {
    }
    return Take(pending_.size());
  }

 private:
  bool More() {
    char buffer[4096];
    last_ = recv(fd_, buffer, sizeof buffer, 0);
    if (last_ > 0) pending_.append(buffer, static_cast<size_t>(last_));
    return last_ > 0;
  }
  std::string Take(size_t n) {
    std::string out = pending_.substr(0, n);
    pending_.erase(0, out.size());
    return out;
  }

  int fd_ = -1;
  bool connected_ = false;
  ssize_t last_ = 0;
  std::string pending_;
};

// Answers at once with "METHOD target body", or, for targets that begin with /hold, keeps the
// exchange for the test. /refuse asks not to read the body.
class Puppet : public HttpHandler {
 public:
  BodyPlan OnHeaders(const RequestHead& head) override {
    return {!head.target().starts_with("/refuse"), KiB(64)};
  }
  void OnRequest(std::unique_ptr<HttpExchange> exchange) override {
    if (!exchange->refusal().status.ok()) return Refuse(std::move(exchange));
    if (exchange->head().target().starts_with("/drop")) return;
    if (!exchange->head().target().starts_with("/hold")) return Echo(std::move(exchange));
    exchange->WatchClient([this] {
      MutexLock lock(mu_);
      ++gone_;
      changed_.NotifyAll();
    });
    MutexLock lock(mu_);
    held_.push_back(std::move(exchange));
    changed_.NotifyAll();
  }

  std::unique_ptr<HttpExchange> TakeHeld() {
    MutexLock lock(mu_);
    while (held_.empty()) changed_.Wait(mu_);
    auto out = std::move(held_.front());
    held_.pop_front();
    return out;
  }
  void WaitGone(int n) {
    MutexLock lock(mu_);
    while (gone_ < n) changed_.Wait(mu_);
  }
  size_t held() {
    MutexLock lock(mu_);
    return held_.size();
  }
  std::vector<Status> WaitRefusals(size_t n) {
    MutexLock lock(mu_);
    while (refusals_.size() < n) changed_.Wait(mu_);
    return refusals_;
  }

  static void Echo(std::unique_ptr<HttpExchange> exchange) {
    HttpResponse response;
    response.body = std::string(exchange->head().method()) + " " +
                    std::string(exchange->head().target()) + " " + exchange->body();
    if (!exchange->body_read()) response.status = 404;
    exchange->Reply(std::move(response), nullptr);
  }

 private:
  void Refuse(std::unique_ptr<HttpExchange> exchange) {
    const Refusal refusal = exchange->refusal();
    HttpResponse response;
    response.status = refusal.http_status ? refusal.http_status : HttpStatus(refusal.status.code());
    response.body = refusal.status.message();
    exchange->Reply(std::move(response), nullptr);
    MutexLock lock(mu_);
    refusals_.push_back(refusal.status);
    changed_.NotifyAll();
  }

  Mutex mu_;
  CondVar changed_;
  std::deque<std::unique_ptr<HttpExchange>> held_ GUARDED_BY(mu_);
  std::vector<Status> refusals_ GUARDED_BY(mu_);
  int gone_ GUARDED_BY(mu_) = 0;
};

class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpServer::Options options = {}) {
    auto server = HttpServer::Create(std::move(options), puppet_);
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(server).value();
  }
  std::unique_ptr<Client> Connect() { return std::make_unique<Client>(server_->address()); }

  Puppet puppet_;
  std::unique_ptr<HttpServer> server_;
};

std::string Get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
}
std::string Post(const std::string& target, const std::string& body,
                 const std::string& fields = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: h\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
SentFn Tell(std::promise<SentInfo>& to) {
  return [&to](const SentInfo& sent) { to.set_value(sent); };
}

TEST_F(HttpServerTest, KeepsAConnectionAlive) {
  Start();
  const auto client = Connect();
  for (int i = 0; i < 3; ++i) {
    client->Send(Post("/a", "hello"));
    EXPECT_EQ(client->ReadResponse(), "200 POST /a hello");
  }
  EXPECT_EQ(server_->stats().accepted, 1u);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrderAndOneAtATime) {
  Start();
  const auto client = Connect();
  client->Send(Get("/hold1") + Get("/2") + Get("/hold3") + Get("/4"));
  auto first = puppet_.TakeHeld();
  EXPECT_EQ(puppet_.held(), 0u);
  Puppet::Echo(std::move(first));
  EXPECT_EQ(client->ReadResponse(), "200 GET /hold1 ");
  EXPECT_EQ(client->ReadResponse(), "200 GET /2 ");
  Puppet::Echo(puppet_.TakeHeld());
  EXPECT_EQ(client->ReadResponse(), "200 GET /hold3 ");
  EXPECT_EQ(client->ReadResponse(), "200 GET /4 ");
}

// Deep pipelines must neither recurse nor be lost at the bound of the buffer.
TEST_F(HttpServerTest, AnswersALongPipeline) {
  Start();
  const auto client = Connect();
  constexpr int kCount = 20000;
  std::thread sender([&] {
    std::string all = Get("/hold");
    for (int i = 1; i < kCount; ++i) all += Get("/x");
    client->Send(all);
  });
  Puppet::Echo(puppet_.TakeHeld());
  int answered = 0;
  EXPECT_EQ(client->ReadResponse(), "200 GET /hold ");
  while (++answered < kCount && client->ReadResponse() == "200 GET /x ") {
  }
  EXPECT_EQ(answered, kCount);
  sender.join();
}

TEST_F(HttpServerTest, AnswersFromAnyThreadAndTellsWhenSent) {
  Start();
  const auto client = Connect();
  const TimePoint before = Clock::Steady().Now();
  client->Send(Post("/hold", "x"));
  auto exchange = puppet_.TakeHeld();
  EXPECT_GE(exchange->first_byte(), before);
  EXPECT_GE(exchange->received(), exchange->first_byte());
  std::promise<SentInfo> promise;
  exchange->Reply({.status = 200, .headers = {}, .body = "done"}, Tell(promise));
  const SentInfo sent = promise.get_future().get();
  EXPECT_TRUE(sent.ok);
  EXPECT_GE(sent.at, exchange->received());
  EXPECT_EQ(client->ReadResponse(), "200 done");
  EXPECT_GT(sent.bytes.value, 4);
}

TEST_F(HttpServerTest, RunsWorkOnTheIoThread) {
  Start();
  const auto client = Connect();
  client->Send(Get("/hold"));
  const auto exchange = puppet_.TakeHeld();
  std::promise<std::thread::id> outer;
  std::promise<std::thread::id> inner;
  exchange->RunOnIoThread([&] {
    outer.set_value(std::this_thread::get_id());
    exchange->RunOnIoThread([&] { inner.set_value(std::this_thread::get_id()); });
  });
  const auto id = outer.get_future().get();
  EXPECT_NE(id, std::this_thread::get_id());
  EXPECT_EQ(inner.get_future().get(), id);
}

TEST_F(HttpServerTest, AnswersLargerThanTheSocketsBuffer) {
  Start();
  const auto client = Connect();
  client->Send(Get("/hold") + Get("/next"));
  const std::string large(8 << 20, 'x');
  std::promise<SentInfo> promise;
  puppet_.TakeHeld()->Reply({.status = 200, .headers = {}, .body = large}, Tell(promise));
  EXPECT_EQ(client->ReadResponse(), "200 " + large);
  EXPECT_TRUE(promise.get_future().get().ok);
  EXPECT_EQ(client->ReadResponse(), "200 GET /next ");
}

TEST_F(HttpServerTest, AnExchangeThatIsDroppedAnswers500) {
  Start();
  const auto client = Connect();
  client->Send(Get("/drop"));
  EXPECT_EQ(client->ReadResponse().substr(0, 3), "500");
  client->Send(Get("/a"));
  EXPECT_EQ(client->ReadResponse(), "200 GET /a ");
}

TEST_F(HttpServerTest, RefusesALongBodyUnread) {
  Start();
  const auto client = Connect();
  client->Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000\r\n\r\n");
  EXPECT_EQ(client->ReadResponse(), "413 the body has 1000000000 bytes, the limit is 64KiB");
  client->Send(std::string(1 << 20, 'x'));  // is read and thrown away, so that no reset comes
  EXPECT_TRUE(client->ReadsEnd());
}

// Blocking clients send all of their body before they look at an answer.
TEST_F(HttpServerTest, LetsAClientThatSendsOnReadTheRefusal) {
  Start();
  const auto client = Connect();
  client->Send(Post("/a", std::string(8 << 20, 'x')));
  EXPECT_EQ(client->ReadResponse().substr(0, 3), "413");
  EXPECT_TRUE(client->ReadsEnd());
}

TEST_F(HttpServerTest, CutsAChunkedBodyAtTheLimit) {
  Start();
  const auto client = Connect();
  client->Send("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "4000\r\n" + std::string(0x4000, 'x') + "\r\n";
  for (int i = 0; i < 5; ++i) client->Send(chunk);
  EXPECT_EQ(client->ReadResponse(), "413 the body is over the limit of 64KiB");
  EXPECT_TRUE(client->ReadsEnd());
}

TEST_F(HttpServerTest, GoesOnAfterASmallBodyThatNobodyWanted) {
  Start();
  const auto client = Connect();
  client->Send("POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client->ReadResponse(), "404 POST /refuse ");  // before the body came
  client->Send("hello" + Get("/next"));
  EXPECT_EQ(client->ReadResponse(), "200 GET /next ");
}

TEST_F(HttpServerTest, SendsContinueOnlyToWhoMayGoOn) {
  Start();
  const auto client = Connect();
  const std::string fields = "Expect: 100-continue\r\n";
  client->Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n" + fields + "\r\n");
  EXPECT_EQ(client->ReadHead(), "HTTP/1.1 100 Continue\r\n\r\n");
  client->Send("hello");
  EXPECT_EQ(client->ReadResponse(), "200 POST /a hello");
  client->Send("POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n" + fields + "\r\n");
  EXPECT_EQ(client->ReadResponse(), "404 POST /refuse ");
  EXPECT_TRUE(client->ReadsEnd());
}

TEST_F(HttpServerTest, AnswersHeadWithoutBody) {
  Start();
  const auto client = Connect();
  client->Send("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(client->ReadHead().find("Content-Length: 8\r\n"), std::string::npos);
  client->Send(Get("/b"));
  EXPECT_EQ(client->ReadResponse(), "200 GET /b ");
}

TEST_F(HttpServerTest, ClosesForHttp10UnlessAskedToStay) {
  Start();
  auto client = Connect();
  client->Send("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_NE(client->ReadHead().find("Connection: close"), std::string::npos);
  EXPECT_TRUE(client->ReadsEnd());
  client = Connect();
  client->Send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_NE(client->ReadHead().find("Connection: keep-alive"), std::string::npos);
}

TEST_F(HttpServerTest, RefusesGarbage) {
  Start();
  const auto client = Connect();
  client->Send("hello there\r\n\r\n");
  EXPECT_EQ(client->ReadResponse().substr(0, 3), "400");
  EXPECT_TRUE(client->ReadsEnd());
}

TEST_F(HttpServerTest, CutsSlowHeadersAndSlowBodies) {
  HttpServer::Options options;
  options.header_timeout = milliseconds(40);
  options.body_timeout = milliseconds(40);
  Start(options);
  auto client = Connect();
  client->Send("GET / HTTP/1.1\r\nHos");
  EXPECT_EQ(client->ReadResponse(), "408 the head was not complete within 40ms");
  EXPECT_TRUE(client->ReadsEnd());
  client = Connect();
  client->Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhel");
  EXPECT_EQ(client->ReadResponse(), "408 the body was not complete within 40ms");
  EXPECT_TRUE(client->ReadsEnd());
  EXPECT_EQ(server_->stats().timed_out, 2u);
}

TEST_F(HttpServerTest, ClosesIdleConnectionsWithoutAWord) {
  HttpServer::Options options;
  options.idle_timeout = milliseconds(40);
  Start(options);
  const auto fresh = Connect();
  const auto used = Connect();
  used->Send(Get("/a"));
  EXPECT_EQ(used->ReadResponse(), "200 GET /a ");
  EXPECT_EQ(fresh->ReadAll(), "");
  EXPECT_EQ(used->ReadAll(), "");
  EXPECT_TRUE(used->ReadsEnd());
}

TEST_F(HttpServerTest, AbandonsAClientThatDoesNotRead) {
  HttpServer::Options options;
  options.write_timeout = milliseconds(40);
  Start(options);
  const auto client = Connect();
  client->Send(Get("/hold"));
  std::promise<SentInfo> promise;
  puppet_.TakeHeld()->Reply({.status = 200, .headers = {}, .body = std::string(16 << 20, 'x')},
                            Tell(promise));
  EXPECT_FALSE(promise.get_future().get().ok);
}

TEST_F(HttpServerTest, NoticesAClientThatLeaves) {
  Start();
  auto client = Connect();
  client->Send(Get("/hold"));
  auto exchange = puppet_.TakeHeld();
  client->Close();
  puppet_.WaitGone(1);
  std::promise<SentInfo> promise;
  exchange->Reply({.status = 200, .headers = {}, .body = "late"}, Tell(promise));
  EXPECT_FALSE(promise.get_future().get().ok);

  client = Connect();
  client->Send(Get("/hold"));
  exchange = puppet_.TakeHeld();
  client->Reset();
  puppet_.WaitGone(2);
  exchange.reset();
  EXPECT_EQ(server_->stats().gone, 2u);
}

TEST_F(HttpServerTest, PipelinedBytesAreNoDeparture) {
  Start();
  const auto client = Connect();
  client->Send(Get("/hold"));
  auto exchange = puppet_.TakeHeld();
  client->Send(Get("/b"));
  const auto witness = Connect();  // the loop has been round once its answer is there
  witness->Send(Get("/w"));
  EXPECT_EQ(witness->ReadResponse(), "200 GET /w ");
  EXPECT_EQ(server_->stats().gone, 0u);
  Puppet::Echo(std::move(exchange));
  EXPECT_EQ(client->ReadResponse(), "200 GET /hold ");
  EXPECT_EQ(client->ReadResponse(), "200 GET /b ");
}

TEST_F(HttpServerTest, CountsAClientThatLeavesInsideItsRequest) {
  Start();
  const auto client = Connect();
  client->Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe");
  client->Close();
  EXPECT_EQ(puppet_.WaitRefusals(1)[0].code(), Code::kCancelled);
}

TEST_F(HttpServerTest, RefusesConnectionsOverTheLimit) {
  HttpServer::Options options;
  options.max_connections = 1;
  Start(options);
  auto first = Connect();
  first->Send(Get("/a"));
  EXPECT_EQ(first->ReadResponse(), "200 GET /a ");
  const auto second = Connect();
  EXPECT_EQ(second->ReadAll().substr(0, 12), "HTTP/1.1 503");
  EXPECT_EQ(server_->stats().refused, 1u);
}

TEST_F(HttpServerTest, DrainFinishesWhatIsUnderWay) {
  HttpServer::Options options;
  options.drain_idle = milliseconds(200);
  options.io_threads = 2;
  Start(options);
  const auto busy = Connect();
  const auto idle = Connect();
  const auto late = Connect();
  for (Client* client : {idle.get(), late.get()}) {
    client->Send(Get("/a"));
    EXPECT_EQ(client->ReadResponse(), "200 GET /a ");
  }
  busy->Send(Get("/hold"));
  auto exchange = puppet_.TakeHeld();
  server_->StopAccepting();
  late->Send(Get("/late"));  // the connection is open, so its next request is served
  EXPECT_NE(late->ReadHead().find("Connection: close"), std::string::npos);
  EXPECT_TRUE(idle->ReadsEnd());
  auto stopped = std::async(std::launch::async, [&] {
    return server_->Stop(Clock::Steady().Now() + std::chrono::seconds(10));
  });
  Puppet::Echo(std::move(exchange));
  EXPECT_NE(busy->ReadHead().find("Connection: close"), std::string::npos);
  EXPECT_EQ(busy->ReadAll(), "GET /hold ");
  EXPECT_TRUE(stopped.get());
  EXPECT_FALSE(Connect()->connected());
}

TEST_F(HttpServerTest, StopAtTheDeadlineAnswersIntoTheVoid) {
  Start();
  const auto client = Connect();
  client->Send(Get("/hold"));
  auto exchange = puppet_.TakeHeld();
  EXPECT_FALSE(server_->Stop(Clock::Steady().Now()));
  EXPECT_EQ(client->ReadAll(), "");
  server_.reset();
  bool ran = false;
  exchange->RunOnIoThread([&] { ran = true; });
  EXPECT_TRUE(ran);
  bool told = false;
  exchange->Reply({.status = 200, .headers = {}, .body = "x"}, [&](const SentInfo& sent) {
    told = true;
    EXPECT_FALSE(sent.ok);
  });
  EXPECT_TRUE(told);
}

TEST_F(HttpServerTest, NamesTheAddressThatIsTaken) {
  Start();
  HttpServer::Options options;
  options.address = server_->address();
  const auto second = HttpServer::Create(options, puppet_);
  EXPECT_EQ(second.status().code(), Code::kUnavailable);
  EXPECT_EQ(second.status().message(),
            server_->address() + ": address already in use; choose another with --http or port 0");
}

TEST_F(HttpServerTest, RefusesAddressesItCannotRead) {
  for (const char* address : {"", "8000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "host:80",
                              "127.0.0.1:80x", "1.2.3:80"}) {
    HttpServer::Options options;
    options.address = address;
    EXPECT_EQ(HttpServer::Create(options, puppet_).status().code(), Code::kInvalid) << address;
  }
}

// Many clients, threads and ways to end at once; the sanitizers look on.
TEST_F(HttpServerTest, SurvivesManyClients) {
  HttpServer::Options options;
  options.io_threads = 2;
  Start(options);
  std::thread answering([&] {
    for (int i = 0; i < 8 * 20; ++i) Puppet::Echo(puppet_.TakeHeld());
  });
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t) {
    clients.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const auto client = Connect();
        client->Send(Post("/a", "x") + Get("/hold"));
        if (t % 2 == 0) {
          if (client->ReadResponse() == "200 POST /a x") ++good;
          if (client->ReadResponse() == "200 GET /hold ") ++good;
        } else if (client->ReadResponse() == "200 POST /a x") {
          ++good;
        }
      }
    });
  }
  for (auto& client : clients) client.join();
  answering.join();
  EXPECT_EQ(good, 8 * 20 + 4 * 20);
  EXPECT_TRUE(server_->Stop(Clock::Steady().Now() + std::chrono::seconds(10)));
}

}  // namespace
}  // namespace gimbal::net
