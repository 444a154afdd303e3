# Caches and clocks before launches, as a profiler controls them.
record_small
# What is asked for is stored with the run, and compare names it.
warpwatt run --gpu v100 --trace a.wwt --cache-control flush --clock-control base --db r.db -q
warpwatt run --gpu v100 --trace a.wwt --db r.db -q
warpwatt query --db r.db "SELECT key, value FROM run_setting WHERE key LIKE '%control' ORDER BY key" --format csv
warpwatt query --db r.db "SELECT run_id, sm_mhz FROM v_vf ORDER BY run_id" --format csv
warpwatt compare 1 2 --db r.db | grep -o 'cache_control=.*'
# At a limit of power below what the boost clock draws, a run warns, or takes a lower clock.
watts() { sed -n 's/.*"average_power_w": \([0-9.]*\).*/\1/p'; }
most=$(warpwatt run --gpu v100 --trace a.wwt --json | watts)
limit=$(awk "BEGIN { print 0.97 * $most }")
warpwatt run --gpu v100 --trace a.wwt --set board.tdp_w=$limit -q 2>&1 | sed 's,[0-9.]* W,N W,g'
got=$(warpwatt run --gpu v100 --trace a.wwt --set board.tdp_w=$limit --clock-control limit --json | watts)
awk "BEGIN { exit !($got > 0.99 * $limit && $got < 1.006 * $limit) }" || echo "$got W at a limit of $limit W"
# Below the limit it stays at boost.
warpwatt run --gpu v100 --trace a.wwt --clock-control limit --json --db r.db | watts | grep -Fx "$most" >most || echo 'not at boost'
rm most
# Mistakes.
fails 2 warpwatt run --gpu v100 --trace a.wwt --cache-control cold
fails 2 warpwatt run --gpu v100 --trace a.wwt --clock-control fast
fails 2 warpwatt run --gpu gtx480 --trace a.wwt --clock-control base
fails 4 warpwatt run --gpu v100 --trace a.wwt --cache-control flush --mode analytic
fails 4 warpwatt run --gpu v100 --trace a.wwt --cache-control flush-once --mode analytic
fails 4 warpwatt run --gpu v100 --trace a.wwt --cache-control flush-sm --mode analytic
fails 2 warpwatt run --gpu gtx480 --trace a.wwt --set board.tdp_w=0 --clock-control limit
fails 2 warpwatt run --gpu v100 --trace a.wwt --power none --clock-control limit
