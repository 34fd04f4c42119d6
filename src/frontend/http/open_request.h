#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "codec/answer.h"
#include "net/http_message.h"
#include "obs/observer.h"

namespace gimbal::frontend {

// One HTTP request between its arrival and its record: whatever its end, it is answered once and
// observed once, after the last byte of the answer. Shared by the callbacks that carry the request
// along; used by one thread at a time.
class OpenRequest : public std::enable_shared_from_this<OpenRequest> {
 public:
  // `observer` and `clock` outlive the request.
  OpenRequest(std::unique_ptr<net::HttpExchange> exchange, obs::Observer& observer,
              const Clock& clock, std::string request_id);
  ~OpenRequest();  // dropped unanswered: answered 500 and observed as that

  // REQUIRES: not answered yet.
  net::HttpExchange& exchange() { return *exchange_; }
  obs::RequestRecord& record() { return record_; }

  // Adds X-Request-Id, marks the end of serialize and adds Server-Timing unless that is done,
  // sends.
  void Answer(net::HttpResponse response);
  // An encoded answer, with Retry-After where it has one. `http_status` 0: the answer's own.
  void Answer(codec::Answer answer, net::HttpResponse response = {}, int http_status = 0);
  // An error in the shape of the record's protocol; `label` as in codec::EncodeError.
  void Fail(const Status& status, std::string_view label = {}, net::HttpResponse response = {},
            int http_status = 0);

 private:
  void OnSent(const net::SentInfo& sent);

  std::unique_ptr<net::HttpExchange> exchange_;
  obs::Observer& observer_;
  const Clock& clock_;
  obs::RequestRecord record_;
};

}  // namespace gimbal::frontend
