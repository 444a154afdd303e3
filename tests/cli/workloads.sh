warpwatt trace workloads --names
warpwatt trace workloads --json | python3 -c '
import json, sys
for w in json.load(sys.stdin):
    print(w["name"], bool(w["help"]), len(w["parameters"]) > 1)'
# Each records, verifies its output and gives a sound trace, on each machine that it can be lowered to.
for w in $(warpwatt trace workloads --names); do
    for arch in sm_20 sm_52 sm_70; do
        warpwatt trace record -w "$w" -p size=small --arch $arch -o t.wwt --json |
            python3 -c 'import json, sys; print(json.load(sys.stdin)["verified"], end=" ")'
        warpwatt trace verify t.wwt
    done
done
