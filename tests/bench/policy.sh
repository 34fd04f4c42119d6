#!/bin/sh
# The batching policy in simulation: what held over thousands of seeded workloads, in one line, then
# goodput against grid-tuned fixed windows, token budgets and eager dispatch, with the overload
# behaviour. About two minutes on one core; arguments: ROWS [PROFILE].
set -eu
cd "$(dirname "$0")/../.."
[ -f build/release/build.ninja ] || cmake --preset release
cmake --build build/release --target policy_goodput policy_test
held=$(build/release/bin/policy_test --gtest_brief=1 \
  --gtest_filter=Simulator.InvariantsHoldOverThousandsOfRandomWorkloads) || {
  printf '%s\n' "$held"
  exit 1
}
printf '%s\n' "$held" | grep ' workloads, '
exec build/release/bin/policy_goodput "$@"
