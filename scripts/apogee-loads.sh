#!/bin/bash
# apogee-loads.sh: the workloads of APOGEE's evaluation, each recorded for every number of warps at its default size.
# Prints the Markdown table of docs/reference/workloads.md: thousands of warp instructions for 1, 2, 4, 8, 16 and 32 warps, and
# the share of loads by kind in per cent, least to most over the numbers of warps.
# Environment: WARPWATT (build/warpwatt).
set -euo pipefail
cd "$(dirname "$0")/.."
W=${WARPWATT:-build/warpwatt}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

echo "| workload | 1 | 2 | 4 | 8 | 16 | 32 | fixed offset | one address | texture | other |"
echo "|---|---|---|---|---|---|---|---|---|---|---|"
scenes="hand_shaded wolf_textured wolf_wireframe insect_textured squid_textured engine_shaded room_solid"
for name in ap_fft ap_filter ap_hotspot ap_mergesort ap_shortestpath $scenes; do
    workload=(--workload "$name")
    case $name in ap_*) ;; *) workload=(--workload ap_scene -p "scene=$name") ;; esac
    for warps in 1 2 4 8 16 32; do
        "$W" trace record "${workload[@]}" -p "warps=$warps" --arch sm_20 -o "$tmp/t.wwt" >"$tmp/log"
        "$W" trace info "$tmp/t.wwt" --profile --json >"$tmp/$warps.json"
    done
    python3 - "$tmp" "$name" <<'PY'
import json, sys
KINDS = ("fixed_offset_loads", "invariant_loads", "texture_loads", "other_loads")
row, share = [], []
for warps in (1, 2, 4, 8, 16, 32):
    with open("%s/%d.json" % (sys.argv[1], warps), encoding="utf-8") as f:
        launches = json.load(f)["launches"]
    row.append("%.0f" % (sum(l["warp_instructions"] for l in launches) / 1000))
    share.append([100 * sum(l[k] for l in launches) / sum(l["global_loads"] for l in launches) for k in KINDS])
for kind in zip(*share):
    low, high = "%.1f" % min(kind), "%.1f" % max(kind)
    row.append(low if low == high else low + " to " + high)
print("| " + sys.argv[2] + " | " + " | ".join(row) + " |", flush=True)
PY
done
