# What commands say of themselves and of what they did.
record_small sm_20
# A run that is not stored says so; one that is does not, nor does JSON.
warpwatt run --gpu gtx480 --trace a.wwt | tail -n 1
warpwatt run --gpu gtx480 --trace a.wwt --db r.db | grep -c 'not stored' || true
warpwatt run --gpu gtx480 --trace a.wwt --json | grep -c 'not stored' || true
# Completions come from the program's own tables.
warpwatt help --format bash | grep -c -- '--strategy) words=$(echo grid random latin sobol adaptive best 2' || true
warpwatt help --format bash | grep -c -- '--mode) words=$(echo full fast sampled analytic auto 2'
# A sweep as text.
cat >space.json <<'END'
{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"sm.count": [4, 8, 15], "sched": ["lrr", "gto"]}}
END
warpwatt sweep space.json --db r.db -j1 -q
warpwatt report --sweep 1 --db r.db
# JSON of what was done.
warpwatt sweep space.json --db s.db --json >sweep.out.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/sweep_summary.json" sweep.out.json
warpwatt merge s.db --db m.db --json
warpwatt trace verify a.wwt --json
schema() { python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/$1.json" && echo "as reports/schema/$1.json"; }
warpwatt trace slice a.wwt --ctas 0 -o part.wwt -q --json | schema trace_info
warpwatt trace merge a.wwt part.wwt -o joined.wwt -q --json | schema trace_info
warpwatt trace record -w reduction -p size=small --arch sm_20 -o shared.wwt -q
warpwatt trace transform hw shared.wwt -o hw.wwt -q --json | schema trace_info
warpwatt trace dump a.wwt --warp 0 --json | schema trace_dump
warpwatt trace dump a.wwt --warp 0 --json | python3 -c 'import json, sys
print(next(i for i in json.load(sys.stdin) if "addresses" in i)["sources"])'
# A parameter's bounds and meaning stand beside its value.
warpwatt gpu show gtx480 l1.size
