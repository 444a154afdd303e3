# A100-SXM4 40 GB (RRZE-HPC, gpu-benches, gpu-roofline on alex): mean watts and standard deviation over eight boards
# by single-precision operations per byte. Half of the points is fitted to, the other half must come within 10 %.
measured() { # rounds of 8 multiply-adds for a word, watts, sigma
    sed "s/ROUNDS/$1/; s/LOADS/$((60 / ($1 + 3) + 2))/; s/COUNT/$((221184 * (60 / ($1 + 3) + 2)))/" launch.json >"$1.json"
    warpwatt trace record -q --ptx "$SOURCE/traces/examples/roofline.ptx" --launch "$1.json" -o "$1.wwt"
    echo "$1.wwt,$2,$3"
}
cat >launch.json <<'END'
{"kernel": "roofline", "grid": [864], "block": [256],
 "args": [{"buffer": "in"}, {"buffer": "out"}, {"u32": LOADS}, {"u32": ROUNDS}, {"u32": 221184}],
 "buffers": {"in": {"type": "f32", "count": COUNT}, "out": {"type": "f32", "count": 221184}}}
END
{
    echo trace,power_w,sigma_w
    measured 0 230.25 5.01
    measured 8 226.62 6.86
    measured 16 200.38 6.57
    measured 24 190.88 6.73
} >fit.csv
{
    echo trace,power_w,sigma_w
    measured 5 253.38 6.82
    measured 11 211.12 6.92
    measured 20 192.50 5.81
    measured 32 185.38 6.57
} >check.csv
warpwatt calibrate power --gpu a100 --measured fit.csv --check check.csv -o a100.json \
    --fit fp32+int+regfile+scheduler+ibuffer+icache --fit xbar+l2+mem_ctrl+dram_read+dram_activate >report.txt
python3 - report.txt <<'END'
import re, sys
text = open(sys.argv[1]).read()
errors = [float(e) for e in re.findall(r"([0-9.]+) % fitted", text)]
print("fitted and seen", errors[0] < 10, "fitted and not seen", errors[1] < 10)
END
# A table that was fitted to these traces leaves nothing to fit.
warpwatt calibrate power --gpu a100 --power a100.json --measured fit.csv --check check.csv \
    --fit fp32+int+regfile+scheduler+ibuffer+icache --fit xbar+l2+mem_ctrl+dram_read+dram_activate >fitted.txt
python3 - fitted.txt <<'END'
import re, sys
factors = [float(f) for f in re.findall(r"^ +([0-9.]+) +[0-9.]+  (?:fp32|xbar)", open(sys.argv[1]).read(), re.M)]
print("factors are 1", len(factors) == 2 and all(abs(f - 1) < 0.005 for f in factors))
END
# From a table whose rows are far off the fit comes to the same watts.
python3 - "$SOURCE/power/tables/a100.json" off.json <<'END'
import json, sys
table = json.load(open(sys.argv[1]))
for r in table["events"]:
    r["value"] *= 1.5 if r["component"] in ("xbar", "l2", "mem_ctrl", "dram_read", "dram_activate") else \
        0.6 if r["component"] in ("fp32", "int", "regfile", "scheduler", "ibuffer", "icache") else 1
json.dump(table, open(sys.argv[2], "w"))
END
warpwatt calibrate power --gpu a100 --power off.json --measured fit.csv --check check.csv \
    --fit fp32+int+regfile+scheduler+ibuffer+icache --fit xbar+l2+mem_ctrl+dram_read+dram_activate >again.txt
