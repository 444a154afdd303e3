#!/bin/sh
# Compares the lowering of the workload kernels with ptxas: registers per thread and machine instructions.
# Needs ptxas (PTXAS names it; else it is looked for) and readelf; without ptxas it says so and succeeds.
# ARCH: 70 where that ptxas knows it (CUDA 12 and before), else 75, the nearest relative of sm_70.
set -eu
cd "$(dirname "$0")/.."
PTXAS=${PTXAS:-$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null || true)}
if [ -z "$PTXAS" ]; then
    echo "check-lowering: no ptxas here, nothing compared"
    exit 0
fi
[ $# -gt 0 ] || set -- traces/kernels/*.ptx
LIB=${LIB:-build/libwarpwatt.a}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -o "$work/mix" tests/tools/ptx_mix.c "$LIB" -lm
arch=${ARCH:-}
if [ -z "$arch" ]; then
    arch=75
    if "$PTXAS" --help | grep -q "'sm_70'"; then arch=70; fi
fi
lowered=$arch
step=16
if [ "$arch" -ge 70 ]; then lowered=70; else step=8; fi
for f in "$@"; do
    # sm_75 needs PTX 6.3, of which 6.0 is a subset
    sed "s/^\.target sm_[0-9a-z]*/.target sm_$arch/; s/^\.version 6\.[012]/.version 6.3/" "$f" > "$work/k.ptx"
    "$PTXAS" -arch="sm_$arch" -v "$work/k.ptx" -o "$work/k.cubin" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
    sed -n "s/.*Compiling entry function '\([^']*\)'.*/name \1/p; s/.*Used \([0-9]*\) registers.*/regs \1/p" "$work/log" |
        awk '$1 == "name" { k = $2 } $1 == "regs" { print k, $2 }' > "$work/regs"
    readelf -SW "$work/k.cubin" 2> /dev/null | sed -n 's/.* \.text\.\([^ ]*\) *PROGBITS *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1 \2/p' > "$work/size"
    "$work/mix" "$lowered" "$f" > "$work/ours"
    awk -v step="$step" -v work="$work" '
        function hex(s,  i, v) { v = 0; for (i = 1; i <= length(s); i++) v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
        FILENAME ~ /regs$/ { regs[$1] = $2; next }
        FILENAME ~ /size$/ { size[$1] = hex($2) / step; if (step == 8) size[$1] *= 3 / 4; next } # one word of four is control
        ($2 in regs) && ($2 in size) { print $2, $3, regs[$2], $4, size[$2] }' "$work/regs" "$work/size" "$work/ours" >> "$work/all"
done
awk -v arch="$arch" '
    BEGIN { printf "%-24s %s (sm_%s)\n", "kernel", "registers ours/ptxas   instructions ours/ptxas, with its padding", arch }
    { printf "%-24s %4d / %-4d %18d / %d\n", $1, $2, $3, $4, $5
      d = $2 - $3; far += d < 0 ? -d : d; ours += $4; theirs += $5; n++ }
    END {
        if (!n) { print "check-lowering: no kernel compared"; exit 1 }
        printf "mean distance of registers %.1f (at most 10), instructions %d / %d (0.6 to 1.2)\n", far / n, ours, theirs
        exit !(far / n <= 10 && ours / theirs > 0.6 && ours / theirs < 1.2)
    }' "$work/all"
