# What a killed program left is taken away by the next one; what a program at work has stays.
export TMPDIR=$PWD/tmp
mkdir tmp
wait_for() { for _ in $(seq 200); do compgen -G "$1" >/dev/null && return; sleep 0.05; done; echo "no $1"; }
warpwatt trace record --workload sgemm -p size=large -q -o a.wwt &
wait_for 'a.wwt.tmp-*'
warpwatt trace record --workload saxpy -p n=4096 -q -o b.wwt
wait_for 'a.wwt.tmp-*'
kill -9 $!
wait $! 2>/dev/null || true
wait_for 'a.wwt.tmp-*'
warpwatt trace record --workload saxpy -p n=4096 -q -o b.wwt
ls -A
cat >space.json <<'END'
{"gpu": "gtx480", "traces": [{"workload": "sgemm", "parameters": ["size=large"]}], "parameters": {"l1.latency": [20, 30]}}
END
warpwatt sweep space.json --db s.db -q &
wait_for 'tmp/*'
kill -9 $!
wait $! 2>/dev/null || true
sed -i 's/sgemm/saxpy/; s/size=large/n=4096/' space.json
warpwatt sweep space.json --db s2.db -q
ls -A tmp
