/* Opening databases: ours, others', damaged ones. */
#include "../../estimator/warpwatt.h"
#include "db_fixture.h"
#include "../../db/db.h"
#include "../../db/schema.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void close_db(struct ww_db_fixture *f) {
    ww_db_close(f->db);
    f->db = NULL;
}

static void write_file(const char *path, const void *data, size_t n) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, n, file), n);
    fclose(file);
}

/* Opening fails with `code` and a text that has `why`, also if the file might be created. */
static void refused(struct ww_db_fixture *f, const char *path, enum ww_code code, const char *why) {
    for (int create = 0; create < 2; create++) {
        struct ww_db *db = NULL;
        assert_int_equal(ww_db_open(path, create, &db, &f->error), code);
        assert_null(db);
        ww_fixture_assert_contains(f->error.text, why);
        ww_fixture_assert_contains(f->error.where, path);
    }
}

static void a_missing_database_is_an_error_unless_it_may_be_made(void **state) {
    struct ww_db_fixture *f = *state;
    char path[128];
    struct ww_db *db;
    snprintf(path, sizeof path, "%s/none.db", f->dir);
    assert_int_equal(ww_db_open(path, false, &db, &f->error), WW_IO);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(ww_db_open(path, true, &db, &f->error), WW_OK);
    ww_db_close(db);
}

static void a_new_database_is_marked_as_ours(void **state) {
    struct ww_db_fixture *f = *state;
    close_db(f);
    char *bytes = ww_fixture_read(f->path);
    assert_memory_equal(bytes + 68, "WwDB", 4);
    assert_int_equal(bytes[63], ww_db_step_count);
    free(bytes);
}

