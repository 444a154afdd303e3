/* Storing and loading results. */
#include "../../estimator/warpwatt.h"
#include "db_fixture.h"
#include "../../estimator/result/packed.h"
#include "../../db/db.h"
#include "../../db/schema.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void round_trip(struct ww_db_fixture *f, const struct ww_fixture *options) {
    struct ww_result *stored = ww_fixture_result(options), *loaded = NULL;
    int64_t id = ww_db_fixture_store(f, options);
    ww_db_fixture_reopen(f);
    assert_int_equal(ww_db_load(f->db, id, &loaded, &f->error), WW_OK);
    stored->peak_memory_bytes = 0; /* differs from time to time, so that it is not kept */
    ww_fixture_assert_equal(stored, loaded);
    ww_result_free(stored);
    ww_result_free(loaded);
}

static void fixture_obeys_the_conservation_laws(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r = ww_fixture_result(NULL);
    if (ww_result_check(r, &f->error) != WW_OK) fail_msg("%s: %s", f->error.where, f->error.text);
    ww_result_free(r);
}

static void a_result_loads_as_it_was_stored(void **state) {
    round_trip(*state, NULL);
}

static void a_result_without_energy_loads_as_it_was_stored(void **state) {
    round_trip(*state, &(struct ww_fixture){.seed = 3, .no_energy = true});
}

static void a_seed_of_all_ones_survives(void **state) {
    round_trip(*state, &(struct ww_fixture){.seed = UINT64_MAX});
}

static void the_largest_integer_survives(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r = ww_fixture_result(NULL), *loaded = NULL;
    r->launch[0].counter[WW_C_FETCH] = INT64_MAX;
    int64_t id;
    assert_int_equal(ww_db_store(f->db, r, &id, &f->error), WW_OK);
    assert_int_equal(ww_db_load(f->db, id, &loaded, &f->error), WW_OK);
    assert_true(loaded->launch[0].counter[WW_C_FETCH] == INT64_MAX);
    ww_result_free(r);
    ww_result_free(loaded);
}

static void runs_are_numbered_from_one(void **state) {
    assert_int_equal(ww_db_fixture_store(*state, NULL), 1);
    assert_int_equal(ww_db_fixture_store(*state, NULL), 2);
}

static char *dump_sizes(struct ww_db_fixture *f) {
    return ww_db_fixture_query(
        f,
        "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM gpu), (SELECT count(*) FROM"
        " trace), (SELECT count(*) FROM launch), (SELECT count(*) FROM epoch_state), (SELECT"
        " count(*) FROM kernel), (SELECT count(*) FROM counter)",
        WW_FORMAT_CSV);
}

static void store_refused(struct ww_db_fixture *f, struct ww_result *bad, const char *why) {
    ww_db_fixture_store(f, NULL);
    char *before = dump_sizes(f);
    assert_int_equal(ww_db_store(f->db, bad, NULL, &f->error), WW_DB);
    ww_fixture_assert_contains(f->error.text, why);
    char *after = dump_sizes(f);
    assert_string_equal(before, after);
    free(before);
    free(after);
    ww_result_free(bad);
}

static void a_counter_above_63_bits_is_refused_and_changes_nothing(void **state) {
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.seed = 9, .gpu = "other"});
    r->launch[1].pc[4].counter[WW_I_ISSUES] = (uint64_t)INT64_MAX + 1;
    store_refused(*state, r, "pc.issues is 9223372036854775808");
}

static void an_energy_that_is_no_number_is_refused_and_changes_nothing(void **state) {
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.seed = 9, .gpu = "other"});
    r->launch[1].energy.static_j[3] = 0.0 / strtod("0", NULL);
    store_refused(*state, r, "launch_energy.static_j is not a number");
}

static void a_gpu_that_is_no_json_is_refused_and_changes_nothing(void **state) {
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.seed = 9, .gpu = "other"});
    r->gpu_json = "{\"a\":";
    store_refused(*state, r, "JSON");
}

/* Storing fails with `code` while pages (or heap) are limited, changes nothing, and works when it is lifted. */
static void fails_under_limit(struct ww_db_fixture *f, enum ww_code code, bool heap) {
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.seed = 9, .launches = 200});
    ww_db_fixture_store(f, NULL);
    char *before = dump_sizes(f);
    if (heap)
        sqlite3_hard_heap_limit64(sqlite3_memory_used() + 100000);
    else
        sqlite3_exec(f->db->sql, "PRAGMA max_page_count = 130", NULL, NULL, NULL);
    enum ww_code got = ww_db_store(f->db, r, NULL, &f->error);
    sqlite3_hard_heap_limit64(0);
    sqlite3_exec(f->db->sql, "PRAGMA max_page_count = 1000000", NULL, NULL, NULL);
    assert_int_equal(got, code);
    char *after = dump_sizes(f);
    assert_string_equal(before, after);
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
    free(before);
    free(after);
    ww_result_free(r);
}

