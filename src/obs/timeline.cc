#include "obs/timeline.h"

#include <fmt/format.h>

#include <algorithm>

namespace gimbal::obs {
namespace {

constexpr std::array<std::string_view, kStageCount> kNames = {
    "receive",  "parse", "admit",       "preprocess", "queue",
    "assemble", "model", "postprocess", "serialize",  "send"};
static_assert(!kNames.back().empty(), "a stage of stage.h has no name here");

}  // namespace

std::string_view StageName(Stage stage) { return kNames[static_cast<size_t>(stage)]; }

TimePoint Timeline::EndOf(Stage stage) const {
  for (int i = static_cast<int>(stage); i >= 0; --i) {
    if (ends_[static_cast<size_t>(i)] != TimePoint()) return ends_[static_cast<size_t>(i)];
  }
  return begin_;
}

Duration Timeline::Of(Stage stage) const {
  if (!Marked(stage)) return Duration::zero();
  const TimePoint start =
      stage == Stage::kReceive ? begin_ : EndOf(static_cast<Stage>(static_cast<int>(stage) - 1));
  return ends_[static_cast<size_t>(stage)] - start;
}

void StageSpans::Add(const Timeline& row) {
  for (size_t i = 0; i < kStageCount; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (!row.Marked(stage)) continue;
    const TimePoint end = row.EndOf(stage);
    const TimePoint start = end - row.Of(stage);
    first_[i] = first_[i] == TimePoint() ? start : std::min(first_[i], start);
    last_[i] = std::max(last_[i], end);
  }
}

Duration StageSpans::Of(Stage stage) const {
  const auto i = static_cast<size_t>(stage);
  return last_[i] - first_[i];
}

std::string ServerTiming(const StageSpans& spans, Duration total) {
  std::string out;
  for (int i = 0; i < static_cast<int>(Stage::kSend); ++i) {
    const auto stage = static_cast<Stage>(i);
    fmt::format_to(std::back_inserter(out), "{};dur={:.3f}, ", StageName(stage),
                   Milliseconds(spans.Of(stage)));
  }
  fmt::format_to(std::back_inserter(out), "total;dur={:.3f}", Milliseconds(total));
  return out;
}

}  // namespace gimbal::obs
