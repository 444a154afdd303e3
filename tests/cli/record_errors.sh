fails 2 warpwatt trace record --workload saxpi -o a.wwt
fails 2 warpwatt trace record --workload saxpy --param m=3 -o a.wwt
fails 2 warpwatt trace record --workload saxpy --param n -o a.wwt
fails 3 warpwatt trace record --workload saxpy --param n=-3 -o a.wwt
fails 2 warpwatt trace record --workload saxpy --arch banana -o a.wwt
fails 2 warpwatt trace record --workload saxpy --arch sm_10 -o a.wwt
# A limit on the size of files is a write error, not a signal.
(ulimit -f 1 && fails 7 warpwatt trace record --workload bfs -p size=small -o a.wwt)
fails 7 warpwatt trace record --workload saxpy -p size=small -o none/a.wwt
fails 7 warpwatt trace record --ptx none.ptx --launch none.json -o a.wwt
cp "$SOURCE/traces/examples/softmax.ptx" "$SOURCE/traces/examples/softmax.json" .
fails 2 warpwatt trace record --ptx softmax.ptx --launch softmax.json -o softmax.ptx
fails 2 warpwatt trace record --ptx softmax.ptx --launch softmax.json -o softmax.json
cmp softmax.ptx "$SOURCE/traces/examples/softmax.ptx"
rm softmax.ptx softmax.json
fails 5 warpwatt trace record --workload saxpy -p size=small --instruction-limit 100 -o a.wwt
# Nothing is left behind by any of them.
ls -A
# A trace that cannot be written is refused before the program starts.
fails 7 warpwatt trace record -o no_folder/a.wwt -- sh -c 'echo started'
fails 7 warpwatt trace record --follow-children -o no_folder/a.wwt -- sh -c 'echo started'
