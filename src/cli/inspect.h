#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/units.h"

namespace gimbal::engine {
class Engine;
}

namespace gimbal::cli {

// A model to look at, and the limits under which it would serve.
struct InspectTarget {
  std::string dir = {};
  std::string name = {};  // empty: named after the folder
  std::string version = "1";
  int threads = 1;
  int max_rows = 32;      // of a batch
  int max_tokens = 8192;  // of a batch, padding included
  Bytes memory = {};      // of the model; 0: no limit
};

struct InspectOptions {
  std::vector<InspectTarget> models;
  bool json = false;
};

// `gimbal inspect`: loads each model, runs it at a few shapes and writes to `out` what it takes and
// gives, which files it depends on, how its rows may share a batch and what memory it needs. Writes
// nothing when one of them fails.
Status RunInspect(const InspectOptions& options, engine::Engine& engine, std::ostream& out);

}  // namespace gimbal::cli
