#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace gimbal::obs {

// A count that only grows. Any thread; one relaxed atomic add.
class Counter {
 public:
  void Add(uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// Counts of observations in fixed buckets, with their sum. Any thread; two relaxed atomic adds.
class Histogram {
 public:
  // `bounds`: ascending upper bounds (inclusive); a last bucket up to infinity is added.
  explicit Histogram(std::span<const double> bounds);
  void Observe(double value);
  void Observe(Duration d) { Observe(Seconds(d)); }

  struct Snapshot {
    std::vector<uint64_t> counts;  // one a bucket, not cumulative
    double sum = 0;
    uint64_t count = 0;
  };
  Snapshot Take() const;
  std::span<const double> bounds() const { return bounds_; }

 private:
  const std::vector<double> bounds_;
  std::unique_ptr<std::atomic<uint64_t>[]> counts_;
  std::atomic<double> sum_{0};
};

// 50 us to 60 s, about four a decade.
std::span<const double> SecondsBuckets();
// 1, 2, 4 ... 1024.
std::span<const double> RowsBuckets();

using Labels = std::vector<std::pair<std::string, std::string>>;

// All metrics of the process, and their Prometheus text (version 0.0.4). A series lives as long as
// its owner keeps the pointer, so a model that is unloaded takes its series along. Owned by `app`;
// any thread.
class Metrics {
 public:
  std::shared_ptr<Counter> AddCounter(std::string name, std::string help, Labels labels);
  std::shared_ptr<Histogram> AddHistogram(std::string name, std::string help, Labels labels,
                                          std::span<const double> bounds);
  // A figure read when somebody asks for the metrics. `read` must not block and must own (share)
  // what it reads: it may still run while the returned token, with which the gauge lives, is
  // dropped.
  std::shared_ptr<void> AddGauge(std::string name, std::string help, Labels labels,
                                 std::function<double()> read);
  // The same for a figure that only grows.
  std::shared_ptr<void> AddReadCounter(std::string name, std::string help, Labels labels,
                                       std::function<double()> read);

  std::string Text() const;

 private:
  struct Series {
    std::string labels;  // rendered
    std::weak_ptr<Counter> counter;
    std::weak_ptr<Histogram> histogram;
    std::weak_ptr<std::function<double()>> reader;
  };
  struct Family {
    std::string name;
    std::string help;
    std::string_view type;
    std::vector<Series> series;
  };
  std::shared_ptr<void> AddRead(std::string name, std::string help, std::string_view type,
                                Labels labels, std::function<double()> read);
  std::vector<Family> Copy() const EXCLUDES(mu_);
  Family& FamilyOf(std::string name, std::string help, std::string_view type) REQUIRES(mu_);

  mutable Mutex mu_;
  mutable std::vector<Family> families_ GUARDED_BY(mu_);
};

}  // namespace gimbal::obs
