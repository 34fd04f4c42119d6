#include "obs/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace gimbal::obs {
namespace {

constexpr std::array kSeconds = {
    50e-6, 100e-6, 180e-6, 320e-6, 560e-6, 1e-3, 1.8e-3, 3.2e-3, 5.6e-3, 10e-3, 18e-3, 32e-3, 56e-3,
    0.1,   0.18,   0.32,   0.56,   1.0,    1.8,  3.2,    5.6,    10.0,   18.0,  32.0,  60.0};
constexpr std::array kRows = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0};

void AppendEscaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
}

std::string Render(const Labels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) {
    if (!out.empty()) out += ',';
    out += key + "=\"";
    AppendEscaped(out, value);
    out += '"';
  }
  return out;
}

void AppendLine(std::string& out, std::string_view name, std::string_view labels, double value) {
  if (labels.empty()) {
    fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
  } else {
    fmt::format_to(std::back_inserter(out), "{}{{{}}} {}\n", name, labels, value);
  }
}

void AppendHistogram(std::string& out, std::string_view name, const std::string& labels,
                     const Histogram& h) {
  const Histogram::Snapshot snapshot = h.Take();
  const std::string comma = labels.empty() ? "" : ",";
  uint64_t cumulative = 0;
  for (size_t i = 0; i < snapshot.counts.size(); ++i) {
    cumulative += snapshot.counts[i];
    const std::string bound = i < h.bounds().size() ? fmt::format("{}", h.bounds()[i]) : "+Inf";
    fmt::format_to(std::back_inserter(out), "{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma,
                   bound, cumulative);
  }
  AppendLine(out, std::string(name) + "_sum", labels, snapshot.sum);
  AppendLine(out, std::string(name) + "_count", labels, static_cast<double>(snapshot.count));
}

}  // namespace

std::span<const double> SecondsBuckets() { return kSeconds; }
std::span<const double> RowsBuckets() { return kRows; }

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds.begin(), bounds.end()),
      counts_(new std::atomic<uint64_t>[bounds.size() + 1]()) {}

void Histogram::Observe(double value) {
  const auto it = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  counts_[static_cast<size_t>(it - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::Take() const {
  Snapshot out;
  for (size_t i = 0; i <= bounds_.size(); ++i) {
    out.counts.push_back(counts_[i].load(std::memory_order_relaxed));
    out.count += out.counts.back();
  }
  out.sum = sum_.load(std::memory_order_relaxed);
  return out;
}

Metrics::Family& Metrics::FamilyOf(std::string name, std::string help, std::string_view type) {
  for (Family& family : families_) {
    if (family.name == name) return family;
  }
  families_.push_back({std::move(name), std::move(help), type, {}});
  return families_.back();
}

std::shared_ptr<Counter> Metrics::AddCounter(std::string name, std::string help, Labels labels) {
  auto counter = std::make_shared<Counter>();
  MutexLock lock(mu_);
  FamilyOf(std::move(name), std::move(help), "counter")
      .series.push_back({Render(labels), counter, {}, {}});
  return counter;
}

std::shared_ptr<Histogram> Metrics::AddHistogram(std::string name, std::string help, Labels labels,
                                                 std::span<const double> bounds) {
  auto histogram = std::make_shared<Histogram>(bounds);
  MutexLock lock(mu_);
  FamilyOf(std::move(name), std::move(help), "histogram")
      .series.push_back({Render(labels), {}, histogram, {}});
  return histogram;
}

std::shared_ptr<void> Metrics::AddRead(std::string name, std::string help, std::string_view type,
                                       Labels labels, std::function<double()> read) {
  auto reader = std::make_shared<std::function<double()>>(std::move(read));
  MutexLock lock(mu_);
  FamilyOf(std::move(name), std::move(help), type)
      .series.push_back({Render(labels), {}, {}, reader});
  return reader;
}

std::shared_ptr<void> Metrics::AddGauge(std::string name, std::string help, Labels labels,
                                        std::function<double()> read) {
  return AddRead(std::move(name), std::move(help), "gauge", std::move(labels), std::move(read));
}

std::shared_ptr<void> Metrics::AddReadCounter(std::string name, std::string help, Labels labels,
                                              std::function<double()> read) {
  return AddRead(std::move(name), std::move(help), "counter", std::move(labels), std::move(read));
}

// The families that still have series. Figures are read from the copy, so that nobody who adds a
// series waits for them.
std::vector<Metrics::Family> Metrics::Copy() const {
  MutexLock lock(mu_);
  for (Family& family : families_) {
    std::erase_if(family.series, [](const Series& s) {
      return s.counter.expired() && s.histogram.expired() && s.reader.expired();
    });
  }
  std::erase_if(families_, [](const Family& family) { return family.series.empty(); });
  return families_;
}

std::string Metrics::Text() const {
  std::string out;
  for (const Family& family : Copy()) {
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", family.name,
                   family.help, family.name, family.type);
    for (const Series& series : family.series) {
      if (const auto counter = series.counter.lock()) {
        AppendLine(out, family.name, series.labels, static_cast<double>(counter->value()));
      } else if (const auto histogram = series.histogram.lock()) {
        AppendHistogram(out, family.name, series.labels, *histogram);
      } else if (const auto reader = series.reader.lock()) {
        AppendLine(out, family.name, series.labels, (*reader)());
      }
    }
  }
  return out;
}

}  // namespace gimbal::obs
