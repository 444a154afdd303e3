# What -o names is looked at before any work: only a regular file is ever replaced, what is none is written to.
record() { fails "$1" warpwatt trace record --workload saxpy -p size=small -q -o "$2"; }
mkfifo pipe
mkdir folder
record 2 folder
record 2 -
record 2 ''
ln -s pipe to_pipe
ln -s loop loop
record 7 loop
cat pipe >from_pipe.wwt &
record 0 to_pipe
wait $!
warpwatt trace verify from_pipe.wwt
record 0 /dev/null
record 7 /dev/full
stat -c '%F' pipe folder to_pipe /dev/null
# A symbolic link stays; its file is replaced, or made.
mkdir there
: >there/a.wwt
ln -s there/a.wwt link
ln -s there/b.wwt new_link
record 0 link
record 0 new_link
readlink link new_link
warpwatt trace verify there/a.wwt
cmp there/a.wwt there/b.wwt
cmp there/a.wwt from_pipe.wwt
# A file of another kind stays.
echo old >other
record 2 other
fails 2 warpwatt trace slice link --launches 0 -o other
# The program is not even started.
fails 2 warpwatt trace record -o other -- touch started
cat other
ls
