#include "bench/workload.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/json_writer.h"
#include "stats/rng.h"

namespace gimbal::bench {

Workload::Workload(std::vector<std::string> texts, uint64_t seed, int batch_rows)
    : texts_(std::move(texts)), batch_rows_(batch_rows) {
  CHECK(!texts_.empty() && batch_rows_ > 0, "checked where the options are read");
  stats::Rng rng(~seed);  // not the arrivals' stream, or lengths would follow gaps
  for (size_t i = texts_.size() - 1; i > 0; --i) std::swap(texts_[i], texts_[rng.Below(i + 1)]);
}

size_t Workload::distinct() const {
  return texts_.size() / std::gcd(texts_.size(), static_cast<size_t>(batch_rows_));
}

std::vector<std::string_view> Workload::Rows(uint64_t request) const {
  const auto count = static_cast<size_t>(batch_rows_);
  const size_t first = static_cast<size_t>(request % distinct()) * count;
  std::vector<std::string_view> rows;
  rows.reserve(count);
  for (size_t i = 0; i < count; ++i) rows.push_back(texts_[(first + i) % texts_.size()]);
  return rows;
}

std::string RequestPath(model::Protocol protocol, std::string_view model) {
  if (protocol == model::Protocol::kOpenAi) return "/v1/embeddings";
  std::string path = "/v1/infer/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : model) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= 'a' && byte <= 'z') ||
                       (c != '\0' && std::string_view("-._~@:").find(c) != std::string_view::npos);
    if (plain) {
      path += c;
    } else {
      path += '%';
      path += kHex[byte >> 4];
      path += kHex[byte & 15];
    }
  }
  return path;
}

std::string RequestBody(model::Protocol protocol, std::string_view model,
                        const std::vector<std::string_view>& rows) {
  const bool openai = protocol == model::Protocol::kOpenAi;
  JsonWriter w;
  w.BeginObject();
  if (openai) w.Key("model").String(model);
  if (rows.size() == 1) {
    w.Key(openai ? "input" : "text").String(rows.front());
  } else {
    w.Key(openai ? "input" : "inputs").BeginArray();
    for (const std::string_view row : rows) w.String(row);
    w.EndArray();
  }
  w.EndObject();
  return std::move(w).Take();
}

std::vector<Duration> PoissonArrivals(const ArrivalOptions& options) {
  stats::Rng rng(options.seed);
  std::vector<Duration> arrivals;
  const double mean = 1 / options.rate;
  int64_t measured = 0;
  // Summed as a double: rounding each gap to nanoseconds would shift the rate of long runs.
  for (double at = rng.Exponential(mean);; at += rng.Exponential(mean)) {
    const Duration time = FromSeconds(at);
    if (time >= options.until) break;
    if (time >= options.warmup && options.limit > 0 && ++measured > options.limit) break;
    arrivals.push_back(time);
  }
  return arrivals;
}

}  // namespace gimbal::bench
