# The test-bed models that demo and tests want.
# shellcheck shell=bash

ensure_models() {
  local name
  for name in "$@"; do
    if [ ! -f "$ROOT/models/cache/$name/model.onnx" ]; then
      step "fetching model $name"
      "$ROOT/models/get" "$name" || fail "model '$name' could not be had (the reason is above)"
    fi
  done
}