static void a_local_database_logs_ahead(void **state) {
    struct ww_db_fixture *f = *state;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(f->db->sql, "PRAGMA journal_mode", -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_string_equal(sqlite3_column_text(stmt, 0), "wal");
    sqlite3_finalize(stmt);
}

static void network_file_systems_are_known(void **state) {
    (void)state;
    assert_true(ww_is_network_fs(0x6969));
    assert_true(ww_is_network_fs(0xff534d42));
    assert_true(ww_is_network_fs(0xffffffffff534d42)); /* as a sign-extended f_type */
    assert_false(ww_is_network_fs(0xef53));            /* ext4 */
    assert_false(ww_is_network_fs(0x9123683e));        /* btrfs */
    assert_false(ww_is_network_fs(0x01021994));        /* tmpfs */
}

static void foreign_keys_are_enforced(void **state) {
    struct ww_db_fixture *f = *state;
    int rc = sqlite3_exec(f->db->sql, "INSERT INTO run_setting VALUES(99, 0, 'a', 'b')", NULL, NULL, NULL);
    assert_int_equal(rc, SQLITE_CONSTRAINT);
}

static void deleting_a_run_deletes_what_belongs_to_it(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    assert_int_equal(sqlite3_exec(f->db->sql, "DELETE FROM run", NULL, NULL, NULL), SQLITE_OK);
    char *text = ww_db_fixture_query(
        f,
        "SELECT (SELECT count(*) FROM launch) + (SELECT count(*) FROM launch_counter) + (SELECT count(*) FROM"
        " epoch_state) + (SELECT count(*) FROM pc_stall) + (SELECT count(*) FROM run_setting) AS left",
        WW_FORMAT_CSV);
    assert_string_equal(text, "left\r\n0\r\n");
    free(text);
}

static void a_file_that_is_no_database_is_refused_untouched(void **state) {
    struct ww_db_fixture *f = *state;
    char path[128], text[4096];
    memset(text, 'x', sizeof text);
    snprintf(path, sizeof path, "%s/other", f->dir);
    for (size_t n = 1; n <= sizeof text; n *= 8) {
        write_file(path, text, n);
        refused(f, path, WW_DB, "no SQLite database");
        char *after = ww_fixture_read(path);
        assert_memory_equal(after, text, n);
        free(after);
    }
}

static void a_database_of_another_program_is_refused_untouched(void **state) {
    struct ww_db_fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/other", f->dir);
    sqlite3 *other;
    sqlite3_open(path, &other);
    sqlite3_exec(other, "CREATE TABLE t(a); INSERT INTO t VALUES(1)", NULL, NULL, NULL);
    sqlite3_close(other);
    struct stat before, after;
    stat(path, &before);
    char *was = ww_fixture_read(path);
    refused(f, path, WW_DB, "another program");
    stat(path, &after);
    char *is = ww_fixture_read(path);
    assert_memory_equal(was, is, (size_t)before.st_size);
    assert_int_equal(before.st_mtime, after.st_mtime);
    free(was);
    free(is);
}

static void an_empty_file_is_refused_unless_it_may_be_made(void **state) {
    struct ww_db_fixture *f = *state;
    char path[128];
    struct ww_db *db;
    snprintf(path, sizeof path, "%s/empty.db", f->dir);
    write_file(path, "", 0);
    assert_int_equal(ww_db_open(path, false, &db, &f->error), WW_DB);
    assert_int_equal(ww_db_open(path, true, &db, &f->error), WW_OK);
    ww_db_close(db);
}

static void a_directory_is_refused(void **state) {
    struct ww_db_fixture *f = *state;
    refused(f, f->dir, WW_IO, "regular file");
}

static void a_newer_schema_is_refused_with_both_versions(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_tamper(f, "PRAGMA user_version = 77");
    refused(f, f->path, WW_DB, "version 77, and this program supports up to");
}

/* Runs a statement on a file that is not open here. */
static void must_run(sqlite3 *raw, const char *sql) {
    char *text = NULL;
    if (sqlite3_exec(raw, sql, NULL, NULL, &text) != SQLITE_OK) fail_msg("%s: %s", sql, text);
}

/* A database of an older schema, as the version of that time made it, with a run of one instruction. */
static void make_older(const char *path, int version) {
    static const char *const rows[] = {
        "INSERT INTO gpu(gpu_id, name, hash, json) VALUES(1, 'g', 'h', '{}')",
        "INSERT INTO trace(trace_id, hash, program) VALUES(1, 'h', 'p')",
        "INSERT INTO run VALUES(1, 'then', 1, 1, 'a/b.wwt', 'full', '0', '0', 4096, 5, 6, 7, 8, NULL, 0.95, 5, "
        "5,"
        " NULL, NULL, 1)",
        "INSERT INTO kernel VALUES(1, 'k')",
        "INSERT INTO source_file VALUES(1, 'k.cu')",
        "INSERT INTO instruction VALUES(1, 1, 0, 0, 1, 12, 'LDG')",
        ("INSERT INTO launch(launch_id, run_id, ord, trace_index, kernel_id, grid_x, grid_y, grid_z, block_x, "
         "block_y,"
         " block_z, registers_per_thread, shared_bytes, ctas_per_sm, occupancy_limiter, cycles, time_ps,"
         " warp_instructions, thread_instructions, resident_warp_cycles)"
         " VALUES(1, 1, 0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 'grid', 5, 6, 7, 8, 9)"),
        ("INSERT INTO pc(launch_id, ord, instruction_id, issues, thread_instructions, sectors, l1_miss_sectors,"
         " l2_miss_sectors, shared_conflicts) VALUES(1, 0, 1, 7, 8, 40, 30, 20, 10)"),
    };
    char text[64];
    sqlite3 *raw;
    unlink(path);
    assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
    struct ww_db db = {.sql = raw, .path = (char *)(uintptr_t)path};
    for (int step = 0; step < version; step++) {
        for (const char *const *sql = ww_db_steps[step].sql; *sql; sql++) must_run(raw, *sql);
        assert_int_equal(ww_db_inst_step(&db, step + 1, NULL), WW_OK);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) must_run(raw, rows[i]);
    snprintf(text, sizeof text, "PRAGMA application_id = %d", WW_DB_APPLICATION_ID);
    must_run(raw, text);
    snprintf(text, sizeof text, "PRAGMA user_version = %d", version);
    must_run(raw, text);
    sqlite3_close(raw);
}

static void every_older_schema_is_brought_up_and_keeps_its_rows(void **state) {
    struct ww_db_fixture *f = *state;
    for (int version = 1; version <= ww_db_step_count; version++) {
        close_db(f);
        make_older(f->path, version);
        ww_db_fixture_reopen(f);
        char *text = ww_db_fixture_query(f,
                                         "SELECT workload, launch, file, line, sectors, l1_miss_sectors,"
                                         " l1_merged_sectors IS NULL AND code IS NULL AS older"
                                         " FROM v_run JOIN v_launch USING(run_id) JOIN v_source USING(run_id)",
                                         WW_FORMAT_CSV);
        assert_string_equal(
            text, "workload,launch,file,line,sectors,l1_miss_sectors,older\r\nb,3,k.cu,12,40,30,1\r\n");
        free(text);
    }
}

static void a_concurrent_launch_of_schema_20_keeps_its_group(void **state) {
    struct ww_db_fixture *f = *state;
    sqlite3 *raw;
    close_db(f);
    make_older(f->path, 20);
    assert_int_equal(sqlite3_open(f->path, &raw), SQLITE_OK);
    must_run(raw, "INSERT INTO launch_beside VALUES(1, 7, 2, 30, 0, 0, 0)");
    sqlite3_close(raw);
    ww_db_fixture_reopen(f);
    char *text = ww_db_fixture_query(f, "SELECT concurrent_group, stream, start_ps FROM launch_concurrent",
                                     WW_FORMAT_CSV);
    assert_string_equal(text, "concurrent_group,stream,start_ps\r\n7,2,30\r\n");
    free(text);
}

static void a_run_that_is_older_than_a_counter_does_not_know_it(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r;
    int64_t id = ww_db_fixture_store(f, NULL);
    ww_db_fixture_tamper(f, "UPDATE pc SET l1_merged_sectors = NULL, l2_merged_sectors = NULL");
    ww_db_fixture_reopen(f);
    assert_int_equal(ww_db_load(f->db, id, &r, &f->error), WW_OK);
    assert_int_equal(r->launch[0].pc_unknown, 1 << WW_I_L1_MERGED | 1 << WW_I_L2_MERGED);
    assert_int_equal(r->launch[0].pc[1].counter[WW_I_L1_MERGED], 0);
    assert_int_equal(ww_db_store(f->db, r, &id, &f->error), WW_OK); /* it stays so */
    ww_result_free(r);
    char *text = ww_db_fixture_query(f, "SELECT count(*) AS n, count(l1_merged_sectors) AS known FROM pc",
                                     WW_FORMAT_CSV);
    assert_string_equal(text, "n,known\r\n20,0\r\n");
    free(text);
}

static void a_missing_table_is_refused_by_name(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_tamper(f, "DROP TABLE epoch_state");
    refused(f, f->path, WW_DB, "epoch_state is missing");
}

static void a_table_that_was_altered_is_refused(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_tamper(f, "ALTER TABLE launch ADD COLUMN more TEXT");
    refused(f, f->path, WW_DB, "launch is not as");
}

static void a_view_that_runs_for_ever_is_refused(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_tamper(f,
                         "DROP VIEW v_top_stall; CREATE VIEW v_top_stall AS WITH RECURSIVE n(i) AS (SELECT 1"
                         " UNION ALL SELECT i + 1 FROM n) SELECT i AS run_id, i AS state, i AS share FROM n");
    refused(f, f->path, WW_DB, "v_top_stall");
}

static void a_trigger_is_refused(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_tamper(f, "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM launch; END");
    refused(f, f->path, WW_DB, "trigger");
}

static void tables_of_the_users_own_are_allowed(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_tamper(f,
                         "CREATE TABLE my_notes(run_id, note); CREATE VIEW my_view AS SELECT * FROM my_notes");
    ww_db_fixture_reopen(f);
}

/* Opens what it can and loads run 1; whatever comes, it must be a code and no crash. */
static int open_and_load(struct ww_db_fixture *f) {
    struct ww_db *db;
    struct ww_result *r = NULL;
    enum ww_code code = ww_db_open(f->path, false, &db, &f->error);
    if (code == WW_OK) code = ww_db_load(db, 1, &r, &f->error);
    if (code == WW_OK) ww_result_free(r);
    ww_db_close(db);
    return code != WW_OK;
}

static void a_truncated_file_is_an_error_at_any_length(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    close_db(f);
    struct stat st;
    stat(f->path, &st);
    for (off_t n = st.st_size - 4096; n > 0; n -= st.st_size / 23 + 1) {
        assert_int_equal(truncate(f->path, n), 0);
        if (n < st.st_size * 3 / 4)
            assert_true(open_and_load(f));
        else
            open_and_load(f);
    }
}

static void flipped_bytes_never_crash(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    close_db(f);
    struct stat st;
    stat(f->path, &st);
    char *good = ww_fixture_read(f->path);
    char *bad = malloc((size_t)st.st_size);
    int errors = 0;
    uint64_t seed = 12345;
    for (int round = 0; round < 60; round++) {
        memcpy(bad, good, (size_t)st.st_size);
        for (int k = 0; k < 40; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bad[100 + (seed >> 20) % (uint64_t)(st.st_size - 100)] = (char)(seed >> 56);
        }
        write_file(f->path, bad, (size_t)st.st_size);
        errors += open_and_load(f);
    }
    assert_true(errors > 5);
    free(good);
    free(bad);
}

/* Loading run 1 after `sql` fails with WW_DB and a text that has `why`. */
static void load_refused(struct ww_db_fixture *f, const char *sql, const char *why) {
    struct ww_result *r = NULL;
    ww_db_fixture_store(f, NULL);
    ww_db_fixture_tamper(f, sql);
    ww_db_fixture_reopen(f);
    assert_int_equal(ww_db_load(f->db, 1, &r, &f->error), WW_DB);
    assert_null(r);
    ww_fixture_assert_contains(f->error.text, why);
}

static void text_in_place_of_a_number_is_refused(void **state) {
    load_refused(*state, "UPDATE launch SET cycles = 'many'", "cycles holds \"many\"");
}

static void a_negative_count_is_refused(void **state) {
    load_refused(*state, "UPDATE pc SET issues = -1", "issues holds \"-1\"");
}

static void a_value_too_wide_for_its_field_is_refused(void **state) {
    load_refused(*state, "UPDATE launch SET grid_x = 4294967296", "grid_x holds \"4294967296\"");
}

static void an_infinite_energy_is_refused(void **state) {
    load_refused(*state, "UPDATE launch SET energy_j = 9e999", "energy_j");
}

static void an_epoch_that_is_not_there_is_refused(void **state) {
    load_refused(*state, "UPDATE epoch_state SET ord = ord + 1000", "ord holds");
}

static void a_state_that_is_not_known_is_refused(void **state) {
    load_refused(*state, "UPDATE warp_state SET name = 'mystery' WHERE name = 'issued'", "state_id holds");
}

static void an_instruction_that_is_missing_is_refused(void **state) {
    load_refused(*state, "DELETE FROM instruction", "inst holds \"NULL\"");
}

static void a_seed_that_is_no_number_is_refused(void **state) {
    load_refused(*state, "UPDATE run SET seed = '18446744073709551616'", "18446744073709551616");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, ww_db_fixture_setup, ww_db_fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_missing_database_is_an_error_unless_it_may_be_made),
        T(a_new_database_is_marked_as_ours),
        T(a_local_database_logs_ahead),
        T(network_file_systems_are_known),
        T(foreign_keys_are_enforced),
        T(deleting_a_run_deletes_what_belongs_to_it),
        T(a_file_that_is_no_database_is_refused_untouched),
        T(a_database_of_another_program_is_refused_untouched),
        T(an_empty_file_is_refused_unless_it_may_be_made),
        T(a_directory_is_refused),
        T(a_newer_schema_is_refused_with_both_versions),
        T(every_older_schema_is_brought_up_and_keeps_its_rows),
        T(a_concurrent_launch_of_schema_20_keeps_its_group),
        T(a_run_that_is_older_than_a_counter_does_not_know_it),
        T(a_missing_table_is_refused_by_name),
        T(a_table_that_was_altered_is_refused),
        T(a_view_that_runs_for_ever_is_refused),
        T(a_trigger_is_refused),
        T(tables_of_the_users_own_are_allowed),
        T(a_truncated_file_is_an_error_at_any_length),
        T(flipped_bytes_never_crash),
        T(text_in_place_of_a_number_is_refused),
        T(a_negative_count_is_refused),
        T(a_value_too_wide_for_its_field_is_refused),
        T(an_infinite_energy_is_refused),
        T(an_epoch_that_is_not_there_is_refused),
        T(a_state_that_is_not_known_is_refused),
        T(an_instruction_that_is_missing_is_refused),
        T(a_seed_that_is_no_number_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
