# Too few threads is no failed check.
record_small
echo '{"gpu": "v100", "traces": ["a.wwt"], "parameters": {"l1.latency": [20, 30, 40, 50]}}' >space.json
threads() { (
    ulimit -s 70000000000 # KB: no stack of that size fits a thread
    fails 7 warpwatt run --gpu v100 --trace a.wwt --threads 8 -q
    fails 7 warpwatt sweep space.json -j 4 --db s.db -q
); }
threads | sed 's/thread [2-8] of/thread N of/'
