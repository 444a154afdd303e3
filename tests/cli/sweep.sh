cp "$SOURCE/reports/examples/sweep.json" space.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/sweep.json" space.json
warpwatt sweep space.json -j1 --db r.db
warpwatt sweep space.json -j2 --db r.db
warpwatt sweep space.json --strategy latin --points 5 --seed 3 --db r.db
warpwatt query --named sweeps --db r.db | cut -c1-66
warpwatt query --named front :sweep=1 --db r.db --csv | cut -d, -f1,2
# A condition that couples two parameters leaves no effect of either; "with" in its place does.
warpwatt query --named sensitivity :sweep=1 --db r.db --csv 2>&1
cp r.db with.db
warpwatt sweep "$SOURCE/reports/examples/sweep_with.json" -j1 --db with.db
warpwatt query --named sensitivity :objective=time --db with.db --csv | cut -d, -f2-3 | sort
# Points that cannot be are stored with their reason, and the others computed.
cat >invalid.json <<'END'
{"gpu": "gtx480", "traces": [{"workload": "saxpy", "parameters": ["n=4096"]}],
 "parameters": {"l1.size_kb": [16, 48], "sm.max_threads": [1536, 32]}}
END
warpwatt sweep invalid.json -j1 --db r.db
warpwatt query 'SELECT ord, feasible, reason <> "" AS has_reason FROM sweep_point WHERE sweep_id = 3' --db r.db
warpwatt query --named explored :sweep=3 --db r.db | sed 's/.*[-0-9]  //'
# No point can be: exit code 3, with the reason also where nothing else is printed.
sed 's/1536, 32/64, 32/' invalid.json >cannot.json
fails 3 warpwatt sweep cannot.json -j1 --db r.db
fails 3 warpwatt sweep cannot.json -j1 -q --db r.db
# A part of it is no mistake yet.
warpwatt sweep cannot.json --shard 1 --of 2 --into part.db -j1 -q
# Sizes that share an array move together: the summary says how, and a space that does so has no invalid point.
cat >alone.json <<'END'
{"gpu": "v100", "traces": [{"workload": "saxpy", "parameters": ["n=4096"]}], "objectives": ["time"],
 "parameters": {"l1.size_kb": [32, 64, 128], "sm.count": [40, 80]}}
