#include "net/http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/manual_clock.h"

namespace gimbal::net {
namespace {

using Failure = HttpResult::Failure;
using State = HttpAnswerParser::State;

// ---- URLs

TEST(UrlTest, TakesApart) {
  const auto url = ParseUrl("http://127.0.0.1:8000/base/");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "127.0.0.1");
  EXPECT_EQ(url->port, 8000);
  EXPECT_EQ(url->path, "/base");
  EXPECT_EQ(ParseUrl("http://[::1]:9").value().host, "::1");
  EXPECT_EQ(ParseUrl("http://[::1]").value().port, 80);
  for (const char* bad : {"https://a", "ftp://a", "http://", "http://a:0", "http://a:70000",
                          "http://a:x", "http://a b", "http://u@h", "", "http://a/?q"}) {
    EXPECT_FALSE(ParseUrl(bad).ok()) << bad;
  }
}

TEST(UrlTest, FormatsRequests) {
  const Url url = ParseUrl("http://h:1/p").value();
  EXPECT_EQ(FormatRequest(url, "/x", "a/b", "hi"),
            "POST /p/x HTTP/1.1\r\nHost: h:1\r\nUser-Agent: gimbal\r\nContent-Type: a/b\r\n"
            "Content-Length: 2\r\n\r\nhi");
  EXPECT_EQ(FormatRequest(url, "/x", "", ""),
            "GET /p/x HTTP/1.1\r\nHost: h:1\r\nUser-Agent: gimbal\r\n\r\n");
}

// ---- the parser

struct Parsed {
  State state = State::kReading;
  int status = 0;
  std::string body;
  bool keep_alive = false;
  std::string rest;
};

Parsed Parse(std::string_view text, size_t step, Bytes limit = KiB(1)) {
  HttpAnswerParser parser(limit);
  Parsed parsed;
  size_t at = 0;
  while (at < text.size() && parsed.state == State::kReading) {
    std::string_view piece = text.substr(at, step);
    const size_t before = piece.size();
    parsed.state = parser.Feed(piece);
    at += before - piece.size();
  }
  parsed.rest = text.substr(at);
  if (parsed.state == State::kReading) parsed.state = parser.End();
  parsed.status = parser.answer().status;
  parsed.body = parser.answer().body;
  parsed.keep_alive = parsed.state == State::kComplete && parser.keep_alive();
  return parsed;
}

struct ParserCase {
  const char* name;
  std::string text;
  State state;
  int status;
  const char* body;
  bool keep_alive;
  const char* rest;
};

const ParserCase kParserCases[] = {
    {"length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcX", State::kComplete, 200, "abc",
     true, "X"},
    {"chunked",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n"
     "0\r\nTrailer: t\r\n\r\n",
     State::kComplete, 200, "abc0123456789", true, ""},
    {"interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\ncontent-length:0\r\n\r\n",
     State::kComplete, 404, "", true, ""},
    {"no_content", "HTTP/1.1 204 No Content\r\n\r\n", State::kComplete, 204, "", true, ""},
    {"until_close", "HTTP/1.1 200 OK\r\n\r\nabc", State::kComplete, 200, "abc", false, ""},
    {"http10", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", State::kComplete, 200, "a", false,
     ""},
    {"http10_keep", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na",
     State::kComplete, 200, "a", true, ""},
    {"close", "HTTP/1.1 200 OK\r\nConnection: x, close\r\nContent-Length: 1\r\n\r\na",
     State::kComplete, 200, "a", false, ""},
    {"bare_newlines", "HTTP/1.1 200 OK\nContent-Length: 1\n\na", State::kComplete, 200, "a", true,
     ""},
    {"no_reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", State::kComplete, 200, "", true, ""},
    {"both_framings",
     "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     State::kComplete, 200, "", false, ""},
    {"truncated_body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", State::kReading, 200,
     "abc", false, ""},
    {"truncated_chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
     State::kReading, 200, "abc", false, ""},
    {"not_http", "SSH-2.0-OpenSSH\r\n", State::kMalformed, 0, "", false, ""},
    {"http2", "HTTP/2 200 OK......\r\n", State::kMalformed, 0, "", false, ""},
    {"bad_status", "HTTP/1.1 2x0 OK\r\n", State::kMalformed, 0, "", false, ""},
    {"bad_field", "HTTP/1.1 200 OK\r\nno colon\r\n", State::kMalformed, 200, "", false, ""},
    {"bad_length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", State::kMalformed, 200, "",
     false, ""},
    {"two_lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
     State::kMalformed, 200, "", false, ""},
    {"bad_chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", State::kMalformed,
     200, "", false, ""},
    {"chunk_overrun", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
     State::kMalformed, 200, "a", false, ""},
    {"declared_too_large", "HTTP/1.1 200 OK\r\nContent-Length: 1025\r\n\r\n", State::kTooLarge, 200,
     "", false, ""},
    {"chunks_too_large",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n500\r\n" + std::string(0x500, 'x'),
     State::kTooLarge, 200, nullptr, false, nullptr},
    {"fields_too_large", "HTTP/1.1 200 OK\r\nA: " + std::string(70000, 'x'), State::kTooLarge, 200,
     "", false, nullptr},
};

TEST(HttpAnswerParserTest, CasesWholeAndByteByByte) {
  for (const ParserCase& c : kParserCases) {
    for (const size_t step : {size_t{1} << 20, size_t{1}, size_t{7}}) {
      SCOPED_TRACE(std::string(c.name) + " in steps of " + std::to_string(step));
      const Parsed parsed = Parse(c.text, step);
      EXPECT_EQ(parsed.state, c.state);
      EXPECT_EQ(parsed.status, c.status);
      if (c.body != nullptr) {
        EXPECT_EQ(parsed.body, c.body);
      }
      if (c.state != State::kComplete) continue;
      EXPECT_EQ(parsed.keep_alive, c.keep_alive);
      EXPECT_EQ(parsed.rest, c.rest);
    }
  }
}

TEST(HttpAnswerParserTest, FindsFieldsInAnyCase) {
  HttpAnswerParser parser(KiB(1));
  std::string_view text = "HTTP/1.1 200 OK\r\nServer-Timing:  a;dur=1 \r\nX: \r\n\r\n";
  EXPECT_EQ(parser.Feed(text), State::kReading);
  EXPECT_EQ(parser.answer().Find("server-TIMING"), "a;dur=1");
  EXPECT_EQ(parser.answer().Find("x"), "");
  EXPECT_FALSE(parser.answer().Find("server").has_value());
}

// ---- the client against a real socket

// Accepts connections one after the other and lets a script speak; the port is free by itself.
class ScriptServer {
 public:
  using Script = std::function<void(int fd)>;

  explicit ScriptServer(std::vector<Script> scripts) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    url_ = ParseUrl("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port))).value();
    thread_ = std::thread([this, scripts = std::move(scripts)] {
      for (const Script& script : scripts) {
        const int fd = accept(listener_, nullptr, nullptr);
        if (fd < 0) return;
        script(fd);
        close(fd);
      }
    });
  }
  ~ScriptServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  const Url& url() const { return url_; }

 private:
  int listener_ = -1;
  Url url_;
  std::thread thread_;
};

void Say(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

// Reads one request without a body; false when the client closed.
bool Hear(int fd) {
  std::string heard;
  char c = 0;
  while (!heard.ends_with("\r\n\r\n")) {
    if (recv(fd, &c, 1, 0) != 1) return false;
    heard += c;
  }
  return true;
}

struct Seen {
  uint64_t token;
  Failure failure;
  int status;
  std::string body;
  TimePoint first_byte;
};

class Collect : public HttpClient::Sink {
 public:
  void OnResult(const HttpResult& r) override {
    seen.push_back({r.token, r.failure, r.answer ? r.answer->status : 0,
                    r.answer ? r.answer->body : "", r.first_byte});
  }
  std::vector<Seen> seen;
};

std::unique_ptr<HttpClient> MakeClient(const Url& url, int max_connections = 4) {
  HttpClient::Options options;
  options.url = url;
  options.max_connections = max_connections;
  options.max_answer = KiB(64);
  return std::move(HttpClient::Create(options)).value();
}

const std::string kRequest = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

Seen One(HttpClient& client, uint64_t token = 7) {
  Collect sink;
  EXPECT_TRUE(client.Send(token, kRequest));
  while (sink.seen.empty()) client.Poll(kNever, sink);
  EXPECT_EQ(sink.seen.size(), 1u);
  return sink.seen.front();
}

TEST(HttpClientTest, KeepsConnectionsAlive) {
  // One script: a second connection would never be answered.
  ScriptServer server({[](int fd) {
    while (Hear(fd)) Say(fd, kAnswer);
  }});
  const auto client = MakeClient(server.url());
  ASSERT_TRUE(client->Open(1).ok());
  for (uint64_t i = 0; i < 5; ++i) {
    const Seen seen = One(*client, i);
    EXPECT_EQ(seen.token, i);
    EXPECT_EQ(seen.failure, Failure::kNone);
    EXPECT_EQ(seen.body, "hi");
    EXPECT_GT(seen.first_byte, TimePoint());
  }
  EXPECT_EQ(client->peak_connections(), 1);
}

TEST(HttpClientTest, ReopensAfterConnectionClose) {
  const auto script = [](int fd) {
    Hear(fd);
    Say(fd, "HTTP/1.1 503 Not now\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx");
  };
  ScriptServer server({script, script});
  const auto client = MakeClient(server.url());
  EXPECT_EQ(One(*client).status, 503);
  EXPECT_EQ(client->connections(), 0);
  EXPECT_EQ(One(*client).status, 503);
}

TEST(HttpClientTest, TellsFailuresApart) {
  const struct {
    std::string answer;
    Failure failure;
  } cases[] = {
      {"", Failure::kReset},
      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Failure::kTruncated},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", Failure::kTruncated},
      {"HTTP/1.1 200", Failure::kTruncated},
      {"nonsense\r\n\r\n", Failure::kMalformed},
      {"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", Failure::kTooLarge},
      {"HTTP/1.1 200 OK\r\n\r\nall", Failure::kNone},
  };
  for (const auto& c : cases) {
    ScriptServer server({[&c](int fd) {
      Hear(fd);
      Say(fd, c.answer);
    }});
    const auto client = MakeClient(server.url());
    EXPECT_EQ(One(*client).failure, c.failure) << c.answer;
    EXPECT_EQ(client->connections(), 0);
    EXPECT_EQ(client->in_flight(), 0);
  }
}

TEST(HttpClientTest, ResetInsteadOfAnAnswer) {
  ScriptServer server({[](int fd) {
    Hear(fd);
    const linger now{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }});
  const auto client = MakeClient(server.url());
  EXPECT_EQ(One(*client).failure, Failure::kReset);
}

TEST(HttpClientTest, NobodyListens) {
  Url url;
  {
    url = ScriptServer({}).url();
  }
  const auto client = MakeClient(url);
  EXPECT_EQ(client->Open(1).code(), Code::kUnavailable);
  EXPECT_EQ(One(*client).failure, Failure::kConnect);
  EXPECT_EQ(HttpGet(url, "/", std::chrono::seconds(5)).status().code(), Code::kUnavailable);
}

TEST(HttpClientTest, ChunksJoinedAndLargeBodies) {
  const std::string half(30000, 'x');
  ScriptServer server({[&](int fd) {
    Hear(fd);
    Say(fd,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7530\r\n" + half + "\r\n7530\r\n");
    Say(fd, half + "\r\n0\r\n\r\n");
  }});
  const auto client = MakeClient(server.url());
  EXPECT_EQ(One(*client).body, half + half);
}

TEST(HttpClientTest, StaysWithinItsConnections) {
  ScriptServer server({[](int fd) { Hear(fd); }});
  const auto client = MakeClient(server.url(), 1);
  EXPECT_TRUE(client->Send(1, kRequest));
  EXPECT_FALSE(client->Send(2, kRequest));
  Collect sink;
  while (sink.seen.empty()) client->Poll(kNever, sink);
  EXPECT_EQ(sink.seen.front().token, 1u);
}

TEST(HttpClientTest, UnaskedBytesEndTheConnection) {
  ScriptServer server({[](int fd) {
                         Hear(fd);
                         Say(fd, std::string(kAnswer) + "HTTP/1.1 200 OK\r\n");
                         char c = 0;
                         EXPECT_LE(recv(fd, &c, 1, 0), 0);
                       },
                       [](int fd) {
                         Hear(fd);
                         Say(fd, kAnswer);
                       }});
  const auto client = MakeClient(server.url());
  EXPECT_EQ(One(*client).failure, Failure::kNone);
  EXPECT_EQ(One(*client).failure, Failure::kNone);
}

TEST(HttpClientTest, TimesOutByItsClock) {
  ScriptServer server({[](int fd) {
    char c = 0;
    while (recv(fd, &c, 1, 0) == 1) {
    }
  }});
  ManualClock clock;
  HttpClient::Options options;
  options.url = server.url();
  options.clock = &clock;
  options.timeout = std::chrono::seconds(30);
  const auto client = std::move(HttpClient::Create(options)).value();
  ASSERT_TRUE(client->Open(1).ok());
  ASSERT_TRUE(client->Send(1, kRequest));
  Collect sink;
  clock.Advance(std::chrono::seconds(29));
  client->Poll(clock.Now(), sink);
  EXPECT_TRUE(sink.seen.empty());
  clock.Advance(std::chrono::seconds(1));
  client->Poll(clock.Now(), sink);
  ASSERT_EQ(sink.seen.size(), 1u);
  EXPECT_EQ(sink.seen.front().failure, Failure::kTimeout);
  EXPECT_EQ(client->connections(), 0);
}

TEST(HttpClientTest, GetsOnePage) {
  ScriptServer server({[](int fd) {
    Hear(fd);
    Say(fd, kAnswer);
  }});
  const auto page = HttpGet(server.url(), "/metrics", std::chrono::seconds(5));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->body, "hi");
}

}  // namespace
}  // namespace gimbal::net
