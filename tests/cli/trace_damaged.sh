record_small
fails 7 warpwatt trace info none.wwt
echo 'not a trace' >text.wwt
fails 3 warpwatt trace info text.wwt
: >empty.wwt
fails 3 warpwatt trace info empty.wwt
size=$(stat -c %s a.wwt)
head -c $((size / 2)) a.wwt >half.wwt
fails 3 warpwatt trace verify half.wwt
head -c $((size - 1)) a.wwt >short.wwt
fails 3 warpwatt trace verify short.wwt
# One flipped bit anywhere is found, also by a run.
for at in 0 9 100 $((size / 2)) $((size - 20)) $((size - 3)); do
    python3 -c 'import sys
data = bytearray(open("a.wwt", "rb").read())
data[int(sys.argv[1])] ^= 4
open("bad.wwt", "wb").write(data)' "$at"
    status=0
    warpwatt trace verify bad.wwt >/dev/null 2>&1 || status=$?
    [ $status = 3 ] || [ $status = 4 ] || echo "verify of a trace damaged at $at: exit $status"
    status=0
    warpwatt run --gpu gtx480 --trace bad.wwt >/dev/null 2>&1 || status=$?
    [ $status = 3 ] || [ $status = 4 ] || echo "run of a trace damaged at $at: exit $status"
done
