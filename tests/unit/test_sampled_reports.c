/* What is shown of a sample's launches: scaled to the run by reports and by views alike. */
#include "../../estimator/warpwatt.h"
#include "db_fixture.h"
#include "../../reports/figures.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-6 * fabs(b))

/* The fixture's two launches as a sample's: the first stands for itself, the second for nine of its kind, and
 * the estimate is a little more than they add up to. Row 2 shares its stratum, row 3 is a window. */
static struct ww_sample_row row[] = {{.launch = 0, .kind = 0, .stratum = 0, .population = 1},
                                     {.launch = 1, .kind = 0, .stratum = 1, .population = 18},
                                     {.launch = 2, .kind = 0, .stratum = 1, .population = 18},
                                     {.launch = 3, .kind = 2, .stratum = 2, .population = 40}};

static struct ww_result *sample(void) {
    struct ww_result *r = ww_fixture_result(NULL);
    const struct ww_launch_result *a = &r->launch[0], *b = &r->launch[1];
    r->mode = "sampled";
    r->sampling = (struct ww_sampling){.reason = "made up", .row = row, .row_count = 4};
    r->cycles = (a->cycles + 9 * b->cycles) * 5 / 4;
    r->time_ps = (a->time_ps + 9 * b->time_ps) * 5 / 4;
    r->warp_instructions = (a->warp_instructions + 9 * b->warp_instructions) * 5 / 4;
    r->energy_j = (a->energy.total_j + 9 * b->energy.total_j) * 1.3;
    r->cycles_interval = (struct ww_interval){(double)r->cycles * 0.9, (double)r->cycles * 1.1};
    r->energy_interval = (struct ww_interval){r->energy_j * 0.9, r->energy_j * 1.1};
    return r;
}

static double components(const struct ww_launch_result *l) {
    double sum = 0;
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) sum += l->energy.dynamic_j[c] + l->energy.static_j[c];
    return sum;
}

static void a_samples_parts_add_up_to_its_estimate(void **state) {
    (void)state;
    struct ww_result *r = sample();
    const struct ww_launch_result *a = &r->launch[0], *b = &r->launch[1];
    struct ww_launch_result sum;
    ww_sum_launches(r, &sum);
    double slots = (double)ww_sum_u64(a->slot, WW_SLOT_COUNT) / (double)a->cycles;
    double all = (double)ww_sum_u64(sum.slot, WW_SLOT_COUNT); /* of counts that were rounded one by one */
    assert_true(fabs(all - slots * (double)r->cycles) <= WW_SLOT_COUNT);
    NEAR(components(&sum), r->energy_j);
    assert_int_equal(ww_sum_u64(sum.warp_cycles, WW_STATE_COUNT), sum.resident_warp_cycles);
    NEAR((double)sum.counter[WW_C_INST_ISSUED], (double)r->warp_instructions);
    /* the second launch counts nine times */
    int state_of = WW_S_WAIT_ALU;
    double weighted = ((double)a->warp_cycles[state_of] + 9 * (double)b->warp_cycles[state_of]) /
                      ((double)a->resident_warp_cycles + 9 * (double)b->resident_warp_cycles);
    double alike = (double)(a->warp_cycles[state_of] + b->warp_cycles[state_of]) /
                   (double)(a->resident_warp_cycles + b->resident_warp_cycles);
    double shown = (double)sum.warp_cycles[state_of] / (double)sum.resident_warp_cycles;
    assert_true(fabs(shown - weighted) < fabs(shown - alike) / 10);
    ww_result_free(r);
}

static cJSON *compare(const struct ww_result *a, const struct ww_result *b) {
    char *text = NULL;
    size_t n = 0;
    struct ww_error error;
    FILE *out = open_memstream(&text, &n);
    enum ww_code code = ww_report_compare(a, 1, b, 2, true, out, &error);
    fclose(out);
    if (code != WW_OK) fail_msg("%s", error.text);
    cJSON *json = cJSON_Parse(text);
    free(text);
    assert_non_null(json);
    return json;
}

static bool warns(const cJSON *json, const char *of) {
    const cJSON *w;
    cJSON_ArrayForEach(w, cJSON_GetObjectItem(json, "warnings")) if (strstr(w->valuestring, of)) return true;
    return false;
}

static double new_sum(const cJSON *json, const char *key) {
    double sum = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(json, key)) sum += cJSON_GetObjectItem(one, "new")->valuedouble;
    return sum;
}

static void a_comparison_with_a_sample_adds_up_to_its_time(void **state) {
    (void)state;
    struct ww_result *full = ww_fixture_result(NULL), *r = sample();
    cJSON *json = compare(full, r);
    NEAR(new_sum(json, "time_s_by_cause"), (double)r->time_ps * 1e-12);
    NEAR(new_sum(json, "energy_j_by_component"), r->energy_j);
    assert_true(warns(json, "modes differ") && warns(json, "replayed whole"));
    cJSON_Delete(json);
    json = compare(r, r);
    assert_false(warns(json, "modes differ"));
    cJSON_Delete(json);
    ww_result_free(full);
    ww_result_free(r);
}

