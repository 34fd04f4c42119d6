#include "bench/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/generator.h"
#include "bench/http_target.h"
#include "bench/null_target.h"
#include "bench/texts.h"
#include "net/http_client.h"

namespace gimbal::bench {
namespace {

constexpr Duration kLongestSpin = std::chrono::microseconds(60);
constexpr double kLargestSpinShare = 0.3;  // of the mean gap between sends
constexpr Duration kListTimeout = std::chrono::seconds(5);

Schedule MakeSchedule(const Options& options) {
  Schedule schedule;
  schedule.concurrency = options.concurrency;
  schedule.warmup = options.warmup;
  schedule.duration = options.duration;
  schedule.requests = options.requests;
  if (options.concurrency == 0) {
    schedule.arrivals = PoissonArrivals({.rate = options.rate,
                                         .seed = options.seed,
                                         .warmup = options.warmup,
                                         .until = options.warmup + options.duration,
                                         .limit = options.requests});
  }
  return schedule;
}

Status CheckOptions(const Options& options) {
  if ((options.concurrency > 0) == (options.rate > 0)) {
    return InvalidError("expected one of concurrency (closed loop) and rate (open loop)");
  }
  if (options.batch_rows <= 0) return InvalidError("batch rows: expected more than 0");
  if (options.max_connections <= 0) return InvalidError("connections: expected more than 0");
  if (options.timeout <= Duration(0)) return InvalidError("timeout: expected more than 0");
  double arrivals = options.rate * Seconds(options.duration);
  if (options.requests > 0) arrivals = std::min(arrivals, static_cast<double>(options.requests));
  arrivals += options.rate * Seconds(options.warmup);
  if (arrivals > static_cast<double>(kMostRequests)) {
    return InvalidError(
        fmt::format("rate and duration make {:.0f} requests, at most {} are recorded", arrivals,
                    kMostRequests));
  }
  if (options.protocol == model::Protocol::kKserve) {
    return InvalidError("protocol kserve is not supported by this version; use native or openai");
  }
  return Status::Ok();
}

Result<Report> MeasureUrl(Options options, const Workload& workload,
                          const std::atomic<bool>& stop) {
  ASSIGN_OR_RETURN(const net::Url url, net::ParseUrl(options.target));
  if (options.model.empty()) {
    ASSIGN_OR_RETURN(options.model, FindOnlyModel(url, kListTimeout));
  }
  ASSIGN_OR_RETURN(const auto target, HttpTarget::Create(options, url, workload, SpinOf(options)));
  Surroundings around;
  around.settings = SettingsOf(options, workload);
  around.settings.push_back(
      NumberFact("distinct_requests", static_cast<double>(target->distinct_requests())));
  around.settings.push_back(NumberFact("request_bytes_mean", target->mean_request_bytes()));
  Report report = MeasureTarget(options, *target, std::move(around), stop);
  report.settings.push_back(NumberFact("peak_connections", target->peak_connections()));
  return report;
}

Result<Report> MeasureNull(const Options& options, const Workload& workload,
                           const std::atomic<bool>& stop) {
  NullTarget target(SpinOf(options));
  Surroundings around;
  around.null_target = true;
  around.settings = SettingsOf(options, workload);
  return MeasureTarget(options, target, std::move(around), stop);
}

}  // namespace

Result<Workload> MakeWorkload(const Options& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  std::vector<std::string> texts;
  if (options.texts.empty()) {
    texts = BuiltInTexts();
  } else {
    ASSIGN_OR_RETURN(texts, ReadTexts(options.texts));
  }
  return Workload(std::move(texts), options.seed, options.batch_rows);
}

Duration SpinOf(const Options& options) {
  if (options.concurrency > 0) return Duration(0);
  // A sender that always looked would be descheduled in the end, and late by whole time slices.
  return std::min(kLongestSpin, FromSeconds(kLargestSpinShare / options.rate));
}

std::vector<Fact> SettingsOf(const Options& options, const Workload& workload) {
  const auto text = [](std::string name, std::string_view value) {
    return value.empty() ? NullFact(std::move(name)) : TextFact(std::move(name), value);
  };
  const bool open = options.concurrency == 0;
  std::vector<Fact> facts;
  facts.push_back(text("model", options.model));
  facts.push_back(TextFact("protocol", model::ProtocolName(options.protocol)));
  facts.push_back(open ? NullFact("concurrency") : NumberFact("concurrency", options.concurrency));
  facts.push_back(open ? NumberFact("rate_per_s", options.rate) : NullFact("rate_per_s"));
  facts.push_back(text("arrivals", open ? "poisson" : ""));
  facts.push_back(NumberFact("duration_s", Seconds(options.duration)));
  facts.push_back(NumberFact("warmup_s", Seconds(options.warmup)));
  facts.push_back(NumberFact("requests", static_cast<double>(options.requests)));
  facts.push_back(NumberFact("batch_rows", options.batch_rows));
  facts.push_back(TextFact("texts", options.texts.empty() ? "built-in" : options.texts));
  facts.push_back(NumberFact("texts_count", static_cast<double>(workload.texts())));
  facts.push_back(NumberFact("timeout_s", Seconds(options.timeout)));
  facts.push_back(
      NumberFact("max_connections", open ? options.max_connections : options.concurrency));
  facts.push_back(NumberFact("spin_us", Seconds(SpinOf(options)) * 1e6));
  facts.push_back(NumberFact("timer_slack_ns", 1));
  return facts;
}

Report MeasureTarget(const Options& options, Target& target, Surroundings around,
                     const std::atomic<bool>& stop) {
  const Schedule schedule = MakeSchedule(options);
  around.server_before = target.Usage(&around.no_server_usage);
  const auto ticks_before = ReadCpuTicks();
  Recording recording;
  {
    // In a closed loop nothing is due at a time, and the generator must not be ahead of the server.
    const PunctualThread punctual(options.concurrency == 0);
    around.settings.push_back(
        TextFact("sender_priority", punctual.real_time() ? "fifo" : "normal"));
    recording = Generate(schedule, target, Clock::Steady(), stop);
  }
  const auto ticks_after = ReadCpuTicks();
  if (ticks_before && ticks_after) around.steal_share = StealShare(*ticks_before, *ticks_after);
  around.server_after = target.Usage(&around.no_server_usage);
  around.machine = MachineFacts();
  return MakeReport(recording, options, std::move(around));
}

Result<Report> Measure(const Options& options, const std::atomic<bool>& stop) {
  ASSIGN_OR_RETURN(const Workload workload, MakeWorkload(options));
  if (options.target == "null") return MeasureNull(options, workload, stop);
  return MeasureUrl(options, workload, stop);
}

}  // namespace gimbal::bench
