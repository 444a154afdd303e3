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
# A closed pipe: its reader is gone before the first byte is written.
mkfifo pipe
for what in 'help --format man' 'gpu show v100 --json' 'trace dump a.wwt'; do
    {
        sleep 0.3
        # shellcheck disable=SC2086
        warpwatt $what
        echo "exit $?: $what" >status.txt
    } >pipe 2>err.txt &
    exec 3<pipe 3<&-
    wait $!
    cat status.txt err.txt
done
