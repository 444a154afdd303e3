/* Storing a run in one transaction. */
#include "../estimator/api/database.h"
#include "../estimator/result/result.h"
#include "../estimator/base/locale.h"
#include "db.h"
#include "schema.h"
#include "../estimator/base/hash.h"
#include <inttypes.h>
#include <string.h>

/* 128 bits in hex: two hashes of different seeds. `out` holds 33 bytes. */
static void content_hash(const char *text, char out[33]) {
    size_t n = strlen(text);
    snprintf(out, 33, "%016" PRIx64 "%016" PRIx64, ww_hash_bytes(text, n, 0), ww_hash_bytes(text, n, 1));
}

/* The id of the row of `table` whose columns a and b are these, made if there is none. */
static enum ww_code find_id(struct ww_db *db, const char *sql, const char *a, const char *b, int64_t *id,
                            struct ww_error *error) {
    sqlite3_stmt *stmt;
    *id = 0;
    if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK) return ww_db_fail(db, "storing", error);
    sqlite3_bind_text(stmt, 1, a, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 2, b, -1, SQLITE_STATIC);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) *id = sqlite3_column_int64(stmt, 0);
    enum ww_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? WW_OK : ww_db_fail(db, "storing", error);
    sqlite3_finalize(stmt);
    return code;
}

/* One row for each parameter, so that SQL can ask for it by key. */
static enum ww_code store_params(struct ww_db *db, int64_t gpu_id, const char *json, struct ww_error *error) {
    sqlite3_stmt *stmt;
    const char *sql = "INSERT INTO gpu_param(gpu_id, key, value) SELECT ?1, substr(path || '.' || key, 3), atom"
                      " FROM json_tree(?2) WHERE type NOT IN ('object', 'array')";
    if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK) return ww_db_fail(db, "storing", error);
    sqlite3_bind_int64(stmt, 1, gpu_id);
    sqlite3_bind_text(stmt, 2, json, -1, SQLITE_STATIC);
    enum ww_code code = sqlite3_step(stmt) == SQLITE_DONE ? WW_OK : ww_db_fail(db, "storing the GPU", error);
    sqlite3_finalize(stmt);
    return code;
}

enum ww_code ww_db_store_gpu(struct ww_db *db, const char *name, const char *json, int64_t *id,
                             struct ww_error *error) {
    char hash[33];
    content_hash(json, hash);
    WW_TRY(find_id(db, "SELECT gpu_id FROM gpu WHERE hash = ?1 AND name = ?2", hash, name, id, error));
    if (*id) return WW_OK;
    struct ww_insert in;
    if (ww_insert_open(&in, db, "gpu", "name, hash, json", error) == WW_OK) {
        ww_insert_text(&in, name);
        ww_insert_text(&in, hash);
        ww_insert_text(&in, json);
        ww_insert_run(&in, id);
    }
    ww_insert_close(&in);
    return in.code == WW_OK ? store_params(db, *id, json, error) : in.code;
}

enum ww_code ww_db_store_trace(struct ww_db *db, const char *hash, const char *program, int64_t *id,
                               struct ww_error *error) {
    WW_TRY(
        find_id(db, "SELECT trace_id FROM trace WHERE hash = ?1 AND program = ?2", hash, program, id, error));
    if (*id) return WW_OK;
    struct ww_insert in;
    if (ww_insert_open(&in, db, "trace", "hash, program", error) == WW_OK) {
        ww_insert_text(&in, hash);
        ww_insert_text(&in, program);
        ww_insert_run(&in, id);
    }
    ww_insert_close(&in);
    return in.code;
}

static void put_energy(struct ww_insert *in, bool known, double joules) {
    if (known)
        ww_insert_f64(in, joules);
    else
        ww_insert_null(in);
}

