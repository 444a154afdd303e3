# The same runs give the same bytes in every table but for times of day and host seconds.
record_small
dump() {
    rm -f r.db
    warpwatt run --gpu gtx480 --trace a.wwt --db r.db -q
    warpwatt run --gpu v100 --trace a.wwt --db r.db -q
    warpwatt run --gpu gtx480-eq --trace a.wwt --mech governor=equalizer --db r.db -q
    sqlite3 r.db 'UPDATE run SET stored_at = 0, host_seconds = 0' 2>&1
    sqlite3 r.db .dump
}
dump >first.txt
dump >second.txt
diff first.txt second.txt && echo same
[ "$(wc -l <first.txt)" -gt 100 ] || echo 'nothing stored'

# A run repeated from what the database says of it, in either mode of Equalizer.
rm -f r.db
for objective in performance energy; do
    warpwatt run --gpu gtx480-eq --trace a.wwt --mech governor=equalizer --mech governor.objective=$objective \
        --mech governor.epoch=512 --mech governor.transition=64 --set clock.sm_mhz=650 --power gtx580 --seed 7 \
        --epoch 256 --db r.db -q
done
for run in 1 2; do
    sqlite3 r.db "SELECT json FROM run JOIN gpu USING(gpu_id) WHERE run_id = $run" >g.json
    set -- $(sqlite3 r.db "SELECT '--mech ' || key || '=' || value FROM run_setting WHERE run_id = $run ORDER BY ord")
    warpwatt run --gpu g.json --trace "$(sqlite3 r.db "SELECT trace_path FROM run WHERE run_id = $run")" "$@" \
        --seed "$(sqlite3 r.db "SELECT seed FROM run WHERE run_id = $run")" \
        --epoch "$(sqlite3 r.db "SELECT epoch_cycles FROM run WHERE run_id = $run")" --db r.db -q
done
sqlite3 r.db 'SELECT count(DISTINCT json) FROM gpu' 'SELECT count(DISTINCT energy_j) FROM run'
for table in epoch_energy epoch_time vf_point launch_counter run_setting; do
    for run in 1 2; do
        columns=$(sqlite3 r.db "SELECT group_concat(name) FROM pragma_table_info('$table') WHERE name NOT IN ('run_id', 'launch_id')")
        case $table in run_setting) key="run_id";; *) key="(SELECT run_id FROM launch l WHERE l.launch_id = t.launch_id)";; esac
        sqlite3 r.db "SELECT $columns FROM $table t WHERE $key = $run" >one.txt
        sqlite3 r.db "SELECT $columns FROM $table t WHERE $key = $run + 2" >two.txt
        [ -s one.txt ] || echo "$table: empty"
        cmp one.txt two.txt
    done
done
