# What -o names is looked at before any work: only a regular file is ever replaced.
record() { fails "$1" warpwatt trace record --workload saxpy -p size=small -q -o "$2"; }
mkfifo pipe
mkdir folder
record 2 pipe
record 2 folder
record 2 -
record 2 ''
ln -s pipe to_pipe
record 2 to_pipe
ln -s loop loop
record 7 loop
# A device is left alone; only root may make one, and only outside of some containers.
if mknod device c 1 3 2>/dev/null; then record 2 device; else echo 'warpwatt: device: is a device; expected a regular file or a new name'; fi
stat -c '%F' pipe folder to_pipe
# A symbolic link stays; its file is replaced, or made.
mkdir there
echo old >there/a.wwt
ln -s there/a.wwt link
ln -s there/b.wwt new_link
record 0 link
record 0 new_link
readlink link new_link
warpwatt trace verify there/a.wwt
cmp there/a.wwt there/b.wwt
fails 2 warpwatt trace slice link --launches 0 -o pipe
# The program is not even started.
fails 2 warpwatt trace record -o pipe -- touch started
rm -f device
ls
