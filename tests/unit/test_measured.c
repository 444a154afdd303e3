/* Measurements of real GPUs: reading them, hostile ones too, and the database. */
#include "../../estimator/warpwatt.h"
#include "db_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define GPU                                                                                                    \
    "\"gpu\": {\"name\": \"G\", \"compute_capability\": \"9.0\", \"driver\": \"1\", \"sms\": 4,"               \
    " \"l2_bytes\": 1048576, \"memory_clock_khz\": 0, \"memory_bus_bits\": 0}"
#define FILE_OF(records) "{\"schema\": \"warpwatt-hardware-1\", " GPU ", \"records\": [" records "]}"
#define FIGURE_OF(median, low, high)                                                                           \
    "{\"id\": \"a\", \"kind\": \"figure\", \"part\": \"micro\", \"method\": \"chase\", \"parameters\": "       \
    "\"p=1\","                                                                                                 \
    " \"unit\": \"cycle\", \"median\": " median ", \"low\": " low ", \"high\": " high ", \"count\": 5}"
#define LAUNCH_OF(low, verified)                                                                               \
    "{\"id\": \"b\", \"kind\": \"launch\", \"workload\": \"saxpy\", \"parameters\": \"\", \"seed\": 1,"        \
    " \"launch\": 0, \"kernel\": \"saxpy\", \"grid\": [1, 1, 1], \"block\": [1, 1, 1], \"shared_bytes\": 0,"   \
    " \"median\": 2, \"low\": " low ", \"high\": 3, \"count\": 5, \"sm_mhz\": 0, \"verified\": " verified "}"

static struct ww_error error;

/* Reads a text as a file of that suffix. */
static enum ww_code load(const char *text, size_t n, const char *suffix, struct ww_measured **m) {
    char path[64] = "/tmp/warpwatt-measured-XXXXXX", name[80];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    close(fd);
    snprintf(name, sizeof name, "%s%s", path, suffix);
    rename(path, name);
    memset(&error, 0, sizeof error);
    enum ww_code code = ww_measured_load(name, m, &error);
    unlink(name);
    return code;
}

