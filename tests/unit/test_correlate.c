/* Agreement of estimates with measurements, correlations, and models derived from measurements. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/study/hardware/correlate.h"
#include "../../estimator/study/hardware/hardware.h"
#include "result_fixture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct ww_error error;

static struct ww_measured *synthetic(void) {
    char path[512];
    struct ww_measured *m;
    ww_fixture_source_file("tests/hardware/synthetic.json", path);
    if (ww_measured_load(path, &m, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    return m;
}

static void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.10g is not %.10g", a, b);
}

/* ---- agreement ---- */

static void errors_are_relative_to_what_was_measured(void **state) {
    (void)state;
    const double measured[] = {1, 2, 4}, estimate[] = {2, 1, 4};
    struct ww_agreement a;
    assert_int_equal(ww_agreement_of(measured, estimate, 3, &a, &error), WW_OK);
    near(a.mape, 0.5, 1e-12); /* 1, 1/2, 0 */
    near(a.bias, 1.0 / 6, 1e-12);
    near(a.median, 0.5, 1e-12);
}

static void correlations_are_pearsons_and_spearmans(void **state) {
    (void)state;
    const double measured[] = {1, 2, 4, 8}, squares[] = {1, 4, 16, 64}, falling[] = {9, 7, 3, 1};
    struct ww_agreement a;
    assert_int_equal(ww_agreement_of(measured, squares, 4, &a, &error), WW_OK);
    near(a.spearman, 1, 1e-12);
    /* sums of products of deviations: 266.25 over sqrt(28.75 * 2562.75) */
    near(a.pearson, 266.25 / sqrt(28.75 * 2562.75), 1e-12);
    assert_int_equal(ww_agreement_of(measured, falling, 4, &a, &error), WW_OK);
    near(a.spearman, -1, 1e-12);
}

static void equal_values_share_their_rank(void **state) {
    (void)state;
    const double measured[] = {1, 1, 2}, estimate[] = {1, 2, 3};
    struct ww_agreement a;
    assert_int_equal(ww_agreement_of(measured, estimate, 3, &a, &error), WW_OK);
    near(a.spearman, sqrt(3) / 2, 1e-12); /* ranks 1.5 1.5 3 against 1 2 3 */
}

static void correlations_that_are_not_defined_are_not_numbers(void **state) {
    (void)state;
    const double one[] = {1}, two[] = {1, 2}, flat[] = {3, 3};
    struct ww_agreement a;
    assert_int_equal(ww_agreement_of(one, one, 1, &a, &error), WW_OK);
    assert_true(a.mape == 0 && isnan(a.pearson) && isnan(a.spearman));
    assert_int_equal(ww_agreement_of(two, flat, 2, &a, &error), WW_OK);
    assert_true(isnan(a.pearson) && isnan(a.spearman) && a.mape > 0);
    assert_int_equal(ww_agreement_of(one, one, 0, &a, &error), WW_OK);
    assert_true(isnan(a.mape) && a.count == 0);
}

/* ---- correlations ---- */

/* Estimates of 1, 2, 3 ... us for launches of kernel k. */
static enum ww_code made_up(void *context, const struct ww_measured_point *p, struct ww_result **result,
                            struct ww_error *e) {
    (void)e;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 3});
    (void)p;
    for (size_t i = 0; i < 3; i++) {
        r->launch[i].kernel = i < 2 ? "k" : "other";
        r->launch[i].time_ps = 1000000 * (i + 1);
    }
    ++*(int *)context;
    *result = r;
    return WW_OK;
}

static struct ww_measured_point point(const char *kernel, uint32_t launch, double us) {
    return (struct ww_measured_point){.workload = "w",
                                      .parameters = "",
                                      .kernel = kernel,
                                      .launch = launch,
                                      .metric = WW_METRIC_TIME,
                                      .value = us * 1e-6,
                                      .low = us * 1e-6,
                                      .high = us * 1e-6,
                                      .verified = true};
}

static struct ww_correlation *correlate(struct ww_measured_point *p, size_t n, bool launches, int *calls) {
    struct ww_measured m = {.source = "s", .gpu = "g", .point = p, .point_count = n};
    struct ww_correlate_options o = {
        .measured = &m, .gpu = "v100", .launches = launches, .find = made_up, .find_context = calls};
    struct ww_correlation *c;
    *calls = 0;
    if (ww_correlate(&o, &c, &error) != WW_OK) return NULL;
    return c;
}

static void launches_of_a_kernel_add_up(void **state) {
    (void)state;
    struct ww_measured_point p[] = {point("k", 0, 2), point("k", 1, 4), point("other", 2, 3)};
    int calls;
    struct ww_correlation *c = correlate(p, 3, false, &calls);
    assert_non_null(c);
    assert_true(calls == 1 && c->row_count == 2 && c->row[0].launches == 2);
    near(c->row[0].measured, 6e-6, 1e-15);
    near(c->row[0].estimate, 3e-6, 1e-15);
    near(ww_correlation_error(&c->row[0]), -0.5, 1e-12);
    near(c->agreement[WW_METRIC_TIME].mape, 0.25, 1e-12);
    ww_correlation_free(c);
    c = correlate(p, 3, true, &calls);
    assert_true(c && c->row_count == 3 && c->row[1].launch == 1);
    near(c->row[1].estimate, 2e-6, 1e-15);
    ww_correlation_free(c);
}

