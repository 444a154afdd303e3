#!/bin/bash
# bench.sh PROGRAM: recorder speed, container size, replay speed, host instructions for each warp instruction under
# callgrind (if valgrind is there), and how many times faster two threads and fast replay are, on named workloads; recorder speed and
# container size also on machine code (if a ptxas is there), the first of these
# also of imported SASS traces of four kinds; peak memory (if there is a python3). One core but where it says two; the best of three.
set -eu
cd "$(dirname "$0")/.."
PROGRAM=${1:-build/warpwatt}
OUT=build/bench
mkdir -p $OUT
rm -f $OUT/rows.new $OUT/kinds.new # of a run that was stopped

field() { # NAME: a number out of a line of JSON
    sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" | head -n 1
}

best() { # FIELD COMMAND...: the smallest value of the field in three runs
    local name=$1 i
    shift
    for i in 1 2 3; do "$@" | field "$name"; done | sort -g | head -n 1
}

# Host instructions of a command under callgrind.
host_instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

host_each() { # GPU TRACE N: host instructions for each of N warp instructions, without what any command costs
    local all none
    all=$(host_instructions "$PROGRAM" run --gpu "$1" --trace "$2" --power none --no-pc -q)
    none=$(host_instructions "$PROGRAM" gpu show "$1" --json)
    echo "$all $none $3" | awk '{printf "%.0f", ($1 - $2) / $3}'
}

printf '%-12s %-7s %14s %14s %10s %12s %12s %12s %12s %8s\n' workload gpu 'warp instr' 'thread instr' 'bytes/wi' \
    'record ti/s' 'replay wi/s' 'host i/wi' '2 threads' fast
while read -r workload gpu arch small; do
    trace=$OUT/$workload-$arch.wwt
    "$PROGRAM" trace record --code ptx -w "$workload" --arch "$arch" -o "$trace" --json >$OUT/record.json
    warp=$(field warp_instructions <$OUT/record.json)
    thread=$(field thread_instructions <$OUT/record.json)
    bytes=$(field bytes_per_warp_instruction <$OUT/record.json)
    record=$(best host_seconds "$PROGRAM" trace record --code ptx -w "$workload" --arch "$arch" -o "$trace" --json)
    replay=$(best host_seconds "$PROGRAM" run --gpu "$gpu" --trace "$trace" --power none --no-pc --json)
    two=$(best host_seconds "$PROGRAM" run --gpu "$gpu" --trace "$trace" --power none --no-pc --json --threads 2)
    fast=$(best host_seconds "$PROGRAM" run --gpu "$gpu" --trace "$trace" --power none --no-pc --json --mode fast)
    host=-
    if command -v valgrind >/dev/null; then
        # A smaller input of the same kernel, since callgrind is slow.
        # shellcheck disable=SC2086 # $small is a list of options
        "$PROGRAM" trace record --code ptx -w "$workload" --arch "$arch" $small -o $OUT/small.wwt --json >$OUT/small.json
        few=$(field warp_instructions <$OUT/small.json)
        host=$(host_each "$gpu" $OUT/small.wwt "$few")
    fi
    echo "$workload $gpu $warp $thread $bytes $record $replay $host $two $fast" | awk '{
        printf "%-12s %-7s %14d %14d %10.3f %12.3g %12.3g %12s %11.2fx %7.2fx\n", $1, $2, $3, $4, $5, $4 / $6, $3 / $7, $8, $7 / $9,
            $7 / $10}' |
        tee -a $OUT/rows.new
done <<END
sgemm v100 sm_70 -p m=160 -p n=128 -p k=64
stencil v100 sm_70 -p nx=64 -p ny=32 -p nz=32
reduction v100 sm_70 -p n=200000
histogram v100 sm_70 -p n=200000
bfs v100 sm_70 -p nodes=30000
spmv gtx480 sm_20 -p rows=20000
END
mv $OUT/rows.new $OUT/rows
awk '{r += log($6); p += log($7); b += log($5); t += log($9); f += log($10); n++; if ($8 != "-") {h += log($8); m++}}
    END {printf "geometric means: record %.3g thread instr/s, replay %.3g warp instr/s, %.3f bytes/warp instr, two threads %.2f times one, fast replay %.2f times full",
         exp(r / n), exp(p / n), exp(b / n), exp(t / n), exp(f / n); if (m) printf ", %.0f host instr/warp instr", exp(h / m); print ""}' $OUT/rows

# Launches that leave most of a GPU idle: what each costs, compared with an empty command.
"$PROGRAM" trace record --code ptx -w bfs --arch sm_70 -p nodes=600 -o $OUT/launches.wwt -q
launches=$("$PROGRAM" trace info $OUT/launches.wwt --json | grep -c "\"launch\":")
seconds=$(best host_seconds "$PROGRAM" run --gpu h100 --trace $OUT/launches.wwt --power none --no-pc --json)
host=-
if command -v valgrind >/dev/null; then host=$(host_each h100 $OUT/launches.wwt "$launches"); fi
echo "$launches $seconds $host" |
    awk '{printf "small launches on h100: %d in %.2f ms, %s host instructions each\n", $1, $2 * 1000, $3}'

