# tools/dev test [fast|all]: unit tests (ctest), then integration tests (pytest) against the built server.
# shellcheck shell=bash

RESULTS="$ROOT/build/test-results"

# run_ctest PRESET: its unit tests (or, under tsan, its concurrent ones; the test preset says which).
run_ctest() {
  # Without truncation the results file holds GoogleTest's closing lines, from which the tally counts cases.
  ctest --preset "$1" -j "$(jobs_count)" --output-junit "$RESULTS/$1.xml" \
    --test-output-size-passed 1000000 --test-output-size-failed 1000000
}

run_pytest() {
  local folders=(tools/tests)
  if [ -d "$ROOT/tests" ]; then folders+=(tests); fi
  (cd "$ROOT" && "$PYTHON" -m pytest -q -p no:cacheprovider --junitxml "$RESULTS/pytest.xml" "${folders[@]}")
}

# The line that closes every test run, alone on its line: "N passed, N failed".
print_tally() { "$PYTHON" "$ROOT/tools/tally.py" "$@"; }

dev_test() {
  local which="${1:-all}" failed=0
  case "$which" in fast | all) ;; *) fail "test: unknown argument '$which'" "tools/dev test [fast|all]" ;; esac
  ensure_release
  step "building the unit tests"
  build_preset release --target unit_tests
  ensure_models minilm identity
  rm -rf "$RESULTS"
  mkdir -p "$RESULTS"
  step "unit tests"
  run_ctest release || failed=1
  if [ "$which" = all ]; then
    step "integration tests"
    run_pytest || failed=1
  fi
  print_tally "$RESULTS"/*.xml
  return "$failed"
}
