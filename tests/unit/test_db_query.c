/* Queries: one statement that reads, three formats, named queries. */
#include "../../estimator/warpwatt.h"
#include "db_fixture.h"
#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "skip.h"

static void prints(void **state, const char *sql, enum ww_format format, const char *expected) {
    char *text = ww_db_fixture_query(*state, sql, format);
    assert_string_equal(text, expected);
    free(text);
}

static void refuses(void **state, const char *sql, const char *why) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    assert_int_equal(ww_db_fixture_try(f, sql), WW_DB);
    ww_fixture_assert_contains(f->error.text, why);
    char *text = ww_db_fixture_query(f, "SELECT count(*) AS n FROM run", WW_FORMAT_CSV);
    assert_string_equal(text, "n\r\n1\r\n");
    free(text);
}

/* ---- formats ---- */

static void csv_quotes_as_rfc_4180_says(void **state) {
    prints(state,
           "SELECT 'a,b' AS \"x\"\"y\", 'say \"hi\"' AS s, '1\n2' AS l, '' AS e, NULL AS n, 'plain' AS \"p,q\"",
           WW_FORMAT_CSV,
           "\"x\"\"y\",s,l,e,n,\"p,q\"\r\n"
           "\"a,b\",\"say \"\"hi\"\"\",\"1\n2\",\"\",,plain\r\n");
}

static void csv_numbers_read_back_exactly(void **state) {
    prints(state, "SELECT 9223372036854775807 AS a, 0.1 AS b, 1e22 AS c, x'00ff' AS d", WW_FORMAT_CSV,
           "a,b,c,d\r\n9223372036854775807,0.1,1e+22,00ff\r\n");
    /* SQLite reads larger numbers with long double, which valgrind does not have; those given beside the SQL
     * are ours to read */
    struct ww_db_fixture *f = *state;
    const char *values[] = {"1e300", "1.5e-300"};
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    assert_int_equal(ww_db_query(f->db, "SELECT ? AS a, ? AS b", values, 2, WW_FORMAT_CSV, out, &f->error),
                     WW_OK);
    fclose(out);
    assert_string_equal(text, "a,b\r\n1e+300,1.5e-300\r\n");
    free(text);
}

static void json_is_an_array_of_objects(void **state) {
    prints(state, "SELECT 9223372036854775807 AS i, 0.1 AS r, 'a\"b\\' AS t, NULL AS n, x'0aff' AS b",
           WW_FORMAT_JSON,
           "[\n  {\"i\": 9223372036854775807, \"r\": 0.1, \"t\": \"a\\\"b\\\\\", \"n\": null, \"b\": "
           "\"0aff\"}\n]\n");
}

static void json_without_rows_is_an_empty_array(void **state) {
    prints(state, "SELECT 1 WHERE 0", WW_FORMAT_JSON, "[]\n");
}

static void json_has_no_infinity_and_no_broken_text(void **state) {
    prints(state, "SELECT 9e999 AS inf, CAST(x'41ff42' AS TEXT) AS bad, char(1) AS c", WW_FORMAT_JSON,
           "[\n  {\"inf\": null, \"bad\": \"A\\ufffdB\", \"c\": \"\\u0001\"}\n]\n");
}

static void json_keys_are_distinct(void **state) {
    prints(state, "SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a", WW_FORMAT_JSON,
           "[\n  {\"a\": 1, \"a_2\": 2, \"a_2_2\": 3, \"a_3\": 4}\n]\n");
}

static void tables_align_and_show_null_as_a_dash(void **state) {
    prints(
        state,
        "SELECT 'long name' AS name, 5 AS n UNION ALL SELECT 'x', NULL UNION ALL SELECT NULL, 12345 ORDER BY n",
        WW_FORMAT_TABLE,
        "name           n\n"
        "x              -\n"
        "long name      5\n"
        "-          12345\n");
}

static void tables_replace_what_could_steer_a_terminal(void **state) {
    prints(state, "SELECT 'a' || char(27) || '[31mb' || char(10) || 'c' AS t", WW_FORMAT_TABLE,
           "t\na?[31mb c\n");
}

static void tables_cut_long_texts(void **state) {
    char *text = ww_db_fixture_query(*state, "SELECT hex(zeroblob(5000)) AS t", WW_FORMAT_TABLE);
    assert_int_equal(strlen(text), 2 + 100 + 1);
    ww_fixture_assert_contains(text, "000...\n");
    free(text);
}

