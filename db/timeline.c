/* What runs keep for their timelines, stored and read back. */
#include "../estimator/api/database.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "db.h"

static enum ww_code store_counters(struct ww_db *db, const struct ww_dict *dict, int64_t id,
                                   const struct ww_launch_result *l, struct ww_error *error) {
    struct ww_insert in;
    if (!l->epoch_counter) return WW_OK;
    WW_TRY(ww_insert_open(&in, db, "epoch_counter", "launch_id, ord, counter_id, value", error));
    for (size_t i = 0; i < l->epoch_count * WW_EPOCH_COUNTERS && in.code == WW_OK; i++) {
        if (!l->epoch_counter[i]) continue;
        ww_insert_i64(&in, id);
        ww_insert_u64(&in, i / WW_EPOCH_COUNTERS);
        ww_insert_i64(&in, dict->counter[ww_epoch_counter(i % WW_EPOCH_COUNTERS)]);
        ww_insert_u64(&in, l->epoch_counter[i]);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

enum ww_code ww_db_store_timeline(struct ww_db *db, const struct ww_dict *dict, int64_t launch_id,
                                  const struct ww_launch_result *l, struct ww_error *error) {
    struct ww_insert in;
    WW_TRY(store_counters(db, dict, launch_id, l, error));
    if (!l->cta_count) return WW_OK;
    WW_TRY(ww_insert_open(&in, db, "cta",
                          "launch_id, ord, cta, sm, slot, first_cycle, end_cycle, start_ps, end_ps", error));
    for (size_t i = 0; i < l->cta_count && in.code == WW_OK; i++) {
        const struct ww_cta_span *c = &l->cta[i];
        ww_insert_i64(&in, launch_id);
        ww_insert_u64(&in, i);
        ww_insert_u64(&in, c->cta);
        ww_insert_u64(&in, c->sm);
        ww_insert_u64(&in, c->slot);
        ww_insert_u64(&in, c->first_cycle);
        ww_insert_u64(&in, c->end_cycle);
        ww_insert_u64(&in, c->start_ps);
        ww_insert_u64(&in, c->end_ps);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code count(struct ww_db *db, const char *sql, int64_t id, size_t *n, struct ww_error *error) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, db, sql, id, error));
    *n = ww_select_row(&s) ? ww_select_u64(&s) : 0;
    return ww_select_close(&s);
}

/* The place of a counter in the rows of epochs; -1: this version keeps it not. */
static int place_of(int counter) {
    for (int i = 0; i < WW_EPOCH_COUNTERS; i++)
        if ((int)ww_epoch_counter((size_t)i) == counter) return i;
    return -1;
}

static enum ww_code load_counters(struct ww_db *db, const struct ww_dict *dict, int64_t id,
                                  struct ww_launch_result *l, struct ww_arena *arena, struct ww_error *error) {
    struct ww_select s;
    size_t n;
    WW_TRY(count(db, "SELECT count(*) FROM epoch_counter WHERE launch_id = ?1", id, &n, error));
    if (!n) return WW_OK;
    l->epoch_counter = ww_arena_array(arena, l->epoch_count * WW_EPOCH_COUNTERS + 1, sizeof *l->epoch_counter);
    if (!l->epoch_counter) return ww_fail_nomem(error, "counters by epoch");
    WW_TRY(ww_select_open(&s, db, "SELECT ord, counter_id, value FROM epoch_counter WHERE launch_id = ?1", id,
                          error));
    while (ww_select_row(&s)) {
        uint64_t ord = ww_select_u64(&s);
        int counter = ww_dict_find(dict->counter, WW_COUNTER_COUNT, ww_select_i64(&s));
        uint64_t value = ww_select_u64(&s);
        int place = place_of(counter);
        if (ord >= l->epoch_count) ww_select_refuse(&s, "the number of a row of this launch");
        if (s.code == WW_OK && place >= 0) l->epoch_counter[ord * WW_EPOCH_COUNTERS + (size_t)place] = value;
    }
    return ww_select_close(&s);
}

enum ww_code ww_db_load_timeline(struct ww_db *db, const struct ww_dict *dict, int64_t launch_id,
                                 struct ww_launch_result *l, struct ww_arena *arena, struct ww_error *error) {
    struct ww_select s;
    size_t n;
    WW_TRY(load_counters(db, dict, launch_id, l, arena, error));
    WW_TRY(count(db, "SELECT count(*) FROM cta WHERE launch_id = ?1", launch_id, &n, error));
    if (!n) return WW_OK;
    l->cta = ww_arena_array(arena, n, sizeof *l->cta);
    if (!l->cta) return ww_fail_nomem(error, "a launch's CTAs");
    WW_TRY(ww_select_open(&s, db,
                          "SELECT cta, sm, slot, first_cycle, end_cycle, start_ps, end_ps FROM cta"
                          " WHERE launch_id = ?1 ORDER BY ord",
                          launch_id, error));
    while (l->cta_count < n && ww_select_row(&s)) {
        struct ww_cta_span *c = &l->cta[l->cta_count++];
        c->cta = ww_select_u64(&s);
        c->sm = ww_select_u32(&s);
        c->slot = ww_select_u32(&s);
        c->first_cycle = ww_select_u64(&s);
        c->end_cycle = ww_select_u64(&s);
        c->start_ps = ww_select_u64(&s);
        c->end_ps = ww_select_u64(&s);
    }
    return ww_select_close(&s);
}
