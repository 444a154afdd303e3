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
