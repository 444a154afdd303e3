# Fast replay: what it prints, stores and refuses.
warpwatt trace record -q --code ptx -w vectoradd -p n=8000 --arch sm_70 -o v.wwt
warpwatt run --gpu v100 -t v.wwt --mode fast --db r.db | sed '/computed in/d'
warpwatt run --gpu v100 -t v.wwt --mode full --db r.db -q
warpwatt query --db r.db "SELECT run_id, mode FROM v_run"
warpwatt compare 2 1 --db r.db | grep -i mode
warpwatt run --gpu v100 -t v.wwt --mode fast --json | python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/run.json"
warpwatt report --run 1 --db r.db --json | python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/report.json"
# Threads change nothing.
warpwatt run --gpu v100 -t v.wwt --mode fast --threads 2 2>&1 | grep -E "note|time"
# The L2's prefetcher is part of it.
warpwatt run --gpu gtx980 -t v.wwt --mode fast 2>/dev/null | grep -c replay
cat >space.json <<'END'
{"gpu": "v100", "traces": ["v.wwt"], "parameters": {"sm.count": [40, 80]}}
END
warpwatt sweep space.json --mode fast --db r.db -j1 -q
warpwatt report --sweep 1 --db r.db | head -n 2
