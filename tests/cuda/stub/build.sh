#!/bin/sh
# build.sh: makes kernels.ptx from kernels.cu with clang 14, as traces/kernels/build.sh does; --check compares it with
# the committed one, where that version of clang is installed.
set -eu
cd "$(dirname "$0")"
clang=${CLANG:-clang-14}
command -v "$clang" >/dev/null 2>&1 || clang=clang
if ! "$clang" --version 2>/dev/null | grep -q 'version 14\.'; then
    echo "build.sh: clang 14 is not installed"
    [ "${1:-}" = --check ]
    exit
fi
out=kernels.ptx
if [ "${1:-}" = --check ]; then
    out=$(mktemp)
    trap 'rm -f "$out"' EXIT
fi
"$clang" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent --cuda-gpu-arch=sm_70 \
    -Xclang -target-feature -Xclang +ptx60 -I../../../traces/kernels -std=c++14 -O2 -S kernels.cu -o "$out"
[ "$out" = kernels.ptx ] || cmp "$out" kernels.ptx