static struct ww_measured *good(const char *text, const char *suffix) {
    struct ww_measured *m;
    if (load(text, strlen(text), suffix, &m) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    return m;
}

static void refused(const char *text, const char *suffix, const char *why) {
    struct ww_measured *m = NULL;
    if (load(text, strlen(text), suffix, &m) != WW_INPUT) fail_msg("taken, or another code: %s", text);
    assert_null(m);
    if (!strstr(error.text, why) && !strstr(error.where, why))
        fail_msg("%s: %s: %s", text, error.where, error.text);
}

static struct ww_measured *synthetic(void) {
    char path[512];
    struct ww_measured *m;
    ww_fixture_source_file("tests/hardware/synthetic.json", path);
    if (ww_measured_load(path, &m, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    return m;
}

/* ---- JSON ---- */

static void figures_launches_and_the_gpu_are_read(void **state) {
    (void)state;
    struct ww_measured *m = good(FILE_OF(FIGURE_OF("2", "1", "3") ", " LAUNCH_OF("1", "true")), ".json");
    assert_string_equal(m->gpu, "G");
    assert_true(m->sms == 4 && m->l2_bytes == 1048576);
    assert_true(m->figure_count == 1 && m->figure[0].median == 2 && m->figure[0].count == 5);
    assert_string_equal(m->figure[0].method, "chase");
    assert_true(m->point_count == 1 && m->point[0].value == 2 && m->point[0].verified);
    assert_true(m->point[0].metric == WW_METRIC_TIME && m->point[0].launch == 0 && m->point[0].seed == 1);
    ww_measured_free(m);
}

static void what_breaks_the_schema_is_refused_with_its_place(void **state) {
    (void)state;
    refused("[]", ".json", "expected an object");
    refused("{\"schema\": \"x\", " GPU ", \"records\": []}", ".json", "warpwatt-hardware-1");
    refused("{\"schema\": \"warpwatt-hardware-1\", " GPU "}", ".json", "expected an array");
    refused("{\"schema\": \"warpwatt-hardware-1\", \"gpu\": 1, \"records\": []}", ".json", "$.gpu");
    refused(FILE_OF("1"), ".json", "records[0]");
    refused(FILE_OF("{\"id\": \"a\", \"kind\": \"other\"}"), ".json", "expected figure");
    refused(FILE_OF(FIGURE_OF("2", "1", "3") ", {\"id\": \"a\"}"), ".json", "records[1]");
    refused(FILE_OF(LAUNCH_OF("1", "1")), ".json", "expected true or false");
    refused(FILE_OF("{\"id\": \"a\", \"kind\": \"figure\", \"kind\": \"figure\"}"), ".json", "appears twice");
}

static void figures_that_make_no_sense_are_refused(void **state) {
    (void)state;
    refused(FILE_OF(FIGURE_OF("5", "1", "3")), ".json", "outside of its quartiles");
    refused(FILE_OF(FIGURE_OF("1e99", "1", "1e99")), ".json", "out of bounds");
    refused(FILE_OF(FIGURE_OF("\"2\"", "1", "3")), ".json", "expected a number");
    refused(FILE_OF(LAUNCH_OF("0", "true")), ".json", "more than 0");
    refused(FILE_OF(LAUNCH_OF("-1", "true")), ".json", "more than 0");
}

static void a_file_made_with_quick_is_known_as_such(void **state) {
    (void)state;
    struct ww_measured *m =
        good(FILE_OF("{\"id\": \"s\", \"kind\": \"session\", \"ended\": \"x\", \"quick\": true}"), ".json");
    assert_true(m->quick);
    ww_measured_free(m);
}

/* Each byte of a good file replaced, dropped, or the end cut off: read, or refused with a reason. */
static void damaged_files_are_read_or_refused_with_a_reason(void **state) {
    (void)state;
    static const char text[] = FILE_OF(FIGURE_OF("2", "1", "3") ", " LAUNCH_OF("1", "true"));
    static const char bytes[] = {0, '"', '{', '}', '[', ',', '-', '9', 'e', '\\', (char)0xff};
    size_t n = strlen(text), refusals = 0;
    char copy[sizeof text];
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof bytes + 2; k++) {
            struct ww_measured *m;
            size_t length = n;
            memcpy(copy, text, n);
            if (k < sizeof bytes) copy[i] = bytes[k];
            if (k == sizeof bytes) memmove(copy + i, copy + i + 1, --length - i);
            if (k > sizeof bytes) length = i;
            enum ww_code code = load(copy, length, ".json", &m);
            if (code != WW_OK && (code != WW_INPUT || !error.text[0] || m))
                fail_msg("byte %zu, change %zu", i, k);
            refusals += code != WW_OK;
            ww_measured_free(m);
        }
    assert_true(refusals > n);
}

/* ---- CSV ---- */

static void a_csv_gives_points(void **state) {
    (void)state;
    struct ww_measured *m =
        good("# note\r\nmetric,value,trace,launch\r\npower_w,12.5,\"a,\"\"b\"\".wwt\",all\n\n"
             "cycles,7,saxpy,3\n",
             ".csv");
    assert_int_equal(m->point_count, 2);
    assert_string_equal(m->point[0].workload, "a,\"b\".wwt");
    assert_true(m->point[0].metric == WW_METRIC_POWER && m->point[0].value == 12.5);
    assert_true(m->point[0].launch == WW_ALL_LAUNCHES && m->point[1].launch == 3);
    assert_true(m->point[1].metric == WW_METRIC_CYCLES && m->point[1].verified);
    ww_measured_free(m);
}

static void a_csv_that_is_wrong_is_refused_with_its_line(void **state) {
    (void)state;
    refused("", ".csv", "expected a heading");
    refused("workload,metric\n", ".csv", "must be there");
    refused("workload,metric,value,colour\n", ".csv", "colour");
    refused("workload,metric,value,value\n", ".csv", "twice");
    refused("workload,metric,value\na,time_s\n", ".csv", ":2");
    refused("workload,metric,value\na,time,1\n", ".csv", "expected the metric");
    refused("workload,metric,value\na,time_s,0\n", ".csv", "greater than 0");
    refused("workload,metric,value\na,time_s,inf\n", ".csv", "greater than 0");
    refused("workload,metric,value\na,time_s,1x\n", ".csv", "greater than 0");
    refused("workload,metric,value\n,time_s,1\n", ".csv", "expected a workload");
    refused("workload,metric,value\n\"a,time_s,1\n", ".csv", "quote");
    refused("workload,metric,value\n\"a\"b,time_s,1\n", ".csv", "quote");
    refused("workload,metric,value,launch\na,time_s,1,-1\n", ".csv", "whole number");
}

/* ---- the database ---- */

static void a_measurement_loads_as_it_was_stored(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_measured *m = synthetic(), *n;
    int64_t id;
    bool stored;
    assert_int_equal(ww_db_store_measured(f->db, m, &id, &stored, &error), WW_OK);
    assert_true(stored && id == 1);
    ww_db_fixture_reopen(f);
    assert_int_equal(ww_db_load_measured(f->db, 0, &n, &error), WW_OK);
    assert_string_equal(m->hash, n->hash);
    assert_string_equal(m->gpu_json, n->gpu_json);
    assert_true(m->sms == n->sms && m->l2_bytes == n->l2_bytes && m->figure_count == n->figure_count);
    for (size_t i = 0; i < m->figure_count; i++) {
        assert_string_equal(m->figure[i].parameters, n->figure[i].parameters);
        assert_true(m->figure[i].median == n->figure[i].median && m->figure[i].high == n->figure[i].high);
    }
    assert_int_equal(m->point_count, n->point_count);
    for (size_t i = 0; i < m->point_count; i++) {
        assert_string_equal(m->point[i].kernel, n->point[i].kernel);
        assert_true(m->point[i].value == n->point[i].value && m->point[i].launch == n->point[i].launch);
        assert_true(m->point[i].seed == n->point[i].seed && m->point[i].verified == n->point[i].verified);
    }
    ww_measured_free(m);
    ww_measured_free(n);
}

static void the_same_measurement_is_stored_once(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_measured *m = synthetic();
    int64_t id, again;
    bool stored;
    assert_int_equal(ww_db_store_measured(f->db, m, &id, &stored, &error), WW_OK);
    assert_int_equal(ww_db_store_measured(f->db, m, &again, &stored, &error), WW_OK);
    assert_true(!stored && again == id);
    ww_measured_free(m);
}

static void a_measurement_that_is_not_there_is_an_error(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_measured *m;
    assert_int_equal(ww_db_load_measured(f->db, 0, &m, &error), WW_DB);
    assert_int_equal(ww_db_load_measured(f->db, 9, &m, &error), WW_DB);
    assert_null(m);
}

static void a_tampered_measurement_is_refused(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_measured *m = synthetic(), *n;
    int64_t id;
    bool stored;
    assert_int_equal(ww_db_store_measured(f->db, m, &id, &stored, &error), WW_OK);
    ww_measured_free(m);
    ww_db_fixture_tamper(f, "UPDATE hardware_point SET metric = 'colour' WHERE ord = 0");
    assert_int_equal(ww_db_open(f->path, false, &f->db, &error), WW_OK);
    assert_int_equal(ww_db_load_measured(f->db, 0, &n, &error), WW_DB);
    ww_fixture_assert_contains(error.text, "damaged");
}

static void the_latest_run_of_a_workload_is_found(void **state) {
    struct ww_db_fixture *f = *state;
    int64_t id;
    ww_db_fixture_store(f, &(struct ww_fixture){.trace = "x/saxpy.wwt", .hash = "1"});
    int64_t second = ww_db_fixture_store(f, &(struct ww_fixture){.trace = "y/saxpy.wwt", .hash = "1"});
    ww_db_fixture_store(f, &(struct ww_fixture){.trace = "y/saxpy2.wwt", .hash = "2"});
    assert_int_equal(ww_db_find_run(f->db, "z/saxpy.wwt", "testgpu", &id, &error), WW_OK);
    assert_true(id == second);
    assert_int_equal(ww_db_find_run(f->db, "saxpy", "othergpu", &id, &error), WW_DB);
    ww_fixture_assert_contains(error.text, "no run of saxpy on othergpu");
}

/* ---- Nsight Compute ---- */

#define NCU_KEYS "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Block Size\",\"CC\""
#define NCU_LONG NCU_KEYS ",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
#define NCU_ROW(id, kernel, name, unit, value)                                                                 \
    "\"" id "\",\"77\",\"prog\",\"" kernel "\",\"(256, 1, 1)\",\"7.0\",\"Speed\",\"" name "\",\"" unit         \
    "\",\"" value "\"\n"

static void a_profilers_details_page_gives_cycles_and_times(void **state) {
    (void)state;
    struct ww_measured *m =
        good("hello\n==PROF== Connected to process 77\n" NCU_LONG NCU_ROW(
                 "0", "void n::add<float>(float *, int)", "DRAM Frequency", "cycle/nsecond", "0.85")
                 NCU_ROW("0", "void n::add<float>(float *, int)", "Elapsed Cycles", "cycle", "12,345")
                     NCU_ROW("0", "void n::add<float>(float *, int)", "Duration", "usecond", "10.5")
                         NCU_ROW("1", "mul(int)", "Elapsed Cycles", "cycle", "7") "==PROF== Disconnected\n",
             ".txt");
    assert_int_equal(m->point_count, 3);
    assert_string_equal(m->point[0].workload, "prog.wwt");
    assert_string_equal(m->point[0].kernel, "add");
    assert_string_equal(m->compute_capability, "7.0");
    assert_true(m->point[0].metric == WW_METRIC_CYCLES && m->point[0].value == 12345 &&
                m->point[0].launch == 0);
    assert_true(m->point[1].metric == WW_METRIC_TIME && m->point[1].value > 10.49e-6 &&
                m->point[1].value < 10.51e-6);
    assert_true(m->point[2].launch == 1 && m->point[2].value == 7);
    assert_string_equal(m->point[2].kernel, "mul");
    ww_measured_free(m);
}

static void a_profilers_raw_page_has_its_units_in_the_second_line(void **state) {
    (void)state;
    struct ww_measured *m =
        good(NCU_KEYS ",\"gpc__cycles_elapsed.max\",\"gpu__time_duration.sum\",\"sm__cycles_elapsed.max\"\n"
                      "\"\",\"\",\"\",\"\",\"\",\"\",\"cycle\",\"nsecond\",\"cycle\"\n"
                      "\"0\",\"77\",\"prog\",\"add\",\"(1, 1, 1)\",\"8.0\",\"900\",\"1,000\",\"899\"\n",
             ".csv");
    assert_int_equal(m->point_count, 2);
    assert_true(m->point[0].value == 900); /* not the SM's: one metric of cycles counts */
    assert_true(m->point[1].value > 0.99e-6 && m->point[1].value < 1.01e-6);
    ww_measured_free(m);
}

static void a_profilers_sizes_of_grids_and_blocks_are_read(void **state) {
    (void)state;
    struct ww_measured *m =
        good("\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\"\n"
             "\"\",\"\",\"\",\"\",\"\",\"us\"\n"
             "\"0\",\"1\",\"k\",\"(256, 2, 1)\",\" (1024, 1, 3)\",\"1\"\n"
             "\"1\",\"1\",\"k\",\"256\",\"(99999999999, 1, 1)\",\"1\"\n",
             ".csv");
    assert_int_equal(m->point_count, 2);
    assert_true(m->point[0].block[0] == 256 && m->point[0].block[1] == 2 && m->point[0].block[2] == 1);
    assert_true(m->point[0].grid[0] == 1024 && m->point[0].grid[1] == 1 && m->point[0].grid[2] == 3);
    assert_true(m->point[1].block[0] == 0 && m->point[1].grid[0] == 0); /* in another form: not known */
    ww_measured_free(m);
}

static void sizes_of_grids_and_blocks_are_stored(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_measured *m = good(
        "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\"\n"
        "\"\",\"\",\"\",\"\",\"\",\"us\"\n"
        "\"0\",\"1\",\"k\",\"(256, 2, 1)\",\"(1024, 1, 3)\",\"1\"\n\"1\",\"1\",\"k\",\"256\",\"?\",\"1\"\n",
        ".csv");
    struct ww_measured *n;
    int64_t id;
    bool stored;
    assert_int_equal(ww_db_store_measured(f->db, m, &id, &stored, &error), WW_OK);
    assert_int_equal(ww_db_load_measured(f->db, id, &n, &error), WW_OK);
    for (int d = 0; d < 3; d++) {
        assert_int_equal(n->point[0].grid[d], m->point[0].grid[d]);
        assert_int_equal(n->point[0].block[d], m->point[0].block[d]);
        assert_true(n->point[1].grid[d] == 0 && n->point[1].block[d] == 0);
    }
    assert_int_equal(n->point[0].grid[0], 1024);
    ww_measured_free(n);
    ww_db_fixture_tamper(f, "UPDATE hardware_point SET grid_y = NULL WHERE ord = 0");
    assert_int_equal(ww_db_open(f->path, false, &f->db, &error), WW_OK);
    assert_int_equal(ww_db_load_measured(f->db, id, &n, &error), WW_DB);
    ww_fixture_assert_contains(error.text, "three sizes or none");
    ww_measured_free(m);
}

static void a_comma_in_place_of_a_point_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"2,5",     "1234,567", "1,23",     "1,2345",
                                        "1.234,5", ",123",     "1,234,56", "1.5,000"};
    static const char *const right[] = {"1,234", "12,345,678.25", "123", "0.5", "1e3"};
    char text[400];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, NCU_LONG NCU_ROW("0", "k", "Duration", "us", "%s"), wrong[i]);
        refused(text, ".csv", "between thousands");
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        snprintf(text, sizeof text, NCU_LONG NCU_ROW("0", "k", "Duration", "us", "%s"), right[i]);
        ww_measured_free(good(text, ".csv"));
    }
}

