# A design above what its board is built for is marked: in the page of a run, and wherever points of a sweep are listed.
record_small sm_20
watts=$(warpwatt run --gpu gtx480 --trace a.wwt --db r.db --json | sed -n 's/.*"average_power_w": \([0-9.]*\).*/\1/p')
low=$(awk "BEGIN { print 0.5 * $watts }") high=$(awk "BEGIN { print 2 * $watts }")
warpwatt run --gpu gtx480 --trace a.wwt --set board.tdp_w="$low" --db r.db -q 2>/dev/null
warpwatt run --gpu gtx480 --trace a.wwt --set board.tdp_w="$high" --db r.db -q
warpwatt run --gpu gtx480 --trace a.wwt --set board.tdp_w=0 --db r.db -q
for run in 2 3 4; do
    warpwatt report --run $run --html page.html --db r.db
    echo "run $run: $(grep -c 'of the board&#39;s power\|of the board.s power' page.html) figure, $(grep -c 'draw more than the' page.html) note," \
        "$(grep -o 'class="n above"' page.html | wc -l) cells marked"
    grep -o "<span>of the board's power</span> <b>[0-9.]* %" page.html
done
# Of a sweep: half of its points set a board of half of the watts that their launch draws.
cat >space.json <<END
{"gpu": "gtx480", "traces": ["a.wwt"], "parameters": {"board.tdp_w": [$low, $high], "sched": ["gto", "lrr"]},
 "objectives": ["time", "energy"]}
END
warpwatt sweep space.json -j1 -q --db r.db
warpwatt report --sweep 1 --db r.db | sed -n 's/warning: \(.*\), most of all.*/\1/p; s/.*\(above\).*/\1/p' | sort | uniq -c | sed 's/^ *//'
warpwatt query "SELECT 1" --db r.db -q >/dev/null 2>&1
warpwatt query --named explored --db r.db --csv | cut -d, -f1,8 | tr -d '\r'
warpwatt report --sweep 1 --csv --db r.db | head -n 1 | grep -o 'most_w,board_w'
warpwatt report --sweep 1 --markdown --db r.db | grep -c 'draw more than their board is built for'
warpwatt report --sweep 1 --html page.html --db r.db
echo "$(grep -c "<span>board's power</span>" page.html) figure, $(grep -c 'draw more than their board' page.html) note"
# Unknown is not zero.
sed 's/"board.tdp_w": .*, "sched"/"board.tdp_w": [0], "sched"/' space.json >unknown.json
warpwatt sweep unknown.json -j1 -q --db r.db
warpwatt report --sweep 2 --db r.db | grep -c board
warpwatt query --named explored --db r.db --csv | cut -d, -f8 | tr -d '\r'
