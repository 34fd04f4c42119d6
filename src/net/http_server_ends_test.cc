// How connections end: timers, clients that leave, limits, draining.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "net/http_server_puppets.h"

namespace gimbal::net {
namespace {

class HttpServerEndsTest : public testing::Test, protected ServerUnderTest {};

TEST_F(HttpServerEndsTest, CutsSlowHeadersAndSlowBodies) {
  HttpServer::Options options;
  options.header_timeout = std::chrono::milliseconds(40);
  options.body_timeout = std::chrono::milliseconds(40);
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

TEST_F(HttpServerEndsTest, ClosesIdleConnectionsWithoutAWord) {
  HttpServer::Options options;
  options.idle_timeout = std::chrono::milliseconds(40);
  Start(options);
  const auto fresh = Connect();
  const auto used = Connect();
  used->Send(Get("/a"));
  EXPECT_EQ(used->ReadResponse(), "200 GET /a ");
  EXPECT_EQ(fresh->ReadAll(), "");
  EXPECT_EQ(used->ReadAll(), "");
  EXPECT_TRUE(used->ReadsEnd());
}

TEST_F(HttpServerEndsTest, AbandonsAClientThatDoesNotRead) {
  HttpServer::Options options;
  options.write_timeout = std::chrono::milliseconds(40);
  Start(options);
  const auto client = Connect();
  client->Send(Get("/hold"));
  std::promise<SentInfo> promise;
  puppet_.TakeHeld()->Reply({.status = 200, .headers = {}, .body = std::string(16 << 20, 'x')},
                            Tell(promise));
  EXPECT_FALSE(promise.get_future().get().ok);
}

// Once, such a client's connection was kept for another request that could never come.
TEST_F(HttpServerEndsTest, AClientThatHalfClosesWhileItIsAnsweredSeesTheEnd) {
  Start();
  const auto client = Connect();
  client->Send(Get("/hold"));
  std::promise<SentInfo> promise;
  // More than the sockets hold, so that it is still being written when the client stops sending.
  const size_t size = 32 << 20;
  puppet_.TakeHeld()->Reply({.status = 200, .headers = {}, .body = std::string(size, 'x')},
                            Tell(promise));
  EXPECT_NE(client->ReadHead().find("200"), std::string::npos);
  client->HalfClose();
  EXPECT_EQ(client->ReadAll().size(), size);
  EXPECT_TRUE(client->ReadsEnd());
  EXPECT_TRUE(promise.get_future().get().ok);
}

TEST_F(HttpServerEndsTest, NoticesAClientThatLeaves) {
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

TEST_F(HttpServerEndsTest, PipelinedBytesAreNoDeparture) {
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

TEST_F(HttpServerEndsTest, CountsAClientThatLeavesInsideItsRequest) {
  Start();
  const auto client = Connect();
  client->Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe");
  client->Close();
  EXPECT_EQ(puppet_.WaitRefusals(1)[0].code(), Code::kCancelled);
}

TEST_F(HttpServerEndsTest, RefusesConnectionsOverTheLimit) {
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

TEST_F(HttpServerEndsTest, DrainFinishesWhatIsUnderWay) {
  HttpServer::Options options;
  options.drain_idle = std::chrono::milliseconds(200);
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

TEST_F(HttpServerEndsTest, StopAtTheDeadlineAnswersIntoTheVoid) {
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

TEST_F(HttpServerEndsTest, NamesTheAddressThatIsTaken) {
  Start();
  HttpServer::Options options;
  options.address = server_->address();
  const auto second = HttpServer::Create(options, puppet_);
  EXPECT_EQ(second.status().code(), Code::kUnavailable);
  EXPECT_EQ(second.status().message(),
            server_->address() + ": address already in use; choose another with --http or port 0");
}

TEST_F(HttpServerEndsTest, RefusesAddressesItCannotRead) {
  for (const char* address : {"", "8000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "host:80",
                              "127.0.0.1:80x", "1.2.3:80"}) {
    HttpServer::Options options;
    options.address = address;
    EXPECT_EQ(HttpServer::Create(options, puppet_).status().code(), Code::kInvalid) << address;
  }
}

TEST_F(HttpServerEndsTest, SurvivesManyClients) {
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
