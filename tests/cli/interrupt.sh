# Ctrl-C during a recording and during a replay: exit code 130, nothing left behind, the database unchanged.
warpwatt trace record -w saxpy -p size=small -o a.wwt -q
warpwatt run --gpu v100 --trace a.wwt --db r.db -q
sqlite3 r.db .dump >before.txt
stop() {
    "$@" >out.txt 2>err.txt &
    local pid=$! status=0
    sleep 0.3
    kill -INT $pid
    wait $pid || status=$?
    echo "exit $status"
    cat out.txt err.txt
}
set -m # background jobs of a script ignore SIGINT otherwise
stop warpwatt trace record -w sgemm -p size=large -o b.wwt
warpwatt trace record -w saxpy -p n=4000000 -o h.wwt -q
stop warpwatt run --gpu gtx480 --trace h.wwt --db r.db --mech sched=lrr
sqlite3 r.db .dump >after.txt
cmp before.txt after.txt
# An export, into a folder that is made for it and into one that has files.
mkdir full
echo mine >full/notes
for folder in new full; do stop warpwatt trace export accelsim h.wwt -o $folder --xz -q; done
ls -A full
ls -A
