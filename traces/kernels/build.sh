#!/bin/sh
# build.sh: makes NAME.ptx from NAME.cu with clang, which needs neither a GPU nor CUDA.
#
#   traces/kernels/build.sh           rebuilds every kernel (CLANG=clang-14 unless set)
#   traces/kernels/build.sh --check   rebuilds into a temporary folder and compares with the committed PTX;
#                                     where nvcc exists, also compiles the same sources with it
#
# The committed PTX is clang 14's. Without that version --check says so and succeeds: another version's
# PTX differs in register names and order, which says nothing about the sources.
set -eu
cd "$(dirname "$0")"
wanted=14
clang=${CLANG:-clang-14}
if ! command -v "$clang" >/dev/null 2>&1; then clang=clang; fi

has_clang() {
    command -v "$clang" >/dev/null 2>&1 && "$clang" --version | grep -q "version $wanted\."
}

# Line directives but no DWARF; paths relative to this folder. A CUDA installation, if any, is not looked at.
compile() {
    "$clang" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent \
        --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx60 \
        -std=c++14 -O2 -S -gline-directives-only -fdebug-compilation-dir=. -Wall -Wextra -Werror "$1" -o "$2"
    sed -i -e 's|^\([[:space:]]*\.file[[:space:]]*[0-9]* "\)\(\./\)*|\1|' \
        -e '/^[[:space:]]*\.section[[:space:]]*\.debug_/d' "$2"
}

build() {
    if ! has_clang; then
        echo "build.sh: clang $wanted is needed to make the PTX (set CLANG), found: $("$clang" --version 2>&1 | head -n 1)" >&2
        exit 1
    fi
    for source in *.cu; do compile "$source" "${source%.cu}.ptx"; done
}

check_clang() {
    if ! has_clang; then
        echo "build.sh: clang $wanted is not installed: the committed PTX was not compared"
        return 0
    fi
    status=0
    for source in *.cu; do
        name=${source%.cu}
        compile "$source" "$tmp/$name.ptx"
        if ! cmp -s "$tmp/$name.ptx" "$name.ptx"; then
            echo "build.sh: traces/kernels/$name.ptx does not match $source (run traces/kernels/build.sh):" >&2
            diff "$name.ptx" "$tmp/$name.ptx" 2>&1 | head -n 10 >&2 || true
            status=1
        fi
    done
    for ptx in *.ptx; do
        if [ ! -f "${ptx%.ptx}.cu" ]; then
            echo "build.sh: traces/kernels/$ptx has no source" >&2
            status=1
        fi
    done
    [ $status -ne 0 ] || echo "build.sh: the committed PTX matches its sources ($clang)"
    return $status
}

check_nvcc() {
    nvcc=${NVCC:-nvcc}
    if ! command -v "$nvcc" >/dev/null 2>&1; then
        echo "build.sh: nvcc is not installed: the sources were not compiled with it"
        return 0
    fi
    for source in *.cu; do "$nvcc" -ptx -arch=sm_75 -lineinfo "$source" -o "$tmp/nvcc_${source%.cu}.ptx"; done
    echo "build.sh: nvcc compiles the same sources"
}

case "${1:-}" in
"") build ;;
--check)
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    result=0
    check_clang || result=1
    check_nvcc || result=1
    exit $result
    ;;
*)
    echo "usage: build.sh [--check]" >&2
    exit 2
    ;;
esac
