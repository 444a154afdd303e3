# What makes a run's GPU differ from its model is said wherever the run is named.
record_small sm_20
warpwatt run --gpu gtx480 --trace a.wwt --db r.db | head -n 1
warpwatt run --gpu gtx480 --trace a.wwt --set sm.count=10 --set l1.latency=40 --set l2.latency=300 --db r.db | head -n 1
# An override that changes nothing is none.
warpwatt run --gpu gtx480 --trace a.wwt --set sm.count=15 --db r.db | head -n 1
warpwatt compare 1 2 --db r.db | head -n 2 | cut -d, -f1-3
warpwatt query --named runs --db r.db --csv | cut -d, -f1,4
warpwatt report --run 2 --db r.db | head -n 1
warpwatt report --run 1 --run 2 --db r.db --html page.html
grep -c 'gtx480 with l1.latency=40' page.html
warpwatt query "SELECT key, value, base FROM run_override" --db r.db
# Also where it is not known what was overridden, as of runs that an older version stored.
sqlite3 r.db 'DELETE FROM run_override'
warpwatt compare 2 1 --db r.db | sed -n '/^new/p; /^Parameters/,/^$/p' | cut -c1-30