static void a_full_disk_is_an_error_and_changes_nothing(void **state) {
    fails_under_limit(*state, WW_IO, false);
}

static void running_out_of_memory_is_an_error_and_changes_nothing(void **state) {
    fails_under_limit(*state, WW_NOMEM, true);
}

static void packed_counters_are_stored_like_others(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *plain = ww_fixture_result(&(struct ww_fixture){.launches = 5}), *loaded;
    struct ww_result *packed = ww_fixture_result(&(struct ww_fixture){.launches = 5});
    struct ww_pc_packer packer = {0};
    int64_t id = 0;
    for (size_t i = 0; i < packed->launch_count; i++)
        assert_int_equal(ww_pc_pack(&packer, &packed->launch[i], packed->owner, &f->error), WW_OK);
    assert_int_equal(ww_db_store(f->db, packed, &id, &f->error), WW_OK);
    assert_int_equal(ww_db_load(f->db, id, &loaded, &f->error), WW_OK);
    plain->peak_memory_bytes = 0; /* not stored */
    ww_fixture_assert_equal(loaded, plain);
    ww_pc_packer_free(&packer);
    ww_result_free(plain);
    ww_result_free(packed);
    ww_result_free(loaded);
}

static void overrides_are_stored_with_the_model_s_own_values(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r = ww_fixture_result(NULL), *loaded;
    struct ww_override made[] = {{"l2.size_kb", "3072", "6144"}, {"sm.count", "40", "80"}};
    int64_t id = 0;
    r->override = made;
    r->override_count = 2;
    assert_int_equal(ww_db_store(f->db, r, &id, &f->error), WW_OK);
    assert_int_equal(ww_db_load(f->db, id, &loaded, &f->error), WW_OK);
    assert_int_equal(loaded->override_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(loaded->override[i].key, made[i].key);
        assert_string_equal(loaded->override[i].value, made[i].value);
        assert_string_equal(loaded->override[i].base, made[i].base);
    }
    char *text = ww_db_fixture_query(f, "SELECT overrides FROM v_override", WW_FORMAT_CSV);
    assert_string_equal(text, "overrides\r\nl2.size_kb=3072 sm.count=40\r\n");
    free(text);
    ww_result_free(r);
    ww_result_free(loaded);
}

static void gpus_traces_and_kernels_are_stored_once(void **state) {
    ww_db_fixture_store(*state, NULL);
    ww_db_fixture_store(*state, &(struct ww_fixture){.seed = 2, .launches = 5});
    char *text = dump_sizes(*state);
    ww_fixture_assert_contains(text, "\r\n2,1,1,7,");
    ww_fixture_assert_contains(text, ",2,");
    free(text);
}

static void unknown_energy_is_null_never_zero(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, &(struct ww_fixture){.no_energy = true});
    char *text = ww_db_fixture_query(f,
                                     "SELECT energy_j IS NULL AND energy_lo_j IS NULL AND energy_hi_j IS NULL"
                                     " AND (SELECT count(energy_j) FROM launch) = 0"
                                     " AND (SELECT count(dynamic_j) + count(static_j) FROM launch_energy) = 0"
                                     " AND (SELECT count(energy_j) + count(power_w) FROM v_energy) = 0"
                                     " AND (SELECT power_w IS NULL FROM v_run) FROM run",
                                     WW_FORMAT_CSV);
    ww_fixture_assert_contains(text, "\r\n1\r\n");
    free(text);
}

static void gpu_parameters_can_be_asked_by_key(void **state) {
    ww_db_fixture_store(*state, NULL);
    char *text = ww_db_fixture_query(*state,
                                     "SELECT value, typeof(value) FROM gpu_param WHERE key IN ('sm.count',"
                                     " 'dram.type') ORDER BY key",
                                     WW_FORMAT_CSV);
    assert_string_equal(text, "value,typeof(value)\r\ngddr5,text\r\n2,integer\r\n");
    free(text);
}

