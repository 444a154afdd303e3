warpwatt gpu list --names
warpwatt gpu list
warpwatt gpu list --json | python3 -c 'import json, sys; print([g["gpu"] for g in json.load(sys.stdin)])'
warpwatt gpu show gtx480 dram.t
warpwatt gpu show gtx480 l2.size_kb --set l2.size_kb=3072 --set l2.size_kb=1536
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
# The list shows what loads; a name inside of the file has a column, if one differs.
echo '{"inherits": "v100", "name": "Dresden"}' >mine/city.json
WARPWATT_MODELS=mine warpwatt gpu list | grep -E '^(GPU|small|city)'
WARPWATT_MODELS=mine warpwatt gpu list --json | grep -o '"gpu": "city", "name": "Dresden"'
WARPWATT_MODELS=mine fails 3 warpwatt run -g Dresden -t a.wwt | cut -d '(' -f 1
# A child of v100 with another process has no power table; the run says what could be used.
echo '{"inherits": "v100", "name": "Dresden", "node_nm": 7}' >mine/city.json
record_small
WARPWATT_MODELS=mine fails 0 warpwatt run -g city -t a.wwt | grep power
WARPWATT_MODELS=mine warpwatt run -g city -t a.wwt --power v100 | grep -c ' W$'
# Several prefixes; each must be one.
warpwatt gpu show gtx480 l2.size_kb dram.channels sm.count
fails 2 warpwatt gpu show gtx480 sm.count nothing.