static void tables_print_rows_beyond_the_first_batch(void **state) {
    char *text =
        ww_db_fixture_query(*state,
                            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
                            " SELECT i FROM n",
                            WW_FORMAT_TABLE);
    size_t lines = 0;
    for (char *p = text; *p; p++) lines += *p == '\n';
    assert_int_equal(lines, 5001);
    ww_fixture_assert_contains(text, "\n5000\n");
    free(text);
}

/* ---- only reading, only one ---- */

static void writing_is_refused(void **state) {
    refuses(state, "DELETE FROM run", "only reads");
}
static void creating_is_refused(void **state) {
    refuses(state, "CREATE TEMP TABLE t(a)", "only reads");
}
static void attaching_is_refused(void **state) {
    refuses(state, "ATTACH '/etc/passwd' AS p", "only reads");
}
static void changing_a_pragma_is_refused(void **state) {
    refuses(state, "PRAGMA user_version = 9", "only reads");
}
static void turning_off_the_journal_is_refused(void **state) {
    refuses(state, "PRAGMA journal_mode = OFF", "only reads");
}
static void beginning_a_transaction_is_refused(void **state) {
    refuses(state, "BEGIN IMMEDIATE", "only reads");
}
static void copying_out_is_refused(void **state) {
    refuses(state, "VACUUM INTO '/tmp/never-made.db'", "only reads");
}
static void returning_rows_does_not_excuse_a_write(void **state) {
    refuses(state, "DELETE FROM run RETURNING run_id", "only reads");
}
static void two_statements_are_refused(void **state) {
    refuses(state, "SELECT 1; DELETE FROM run", "second statement begins at \" DELETE");
}
static void changing_the_schema_table_is_refused(void **state) {
    refuses(state, "UPDATE sqlite_master SET sql = ''", "may not be modified");
}
static void no_statement_is_refused(void **state) {
    refuses(state, " -- nothing", "no statement");
}

static void a_semicolon_and_a_comment_may_follow(void **state) {
    prints(state, "SELECT 1 AS a; -- the end\n ;; /* */", WW_FORMAT_CSV, "a\r\n1\r\n");
}

static void reading_a_pragma_is_allowed(void **state) {
    char *text = ww_db_fixture_query(*state, "PRAGMA table_info(run_setting)", WW_FORMAT_CSV);
    ww_fixture_assert_contains(text, "run_id");
    free(text);
    prints(state, "SELECT count(*) > 10 AS many FROM pragma_table_info('run')", WW_FORMAT_CSV, "many\r\n1\r\n");
}

static void the_database_can_store_again_after_a_query(void **state) {
    ww_db_fixture_store(*state, NULL);
    free(ww_db_fixture_query(*state, "SELECT * FROM v_run", WW_FORMAT_TABLE));
    assert_int_equal(ww_db_fixture_store(*state, NULL), 2);
}

static void an_error_names_line_and_column(void **state) {
    struct ww_db_fixture *f = *state;
    assert_int_equal(ww_db_fixture_try(f, "SELECT 1,\n  missing FROM run"), WW_DB);
    assert_string_equal(f->error.where, "SQL:2:3");
    ww_fixture_assert_contains(f->error.text, "no such column: missing");
}

static void output_that_cannot_be_written_is_an_error(void **state) {
    struct ww_db_fixture *f = *state;
    FILE *full = fopen("/dev/full", "w");
    if (!full) SKIP_BECAUSE("there is no /dev/full");
    for (int format = WW_FORMAT_TABLE; format <= WW_FORMAT_JSON; format++) {
        clearerr(full);
        assert_int_equal(ww_db_query(f->db, "SELECT 1", NULL, 0, (enum ww_format)format, full, &f->error),
                         WW_IO);
    }
    fclose(full);
}

/* ---- values ---- */

static enum ww_code bind(struct ww_db_fixture *f, const char *sql, const char *const *values, size_t n,
                         char **text) {
    size_t size;
    FILE *out = open_memstream(text, &size);
    enum ww_code code = ww_db_query(f->db, sql, values, n, WW_FORMAT_CSV, out, &f->error);
    fclose(out);
    return code;
}

