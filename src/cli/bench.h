#pragma once

#include <iosfwd>

#include "cli/args.h"

namespace gimbal::cli {

// `gimbal bench`: measures a server, or the generator itself, and prints the report. Ctrl-C ends
// the sending; what was measured by then is printed as INVALID. Returns the exit code: 0 also for
// an INVALID report, which says so itself.
int RunBench(const BenchArgs& args, std::ostream& out, std::ostream& err);

}  // namespace gimbal::cli
