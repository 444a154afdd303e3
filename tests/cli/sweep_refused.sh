# What a sweep refuses in its SQL; a sweep that fails leaves no database, and what is in one stays.
record_small sm_20
space() {
    echo '{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"sm.count": [1, 2]},' "$1}" >space.json
}
wrong() {
    space "$1"
    fails 3 warpwatt sweep space.json -j1 --db wrong.db ${2:-}
    ls | grep '^wrong' || true
}
objective() { wrong "\"objectives\": [{\"name\": \"o\", \"sql\": \"$1\"}]"; }
# Another value each time.
objective 'random()'
objective 'time_s + abs(random() % 2)'
objective 'length(randomblob(4))'
objective "julianday('now')"
objective "strftime('%s', 'now') + 0"
objective 'CURRENT_TIMESTAMP'
objective 'unixepoch()'
objective 'changes()'
objective 'total_changes()'
objective 'last_insert_rowid()'
objective 'sqlite_version()'
objective '(SELECT max(host_seconds) FROM sweep_result)'
objective "(SELECT max(stored_at) FROM sweep)"
objective '(SELECT page_count FROM pragma_page_count)'
wrong '"constraints": ["RANDOM() > 0"]'
wrong '"constraints": ["time_s < 1 AND DateTime('"'now'"') IS NOT NULL"]'
wrong '"objectives": [{"name": "o", "sql": "random()"}]' --strategy=adaptive
# A text is no objective.
objective "'fast'"
objective "CASE WHEN time_s > 1 THEN 'slow' ELSE 'fast' END"
objective "x'00'"
# One that shows at the first point only; nothing is stored.
objective "(SELECT s.key FROM sweep_setting s WHERE s.sweep_id = p.sweep_id AND s.point = p.point)"
# What follows from the point is taken.
space '"constraints": ["round(sqrt(power(time_s, 2)), 3) >= 0", "(SELECT sum(value) FROM json_each(json_array(1,2))) = 3"],
       "objectives": [{"name": "sms", "sql": "(SELECT value FROM sweep_setting s WHERE s.sweep_id = p.sweep_id AND s.point = p.point)"},
                      {"name": "none", "sql": "NULL"}]'
warpwatt sweep space.json -j1 --db r.db 2>&1
# A point without a finite value of an objective is in no front, which is said, also with -q and by reports.
warpwatt query --named front --db r.db 2>&1
warpwatt report --sweep 1 --db r.db | grep warning
warpwatt report --sweep 1 --db r.db --markdown | grep NULL
space '"objectives": [{"name": "far", "sql": "CASE WHEN (SELECT value FROM sweep_setting s WHERE s.sweep_id = p.sweep_id AND s.point = p.point) = 1 THEN 9e999 ELSE 1 END"}]'
warpwatt sweep space.json -j1 --db r.db -q 2>&1
warpwatt sweep space.json -j1 --db r.db --json | grep without
warpwatt query --named front --db r.db | cut -c1-20
# A database that was there, or holds a point, stays.
warpwatt query --db r.db 'SELECT point, objective, value FROM sweep_value ORDER BY 1' >before.txt
space '"objectives": [{"name": "o", "sql": "random()"}]'
fails 3 warpwatt sweep space.json -j1 --db r.db
warpwatt query --db r.db 'SELECT point, objective, value FROM sweep_value ORDER BY 1' | cmp - before.txt
# A failed merge, too.
: >bad.db
fails 8 warpwatt merge bad.db --db merged.db
ls | grep '^merged' || true
# A query may have a limit, as the expressions of a sweep do.
fails 8 warpwatt query --db r.db --limit-steps 100000 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n'
fails 8 warpwatt query --db r.db --limit-steps 5000000 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n'
warpwatt query --db r.db --limit-steps 100000 'SELECT count(*) AS points FROM sweep_point'
fails 2 warpwatt query --db r.db --limit-steps 0 'SELECT 1'
