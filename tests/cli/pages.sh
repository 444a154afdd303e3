# What a page has to explore: limits by launch, instructions, tooltips of figures, filters of tables.
record_small sm_20
warpwatt run --gpu gtx480 --trace a.wwt --db r.db -q --epoch 256
warpwatt run --gpu gtx480 --trace a.wwt --db r.db -q --epoch 256 --set sm.count=10
warpwatt report --run 1 --run 2 --html page.html --db r.db
# A launch of little work waits for latencies.
sed -n '/<caption>Speed of light/,/<\/table>/p' page.html | grep -c '<td[^>]*>latency</td>'
# All instructions with a counter, those of shared memory and sectors too.
warpwatt query "SELECT count(*) FROM pc JOIN launch USING(launch_id) WHERE run_id = 1" --csv --db r.db | tr -d '\r' | tail -n 1 >rows.txt
sed -n '/<summary>Instructions next to/,/<\/details>/p' page.html | grep -c '<tr><th scope="row"' | awk -v n="$(cat rows.txt)" '{ print ($1 == 2 * n ? "all" : $1 " of " 2 * n) }'
grep -c 'data-rows="along"' page.html
grep -c 'data-rows="down"' page.html
grep -c 'input.type = "search"' page.html
# Time charts zoom, by sliders too.
grep -c 'slider("Zoom from"' page.html
