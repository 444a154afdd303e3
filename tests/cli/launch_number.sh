# A launch has one number, that in its trace, wherever it is shown.
warpwatt trace record -w bfs -p nodes=512 -o a.wwt -q
warpwatt run -q --gpu gtx480 --trace a.wwt --launches 3 --timeline 2 --db r.db
warpwatt run -q --gpu gtx480 --trace a.wwt --launches 3 --timeline 2 --mech sched=lrr --db r.db
warpwatt report --run 1 --db r.db | sed -n '/^Launches/,/^$/p' | awk '{print $1}'
warpwatt report --run 1 --csv --db r.db | cut -d, -f7
warpwatt report --run 1 --json --db r.db | grep '"index"'
warpwatt report --run 1 --timeline --db r.db | grep -o '"launch": *[0-9]*' | sort -u
warpwatt report --run 1 --run 2 --html r.html --db r.db
grep -o '>[0-9]*</t[dh]><td[^>]*>bfs_[a-z]*' r.html | sed 's/<td[^>]*>/<td>/' | sort -u
for q in launches power points epochs; do
    warpwatt query --named $q :run=1 --csv --db r.db | cut -d, -f1 | sort -u
done
warpwatt query --named power :run=1 :launch=3 --csv --db r.db | wc -l
warpwatt query --named power :run=1 :launch=0 --csv --db r.db | wc -l
warpwatt query 'SELECT DISTINCT launch FROM v_cta' --csv --db r.db
warpwatt query 'SELECT ord, trace_index FROM launch' --csv --db r.db
