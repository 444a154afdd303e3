# A sweep in shards is the same sweep.
cp "$SOURCE/reports/examples/sweep.json" space.json
export TMPDIR=$PWD
rows() {
    for table in sweep sweep_trace sweep_objective sweep_point sweep_setting sweep_result sweep_value; do
        sqlite3 "$1" "SELECT * FROM $table" | sed 's/20[0-9-]*T[0-9:.]*Z//; s/|[0-9.e-]*$//'
    done
}
warpwatt sweep space.json -j1 --db whole.db -q
for k in 1 2 3; do warpwatt sweep space.json -j1 --shard $k --of 3 --into s$k.db; done
warpwatt merge s3.db s1.db --db r.db
warpwatt merge s1.db s2.db --db r.db
warpwatt merge s1.db s2.db s3.db --db r.db
warpwatt sweep space.json -j1 --db r.db
rows whole.db >whole
rows r.db >merged
cmp whole merged && wc -l <merged
# Neither a replay nor the model leaves anything in the temporary folder.
warpwatt sweep space.json -j1 --mode analytic --db analytic.db -q
ls -d warpwatt-sweep-* 2>&1
rm analytic.db
# A shard that is there is not computed again, one that is in the way of nothing leaves nothing behind.
warpwatt sweep space.json -j1 --shard 2 --of 3 --into s2.db
ls | sed 's/^warpwatt-[0-9]*$/warpwatt-UID/'
ls warpwatt-$(id -u)
# Mistakes.
fails 2 warpwatt sweep space.json --shard 4 --of 3 --into s.db
fails 2 warpwatt sweep space.json --shard 1 --of 13 --into s.db
fails 2 warpwatt sweep space.json --shard 1 --into s.db
fails 2 warpwatt sweep space.json --into s.db
fails 2 warpwatt sweep space.json --shard 1 --of 3 --into s.db --db r.db
fails 6 warpwatt sweep space.json --shard 1 --of 3 --into s.db --sweep-hash 00000000000000000000000000000000 |
    sed 's/([0-9a-f]*,/(HASH,/'
fails 7 warpwatt sweep space.json --shard 1 --of 3 --into none/s.db
fails 2 warpwatt merge r.db --db r.db
fails 7 warpwatt merge none.db --db r.db
head -c 30000 s1.db >damaged.db
fails 8 warpwatt merge damaged.db --db r.db
sqlite3 s1.db 'UPDATE sweep_result SET cycles = cycles + 1 WHERE trace_id = 1'
fails 6 warpwatt merge s1.db --db r.db
# Damage is refused whole, by the name of its file, and no empty database is left.
while read -r sql; do
    cp s2.db bad.db
    sqlite3 bad.db "PRAGMA ignore_check_constraints = ON; $sql"
    fails 8 warpwatt merge s3.db bad.db --db new.db | sed "s/program.s has [0-9]*/program's has N/"
done <<'END'
UPDATE sweep SET points = 'abc'
UPDATE sweep SET points = 3
UPDATE gpu SET json = '{'
DELETE FROM gpu
DELETE FROM sweep_trace WHERE ord = 0
DELETE FROM sweep_objective
UPDATE sweep_trace SET weight = 9e999
UPDATE sweep_trace SET weight = 'a'
UPDATE sweep_point SET ord = 1000 WHERE ord = (SELECT max(ord) FROM sweep_point)
UPDATE sweep_setting SET value = zeroblob(100000)
UPDATE sweep_value SET value = 'text' WHERE objective = 1
UPDATE sweep_value SET value = -9e999
UPDATE sweep_result SET cycles = 'abc'
UPDATE sweep_result SET energy_j = 'abc'
DELETE FROM sweep_result WHERE trace_id = 1
PRAGMA user_version = 7
END
ls new.db 2>&1
# The same sweep with other points.
while read -r sql; do
    cp s2.db bad.db
    sqlite3 bad.db "$sql"
    fails 6 warpwatt merge bad.db --db r.db
done <<'END'
UPDATE sweep SET seed = '1'
UPDATE sweep_trace SET weight = 7 WHERE ord = 1
UPDATE sweep_objective SET sql = 'cycles' WHERE ord = 1
UPDATE sweep_point SET feasible = 1 - feasible
UPDATE sweep_setting SET value = value * 2 WHERE key = 'sm.count'
UPDATE sweep_value SET value = value * 100
END
# A cluster that is not there, and options that do not go together.
mkdir none
program=$(command -v warpwatt)
fails 7 env PATH="$PWD/none" "$program" sweep space.json --engine slurm --db cluster.db
ls cluster.db* 2>&1
fails 2 warpwatt sweep space.json --engine pbs
fails 2 warpwatt sweep space.json --partition debug
fails 2 warpwatt sweep space.json --engine slurm -j2
fails 2 warpwatt sweep space.json --engine slurm --shard 1 --of 2 --into s.db
fails 2 warpwatt sweep space.json --strategy adaptive --shard 1 --of 2 --into s.db
mkdir fake
printf '#!/bin/sh\necho "MaxArraySize = -7"\n' >fake/scontrol
chmod +x fake/scontrol
fails 7 env PATH="$PWD/fake" "$program" sweep space.json --engine slurm --db cluster.db
sed -i 's/-7/1000/' fake/scontrol
fails 2 env PATH="$PWD/fake" "$program" sweep space.json --engine slurm --db cluster.db --dir a%b
ls -d a%b warpwatt-sweep-* 2>&1 || true
