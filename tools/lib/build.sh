# tools/dev build [PRESET]
# shellcheck shell=bash

# build PRESET [CMAKE BUILD ARGUMENTS]: configures when that is needed (a cheap step when nothing changed) and builds.
build_preset() {
  local preset=$1
  shift
  [ -f "$ROOT/CMakePresets.json" ] || fail "there is no CMakePresets.json in this checkout"
  cmake --preset "$preset" >"$DEPS/configure-$preset.log" 2>&1 || {
    tail -n 20 "$DEPS/configure-$preset.log" >&2
    fail "cmake could not configure preset '$preset' (the end of its output is above)" \
      "run 'tools/dev setup'; if build/$preset is from another checkout or compiler, delete it"
  }
  cmake --build "$ROOT/build/$preset" -j "$(jobs_count)" "$@" ||
    fail "the build of preset '$preset' failed (the first error is above)"
}

ensure_release() {
  ensure_setup
  step "building (release)"
  build_preset release -- --quiet
}

dev_build() {
  local preset="${1:-release}"
  ensure_setup
  step "building ($preset)"
  build_preset "$preset"
  if [ "$preset" = release ]; then note "build/release/bin/gimbal"; fi
}