# The same workloads as machine code. Processor time in addition to the clock: on a busy machine the clock tells less.
machine_row() { # WORKLOAD
    local trace=$OUT/$1-sass.wwt seconds busy
    "$PROGRAM" trace record --code sass -w "$1" --arch sm_70 -o "$trace" --json >$OUT/record.json 2>$OUT/record.err || return 1
    seconds=$(best host_seconds "$PROGRAM" trace record --code sass -w "$1" --arch sm_70 -o "$trace" --json 2>/dev/null)
    busy=$( (TIMEFORMAT='%U %S'; time "$PROGRAM" trace record --code sass -w "$1" --arch sm_70 -o "$trace" -q 2>/dev/null) 2>&1)
    echo "$1 $(field warp_instructions <$OUT/record.json) $(field thread_instructions <$OUT/record.json)" \
        "$(field bytes_per_warp_instruction <$OUT/record.json) $seconds $busy" | awk '{
        printf "%-12s %14d %14d %10.3f %12.3g %12.3g\n", $1, $2, $3, $4, $3 / $5, $3 / ($6 + $7 + 0.001)}'
}

printf '\n%-12s %14s %14s %10s %12s %12s\n' 'machine code' 'warp instr' 'thread instr' 'bytes/wi' 'record ti/s' 'ti/cpu s'
for workload in sgemm stencil reduction histogram bfs spmv; do
    if ! machine_row $workload; then
        echo "no machine code of sm_70: $(head -n 1 $OUT/record.err)"
        break
    fi
done | tee $OUT/machine
awk '$5 > 0 {r += log($5); c += log($6); b += $4; n++}
    END {if (n) printf "geometric means: record %.3g thread instr/s, %.3g a second of the processor; mean of %.3f bytes/warp instr\n",
        exp(r / n), exp(c / n), b / n}' $OUT/machine

# Imported SASS traces of four kinds on v100, compared with what a cycle-level simulator replays on such a machine.
if ! command -v python3 >/dev/null; then
    echo "no python3: imported SASS traces are left out"
    exit 0
fi

import_kind() { # KIND CTAS FILE: imports what the generator writes; prints the number of warp instructions
    python3 tests/bench/sass_kinds.py "$1" $OUT/kind.traceg "$2"
    "$PROGRAM" trace import accelsim $OUT/kind.traceg -o "$3" --strict --json | field warp_instructions
    rm $OUT/kind.traceg
}

printf '\n%-12s %-7s %14s %12s %12s %8s %12s %8s\n' 'SASS kind' gpu 'warp instr' 'replay wi/s' 'cycle-level' ratio 'host i/wi' fast
while read -r kind ctas level; do
    warp=$(import_kind "$kind" "$ctas" "$OUT/sass-$kind.wwt")
    replay=$(best host_seconds "$PROGRAM" run --gpu v100 --trace "$OUT/sass-$kind.wwt" --power none --no-pc --json)
    fast=$(best host_seconds "$PROGRAM" run --gpu v100 --trace "$OUT/sass-$kind.wwt" --power none --no-pc --json --mode fast)
    host=-
    if command -v valgrind >/dev/null; then
        few=$(import_kind "$kind" $((ctas / 4)) $OUT/small.wwt)
        host=$(host_each v100 $OUT/small.wwt "$few")
    fi
    echo "$kind $warp $replay $level $host $fast" | awk '{
        printf "%-12s %-7s %14d %12.3g %12d %8.0f %12s %7.2fx\n", $1, "v100", $2, $2 / $3, $4, $2 / $3 / $4, $5, $3 / $6}' |
        tee -a $OUT/kinds.new
done <<END2
copy 1280 14000
arith 1280 110000
gather 1280 1000
tiles 320 56000
END2
mv $OUT/kinds.new $OUT/kinds
awk '{p += log($4); r += log($6); f += log($8); n++}
    END {printf "geometric means: replay %.3g warp instr/s, %.0f times cycle-level, fast replay %.2f times full\n",
        exp(p / n), exp(r / n), exp(f / n)}' $OUT/kinds

# Peak memory of replays with one thread: of the traces above, that which takes most.
peak_mb() { # GPU TRACE
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' \
        "$PROGRAM" run --gpu "$1" --trace "$2" --power none --no-pc -q
}

while read -r gpu trace; do
    echo "$(peak_mb "$gpu" "$OUT/$trace.wwt") $trace on $gpu"
done <<END3 | sort -n | tail -n 1 | awk '{mb = $1; $1 = ""; print "peak memory of a replay with one thread: at most " mb " MB," $0}'
v100 sgemm-sm_70
v100 stencil-sm_70
v100 reduction-sm_70
v100 histogram-sm_70
v100 bfs-sm_70
gtx480 spmv-sm_20
v100 sass-copy
v100 sass-arith
v100 sass-gather
v100 sass-tiles
END3
