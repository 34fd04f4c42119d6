#include "obs/observer.h"

#include <map>

namespace gimbal::obs {

// The series of one model, version and protocol, looked up once a request under a short lock.
struct Observer::ModelSeries {
  std::shared_ptr<Histogram> seconds;
  std::array<std::shared_ptr<Histogram>, kStageCount> stages;
  std::array<std::shared_ptr<Counter>, kCodeCount> codes;   // made when first needed
  std::array<std::shared_ptr<Counter>, kCodeCount> errors;  // by type
  std::shared_ptr<Counter> timeouts;
  std::shared_ptr<Counter> rows_ok, rows_failed;
  Labels labels;
  Labels model_labels;
};

struct Observer::Impl {
  using Key = std::tuple<std::string, std::string, model::Protocol>;
  Mutex mu;
  std::map<Key, std::shared_ptr<ModelSeries>> series GUARDED_BY(mu);
  // Stage histograms have no protocol label, so the protocols of a model share them.
  std::map<std::pair<std::string, std::string>, std::array<std::shared_ptr<Histogram>, kStageCount>>
      stages GUARDED_BY(mu);
};

Observer::Observer(Metrics& metrics, Log& log, bool access_log)
    : metrics_(metrics), log_(log), access_log_(access_log), impl_(std::make_unique<Impl>()) {}

Observer::~Observer() = default;

std::shared_ptr<Observer::ModelSeries> Observer::SeriesOf(const RequestRecord& record) {
  MutexLock lock(impl_->mu);
  auto& series = impl_->series[{record.model, record.version, record.protocol}];
  if (series) return series;
  series = std::make_shared<ModelSeries>();
  series->model_labels = {{"model", record.model}, {"version", record.version}};
  series->labels = series->model_labels;
  series->labels.emplace_back("protocol", std::string(ProtocolName(record.protocol)));
  series->seconds =
      metrics_.AddHistogram("gimbal_request_seconds", "First byte read to last byte handed over.",
                            series->labels, SecondsBuckets());
  auto& stages = impl_->stages[{record.model, record.version}];
  for (size_t i = 0; i < kStageCount; ++i) {
    if (!stages[i]) {
      Labels labels = series->model_labels;
      labels.emplace_back("stage", std::string(StageName(static_cast<Stage>(i))));
      stages[i] = metrics_.AddHistogram("gimbal_stage_seconds", "Time of each stage of a request.",
                                        labels, SecondsBuckets());
    }
  }
  series->stages = stages;
  const auto rows = [&](const char* status) {
    Labels labels = series->labels;
    labels.emplace_back("status", status);
    return metrics_.AddCounter("gimbal_rows_total", "Rows of requests by outcome.", labels);
  };
  series->rows_ok = rows("ok");
  series->rows_failed = rows("error");
  series->timeouts = metrics_.AddCounter("gimbal_timeouts_total", "Requests whose deadline passed.",
                                         series->labels);
  return series;
}

void Observer::Finish(const RequestRecord& record) {
  if (!record.control) Count(record);
  if (access_log_) WriteLine(record);
}

void Observer::Count(const RequestRecord& record) {
  const auto series = SeriesOf(record);
  const auto code = static_cast<size_t>(record.code);
  {
    MutexLock lock(impl_->mu);
    if (!series->codes[code]) {
      Labels labels = series->labels;
      labels.emplace_back("code", std::string(CodeName(record.code)));
      series->codes[code] =
          metrics_.AddCounter("gimbal_requests_total", "Requests by outcome.", labels);
    }
    if (record.code != Code::kOk && !series->errors[code]) {
      Labels labels = series->model_labels;
      labels.emplace_back("protocol", std::string(ProtocolName(record.protocol)));
      labels.emplace_back("type", std::string(CodeName(record.code)));
      series->errors[code] =
          metrics_.AddCounter("gimbal_request_errors_total", "Failed requests by type.", labels);
    }
  }
  series->codes[code]->Add();
  if (record.code != Code::kOk) series->errors[code]->Add();
  series->rows_ok->Add(static_cast<uint64_t>(record.rows - record.failed_rows));
  series->rows_failed->Add(static_cast<uint64_t>(record.failed_rows));
  if (record.code == Code::kDeadline) series->timeouts->Add();
  series->seconds->Observe(record.timeline.Total());
  for (size_t i = 0; i < kStageCount; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (record.timeline.Marked(stage)) series->stages[i]->Observe(record.timeline.Of(stage));
  }
}

void Observer::WriteLine(const RequestRecord& record) {
  log_.Write(record.control ? LogLevel::kDebug : LogLevel::kInfo, "request", [&](JsonWriter& w) {
    w.Key("request_id").String(record.request_id);
    if (!record.client_id.empty()) w.Key("id").String(record.client_id);
    w.Key("model").String(record.model);
    w.Key("version").String(record.version);
    w.Key("protocol").String(ProtocolName(record.protocol));
    w.Key("route").String(record.route);
    w.Key("status").String(CodeName(record.code));
    w.Key("http_status").Int(record.http_status);
    w.Key("rows").Int(record.rows);
    w.Key("failed_rows").Int(record.failed_rows);
    w.Key("tokens").Int(record.tokens);
    w.Key("request_bytes").Int(record.request_bytes);
    w.Key("response_bytes").Int(record.response_bytes);
    w.Key("batch_size").Int(record.batch_rows);
    w.Key("stages_ms").BeginObject();
    for (size_t i = 0; i < kStageCount; ++i) {
      w.Key(StageName(static_cast<Stage>(i)))
          .Fixed(Milliseconds(record.timeline.Of(static_cast<Stage>(i))), 3);
    }
    w.EndObject();
    w.Key("total_ms").Fixed(Milliseconds(record.timeline.Total()), 3);
  });
}

}  // namespace gimbal::obs
