# The test-bed models that demo and tests want.
# shellcheck shell=bash

ensure_models() {
  # --quiet: silent when all are in place and made by the scripts as they are now.
  "$ROOT/models/get" --quiet "$@" ||
    fail "a test-bed model could not be had (the reason is above)" "models/get NAME tries again"
}
