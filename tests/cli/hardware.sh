cp "$SOURCE/tests/hardware/synthetic.json" "$SOURCE/tests/hardware/synthetic.csv" .
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/hardware.json" synthetic.json
warpwatt hardware import synthetic.json --db r.db
warpwatt hardware import synthetic.json --db r.db
warpwatt hardware import synthetic.csv --db r.db
warpwatt query "SELECT part, count(*) AS figures FROM hardware_figure GROUP BY part" --db r.db
# From the file and from the database the same.
warpwatt correlate -q --measured synthetic.json --gpu h200 --json >file.json
warpwatt correlate -q --hardware 1 --db r.db --gpu h200 --json | cmp - file.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/correlate.json" file.json
python3 -c '
import json
d = json.load(open("file.json"))
a, rows = d["agreement"][0], [r for r in d["rows"] if r["counted"]]
e = [(r["estimate"] - r["measured"]) / r["measured"] for r in rows]
print(a["count"], abs(a["mean_absolute_error"] - sum(map(abs, e)) / len(e)) < 1e-12, [r["kernel"] for r in d["rows"] if not r["counted"]])'
warpwatt correlate -q --measured synthetic.json --gpu h200 --launches --csv | cut -d, -f1,3,4,5,6,12
warpwatt correlate -q --measured synthetic.csv --gpu v100 --metric cycles | sed -n '1,4p;$s/ [-+][0-9.]* %//p'
# Scatter plots: as many points as rows that count; a folder with what gnuplot needs.
warpwatt correlate -q --measured synthetic.json --gpu h200 --scatter --plots figures >table.txt
python3 - <<'END'
import re
plot = open("table.txt").read().split("time, s: estimate")[1]
print(sum(int(c) if c.isdigit() else 1 for l in plot.splitlines()[1:] for c in re.findall("[o2-9]", l)), "points")
END
grep -c '^[0-9]' figures/time_s.dat
grep -c "^set output" figures/correlate.gp
fails 2 warpwatt correlate -q --measured synthetic.json --gpu h200 --scatter --json
touch file
fails 7 warpwatt correlate -q --measured synthetic.json --gpu h200 --plots file/none | tail -1
# Recordings are kept where that is asked for; runs in the database are estimates too.
mkdir traces
warpwatt correlate -q --measured synthetic.csv --gpu v100 --workload saxpy --traces traces --json >a.json
ls traces | sed 's/-[0-9a-f]*\.wwt/-HASH.wwt/'
warpwatt correlate -q --measured synthetic.csv --gpu v100 --workload saxpy --traces traces --json | cmp - a.json
cp traces/saxpy* saxpy.wwt
warpwatt run -q --gpu v100 --trace saxpy.wwt --db r.db --seed 1 >/dev/null
warpwatt correlate -q --measured synthetic.csv --gpu v100 --workload saxpy --runs --db r.db --json | cmp - a.json
warpwatt gpu derive --measured synthetic.json --base h200 -o my.json | wc -l
warpwatt gpu show ./my.json l1.latency --sources
warpwatt gpu show ./my.json shared.conflict
warpwatt run -q --gpu ./my.json --trace saxpy.wwt | head -1
# What is wrong.
fails 2 warpwatt correlate --gpu h200
fails 2 warpwatt correlate --measured synthetic.json --hardware 1 --gpu h200
fails 2 warpwatt correlate -q --measured synthetic.json --gpu h200 --metric colour
fails 2 warpwatt correlate -q --measured synthetic.json --gpu h200 --workload none
fails 4 warpwatt correlate -q --measured synthetic.csv --gpu gtx285 --power none --metric power_w
fails 8 warpwatt correlate -q --measured synthetic.csv --gpu v100 --workload vectoradd --runs --db r.db
fails 8 warpwatt correlate -q --hardware 77 --gpu v100 --db r.db
echo '{"schema": 1}' >bad.json
fails 3 warpwatt hardware import bad.json --db new.db
ls new.db 2>/dev/null
fails 3 warpwatt gpu derive --measured synthetic.csv --base h200 -o other.json
fails 3 warpwatt gpu derive --measured synthetic.json --base nogpu -o other.json | sed 's/ (.*//'
fails 2 warpwatt gpu derive --measured synthetic.json --base h200
# What is written over: another derived GPU, never what is read.
warpwatt gpu derive --measured synthetic.json --base h200 -o my.json >/dev/null
fails 2 warpwatt gpu derive --measured synthetic.json --base my.json -o my.json
fails 2 warpwatt gpu derive --measured synthetic.json --base h200 -o synthetic.json
fails 2 warpwatt gpu derive --measured synthetic.json --base h200 -o synthetic.csv
# A profile by Nsight Compute: its kernels are the launches of a trace.
warpwatt trace record -w saxpy -p n=4096 --code ptx --arch sm_70 -o s.wwt -q
printf '%s\n' '==PROF== Connected to process 7' '"ID","Process ID","Process Name","Kernel Name","Metric Name","Metric Unit","Metric Value"' \
    '"0","7","prog","saxpy(int, float)","Elapsed Cycles","cycle","3,900"' >ncu.csv
warpwatt correlate -q --measured ncu.csv --trace s.wwt --gpu v100 --cache-control flush --clock-control base --csv | cut -d, -f1,3,4,5,6,7
fails 7 warpwatt correlate -q --measured ncu.csv --gpu v100
sed -i 's/saxpy(int/other(int/' ncu.csv
fails 3 warpwatt correlate -q --measured ncu.csv --trace s.wwt --gpu v100
