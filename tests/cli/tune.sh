# Variants of a program: swept, ranked, found; what does not build, launch or compute the same is a row.
cp "$SOURCE"/traces/examples/transpose* .
sed 's/2048/512/g' transpose-ptx.json >space.json
export WARPWATT_CODE=ptx XDG_CACHE_HOME=$PWD/cache
warpwatt sweep space.json -j2 --db r.db
warpwatt sweep space.json -j1 --db r.db
warpwatt query --named variants :percent=20 --db r.db --csv | cut -d, -f1-5,7-10,15-16
warpwatt report --sweep last --db r.db | head -1
warpwatt query --named nearest ':at=TILE=32 PAD=1' :most=1 --db r.db --csv | cut -d, -f1-3
# The best one, by few replays; a second time from what is stored.
warpwatt sweep space.json --strategy best -j2 --db best.db | sed 's/with .* confidence/with N % confidence/'
warpwatt query --named best --db best.db --csv | cut -d, -f1-2,4
# Shards join to the same rows as a whole sweep.
rows() {
    for table in sweep_point sweep_setting sweep_variant sweep_value; do sqlite3 "$1" "SELECT * FROM $table"; done
}
warpwatt sweep space.json --shard 1 --of 2 --into s1.db -q -j1
warpwatt sweep space.json --shard 2 --of 2 --into s2.db -q -j1
warpwatt merge s2.db s1.db --db merged.db
rows r.db | sort >whole.txt
rows merged.db | sort >merged.txt
cmp whole.txt merged.txt && wc -l <whole.txt
# Measured times beside: the table's rows may be others, too.
printf 'TILE\tPAD\tROWS\ttime_ms\n16\t0\t1\t0.02\n16\t1\t1\t0.019\n32\t0\t4\t0.03\n32\t1\t4\t0.01\n8\t1\t1\t0.5\n' >measured.tsv
warpwatt correlate --space measured.tsv --db r.db | sed 's/[0-9.]* % mean.*/N/'
fails 3 warpwatt correlate --space measured.tsv --column seconds --db r.db
fails 2 warpwatt correlate --space measured.tsv --gpu v100 --db r.db
# Only the table's rows.
sed 's/"program": {/"program": {"variants": "measured.tsv",/' space.json >some.json
warpwatt sweep some.json --db some.db
# A variant that cannot be launched, and one whose output is another one.
sed 's/"TILE \/ ROWS"/"TILE == 16 ? 1024 : TILE \/ ROWS"/' space.json >block.json
warpwatt sweep block.json --db block.db
sed 's/"s32": 512/"s32": "PAD ? 512 : 256"/' space.json >wrong.json
warpwatt sweep wrong.json --db wrong.db
# A build that hangs, one that fails, one that writes nothing.
build() {
    sed 's/"source": "[^"]*"/"timeout_s": 1, "command": '"$1"'/; s/"compare"/"files": [], "compare"/' space.json |
        python3 -c 'import json, sys; s = json.load(sys.stdin); del s["program"]["compare"]; json.dump(s, sys.stdout)' >b.json
    rm -f b.db
    fails 3 warpwatt sweep b.json --db b.db | grep -v replays
}
build '["sleep", "100"]'
build '["sh", "-c", "echo nonsense >\&2; exit 3"]'
build '["true"]'
build '["sh", "-c", "trap : TERM INT; sleep 100; sleep 100; sleep 100"]'
# A command gets parameters in its environment, and writes where it is told.
sed 's/"source": "[^"]*"/"command": ["sh", "-c", "[ $TILE = {TILE} ] \&\& cp transpose_{TILE}_{PAD}_{ROWS}.ptx $WARPWATT_PTX"]/' \
    space.json >command.json
warpwatt sweep command.json --db command.db | sed 's/, [0-9.]* s.*//'
warpwatt sweep command.json --mode analytic --db command.db
# Spaces that are refused.
bad() {
    sed "$1" space.json >bad.json
    fails 3 warpwatt sweep bad.json --db bad.db
}
bad 's/"TILE":/"2TILE":/'
bad 's/"TILE \* TILE \/ ROWS <= 1024"/"TILE < 0"/'
bad 's/"TILE \* TILE \/ ROWS <= 1024"/"TILE <"/'
python3 - <<'END'
import json
s = json.load(open("space.json"))
for name in "ABC": s["program"]["parameters"][name] = {"from": 1, "to": 1000, "step": 1}
del s["program"]["compare"]
json.dump(s, open("large.json", "w"))
END
fails 3 warpwatt sweep large.json --db bad.db
warpwatt sweep large.json --strategy random --points 2 --db random.db
bad 's/"grid": \[/"grid": ["NOBODY",/'
fails 2 warpwatt sweep space.json --strategy adaptive --db bad.db
fails 2 warpwatt sweep space.json --mode sampled --db bad.db
ls bad.db 2>&1 || true
