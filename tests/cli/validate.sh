warpwatt validate --names | head -1
warpwatt validate models | head -2
warpwatt validate models | tail -1
warpwatt validate models --json > v.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/validate.json" v.json
python3 -c '
import json
rows = {r["id"]: r for r in json.load(open("v.json"))}
r = rows["model-dram-gtx780"]
print(r["paper"], r["unit"], r["test"], r["tolerance"], r["counted"], abs(r["deviation"]) < 0.05, r["within"])'
warpwatt validate models --json -j1 | cmp - v.json
fails 2 warpwatt validate model
fails 2 warpwatt validate --json
fails 2 warpwatt validate models --all
fails 2 warpwatt validate models --jobs 0
# Equalizer's suite with inputs that mean nothing: all machines run, all rows are there.
warpwatt validate equalizer --small -j2 --json >eq.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/validate.json" eq.json
python3 -c '
import json
rows = json.load(open("eq.json"))
ids = {r["id"].split("-")[1] for r in rows if r["paper"] is None}
print(sum(r["paper"] is not None for r in rows), "published,", "figures", *sorted(ids))
print([r["id"] for r in rows if r["ours"] is None and r["paper"] is not None])'
# Recorded programs beside a GPU: a trace of another kernel stands in for a measured program.
warpwatt validate silicon | sed -n '3,$p' | grep -c 'needs recorded programs'
mkdir -p traces/v100-micro/l1_lat
warpwatt trace record -w saxpy -p n=4096 --arch sm_70 --code ptx -q -o traces/v100-micro/l1_lat/sass.wwt
warpwatt validate silicon --traces traces --json >sil.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/validate.json" sil.json
python3 -c '
import json
rows = {r["id"]: r for r in json.load(open("sil.json"))}
r = rows["sil-v100-micro-l1_lat-0"]
print(r["paper"], r["test"], r["tolerance"], r["counted"], r["ours"] > 0, "Accel-Sim 66328, -38.2 %" in r["what"])
e = rows["sil-v100-micro-error-program"]
print(round(e["paper"], 1), e["unit"], e["test"], abs(e["ours"] - 100 * abs(r["deviation"])) < 1e-6, rows["sil-gv100-nn"]["why"])'
