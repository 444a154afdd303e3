# Fast replay: what it prints, stores and refuses.
warpwatt trace record -q --code ptx -w vectoradd -p n=8000 --arch sm_70 -o v.wwt
warpwatt run --gpu v100 -t v.wwt --mode fast --db r.db | sed '/computed in/d'
warpwatt run --gpu v100 -t v.wwt --mode full --db r.db -q
warpwatt query --db r.db "SELECT run_id, mode FROM v_run"
warpwatt compare 2 1 --db r.db | grep -i mode
# The ratio has an interval, in text and JSON, also against a full replay.
warpwatt run --gpu v100 -t v.wwt --mode fast --mech sched=lrr --db r.db -q
warpwatt compare 1 3 --db r.db | sed -n '/^warning/p; /^speed-up/,/^$/p'
warpwatt compare 2 3 --db r.db | grep '^time'
warpwatt compare 1 3 --db r.db --json >compare.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/compare.json" compare.json
grep -A1 '"bounds"' compare.json
warpwatt compare 2 2 --db r.db --json | grep -c bounds
warpwatt run --gpu v100 -t v.wwt --mode fast --json | python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/run.json"
warpwatt report --run 1 --db r.db --json | python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/report.json"
# What it does not model is not known; named queries say which runs are fast ones.
warpwatt report --run 1 --db r.db --csv | python3 -c 'import csv, sys; r = next(csv.DictReader(sys.stdin)); print([r[k] for k in ("mem_saturated_cycles", "l2_stall_cycles")], r["lsu_stall_cycles"] != "")'
warpwatt query --named counters 1 --db r.db | grep -E '^(mem_sat|l2_stall)'
warpwatt query --named saturation --db r.db --csv | tr -d '\r' | cut -d, -f1,2,6
warpwatt query --named workloads --db r.db --csv | tr -d '\r' | cut -d, -f1-3,10
warpwatt query --named pareto --db r.db --csv | tr -d '\r' | cut -d, -f2,4
warpwatt query --named speedup --db r.db --csv | tr -d '\r' | cut -d, -f1,2,6,7
# No sweep is there yet.
warpwatt query --named front --db r.db 2>&1 >/dev/null
warpwatt query --named sweeps --db r.db
# Threads change nothing.
warpwatt run --gpu v100 -t v.wwt --mode fast --threads 2 2>&1 | grep -E "note|time"
# The L2's prefetcher is part of it.
warpwatt run --gpu gtx980 -t v.wwt --mode fast 2>/dev/null | grep -c replay
cat >space.json <<'END'
{"gpu": "v100", "traces": ["v.wwt"], "parameters": {"sm.count": [40, 80]}}
END
warpwatt sweep space.json --mode fast --db r.db -j1 -q
warpwatt report --sweep 1 --db r.db | head -n 2
warpwatt query --named sweeps --db r.db | cut -c1-32
# What its calendars and pools do not reach is refused, by name; what is just within the limits is not.
fast() { warpwatt run --gpu v100 -t v.wwt --mode fast --power none "$@" | grep -c "  time"; }
refused() { fails 4 warpwatt run --gpu v100 -t v.wwt --mode fast --power none "$@"; }
refused --set clock.dram_mhz=10
refused --set xbar.latency=1000
refused --set clock.sm_mhz=100 --set xbar.latency=1000 --set l2.latency=100
refused --set l2.mshrs=3
refused --set dram.trefi=100000 --set dram.trfc=4096 --set dram.refresh=all
refused --set dram.trefi=1000 --set dram.trfc=501 --set dram.refresh=all
refused --set dram.trefi=1000 --set dram.trfc=501
fast --set l2.mshrs=4 --set dram.trefi=8190 --set dram.trfc=4095 --set dram.refresh=all
fast --set l2.mshrs=1 --set l1.sector=128 --set l2.sector=128 --set dram.latency=1100
fast --set dram.trefi=10000 --set dram.trfc=5000
fast --set dram.trefi=0 --set dram.trfc=5000
# A queue beyond them may not fill: there is a warning.
fast --set dram.queue=1024
fast --set dram.queue=1025
# In a sweep such a point is invalid.
sed 's/"sm.count": .*/"l2.mshrs": [3, 4]}/; $a}' space.json >mshrs.json
warpwatt sweep mshrs.json --mode fast --db r.db -j1 | sed '/^replays/d'
# A sampled replay takes such machines: there fast replay only guides the estimate.
warpwatt run --gpu v100 -t v.wwt --mode sampled --power none --set l2.mshrs=3 | grep -c "  time"
