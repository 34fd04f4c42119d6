# tools/dev check: the gates that every change passes. All of them run, also after a failure: one run tells everything.
# shellcheck shell=bash

GATE_LOGS="$ROOT/build/check"
GATES_PASSED=0
GATES_FAILED=0

# gate NAME COMMAND…: one line with verdict and time; the output is shown only on failure, its end on the screen and
# all of it in build/check/NAME.log.
gate() {
  local name=$1 before=$SECONDS log="$GATE_LOGS/$1.log" verdict=ok
  shift
  # A subshell: `fail` inside a gate must end that gate and not the run.
  if ("$@") >"$log" 2>&1 </dev/null; then
    GATES_PASSED=$((GATES_PASSED + 1))
  else
    GATES_FAILED=$((GATES_FAILED + 1))
    verdict=FAILED
  fi
  printf '%-9s %-7s %4d s\n' "$name" "$verdict" $((SECONDS - before))
  if [ "$verdict" = FAILED ]; then
    tail -n 60 "$log" | sed 's/^/    /'
    note "all of it: build/check/$name.log"
  fi
}

gate_format() {
  local found
  found=$(run_clang_format --dry-run -Werror 2>&1 | sed -nE "s|^$ROOT/([^:]+):.*|\1|p" | sort -u)
  [ -z "$found" ] || fail "not formatted: $(tr '\n' ' ' <<<"$found")" "tools/dev fmt"
}

gate_build() {
  build_preset release
  build_preset release --target unit_tests
}

gate_tests() {
  local failed=0
  ensure_models minilm identity
  run_ctest release || failed=1
  run_pytest || failed=1
  return "$failed"
}

gate_sanitizer() {
  build_preset "$1" --target "$2"
  run_ctest "$1"
}

dev_check() {
  ensure_setup check
  rm -rf "$GATE_LOGS" "$RESULTS"
  mkdir -p "$GATE_LOGS" "$RESULTS"
  gate format gate_format
  gate layers "$PYTHON" tools/check_layers
  gate sizes "$PYTHON" tools/check_sizes
  gate docs "$PYTHON" tools/check_docs.py
  gate tree "$PYTHON" tools/check_tree.py
  gate build gate_build
  gate headers "$PYTHON" tools/compile.py headers build/release
  gate locks "$PYTHON" tools/compile.py locks build/release
  gate tests gate_tests
  gate asan gate_sanitizer asan unit_tests
  gate tsan gate_sanitizer tsan concurrent_tests
  step "$GATES_PASSED gates passed, $GATES_FAILED failed, in $SECONDS s; with the tests in them:"
  print_tally --gates "$GATES_PASSED" "$GATES_FAILED" "$RESULTS"/{release,pytest,asan,tsan}.xml
  [ "$GATES_FAILED" = 0 ]
}
