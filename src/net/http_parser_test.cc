#include "net/http_parser.h"

#include <gtest/gtest.h>

namespace gimbal::net {
namespace {

using Step = RequestParser::Step;

constexpr size_t kMaxHeader = 1024;

// Feeds `input` in pieces of `piece` bytes, as a socket might, until the request ends.
Step Feed(RequestParser& parser, std::string_view input, size_t piece, Bytes max_body = KiB(64)) {
  std::string pending;
  while (true) {
    const std::string_view next = input.substr(0, piece);
    input.remove_prefix(next.size());
    pending.append(next);
    size_t consumed = 0;
    Step step = parser.Put(pending, consumed);
    pending.erase(0, consumed);
    if (step == Step::kHeaders) {
      parser.SetBodyPlan(max_body, true);
      step = parser.Put(pending, consumed);
      pending.erase(0, consumed);
    }
    if (step != Step::kNeedMore || next.empty()) return step;
  }
}

class InPieces : public testing::TestWithParam<size_t> {};

TEST_P(InPieces, ReadsABodyOfKnownLength) {
  RequestParser parser(kMaxHeader);
  ASSERT_EQ(
      Feed(parser, "POST /v1/x?y=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nhello",
           GetParam()),
      Step::kDone);
  EXPECT_EQ(parser.head().method(), "POST");
  EXPECT_EQ(parser.head().target(), "/v1/x?y=1");
  EXPECT_EQ(parser.head().path(), "/v1/x");
  EXPECT_EQ(parser.head().Find("x-a"), "1");
  EXPECT_EQ(parser.head().Find("X-B"), std::nullopt);
  EXPECT_EQ(parser.head().content_length(), 5u);
  EXPECT_EQ(parser.body(), "hello");
}

TEST_P(InPieces, ReadsAChunkedBodyAndIgnoresTrailers) {
  RequestParser parser(kMaxHeader);
  ASSERT_EQ(Feed(parser,
                 "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nX-Timeout-Ms: 1\r\n\r\n",
                 GetParam()),
            Step::kDone);
  EXPECT_EQ(parser.body(), "abcdefg");
  EXPECT_EQ(parser.head().Find("x-timeout-ms"), std::nullopt);
}

TEST_P(InPieces, CutsAChunkedBodyAtTheLimit) {
  RequestParser parser(kMaxHeader);
  ASSERT_EQ(Feed(parser,
                 "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n",
                 GetParam(), {5}),
            Step::kRefused);
  EXPECT_EQ(parser.refusal().status.code(), Code::kTooLarge);
}

// The vendor counts a header's size from call to call; the total is what must be bounded.
TEST_P(InPieces, BoundsTheHeaders) {
  RequestParser parser(kMaxHeader);
  std::string head = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 100; ++i) head += "A: 0123456789\r\n";
  EXPECT_EQ(Feed(parser, head + "\r\n", GetParam()), Step::kRefused);
  EXPECT_EQ(parser.refusal().http_status, 431);
}

INSTANTIATE_TEST_SUITE_P(Sizes, InPieces, testing::Values(1, 2, 7, 64, 700, 100000));

TEST(RequestParser, LimitsTheNumberOfFields) {
  RequestParser parser(16 << 10);
  std::string head = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 128; ++i) head += "A:1\r\n";
  EXPECT_EQ(Feed(parser, head + "\r\n", 100000), Step::kRefused);
  EXPECT_EQ(parser.refusal().http_status, 431);
}

TEST(RequestParser, LeavesTheNextRequestAlone) {
  RequestParser parser(kMaxHeader);
  const std::string_view two =
      "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n";
  size_t consumed = 0;
  ASSERT_EQ(parser.Put(two, consumed), Step::kHeaders);
  EXPECT_EQ(consumed, two.size() / 2);
  EXPECT_EQ(parser.Put(two.substr(consumed), consumed), Step::kDone);
  EXPECT_EQ(consumed, 0u);
}

TEST(RequestParser, ReadsTheOtherForms) {
  RequestParser parser(kMaxHeader);
  ASSERT_EQ(
      Feed(parser, "\r\n\r\nGET http://host:1/a?b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 3),
      Step::kDone);
  EXPECT_EQ(parser.head().path(), "/a");
  EXPECT_EQ(parser.head().version(), 10);
  EXPECT_TRUE(parser.head().keep_alive());
  parser.Reset();
  ASSERT_EQ(Feed(parser, "GET / HTTP/1.0\r\n\r\n", 100), Step::kDone);
  EXPECT_FALSE(parser.head().keep_alive());
  parser.Reset();
  ASSERT_EQ(Feed(parser, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 100),
            Step::kDone);
  EXPECT_FALSE(parser.head().keep_alive());
}

TEST(RequestParser, RefusesWhatIsNotHttp) {
  const struct {
    const char* name;
    std::string input;
    int http_status;
  } cases[] = {
      {"garbage", "hello world\r\n\r\n", 400},
      {"tls", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", 400},
      {"http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"space in name", "GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400},
      {"length is no number", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5x\r\n\r\n", 400},
      {"negative length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\n", 400},
      {"two lengths",
       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400},
      {"length and chunked",
       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"other coding", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"coding chain", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
       501},
      {"bad chunk", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {"long target", "GET /" + std::string(2000, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n", 431},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    RequestParser parser(kMaxHeader);
    EXPECT_EQ(Feed(parser, c.input, 100000), Step::kRefused);
    EXPECT_EQ(parser.refusal().http_status, c.http_status) << parser.refusal().status.ToString();
  }
}

TEST(FormatResponseHead, KeepsValuesOnTheirLine) {
  HttpResponse response;
  response.body = "{}";
  response.headers = {{"X-Request-Id", "a\r\nSet-Cookie: b"}};
  EXPECT_EQ(FormatResponseHead(response, false, true),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
            "X-Request-Id: a  Set-Cookie: b\r\n\r\n");
  EXPECT_EQ(FormatResponseHead({.status = 503, .headers = {}, .body = ""}, false, false),
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

}  // namespace
}  // namespace gimbal::net