static void values_keep_the_type_that_they_look_like(void **state) {
    char *text;
    const char *const values[] = {"12", "-1.5", "012", "x' OR 1"};
    assert_int_equal(bind(*state, "SELECT typeof(?), typeof(?), typeof(?), ? AS t", values, 4, &text), WW_OK);
    ww_fixture_assert_contains(text, "\r\ninteger,real,text,x' OR 1\r\n");
    free(text);
}

static void values_can_be_given_by_name(void **state) {
    char *text;
    const char *const values[] = {":b=two", ":a=1"};
    assert_int_equal(bind(*state, "SELECT :a AS a, :b AS b", values, 2, &text), WW_OK);
    assert_string_equal(text, "a,b\r\n1,two\r\n");
    free(text);
}

static void a_value_too_many_is_refused(void **state) {
    struct ww_db_fixture *f = *state;
    char *text;
    assert_int_equal(bind(f, "SELECT ?", (const char *const[]){"1", "2"}, 2, &text), WW_USAGE);
    free(text);
    assert_int_equal(bind(f, "SELECT :a", (const char *const[]){":c=1"}, 1, &text), WW_USAGE);
    free(text);
}

static void parameter_without_a_value(void **state, const char *sql, const char *value, const char *name) {
    struct ww_db_fixture *f = *state;
    char *text;
    assert_int_equal(bind(f, sql, &value, value ? 1 : 0, &text), WW_USAGE);
    ww_fixture_assert_contains(f->error.text, name);
    assert_string_equal(text, "");
    free(text);
}

static void a_parameter_without_a_value_is_refused_by_name(void **state) {
    parameter_without_a_value(state, "SELECT 1 WHERE 1 = ?", NULL, "parameter 1 (?) has no value");
    parameter_without_a_value(state, "SELECT ?, ?", "7", "parameter 2 (?) has no value");
    parameter_without_a_value(state, "SELECT :one, :two", ":two=2", "parameter :one has no value");
    parameter_without_a_value(state, "SELECT @one", NULL, "parameter @one has no value");
}

/* ---- named queries ---- */

/* A sweep of one point over the trace of the runs that are stored. */
static void store_a_sweep(struct ww_db_fixture *f) {
    ww_db_fixture_tamper(
        f,
        "INSERT INTO sweep SELECT 1, 'now', 'h', gpu_id, 'none', '{}', 'grid', '0', 'full', '0.1.0', 1 FROM gpu"
        " LIMIT 1; INSERT INTO sweep_trace SELECT 1, 0, trace_id, 'w', 1 FROM trace LIMIT 1;"
        " INSERT INTO sweep_objective VALUES(1, 0, 'time', 'time_s', 1);"
        " INSERT INTO sweep_point VALUES(1, 0, 'c', 1, '', NULL);"
        " INSERT INTO sweep_setting VALUES(1, 0, 0, 'sm.count', 4);"
        " INSERT INTO sweep_result SELECT 'c', trace_id, 10, 1000, 5, 5, NULL, 0 FROM trace LIMIT 1;"
        " INSERT INTO sweep_value VALUES(1, 0, 0, 1e-9); INSERT INTO sweep_effect VALUES(1, 0, 0, 'sm.count', "
        "'',"
        " 0, 0, 1); INSERT INTO sweep_candidate VALUES(1, 0, 'sm.count=4', 'full', 1, 1, 1);"
        " INSERT INTO sweep_estimate VALUES(1, 0, 0, 1e-9, 1e-9, 1e-9)");
    ww_db_fixture_reopen(f);
}

static void every_named_query_gives_rows(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    store_a_sweep(f);
    ww_db_fixture_store(f, &(struct ww_fixture){.seed = 8});
    assert_true(ww_db_named_count() >= 13);
    for (size_t i = 0; i < ww_db_named_count(); i++) {
        const struct ww_named_query *q = ww_db_named(i);
        assert_ptr_equal(ww_db_named_find(q->name), q);
        if (strcmp(q->name, "differences") == 0) continue; /* the fixture's runs have none */
        char *text = ww_db_fixture_named(f, q->name, WW_FORMAT_JSON);
        cJSON *rows = cJSON_Parse(text);
        if (cJSON_GetArraySize(rows) < 1) fail_msg("%s gives no rows", q->name);
        cJSON_Delete(rows);
        free(text);
    }
    assert_null(ww_db_named(ww_db_named_count()));
    assert_null(ww_db_named_find("nothing"));
}

