# What is written over: a file of the kind that is written, never an input, whatever its name.
record_small
warpwatt run --gpu gtx480 --trace a.wwt --db r.db -q
ln -s r.db link.db
ln r.db hard.db
cp r.db r.keep
for page in r.db link.db hard.db a.wwt; do fails 2 warpwatt report --run 1 --db r.db --html $page; done
cmp r.db r.keep
: >empty.html
warpwatt report --run 1 --db r.db --html empty.html
warpwatt report --run 1 --db r.db --html empty.html
warpwatt report --run 1 --db r.db --html /dev/stdout | head -n 1
# A recording.
fails 2 warpwatt trace record --workload saxpy -p n=4096 -q -o r.db
cmp r.db r.keep
warpwatt trace record --workload saxpy -p n=4096 -q -o a.wwt
warpwatt trace record --workload saxpy -p n=4096 -q -o /dev/stdout | cmp - a.wwt
warpwatt trace slice a.wwt --launches 0 -o /dev/stdout >slice.wwt
warpwatt trace verify slice.wwt
# The file that the shell opened is the one written.
exec 3>opened.wwt
warpwatt trace slice a.wwt --launches 0 -o /dev/fd/3
cmp opened.wwt /dev/fd/3 && cmp opened.wwt slice.wwt && echo same
fails 2 warpwatt trace slice a.wwt --launches 0 -o /dev/fd/3
exec 3>&-
echo 'trace,power_w' >notes.csv
for command in 'slice a.wwt' 'merge a.wwt a.wwt'; do
    # shellcheck disable=SC2086
    fails 2 warpwatt trace $command -o notes.csv
done
fails 2 warpwatt trace record --workload saxpy -p n=4096 -q -o notes.csv
fails 2 warpwatt trace record -o notes.csv -- touch started
# A shard.
cat >space.json <<'END'
{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"l1.latency": [20, 30]}}
END
for into in space.json a.wwt notes.csv; do fails 2 warpwatt sweep space.json --shard 1 --of 2 --into $into -q; done
warpwatt sweep space.json --shard 1 --of 2 --into s1.db -q
warpwatt sweep space.json --shard 1 --of 2 --into s1.db -q
: >s2.db
warpwatt sweep space.json --shard 2 --of 2 --into s2.db -q
warpwatt merge s1.db s2.db --db all.db
# A power table, a GPU, a fit of the analytical model.
warpwatt trace record --workload reduction -p size=small -q -o b.wwt
printf 'trace,power_w\na.wwt,60\nb.wwt,70\n' >fit.csv
power() { fails "$1" warpwatt calibrate power --gpu gtx480 --measured fit.csv --fit fp32 -o "$2" | grep -v '^ \|^f\|^mean'; }
for out in fit.csv a.wwt notes.csv space.json r.db; do power 2 $out; done
power 0 table.json
power 0 table.json
cp table.json own.json
fails 2 warpwatt calibrate power --gpu gtx480 --measured fit.csv --fit fp32 --power own.json -o own.json
cmp own.json table.json
printf 'workload,parameters,metric,value\nsaxpy,n=4096,cycles,3000\nsaxpy,n=8192,cycles,4000\n' >times.csv
timing() { fails 2 warpwatt calibrate timing --gpu "$2" --measured times.csv --fit l1.latency -q -o "$1"; }
printf '{"inherits": "gtx480", "l1.latency": 30}\n' >mine.json
printf '{"inherits": "mine.json"}\n' >child.json
for out in times.csv space.json table.json; do timing $out gtx480; done
timing mine.json mine.json
timing mine.json child.json
printf 'application,trace,gpu,set,cycles,energy_j\nsaxpy,a.wwt,gtx480,,3000,1\n' >replays.csv
for out in replays.csv a.wwt; do fails 2 warpwatt calibrate analytic --measured replays.csv -q -o $out; done
# Figures.
mkdir figures
echo mine >figures/figures.gp
fails 2 warpwatt dissect --gpu gtx480 --only shared -q --plots figures >out.txt
tail -n 1 out.txt
cat figures/figures.gp
# Nothing half-done is left, and inputs are as they were.
cat notes.csv mine.json
ls -a | grep tmp || true
