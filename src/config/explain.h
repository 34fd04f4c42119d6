#pragma once

#include <string>

#include "config/config.h"

namespace gimbal::config {

// The effective configuration as YAML that loads again, with the origin of each value as a comment
// behind it, in the order of the table.
std::string Explain(const EffectiveConfig& effective);

// The same as a JSON list of {"setting", "value", "origin"}; values are spelt as in YAML.
std::string ExplainJson(const EffectiveConfig& effective);

}  // namespace gimbal::config
