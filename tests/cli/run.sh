record_small
warpwatt run --gpu v100 --trace a.wwt
warpwatt run --gpu v100 --trace a.wwt --json >run.json
python3 "$SOURCE/tests/cli/schema_check.py" "$SOURCE/reports/schema/run.json" run.json
warpwatt run --gpu v100 --trace a.wwt -q
# A GPU without a power table has no energy: null, not 0.
warpwatt run --gpu elastic-16 --trace a.wwt --json 2>/dev/null | grep -E '"(energy_j|average_power_w)"'
warpwatt run --gpu v100 --trace a.wwt --power none --json | grep -E '"(energy_j|average_power_w)"'
# Overrides and mechanisms matter, the same run twice does not differ.
cycles() { warpwatt run --gpu v100 --trace a.wwt --json "$@" | sed -n 's/.*"cycles": \([0-9]*\),.*/\1/p'; }
[ "$(cycles)" = "$(cycles)" ] || echo 'two runs differ'
[ "$(cycles)" -lt "$(cycles --set clock.dram_mhz=100)" ] || echo 'slower DRAM is not slower'
[ "$(cycles)" -lt "$(cycles --set sm.count=1)" ] || echo 'fewer SMs are not slower'
ls -A