static void every_named_query_runs_on_an_empty_database(void **state) {
    for (size_t i = 0; i < ww_db_named_count(); i++)
        free(ww_db_fixture_named(*state, ww_db_named(i)->name, WW_FORMAT_CSV));
}

static enum ww_code try_named(struct ww_db_fixture *f, const char *name, const char *value, char **text) {
    size_t size;
    FILE *out = open_memstream(text, &size);
    enum ww_code code = ww_db_query_named(f->db, name, &value, value ? 1 : 0, WW_FORMAT_CSV, out, &f->error);
    fclose(out);
    return code;
}

static char *named(struct ww_db_fixture *f, const char *name, const char *value) {
    char *text = NULL;
    if (try_named(f, name, value, &text) != WW_OK) fail_msg("%s", f->error.text);
    return text;
}

static void refuses_run(struct ww_db_fixture *f, const char *name, const char *value, enum ww_code code,
                        const char *why) {
    char *text = NULL;
    assert_int_equal(try_named(f, name, value, &text), code);
    ww_fixture_assert_contains(f->error.text, why);
    assert_string_equal(text, "");
    free(text);
}

static void a_run_that_is_not_stored_is_an_error(void **state) {
    ww_db_fixture_store(*state, NULL);
    refuses_run(*state, "stalls", "999", WW_DB, "there is no run 999");
    refuses_run(*state, "source", ":run=999", WW_DB, "there is no run 999");
    refuses_run(*state, "speedup", ":base=999", WW_DB, "there is no run 999");
}

static void a_run_that_is_no_number_is_an_error(void **state) {
    ww_db_fixture_store(*state, NULL);
    refuses_run(*state, "stalls", "abc", WW_USAGE, "\"abc\": expected the number of a run");
    refuses_run(*state, "stalls", "1.5", WW_USAGE, "expected the number of a run");
}

static void last_names_the_latest_run(void **state) {
    struct ww_db_fixture *f = *state;
    refuses_run(f, "stalls", "last", WW_DB, "there is no run yet");
    ww_db_fixture_store(f, NULL);
    ww_db_fixture_store(f, &(struct ww_fixture){.seed = 8});
    char *last = named(f, "stalls", "last"), *second = named(f, "stalls", "2"),
         *first = named(f, "stalls", "1");
    assert_string_equal(last, second);
    assert_string_not_equal(last, first);
    free(last);
    free(second);
    free(first);
}

static void stalls_take_the_run_that_is_named(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    char *first = named(f, "stalls", NULL);
    ww_db_fixture_store(f, &(struct ww_fixture){.seed = 8});
    char *latest = named(f, "stalls", NULL), *again = named(f, "stalls", "1");
    assert_string_not_equal(first, latest);
    assert_string_equal(first, again);
    free(first);
    free(latest);
    free(again);
}

static void workloads_show_the_latest_run_of_each_trace_and_gpu(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    ww_db_fixture_store(f, &(struct ww_fixture){.seed = 8});
    ww_db_fixture_store(f, &(struct ww_fixture){.gpu = "other", .no_energy = true});
    char *text = named(f, "workloads", NULL);
    ww_fixture_assert_contains(text, "workload,gpu,mode,cycles,time_us,ipc,watts,joules,top_stall,");
    ww_fixture_assert_contains(text, "\r\nfixture,other,");
    ww_fixture_assert_contains(text, ",,,"); /* no watts, no joules */
    ww_fixture_assert_contains(text, ",3\r\nfixture,testgpu,");
    assert_string_equal(strrchr(text, ','), ",2\r\n");
    free(text);
}

/* Stores the fixture's run as one of a mode, of a time. */
static void store_in_mode(struct ww_db_fixture *f, const char *mode, uint64_t time_ps) {
    struct ww_result *r = ww_fixture_result(NULL);
    r->mode = mode;
    r->time_ps = time_ps;
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
    ww_result_free(r);
}

