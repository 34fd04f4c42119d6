#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/settings.h"

namespace gimbal::config {

// A setting that the command line states.
struct FlagValue {
  const Setting* setting;
  std::string text;
};

// Everything a configuration is made from. Precedence: default < file < target and flag. A flag of
// a model setting holds for every model.
struct Sources {
  std::string file;                  // a gimbal.yaml; empty: none
  std::vector<std::string> targets;  // DIR or NAME=DIR; each adds a model after the file's
  std::vector<FlagValue> flags;
};

// What came of it: every finding, not only the first. `effective` is usable when ok().
struct Loaded {
  EffectiveConfig effective;
  std::vector<Finding> findings;

  bool ok() const { return !HasErrors(findings); }
};

// Reads and checks. Never throws; hostile files are bounded (1 MiB, 32 levels, 100 findings).
Loaded Load(const Sources& sources);

// A file alone, its errors as one status of several lines.
Result<EffectiveConfig> LoadFile(const std::string& path);

bool IsConfigFile(std::string_view target);  // *.yaml or *.yml

}  // namespace gimbal::config