static void of_metrics_that_mean_the_same_the_best_counts_wherever_it_stands(void **state) {
    (void)state;
    struct ww_measured *m = good(NCU_LONG NCU_ROW("0", "k", "sm__cycles_elapsed.max", "cycle", "5")
                                     NCU_ROW("0", "k", "gpc__cycles_elapsed.max", "cycle", "6")
                                         NCU_ROW("0", "k", "Elapsed Cycles", "cycle", "7"),
                                 ".csv");
    assert_true(m->point_count == 1 && m->point[0].value == 6);
    ww_measured_free(m);
}

static void a_profilers_page_that_is_wrong_is_refused_with_its_line(void **state) {
    (void)state;
    refused(NCU_LONG, ".csv", "no elapsed cycles");
    refused(NCU_LONG NCU_ROW("0", "k", "Registers Per Thread", "register/thread", "16"), ".csv",
            "no elapsed cycles");
    refused(NCU_LONG NCU_ROW("0", "k", "Elapsed Cycles", "Kcycle", "5"), ".csv", "unit cycle");
    refused(NCU_LONG NCU_ROW("0", "k", "Duration", "hour", "5"), ".csv", "in ns, us, ms or s");
    refused(NCU_LONG NCU_ROW("0", "k", "Duration", "ns", "n/a"), ".csv", "greater than 0");
    refused(NCU_LONG NCU_ROW("-1", "k", "Duration", "ns", "5"), ".csv", "number of a kernel");
    refused(NCU_LONG "\"0\",\"1\"\n", ".csv", ":2");
    refused("\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\"\n", ".csv", "Metric Unit");
    refused(NCU_KEYS ",\"gpu__time_duration.sum\"\n\"0\",\"1\",\"p\",\"k\",\"b\",\"8.0\",\"5\"\n", ".csv",
            "line of units");
}

