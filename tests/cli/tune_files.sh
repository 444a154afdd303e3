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
print(a["parameters"] == b["parameters"], b["constraints"], b["launch"]["grid"], b["launch"]["args"])
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
# What files of Kernel Tuner have: values that are computed, the problem's size and its divisors, conditions in Python.
cat >own.json <<'END'
{"General": {"BenchmarkName": "scale"},
 "ConfigurationSpace": {
  "TuningParameters": [
   {"Name": "block_size_x", "Type": "int", "Values": "[32 * i for i in range(1, 5) if i != 3]"},
   {"Name": "tile", "Type": "int", "Values": "list(range(1, 5))"},
   {"Name": "unroll", "Type": "int", "Values": "[2**i for i in range(2)]"}],
  "Conditions": [
   {"Expression": "block_size_x * tile <= 256 and not tile == 3", "Parameters": ["block_size_x", "tile"]},
   {"Expression": "16 <= block_size_x / tile < 200", "Parameters": ["block_size_x", "tile"]},
   {"Expression": "tile in [1, 2, 4]", "Parameters": ["tile"]}]},
 "KernelSpecification": {
  "Language": "CUDA", "KernelName": "scale", "KernelFile": "scale.cu", "GlobalSizeType": "CUDA",
  "LocalSize": {"X": "block_size_x"}, "GlobalSize": {"X": "(65536 // block_size_x) // tile"},
  "ProblemSize": [65536], "GridDivX": ["block_size_x", "tile"],
  "Arguments": [
   {"Name": "out", "Type": "float", "MemoryType": "Vector", "FillType": "Constant", "FillValue": 0.0, "Size": "ProblemSize[0]+max(tile)-1"},
   {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 65536}]}}
END
$kt space own.json -o own_space.json
python3 - <<'END'
import json
p = json.load(open("own_space.json"))["program"]
print(p["parameters"], p["constraints"], p["launch"]["grid"], p["launch"]["buffers"], sep="\n")
END
sed 's/"list(range(1, 5))"/"open(1)"/' own.json >bad.json
fails 1 $kt space bad.json -o x.json
sed 's/tile in \[1, 2, 4\]/tile ^ 2/' own.json >bad.json
fails 1 $kt space bad.json -o x.json
sed 's/"Language": "CUDA"/"Language": "OpenCL"/' own.json >bad.json
fails 1 $kt space bad.json -o x.json
# What never ends, or grows without bound, is refused: in values, sizes, conditions and levels; and a FIFO, which has no writer.
for v in '[2**62**62]' '1000000000*[1]' 'list(range(10**9))' '[x for x in range(10**18) if x < 0]' \
    '[max([max([z for z in range(9999)]) for y in range(9999)]) for x in range(9999)]'; do
    sed "s/\"list(range(1, 5))\"/\"$v\"/" own.json >bad.json
    fails 1 timeout 60 $kt space bad.json -o x.json
done
sed 's/max(tile)-1/max(range(10**15))/' own.json >bad.json
fails 1 timeout 60 $kt space bad.json -o x.json
sed 's/tile in \[1, 2, 4\]/((((((tile**7)**7)**7)**7)**7)**7)**7 > 1/' own.json >bad.json
fails 1 timeout 60 $kt space bad.json -o x.json
for v in '{"from": 1, "to": 8, "step": 0}' '{"from": 0, "to": 8, "factor": 2}' '{"from": 0, "to": 1000000000000, "step": 1}'; do
    python3 -c 'import json, sys
s = json.load(open("space.json")); s["program"]["parameters"]["TILE"] = json.loads(sys.argv[1]); json.dump(s, open("bad.json", "w"))' "$v"
    fails 1 timeout 60 $kt t1 bad.json -o x.json
done
mkfifo fifo
fails 1 timeout 60 $kt space fifo -o x.json
fails 7 timeout 60 warpwatt sweep fifo --db r.db
fails 7 timeout 60 warpwatt disasm fifo
fails 7 timeout 60 warpwatt correlate --space fifo --db r.db
# Results in another unit, without measurements, and of a variant that hung.
cat >t4.json <<'END'
{"schema_version": "1.0.0", "results": [
 {"configuration": {"a": 1}, "invalidity": "correct", "correctness": 1, "times": {}, "measurements": [{"name": "Time", "value": 1500, "unit": "us"}]},
 {"configuration": {"a": 2}, "invalidity": "correct", "correctness": 1, "times": {"runtimes": [2, 4]}},
 {"configuration": {"a": 3}, "invalidity": "timeout", "correctness": 0, "times": {}}]}
END
$kt table t4.json -o measured.tsv
cat measured.tsv
