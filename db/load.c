/* Reading a run back from the database. */
#include "../estimator/api/run.h"
#include "../estimator/api/database.h"
#include "../estimator/result/result.h"
#include "../estimator/base/locale.h"
#include "db.h"
#include <inttypes.h>
#include <stdlib.h>

/* What one loaded result may take: a database is untrusted. */
#define LOAD_LIMIT ((size_t)4 << 30)

static uint64_t parse_seed(struct ww_select *s, const char *text) {
    uint64_t seed = 0;
    bool ok = *text != 0;
    for (const char *p = text; *p && ok; p++)
        ok = *p >= '0' && *p <= '9' && !__builtin_mul_overflow(seed, 10u, &seed) &&
             !__builtin_add_overflow(seed, (uint64_t)(*p - '0'), &seed);
    if (!ok) ww_select_refuse(s, "a decimal number of 64 bits");
    return seed;
}

static double energy_or_zero(struct ww_select *s, bool known) {
    if (known) return ww_select_f64(s);
    s->next++;
    return 0;
}

static void read_run(struct ww_select *s, struct ww_result *r, struct ww_arena *arena) {
    r->gpu = ww_select_text(s, arena);
    r->gpu_json = ww_select_text(s, arena);
    r->trace = ww_select_text(s, arena);
    r->trace_hash = ww_select_text(s, arena);
    r->program = ww_select_text(s, arena);
    r->mode = ww_select_text(s, arena);
    r->version = ww_select_text(s, arena);
    r->seed = parse_seed(s, ww_select_text(s, arena));
    r->epoch_cycles = ww_select_u32(s);
    r->cycles = ww_select_u64(s);
    r->time_ps = ww_select_u64(s);
    r->warp_instructions = ww_select_u64(s);
    r->thread_instructions = ww_select_u64(s);
    r->energy_known = !ww_select_is_null(s);
    r->energy_j = energy_or_zero(s, r->energy_known);
    r->confidence = ww_select_f64(s);
    r->cycles_interval.lo = ww_select_f64(s);
    r->cycles_interval.hi = ww_select_f64(s);
    r->energy_interval.lo = energy_or_zero(s, r->energy_known);
    r->energy_interval.hi = energy_or_zero(s, r->energy_known);
    r->host_seconds = ww_select_f64(s);
    if (!ww_select_i64(s) && s->code == WW_OK)
        s->code = ww_db_damaged(s->db, "gpu.json is no JSON object", s->error);
}

static enum ww_code load_run(struct ww_db *db, int64_t run_id, struct ww_result *r, struct ww_arena *arena,
                             struct ww_error *error) {
    struct ww_select s;
    WW_TRY(ww_select_open(
        &s, db,
        "SELECT g.name, g.json, r.trace_path, t.hash, t.program, r.mode, r.version, r.seed,"
        " r.epoch_cycles, r.cycles, r.time_ps, r.warp_instructions, r.thread_instructions,"
        " r.energy_j, r.confidence, r.cycles_lo, r.cycles_hi, r.energy_lo_j, r.energy_hi_j,"
        " r.host_seconds, CASE WHEN json_valid(g.json) THEN json_type(g.json) = 'object' ELSE 0 END"
        " FROM run r LEFT JOIN gpu g USING(gpu_id) LEFT JOIN trace t USING(trace_id)"
        " WHERE r.run_id = ?1",
        run_id, error));
    if (ww_select_row(&s))
        read_run(&s, r, arena);
    else if (s.code == WW_OK)
        s.code = ww_db_no_run(db, run_id, error);
    return ww_select_close(&s);
}

static enum ww_code load_settings(struct ww_db *db, int64_t run_id, struct ww_result *r, struct ww_arena *arena,
                                  struct ww_error *error) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, db, "SELECT count(*) FROM run_setting WHERE run_id = ?1", run_id, error));
    size_t count = ww_select_row(&s) ? ww_select_u64(&s) : 0;
    WW_TRY(ww_select_close(&s));
    r->mechanism = ww_arena_array(arena, count, sizeof *r->mechanism);
    if (!r->mechanism) return ww_fail_nomem(error, "a run's settings");
    WW_TRY(ww_select_open(&s, db, "SELECT key, value FROM run_setting WHERE run_id = ?1 ORDER BY ord", run_id,
                          error));
    while (r->mechanism_count < count && ww_select_row(&s)) {
        struct ww_setting *m = &r->mechanism[r->mechanism_count++];
        m->key = ww_select_text(&s, arena);
        m->value = ww_select_text(&s, arena);
    }
    return ww_select_close(&s);
}

static enum ww_code load_overrides(struct ww_db *db, int64_t run_id, struct ww_result *r,
                                   struct ww_arena *arena, struct ww_error *error) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, db, "SELECT count(*) FROM run_override WHERE run_id = ?1", run_id, error));
    size_t count = ww_select_row(&s) ? ww_select_u64(&s) : 0;
    WW_TRY(ww_select_close(&s));
    r->override = ww_arena_array(arena, count, sizeof *r->override);
    if (!r->override) return ww_fail_nomem(error, "a run's overrides");
    WW_TRY(ww_select_open(&s, db, "SELECT key, value, base FROM run_override WHERE run_id = ?1 ORDER BY key",
                          run_id, error));
    while (r->override_count < count && ww_select_row(&s)) {
        struct ww_override *o = &r->override[r->override_count++];
        o->key = ww_select_text(&s, arena);
        o->value = ww_select_text(&s, arena);
        o->base = ww_select_text(&s, arena);
    }
    return ww_select_close(&s);
}

static enum ww_code load(struct ww_db *db, int64_t run_id, struct ww_result *r, struct ww_error *error) {
    struct ww_arena *arena = r->owner;
    struct ww_dict dict;
    WW_TRY(ww_dict_read(db, &dict, error));
    WW_TRY(load_run(db, run_id, r, arena, error));
    WW_TRY(load_settings(db, run_id, r, arena, error));
    WW_TRY(load_overrides(db, run_id, r, arena, error));
    WW_TRY(ww_db_load_sampling(db, run_id, r, arena, error));
    WW_TRY(ww_db_load_copies(db, run_id, r, arena, error));
    WW_TRY(ww_db_load_launches(db, &dict, run_id, r, arena, error));
    for (size_t i = 0; i < r->launch_count; i++)
        if (r->launch[i].with_copies_end_ps > r->with_copies_ps)
            r->with_copies_ps = r->launch[i].with_copies_end_ps;
    return WW_OK;
}

enum ww_code ww_db_last_run(struct ww_db *db, int64_t *run_id, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    WW_TRY(ww_db_get_int(db, "SELECT coalesce(max(run_id), 0) FROM run", run_id, error));
    return *run_id ? WW_OK
                   : ww_fail(error, WW_DB, db->path, "there is no run yet; `warpwatt run --db` stores one");
}

enum ww_code ww_db_load(struct ww_db *db, int64_t run_id, struct ww_result **out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    *out = NULL;
    struct ww_result *r = calloc(1, sizeof *r);
    struct ww_arena *arena = malloc(sizeof *arena);
    if (!r || !arena) {
        free(r);
        free(arena);
        return ww_fail_nomem(error, "a result");
    }
    ww_arena_init(arena, LOAD_LIMIT);
    r->owner = arena;
    /* one transaction, so that all tables are of the same moment */
    enum ww_code code = ww_db_exec(db, "BEGIN", "reading a run", error);
    if (code == WW_OK) code = ww_db_finish(db, load(db, run_id, r, error), error);
    if (code == WW_OK)
        *out = r;
    else
        ww_result_free(r);
    return code;
}
