/* Launches that ran concurrently, to the database and back. */
#include "../estimator/result/result.h"
#include "db.h"

enum ww_code ww_db_store_concurrent(struct ww_db *db, int64_t launch_id, const struct ww_launch_result *l,
                                    struct ww_error *error) {
    struct ww_insert in;
    if (!l->concurrent) return WW_OK;
    WW_TRY(ww_insert_open(
        &in, db, "launch_concurrent",
        "launch_id, concurrent_group, stream, start_ps, shared_ps, shared_active, shared_cycles", error));
    ww_insert_i64(&in, launch_id);
    ww_insert_u64(&in, l->concurrent);
    ww_insert_u64(&in, l->stream);
    ww_insert_u64(&in, l->start_ps);
    ww_insert_u64(&in, l->shared_ps);
    ww_insert_u64(&in, l->shared_active);
    ww_insert_u64(&in, l->shared_cycles);
    ww_insert_run(&in, NULL);
    ww_insert_close(&in);
    return in.code;
}

static bool is_part(const struct ww_launch_result *l) {
    return l->shared_ps <= l->time_ps && l->shared_cycles <= l->cycles;
}

enum ww_code ww_db_load_concurrent(struct ww_db *db, int64_t launch_id, struct ww_launch_result *l,
                                   struct ww_error *error) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, db,
                          "SELECT concurrent_group, stream, start_ps, shared_ps, shared_active, shared_cycles"
                          " FROM launch_concurrent WHERE launch_id = ?1",
                          launch_id, error));
    if (ww_select_row(&s)) {
        l->concurrent = ww_select_u32(&s);
        l->stream = ww_select_u32(&s);
        l->start_ps = ww_select_u64(&s);
        l->shared_ps = ww_select_u64(&s);
        l->shared_active = ww_select_u64(&s);
        l->shared_cycles = ww_select_u64(&s);
    }
    WW_TRY(ww_select_close(&s));
    return is_part(l)
               ? WW_OK
               : ww_fail(error, WW_INPUT, "launch_concurrent", "launch %u shares more than it took", l->index);
}
