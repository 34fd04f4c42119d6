#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/mutex.h"
#include "base/status.h"
#include "model/names.h"
#include "obs/metrics.h"
#include "obs/timeline.h"

namespace gimbal::obs {

// What is reported of one request, whatever its end. Sizes and counts only, never contents.
struct RequestRecord {
  std::string request_id;  // X-Request-Id, or made by the server
  std::string client_id;   // `id` of the body
  std::string model;  // a name that is served, or empty: names that clients invent are no label
  std::string version;
  std::string route;  // "/v1/embeddings"
  model::Protocol protocol = model::Protocol::kNative;
  Code code = Code::kOk;
  int http_status = 200;
  bool control =
      false;  // health, metadata, metrics: no request metrics, a log line only for debugging
  int rows = 0;
  int failed_rows = 0;
  int tokens = 0;
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
  int batch_rows = 0;
  Timeline timeline;  // of the row that finished last
};

// Turns a finished request into metrics and one access-log line: the only place where either is
// written for a request. Owned by `app`; any thread.
class Observer {
 public:
  // `metrics` and `log` outlive the observer; `access_log` false leaves the lines out.
  Observer(Metrics& metrics, Log& log, bool access_log);
  ~Observer();

  void Finish(const RequestRecord& record);

 private:
  struct ModelSeries;
  std::shared_ptr<ModelSeries> SeriesOf(const RequestRecord& record);
  void Count(const RequestRecord& record);
  void WriteLine(const RequestRecord& record);

  Metrics& metrics_;
  Log& log_;
  const bool access_log_;
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gimbal::obs
