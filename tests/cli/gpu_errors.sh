cd "$DATA" || exit 1
fails 3 warpwatt gpu show gtx48
fails 3 warpwatt gpu show ./gtx480
fails 7 warpwatt gpu show none.json
fails 3 warpwatt gpu show bad_syntax.json
fails 3 warpwatt gpu show unknown_key.json
fails 3 warpwatt gpu show out_of_bounds.json
fails 3 warpwatt gpu show missing_key.json
fails 3 warpwatt gpu show twice.json
fails 3 warpwatt gpu show wrong_type.json
fails 3 warpwatt gpu show gtx480 --set sm.cuont=3
fails 3 warpwatt gpu show gtx480 --set sm.count=2000
fails 3 warpwatt gpu show gtx480 --set sm.count=many
fails 3 warpwatt gpu show gtx480 --set l2.interleave=96
fails 2 warpwatt gpu show gtx480 --set sm.count
fails 3 warpwatt gpu diff gtx480 missing_key.json
fails 3 warpwatt gpu show v100 --set l1.size_kb=64
fails 3 warpwatt gpu show gtx480 --set l1.size_kb=48
fails 3 warpwatt gpu show gtx480 --set sm.max_warps=4 --set sm.schedulers=8
# The default scheduler is one of two; a bus whose bursts carry more than a sector moves no more.
fails 3 warpwatt gpu show a100 --set core.sched=lrr
fails 3 warpwatt gpu show a100 --set dram.bus_bits=128
fails 0 warpwatt gpu show a100 --set dram.bus_bits=128 --set dram.burst=2 --set dram.tccd=1 | grep 'dram.bus_bits' | tr -s ' ' | cut -c 1-25
# One bad model does not hide the others; a warning says what is left out.
WARPWATT_MODELS=$DATA fails 0 warpwatt gpu list | grep -E '^(gtx480 |warpwa)' | tr -s ' ' | cut -c 1-18