static void an_estimate_is_no_later_run_of_a_full_replay(void **state) {
    struct ww_db_fixture *f = *state;
    store_in_mode(f, "full", 200);
    store_in_mode(f, "fast", 100);
    char *text = named(f, "workloads", NULL);
    ww_fixture_assert_contains(text, "\r\nfixture,testgpu,full,");
    ww_fixture_assert_contains(text, "\r\nfixture,testgpu,fast,");
    free(text);
    text = named(f, "speedup", NULL);
    ww_fixture_assert_contains(text, "\r\n1,2,fixture,testgpu,testgpu,full,fast,");
    free(text);
    text = named(f, "pareto", NULL); /* neither beats the other */
    ww_fixture_assert_contains(text, "fixture,1,testgpu,full,");
    ww_fixture_assert_contains(text, "fixture,2,testgpu,fast,");
    free(text);
    store_in_mode(f, "fast", 99);
    text = named(f, "pareto", NULL);
    ww_fixture_assert_contains(text, "fixture,1,testgpu,full,");
    assert_null(strstr(text, "fixture,2,"));
    free(text);
}

/* A run of one launch that was saturated for a quarter of its active cycles. */
static void store_saturated(struct ww_db_fixture *f, const char *mode, uint64_t ep, uint64_t mp) {
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 1});
    uint64_t *c = r->launch[0].counter;
    r->mode = mode;
    c[WW_C_SM_ACTIVE_CYCLES] = 400;
    c[WW_C_MEM_SATURATED_CYCLES] = 100;
    c[WW_C_L2_STALL_CYCLES] = 50;
    c[WW_C_EP_CYCLES] = ep;
    c[WW_C_MP_CYCLES] = mp;
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
    ww_result_free(r);
}

static void what_fast_replay_does_not_model_is_not_known(void **state) {
    struct ww_db_fixture *f = *state;
    static const char *const saturated[] = {"mem_saturated_cycles,100,", "mem_saturated_cycles,,",
                                            "mem_saturated_cycles,100,"};
    static const char *const stalled[] = {"l2_stall_cycles,50,", "l2_stall_cycles,,", "l2_stall_cycles,,"};
    store_saturated(f, "full", 0, 0);
    store_saturated(f, "fast", 0, 0);
    store_saturated(f, "fast", 300, 100); /* a scheduler follows saturation */
    for (size_t i = 0; i < 3; i++) {
        char *text = named(f, "counters", (const char *const[]){"1", "2", "3"}[i]);
        ww_fixture_assert_contains(text, saturated[i]);
        ww_fixture_assert_contains(text, stalled[i]);
        free(text);
    }
    char *text = ww_db_fixture_named(f, "saturation", WW_FORMAT_JSON), *at = text;
    for (size_t i = 0; i < 3; i++, at++) {
        at = strstr(at, "\"saturated_percent\": ");
        assert_non_null(at);
        const char *expected = i == 1 ? "\"saturated_percent\": null," : "\"saturated_percent\": 25,";
        assert_int_equal(strncmp(at, expected, strlen(expected)), 0);
    }
    free(text);
}

static void counters_show_zeros(void **state) {
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    char *text = named(f, "counters", NULL);
    ww_fixture_assert_contains(text, "dual_issued,0,");
    free(text);
}

static void pareto_leaves_out_runs_that_are_beaten(void **state) {
    struct ww_db_fixture *f = *state;
    static const struct {
        uint64_t time;
        double energy;
    } points[] = {{100, 5}, {200, 3}, {200, 4}, {300, 9}, {50, 50}};
    for (size_t i = 0; i < 5; i++) {
        struct ww_result *r = ww_fixture_result(NULL);
        r->time_ps = points[i].time;
        r->energy_j = points[i].energy;
        assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
        ww_result_free(r);
    }
    char *text = named(f, "pareto", NULL);
    assert_null(strstr(text, "fixture,3,"));
    assert_null(strstr(text, "fixture,4,"));
    ww_fixture_assert_contains(text, "fixture,5,");
    ww_fixture_assert_contains(text, "fixture,1,");
    ww_fixture_assert_contains(text, "fixture,2,");
    free(text);
}

