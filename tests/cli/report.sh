# Reports of several runs and of a sweep; what a page has is checked by tests/reports.
record_small sm_20
warpwatt run -q --gpu gtx480 --trace a.wwt --db r.db --timeline 3
warpwatt run -q --gpu gtx480 --trace a.wwt --db r.db --mech sched=lrr
warpwatt run -q --gpu elastic-16 --trace a.wwt --db r.db 2>/dev/null
cat >space.json <<'END'
{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"sm.count": [4, 8]}, "objectives": ["time", "energy"]}
END
warpwatt sweep -q space.json --db r.db
# A page; nothing else is left.
warpwatt report --run 1 --run 2 --run 3 --sweep last --html r.html --db r.db
head -n 1 r.html
tail -n 1 r.html
ls
warpwatt report --run 1 --csv --db r.db | head -n 1 | tr ',' '\n' | sed -n '1,25p' | tr '\n' ' '
echo
warpwatt report --run 1 --run 3 --csv --db r.db | cut -d, -f1-4,8
warpwatt report --sweep 1 --csv --db r.db | cut -d, -f1-2,9,11-
warpwatt report --run 1 --run 3 --markdown --db r.db | cut -d'|' -f1-5 | sed -n '/^## /,/^### /p'
warpwatt report --sweep 1 --markdown --db r.db | head -n 5
warpwatt query 'SELECT count(*) AS ctas FROM v_cta' --csv --db r.db
# What does not go together, and what is not there.
fails 2 warpwatt report --db r.db
fails 2 warpwatt report --run 1 --run 2 --db r.db
warpwatt report --sweep 1 --db r.db
fails 2 warpwatt report --sweep 1 --run 1 --csv --db r.db
fails 2 warpwatt report --run 1 --csv --markdown --db r.db
fails 2 warpwatt report --run 1 --html x.html --json --db r.db
fails 2 warpwatt report --run 1 --run 2 --timeline --db r.db
fails 2 warpwatt report --sweep no --html x.html --db r.db
fails 8 warpwatt report --sweep 9 --html x.html --db r.db
fails 8 warpwatt report --run 9 --html x.html --db r.db
fails 2 warpwatt report --run 1 --html - --db r.db
fails 7 warpwatt report --run 1 --html no/x.html --db r.db 2>/dev/null
ls