END
warpwatt sweep alone.json -j1 --db t.db | tee alone.txt
line=$(sed -n 's/.*add to "parameters": //p' alone.txt)
sed "s/\"sm.count\"/$line, \"sm.count\"/" alone.json >together.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/sweep.json" together.json
warpwatt sweep together.json -j1 --db t.db
warpwatt query --named explored --db t.db --csv | cut -d, -f2
warpwatt query --named sensitivity :objective=time --db t.db --csv | cut -d, -f2-3 | sort
warpwatt sweep together.json --strategy random --points 3 -j1 --db t.db | head -n 1
sed 's/32, 64, 128/16, 32/; s/, "sm.count": .40, 80.//' alone.json >small.json
fails 3 warpwatt sweep small.json -j1 -q --db t.db
# An adaptive sweep replays what its budget allows, and what it knows of the others is kept apart.
# Which points these are depends on the fitted constants of the analytical model.
warpwatt sweep space.json --strategy adaptive --budget 50% -j1 --db a.db | sed 's/[0-9]* outside/N outside/'
warpwatt sweep space.json --strategy adaptive --budget 50% -j2 --db a.db | sed 's/[0-9]* outside/N outside/'
warpwatt query 'SELECT fidelity, count(*), count(round) FROM sweep_candidate GROUP BY fidelity' --db a.db
warpwatt query --named candidates --db a.db --csv | cut -d, -f1,2
# Mistakes.
wrong() {
    echo "$2" >wrong.json
    fails "$1" warpwatt sweep wrong.json --db wrong.db
}
wrong 3 '{'
wrong 3 '[]'
wrong 3 '{"gpu": "gtx480"}'
wrong 3 '{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"sm.cuont": [1]}}'
wrong 3 '{"gpu": "gtx480", "traces": [{"workload": "saxpi"}], "parameters": {"sm.count": [1]}}'
wrong 3 '{"gpu": "gtx480", "traces": ["a.wwt", "b/a.wwt"], "parameters": {"sm.count": [1]}}'
wrong 3 '{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"sm.count": [1]}, "conditions": ["sm.count > "]}'
wrong 7 '{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"sm.count": [1]}}'
wrong 3 '{"gpu": "no_such_gpu", "traces": ["a.wwt"], "parameters": {"sm.count": [1]}}' 2>&1 | sed 's/(looked .*//'
wrong 3 '{"gpu": "gtx480", "power": "none_such", "traces": ["a.wwt"], "parameters": {"sm.count": [1]}}' 2>&1 | sed 's/(looked .*//'
wrong 3 '{"gpu": "gtx480", "traces": [{"workload": "saxpy", "parameters": ["m=7"]}], "parameters": {"sm.count": [1]}}'
wrong 3 '{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"sm.count": [4, 2.5]}}'
wrong 3 '{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"l1.latency": [20, "fast"]}}'
wrong 3 '{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"l1.enabled": [true, "maybe"]}}'
wrong 3 '{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"dram.page": ["ajar"]}}'
wrong 3 '{"gpu": "v100", "traces": ["a.wwt"], "parameters": {"l1.size_kb": [1, 2], "sm.shared_kb": {"with": "l1.size_kb", "levels": [1]}}}'
wrong 3 '{"gpu": "v100", "traces": ["a.wwt"], "parameters": {"sm.shared_kb": {"with": "l1.size_kb", "levels": [1]}}}'
wrong 3 '{"gpu": "v100", "traces": ["a.wwt"], "parameters": {"sm.shared_kb": {"with": "sm.shared_kb", "levels": [1]}}}'
record_small sm_20
wrong 3 '{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"sm.count": [1]}, "constraints": ["no_column > 1"]}'
wrong 3 '{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"sm.count": [1]}, "constraints": ["1) FROM run; --"]}'
wrong 4 '{"gpu": "gtx480", "power": "none", "traces": ["a.wwt"], "parameters": {"sm.count": [1]}, "objectives": ["edp"]}'
fails 2 warpwatt sweep space.json --strategy clever --db r.db
fails 2 warpwatt sweep space.json --budget 5% --db r.db
# Why an adaptive sweep replays nothing.
small() {
    echo '{"gpu": "gtx480", "traces": [{"workload": "saxpy", "parameters": ["n=1024"]}],' "$1}" >small.json
    warpwatt sweep small.json --strategy adaptive --budget 60% -j1 --db small.db
}
small '"parameters": {"sm.shared_kb": [100000, 200000], "sched": ["lrr", "gto"]}'
small '"parameters": {"sched": ["lrr", "gto"]}, "constraints": ["power_w < 0"]'
small '"parameters": {"sched": ["lrr", "gto"]}, "objectives": [{"name": "none", "sql": "NULL"}]'
fails 2 warpwatt sweep space.json --strategy adaptive --budget 0 --db r.db
fails 2 warpwatt sweep space.json --strategy adaptive --budget 1% --db r.db
fails 2 warpwatt sweep space.json --strategy adaptive --mode sampled --db r.db
fails 2 warpwatt sweep space.json --points 4 --db r.db
fails 2 warpwatt sweep space.json --strategy sobol --db r.db
fails 2 warpwatt sweep space.json -j0 --db r.db
fails 7 warpwatt sweep none.json --db r.db
# An objective that is a column already is no second one, unless it only has the name.
cat >named.json <<'X'
{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"sm.count": [8, 15]},
 "objectives": [{"name": "time", "sql": "power_w", "best": "least"}, "energy", "edp"]}
X
[ -f a.wwt ] || record_small sm_20
warpwatt sweep named.json --db named.db -q
warpwatt query --named front --db named.db --csv | tr -d '\r' | sed 's/[0-9.]*e-[0-9]*/X/g; s/[0-9]*\.[0-9][0-9]*/X/g'
warpwatt report --sweep 1 --db named.db | sed -n '/^  point/p'
