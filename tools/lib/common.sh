# Shared by the parts of tools/dev: paths and the three ways to speak to the user.
# shellcheck shell=bash

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
DEPS="$ROOT/.deps"
VENV="$DEPS/venv"
PYTHON="$VENV/bin/python"
# Two checkouts of the same source may share compiler cache entries: paths below the checkout are made relative.
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$ROOT}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR:-1}"

# ONNX Runtime's own Python builds report usage and leave files in the home folder unless told not to.
export ORT_DISABLE_TELEMETRY=1

STEPS=0 # how many things were done so far: lets setup tell "already in place" from "done"
step() {
  STEPS=$((STEPS + 1))
  printf '==> %s\n' "$*"
}
note() { printf '    %s\n' "$*"; }

# fail WHY [WHAT TO DO]: every failure names its reason, and what to do where we know it.
fail() {
  printf 'tools/dev: %s\n' "$1" >&2
  if [ $# -gt 1 ]; then printf '  what to do: %s\n' "$2" >&2; fi
  exit 1
}

jobs_count() { nproc 2>/dev/null || echo 2; }
