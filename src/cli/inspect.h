#pragma once

#include <iosfwd>
#include <string>

#include "base/status.h"

namespace gimbal::engine {
class Engine;
}

namespace gimbal::cli {

struct InspectOptions {
  std::string dir;            // the model's folder
  std::string name;           // empty: named after the folder
  std::string version = "1";
  bool json = false;
};

// `gimbal inspect`: loads the model, runs it at a few shapes and writes to `out` what it takes and
// gives, which files it depends on, how its rows may share a batch and what memory it needs.
Status RunInspect(const InspectOptions& options, engine::Engine& engine, std::ostream& out);

}  // namespace gimbal::cli
