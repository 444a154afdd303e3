# What belongs to every workload; the list of them may grow.
warpwatt trace workloads --names >names.txt
for w in vectoradd saxpy transpose reduction sgemm spmv bfs kmeans stencil histogram; do
    grep -qx $w names.txt || echo "$w is missing"
done
warpwatt trace workloads --json | python3 -c '
import json, sys
for w in json.load(sys.stdin):
    if not w["help"] or len(w["parameters"]) < 2: print(w["name"], "has no help or no parameters")'
# Each records, verifies its output and gives a sound trace, on each machine that it can be lowered to.
while read -r w; do
    for arch in sm_20 sm_52 sm_70; do
        warpwatt trace record -w "$w" -p size=small --arch $arch -o t.wwt --json |
            grep -q '"verified": true' || echo "$w as $arch is not verified"
        warpwatt trace verify t.wwt | grep -q 't.wwt: sound' || echo "the trace of $w as $arch is not sound"
    done
done <names.txt
rm t.wwt
ls
