# Ctrl-C during a recording and during a replay: exit code 130, nothing left behind, the database unchanged.
warpwatt trace record -w saxpy -p size=small -o a.wwt -q
warpwatt run --gpu v100 --trace a.wwt --db r.db -q
sqlite3 r.db .dump >before.txt
# Waits until the program catches SIGINT, which on a busy machine takes a while; of `timeout` its child.
catches_int() {
    local pid=$1 i caught
    for i in $(seq 100); do
        [ "$2" != timeout ] || pid=$(pgrep -P "$1" | head -n 1)
        caught=$(sed -n 's/^SigCgt:.*\(.\)$/\1/p' "/proc/${pid:-none}/status" 2>/dev/null)
        case $caught in 2 | 3 | 6 | 7 | a | b | e | f) return 0 ;; esac
        sleep 0.1
    done
}
stop() {
    "$@" >out.txt 2>err.txt &
    local pid=$! status=0
    sleep 0.3
    catches_int "$pid" "$1"
    while [ -n "${until-}" ] && [ ! -s "$until" ]; do sleep 0.1; done
    kill -INT $pid
    wait $pid || status=$?
    echo "exit $status"
    cat out.txt err.txt
}
set -m # background jobs of a script ignore SIGINT otherwise
stop warpwatt trace record -w sgemm -p size=large -o b.wwt
# A CTA that does not end.
cat >loop.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.visible .entry k() {
    .reg .b32 %r;
    .reg .pred %p;
    mov.u32 %r, 0;
L:  add.u32 %r, %r, 1;
    setp.ne.u32 %p, %r, 0xfffffff0;
    @%p bra L;
    ret;
}
END
echo '{"kernel": "k", "grid": 1, "block": 32}' >loop.json
stop timeout --foreground -s KILL 60 warpwatt trace record --ptx loop.ptx --launch loop.json
# A ptxas that does not end is ended, too.
cat >slow <<'END'
#!/bin/sh
case $1 in
--version) echo "Cuda compilation tools, release 12.4, V12.4.131" ;;
--help) echo "Allowed values: 'sm_70','sm_75'." ;;
*) echo $$ >pid; exec sleep 100 ;;
esac
END
chmod +x slow
until=pid stop timeout --foreground -s KILL 60 env WARPWATT_PTXAS="$PWD/slow" XDG_CACHE_HOME="$PWD" warpwatt trace record -w saxpy -p n=1000 --code sass
kill -0 "$(cat pid)" 2>/dev/null && echo 'still there'
rm loop.ptx loop.json slow pid
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
