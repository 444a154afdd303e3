record_small
warpwatt run --gpu v100 --trace a.wwt --db r.db -q
full() {
    local status=0
    "$@" >/dev/full 2>err.txt || status=$?
    echo "exit $status: $*"
    cat err.txt
}
full warpwatt help
full warpwatt gpu list
full warpwatt gpu show v100 --json
full warpwatt trace info a.wwt
full warpwatt trace dump a.wwt
full warpwatt run --gpu v100 --trace a.wwt
full warpwatt run --gpu v100 --trace a.wwt --json
full warpwatt query --named runs --db r.db
full warpwatt report --run 1 --json --db r.db
full warpwatt report --run 1 --db r.db
# A closed pipe.
{ warpwatt help --format man 2>err.txt || echo "exit $?" >status.txt; } | true
sleep 0.2
