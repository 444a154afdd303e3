record_small
fails 7 warpwatt query --named runs --db none.db
fails 7 warpwatt report --run 1
echo 'this is not a database, but text that is long enough to be looked at as one' >text.db
fails 8 warpwatt query --named runs --db text.db
fails 8 warpwatt run --gpu v100 --trace a.wwt --db text.db -q
cat text.db
sqlite3 other.db 'CREATE TABLE t (x); INSERT INTO t VALUES (1);'
fails 8 warpwatt run --gpu v100 --trace a.wwt --db other.db -q
sqlite3 other.db 'SELECT * FROM t'
warpwatt run --gpu v100 --trace a.wwt --db r.db -q
cp "$DATA/bad_syntax.json" bad.json
cp r.db broken.db
sqlite3 broken.db "UPDATE gpu SET json = '{'"
fails 8 warpwatt report --run last --json --db broken.db
sqlite3 r.db .dump >before.txt
# Failing runs, queries that would write, missing runs: an error each, and the database is unchanged.
fails 2 warpwatt run --gpu v100 --trace a.wwt --db r.db --mech sched=none
fails 3 warpwatt run --gpu v100 --trace bad.json --db r.db
fails 4 warpwatt run --gpu v100 --trace a.wwt --db r.db --set sm.max_threads=32
fails 8 warpwatt query 'DELETE FROM run' --db r.db
fails 8 warpwatt query 'SELECT no_column FROM run' --db r.db
fails 8 warpwatt query 'SELECT 1; DROP TABLE run' --db r.db
fails 8 warpwatt report --run 99 --db r.db
fails 8 warpwatt compare 1 99 --db r.db
fails 8 warpwatt query --named stalls 999 --db r.db
fails 2 warpwatt query --named stalls abc --db r.db
fails 2 warpwatt query 'SELECT 1 WHERE 1 = ?' --db r.db
fails 2 warpwatt query 'SELECT :one, :two' :two=2 --db r.db
sqlite3 r.db .dump >after.txt
cmp before.txt after.txt
