warpwatt gpu list --names
warpwatt gpu list
warpwatt gpu list --json | python3 -c 'import json, sys; print([g["gpu"] for g in json.load(sys.stdin)])'
warpwatt gpu show gtx480 dram.t
warpwatt gpu show gtx480 l1.size_kb --set l1.size_kb=32 --set l1.size_kb=48
warpwatt gpu show v100 --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["name"], d["sm.count"], list(d) == sorted(d))'
warpwatt gpu diff gtx480 gtx480
warpwatt gpu diff gtx480 v100 | grep -E '^(parameter|sm.count) '
warpwatt gpu diff gtx480 v100 --json | python3 -c 'import json, sys; print([r for r in json.load(sys.stdin) if r["parameter"] == "sm.count"])'
fails 2 warpwatt gpu show gtx480 nothing.
# A model of one's own, found by its directory; the models that come with the source stay.
mkdir mine
echo '{"inherits": "gtx480", "sm": {"count": 3}}' > mine/small.json
WARPWATT_MODELS=mine warpwatt gpu list --names
WARPWATT_MODELS=mine warpwatt gpu show small sm.count
WARPWATT_MODELS=mine warpwatt gpu diff gtx480 small
