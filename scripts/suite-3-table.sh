#!/bin/bash
# suite-3-table.sh [GPU...]: TFLOPS of the tensor-core workloads of docs/reference/suite-3.md at their default sizes,
# a Markdown row for each workload and GPU (default: a100 l40 h100). Each is recorded for the GPU's architecture as
# machine code, and replayed. Environment: WARPWATT (build/warpwatt).
set -euo pipefail
cd "$(dirname "$0")/.."
W=${WARPWATT:-build/warpwatt}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Workload, arguments, floating-point operations: 2 m n k of a product; 4 heads count^2 128 of attention.
rows() {
    cat <<'ROWS'
gemm_mma - 2*1024**3
flash_mma - 4*16*768**2*128
gemm_wgmma - 2*1024*2048*1024
gemm_wgmma type=fp8 2*1024*2048*1024
flash_wgmma - 4*16*1024**2*128
ROWS
}

arch() { # GPU -> the architecture that code is recorded for; "": the workload's own
    case $1 in
    a100) echo sm_80 ;;
    l40) echo sm_89 ;;
    *) echo sm_90 ;;
    esac
}

printf '| workload | GPU | cycles | TFLOPS |\n|---|---|---|---|\n'
for gpu in "${@:-a100 l40 h100}"; do for g in $gpu; do
    rows | while read -r name param flops; do
        case $name in
        *_wgmma) [ "$g" = h100 ] || continue; code=() ;;
        *) code=(--arch "$(arch "$g")") ;;
        esac
        [ "$param" = - ] || code+=(-p "$param")
        "$W" trace record -w "$name" "${code[@]}" --code sass -o "$tmp/t.wwt" -q </dev/null
        "$W" run -g "$g" -t "$tmp/t.wwt" --json </dev/null >"$tmp/t.json"
        python3 - "$tmp/t.json" "$name $param" "$g" "$flops" <<'PY'
import json, sys
run, name, gpu, flops = json.load(open(sys.argv[1])), sys.argv[2].replace(" -", ""), sys.argv[3], eval(sys.argv[4])
print(f"| {name} | {gpu} | {run['cycles']:,} | {flops / run['time_s'] / 1e12:.0f} |", flush=True)
PY
    done
done; done
