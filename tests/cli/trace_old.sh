# Files of older versions of the container mean what they meant.
for version in 1 2; do
    cp "$DATA/version$version.wwt" old.wwt
    warpwatt trace info old.wwt | head -n 1
    warpwatt trace verify old.wwt
    for launch in $(seq 0 $(($(warpwatt trace info old.wwt | grep -c '^launch') - 1))); do
        warpwatt trace dump old.wwt --launch "$launch" --cta 0
        warpwatt trace dump old.wwt --launch "$launch" --cta 2
    done >old.txt
    cksum <old.txt
    head -n 6 old.txt
    # What is written is of the latest version, and means the same.
    warpwatt trace slice old.wwt -o new.wwt -q
    for launch in $(seq 0 $(($(warpwatt trace info new.wwt | grep -c '^launch') - 1))); do
        warpwatt trace dump new.wwt --launch "$launch" --cta 0
        warpwatt trace dump new.wwt --launch "$launch" --cta 2
    done >new.txt
    cmp old.txt new.txt
    warpwatt trace info new.wwt | head -n 1
done
