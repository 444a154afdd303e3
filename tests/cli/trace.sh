record_small
warpwatt trace info a.wwt
warpwatt trace info a.wwt --json >info.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/trace_info.json" info.json
warpwatt trace verify a.wwt
warpwatt trace dump a.wwt --cta 1 --warp 0 | head -n 5
# The same inputs give the same file.
mv a.wwt first.wwt
record_small
cmp a.wwt first.wwt
# A slice holds what was asked for, and is a trace itself.
warpwatt trace slice a.wwt --ctas 1,3-4 -o part.wwt -q
warpwatt trace verify part.wwt
warpwatt trace dump part.wwt --cta 1 >part.txt
warpwatt trace dump a.wwt --cta 1 >whole.txt
cmp part.txt whole.txt
fails 2 warpwatt trace dump part.wwt --cta 2
fails 2 warpwatt trace dump a.wwt --launch 9
fails 2 warpwatt trace slice a.wwt --ctas 5-3 -o b.wwt
fails 2 warpwatt trace slice a.wwt --launches 7 -o b.wwt
ls -A
