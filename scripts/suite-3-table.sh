#!/bin/bash
# suite-3-table.sh [default|large]...: the tables of docs/reference/suite-3.md that have GB/s and TFLOPS (make figures
# NAME=suite-3 prints both; minutes). Each workload is recorded for the GPU's architecture as machine code
# (gemm_tcgen05: as PTX), and replayed. sm_70 needs a ptxas of CUDA 12.9 or older first in WARPWATT_PTXAS; without one
# the column v100 is "-". Environment: WARPWATT (build/warpwatt).
set -euo pipefail
cd "$(dirname "$0")/.."
W=${WARPWATT:-build/warpwatt}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Workload; unit; bytes or operations. Bytes: what the algorithm reads and writes once, "dram": what DRAM was asked for
# (the lengths of sequences are random). Operations: 2 m n k of a product; 4 heads count^2 128 of attention.
default_rows() {
    cat <<'ROWS'
rmsnorm GB/s 4*2*1024*4096
softmax GB/s 2*2*1024*4096
rope GB/s 2*2*2048*40*128
gemv_int4 GB/s 8192*4096/2+2*8192*4096/128
moe GB/s 2*4096*2048*(1+2+2+1)
paged_attention GB/s dram
gemm_mma TFLOPS 2*1024**3
flash_mma TFLOPS 4*16*768**2*128
gemm_wgmma TFLOPS 2*1024*2048*1024
gemm_wgmma,type=fp8 TFLOPS 2*1024*2048*1024
flash_wgmma TFLOPS 4*16*1024**2*128
ROWS
}

# GPU; workload; operations; the datasheet's TFLOPS of dense operations of that type; what the page calls the sizes.
large_rows() {
    cat <<'ROWS'
a100 gemm_mma,m=2304,n=1536,k=2048 2*2304*1536*2048 312 2304 x 1536 x 2048: one CTA per SM
a100 gemm_mma,m=2304,n=1536,k=8192 2*2304*1536*8192 312 2304 x 1536 x 8192: the same
a100 gemm_mma,m=2048,n=2048,k=2048 2*2048**3 312 2048^3: 128 CTAs, one per SM, two waves
a100 gemm_mma,m=2048,n=2048,k=2048,type=int8 2*2048**3 624 2048^3
a100 flash_mma,heads=13,count=2048 4*13*2048**2*128 312 13 heads of 2048
h100 gemm_mma,m=2048,n=2048,k=2048 2*2048**3 989 2048^3
h100 gemm_wgmma,m=1536,n=2816,k=4096 2*1536*2816*4096 989 1536 x 2816 x 4096: one CTA per SM
h100 gemm_wgmma,m=1536,n=2816,k=4096,cluster=2 2*1536*2816*4096 989 the same
h100 gemm_wgmma,m=1536,n=2816,k=4096,type=fp8 2*1536*2816*4096 1979 the same
h100 gemm_wgmma,m=1536,n=2816,k=4096,type=fp8,cluster=2 2*1536*2816*4096 1979 the same
h100 flash_wgmma,heads=16,count=2048 4*16*2048**2*128 989 16 heads of 2048
b200 gemm_tcgen05,m=512,n=9472,k=4096 2*512*9472*4096 2250 512 x 9472 x 4096: one CTA per SM
ROWS
}

arch() { # GPU
    case $1 in
    v100) echo sm_70 ;;
    a100) echo sm_80 ;;
    l40) echo sm_89 ;;
    h100) echo sm_90 ;;
    esac
}

# Billions (GB/s) or millions of millions (TFLOPS) per second of a workload on a GPU; "-" where it does not exist there.
rate() { # GPU workload,parameter... work unit
    local gpu=$1 name=${2%%,*} work=$3 unit=$4 words=() p
    case $name:$gpu in
    *_mma:v100 | *_wgmma:[!h]*) echo - && return ;;
    *_wgmma:*) words=(--code sass) ;;
    *_tcgen05:*) words=(--code ptx) ;;
    *) words=(--code sass --arch "$(arch "$gpu")") ;;
    esac
    for p in ${2//,/ }; do [ "$p" = "$name" ] || words+=(-p "$p"); done
    if ! "$W" trace record -w "$name" "${words[@]}" -o "$tmp/t.wwt" -q </dev/null 2>"$tmp/error"; then
        cat "$tmp/error" >&2
        [ "$gpu" = v100 ] && echo - && return
        exit 1
    fi
    rm -f "$tmp/t.db"
    "$W" run -g "$gpu" -t "$tmp/t.wwt" --db "$tmp/t.db" --no-pc -q </dev/null
    if [ "$work" = dram ]; then
        work=32*$("$W" query --db "$tmp/t.db" --csv \
            "SELECT sum(value) FROM launch_counter JOIN counter USING (counter_id) WHERE name = 'dram_sector_read'" | tr -d '\r' | sed -n 2p)
    fi
    "$W" query --db "$tmp/t.db" --csv "SELECT time_us FROM v_run" | tr -d '\r' | sed -n 2p >"$tmp/time"
    python3 -c "print('%.0f' % (($work) / (float(open('$tmp/time').read()) * 1e-6) / ($([ "$unit" = GB/s ] && echo 1e9 || echo 1e12))))"
}

default_table() {
    local name unit work gpu cells
    printf '| workload | unit | v100 | a100 | l40 | h100 |\n|---|---|---|---|---|---|\n'
    default_rows | while read -r name unit work; do
        cells=
        for gpu in v100 a100 l40 h100; do cells="$cells $(rate "$gpu" "$name" "$work" "$unit") |"; done
        echo "| ${name/,/ } | $unit |$cells"
    done
}

large_table() {
    local gpu name work peak sizes figure
    printf '| GPU | workload | sizes | TFLOPS | share of peak |\n|---|---|---|---|---|\n'
    large_rows | while read -r gpu name work peak sizes; do
        figure=$(rate "$gpu" "$name" "$work" TFLOPS)
        echo "| $gpu | $(echo "$name" | tr ',' '\n' | grep -v '^[mnk]=\|^heads=\|^count=' | paste -sd' ') | $sizes | $figure | $(((100 * figure + peak / 2) / peak)) % |"
    done
}

for table in "${@:-default large}"; do for t in $table; do
    case $t in
    default | large) "${t}_table" ;;
    *) sed -n '2,5s/^# //p' "$0" >&2 && exit 2 ;;
    esac
    echo
done; done
