#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/units.h"
#include "net/http_message.h"

namespace gimbal::net {

// Bytes of a connection to requests, one after the other; no sockets. Owned by a connection, one
// thread at a time.
//
//   while (parser.Put(input, consumed) == RequestParser::Step::kHeaders) parser.SetBodyPlan(...);
class RequestParser {
 public:
  enum class Step {
    kNeedMore,  // everything usable was consumed
    kHeaders,   // the head is complete; SetBodyPlan must follow
    kDone,      // the request is complete; Reset must follow
    kRefused,   // refusal() says why; only closing can follow
  };

  explicit RequestParser(size_t max_header_bytes);
  ~RequestParser();

  // Takes bytes from the front of `input` and tells how many. What it did not take must be given
  // again, with more behind it.
  Step Put(std::string_view input, size_t& consumed);

  // REQUIRES: Put returned kHeaders. `store` false: the body is read and thrown away.
  void SetBodyPlan(Bytes max_body, bool store);
  void Reset();

  bool started() const;  // a byte of a request was taken
  bool headers_done() const;
  RequestHead& head();
  std::string& body();
  const Refusal& refusal() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gimbal::net