static void speedup_is_base_time_over_new_time(void **state) {
    struct ww_db_fixture *f = *state;
    for (uint64_t i = 1; i <= 2; i++) {
        struct ww_result *r = ww_fixture_result(NULL);
        r->time_ps = 3000 / i;
        r->energy_j = 2;
        assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
        ww_result_free(r);
    }
    ww_db_fixture_store(f, &(struct ww_fixture){.hash = "ff"});
    char *text = ww_db_fixture_query(
        f, "SELECT base_run, new_run, speedup, energy_ratio, edp_gain FROM v_speedup ORDER BY base_run",
        WW_FORMAT_CSV);
    assert_string_equal(text,
                        "base_run,new_run,speedup,energy_ratio,edp_gain\r\n1,2,2,1,2\r\n2,1,0.5,1,0.5\r\n");
    free(text);
}

static void the_source_query_agrees_with_its_view(void **state) {
    static const char sql[] =
        "SELECT file, line, kernel, stall_warp_cycles, top_stall"
#define REPORT(name) ", " name
#define DATA(name) ""
#define X(id, name, step, shown, ...) shown(name)
#include "../../estimator/result/inst_counter.def"
#undef X
        ", 1.0 * thread_instructions / issues AS active_lanes, sectors_per_request,"
        " ideal_per_request FROM v_source WHERE run_id = 1 ORDER BY stall_warp_cycles DESC,"
        " file, line";
    struct ww_db_fixture *f = *state;
    ww_db_fixture_store(f, NULL);
    ww_db_fixture_store(f, &(struct ww_fixture){.seed = 8});
    char *query = named(f, "source", "1");
    char *view = ww_db_fixture_query(f, sql, WW_FORMAT_CSV);
    assert_string_equal(query, view);
    ww_fixture_assert_contains(query, "src/kernel.cu,11,");
    free(query);
    free(view);
}

/* ---- views agree with the results they come from ---- */

static void a_launch_has_its_number_in_the_trace_in_every_view(void **state) {
    static const char *const views[] = {"v_launch",      "v_epoch", "v_epoch_energy",
                                        "v_epoch_power", "v_vf",    "v_cta"};
    struct ww_db_fixture *f = *state;
    struct ww_result *r = ww_fixture_result(NULL);
    r->launch[0].index = 3;
    r->launch[1].index = 7;
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
    ww_result_free(r);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT DISTINCT launch FROM %s ORDER BY launch", views[i]);
        prints(state, sql, WW_FORMAT_CSV, "launch\r\n3\r\n7\r\n");
    }
    prints(state, "SELECT ord FROM launch ORDER BY ord", WW_FORMAT_CSV, "ord\r\n0\r\n1\r\n");
}

static void shares_of_states_slots_and_energy_add_up_to_one(void **state) {
    ww_db_fixture_store(*state, NULL);
    prints(
        state,
        "SELECT (SELECT abs(sum(share) - 1) < 1e-9 FROM v_stall) AS a,"
        " (SELECT abs(sum(share) - 1) < 1e-9 FROM v_slot) AS b,"
        " (SELECT abs(sum(share) - 1) < 1e-9 FROM v_energy) AS c,"
        " (SELECT abs(sum(v.cycles) / r.cycles - 1) < 1e-9 FROM v_cpi_stack v, run r) AS d,"
        " (SELECT sum(s.warp_cycles) = (SELECT sum(warp_cycles) FROM pc_stall WHERE state_id IN (SELECT "
        "state_id"
        " FROM warp_state WHERE name NOT IN ('issued', 'done'))) FROM v_stall s WHERE state NOT IN ('issued',"
        " 'done')) AS e",
        WW_FORMAT_CSV, "a,b,c,d,e\r\n1,1,1,1,1\r\n");
}

static void memory_rates_follow_from_the_counters(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 1});
    uint64_t *c = r->launch[0].counter;
    memset(c, 0, sizeof r->launch[0].counter);
    c[WW_C_L1_SECTOR_READ] = 1000;
    c[WW_C_L1_SECTOR_HIT] = 250;
    c[WW_C_L1_SECTOR_MERGED] = 100;
    c[WW_C_DRAM_SECTOR_WRITE] = 500;
    c[WW_C_DRAM_BURST_WRITE] = 500;
    c[WW_C_DRAM_ROW_HIT] = 400;
    r->time_ps = 1000000;
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
    ww_result_free(r);
    prints(
        state,
        "SELECT level, sectors_read, hit_rate, merged_rate, round(read_gb_s, 9) AS r, round(write_gb_s, 9) AS w"
        " FROM v_memory",
        WW_FORMAT_CSV,
        "level,sectors_read,hit_rate,merged_rate,r,w\r\n"
        "l1,1000,0.25,0.1,32,0\r\n"
        "l2,0,,,0,0\r\n"
        "dram,0,0.8,,0,16\r\n");
}

