# Caches and clocks before launches, as a profiler controls them.
record_small
# What is asked for is stored with the run, and compare names it.
warpwatt run --gpu v100 --trace a.wwt --cache-control flush --clock-control base --db r.db -q
warpwatt run --gpu v100 --trace a.wwt --db r.db -q
warpwatt query --db r.db "SELECT key, value FROM run_setting WHERE key LIKE '%control' ORDER BY key" --format csv
warpwatt query --db r.db "SELECT run_id, sm_mhz FROM v_vf ORDER BY run_id" --format csv
warpwatt compare 1 2 --db r.db | grep -o 'cache_control=.*'
# Mistakes.
fails 2 warpwatt run --gpu v100 --trace a.wwt --cache-control cold
fails 2 warpwatt run --gpu v100 --trace a.wwt --clock-control fast
fails 2 warpwatt run --gpu gtx480 --trace a.wwt --clock-control base
fails 4 warpwatt run --gpu v100 --trace a.wwt --cache-control flush --mode analytic
