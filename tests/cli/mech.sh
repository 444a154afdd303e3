warpwatt mech list --names
warpwatt mech list
warpwatt mech list --json | python3 -c 'import json, sys; print([(m["kind"], m["name"], m["default"]) for m in json.load(sys.stdin)])'
warpwatt mech show lrr
warpwatt mech show sched=gto --json
fails 2 warpwatt mech show lrrr
