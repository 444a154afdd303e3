#!/bin/sh
# install-deps.sh quickstart|check|check-long: installs with apt what is missing of the Debian packages that
# this target needs. As root directly, else with sudo; where neither is possible it says what to install.
set -eu

build="gcc libc6-dev make libsqlite3-dev libcjson-dev libgsl-dev libzstd-dev liblz4-dev liblzma-dev zlib1g-dev"
# libclang-rt-14-dev: the fuzzer and sanitizer runtimes of Debian 12's clang
check="libcmocka-dev clang clang-format libclang-rt-14-dev python3 python3-jsonschema sqlite3 git zstd"
long="valgrind debootstrap"
# A test that needs these is skipped, with a line that says so, where they cannot be had.
optional="slurm-wlm munge gnuplot-nox tidy python3-venv chromium"

case ${1:-} in
quickstart) wanted=$build optional= ;;
check) wanted="$build $check" ;;
check-long)
    wanted="$build $check $long"
    optional="$optional pandoc python3-pandas python3-matplotlib"
    command -v npm >/dev/null || optional="$optional npm" # other packages of node.js have it too
    ;;
*)
    echo "usage: install-deps.sh quickstart|check|check-long" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "install-deps: no dpkg here; taking it that the equivalents of these are installed:" >&2
    echo "  $wanted" >&2
    exit 0
fi

# The packages of a list that are not installed.
lacking() {
    for package in "$@"; do
        status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || printf ' %s' "$package"
    done
}

# shellcheck disable=SC2086 # the lists are lists
missing=$(lacking $wanted)
# shellcheck disable=SC2086
extra=$(lacking $optional)
[ -n "$missing$extra" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    root=
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    root=sudo
elif [ -z "$missing" ]; then
    echo "install-deps: not installed, so that tests are skipped:$extra" >&2
    exit 0
else
    echo "install-deps: these packages are missing, and neither root nor sudo is at hand. Install them with" >&2
    echo "  apt-get install --no-install-recommends$missing$extra" >&2
    exit 1
fi

echo "installing:$missing$extra"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT

install() {
    # shellcheck disable=SC2086
    [ -z "$1" ] || $root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $1 >>"$log" 2>&1
}

# The catalogue may be old, or not be had: what is needed decides.
$root apt-get -q update >"$log" 2>&1 || echo "apt-get update failed" >>"$log"
if ! install "$missing"; then
    tail -n 20 "$log" >&2
    echo "install-deps: apt-get failed; install by hand:$missing" >&2
    exit 1
fi
# One that cannot be had does not keep the others away.
if ! install "$extra"; then
    without=
    for package in $extra; do install "$package" || without="$without $package"; done
    [ -z "$without" ] || echo "install-deps: not installed, so that tests are skipped:$without" >&2
fi
