#include <fmt/format.h>

#include "base/json_writer.h"
#include "bench/report.h"

namespace gimbal::bench {
namespace {

// ---- JSON

void Put(JsonWriter& w, std::string_view key, const Figure& figure, int decimals) {
  w.Key(key);
  if (figure) {
    w.Fixed(*figure, decimals);
  } else {
    w.Null();
  }
}

void PutLatency(JsonWriter& w, std::string_view key, const Report::Latency& l, bool interval) {
  w.Key(key).BeginObject();
  Put(w, "mean", l.mean, 4);
  Put(w, "p50", l.p50, 4);
  Put(w, "p90", l.p90, 4);
  Put(w, "p99", l.p99, 4);
  Put(w, "max", l.max, 4);
  if (interval && l.p99_ci95) {
    w.Key("p99_ci95").BeginArray();
    w.Fixed(l.p99_ci95->low, 4).Fixed(l.p99_ci95->high, 4).EndArray();
  } else if (interval) {
    w.Key("p99_ci95").Null();
  }
  w.EndObject();
}

void PutFacts(JsonWriter& w, std::string_view key, const std::vector<Fact>& facts) {
  w.Key(key).BeginObject();
  for (const Fact& fact : facts) w.Key(fact.name).Raw(fact.json);
  w.EndObject();
}

void PutCounts(JsonWriter& w, const Report& r) {
  w.Key("target").String(r.target).Key("scenario").String(r.scenario).Key("seed").Uint(r.seed);
  w.Key("requests").Uint(r.requests).Key("rows").Uint(r.rows).Key("samples").Uint(r.samples);
  w.Key("errors").BeginObject();
  for (const auto& [type, count] : r.errors) w.Key(type).Uint(count);
  w.EndObject();
  w.Key("warmup").BeginObject().Key("requests").Uint(r.warmup_requests);
  w.Key("found_requests").Uint(r.warmup_found_requests).EndObject();
  w.Key("measured_s").Fixed(r.measured_s, 3);
}

void PutStages(JsonWriter& w, const Report& r) {
  w.Key("stages_ms").BeginObject();
  for (const Report::Stage& stage : r.stages_ms) {
    w.Key(stage.name).BeginObject();
    Put(w, "mean", stage.mean, 4);
    Put(w, "p50", stage.p50, 4);
    Put(w, "p99", stage.p99, 4);
    w.EndObject();
  }
  w.EndObject();
}

void PutStrings(JsonWriter& w, std::string_view key, const std::vector<std::string>& first,
                const std::vector<std::string>& second) {
  w.Key(key).BeginArray();
  for (const std::string& text : first) w.String(text);
  for (const std::string& text : second) w.String(text);
  w.EndArray();
}

// ---- text

std::string Show(const Figure& figure, int decimals = 3) {
  return figure ? fmt::format("{:.{}f}", *figure, decimals) : "-";
}

void Line(std::string& out, std::string_view name, const std::string& value) {
  out += fmt::format("{:<16} {}\n", name, value);
}

void Table(std::string& out, const Report& r) {
  out += fmt::format("\n{:<16} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n", "ms", "mean", "p50",
                     "p90", "p99", "max", "share");
  const auto row = [&](std::string_view name, const Report::Latency& l) {
    out += fmt::format("{:<16} {:>10} {:>10} {:>10} {:>10} {:>10}\n", name, Show(l.mean),
                       Show(l.p50), Show(l.p90), Show(l.p99), Show(l.max));
  };
  row("latency", r.latency_ms);
  row("first byte", r.first_byte_ms);
  double told = 0;
  const double whole = r.latency_ms.mean.value_or(0);
  const auto share = [&](double ms) {
    return whole > 0 ? fmt::format("{:.1f} %", ms / whole * 100) : "-";
  };
  for (const Report::Stage& s : r.stages_ms) {
    told += s.mean.value_or(0);
    out += fmt::format("  {:<14} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n", s.name, Show(s.mean),
                       Show(s.p50), "", Show(s.p99), "", share(s.mean.value_or(0)));
  }
  if (r.stages_ms.empty()) return;
  out += fmt::format("  {:<14} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n", "(elsewhere)",
                     Show(whole - told), "", "", "", "", share(whole - told));
}

void Footer(std::string& out, const Report& r) {
  out += '\n';
  if (r.latency_ms.p99_ci95) {
    Line(out, "p99, 95 %",
         fmt::format("{:.3f} .. {:.3f} ms", r.latency_ms.p99_ci95->low,
                     r.latency_ms.p99_ci95->high));
  }
  if (r.batch_size_mean) Line(out, "batch size", Show(r.batch_size_mean, 2) + " mean");
  std::string errors;
  for (const auto& [type, count] : r.errors) {
    errors += fmt::format("{}{} {}", errors.empty() ? "" : ", ", type, count);
  }
  Line(out, "errors", errors.empty() ? "none" : errors);
  Line(out, "sender",
       fmt::format("late p50 {} p99 {} ms, {} of a core, {} us a request", Show(r.lateness_p50_ms),
                   Show(r.lateness_p99_ms), Show(r.client_cpu_share, 2),
                   Show(r.generator_cpu_us, 1)));
  if (r.server_cpu_s_per_1000) {
    Line(out, "server CPU", Show(r.server_cpu_s_per_1000, 3) + " s per 1000 requests");
  }
  if (r.server_memory_peak) {
    Line(out, "server memory", fmt::format("{:.1f} MiB peak", *r.server_memory_peak / (1 << 20)));
  }
  out += '\n';
  out += r.valid() ? "VALID\n" : "INVALID\n";
  for (const std::string& reason : r.invalid) out += "  " + reason + "\n";
  if (r.unresolved.empty()) return;
  out += "Not given:\n";
  for (const std::string& reason : r.unresolved) out += "  " + reason + "\n";
}

}  // namespace

std::string ReportJson(const Report& r) {
  JsonWriter w;
  w.BeginObject();
  PutCounts(w, r);
  Put(w, "throughput_per_s", r.throughput_per_s, 3);
  Put(w, "rows_per_s", r.rows_per_s, 3);
  PutLatency(w, "latency_ms", r.latency_ms, true);
  PutLatency(w, "first_byte_ms", r.first_byte_ms, false);
  PutStages(w, r);
  Put(w, "batch_size_mean", r.batch_size_mean, 3);
  w.Key("sender_lateness_ms").BeginObject();
  Put(w, "p50", r.lateness_p50_ms, 4);
  Put(w, "p99", r.lateness_p99_ms, 4);
  w.EndObject();
  Put(w, "client_cpu_share", r.client_cpu_share, 4);
  w.Key("generator").BeginObject();
  Put(w, "cpu_us_per_request", r.generator_cpu_us, 3);
  w.Key("blocked").Uint(r.blocked).EndObject();
  w.Key("server").BeginObject();
  Put(w, "cpu_s_per_1000", r.server_cpu_s_per_1000, 4);
  Put(w, "memory_peak", r.server_memory_peak, 0);
  Put(w, "memory_resident", r.server_memory_resident, 0);
  w.EndObject();
  Put(w, "steal_share", r.steal_share, 4);
  w.Key("valid").Bool(r.valid());
  PutStrings(w, "reasons", r.invalid, r.unresolved);
  PutStrings(w, "invalid_reasons", r.invalid, {});
  PutFacts(w, "settings", r.settings);
  PutFacts(w, "machine", r.machine);
  w.EndObject();
  return std::move(w).Take();
}

std::string ReportText(const Report& r) {
  std::string out;
  Line(out, "target", r.target);
  Line(out, "scenario", fmt::format("{}, seed {}", r.scenario, r.seed));
  Line(out, "requests",
       fmt::format("{} ({} rows), {} samples over {:.1f} s; warm-up {} + {} found", r.requests,
                   r.rows, r.samples, r.measured_s, r.warmup_requests, r.warmup_found_requests));
  Line(out, "throughput",
       fmt::format("{} requests/s, {} rows/s", Show(r.throughput_per_s, 1), Show(r.rows_per_s, 1)));
  Table(out, r);
  Footer(out, r);
  return out;
}

}  // namespace gimbal::bench
