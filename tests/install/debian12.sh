#!/usr/bin/env bash
# Proof that the README's two commands work on a fresh minimal Debian 12: makes such a root with debootstrap, installs
# nothing but git, clones the committed HEAD and runs them inside.
#
#   tests/install/debian12.sh [--keep] [--into FOLDER] [COMMAND…]
#
# COMMAND is a line for the shell in the clone; without any: "tools/dev demo --once" and "tools/dev test". Needs root,
# debootstrap, the network, about 4 GB in FOLDER (default: a new folder under ${TMPDIR:-/tmp}) and 15 minutes.
#
# What a network needs of configuration (mirror, proxy, certificates) is taken from this machine when it runs; of the
# software on this machine nothing is.
set -euo pipefail

REPOSITORY="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
SUITE=bookworm

fail() {
  printf 'debian12.sh: %s\n' "$1" >&2
  exit 2
}

[ "$(id -u)" = 0 ] || fail "only root can make and enter another root; run it with sudo"
command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"

# Mounts and processes live in namespaces of their own: they are gone when this script is, however it ends, and so
# removing the folder afterwards cannot reach anything of the machine.
if [ "${INSIDE_NAMESPACE:-}" != 1 ]; then
  INSIDE_NAMESPACE=1 exec unshare --mount --propagation private --pid --fork --kill-child "${BASH_SOURCE[0]}" "$@"
fi

keep=
folder=
while [ $# -gt 0 ]; do
  case "$1" in
    --keep) keep=1 ;;
    --into)
      folder="${2:?--into wants a folder}"
      shift
      ;;
    -*) fail "unknown option $1" ;;
    *) break ;;
  esac
  shift
done
commands=("$@")
[ ${#commands[@]} -gt 0 ] || commands=("tools/dev demo --once" "tools/dev test")
if [ -z "$folder" ]; then folder=$(mktemp -d "${TMPDIR:-/tmp}/gimbal-debian12.XXXXXX"); fi
mkdir -p "$folder"
root="$(cd "$folder" && pwd)/root"
[ ! -e "$root" ] || fail "$root exists already"

cleanup() {
  umount -R "$root/proc" "$root/sys" "$root/dev/shm" 2>/dev/null || true
  if [ -n "$keep" ]; then
    echo "kept: $root"
  else
    rm -rf --one-file-system "$root"
    rmdir "$folder" 2>/dev/null || true
  fi
}
trap cleanup EXIT

# The first archive that this machine's apt uses for Debian itself, in either of apt's two file formats.
host_mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    sed -nE 's/^URIs:[[:space:]]*([^[:space:]]+).*/\1/p; s/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+).*/\2/p' |
    grep -v -e security -e '^cdrom:' | head -n 1
}

make_root() {
  local mirror
  mirror=$(host_mirror)
  [ -n "$mirror" ] || fail "this machine's apt sources name no archive"
  # The machine may be another release than the root: its keyring is only used when it has Debian's.
  debootstrap --variant=minbase "$SUITE" "$root" "$mirror" >"$folder/debootstrap.log" 2>&1 || {
    tail -n 15 "$folder/debootstrap.log" >&2
    fail "debootstrap failed"
  }
  rm -f "$folder/debootstrap.log"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mkdir -p "$root/dev/shm"
  mount -t tmpfs tmpfs "$root/dev/shm"
}

# How this machine reaches the network, copied as it is at this moment.
copy_network_configuration() {
  local file
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/npmrc /root/.npmrc; do
    if [ -f "$file" ]; then cp --dereference "$file" "$root$file"; fi
  done
  for file in $(grep -lE '^[[:space:]]*Acquire' /etc/apt/apt.conf /etc/apt/apt.conf.d/* 2>/dev/null); do
    cp "$file" "$root/etc/apt/apt.conf.d/"
  done
  # Beside the place of the distribution's bundle, which installing ca-certificates writes anew.
  if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/machine-ca.crt"
  fi
}

# A clean environment, but for proxies, package indexes and the certificate bundle.
environment() {
  echo PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  echo HOME=/root
  echo LANG=C.UTF-8
  env | grep -E '^(PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT)|npm_config_[a-z_]+|(http|https|no)_proxy|(HTTP|HTTPS|NO)_PROXY)=' ||
    true
  if [ -f "$root/etc/machine-ca.crt" ]; then
    for name in PIP_CERT SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS npm_config_cafile; do
      echo "$name=/etc/machine-ca.crt"
    done
  fi
}

in_root() {
  local -a variables
  mapfile -t variables < <(environment)
  env -i "${variables[@]}" chroot "$root" /bin/bash -c "$1" </dev/null
}

# timed TITLE COMMAND…: prints how long it took and its exit code, and returns that.
timed() {
  local title=$1 begin=$SECONDS code=0
  shift
  echo "--- $title"
  "$@" || code=$?
  echo "--- $title: exit code $code, $((SECONDS - begin)) s"
  return "$code"
}

timed "debootstrap of a minimal $SUITE" make_root
copy_network_configuration
timed "apt-get install git" in_root "apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends git >/dev/null 2>&1"
git -C "$REPOSITORY" bundle create --quiet "$root/root/gimbal.bundle" HEAD
timed "git clone" in_root "cd /root && git -c advice.detachedHead=false clone --quiet gimbal.bundle gimbal && cd gimbal && git log -1 --oneline"

failed=0
for command in "${commands[@]}"; do
  timed "$command" in_root "cd /root/gimbal && $command" || failed=1
done
exit "$failed"
