#!/bin/bash
# Records the ten workloads as Fermi and as Volta code, replays each on gtx480 and v100, stores all of it in
# build/quickstart/quickstart.db and prints one table. About two jobs run at a time, one per processor.
set -eu
cd "$(dirname "$0")/.."
OUT=build/quickstart
DB=$OUT/quickstart.db
JOBS=${JOBS:-$(nproc)}
WARPWATT=${WARPWATT:-build/warpwatt}

# One workload on one GPU: record, replay, store. Says how far the whole is.
if [ "${1:-}" = --one ]; then
    workload=$2 gpu=$3 arch=$4
    trace=$OUT/$arch/$workload.wwt
    log=$OUT/$workload-$gpu.log
    start=$(date +%s)
    if ! { "$WARPWATT" trace record --workload "$workload" --arch "$arch" -o "$trace" &&
        "$WARPWATT" run --gpu "$gpu" --trace "$trace" --db "$DB"; } >"$log" 2>&1; then
        echo "quickstart: $workload on $gpu failed:" >&2
        tail -n 5 "$log" >&2
        exit 255 # xargs stops
    fi
    echo done >>$OUT/done
    printf '  [%2d/%d] %-12s %-7s %3d s\n' "$(wc -l <$OUT/done)" "$TOTAL" "$workload" "$gpu" \
        $(($(date +%s) - start))
    exit 0
fi

rm -rf $OUT
mkdir -p $OUT/sm_20 $OUT/sm_70
begin=$(date +%s)
workloads="vectoradd saxpy transpose reduction sgemm spmv bfs kmeans stencil histogram"
list=$(for w in $workloads; do echo "$w v100 sm_70" && echo "$w gtx480 sm_20"; done)
TOTAL=$(echo "$list" | wc -l)
export TOTAL WARPWATT
echo "Recording and replaying ten workloads on two GPUs ($JOBS at a time):"
echo "$list" | xargs -P "$JOBS" -L 1 "$0" --one
echo
"$WARPWATT" query --named workloads --db $DB
echo
echo "What was replayed:"
"$WARPWATT" query "SELECT DISTINCT gpu, CASE WHEN code LIKE 'ptxas%' THEN 'machine code of ' ||
    replace(code, '(substitute)', 'in place of sm_70, for which no ptxas is found')
    ELSE 'PTX, translated to similar instructions' END AS code
    FROM v_launch JOIN v_run USING (run_id) ORDER BY gpu" --db $DB
page=$OUT/report.html
runs=$("$WARPWATT" query "SELECT run_id FROM run ORDER BY trace_path LIMIT 8" --csv --db $DB | tr -d '\r' | sed '1d; s/^/--run /')
# shellcheck disable=SC2086 # words
"$WARPWATT" report $runs --html $page --db $DB
cat <<END

Recorded and replayed in $(($(date +%s) - begin)) s, after the build. All of it is in $DB, and $page shows the
first runs: open it in a browser. Next:

  db=$DB
  $WARPWATT query --named runs --db \$db            the runs and their numbers
  $WARPWATT report --run 1 --db \$db                where one run's cycles and joules went
  $WARPWATT report --run 1 --source --db \$db       its source lines, ranked by stall cycles
  $WARPWATT run --gpu v100 --trace $OUT/sm_70/bfs.wwt --mech sched=lrr --db \$db
  $WARPWATT query --list                            other questions
END
