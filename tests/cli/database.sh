record_small
schema() { python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/$1.json"; }
warpwatt run --gpu gtx480 --trace a.wwt --db r.db -q
warpwatt run --gpu v100 --trace a.wwt --db r.db --json | grep '"run"'
warpwatt run --gpu v100 --trace a.wwt --mech sched=lrr --db r.db -q
warpwatt query 'SELECT count(*) AS runs FROM run' --db r.db
warpwatt query 'SELECT ? AS a, ? AS b' x 7 --db r.db --csv
warpwatt query 'SELECT ? AS a, ? AS b' x 7 --db r.db --json
warpwatt query --named workloads --db r.db --csv | cut -d , -f 1,2
for q in $(warpwatt query --names); do
    warpwatt query --named "$q" --db r.db --json >q.json || echo "query $q fails"
    schema query <q.json || echo "query $q gives no rows of objects"
done
warpwatt report --run 2 --db r.db --json | schema report
warpwatt report --run 2 --db r.db | head -n 3
warpwatt report --run 2 --source --db r.db --json | schema source
warpwatt report --run 2 --source --most 2 --db r.db | wc -l
warpwatt compare 1 2 --db r.db --json | schema compare
warpwatt compare 2 3 --db r.db | head -n 3
# The run that was stored last has a name.
warpwatt report --run last --db r.db | head -n 1
warpwatt compare 1 last --db r.db >last.txt
warpwatt compare 1 3 --db r.db | cmp - last.txt
warpwatt query --named stalls last --db r.db >last.txt
warpwatt query --named stalls 3 --db r.db | cmp - last.txt
rm last.txt
# What sqlite itself says of the file.
sqlite3 r.db 'PRAGMA integrity_check; PRAGMA foreign_key_check;'
ls -A
