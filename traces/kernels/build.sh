#!/bin/sh
# build.sh: makes NAME.ptx from NAME.cu with clang, which needs neither a GPU nor CUDA.
#
#   traces/kernels/build.sh           rebuilds every kernel (CLANG=clang-14 unless set), and tests/kernels/
#   traces/kernels/build.sh --check   rebuilds into a temporary folder and compares with the committed PTX;
#                                     where nvcc exists, also compiles the same sources with it
#
# The committed PTX is clang 14's. Without that version --check says so and succeeds: another version's
# PTX differs in register names and order, which says nothing about the sources.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
wanted=14
clang=${CLANG:-clang-14}
if ! command -v "$clang" >/dev/null 2>&1; then clang=clang; fi

has_clang() {
    command -v "$clang" >/dev/null 2>&1 && "$clang" --version | grep -q "version $wanted\."
}

# The architecture that a source asks for in its first comment ("for sm_80"); sm_70 unless it does. clang 14 knows none
# above sm_86: what is for sm_90a or sm_100a is compiled for sm_80, and its head names that and its PTX version.
arch_of() {
    arch=$(sed -n '1,12s/.*for \(sm_[0-9]*a*\)[.,:;].*/\1/p' "$1" | head -n 1)
    echo "${arch:-sm_70}"
}

# Compiles FOLDER/NAME.cu into an absolute OUT.ptx, in its folder so that file names have no path. Line directives but no
# DWARF. A CUDA installation, if any, is not looked at.
compile() {
    case $(arch_of "$1") in
    sm_70) arch=sm_70 version=ptx60 define=70 ;;
    sm_80) arch=sm_80 version=ptx70 define=80 ;;
    sm_100a) arch=sm_80 version=ptx70 define=100 ;;
    *) arch=sm_80 version=ptx70 define=90 ;;
    esac
    (cd "$(dirname "$1")" &&
        "$clang" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent \
            --cuda-gpu-arch=$arch -Xclang -target-feature -Xclang +$version -DWW_SM=$define -I"$here" -std=c++14 -O2 -S \
            -gline-directives-only -fdebug-compilation-dir=. -Wall -Wextra -Werror "$(basename "$1")" -o "$2")
    sed -i -e 's|^\([[:space:]]*\.file[[:space:]]*[0-9]* "\)\(\./\)*|\1|' \
        -e '/^[[:space:]]*\.section[[:space:]]*\.debug_/d' "$2"
    case $define in
    90) sed -i -e 's/^\.version .*/.version 8.0/' -e 's/^\.target sm_80/.target sm_90a/' "$2" ;;
    100) sed -i -e 's/^\.version .*/.version 8.6/' -e 's/^\.target sm_80/.target sm_100a/' "$2" ;;
    esac
}

build() {
    if ! has_clang; then
        echo "build.sh: clang $wanted is needed to make the PTX (set CLANG), found: $("$clang" --version 2>&1 | head -n 1)" >&2
        exit 1
    fi
    for source in $sources; do compile "$source" "$here/${source%.cu}.ptx"; done
}

check_clang() {
    if ! has_clang; then
        echo "build.sh: clang $wanted is not installed: the committed PTX was not compared"
        return 0
    fi
    status=0
    for source in $sources; do
        ptx=${source%.cu}.ptx
        compile "$source" "$tmp/fresh.ptx"
        if ! cmp -s "$tmp/fresh.ptx" "$ptx"; then
            echo "build.sh: $ptx does not match its source (run traces/kernels/build.sh):" >&2
            diff "$ptx" "$tmp/fresh.ptx" 2>&1 | head -n 10 >&2 || true
            status=1
        fi
    done
    for ptx in *.ptx ../../tests/kernels/*.ptx; do
        if [ ! -f "${ptx%.ptx}.cu" ]; then
            echo "build.sh: $ptx has no source" >&2
            status=1
        fi
    done
    # A kernel written for nvcc compiles with the command of docs/guide/first-steps.md.
    "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx60 -nocudainc -nocudalib \
        --cuda-path=/nonexistent -I"$here" -include ww_cuda.h -O2 -S ../examples/softmax.cu -o "$tmp/fresh.ptx" || status=1
    [ $status -ne 0 ] || echo "build.sh: the committed PTX matches its sources ($clang)"
    return $status
}

check_nvcc() {
    nvcc=${NVCC:-nvcc}
    if ! command -v "$nvcc" >/dev/null 2>&1; then
        echo "build.sh: nvcc is not installed: the sources were not compiled with it"
        return 0
    fi
    for source in $sources; do
        arch=$(arch_of "$source")
        [ "$arch" != sm_70 ] || arch=sm_75
        "$nvcc" -ptx -arch="$arch" -lineinfo -I"$here" "$source" -o "$tmp/nvcc.ptx"
    done
    echo "build.sh: nvcc compiles the same sources"
}

sources=$(ls *.cu ../../tests/kernels/*.cu) # relative: the tree may lie anywhere
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
