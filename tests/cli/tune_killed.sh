# A sweep over a program's variants that is killed, and goes on, ends in the same content as one that was not.
cp "$SOURCE"/traces/examples/transpose* .
export WARPWATT_CODE=ptx XDG_CACHE_HOME=$PWD/cache
sed 's/2048/256/g; s/"source": "[^"]*"/"command": ["sh", "-c", "[ -e slow ] \&\& [ {PAD} = 1 ] \&\& sleep 100; cp transpose_{TILE}_{PAD}_{ROWS}.ptx $WARPWATT_PTX"]/' \
    transpose-ptx.json | python3 -c 'import json, sys; s = json.load(sys.stdin); del s["program"]["compare"]; json.dump(s, sys.stdout)' >space.json
rows() {
    for table in sweep_point sweep_setting sweep_variant sweep_value; do sqlite3 "$1" "SELECT * FROM $table"; done | sort
}
points() { sqlite3 "$1" 'SELECT count(*) FROM sweep_point' 2>/dev/null || echo 0; }
for strategy in grid best; do
    rm -rf cache slow whole.db cut.db
    warpwatt sweep space.json --strategy $strategy -q -j2 --db whole.db
    # The padded ones do not end: the killed sweep has at most the others.
    rm -rf cache
    touch slow
    setsid warpwatt sweep space.json --strategy $strategy -q -j2 --db cut.db &
    for _ in $(seq 100); do [ "$strategy" = grid ] && [ "$(points cut.db)" -ge 1 ] && break; sleep 0.05; done
    kill -9 -- -$!
    wait $! 2>/dev/null || true
    [ "$(points cut.db)" -lt 8 ] && echo "$strategy: killed before its end"
    rm slow
    warpwatt sweep space.json --strategy $strategy -q -j2 --db cut.db
    rows whole.db >whole.txt
    rows cut.db >cut.txt
    cmp whole.txt cut.txt && wc -l <cut.txt
done