static void wrong_outputs_are_shown_and_not_counted(void **state) {
    (void)state;
    struct ww_measured_point p[] = {point("k", 0, 1), point("other", 2, 30)};
    int calls;
    p[1].verified = false;
    struct ww_correlation *c = correlate(p, 2, false, &calls);
    assert_true(c && c->row_count == 2 && c->unverified == 1 && c->agreement[WW_METRIC_TIME].count == 1);
    near(c->agreement[WW_METRIC_TIME].mape, 0, 1e-12);
    ww_correlation_free(c);
}

static void launches_that_differ_are_an_error(void **state) {
    (void)state;
    struct ww_measured_point p[] = {point("another", 0, 1)}, q[] = {point("k", 7, 1)};
    int calls;
    assert_null(correlate(p, 1, false, &calls));
    ww_fixture_assert_contains(error.text, "kernel k, measured was another");
    assert_null(correlate(q, 1, false, &calls));
    ww_fixture_assert_contains(error.text, "launch 7");
}

static void launches_of_other_sizes_are_an_error(void **state) {
    (void)state;
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 1});
    struct ww_measured_point p[] = {point("k", 0, 1)};
    int calls;
    memcpy(p[0].grid, r->launch[0].grid, sizeof p[0].grid);
    memcpy(p[0].block, r->launch[0].block, sizeof p[0].block);
    ww_result_free(r);
    struct ww_correlation *c = correlate(p, 1, false, &calls);
    assert_non_null(c);
    ww_correlation_free(c);
    p[0].block[0]++;
    assert_null(correlate(p, 1, false, &calls));
    ww_fixture_assert_contains(error.text, "has blocks of (");
    p[0].grid[2]++;
    assert_null(correlate(p, 1, false, &calls));
    ww_fixture_assert_contains(error.text, "has the grid (");
}

static void a_whole_run_is_compared_with_the_sum(void **state) {
    (void)state;
    struct ww_measured_point p[] = {point("", WW_ALL_LAUNCHES, 1)};
    int calls;
    struct ww_correlation *c = correlate(p, 1, false, &calls);
    struct ww_result *r = ww_fixture_result(&(struct ww_fixture){.launches = 3});
    near(c->row[0].estimate, (double)r->time_ps * 1e-12, 1e-18);
    ww_result_free(r);
    ww_correlation_free(c);
}

/* ---- derivation ---- */

static double param(const struct ww_gpu *gpu, const char *key) {
    struct ww_param_view view;
    for (size_t i = 0; i < ww_gpu_param_count(); i++)
        if (ww_gpu_param(gpu, i, &view, NULL) == WW_OK && strcmp(view.key, key) == 0)
            return strtod(view.value, NULL);
    fail_msg("no %s", key);
    return 0;
}

static enum ww_code derive(const struct ww_measured *m, const char *base, struct ww_gpu **gpu) {
    char path[64] = "/tmp/warpwatt-derive-XXXXXX";
    if (!mkdtemp(path)) return WW_IO;
    char file[80];
    snprintf(file, sizeof file, "%s/my.json", path);
    FILE *list = fopen("/dev/null", "w");
    enum ww_code code = ww_measured_derive(m, base, file, list, &error);
    fclose(list);
    if (code == WW_OK) code = ww_gpu_load(file, NULL, 0, gpu, &error);
    unlink(file);
    rmdir(path);
    return code;
}

