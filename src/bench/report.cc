#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/quantile.h"
#include "stats/warmup.h"

namespace gimbal::bench {
namespace {

// The interval's cost grows with samples times their dependence. Every k-th sample gives a wider
// interval that is as honest.
constexpr size_t kMostIntervalSamples = 200'000;
// Latencies above this quantile count as being at it while the end of the warm-up is sought: one
// stall in the middle must not be taken for the end of a warm-up, and cut away.
constexpr double kWarmUpCeiling = 0.9;

Figure QuantileOrNone(const std::vector<double>& sorted, double q) {
  if (!stats::MayPrintQuantile(sorted.size(), q)) return std::nullopt;
  return stats::QuantileOfSorted(sorted, q);
}

Figure MeanOrNone(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return stats::Mean(values);
}

class Maker {
 public:
  Maker(const Recording& recording, const Options& options, Surroundings surroundings)
      : recording_(recording), options_(options), around_(std::move(surroundings)) {}

  Report Make() {
    Begin();
    Count();
    LeaveOutWarmUp();
    Latencies();
    Stages();
    Sender();
    Server();
    Judge();
    return std::move(report_);
  }

 private:
  void Begin();
  void Count();
  void LeaveOutWarmUp();
  void Latencies();
  void Stages();
  void Sender();
  void Server();
  void Judge();
  void JudgeSender();
  void JudgeRun();

  double LatencyMs(size_t i) const {
    return Milliseconds(recording_.requests[i].done - recording_.requests[i].scheduled);
  }
  bool open_loop() const { return options_.concurrency == 0; }