python3 - report.txt again.txt <<'END'
import re, sys
watts = [[float(w) for w in re.findall(r"([0-9.]+) W  \d+.wwt", open(f).read())] for f in sys.argv[1:]]
print("the same watts", len(watts[0]) == 8 and all(abs(a - b) < 0.2 for a, b in zip(*watts)))
END
# The written table says what the report says, of work without launches.
watts=$(warpwatt run --gpu a100 --set launch.front_cycles=0 --set launch.end_cycles=0 --set launch.overhead_us=0 --trace 20.wwt --power a100.json --json | sed -n 's/.*"average_power_w": \([0-9.]*\).*/\1/p')
grep -c "$(printf '%7.1f W  20.wwt' "$watts")" report.txt
# Mistakes.
fails 2 warpwatt calibrate power --gpu a100 --measured fit.csv --fit fp23
fails 2 warpwatt calibrate power --gpu a100 --measured fit.csv --fit fp32+int --fit int
echo trace,watts >bad.csv
fails 3 warpwatt calibrate power --gpu a100 --measured bad.csv --fit fp32
printf 'trace,power_w\n0.wwt,-1\n' >bad.csv
fails 3 warpwatt calibrate power --gpu a100 --measured bad.csv --fit fp32
printf 'trace,power_w\n0.wwt,100\n' >bad.csv
fails 2 warpwatt calibrate power --gpu a100 --measured bad.csv --fit fp32
# Timing: cycles of microbenchmarks on a GPU with other latencies, as if measured; the fit finds the latencies.
run_as_measured() { # workload "parameters"
    local words=() p
    for p in $2; do words+=(-p "$p"); done
    warpwatt trace record -q --workload "$1" "${words[@]}" --arch sm_20 --seed 1 -o one.wwt
    warpwatt run -q --gpu gtx480 --trace one.wwt --power none --json --set l1.latency=80 --set l2.latency=85 \
        --set dram.latency=120 --set shared.latency=41 |
        python3 -c 'import json, sys; print(sys.argv[1], sys.argv[2], 1, "cycles", json.load(sys.stdin)["cycles"], sep=",")' \
            "$1" "$2"
}
{
    echo workload,parameters,seed,metric,value
    run_as_measured pchase "n=2048 stride=32 count=1024 warm=64"
    run_as_measured pchase "n=65536 stride=32 count=512 warm=2048"
    run_as_measured pchase "n=4194304 stride=1024 count=1024 warm=0"
    run_as_measured pchase "n=4194304 stride=4096 count=512 warm=0"
    run_as_measured pchase "n=1024 path=shared count=512"
    run_as_measured gcopy "n=65536 ctas=15"
} >times.csv
{
    head -1 times.csv
    run_as_measured pchase "n=100000 stride=64 count=512 warm=2048"
} >times_check.csv
warpwatt calibrate timing -q --gpu gtx480 -m times.csv --check times_check.csv -o fitted.json --fit l1.latency \
    --fit l2.latency=30:200 --fit dram.latency --fit shared.latency | sed -n '2,6p;$p'
warpwatt gpu show ./fitted.json dram.latency | tail -1 | sed 's, 0..4096,,; s,  controller and PHY,,' | cut -c 1-60
# A third of a parameter's true value is out of these bounds.
warpwatt calibrate timing -q --gpu gtx480 -m times.csv --check times_check.csv --fit l1.latency --json |
    python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/calibrate.json" && echo "timing as reports/schema/calibrate.json"
head -n 3 fit.csv >fit2.csv
head -n 2 check.csv >check2.csv
warpwatt calibrate power --gpu a100 --measured fit2.csv --check check2.csv --fit fp32 --json |
    python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/calibrate.json" && echo "power as reports/schema/calibrate.json"
warpwatt calibrate timing -q --gpu gtx480 -m times.csv --fit shared.latency=45:60 | sed -n 2p
fails 3 warpwatt calibrate timing -q --gpu gtx480 -m times.csv --fit l2.latency --fit tlb.read_cycles --fit l1.latency \
    --fit xbar.latency --fit dram.latency
fails 3 warpwatt calibrate timing -q --gpu gtx480 -m times.csv --fit tex.latency
fails 2 warpwatt calibrate timing -q --gpu gtx480 -m times.csv --fit l2.latenzy
fails 2 warpwatt calibrate timing -q --gpu gtx480 -m times.csv --fit l2.latency=200:30
fails 2 warpwatt calibrate timing -q --gpu gtx480 -m times.csv --fit l2.latency=30
fails 2 warpwatt calibrate timing -q --gpu gtx480 -m times.csv --fit l2.latency --fit l2.latency
head -2 times.csv >bad.csv
fails 2 warpwatt calibrate timing -q --gpu gtx480 -m bad.csv --fit l2.latency
printf 'workload,metric,value\nsaxpy,power_w,60\n' >bad.csv
fails 3 warpwatt calibrate timing -q --gpu gtx480 -m bad.csv --fit l2.latency
printf 'workload,metric,value\npchase,cycles,-5\n' >bad.csv
fails 3 warpwatt calibrate timing -q --gpu gtx480 -m bad.csv --fit l2.latency
printf 'workload,parameters,metric,value\n"pchase,n=1024,cycles,500\n' >bad.csv
fails 3 warpwatt calibrate timing -q --gpu gtx480 -m bad.csv --fit l2.latency
printf 'workload,metric,value\nnone.wwt,cycles,5\nnone.wwt,cycles,6\n' >bad.csv
fails 7 warpwatt calibrate timing -q --gpu gtx480 -m bad.csv --fit l2.latency
ls nothing.json 2>/dev/null
warpwatt calibrate structures | head -2 | cut -c 1-46
