/* A program's copies and launches among them, to the database and back. */
#include "../estimator/result/names.h"
#include "../estimator/result/result.h"
#include "db.h"
#include <string.h>

enum ww_code ww_db_store_copies(struct ww_db *db, int64_t run_id, const struct ww_result *r,
                                struct ww_error *error) {
    struct ww_insert in;
    if (!r->copy_count) return WW_OK;
    ww_insert_open(&in, db, "run_copy",
                   "run_id, number, way, pageable, stream, launches_before, engine, bytes, start_ps, end_ps",
                   error);
    for (size_t i = 0; i < r->copy_count && in.code == WW_OK; i++) {
        const struct ww_copy_span *c = &r->copy[i];
        ww_insert_i64(&in, run_id);
        ww_insert_u64(&in, i);
        ww_insert_text(&in, ww_copy_way_name(c->way));
        ww_insert_u64(&in, c->pageable);
        ww_insert_u64(&in, c->stream);
        ww_insert_u64(&in, c->launch);
        if (c->engine == WW_COPY_NO_ENGINE)
            ww_insert_null(&in);
        else
            ww_insert_u64(&in, c->engine);
        ww_insert_u64(&in, c->bytes);
        ww_insert_u64(&in, c->start_ps);
        ww_insert_u64(&in, c->end_ps);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

static uint32_t way_of(const char *name) {
    uint32_t way = 0;
    while (way + 1 < WW_COPY_WAYS && name && strcmp(name, ww_copy_way_name(way)) != 0) way++;
    return way;
}

static void load_copy(struct ww_select *s, struct ww_copy_span *c, struct ww_arena *arena) {
    c->way = way_of(ww_select_text(s, arena));
    c->pageable = ww_select_u32(s);
    c->stream = ww_select_u32(s);
    c->launch = ww_select_u32(s);
    c->engine = ww_select_skip_null(s) ? WW_COPY_NO_ENGINE : ww_select_u32(s);
    c->bytes = ww_select_u64(s);
    c->start_ps = ww_select_u64(s);
    c->end_ps = ww_select_u64(s);
}

enum ww_code ww_db_load_copies(struct ww_db *db, int64_t run_id, struct ww_result *r, struct ww_arena *arena,
                               struct ww_error *error) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, db, "SELECT count(*) FROM run_copy WHERE run_id = ?1", run_id, error));
    size_t count = ww_select_row(&s) ? ww_select_u64(&s) : 0;
    WW_TRY(ww_select_close(&s));
    if (!count) return WW_OK;
    r->copy = ww_arena_array(arena, count, sizeof *r->copy);
    if (!r->copy) return ww_fail_nomem(error, "a run's copies");
    WW_TRY(ww_select_open(&s, db,
                          "SELECT way, pageable, stream, launches_before, engine, bytes, start_ps, end_ps"
                          " FROM run_copy WHERE run_id = ?1 ORDER BY number",
                          run_id, error));
    while (r->copy_count < count && ww_select_row(&s)) {
        struct ww_copy_span *c = &r->copy[r->copy_count++];
        load_copy(&s, c, arena);
        if (c->end_ps > r->with_copies_ps) r->with_copies_ps = c->end_ps;
    }
    return ww_select_close(&s);
}

enum ww_code ww_db_store_among(struct ww_db *db, int64_t launch_id, const struct ww_launch_result *l,
                               struct ww_error *error) {
    struct ww_insert in;
    if (!l->with_copies_end_ps) return WW_OK;
    WW_TRY(ww_insert_open(&in, db, "launch_among_copies", "launch_id, start_ps, end_ps", error));
    ww_insert_i64(&in, launch_id);
    ww_insert_u64(&in, l->with_copies_start_ps);
    ww_insert_u64(&in, l->with_copies_end_ps);
    ww_insert_run(&in, NULL);
    ww_insert_close(&in);
    return in.code;
}

enum ww_code ww_db_load_among(struct ww_db *db, int64_t launch_id, struct ww_launch_result *l,
                              struct ww_error *error) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, db, "SELECT start_ps, end_ps FROM launch_among_copies WHERE launch_id = ?1",
                          launch_id, error));
    if (ww_select_row(&s)) {
        l->with_copies_start_ps = ww_select_u64(&s);
        l->with_copies_end_ps = ww_select_u64(&s);
    }
    return ww_select_close(&s);
}