static void put_run(struct ww_insert *in, const struct ww_result *r, const char *seed) {
    ww_insert_text(in, r->trace);
    ww_insert_text(in, r->mode);
    ww_insert_text(in, r->version);
    ww_insert_text(in, seed);
    ww_insert_u64(in, r->epoch_cycles);
    ww_insert_u64(in, r->cycles);
    ww_insert_u64(in, r->time_ps);
    ww_insert_u64(in, r->warp_instructions);
    ww_insert_u64(in, r->thread_instructions);
    put_energy(in, r->energy_known, r->energy_j);
    ww_insert_f64(in, r->confidence);
    ww_insert_f64(in, r->cycles_interval.lo);
    ww_insert_f64(in, r->cycles_interval.hi);
    put_energy(in, r->energy_known, r->energy_interval.lo);
    put_energy(in, r->energy_known, r->energy_interval.hi);
    ww_insert_f64(in, r->host_seconds);
}

static enum ww_code store_run(struct ww_db *db, const struct ww_result *r, int64_t *id,
                              struct ww_error *error) {
    int64_t gpu_id, trace_id;
    WW_TRY(ww_db_store_gpu(db, r->gpu ? r->gpu : "", r->gpu_json ? r->gpu_json : "{}", &gpu_id, error));
    WW_TRY(ww_db_store_trace(db, r->trace_hash ? r->trace_hash : "", r->program ? r->program : "", &trace_id,
                             error));
    struct ww_insert in;
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, r->seed);
    if (ww_insert_open(&in, db, "run",
                       "gpu_id, trace_id, trace_path, mode, version, seed, epoch_cycles, cycles, time_ps,"
                       "warp_instructions, thread_instructions, energy_j, confidence, cycles_lo, cycles_hi,"
                       "energy_lo_j, energy_hi_j, host_seconds",
                       error) == WW_OK) {
        ww_insert_i64(&in, gpu_id);
        ww_insert_i64(&in, trace_id);
        put_run(&in, r, seed);
        ww_insert_run(&in, id);
    }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code store_settings(struct ww_db *db, int64_t run_id, const struct ww_result *r,
                                   struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(&in, db, "run_setting", "run_id, ord, key, value", error);
    for (size_t i = 0; i < r->mechanism_count && in.code == WW_OK; i++) {
        ww_insert_i64(&in, run_id);
        ww_insert_u64(&in, i);
        ww_insert_text(&in, r->mechanism[i].key);
        ww_insert_text(&in, r->mechanism[i].value);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code store_overrides(struct ww_db *db, int64_t run_id, const struct ww_result *r,
                                    struct ww_error *error) {
    struct ww_insert in;
    ww_insert_open(&in, db, "run_override", "run_id, key, value, base", error);
    for (size_t i = 0; i < r->override_count && in.code == WW_OK; i++) {
        ww_insert_i64(&in, run_id);
        ww_insert_text(&in, r->override[i].key);
        ww_insert_text(&in, r->override[i].value);
        ww_insert_text(&in, r->override[i].base);
        ww_insert_run(&in, NULL);
    }
    ww_insert_close(&in);
    return in.code;
}

static enum ww_code store(struct ww_db *db, const struct ww_result *r, int64_t *run_id,
                          struct ww_error *error) {
    struct ww_dict dict;
    WW_TRY(ww_dict_sync(db, error));
    WW_TRY(ww_dict_read(db, &dict, error));
    WW_TRY(store_run(db, r, run_id, error));
    WW_TRY(store_settings(db, *run_id, r, error));
    WW_TRY(store_overrides(db, *run_id, r, error));
    WW_TRY(ww_db_store_sampling(db, *run_id, r, error));
    WW_TRY(ww_db_store_copies(db, *run_id, r, error));
    WW_TRY(ww_db_store_launches(db, &dict, *run_id, r, error));
    char sql[600];
    snprintf(sql, sizeof sql, WW_DB_WEIGHTS " AND l.run_id = %" PRId64, *run_id);
    return r->sampling.row_count ? ww_db_exec(db, sql, "storing a run's weights", error) : WW_OK;
}

enum ww_code ww_db_store(struct ww_db *db, const struct ww_result *result, int64_t *run_id,
                         struct ww_error *error) {
    WW_PLAIN_LOCALE;
    int64_t id = 0;
    WW_TRY(ww_db_exec(db, "BEGIN IMMEDIATE", "storing a run", error));
    enum ww_code code = ww_db_finish(db, store(db, result, &id, error), error);
    if (code == WW_OK && run_id) *run_id = id;
    return code;
}
