record_small
fails 7 warpwatt run --gpu gtx480 --trace none.wwt
fails 3 warpwatt run --gpu gtx48 --trace a.wwt
cp "$DATA/unknown_key.json" mine.json
fails 3 warpwatt run --gpu mine.json --trace a.wwt
fails 2 warpwatt run --gpu gtx480 --trace a.wwt --mech sched=grr
fails 2 warpwatt run --gpu gtx480 --trace a.wwt --mech shced=gto
fails 2 warpwatt run --gpu gtx480 --trace a.wwt --launches 7
fails 3 warpwatt run --gpu gtx480 --trace a.wwt --power none_such
fails 7 warpwatt run --gpu gtx480 --trace a.wwt --db none/r.db
fails 2 warpwatt run --gpu gtx480 --trace a.wwt --db :memory:
fails 2 warpwatt run --gpu gtx480 --trace a.wwt --db -
fails 2 warpwatt query 'SELECT 1' --db -
# A full disk leaves no database.
(ulimit -f 60 && fails 7 warpwatt run --gpu gtx480 --trace a.wwt --db full.db -q)
# A CTA that fits no SM: said so, with the limit.
fails 4 warpwatt run --gpu gtx480 --trace a.wwt --set sm.max_threads=32
# Queues that would take the machine's memory: said so, with the parameters.
fails 4 warpwatt run --gpu v100 --trace a.wwt --set l2.slices=1024 --set xbar.request_queue=65536
ls -A