static void a_sample_that_replayed_all_compares_as_a_full_replay(void **state) {
    (void)state;
    struct ww_result *full = ww_fixture_result(NULL), *r = ww_fixture_result(NULL);
    r->mode = "sampled";
    r->sampling.reason = "everything";
    cJSON *json = compare(full, r);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "warnings")), 0);
    cJSON_Delete(json);
    ww_result_free(full);
    ww_result_free(r);
}

static void without_whole_launches_only_totals_are_compared(void **state) {
    (void)state;
    struct ww_result *full = ww_fixture_result(NULL), *r = sample();
    r->launch_count = 0;
    cJSON *json = compare(full, r);
    assert_true(warns(json, "only totals"));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "time_s_by_cause")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "warp_cycles")));
    cJSON_Delete(json);
    ww_result_free(full);
    ww_result_free(r);
}

/* The only figure of a query. */
static double number(struct ww_db_fixture *f, const char *sql) {
    char *text = ww_db_fixture_query(f, sql, WW_FORMAT_CSV), *line = strchr(text, '\n');
    double v = line && line[1] != '\r' ? strtod(line + 1, NULL) : (double)NAN;
    free(text);
    return v;
}

static void views_show_a_sample_as_reports_do(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r = sample();
    struct ww_launch_result sum;
    ww_sum_launches(r, &sum);
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
    NEAR(number(f, "SELECT sum(energy_j) FROM v_energy"), r->energy_j);
    NEAR(number(f, "SELECT sum(power_w) / (SELECT power_w FROM v_run) FROM v_energy"), 1.0);
    NEAR(number(f, "SELECT sum(cpi) FROM v_cpi_stack"),
         (double)ww_sum_u64(sum.slot, WW_SLOT_COUNT) / (double)r->warp_instructions);
    NEAR(number(f, "SELECT sum(warp_cycles) FROM v_stall"), (double)sum.resident_warp_cycles);
    NEAR(number(f, "SELECT value FROM v_counter WHERE counter = 'sm_active_cycles'"),
         (double)sum.counter[WW_C_SM_ACTIVE_CYCLES]);
    NEAR(number(f, "SELECT sectors_read FROM v_memory WHERE level = 'dram'"),
         (double)sum.counter[WW_C_DRAM_SECTOR_READ]);
    ww_result_free(r);
}

static void regressions_are_within_a_mode(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *full = ww_fixture_result(NULL), *r = ww_fixture_result(NULL);
    r->mode = "analytic";
    r->cycles /= 2;
    assert_int_equal(ww_db_store(f->db, full, NULL, &f->error), WW_OK);
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
    char *text = ww_db_fixture_named(f, "regressions", WW_FORMAT_JSON);
    assert_null(strstr(text, "moved"));
    free(text);
    r->cycles -= 1;
    r->cycles_interval = (struct ww_interval){(double)r->cycles, (double)r->cycles};
    assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
    text = ww_db_fixture_named(f, "regressions", WW_FORMAT_JSON);
    ww_fixture_assert_contains(text, "\"mode\": \"analytic\"");
    assert_null(strstr(text, "\"full\""));
    free(text);
    ww_result_free(full);
    ww_result_free(r);
}

static void a_fast_run_within_its_intervals_is_no_regression(void **state) {
    struct ww_db_fixture *f = *state;
    struct ww_result *r = ww_fixture_result(NULL);
    r->mode = "fast";
    for (int i = 0; i < 3; i++) {
        static const double by[] = {1, 1.05, 1.3};
        r->cycles = (uint64_t)((double)r->cycles * by[i]);
        r->cycles_interval = (struct ww_interval){(double)r->cycles * 0.95, (double)r->cycles * 1.05};
        assert_int_equal(ww_db_store(f->db, r, NULL, &f->error), WW_OK);
        char *text = ww_db_fixture_named(f, "regressions", WW_FORMAT_CSV);
        if (i == 1) ww_fixture_assert_contains(text, "within intervals");
        if (i == 2) ww_fixture_assert_contains(text, "moved");
        free(text);
    }
    ww_result_free(r);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, ww_db_fixture_setup, ww_db_fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_samples_parts_add_up_to_its_estimate),
        cmocka_unit_test(a_comparison_with_a_sample_adds_up_to_its_time),
        cmocka_unit_test(a_sample_that_replayed_all_compares_as_a_full_replay),
        cmocka_unit_test(without_whole_launches_only_totals_are_compared),
        T(views_show_a_sample_as_reports_do),
        T(regressions_are_within_a_mode),
        T(a_fast_run_within_its_intervals_is_no_regression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
