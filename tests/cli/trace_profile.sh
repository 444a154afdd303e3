# What the warps of a trace do, and joining traces.
warpwatt trace record --workload transpose --param variant=naive --param size=small -q -o a.wwt
warpwatt trace record --workload saxpy --param size=small -q -o b.wwt
warpwatt trace info a.wwt --profile
warpwatt trace info a.wwt --profile --json >p.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/trace_profile.json" p.json
warpwatt trace merge a.wwt b.wwt -o both.wwt
warpwatt trace verify both.wwt
warpwatt trace info both.wwt | head -n 5
warpwatt trace dump both.wwt --launch 1 >two.txt
warpwatt trace dump b.wwt >one.txt
cmp one.txt two.txt
fails 2 warpwatt trace merge -o none.wwt
fails 7 warpwatt trace merge a.wwt missing.wwt -o none.wwt
# An output that is an input too is refused, also under another name.
cp a.wwt before.wwt
ln -s a.wwt link.wwt
fails 2 warpwatt trace merge a.wwt b.wwt -o a.wwt
fails 2 warpwatt trace merge b.wwt a.wwt -o ./link.wwt
fails 2 warpwatt trace slice a.wwt --ctas 0 -o a.wwt
cmp a.wwt before.wwt
fails 2 warpwatt trace merge $(yes a.wwt | head -n 300) -o none.wwt
fails 7 warpwatt trace info ''
ls -A
