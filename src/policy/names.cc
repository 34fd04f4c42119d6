#include "policy/batch_policy.h"

namespace gimbal::policy {

std::string_view CloseReasonName(CloseReason reason) {
  switch (reason) {
    case CloseReason::kFull:
      return "full";
    case CloseReason::kDeadline:
      return "deadline";
    case CloseReason::kWait:
      return "wait";
    case CloseReason::kMemory:
      return "memory";
    case CloseReason::kIdle:
      return "idle";
  }
  return "";
}

}  // namespace gimbal::policy
