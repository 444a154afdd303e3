# Kernels of C++ have names for people, and metrics those of Nsight Compute.
record_small sm_20
warpwatt run --gpu gtx480 --trace a.wwt --db r.db -q
sqlite3 r.db "UPDATE kernel SET name = '_ZN3app6reduceINS_4plusIfEELi256EEEvPfS3_i'"
warpwatt report --run 1 --db r.db | sed -n '/^Launches/,/^$/p' | cut -c1-60
warpwatt report --run 1 --db r.db --mangled | sed -n '/^Launches/,/^$/p' | cut -c1-60
warpwatt report --run 1 --db r.db --json | grep '"kernel'
warpwatt query --named launches --db r.db --csv | cut -d, -f1-2
warpwatt query "SELECT short_name(name), whole_name(name), name FROM kernel" --db r.db --csv
warpwatt report --run 1 --db r.db --html page.html
grep -o '<td title="[^>]*>reduce[^/]*/td>' page.html | sort -u
warpwatt report --run 1 --db r.db --timeline | grep -o '"name": "reduce.*args": {' | cut -c1-40
# Figures that mean the same as Nsight Compute's.
warpwatt query "SELECT n.value = l.cycles FROM v_ncu n JOIN launch l ON l.run_id = n.run_id WHERE metric = 'sm__cycles_elapsed.max'" --db r.db --csv
warpwatt query --named ncu --db r.db | wc -l
warpwatt query "SELECT metric, unit FROM v_ncu" --db r.db --csv
# docs/reference/database.md has them all.
warpwatt query "SELECT DISTINCT metric FROM v_ncu WHERE metric NOT LIKE '%stalled%'" --db r.db --csv | tr -d '\r' | sed 1d | while read -r metric; do
    grep -q "\`$metric\`" "$SOURCE/docs/reference/database.md" || echo "$metric is not documented"
done
# Warnings name kernels so, too.
sed 's/\bsoftmax\b/_ZN3app7softmaxILi256EEEvPf/' "$SOURCE/traces/examples/softmax.ptx" >named.ptx
sed 's/"kernel": "softmax"/"kernel": "_ZN3app7softmaxILi256EEEvPf"/' "$SOURCE/traces/examples/softmax.json" >named.json
warpwatt trace record --ptx named.ptx --launch named.json -o named.wwt -q
warpwatt run --gpu gtx480 --trace named.wwt -q 2>&1 | cut -d, -f1
