/* The times of a sweep's points. */
#include "../estimator/api/database.h"
#include "sweep_sql.h"
#include <stdio.h>

static enum ww_code find(struct ww_db *db, int64_t sweep, int64_t *found, char gpu[64],
                         struct ww_error *error) {
    struct ww_arena arena;
    struct ww_select s;
    ww_arena_init(&arena, 0);
    *found = 0;
    if (ww_select_open(
            &s, db,
            "SELECT s.sweep_id, g.name FROM sweep s JOIN gpu g USING(gpu_id) WHERE ?1 = 0 OR s.sweep_id = ?1"
            " ORDER BY s.sweep_id DESC LIMIT 1",
            sweep, error) == WW_OK &&
        ww_select_row(&s)) {
        *found = ww_select_i64(&s);
        snprintf(gpu, 64, "%.63s", ww_select_text(&s, &arena));
    }
    enum ww_code code = ww_select_close(&s);
    ww_arena_free(&arena);
    if (code == WW_OK && !*found) return ww_fail(error, WW_DB, "database", "there is no such sweep");
    return code;
}

enum ww_code ww_db_sweep_times(struct ww_db *db, int64_t sweep, int64_t *found, char gpu[64],
                               enum ww_code (*each)(void *context, uint64_t point, const char *settings,
                                                    double seconds),
                               void *context, struct ww_error *error) {
    struct ww_arena arena;
    struct ww_select s;
    enum ww_code code = WW_OK;
    WW_TRY(find(db, sweep, found, gpu, error));
    ww_arena_init(&arena, 0);
    if (ww_select_open(&s, db,
                       "SELECT v.point, x.settings, v.time_s FROM v_sweep_point v JOIN v_sweep_settings x "
                       "USING(sweep_id, point)"
                       " WHERE v.sweep_id = ?1 AND v.feasible IS NOT NULL ORDER BY v.point",
                       *found, error) == WW_OK)
        while (code == WW_OK && ww_select_row(&s)) {
            uint64_t point = ww_select_u64(&s);
            const char *settings = ww_select_text(&s, &arena);
            double seconds = ww_select_f64(&s);
            code = each(context, point, settings ? settings : "", seconds);
        }
    enum ww_code closed = ww_select_close(&s);
    ww_arena_free(&arena);
    return code == WW_OK ? closed : code;
}
