# tools/dev setup [check]: system packages, Python environment, inference engine. Repeatable: what is in place is left
# alone, and a second run only looks.
# shellcheck shell=bash

# One line per need; alternatives for different releases are separated by "|", the first one available is installed.
# Boost: Beast's C++20 coroutines want 1.81 or later, and the plain libboost-dev of Debian 12 is 1.74.
BUILD_PACKAGES="
ca-certificates git cmake ninja-build g++ make pkg-config ccache mold python3 python3-venv
libboost1.81-dev|libboost1.83-dev|libboost1.88-dev|libboost1.90-dev
libsimdjson-dev libyaml-cpp-dev libspdlog-dev libfmt-dev libcli11-dev libgtest-dev libssl-dev
"
# clang only serves the lock analysis of `tools/dev check`; building and running need gcc alone.
CHECK_PACKAGES="
clang-16|clang-17|clang-18|clang-19|clang-20|clang
"

SYSTEM_PYTHON=/usr/bin/python3 # a version manager's shim may come first on PATH; its Python may lack venv or headers

package_installed() {
  # shellcheck disable=SC2016 # the dollar belongs to dpkg-query
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

package_available() { [ -n "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ]; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -- "$@"
  else
    fail "'$*' needs root, and there is no sudo" "run 'tools/dev setup' once as root, then go on as yourself"
  fi
}

# Prints those alternatives groups of which nothing is installed.
missing_groups() {
  local group name found
  for group in $1; do
    found=
    for name in ${group//|/ }; do
      if package_installed "$name"; then found=1; fi
    done
    if [ -z "$found" ]; then echo "$group"; fi
  done
}

choose_packages() {
  local group name chosen
  for group in $1; do
    chosen=
    for name in ${group//|/ }; do
      if [ -z "$chosen" ] && package_available "$name"; then chosen=$name; fi
    done
    if [ -z "$chosen" ]; then
      fail "this system's package lists have none of: ${group//|/, }" \
        "Gimbal is built on Debian 12 or 13 or Ubuntu 24.04; on another system install it by hand and run this again"
    fi
    echo "$chosen"
  done
}

setup_packages() {
  local missing chosen
  command -v dpkg-query >/dev/null ||
    fail "no dpkg on this system" "setup knows Debian 12, Debian 13 and Ubuntu 24.04; see CONTRIBUTING.md for the list"
  missing=$(missing_groups "$1")
  if [ -z "$missing" ]; then return 0; fi
  step "reading the package lists"
  # A freshly made root has no package lists at all, and stale ones name files that mirrors no longer hold.
  as_root apt-get update -qq ||
    fail "apt-get update failed (its message is above)" "check the network and /etc/apt/sources.list"
  chosen=$(choose_packages "$missing") || exit 1
  step "installing system packages:" $chosen
  # --no-remove: versioned Boost packages conflict with each other, and taking away what the user installed is not ours.
  # shellcheck disable=SC2086 # a list of names
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends --no-remove \
    -o Dpkg::Use-Pty=0 $chosen >"$DEPS/apt.log" 2>&1 || {
    tail -n 12 "$DEPS/apt.log" >&2
    fail "apt-get install failed (the end of .deps/apt.log is above)" \
      "if a Boost package is in the way (apt says so), remove it: apt-get remove 'libboost*-dev'; then run this again"
  }
}

# Stamps hold what a step was made from: equal stamp, nothing to do.
stamp_of() { cat "$@" 2>/dev/null | sha256sum | cut -c1-32; }

setup_python() {
  local stamp
  [ -x "$SYSTEM_PYTHON" ] || fail "$SYSTEM_PYTHON is missing" "apt-get install python3 python3-venv"
  stamp="$("$SYSTEM_PYTHON" -c 'import platform; print(platform.python_version())') $(stamp_of \
    "$ROOT/tools/requirements.lock")"
  if [ -x "$PYTHON" ] && [ "$(cat "$VENV/.stamp" 2>/dev/null)" = "$stamp" ]; then return 0; fi
  step "making the Python environment .deps/venv"
  rm -rf "$VENV"
  "$SYSTEM_PYTHON" -m venv "$VENV" || fail "python3 -m venv failed (its message is above)" "apt-get install python3-venv"
  install_locked requirements
  echo "$stamp" >"$VENV/.stamp"
}

# Wheels only, each one of a hash that the lock file names: nothing is built, nothing unlisted is installed.
# install_locked NAME [PIP ARGUMENTS]
install_locked() {
  local name=$1
  shift
  "$PYTHON" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: --no-deps \
    -r "$ROOT/tools/$name.lock" "$@" ||
    fail "pip could not install tools/$name.lock (its message is above)" \
      "check that the Python package index is reachable (PIP_INDEX_URL, PIP_CERT)"
}

setup_engine() {
  local stamp
  stamp="$(uname -m) ${GIMBAL_ONNXRUNTIME_ROOT:-} $(stamp_of "$ROOT/tools/engines.json" "$ROOT/tools/engines.py")"
  if [ "$(cat "$DEPS/onnxruntime/.stamp" 2>/dev/null)" = "$stamp" ]; then return 0; fi
  step "putting ONNX Runtime in place (.deps/onnxruntime)"
  if ! command -v npm >/dev/null && "$PYTHON" "$ROOT/tools/engines.py" need-npm; then
    note "no npm here: taking one from a Python wheel, for one download"
    rm -rf "$DEPS/node"
    install_locked node --target "$DEPS/node"
  fi
  "$PYTHON" "$ROOT/tools/engines.py" install ||
    fail "the inference engine could not be put in place (the reason is above)" \
      "run this again when the network is there, or set GIMBAL_ONNXRUNTIME_ROOT to an unpacked official release"
  rm -rf "$DEPS/node"
  echo "$stamp" >"$DEPS/onnxruntime/.stamp"
}

# ensure_setup [check]: silent when there is nothing to do.
ensure_setup() {
  mkdir -p "$DEPS"
  setup_packages "$BUILD_PACKAGES"
  if [ "${1:-}" = check ]; then setup_packages "$CHECK_PACKAGES"; fi
  setup_python
  setup_engine
}

dev_setup() {
  case "${1:-}" in "" | check) ;; *) fail "setup: unknown argument '$1'" "tools/dev setup [check]" ;; esac
  ensure_setup "$@"
  if [ "$STEPS" = 0 ]; then
    step "already in place: packages, .deps/venv, .deps/onnxruntime"
  else
    step "setup done in $SECONDS s"
  fi
}
