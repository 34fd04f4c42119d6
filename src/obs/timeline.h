#pragma once

#include <array>
#include <string>

#include "base/clock.h"
#include "obs/stage.h"

namespace gimbal::obs {

// When each stage of one request ended. A stage begins where the marked one before it ended, so the
// stages add up to the total by construction; a stage that never happened has no length.
// Written by one thread at a time, as the request moves down the line.
class Timeline {
 public:
  void Begin(TimePoint first_byte) { begin_ = first_byte; }
  void End(Stage stage, TimePoint at) { ends_[static_cast<size_t>(stage)] = at; }

  TimePoint begin() const { return begin_; }
  TimePoint EndOf(Stage stage) const;  // end of the last marked stage up to and with `stage`
  Duration Of(Stage stage) const;
  Duration Total() const { return EndOf(Stage::kSend) - begin_; }
  bool Marked(Stage stage) const { return ends_[static_cast<size_t>(stage)] != TimePoint(); }

 private:
  TimePoint begin_;
  std::array<TimePoint, kStageCount> ends_{};
};

// The span of each stage over the rows of a request: first start to last end. For one row it equals
// the timeline; for several the stages may overlap.
class StageSpans {
 public:
  void Add(const Timeline& row);
  Duration Of(Stage stage) const;

 private:
  std::array<TimePoint, kStageCount> first_{};
  std::array<TimePoint, kStageCount> last_{};
};

// "receive;dur=0.020, parse;dur=0.011, ..., total;dur=4.213": through serialize, milliseconds.
std::string ServerTiming(const StageSpans& spans, Duration total);

}  // namespace gimbal::obs
