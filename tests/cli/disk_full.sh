# A disk without room: the run fails and says so, and no half database is left under its name.
unshare -rm mount -t tmpfs -o size=100k none /mnt 2>/dev/null || skip 'no small disk can be mounted here'
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
unshare -rm bash -c "$try" | sed 's/: [a-z ]*: no space/: no space/'
