#include "policy/admission_policy.h"

#include <algorithm>

namespace gimbal::policy {
namespace {

// Asked for by a client before any batch was measured: long enough for some batches of most models.
constexpr Duration kUnknownRetry = std::chrono::milliseconds(100);
constexpr Duration kLeastRetry = std::chrono::milliseconds(1);

AdmissionDecision Refuse(RefuseReason reason, Duration retry_after, Duration predicted_wait) {
  return {reason, std::max(kLeastRetry, retry_after), predicted_wait};
}

}  // namespace

std::string_view RefuseReasonName(RefuseReason reason) {
  switch (reason) {
    case RefuseReason::kNone:
      return "none";
    case RefuseReason::kRows:
      return "rows";
    case RefuseReason::kBytes:
      return "bytes";
    case RefuseReason::kWait:
      return "wait";
    case RefuseReason::kDeadline:
      return "deadline";
  }
  return "";
}

double DrainRate(const CostModel& cost, const BatchLimits& batch, double mean_length) {
  if (!cost.known()) return 0;
  const double length = std::max(1., mean_length);
  const double budget = static_cast<double>(
      batch.memory_tokens > 0 ? std::min(batch.max_tokens, batch.memory_tokens) : batch.max_tokens);
  const double rows = std::clamp(budget / length, 1., static_cast<double>(batch.max_rows));
  const double ns = std::max(1., cost.At(length).At(rows));
  return 1e9 * batch.instances * rows / ns;
}

AdmissionDecision Admit(const QueueLoad& queue, const NewRows& request, const CostModel& cost,
                        const BatchLimits& batch, const AdmissionLimits& limits, TimePoint now) {
  const double rows = static_cast<double>(queue.rows);
  const double mean_length =
      static_cast<double>(queue.tokens + request.tokens) / std::max(1., rows + request.rows);
  const double rate = DrainRate(cost, batch, mean_length);
  const auto time_for = [rate](double excess_rows) {
    return rate > 0 ? FromSeconds(excess_rows / rate) : kUnknownRetry;
  };
  const Duration first_idle =
      queue.idle_instances > 0 ? Duration(0) : std::max(Duration(0), queue.next_idle - now);
  const double ahead = queue.ahead < 0 ? rows : static_cast<double>(queue.ahead);
  const Duration wait = rate > 0 ? first_idle + FromSeconds(ahead / rate) : Duration(0);

  if (limits.max_queue_rows > 0 && queue.rows + request.rows > limits.max_queue_rows) {
    const double excess = static_cast<double>(queue.rows + request.rows - limits.max_queue_rows);
    return Refuse(RefuseReason::kRows, first_idle + time_for(std::min(excess, rows)), wait);
  }
  if (limits.max_queue_bytes.value > 0 && queue.bytes + request.bytes > limits.max_queue_bytes) {
    const Bytes excess = queue.bytes + request.bytes - limits.max_queue_bytes;
    const double share = static_cast<double>(excess.value) /
                         static_cast<double>(std::max<int64_t>(1, queue.bytes.value));
    return Refuse(RefuseReason::kBytes, first_idle + time_for(rows * std::min(1., share)), wait);
  }
  if (request.deadline != kNever &&
      now + first_idle + cost.Predict(1, request.shortest) > request.deadline) {
    return Refuse(RefuseReason::kDeadline, std::max(first_idle, wait), wait);
  }
  if (limits.max_wait > Duration(0) && wait > limits.max_wait) {
    return Refuse(RefuseReason::kWait, wait - limits.max_wait, wait);
  }
  return {RefuseReason::kNone, Duration(0), wait};
}

}  // namespace gimbal::policy
