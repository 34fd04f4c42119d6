#include "net/http_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <optional>

#include "base/check.h"

namespace gimbal::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr size_t kMaxFields = 128;
// Reserved on the word of a Content-Length; more only as bytes really come.
constexpr uint64_t kTrustedLength = 1 << 20;

std::string_view View(beast::string_view s) { return {s.data(), s.size()}; }

Refusal Malformed(std::string why) {
  return {InvalidError("malformed HTTP request: " + std::move(why)), 400};
}

// Fills our head and body straight from the vendor's grammar. The vendor's limit of the header is
// per call, so the total is counted here.
class Parser final : public http::basic_parser<true> {
 public:
  Parser(RequestHead& head, std::string& body, size_t max_header)
      : head_(head), body_(body), max_header_(max_header) {
    header_limit(static_cast<uint32_t>(max_header));
    body_limit(boost::none);
  }

  void SetBodyPlan(Bytes max_body, bool store) {
    max_body_ = static_cast<uint64_t>(max_body.value);
    store_ = store;
  }
  bool header_too_large() const { return header_too_large_; }
  bool body_too_large() const { return body_too_large_; }
  bool bad_framing() const { return bad_framing_; }

 private:
  using Error = beast::error_code;

  void Count(size_t bytes, Error& ec) {
    header_bytes_ += bytes;
    if (header_bytes_ > max_header_ || ++fields_ > kMaxFields) {
      header_too_large_ = true;
      ec = http::error::header_limit;
    }
  }
  void on_request_impl(http::verb, beast::string_view method, beast::string_view target,
                       int version, Error& ec) override {
    head_.SetRequestLine(View(method), View(target), version);
    Count(method.size() + target.size() + 12, ec);
  }
  void on_response_impl(int, beast::string_view, int, Error&) override {}
  void on_field_impl(http::field name, beast::string_view text, beast::string_view value,
                     Error& ec) override {
    Count(text.size() + value.size() + 4, ec);
    if (ec || head_done_)
      return;  // trailers are read and ignored: nobody has looked at them in time
    // Any other coding would leave the end of the body unknown, which is how requests are smuggled.
    if (name == http::field::transfer_encoding && !beast::iequals(value, "chunked")) {
      bad_framing_ = true;
      ec = http::error::bad_transfer_encoding;
      return;
    }
    head_.AddField(View(text), View(value));
  }
  void on_header_impl(Error&) override {
    head_done_ = true;
    std::optional<uint64_t> length;
    if (const auto given = content_length()) length = *given;
    head_.SetFraming(length, chunked(), keep_alive());
  }
  void on_body_init_impl(boost::optional<uint64_t> const& length, Error&) override {
    if (length && store_) body_.reserve(std::min(*length, kTrustedLength));
  }
  size_t on_body_impl(beast::string_view part, Error& ec) override {
    received_ += part.size();
    if (received_ > max_body_) {
      body_too_large_ = true;
      ec = http::error::body_limit;
      return 0;
    }
    if (store_) body_.append(part.data(), part.size());
    return part.size();
  }
  void on_chunk_header_impl(uint64_t, beast::string_view, Error&) override {}
  size_t on_chunk_body_impl(uint64_t, beast::string_view part, Error& ec) override {
    return on_body_impl(part, ec);
  }
  void on_finish_impl(Error&) override {}

  RequestHead& head_;
  std::string& body_;
  const size_t max_header_;
  size_t header_bytes_ = 0;
  size_t fields_ = 0;
  uint64_t max_body_ = 0;
  uint64_t received_ = 0;
  bool store_ = true;
  bool head_done_ = false;
  bool header_too_large_ = false;
  bool body_too_large_ = false;
  bool bad_framing_ = false;
};

}  // namespace

struct RequestParser::Impl {
  explicit Impl(size_t max) : max_header(max) { Reset(); }

  void Reset() {
    head.Clear();
    body.clear();
    refusal = {};
    parser.emplace(head, body, max_header);
    headers_told = false;
  }

  Refusal Explain(beast::error_code ec) const {
    if (parser->body_too_large()) {
      return {TooLargeError(fmt::format("the body is over the limit of {}", FormatBytes(max_body))),
              0};
    }
    if (parser->header_too_large() || ec == http::error::header_limit) {
      return {TooLargeError(fmt::format("the headers are over the limit of {} bytes or {} fields",
                                        max_header, kMaxFields)),
              431};
    }
    if (parser->bad_framing()) {
      return {InvalidError("Transfer-Encoding: only chunked is supported"), 501};
    }
    if (ec == http::error::bad_version) {
      return {InvalidError("only HTTP/1.0 and HTTP/1.1 are served"), 505};
    }
    return Malformed(ec.message());
  }

  // What the grammar allows and the protocol does not.
  Refusal CheckHead() const {
    if (head.version() == 11 && !head.Find("host")) return Malformed("HTTP/1.1 without Host");
    return {};
  }

  const size_t max_header;
  Bytes max_body;
  RequestHead head;
  std::string body;
  Refusal refusal;
  std::optional<Parser> parser;
  bool headers_told = false;
};

RequestParser::RequestParser(size_t max_header_bytes)
    : impl_(std::make_unique<Impl>(max_header_bytes)) {}
RequestParser::~RequestParser() = default;

RequestParser::Step RequestParser::Put(std::string_view input, size_t& consumed) {
  consumed = 0;
  Parser& parser = *impl_->parser;
  // Empty lines before a request are to be skipped (RFC 9112, 2.2).
  while (!parser.got_some() && consumed < input.size() &&
         (input[consumed] == '\r' || input[consumed] == '\n')) {
    ++consumed;
  }
  while (!parser.is_done() && consumed < input.size()) {
    beast::error_code ec;
    const size_t n = parser.put({input.data() + consumed, input.size() - consumed}, ec);
    consumed += n;
    if (ec == http::error::need_more) return Step::kNeedMore;
    if (ec) {
      impl_->refusal = impl_->Explain(ec);
      return Step::kRefused;
    }
    if (parser.is_header_done() && !std::exchange(impl_->headers_told, true)) {
      impl_->refusal = impl_->CheckHead();
      return impl_->refusal.status.ok() ? Step::kHeaders : Step::kRefused;
    }
  }
  return parser.is_done() ? Step::kDone : Step::kNeedMore;
}

void RequestParser::SetBodyPlan(Bytes max_body, bool store) {
  impl_->max_body = max_body;
  impl_->parser->SetBodyPlan(max_body, store);
}

void RequestParser::Reset() { impl_->Reset(); }
bool RequestParser::started() const { return impl_->parser->got_some(); }
bool RequestParser::headers_done() const { return impl_->headers_told; }
RequestHead& RequestParser::head() { return impl_->head; }
std::string& RequestParser::body() { return impl_->body; }
const Refusal& RequestParser::refusal() const { return impl_->refusal; }

}  // namespace gimbal::net