  const Recording& recording_;
  const Options& options_;
  Surroundings around_;
  Report report_;
  std::vector<size_t> samples_;  // indices into the recording, in order
  uint64_t unanswered_ = 0;
  double lateness_p99_ = 0;  // also of few samples: a limit needs no exact figure
};

void Maker::Begin() {
  report_.target = options_.target;
  report_.scenario = open_loop() ? "server" : "closed";
  report_.seed = options_.seed;
  report_.settings = std::move(around_.settings);
  report_.machine = std::move(around_.machine);
  report_.blocked = recording_.blocked;
}

void Maker::Count() {
  for (size_t i = 0; i < recording_.requests.size(); ++i) {
    const Record& record = recording_.requests[i];
    if (record.scheduled < recording_.warmup) {
      ++report_.warmup_requests;
      continue;
    }
    ++report_.requests;
    if (record.done == kNotYet) {
      ++unanswered_;
    } else if (record.error != 0) {
      ++report_.errors[recording_.errors[record.error]];
    } else {
      samples_.push_back(i);
    }
  }
  report_.rows = report_.requests * static_cast<uint64_t>(options_.batch_rows);
}

void Maker::LeaveOutWarmUp() {
  std::vector<double> series;
  series.reserve(samples_.size());
  for (const size_t i : samples_) series.push_back(LatencyMs(i));
  if (!series.empty()) {
    const double ceiling = stats::Quantile(series, kWarmUpCeiling);
    for (double& v : series) v = std::min(v, ceiling);
  }
  const auto found = stats::WarmUpSamples(series);
  if (!found) {
    report_.invalid.push_back(
        "the latency never settled: by MSER-5 more than half of the run is warm-up; measure "
        "longer");
    return;
  }
  report_.warmup_found_requests = *found;
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(*found));
}

Report::Latency Summary(std::vector<double> values) {
  Report::Latency latency;
  latency.mean = MeanOrNone(values);
  std::sort(values.begin(), values.end());
  latency.p50 = QuantileOrNone(values, 0.5);
  latency.p90 = QuantileOrNone(values, 0.9);
  latency.p99 = QuantileOrNone(values, 0.99);
  if (!values.empty()) latency.max = values.back();
  return latency;
}

std::optional<stats::Interval> IntervalOfP99(const std::vector<double>& series) {
  const size_t step = series.size() / kMostIntervalSamples + 1;
  if (step == 1) return stats::QuantileInterval(series, 0.99);
  std::vector<double> thinned;
  for (size_t i = 0; i < series.size(); i += step) thinned.push_back(series[i]);
  return stats::QuantileInterval(thinned, 0.99);
}

void Maker::Latencies() {
  report_.samples = samples_.size();
  if (samples_.empty()) {
    report_.unresolved.push_back("no figures: no request was answered well in the measured time");
    return;
  }
  std::vector<double> series, first_bytes;
  Duration last{0};
  for (const size_t i : samples_) {
    const Record& record = recording_.requests[i];
    series.push_back(LatencyMs(i));
    if (record.first_byte != kNotYet) {
      first_bytes.push_back(Milliseconds(record.first_byte - record.scheduled));
    }
    last = std::max(last, record.done);
  }
  report_.measured_s = Seconds(last - recording_.requests[samples_.front()].scheduled);
  if (report_.measured_s > 0) {
    report_.throughput_per_s = static_cast<double>(samples_.size()) / report_.measured_s;
    report_.rows_per_s = *report_.throughput_per_s * options_.batch_rows;
  }
  report_.latency_ms = Summary(series);
  report_.first_byte_ms = Summary(first_bytes);
  for (const auto& [name, q, figure] : {std::tuple("p50", 0.5, report_.latency_ms.p50),
                                        std::tuple("p90", 0.9, report_.latency_ms.p90),
                                        std::tuple("p99", 0.99, report_.latency_ms.p99)}) {
    if (figure) continue;
    report_.unresolved.push_back(fmt::format("{}: {} samples, {} are needed", name, samples_.size(),
                                             stats::SamplesNeeded(q)));
  }
  if (!report_.latency_ms.p99) return;
  report_.latency_ms.p99_ci95 = IntervalOfP99(series);
  if (!report_.latency_ms.p99_ci95) {
    report_.unresolved.push_back(
        "latency p99_ci95: not resolved, the run is too short for how strongly its successive "
        "latencies depend on each other; measure longer");
  }
}

void Maker::Stages() {
  for (size_t s = 0; s < recording_.stage_names.size(); ++s) {
    std::vector<double> values;
    for (const size_t i : samples_) {
      const uint32_t row = recording_.requests[i].stages;
      const float ms = row == 0 ? NAN : recording_.stages_ms[row][s];
      if (!std::isnan(ms)) values.push_back(ms);
    }
    const Report::Latency summary = Summary(std::move(values));
    report_.stages_ms.push_back(
        {recording_.stage_names[s], summary.mean, summary.p50, summary.p99});
  }
  double sum = 0;
  uint64_t told = 0;
  for (const size_t i : samples_) {
    const float size = recording_.requests[i].batch_size;
    if (size > 0) sum += size, ++told;
  }
  if (told > 0) report_.batch_size_mean = sum / static_cast<double>(told);
  if (samples_.empty() || around_.null_target) return;
  if (recording_.stage_names.empty()) {
    report_.unresolved.push_back("stages: the answers carry no Server-Timing");
  }
  if (told == 0) {
    report_.unresolved.push_back(
        "batch_size_mean: the answers carry neither X-Batch-Size nor cost.batch_size");
  }
}

void Maker::Sender() {
  std::vector<double> lateness;
  for (const Record& record : recording_.requests) {
    if (record.scheduled >= recording_.warmup) {
      lateness.push_back(Milliseconds(record.sent - record.scheduled));
    }
  }
  std::sort(lateness.begin(), lateness.end());
  report_.lateness_p50_ms = QuantileOrNone(lateness, 0.5);
  report_.lateness_p99_ms = QuantileOrNone(lateness, 0.99);
  if (!lateness.empty()) lateness_p99_ = stats::QuantileOfSorted(lateness, 0.99);
  if (!report_.lateness_p99_ms) {
    report_.unresolved.push_back(fmt::format("sender_lateness p99: {} requests, {} are needed",
                                             lateness.size(), stats::SamplesNeeded(0.99)));
  }
  if (recording_.length > Duration(0)) {
    report_.client_cpu_share = Seconds(recording_.generator_cpu) / Seconds(recording_.length);
  }
  if (!recording_.requests.empty()) {
    report_.generator_cpu_us =
        Seconds(recording_.generator_cpu) * 1e6 / static_cast<double>(recording_.requests.size());
  }
}

void Maker::Server() {
  report_.steal_share = around_.steal_share;
  if (!around_.steal_share) report_.unresolved.push_back("steal_share: /proc/stat is not readable");
  const ServerUsage& before = around_.server_before;
  const ServerUsage& after = around_.server_after;
  const auto ended = std::count_if(recording_.requests.begin(), recording_.requests.end(),
                                   [](const Record& r) { return r.done != kNotYet; });
  if (before.cpu_seconds && after.cpu_seconds && ended > 0) {
    report_.server_cpu_s_per_1000 =
        (*after.cpu_seconds - *before.cpu_seconds) * 1000 / static_cast<double>(ended);
  }
  report_.server_memory_peak = after.peak_bytes;
  report_.server_memory_resident = after.resident_bytes;
  if (report_.server_cpu_s_per_1000 && report_.server_memory_peak) return;
  report_.unresolved.push_back("server: " + (around_.no_server_usage.empty()
                                                 ? "/metrics lack process_cpu_seconds_total or "
                                                   "gimbal_process_peak_memory_bytes"
                                                 : around_.no_server_usage));
}

void Maker::Judge() {
  JudgeSender();
  JudgeRun();
}

void Maker::JudgeSender() {
  auto& invalid = report_.invalid;
  if (open_loop() && lateness_p99_ > kLatenessLimitMs) {
    invalid.push_back(fmt::format("the sender was late: p99 of lateness {:.3f} ms, limit {:.3f} ms",
                                  lateness_p99_, kLatenessLimitMs));
  }
  // Against the null target, latency is nothing but lateness.
  const Figure& p99 = report_.latency_ms.p99;
  if (open_loop() && !around_.null_target && p99 && lateness_p99_ > kLatenessShareLimit * *p99) {
    invalid.push_back(
        fmt::format("the sender was late: p99 of lateness {:.3f} ms, limit {:.3f} ms ({:.0f} % of "
                    "the p99 latency)",
                    lateness_p99_, kLatenessShareLimit * *p99, kLatenessShareLimit * 100));
  }
  // In a closed loop against the null target the generator is meant to run flat out.
  const bool flat_out = around_.null_target && !open_loop();
  if (!flat_out && report_.client_cpu_share.value_or(0) > kClientCpuLimit) {
    invalid.push_back(fmt::format("the client was busy: {:.2f} of a core, limit {:.2f}",
                                  *report_.client_cpu_share, kClientCpuLimit));
  }
  if (report_.blocked > 0) {
    report_.unresolved.push_back(
        "requests waited for a free connection; their latency and lateness count that wait");
  }
}

void Maker::JudgeRun() {
  auto& invalid = report_.invalid;
  if (recording_.end == RunEnd::kInterrupted) invalid.push_back("interrupted");
  if (recording_.end == RunEnd::kTargetDied) {
    invalid.push_back("the target died: no connection to it was answered any more");
  }
  if (recording_.end == RunEnd::kFull) {
    report_.unresolved.push_back(
        fmt::format("the run ended early, at the {} requests that are recorded", kMostRequests));
  }
  if (report_.requests == 0) invalid.push_back("no request was sent in the measured time");
  if (!report_.errors.empty()) {
    uint64_t failed = 0;
    std::string types;
    for (const auto& [type, count] : report_.errors) {
      failed += count;
      types += fmt::format("{}{} {}", types.empty() ? "" : ", ", type, count);
    }
    invalid.push_back(
        fmt::format("{} of {} requests failed ({})", failed, report_.requests, types));
  }
  if (unanswered_ > 0) {
    invalid.push_back(fmt::format("{} requests were still unanswered at the end", unanswered_));
  }
  if (around_.steal_share.value_or(0) > kStealLimit) {
    invalid.push_back(
        fmt::format("the machine was shared: {:.1f} % of its time stolen, limit {:.0f} %",
                    *around_.steal_share * 100, kStealLimit * 100));
  }
}

}  // namespace

Report MakeReport(const Recording& recording, const Options& options, Surroundings surroundings) {
  return Maker(recording, options, std::move(surroundings)).Make();
}

}  // namespace gimbal::bench
