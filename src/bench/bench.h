#pragma once

#include <atomic>

#include "base/result.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/target.h"
#include "bench/workload.h"

namespace gimbal::bench {

// Measures the URL or the null target that the options name. The result of a run that went wrong in
// the middle is a report that says INVALID; an error means that nothing was measured: kInvalid and
// kNotFound for options, kUnavailable when the target cannot be reached.
// Blocks; `stop` (set by a signal handler, say) ends the sending and the run.
Result<Report> Measure(const Options& options, const std::atomic<bool>& stop);

// The texts of the options as a workload, and the options' own contradictions.
Result<Workload> MakeWorkload(const Options& options);

// How long before a due time the sender stops sleeping and looks; 0 in a closed loop.
Duration SpinOf(const Options& options);

// The seam for targets that others make (a pipeline in this process): measures `target`, which asks
// `workload`. `around` may hold more settings.
Report MeasureTarget(const Options& options, Target& target, Surroundings around,
                     const std::atomic<bool>& stop);
std::vector<Fact> SettingsOf(const Options& options, const Workload& workload);

}  // namespace gimbal::bench
