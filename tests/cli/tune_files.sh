# Kernel Tuner's files: a space to T1 and back, results as T4, a T4 as a table of measured times.
cp "$SOURCE"/traces/examples/transpose* .
export WARPWATT_CODE=ptx
set -e
kt="python3 $SOURCE/scripts/kernel_tuner.py"
sed 's/2048/256/g' transpose-ptx.json >space.json
$kt t1 space.json -o t1.json
$kt space t1.json --gpu v100 -o back.json
python3 - <<'END'
import json
a, b = (json.load(open(n))["program"] for n in ("space.json", "back.json"))
print(a["parameters"] == b["parameters"], a["constraints"] == b["constraints"], b["launch"]["grid"], b["launch"]["args"])
END
# PTX has no macros, and the random fill's bounds are as the other way round.
sed 's/"as": "header",//' back.json >back2.json
warpwatt sweep back2.json --db r.db
$kt t4 --db r.db --program warpwatt -o t4.json
$kt table t4.json -o measured.tsv
head -1 measured.tsv
wc -l <measured.tsv
warpwatt correlate --space measured.tsv --db r.db
warpwatt correlate --space measured.tsv --db r.db --json | grep -c spearman
fails 1 $kt t4 -o x.json
