#pragma once

#include "model/names.h"

namespace gimbal::policy {

// What a model is served for; the one choice that a person makes.
//   kOnline  as many rows as possible within their deadlines
//   kBatch   as many rows as possible per second
//   kEdge    as little peak memory as serves the rate
using model::ParseScenario;
using model::Scenario;
using model::ScenarioName;

}  // namespace gimbal::policy
