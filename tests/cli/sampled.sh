# A sampled run: its interval, what it replayed, stored and read back, compared with another design's.
warpwatt trace record -q -w stencil -p size=small -p iterations=60 --arch sm_20 -o s.wwt
warpwatt run --gpu gtx480 --trace s.wwt --json >full.json
warpwatt run --gpu gtx480 --trace s.wwt --mode sampled --seed 3 --db r.db --json >sampled.json
warpwatt run --gpu gtx480 --trace s.wwt --mode sampled --seed 3 --db r.db --mech sched=lrr --json >lrr.json
warpwatt compare 1 2 --db r.db --json >compare.json
warpwatt report --run 1 --db r.db --json >report.json
for name in run:sampled compare:compare report:report; do
    python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/${name%%:*}.json" "${name##*:}.json"
done
python3 -c '
import json
full, sampled, compare, report = (json.load(open(n + ".json")) for n in ("full", "sampled", "compare", "report"))
lo, hi = sampled["interval"]["cycles"]
s = sampled["sampling"]
print(sampled["mode"], lo < full["cycles"] < hi, (hi - lo) / 2 < 0.03 * full["cycles"], s["reason"])
print(sampled["warp_instructions"] == full["warp_instructions"], s["launches"], s["launches_replayed"] < 30, sampled["model_error"])
print(s["warp_instructions_replayed"] < 0.5 * full["warp_instructions"], s["warp_instructions_warmed"] > 0)
print(report["summary"]["sampling"]["units_drawn"] == s["units_drawn"], compare["paired"]["units"] > 3)'
warpwatt query --db r.db 'SELECT count(*) = drawn AS all_there FROM run_sampling JOIN run_unit USING(run_id) WHERE run_id = 1' --json
# The same seed draws the same sample.
cycles() { warpwatt run --gpu gtx480 --trace s.wwt --mode sampled --json "$@" | sed -n 's/.*"cycles": \([0-9]*\),.*/\1/p'; }
[ "$(cycles --seed 3)" = "$(cycles --seed 3)" ] || echo 'two runs differ'
# What is too small for a sample is replayed in full.
warpwatt run --gpu gtx480 --trace s.wwt --launches 0-2 --mode sampled | grep -A1 replayed
# The suite, on inputs that mean little.
warpwatt validate sampling --small -j2 --json >v.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/validate.json" v.json
python3 -c '
import json
rows = {r["id"]: r for r in json.load(open("v.json"))}
print(rows["smp-cycles-coverage"]["ours"] >= 85, rows["smp-energy-coverage"]["ours"] >= 85, rows["smp-cycles-error"]["within"])'
fails 2 warpwatt run --gpu gtx480 --trace s.wwt --mode sampled --target-error 0
fails 2 warpwatt run --gpu gtx480 --trace s.wwt --mode sampled --confidence 101
fails 2 warpwatt run --gpu gtx480 --trace s.wwt --mode guessed
