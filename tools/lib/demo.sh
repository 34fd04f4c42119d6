# tools/dev demo [--once]: see tools/demo.py.
# shellcheck shell=bash

dev_demo() {
  case "${1:-}" in "" | --once) ;; *) fail "demo: unknown argument '$1'" "tools/dev demo [--once]" ;; esac
  ensure_release
  ensure_models minilm
  exec "$PYTHON" "$ROOT/tools/demo.py" "$@"
}