/* L1: 2 SMs x 64 bytes x 1000 MHz = 128 GB/s; L2: 2 slices x 32 bytes x 1000 MHz = 64 GB/s. */
static void limits_are_shares_of_what_the_gpu_can_do(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 1});
    uint64_t *c = r->launch[0].counter;
    memset(c, 0, sizeof r->launch[0].counter);
    c[WW_C_L1_SECTOR_READ] = 750;
    c[WW_C_L1_SECTOR_WRITE] = 250;
    c[WW_C_L2_SECTOR_READ] = 1000;
    c[WW_C_DRAM_BUSY_CYCLES] = 300;
    c[WW_C_DRAM_CYCLES] = 1000;
    c[WW_C_LSU_STALL_CYCLES] = 100;
    c[WW_C_SM_ACTIVE_CYCLES] = 800;
    r->launch[0].time_ps = 1000000;
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
    ww_result_free(r);
    ww_db_fixture_tamper(
        f, "INSERT INTO gpu_param(gpu_id, key, value) SELECT gpu_id, 'l1.bytes_per_cycle', 64 FROM gpu;"
           " INSERT INTO gpu_param(gpu_id, key, value) SELECT gpu_id, 'l2.slices', 2 FROM gpu;"
           " INSERT INTO gpu_param(gpu_id, key, value) SELECT gpu_id, 'l2.bytes_per_cycle', 32 FROM gpu;"
           " INSERT INTO gpu_param(gpu_id, key, value) SELECT gpu_id, 'clock.l2_mhz', 1000 FROM gpu");
    ww_db_fixture_reopen(f);
    char *text = named(f, "limits", "1");
    ww_fixture_assert_contains(text, ",25,50,30,12.5\r\n");
    free(text);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, ww_db_fixture_setup, ww_db_fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(csv_quotes_as_rfc_4180_says),
        T(csv_numbers_read_back_exactly),
        T(json_is_an_array_of_objects),
        T(json_without_rows_is_an_empty_array),
        T(json_has_no_infinity_and_no_broken_text),
        T(json_keys_are_distinct),
        T(tables_align_and_show_null_as_a_dash),
        T(tables_replace_what_could_steer_a_terminal),
        T(tables_cut_long_texts),
        T(tables_print_rows_beyond_the_first_batch),
        T(writing_is_refused),
        T(creating_is_refused),
        T(attaching_is_refused),
        T(changing_a_pragma_is_refused),
        T(turning_off_the_journal_is_refused),
        T(beginning_a_transaction_is_refused),
        T(copying_out_is_refused),
        T(returning_rows_does_not_excuse_a_write),
        T(two_statements_are_refused),
        T(changing_the_schema_table_is_refused),
        T(no_statement_is_refused),
        T(a_semicolon_and_a_comment_may_follow),
        T(reading_a_pragma_is_allowed),
        T(the_database_can_store_again_after_a_query),
        T(an_error_names_line_and_column),
        T(output_that_cannot_be_written_is_an_error),
        T(values_keep_the_type_that_they_look_like),
        T(values_can_be_given_by_name),
        T(a_value_too_many_is_refused),
        T(a_parameter_without_a_value_is_refused_by_name),
        T(a_run_that_is_not_stored_is_an_error),
        T(a_run_that_is_no_number_is_an_error),
        T(last_names_the_latest_run),
        T(every_named_query_gives_rows),
        T(every_named_query_runs_on_an_empty_database),
        T(stalls_take_the_run_that_is_named),
        T(workloads_show_the_latest_run_of_each_trace_and_gpu),
        T(counters_show_zeros),
        T(an_estimate_is_no_later_run_of_a_full_replay),
        T(what_fast_replay_does_not_model_is_not_known),
        T(pareto_leaves_out_runs_that_are_beaten),
        T(speedup_is_base_time_over_new_time),
        T(the_source_query_agrees_with_its_view),
        T(a_launch_has_its_number_in_the_trace_in_every_view),
        T(shares_of_states_slots_and_energy_add_up_to_one),
        T(memory_rates_follow_from_the_counters),
        T(limits_are_shares_of_what_the_gpu_can_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