static void what_was_measured_can_be_said_to_be_of_a_trace(void **state) {
    (void)state;
    struct ww_measured *m = good(NCU_LONG NCU_ROW("0", "k", "Elapsed Cycles", "cycle", "7"), ".csv");
    assert_int_equal(ww_measured_of_trace(m, "mine.wwt", &error), WW_OK);
    assert_string_equal(m->point[0].workload, "mine.wwt");
    ww_measured_free(m);
}

int main(void) {
#define CASE(f) cmocka_unit_test_setup_teardown(f, ww_db_fixture_setup, ww_db_fixture_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_launches_and_the_gpu_are_read),
        cmocka_unit_test(what_breaks_the_schema_is_refused_with_its_place),
        cmocka_unit_test(figures_that_make_no_sense_are_refused),
        cmocka_unit_test(a_file_made_with_quick_is_known_as_such),
        cmocka_unit_test(damaged_files_are_read_or_refused_with_a_reason),
        cmocka_unit_test(a_csv_gives_points),
        cmocka_unit_test(a_csv_that_is_wrong_is_refused_with_its_line),
        cmocka_unit_test(a_profilers_details_page_gives_cycles_and_times),
        cmocka_unit_test(a_profilers_raw_page_has_its_units_in_the_second_line),
        cmocka_unit_test(a_profilers_sizes_of_grids_and_blocks_are_read),
        cmocka_unit_test(a_comma_in_place_of_a_point_is_refused),
        cmocka_unit_test(of_metrics_that_mean_the_same_the_best_counts_wherever_it_stands),
        cmocka_unit_test(a_profilers_page_that_is_wrong_is_refused_with_its_line),
        cmocka_unit_test(what_was_measured_can_be_said_to_be_of_a_trace),
        CASE(a_measurement_loads_as_it_was_stored),
        CASE(sizes_of_grids_and_blocks_are_stored),
        CASE(the_same_measurement_is_stored_once),
        CASE(a_measurement_that_is_not_there_is_an_error),
        CASE(a_tampered_measurement_is_refused),
        CASE(the_latest_run_of_a_workload_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
