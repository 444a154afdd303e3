# Sourced before each test of this folder.

# fails CODE COMMAND...: the command must exit with CODE; its stderr is printed to stdout, its stdout too.
fails() {
    local expected=$1 status=0
    shift
    "$@" 2>&1 || status=$?
    [ "$status" = "$expected" ] || echo "exit $status, expected $expected: $*"
}

# skip REASON: what the test needs is not to be had here.
skip() {
    echo "$*" >&2
    exit 77
}

# A small trace, a.wwt, of 4,096 threads.
record_small() {
    warpwatt trace record --workload saxpy --param n=4096 --arch "${1:-sm_70}" -o a.wwt -q
}
