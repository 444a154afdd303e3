warpwatt dissect --gpu v100 --only latency | head -5
warpwatt dissect --gpu gtx980 --only latency --json >latency.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/dissect.json" latency.json
warpwatt dissect --gpu gtx980 --only shared --set sm.count=1 --json >shared.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/dissect.json" shared.json
python3 -c '
import json
s = json.load(open("shared.json"))["shared"]
print(s["latency_cycles"], s["conflict_cycles"], len(s["strides"]), s["best"]["gb_per_s"] == max(p["gb_per_s"] for p in s["copies"]))'
# What is changed is found changed, the same is found the same.
warpwatt dissect --gpu gtx980 --only shared --set sm.count=1 --set shared.latency=40 --json | grep '"latency_cycles"'
warpwatt dissect --gpu gtx980 --only latency --json | cmp - latency.json
warpwatt dissect --gpu gtx980 --only caches --json >caches.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/dissect.json" caches.json
python3 -c '
import json
for c in json.load(open("caches.json"))["caches"]:
    if c["cached"]: print(c["name"], c["size_bytes"], c["line_bytes"], c["kinds"], c["replacement"], c["set_bits"])'
warpwatt dissect --gpu gtx980 --only latency --plots plots -q >text.txt
ls plots | grep -v svg
fails 2 warpwatt dissect
fails 2 warpwatt dissect --gpu gtx980 --only cache
fails 3 warpwatt dissect --gpu nogpu 2>/dev/null
touch file
fails 7 warpwatt dissect --gpu gtx980 --only latency --plots file/x
# Curves: of a GPU of two SMs, for the time's sake.
warpwatt dissect --gpu v100 --only curves --set sm.count=2 --set l2.size_kb=1536 --json >curves.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/dissect.json" curves.json
python3 -c '
import json
c = json.load(open("curves.json"))["curves"]
print([round(p["cycles"]) for p in c["plateaus"]], len(c["streams"]), min(len(c[k]) for k in ("read_same", "read_parts")) > 2)'
