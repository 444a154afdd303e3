# Counters of instructions add up to those of the launch, whatever caches, atomics and page walks there are.
sums() {
    warpwatt query --db r.db --csv "WITH c AS (SELECT run_id, counter, value FROM v_counter)
        SELECT l.run_id, sum(p.l1_miss_sectors) > 0 AS some,
        sum(p.l1_miss_sectors) = (SELECT sum(value) FROM c WHERE c.run_id = l.run_id
            AND counter IN ('l1_sector_miss', 'tex_sector_miss')) AS l1_misses,
        sum(p.l1_merged_sectors) = (SELECT sum(value) FROM c WHERE c.run_id = l.run_id
            AND counter IN ('l1_sector_merged', 'tex_sector_merged')) AS l1_merges,
        sum(p.l2_miss_sectors) = (SELECT value FROM c WHERE c.run_id = l.run_id
            AND counter = 'l2_sector_miss') AS l2_misses,
        sum(p.l2_merged_sectors) = (SELECT value FROM c WHERE c.run_id = l.run_id
            AND counter = 'l2_sector_merged') AS l2_merges
        FROM launch l JOIN pc p USING(launch_id) GROUP BY l.run_id"
}
warpwatt trace record -w sgemm -p size=small --arch sm_20 -o sgemm.wwt -q
warpwatt trace record -w histogram -p size=small --arch sm_20 -o histogram.wwt -q
warpwatt trace record -w spmv -p size=small --arch sm_20 -o spmv.wwt -q
for trace in sgemm histogram spmv; do
    for gpu in gtx480 gtx560ti v100; do
        warpwatt run -q --gpu $gpu --trace $trace.wwt --db r.db 2>/dev/null
    done
    warpwatt run -q --gpu gtx480 --trace $trace.wwt --mech fetch=stride_sm --set l1.mshrs=2 --db r.db
done
sums
# The report of source lines has the same.
warpwatt report --run 1 --source --db r.db | sed -n 2p
warpwatt report --run 1 --source --json --most 1000 --db r.db >source.json
warpwatt report --run 1 --json --db r.db >report.json
python3 -c "
import json
lines, whole = json.load(open('source.json'))['lines'], json.load(open('report.json'))['total']['counters']
print(sum(l['l1_merged_sectors'] for l in lines) == whole['l1_sector_merged'] > 0)
print(sum(l['l2_miss_sectors'] for l in lines) == whole['l2_sector_miss'] > 0)"
# A load that strides is told apart from one that does not: what it asks for, and how few sectors would do.
warpwatt trace record -w transpose -p variant=naive -p rows=128 -p cols=128 --arch sm_70 -o naive.wwt -q
warpwatt trace record -w transpose -p variant=padded -p rows=128 -p cols=128 --arch sm_70 -o padded.wwt -q
for trace in naive padded; do
    warpwatt run -q --gpu v100 --trace $trace.wwt --db t.db 2>/dev/null
    warpwatt report --run last --source --db t.db | grep '^warning' || echo "$trace: no warning"
done
warpwatt query --db t.db --csv "SELECT mnemonic, 1.0 * sectors / issues AS each, 1.0 * ideal_sectors / issues AS ideal
    FROM pc JOIN instruction USING(instruction_id) JOIN launch USING(launch_id) WHERE run_id = 1 AND sectors > 0 ORDER BY instruction_id"
warpwatt query --named source :run=1 :most=1 --json --db t.db | grep per_request
warpwatt report --run 1 --html p.html --db t.db 2>/dev/null
grep -o '>[A-Z.]* at 0x[0-9a-f]* (transpose.cu:[0-9]*): .*sectors a request' p.html