/* Every row of every table as CSV, without what the host's clock and memory say. */
static char *dump_all(struct ww_db_fixture *f) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    char *names =
        ww_db_fixture_query(f,
                            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT"
                            " IN ('run', 'v_run', 'sqlite_sequence') ORDER BY name",
                            WW_FORMAT_CSV);
    for (char *name = strtok(names, "\r\n"); (name = strtok(NULL, "\r\n"));) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT * FROM %s", name);
        char *rows = ww_db_fixture_query(f, sql, WW_FORMAT_CSV);
        fputs(rows, out);
        free(rows);
    }
    char *runs =
        ww_db_fixture_query(f,
                            "SELECT run_id, gpu_id, trace_id, trace_path, mode, version, seed, epoch_cycles,"
                            " cycles, time_ps, warp_instructions, thread_instructions, energy_j,"
                            " confidence, cycles_lo, cycles_hi, energy_lo_j, energy_hi_j FROM run",
                            WW_FORMAT_CSV);
    fputs(runs, out);
    free(runs);
    free(names);
    fclose(out);
    return text;
}

static void the_same_result_gives_the_same_rows_in_every_table(void **state) {
    struct ww_db_fixture *f = *state, other = {0};
    void *second = &other;
    assert_int_equal(ww_db_fixture_setup(&second), 0);
    ww_db_fixture_store(f, NULL);
    struct ww_result *r = ww_fixture_result(NULL);
    r->host_seconds = 99;
    r->peak_memory_bytes = 1;
    struct ww_db_fixture *g = second;
    assert_int_equal(ww_db_store(g->db, r, NULL, &g->error), WW_OK);
    char *a = dump_all(f), *b = dump_all(g);
    assert_string_equal(a, b);
    assert_true(strlen(a) > 10000);
    free(a);
    free(b);
    ww_result_free(r);
    ww_db_fixture_teardown(&second);
}

static void loading_a_run_that_is_not_there_is_an_error(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r;
    assert_int_equal(ww_db_load(f->db, 7, &r, &f->error), WW_DB);
    assert_null(r);
    ww_fixture_assert_contains(f->error.text, "no run 7");
}

static void a_busy_database_is_an_error_that_says_so(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r = ww_fixture_result(NULL);
    sqlite3 *other;
    sqlite3_open(f->path, &other);
    sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    sqlite3_busy_timeout(f->db->sql, 10);
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_DB);
    ww_fixture_assert_contains(f->error.text, "another program");
    sqlite3_close(other);
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
    ww_result_free(r);
}

/* What each of several programs does at once: makes or opens the database and stores two runs. */
static int store_two(const char *path, uint64_t seed) {
    struct ww_db *db;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.seed = seed});
    enum ww_code code = ww_db_open(path, true, &db, NULL);
    for (int i = 0; i < 2 && code == WW_OK; i++) code = ww_db_store(db, r, NULL, NULL);
    ww_db_close(db);
    ww_result_free(r);
    return code == WW_OK ? 0 : 1;
}

static void programs_that_start_at_once_all_store(void **state) {
    enum { PROGRAMS = 6 };
    struct ww_db_fixture *f = *state;
    pid_t child[PROGRAMS];
    ww_db_close(f->db);
    f->db = NULL;
    unlink(f->path);
    for (int i = 0; i < PROGRAMS; i++)
        if ((child[i] = fork()) == 0) _exit(store_two(f->path, (uint64_t)i));
    int failed = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        int status = -1;
        failed += waitpid(child[i], &status, 0) != child[i] || status != 0;
    }
    assert_int_equal(failed, 0);
    ww_db_fixture_reopen(f);
    char *text = ww_db_fixture_query(f, "SELECT count(*) AS n, max(run_id) AS m FROM run", WW_FORMAT_CSV);
    assert_string_equal(text, "n,m\r\n12,12\r\n");
    free(text);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, ww_db_fixture_setup, ww_db_fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(fixture_obeys_the_conservation_laws),
        T(a_result_loads_as_it_was_stored),
        T(a_result_without_energy_loads_as_it_was_stored),
        T(a_seed_of_all_ones_survives),
        T(the_largest_integer_survives),
        T(runs_are_numbered_from_one),
        T(a_counter_above_63_bits_is_refused_and_changes_nothing),
        T(an_energy_that_is_no_number_is_refused_and_changes_nothing),
        T(a_gpu_that_is_no_json_is_refused_and_changes_nothing),
        T(a_full_disk_is_an_error_and_changes_nothing),
        T(running_out_of_memory_is_an_error_and_changes_nothing),
        T(packed_counters_are_stored_like_others),
        T(overrides_are_stored_with_the_model_s_own_values),
        T(gpus_traces_and_kernels_are_stored_once),
        T(unknown_energy_is_null_never_zero),
        T(gpu_parameters_can_be_asked_by_key),
        T(the_same_result_gives_the_same_rows_in_every_table),
        T(loading_a_run_that_is_not_there_is_an_error),
        T(programs_that_start_at_once_all_store),
        T(a_busy_database_is_an_error_that_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
