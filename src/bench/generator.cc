#include "bench/generator.h"

#include <time.h>

#include <algorithm>
#include <limits>

namespace gimbal::bench {
namespace {

constexpr uint16_t kMostErrorTypes = 64;  // a target that invents types must not fill the memory
// Longest wait, so that `stop` is seen also when a signal came between its test and the wait.
constexpr Duration kLongestWait = std::chrono::milliseconds(100);

Duration ThreadCpu() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

// One run. The loops decide when; this knows what was sent and what came back.
class Run : public OutcomeSink {
 public:
  Run(const Schedule& schedule, Target& target, const Clock& clock, const std::atomic<bool>& stop)
      : schedule_(schedule), target_(target), clock_(clock), stop_(stop) {
    out_.warmup = schedule.warmup;
  }

  Recording Go() {
    const Duration cpu = ThreadCpu();
    start_ = clock_.Now();
    if (schedule_.concurrency > 0) {
      ClosedLoop();
    } else {
      OpenLoop();
    }
    while (in_flight_ > 0 && !Abandoned()) target_.Poll(clock_.Now() + kLongestWait, *this);
    out_.length = clock_.Now() - start_;
    out_.generator_cpu = ThreadCpu() - cpu;
    if (stop_) out_.end = RunEnd::kInterrupted;
    return std::move(out_);
  }

  void OnDone(const Outcome& outcome) override;

 private:
  bool Abandoned() const { return stop_ || out_.end == RunEnd::kTargetDied; }
  bool Over() const { return stop_ || out_.end != RunEnd::kComplete; }
  void OpenLoop();
  void ClosedLoop();
  bool Send(Duration due);
  uint16_t ErrorIndex(std::string_view type);
  size_t StageIndex(std::string_view name);  // kMaxStages: no room

  const Schedule& schedule_;
  Target& target_;
  const Clock& clock_;
  const std::atomic<bool>& stop_;
  Recording out_;
  TimePoint start_;
  std::vector<Duration> due_;  // closed loop: answers that came since the last look
  int64_t in_flight_ = 0;
  int lost_in_a_row_ = 0;
};

// False when the target takes no more at the moment; then the request stays due, and is late.
bool Run::Send(Duration due) {
  Record record;
  record.scheduled = due;
  record.sent = clock_.Now() - start_;
  if (!target_.Issue(out_.requests.size())) {
    ++out_.blocked;
    return false;
  }
  ++in_flight_;
  out_.requests.push_back(record);
  if (out_.requests.size() >= kMostRequests) out_.end = RunEnd::kFull;
  return true;
}

void Run::OpenLoop() {
  size_t next = 0;
  const auto& arrivals = schedule_.arrivals;
  while (next < arrivals.size() && !Over()) {
    bool blocked = false;
    while (!blocked && next < arrivals.size() && arrivals[next] <= clock_.Now() - start_) {
      blocked = !Send(arrivals[next]);
      if (!blocked) ++next;
    }
    if (next == arrivals.size()) break;
    const TimePoint longest = clock_.Now() + kLongestWait;
    target_.Poll(blocked ? longest : std::min(longest, start_ + arrivals[next]), *this);
  }
}

void Run::ClosedLoop() {
  const Duration end = schedule_.warmup + schedule_.duration;
  int64_t measured = 0;
  due_.assign(static_cast<size_t>(schedule_.concurrency), Duration(0));
  while (!Over()) {
    const std::vector<Duration> due = std::move(due_);
    due_.clear();
    for (const Duration at : due) {
      if (at >= end || (schedule_.requests > 0 && measured >= schedule_.requests)) return;
      if (out_.end == RunEnd::kFull || !Send(at)) {
        due_.push_back(at);
        continue;
      }
      if (at >= schedule_.warmup) ++measured;
    }
    if (clock_.Now() - start_ >= end) return;
    target_.Poll(std::min(start_ + end, clock_.Now() + kLongestWait), *this);
  }
}

void Run::OnDone(const Outcome& outcome) {
  Record& record = out_.requests[outcome.request];
  record.done = outcome.done - start_;
  if (outcome.first_byte != TimePoint()) record.first_byte = outcome.first_byte - start_;
  record.batch_size = static_cast<float>(outcome.batch_size);
  if (!outcome.error.empty()) record.error = ErrorIndex(outcome.error);
  if (!outcome.stages.empty()) {
    record.stages = static_cast<uint32_t>(out_.stages_ms.size());
    auto& row = out_.stages_ms.emplace_back();
    row.fill(std::numeric_limits<float>::quiet_NaN());
    for (const StageTime& stage : outcome.stages) {
      const size_t index = StageIndex(stage.name);
      if (index < kMaxStages) row[index] = static_cast<float>(stage.ms);
    }
  }
  --in_flight_;
  lost_in_a_row_ = outcome.connection_lost ? lost_in_a_row_ + 1 : 0;
  if (lost_in_a_row_ >= kDeadAfter) out_.end = RunEnd::kTargetDied;
  if (schedule_.concurrency > 0) due_.push_back(record.done);
}

uint16_t Run::ErrorIndex(std::string_view type) {
  if (out_.errors.size() >= kMostErrorTypes) type = "other";
  const auto found = std::find(out_.errors.begin() + 1, out_.errors.end(), type);
  if (found == out_.errors.end()) {
    out_.errors.emplace_back(type);
    return static_cast<uint16_t>(out_.errors.size() - 1);
  }
  return static_cast<uint16_t>(found - out_.errors.begin());
}

size_t Run::StageIndex(std::string_view name) {
  for (size_t i = 0; i < out_.stage_names.size(); ++i) {
    if (out_.stage_names[i] == name) return i;
  }
  if (out_.stage_names.size() == kMaxStages) return kMaxStages;
  out_.stage_names.emplace_back(name);
  return out_.stage_names.size() - 1;
}

}  // namespace

Recording Generate(const Schedule& schedule, Target& target, const Clock& clock,
                   const std::atomic<bool>& stop) {
  return Run(schedule, target, clock, stop).Go();
}

}  // namespace gimbal::bench
