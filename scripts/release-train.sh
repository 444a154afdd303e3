#!/bin/sh
# release-train.sh PROGRAM: what the compiler's profile of `make release` is taken of: kernels that compute, stream, gather,
# diverge and synchronise, recorded and replayed on GPUs of three generations, in the modes of `run`.
set -eu
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
while read -r name parameters; do
    for target in "sm_20 gtx480" "sm_70 v100"; do
        # shellcheck disable=SC2086 # words
        set -- $target
        # shellcheck disable=SC2086
        "$program" trace record -q -w "$name" --code ptx --arch "$1" -o "$name-$1.wwt" $parameters
        "$program" run -q --gpu "$2" --trace "$name-$1.wwt" --db r.db
    done
    "$program" run -q --gpu a100 --trace "$name-sm_70.wwt" --db r.db
done <<END
sgemm -p m=160 -p n=128 -p k=64
stencil -p nx=64 -p ny=32 -p nz=32
reduction -p n=200000
histogram -p n=100000
bfs -p nodes=20000
spmv -p rows=10000
vectoradd -p n=262144
END
"$program" run -q --gpu v100 --trace bfs-sm_70.wwt --mode sampled
"$program" run -q --gpu v100 --trace sgemm-sm_70.wwt --mode analytic
if "$program" trace record -q -w sgemm --code sass --arch sm_80 -o sass.wwt -p m=160 -p n=128 -p k=64 2>/dev/null; then
    "$program" run -q --gpu a100 --trace sass.wwt
fi
"$program" report --run 1 --json --db r.db >/dev/null
