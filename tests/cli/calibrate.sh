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
errors = [float(e) for e in re.findall(r"([0-9.]+) % fitted", open(sys.argv[1]).read())]
print("fitted and seen", errors[0] < 10, "fitted and not seen", errors[1] < 10)
END
# The written table says what the report says.
watts=$(warpwatt run --gpu a100 --trace 20.wwt --power a100.json --json | sed -n 's/.*"average_power_w": \([0-9.]*\).*/\1/p')
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
warpwatt calibrate structures | head -2 | cut -c 1-46
