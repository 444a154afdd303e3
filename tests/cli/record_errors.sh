fails 2 warpwatt trace record --workload saxpi -o a.wwt
fails 2 warpwatt trace record --workload saxpy --param m=3 -o a.wwt
fails 2 warpwatt trace record --workload saxpy --param n -o a.wwt
fails 3 warpwatt trace record --workload saxpy --param n=-3 -o a.wwt
fails 2 warpwatt trace record --workload saxpy --arch banana -o a.wwt
fails 7 warpwatt trace record --workload saxpy -p size=small -o none/a.wwt
fails 7 warpwatt trace record --ptx none.ptx --launch none.json -o a.wwt
fails 5 warpwatt trace record --workload saxpy -p size=small --instruction-limit 100 -o a.wwt
# Nothing is left behind by any of them.
ls -A
