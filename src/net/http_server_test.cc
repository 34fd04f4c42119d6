// How the server reads requests and writes answers.
#include <gtest/gtest.h>

#include <thread>

#include "net/http_server_puppets.h"

namespace gimbal::net {
namespace {

class HttpServerTest : public testing::Test, protected ServerUnderTest {};

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
  EXPECT_FALSE(puppet_.reentered());
}

// What a client sends ahead stays with the client, beyond what the kernel and one buffer hold.
TEST_F(HttpServerTest, DoesNotReadAheadWithoutBound) {
  Start();
  const auto client = Connect();
  client->Send(Get("/hold"));
  const auto exchange = puppet_.TakeHeld();
  client->LimitSends(std::chrono::milliseconds(300));
  EXPECT_FALSE(client->Send(std::string(64 << 20, 'x')));
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
  EXPECT_TRUE(
      client->Send(std::string(1 << 20, 'x')));  // is read and thrown away, so that no reset comes
  EXPECT_TRUE(client->ReadsEnd());
}

// Blocking clients send all of their body before they look at an answer.
TEST_F(HttpServerTest, LetsAClientThatSendsOnReadTheRefusal) {
  Start();
  const auto client = Connect();
  EXPECT_TRUE(client->Send(Post("/a", std::string(8 << 20, 'x'))));
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

// Many clients, threads and ways to end at once; the sanitizers look on.

}  // namespace
}  // namespace gimbal::net
