# What makes a run differ from one without options is said wherever the run is named.
record_small sm_20
warpwatt run --gpu gtx480 --trace a.wwt --db r.db | head -n 1
warpwatt run --gpu gtx480 --trace a.wwt --set sm.count=10 --set l1.latency=40 --set l2.latency=300 --db r.db | head -n 1
# An override that changes nothing is none.
warpwatt run --gpu gtx480 --trace a.wwt --set sm.count=15 --db r.db | head -n 1
warpwatt run --gpu gtx480 --trace a.wwt --mech sched=lrr --mech governor=static --mech governor.sm=0.9 \
    --cache-control flush --mode full --db r.db | head -n 1
warpwatt compare 1 2 --db r.db | sed -n '/^base/p; /^new/p; /^What/,/^$/p'
warpwatt compare 3 4 --db r.db | sed -n '/^base/p; /^new/p; /^What/,/^$/p'
warpwatt compare 1 2 --db r.db --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["differences"], d["new"]["overrides"]["sm.count"], d["new"]["code"])'
warpwatt query --named runs --db r.db --csv | cut -d, -f1,4-6
# A table shows all mechanisms of a run.
warpwatt query --named runs --db r.db | grep -c 'governor=none$'
# Launches that were not allowed to overlap.
warpwatt run --gpu gtx480 --trace a.wwt --serialize --db s.db | head -n 1
warpwatt run --gpu gtx480 --trace a.wwt --db s.db | head -n 1
warpwatt query --named runs --db s.db --csv | cut -d, -f1,4
warpwatt compare 2 1 --db s.db | sed -n '/^new/p; /^What/,/^$/p'
warpwatt query --named differences :base=1 :run=2 --db r.db
warpwatt query --named differences --db r.db --csv
warpwatt report --run 4 --db r.db | head -n 1
warpwatt report --run 4 --db r.db --markdown | sed -n '5p; /^###/p'
warpwatt report --run 4 --db r.db --csv | cut -d, -f26-27
warpwatt report --run 1 --run 2 --run 4 --db r.db --html page.html
grep -c 'gtx480 with l1.latency=40' page.html
grep -o '<p class="named">.*</p>' page.html
grep -o '>1 a<\|>4 a [^<]*<' page.html | sort -u
warpwatt query "SELECT key, value, base FROM run_override" --db r.db
# Also where it is not known what was overridden, as of runs that an older version stored.
sqlite3 r.db 'DELETE FROM run_override'
warpwatt compare 2 1 --db r.db | sed -n '/^new/p; /^What/,/^$/p' | cut -c1-30
# A model's own power table is looked for beside the model, wherever the command runs.
mkdir -p boards/tables
cp "$SOURCE/power/tables/v100.json" boards/tables/cool.json
cat >boards/mine.json <<'X'
{"inherits": "v100", "power_table": "tables/cool.json", "sources": {}}
X
warpwatt gpu show boards/mine.json | grep -o 'power_table *[a-z/.]*' | tr -s ' '
(cd boards/tables && warpwatt gpu show ../mine.json | grep -o 'power_table *[a-z/.]*' | tr -s ' ')
