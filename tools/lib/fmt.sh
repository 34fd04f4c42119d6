# tools/dev fmt: format all C++ files, tracked or new (not ignored ones).
# shellcheck shell=bash

cpp_files() { git -C "$ROOT" ls-files -z --cached --others --exclude-standard -- '*.h' '*.cc'; }

# Only those that exist: a file deleted but not yet committed is still listed.
existing() {
  local file
  while IFS= read -r -d '' file; do
    if [ -f "$ROOT/$file" ]; then printf '%s\0' "$ROOT/$file"; fi
  done
}

# clang-format from the locked environment, so that everybody's formatting is the same.
run_clang_format() { cpp_files | existing | xargs -0 -r "$VENV/bin/clang-format" "$@"; }

dev_fmt() {
  ensure_setup
  run_clang_format -i
  step "formatted"
}
