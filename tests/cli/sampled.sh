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
# What it shows by cause and component adds up to its estimate, and so does a comparison with the full replay.
warpwatt run --gpu gtx480 --trace s.wwt --mode full --db r.db -q
warpwatt compare 3 1 --db r.db --json >parts.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/compare.json" parts.json
python3 -c '
import json
p, r = json.load(open("parts.json")), json.load(open("report.json"))
of = [l["occupancy"] for l in r["launches"]]
r = r["total"]
near = lambda a, b: abs(a / b - 1) < 1e-4
print(*(near(sum(c[side] for c in p["time_s_by_cause"].values()), p[side]["time_s"]) for side in ("base", "new")))
print(near(sum(c["new"] for c in p["energy_j_by_component"].values()), p["new"]["energy_j"]))
print(near(sum(r["issue_slots"].values()), 15 * 2 * r["cycles"]), min(of) <= r["occupancy"] <= max(of))
print(0.9 < r["issue_slots"]["issued"] / r["warp_instructions"] < 1.1)
for w in p["warnings"]: print(w)'
warpwatt query --db r.db 'SELECT abs(sum(c.cpi) * v.ipc / 30 - 1) < 1e-4 AS cpi FROM v_cpi_stack c JOIN v_run v USING(run_id) WHERE run_id = 1' --json
warpwatt query --db r.db 'SELECT abs(sum(e.power_w) / v.power_w - 1) < 1e-6 AS watts FROM v_energy e JOIN v_run v USING(run_id) WHERE run_id = 1' --json
warpwatt query --db r.db 'SELECT count(*) = drawn AS all_there FROM run_sampling JOIN run_unit USING(run_id) WHERE run_id = 1' --json
# The same seed draws the same sample.
cycles() { warpwatt run --gpu gtx480 --trace s.wwt --mode sampled --json "$@" | sed -n 's/.*"cycles": \([0-9]*\),.*/\1/p'; }
[ "$(cycles --seed 3)" = "$(cycles --seed 3)" ] || echo 'two runs differ'
# What is too small for a sample is replayed in full.
warpwatt run --gpu gtx480 --trace s.wwt --launches 0-2 --mode sampled | grep -A1 replayed
# A sample that was begun in vain is counted.
warpwatt run --gpu gtx480 --trace s.wwt --mode sampled --target-error 0.01% --json >all.json
python3 -c '
import json
s = json.load(open("all.json"))["sampling"]
print(s["reason"], s["share_replayed"] > 1.01)'
# Fast replay is tried as control variate where many more units are wanted, and left out where it tells too little.
warpwatt run --gpu gtx480 --trace s.wwt --mode sampled --seed 3 --target-error 0.05% --db v.db | grep estimator
warpwatt query --db v.db 'SELECT estimator, fast_units, fast_instructions > 0 AS counted, correlation < pays_from AS little, fast_cost BETWEEN 0.6 AND 1 AS cost FROM run_sampling' --json
warpwatt report --run 1 --db v.db --json | python3 -c '
import json, sys
s = json.load(sys.stdin)["summary"]["sampling"]
print(s["estimator"], s["units_fast"], s["correlation"] < s["pays_from"])'
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