static void what_was_measured_becomes_the_models(void **state) {
    (void)state;
    struct ww_measured *m = synthetic();
    struct ww_gpu *gpu;
    if (derive(m, "h200", &gpu) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    near(param(gpu, "clock.sm_mhz"), 1950, 0);
    near(param(gpu, "clock.dram_mhz"), 1600.5, 1e-9);
    double active = param(gpu, "launch.front_cycles") + param(gpu, "launch.end_cycles");
    near(param(gpu, "launch.overhead_us"), 2.4 - (active + param(gpu, "launch.cta_cycles")) / 1950, 1e-3);
    near(param(gpu, "pipe.sfu.latency"), 18, 0);
    near(param(gpu, "pipe.fp32.lanes"), 32, 0); /* 127.2 of four instances */
    near(param(gpu, "shared.conflict_cycles_2"), 2, 0);
    near(param(gpu, "shared.conflict_cycles_32"), 62, 0);
    near(param(gpu, "l1.bytes_per_cycle"), 128, 0); /* 121 */
    near(param(gpu, "l2.bytes_per_cycle"), round(5.9e12 / (96 * param(gpu, "clock.l2_mhz") * 1e6)), 0);
    ww_gpu_free(gpu);
    ww_measured_free(m);
}

/* Derived from its own derivation nothing changes: the derived model's chases take what was measured, 42, 290
 * and 790 cycles, to within half a cycle of each clock. */
static void a_derived_models_chases_take_what_was_measured(void **state) {
    (void)state;
    struct ww_measured *m = synthetic();
    char dir[64] = "/tmp/warpwatt-derive-XXXXXX", first[80], second[80];
    assert_non_null(mkdtemp(dir));
    snprintf(first, sizeof first, "%s/a.json", dir);
    snprintf(second, sizeof second, "%s/b.json", dir);
    FILE *list = fopen("/dev/null", "w");
    assert_int_equal(ww_measured_derive(m, "h200", first, list, &error), WW_OK);
    if (ww_measured_derive(m, first, second, list, &error) != WW_OK)
        fail_msg("%s: %s", error.where, error.text);
    fclose(list);
    struct ww_gpu *a, *b;
    assert_int_equal(ww_gpu_load(first, NULL, 0, &a, &error), WW_OK);
    assert_int_equal(ww_gpu_load(second, NULL, 0, &b, &error), WW_OK);
    static const char *const key[] = {"l1.latency", "l2.latency", "dram.latency", "shared.latency"};
    for (size_t i = 0; i < 4; i++) near(param(a, key[i]), param(b, key[i]), 1);
    struct ww_gpu *base;
    assert_int_equal(ww_gpu_load("h200", NULL, 0, &base, &error), WW_OK);
    for (size_t i = 0; i < 4; i++)
        assert_true(param(base, key[i]) + 1 < param(a, key[i])); /* all were slower */
    ww_gpu_free(a);
    ww_gpu_free(b);
    ww_gpu_free(base);
    unlink(first);
    unlink(second);
    rmdir(dir);
    ww_measured_free(m);
}

static void suite_kernels_do_not_enter_a_derivation(void **state) {
    (void)state;
    struct ww_measured *m = synthetic();
    struct ww_gpu *with, *without;
    assert_int_equal(derive(m, "h200", &with), WW_OK);
    for (size_t i = 0; i < m->point_count; i++) m->point[i].value *= 100;
    assert_int_equal(derive(m, "h200", &without), WW_OK);
    assert_string_equal(ww_gpu_json(with), ww_gpu_json(without));
    ww_gpu_free(with);
    ww_gpu_free(without);
    ww_measured_free(m);
}

static void without_microbenchmarks_nothing_is_derived(void **state) {
    (void)state;
    struct ww_measured *m = synthetic();
    struct ww_gpu *gpu;
    m->figure_count = 0;
    m->sms = 132;
    m->memory_clock_khz = 0;
    assert_int_equal(derive(m, "h200", &gpu), WW_INPUT);
    m->figure_count = 1;
    m->quick = true;
    assert_int_equal(derive(m, "h200", &gpu), WW_INPUT);
    ww_fixture_assert_contains(error.text, "--quick");
    ww_measured_free(m);
}

/* An L2 that answers before the L1 does, and loads that take no time. */
static void figures_that_contradict_each_other_make_no_model(void **state) {
    (void)state;
    static const struct {
        const char *method, *path, *says;
        double median;
    } bad[] = {{"chase", "path=cg", "the L2", 5},
               {"chase", "path=ca", "the L1", 0},
               {"shared_latency", "lanes=1", "shared memory", 0}};
    for (size_t b = 0; b < 3; b++) {
        struct ww_measured *m = synthetic();
        struct ww_gpu *gpu = NULL;
        for (size_t i = 0; i < m->figure_count; i++)
            if (strcmp(m->figure[i].method, bad[b].method) == 0 && strstr(m->figure[i].parameters, bad[b].path))
                m->figure[i].median = bad[b].median;
        assert_int_equal(derive(m, "h200", &gpu), WW_INPUT);
        assert_null(gpu);
        ww_fixture_assert_contains(error.text, bad[b].says);
        ww_measured_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_relative_to_what_was_measured),
        cmocka_unit_test(correlations_are_pearsons_and_spearmans),
        cmocka_unit_test(equal_values_share_their_rank),
        cmocka_unit_test(correlations_that_are_not_defined_are_not_numbers),
        cmocka_unit_test(launches_of_a_kernel_add_up),
        cmocka_unit_test(wrong_outputs_are_shown_and_not_counted),
        cmocka_unit_test(launches_that_differ_are_an_error),
        cmocka_unit_test(launches_of_other_sizes_are_an_error),
        cmocka_unit_test(a_whole_run_is_compared_with_the_sum),
        cmocka_unit_test(what_was_measured_becomes_the_models),
        cmocka_unit_test(a_derived_models_chases_take_what_was_measured),
        cmocka_unit_test(suite_kernels_do_not_enter_a_derivation),
        cmocka_unit_test(without_microbenchmarks_nothing_is_derived),
        cmocka_unit_test(figures_that_contradict_each_other_make_no_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
