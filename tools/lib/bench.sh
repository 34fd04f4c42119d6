# tools/dev bench NAME…|all: tests/bench/NAME.py or NAME.sh, each against the release build.
# shellcheck shell=bash

bench_names() {
  local file
  for file in "$ROOT"/tests/bench/*.py "$ROOT"/tests/bench/*.sh; do
    # Files that begin with an underscore are shared code, not benchmarks.
    case "$(basename "$file")" in _* | '*'*) continue ;; esac
    basename "${file%.*}"
  done
}

run_bench() {
  local base="$ROOT/tests/bench/$1"
  step "bench $1"
  if [ -f "$base.py" ]; then
    "$PYTHON" "$base.py"
  else
    bash "$base.sh"
  fi
}

dev_bench() {
  local names name failed=
  names=$(bench_names)
  if [ $# -eq 0 ]; then
    step "benchmarks:" $names
    return 0
  fi
  if [ "$*" != all ]; then
    for name in "$@"; do
      grep -qx -- "$name" <<<"$names" || fail "there is no benchmark '$name'" "choose from: $(tr '\n' ' ' <<<"$names")"
    done
    names="$*"
  fi
  ensure_release
  ensure_models minilm identity
  for name in $names; do
    run_bench "$name" || failed="$failed $name"
  done
  if [ -n "$failed" ]; then fail "failed:$failed"; fi
}
