#!/bin/bash
# suite-table.sh [WORKLOAD...]: the workload suite compared with the papers that it follows. Each workload is recorded for
# sm_20 at its default size and replayed on gtx480, on gtx480 with the 32 KiB L1 of the papers, and with 48 KiB (the
# array that it shares with shared memory grows with it).
# Prints a Markdown table, a row per kernel:
#
#   CTAs, warps      CTAs that an SM holds and warps of a CTA: ours, and in brackets those of table 3.2
#   inst/miss        warp instructions per 128-byte line that a load misses in the L1: gtx480, 32 KiB, table 4.3
#   class            C above 30 instructions per miss, M below, by ours on gtx480 and by table 4.3
#   48 KiB           speed-up by an L1 of 48 KiB, and the kind that table 3.2 gives
#
# Tables: A. Sethia, "Equalizer, Mascar and APOGEE" (dissertation, University of Michigan, 2015): 3.2 and 4.3.
# Environment: WARPWATT (build/warpwatt).
set -euo pipefail
cd "$(dirname "$0")/.."
W=${WARPWATT:-build/warpwatt}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Workload and arguments of `trace record`. Registers are given where ptxas's number, not ours, limits the CTAs of
# an SM to those of table 3.2.
runs() {
    cat <<'RUNS'
backprop
bfs -p variant=mask -p block=512 -p nodes=65536
cfd
cutcp --registers 20
histo
histogram -p variant=bytes
kmeans -p variant=rodinia
lavaMD --registers 60
lbm --registers 36
leukocyte
mri_gridding
mri_q --registers 24
mummer --registers 20
particlefilter
pathfinder
sad
sgemm -p variant=rows -p m=768 -p n=240 -p k=96 --registers 42
spmv -p variant=jds -p matrix=mesh -p block=192 -p rows=146689
srad
stencil -p variant=shared -p block_x=32 -p block_y=4 -p ny=192 -p nz=32 -p iterations=1 --registers 50
streamcluster
tpacf
RUNS
}

# Kernel, name in table 4.3, its figure, name in table 3.2, its kind, CTAs, warps; "-": not in that table.
papers() {
    cat <<'PAPERS'
backprop_layerforward BP-1 107 bp-1 unsaturated 6 8
backprop_adjust_weights BP-2 19 bp-2 cache 6 8
bfs_mask_expand bfs 2.4 bfs-1 cache 3 16
bfs_mask_update - - - - - -
cfd_compute_flux - - cfd-2 memory 3 6
cfd_time_step - - cfd-1 memory 3 16
cfd_step_factor - - - - - -
cutcp_lattice cutcp 949 cutcp compute 8 6
histo_prescan histo-1 15.3 histo-1 cache 3 16
histo_main histo-2 35.9 histo-2 compute 3 24
histo_final histo-3 14.3 histo-3 memory 3 16
histo_intermediates - - - - - -
histogram_bytes histogram 91.2 - - - -
kmeans_invert kmeans-1 0.27 kmn-1 cache 6 8
kmeans_point kmeans-2 88 - - - -
lavaMD_forces lavaMD 512 lavaMD compute 4 4
lbm_stream_collide lbm 10.4 lbm memory 7 4
leukocyte_gicov leuko-1 28 leuko-1 memory 6 6
leukocyte_dilate leuko-2 173 leuko-2 compute 8 6
leukocyte_imgvf leuko-3 5289 - - - -
mri_gridding_bin mrig-1 13.4 mri-g-2 unsaturated 3 8
mri_gridding_reorder mrig-2 22.4 mri-g-3 compute 6 8
mri_gridding_gather mrig-3 147 mri-g-1 unsaturated 8 2
mri_q_phi_mag - - - - - -
mri_q_compute mri-q 3479 mri-q compute 5 8
mummer_match mummer 4.9 mmer cache 6 8
particlefilter_likelihood particle 3.5 prtcl-1 cache 3 16
particlefilter_find_index - - prtcl-2 compute 3 16
pathfinder_steps PF 55.83 pathfinder compute 6 8
sad_macroblock sad-1 2563 sad unsaturated 8 2
sad_larger_8 sad-2 10.2 - - - -
sad_larger_16 - - - - - -
sgemm_rows sgemm 75 sgemm compute 6 4
spmv_jds spmv 4.2 spmv compute 8 6
srad_coefficient srad-1 25 - - - -
srad_update srad-2 22 - - - -
stencil_shared stencil 38 stncl unsaturated 5 4
streamcluster_pgain - - sc unsaturated 3 16
tpacf_histogram tpacf 10816 - - - -
PAPERS
}

wanted() { # name: was it asked for?
    local name
    [ ${#only[@]} -eq 0 ] && return 0
    for name in "${only[@]}"; do [ "$name" = "$1" ] && return 0; done
    return 1
}

# Lines "kernel block CTAs instructions missed-lines cycles" of the run in the database $1.
measure() {
    "$W" query --db "$1" --csv "
        SELECT kernel, block, ctas_per_sm, sum(warp_instructions), sum(coalesce(value, 0)) / 4.0, sum(cycles)
        FROM v_launch LEFT JOIN (SELECT launch_id, value FROM launch_counter JOIN counter USING (counter_id)
                                 WHERE name = 'l1_sector_miss') USING (launch_id)
        GROUP BY kernel ORDER BY min(launch)" | tr -d '\r' | sed 1d | tr ',' ' '
}

replay() { # name suffix [option...]
    local name=$1 out=$tmp/$1.$2
    shift 2
    "$W" run --gpu gtx480 --power none --trace "$tmp/$name.wwt" --db "$out.db" --no-pc -q "$@"
    measure "$out.db" >"$out"
}

rows() { # name
    paste -d ' ' "$tmp/$1.gpu" "$tmp/$1.32" "$tmp/$1.48" | awk -v workload="$1" '
        NR == FNR { paper[$1] = $0; next }
        {
            kernel = $1
            split($2, d, "x")
            warps = int((d[1] * d[2] * d[3] + 31) / 32)
            ratio = $5 > 0 ? $4 / $5 : 1e9
            ratio32 = $11 > 0 ? $10 / $11 : 1e9
            if (!(kernel in paper)) paper[kernel] = kernel " - - - - - -"
            split(paper[kernel], p, " ")
            class = ratio > 30 ? "C" : "M"
            want = p[3] == "-" ? "-" : p[3] > 30 ? "C" : "M"
            printf "| %s | %s | %s | %s (%s) | %s (%s) | %s | %s | %s | %s | %s%s | %.2f | %s |\n", workload, kernel,
                p[2], $3, p[6], warps, p[7], show(ratio), show(ratio32), p[3], class, want,
                want != "-" && want != class ? " **differs**" : "", $6 / $18, p[5]
        }
        function show(v) { return v >= 1e9 ? "no miss" : v >= 100 ? sprintf("%.0f", v) : sprintf("%.2f", v) }
    ' <(papers) -
}

only=("$@")
echo "| workload | kernel | table 4.3 | CTAs | warps | inst/miss | at 32 KiB | table 4.3 | class | table 4.3 | 48 KiB | table 3.2 |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
while read -r name arguments; do
    wanted "$name" || continue
    # shellcheck disable=SC2086 # words
    "$W" trace record --code ptx --workload "$name" $arguments --arch sm_20 --out "$tmp/$name.wwt" -q || exit 1
    replay "$name" gpu
    replay "$name" 32 --set sm.array_kb=0 --set l1.size_kb=32
    replay "$name" 48 --set sm.array_kb=0 --set l1.size_kb=48
    rows "$name"
    rm -f "$tmp/$name".*
done < <(runs)
