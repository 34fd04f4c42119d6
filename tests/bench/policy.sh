#!/bin/sh
# Goodput of the batching policy in simulation against grid-tuned fixed windows, token budgets and eager
# dispatch, with the overload behaviour. About two minutes on one core; arguments: ROWS [PROFILE].
set -eu
cd "$(dirname "$0")/../.."
[ -f build/release/build.ninja ] || cmake --preset release
cmake --build build/release --target policy_goodput
exec build/release/bin/policy_goodput "$@"
