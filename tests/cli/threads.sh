# Too few threads is no failed check.
record_small
threads() { (
    ulimit -s 70000000000 # KB: no stack of that size fits a thread
    fails 7 warpwatt run --gpu v100 --trace a.wwt --threads 8 -q
); }
threads | sed 's/thread [2-8] of/thread N of/'
