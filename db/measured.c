/* Measurements of real GPUs in the database. */
#include "../estimator/api/database.h"
#include "../estimator/api/hardware.h"
#include "../estimator/base/locale.h"
#include "db.h"
#include "../estimator/result/measured.h"
#include <inttypes.h>
#include <string.h>

#define LOAD_LIMIT ((size_t)256 << 20)

/* ---- storing ---- */

static enum ww_code find_hash(struct ww_db *db, const char *hash, int64_t *id, struct ww_error *error) {
    sqlite3_stmt *stmt;
    *id = 0;
    if (sqlite3_prepare_v2(db->sql, "SELECT hardware_id FROM hardware WHERE hash = ?1", -1, &stmt, NULL) !=
        SQLITE_OK)
        return ww_db_fail(db, "storing", error);
    sqlite3_bind_text(stmt, 1, hash, -1, SQLITE_STATIC);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) *id = sqlite3_column_int64(stmt, 0);
    enum ww_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? WW_OK : ww_db_fail(db, "storing", error);
    sqlite3_finalize(stmt);
    return code;
}

static enum ww_code store_head(struct ww_db *db, const struct ww_measured *m, int64_t *id,
                               struct ww_error *error) {
    struct ww_insert in;
    if (ww_insert_open(&in, db, "hardware",
                       "hash, source, gpu, compute_capability, driver, ended, sms, l2_bytes, memory_clock_khz,"
                       " memory_bus_bits, quick, json",
                       error) == WW_OK) {
        ww_insert_text(&in, m->hash);
        ww_insert_text(&in, m->source);
        ww_insert_text(&in, m->gpu);
        ww_insert_text(&in, m->compute_capability);
        ww_insert_text(&in, m->driver);
        ww_insert_text(&in, m->ended);
        ww_insert_u64(&in, m->sms);
        ww_insert_u64(&in, m->l2_bytes);
        ww_insert_u64(&in, m->memory_clock_khz);
        ww_insert_u64(&in, m->memory_bus_bits);
        ww_insert_i64(&in, m->quick);
        ww_insert_text(&in, m->gpu_json);
        ww_insert_run(&in, id);
    }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code store_figures(struct ww_db *db, const struct ww_measured *m, int64_t id,
                                  struct ww_error *error) {
    struct ww_insert in;
    if (ww_insert_open(&in, db, "hardware_figure",
                       "hardware_id, ord, part, method, parameters, unit, median, low, high, repetitions",
                       error) == WW_OK)
        for (size_t i = 0; i < m->figure_count && in.code == WW_OK; i++) {
            const struct ww_measured_figure *f = &m->figure[i];
            ww_insert_i64(&in, id);
            ww_insert_u64(&in, i);
            ww_insert_text(&in, f->part);
            ww_insert_text(&in, f->method);
            ww_insert_text(&in, f->parameters);
            ww_insert_text(&in, f->unit);
            ww_insert_f64(&in, f->median);
            ww_insert_f64(&in, f->low);
            ww_insert_f64(&in, f->high);
            ww_insert_u64(&in, f->count);
            ww_insert_run(&in, NULL);
        }
    ww_insert_close(&in);
    return in.code;
}

/* Grid or block; NULL where it is not known. */
static void put_size(struct ww_insert *in, const uint32_t size[3]) {
    for (int d = 0; d < 3; d++)
        if (size[0] && size[1] && size[2])
            ww_insert_u64(in, size[d]);
        else
            ww_insert_null(in);
}

static void put_point(struct ww_insert *in, const struct ww_measured_point *p, const char *seed) {
    ww_insert_text(in, p->workload);
    ww_insert_text(in, p->parameters);
    ww_insert_text(in, seed);
    if (p->launch == WW_ALL_LAUNCHES)
        ww_insert_null(in);
    else
        ww_insert_u64(in, p->launch);
    ww_insert_text(in, p->kernel);
    ww_insert_text(in, ww_metric_name(p->metric));
    ww_insert_f64(in, p->value);
    ww_insert_f64(in, p->low);
    ww_insert_f64(in, p->high);
    ww_insert_u64(in, p->count);
    ww_insert_i64(in, p->verified);
    put_size(in, p->grid);
    put_size(in, p->block);
}

static enum ww_code store_points(struct ww_db *db, const struct ww_measured *m, int64_t id,
                                 struct ww_error *error) {
    struct ww_insert in;
    char seed[24];
    if (ww_insert_open(&in, db, "hardware_point",
                       "hardware_id, ord, workload, parameters, seed, launch, kernel, metric, value, low, high,"
                       " repetitions, verified, grid_x, grid_y, grid_z, block_x, block_y, block_z",
                       error) == WW_OK)
        for (size_t i = 0; i < m->point_count && in.code == WW_OK; i++) {
            snprintf(seed, sizeof seed, "%" PRIu64, m->point[i].seed);
            ww_insert_i64(&in, id);
            ww_insert_u64(&in, i);
            put_point(&in, &m->point[i], seed);
            ww_insert_run(&in, NULL);
        }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code store(struct ww_db *db, const struct ww_measured *m, int64_t *id, bool *stored,
                          struct ww_error *error) {
    WW_TRY(find_hash(db, m->hash, id, error));
    *stored = *id == 0;
    if (*id) return WW_OK;
    WW_TRY(store_head(db, m, id, error));
    WW_TRY(store_figures(db, m, *id, error));
    return store_points(db, m, *id, error);
}

enum ww_code ww_db_store_measured(struct ww_db *db, const struct ww_measured *m, int64_t *id, bool *stored,
                                  struct ww_error *error) {
    WW_PLAIN_LOCALE;
    WW_TRY(ww_db_exec(db, "BEGIN IMMEDIATE", "storing", error));
    return ww_db_finish(db, store(db, m, id, stored, error), error);
}

/* ---- loading ---- */

static enum ww_code load_head(struct ww_db *db, struct ww_measured *m, int64_t id, struct ww_error *error) {
    struct ww_select s;
    bool there = false;
    if (ww_select_open(&s, db,
                       "SELECT hash, source, gpu, compute_capability, driver, ended, sms, l2_bytes,"
                       " memory_clock_khz, memory_bus_bits, quick, json FROM hardware WHERE hardware_id = ?1",
                       id, error) == WW_OK &&
        (there = ww_select_row(&s))) {
        m->hash = ww_select_text(&s, m->arena);
        m->source = ww_select_text(&s, m->arena);
        m->gpu = ww_select_text(&s, m->arena);
        m->compute_capability = ww_select_text(&s, m->arena);
        m->driver = ww_select_text(&s, m->arena);
        m->ended = ww_select_text(&s, m->arena);
        m->sms = ww_select_u32(&s);
        m->l2_bytes = ww_select_u64(&s);
        m->memory_clock_khz = ww_select_u64(&s);
        m->memory_bus_bits = ww_select_u64(&s);
        m->quick = ww_select_i64(&s) != 0;
        m->gpu_json = ww_select_text(&s, m->arena);
    }
    WW_TRY(ww_select_close(&s));
    if (there) return WW_OK;
    return ww_fail(error, WW_DB, db->path, "there is no measurement %" PRId64, id);
}

/* Room for the rows of a table that belong to the measurement. */
static enum ww_code make_room(struct ww_db *db, struct ww_measured *m, const char *sql, int64_t id, size_t size,
                              void *out, struct ww_error *error) {
    struct ww_select s;
    uint64_t n = 0;
    if (ww_select_open(&s, db, sql, id, error) == WW_OK && ww_select_row(&s)) n = ww_select_u64(&s);
    WW_TRY(ww_select_close(&s));
    void *p = ww_arena_array(m->arena, (size_t)n + 1, size);
    if (!p) return ww_fail_nomem(error, "a measurement");
    memcpy(out, &p, sizeof p);
    return WW_OK;
}

static enum ww_code load_figures(struct ww_db *db, struct ww_measured *m, int64_t id, struct ww_error *error) {
    struct ww_select s;
    WW_TRY(make_room(db, m, "SELECT count(*) FROM hardware_figure WHERE hardware_id = ?1", id,
                     sizeof *m->figure, &m->figure, error));
    if (ww_select_open(
            &s, db,
            "SELECT part, method, parameters, unit, median, low, high, repetitions FROM hardware_figure"
            " WHERE hardware_id = ?1 ORDER BY ord",
            id, error) == WW_OK)
        while (ww_select_row(&s)) {
            struct ww_measured_figure *f = &m->figure[m->figure_count++];
            f->part = ww_select_text(&s, m->arena);
            f->method = ww_select_text(&s, m->arena);
            f->parameters = ww_select_text(&s, m->arena);
            f->unit = ww_select_text(&s, m->arena);
            f->median = ww_select_f64(&s);
            f->low = ww_select_f64(&s);
            f->high = ww_select_f64(&s);
            f->count = ww_select_u64(&s);
        }
    return ww_select_close(&s);
}

static enum ww_metric read_metric(struct ww_select *s, const char *name) {
    for (int i = 0; i < WW_METRIC_COUNT; i++)
        if (strcmp(name, ww_metric_name((enum ww_metric)i)) == 0) return (enum ww_metric)i;
    if (s->code == WW_OK) ww_select_refuse(s, "time_s, cycles, power_w or energy_j");
    return WW_METRIC_TIME;
}

static uint64_t read_seed(struct ww_select *s, const char *text) {
    uint64_t seed = 0;
    bool good = *text != 0;
    for (const char *p = text; *p && good; p++)
        good = *p >= '0' && *p <= '9' && !__builtin_mul_overflow(seed, 10u, &seed) &&
               !__builtin_add_overflow(seed, (uint64_t)(*p - '0'), &seed);
    if (!good && s->code == WW_OK) ww_select_refuse(s, "a decimal number of 64 bits");
    return seed;
}

static void read_size(struct ww_select *s, uint32_t size[3]) {
    for (int d = 0; d < 3; d++) size[d] = ww_select_skip_null(s) ? 0 : ww_select_u32(s);
    if (s->code == WW_OK && (!size[0] != !size[1] || !size[0] != !size[2]))
        ww_select_refuse(s, "three sizes or none");
}

static void read_point(struct ww_select *s, struct ww_measured_point *p, struct ww_arena *arena) {
    p->workload = ww_select_text(s, arena);
    p->parameters = ww_select_text(s, arena);
    p->seed = read_seed(s, ww_select_text(s, arena));
    p->launch = WW_ALL_LAUNCHES;
    if (ww_select_is_null(s))
        s->next++;
    else
        p->launch = ww_select_u32(s);
    p->kernel = ww_select_text(s, arena);
    p->metric = read_metric(s, ww_select_text(s, arena));
    p->value = ww_select_f64(s);
    if (!(p->value > 0) && s->code == WW_OK) ww_select_refuse(s, "a number greater than 0");
    p->low = ww_select_f64(s);
    p->high = ww_select_f64(s);
    p->count = ww_select_u64(s);
    p->verified = ww_select_i64(s) != 0;
    read_size(s, p->grid);
    read_size(s, p->block);
}

static enum ww_code load_points(struct ww_db *db, struct ww_measured *m, int64_t id, struct ww_error *error) {
    struct ww_select s;
    WW_TRY(make_room(db, m, "SELECT count(*) FROM hardware_point WHERE hardware_id = ?1", id, sizeof *m->point,
                     &m->point, error));
    if (ww_select_open(
            &s, db,
            "SELECT workload, parameters, seed, launch, kernel, metric, value, low, high, repetitions,"
            " verified, grid_x, grid_y, grid_z, block_x, block_y, block_z FROM hardware_point WHERE "
            "hardware_id = ?1 ORDER BY ord",
            id, error) == WW_OK)
        while (ww_select_row(&s)) read_point(&s, &m->point[m->point_count++], m->arena);
    return ww_select_close(&s);
}

static enum ww_code load(struct ww_db *db, int64_t id, struct ww_measured *m, struct ww_error *error) {
    if (id == 0) WW_TRY(ww_db_get_int(db, "SELECT coalesce(max(hardware_id), 0) FROM hardware", &id, error));
    if (id == 0)
        return ww_fail(error, WW_DB, db->path,
                       "there is no measurement; `warpwatt hardware import` stores one");
    WW_TRY(load_head(db, m, id, error));
    WW_TRY(load_figures(db, m, id, error));
    return load_points(db, m, id, error);
}

/* Within one transaction, so that all tables are of one state. */
enum ww_code ww_db_load_measured(struct ww_db *db, int64_t id, struct ww_measured **out,
                                 struct ww_error *error) {
    WW_PLAIN_LOCALE;
    *out = NULL;
    struct ww_measured *m = ww_measured_new();
    if (!m) return ww_fail_nomem(error, "a measurement");
    enum ww_code code = ww_db_exec(db, "BEGIN", "reading", error);
    if (code == WW_OK) code = ww_db_finish(db, load(db, id, m, error), error);
    if (code == WW_OK)
        *out = m;
    else
        ww_measured_free(m);
    return code;
}

/* ---- runs ---- */

enum ww_code ww_db_find_run(struct ww_db *db, const char *workload, const char *gpu, int64_t *id,
                            struct ww_error *error) {
    WW_PLAIN_LOCALE;
    sqlite3_stmt *stmt;
    const char *slash = strrchr(workload, '/'), *name = slash ? slash + 1 : workload;
    size_t n = strlen(name);
    if (n > 4 && strcmp(name + n - 4, ".wwt") == 0) n -= 4;
    const char *sql = "SELECT max(run_id) FROM v_workload JOIN run USING(run_id) JOIN gpu USING(gpu_id)"
                      " WHERE workload = ?1 AND gpu.name = ?2";
    if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK) return ww_db_fail(db, "reading", error);
    sqlite3_bind_text(stmt, 1, name, (int)n, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 2, gpu, -1, SQLITE_STATIC);
    int rc = sqlite3_step(stmt);
    *id = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    enum ww_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? WW_OK : ww_db_fail(db, "reading", error);
    sqlite3_finalize(stmt);
    if (code == WW_OK && *id == 0)
        return ww_fail(error, WW_DB, db->path, "there is no run of %.*s on %.80s", (int)n, name, gpu);
    return code;
}
