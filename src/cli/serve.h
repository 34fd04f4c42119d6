#pragma once

#include <iosfwd>

#include "cli/args.h"

namespace gimbal::cli {

// `gimbal serve`: serves until SIGTERM or SIGINT, then drains. A second signal ends at once.
// Returns the exit code.
int RunServe(const ServeArgs& args, std::ostream& out, std::ostream& err);

}  // namespace gimbal::cli
