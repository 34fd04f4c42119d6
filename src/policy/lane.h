#pragma once

#include "model/names.h"

namespace gimbal::policy {

// Who waits: someone at a screen, or a job. Bulk takes what interactive leaves, and at least its
// guaranteed share (batch_policy.h), so neither starves.
using model::kLaneCount;
using model::Lane;
using model::LaneName;
using model::ParseLane;

}  // namespace gimbal::policy
