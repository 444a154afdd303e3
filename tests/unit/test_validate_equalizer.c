/* What suite "equalizer" makes of its measurements. The measurements here are made up. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/study/validate/equalizer/equalizer_int.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct ww_error error;
static struct ww_matrix_sum sum[WW_EQ_MACHINES][WW_EQ_KERNELS];
static struct ww_validation v;

/* All kernels take 1000 ps and 1 J everywhere; a warp waits for half of its time, issues for a quarter, and is
 * in excess of the kind of its class for the rest. */
static struct ww_matrix matrix(void) {
    for (size_t m = 0; m < WW_EQ_MACHINES; m++)
        for (size_t k = 0; k < WW_EQ_KERNELS; k++) {
            enum ww_eq_class class = ww_eq_kernel[k].class;
            bool memory = class == WW_EQ_MEMORY || class == WW_EQ_CACHE;
            sum[m][k] =
                (struct ww_matrix_sum){.time_ps = 1000, .total_j = 1, .ctas_per_sm = ww_eq_kernel[k].ctas};
            sum[m][k].warp_cycles[WW_S_WAIT_DRAM] = 50;
            sum[m][k].warp_cycles[WW_S_ISSUED] = 25;
            sum[m][k].warp_cycles[WW_S_EXCESS_ALU] = class == WW_EQ_COMPUTE ? 25 : memory ? 5 : 10;
            sum[m][k].warp_cycles[WW_S_EXCESS_MEM] = memory ? 25 : 5;
            sum[m][k].warp_cycles[WW_S_BARRIER] = 1000; /* not accounted */
        }
    return (struct ww_matrix){.machines = WW_EQ_MACHINES, .kernels = WW_EQ_KERNELS, .sum = &sum[0][0]};
}

static size_t kernel(const char *row) {
    for (size_t k = 0; k < WW_EQ_KERNELS; k++)
        if (strcmp(ww_eq_kernel[k].row, row) == 0) return k;
    fail_msg("no kernel %s", row);
    return 0;
}

static const struct ww_validate_row *row(const char *id) {
    for (size_t i = 0; i < v.count; i++)
        if (strcmp(v.row[i].id, id) == 0) return &v.row[i];
    fail_msg("no row %s", id);
    return NULL;
}

static void near(double got, double want) {
    if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-9)) fail_msg("%.12g is not %.12g", got, want);
}

static void averages_of(const struct ww_matrix *b) {
    ww_validation_clear(&v);
    assert_int_equal(ww_validation_init(&v, "equalizer", &error), WW_OK);
    if (ww_eq_averages(&v, b, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
}

static void every_published_figure_gets_a_row(void **state) {
    (void)state;
    struct ww_matrix b = matrix();
    averages_of(&b);
    for (size_t i = 0; i < v.target_count; i++)
        if (strcmp(v.target[i].paper, "equalizer") == 0) row(v.target[i].id);
}

static void the_kernels_are_those_of_table_3_2(void **state) {
    (void)state;
    unsigned of[WW_EQ_CLASSES] = {0};
    for (size_t k = 0; k < WW_EQ_KERNELS; k++) of[ww_eq_kernel[k].class]++;
    assert_int_equal(of[WW_EQ_COMPUTE], 9);
    assert_int_equal(of[WW_EQ_MEMORY], 5);
    assert_int_equal(of[WW_EQ_CACHE], 7);
    assert_int_equal(of[WW_EQ_UNSATURATED], 6);
}

static void speed_ups_are_geometric_means_over_a_class(void **state) {
    (void)state;
    struct ww_matrix b = matrix();
    sum[WW_EQ_PERFORMANCE][kernel("lbm")].time_ps = 500;
    sum[WW_EQ_PERFORMANCE][kernel("lbm")].total_j = 0.25;
    averages_of(&b);
    near(row("eq-p-memory")->ours, 100 * (pow(2, 1.0 / 5) - 1));
    near(row("eq-p")->ours, 100 * (pow(2, 1.0 / 27) - 1));
    near(row("eq-p-memory-energy")->ours, 100 * (pow(0.25, 1.0 / 5) - 1));
    near(row("eq-p-compute")->ours, 0);
    assert_string_equal(row("eq-p-most")->ours_text, "lbm");
    assert_false(row("eq-p-most")->within);
}

static void the_static_best_saves_energy_at_95_percent_of_the_performance(void **state) {
    (void)state;
    struct ww_matrix b = matrix();
    size_t k = kernel("sgemm");
    sum[WW_EQ_SM_LOW][k].time_ps = 1100; /* slower than allowed */
    sum[WW_EQ_SM_LOW][k].total_j = 0.7;
    sum[WW_EQ_MEM_LOW][k].time_ps = 1050;
    sum[WW_EQ_MEM_LOW][k].total_j = 0.9;
    assert_int_equal(ww_eq_static_best(&b, k), WW_EQ_MEM_LOW);
    sum[WW_EQ_MEM_LOW][k].total_j = 1.1;
    assert_int_equal(ww_eq_static_best(&b, k), WW_EQ_BASE);
    sum[WW_EQ_SM_LOW][k].time_ps = 1000;
    assert_int_equal(ww_eq_static_best(&b, k), WW_EQ_SM_LOW);
    averages_of(&b);
    near(row("eq-static-best-energy")->ours, 100 * (pow(0.7, 1.0 / 27) - 1));
}

static void the_best_number_of_ctas_is_the_fastest_measured(void **state) {
    (void)state;
    struct ww_matrix b = matrix();
    size_t k = kernel("kmn");
    for (size_t m = WW_EQ_CTAS + 5; m < WW_EQ_CTAS + WW_EQ_CTAS_MOST; m++)
        sum[m][k] = (struct ww_matrix_sum){0};
    assert_int_equal(ww_eq_best_ctas(&b, k), WW_EQ_BASE);
    sum[WW_EQ_CTAS + 1][k].time_ps = 400;
    sum[WW_EQ_CTAS + 2][k].time_ps = 450;
    assert_int_equal(ww_eq_best_ctas(&b, k), WW_EQ_CTAS + 1);
}

static void warp_states_tell_classes_apart(void **state) {
    (void)state;
    struct ww_matrix b = matrix();
    averages_of(&b);
    assert_true(row("eq-fig34-alu")->within && row("eq-fig34-mem")->within);
    near(ww_eq_state(sum[WW_EQ_BASE][kernel("cutcp")].warp_cycles, WW_EQ_X_ALU), 25.0 / 105);
    for (size_t k = 0; k < WW_EQ_KERNELS; k++)
        if (ww_eq_kernel[k].class == WW_EQ_UNSATURATED) sum[WW_EQ_BASE][k].warp_cycles[WW_S_EXCESS_MEM] = 50;
    averages_of(&b);
    assert_false(row("eq-fig34-mem")->within);
}

static void classes_are_ranked(void **state) {
    (void)state;
    struct ww_matrix b = matrix();
    static const double gain[] = {[WW_EQ_COMPUTE] = 1.14, [WW_EQ_MEMORY] = 1.12, [WW_EQ_CACHE] = 1.5, 1.05};
    static const double energy[] = {0.95, 0.89, 0.64, 0.93};
    for (size_t k = 0; k < WW_EQ_KERNELS; k++) {
        sum[WW_EQ_PERFORMANCE][k].time_ps = (uint64_t)(1000 / gain[ww_eq_kernel[k].class]);
        sum[WW_EQ_ENERGY][k].total_j = energy[ww_eq_kernel[k].class];
    }
    averages_of(&b);
    assert_true(row("eq-p-ranking")->within && row("eq-e-ranking")->within);
    for (size_t k = 0; k < WW_EQ_KERNELS; k++)
        if (ww_eq_kernel[k].class == WW_EQ_MEMORY) sum[WW_EQ_PERFORMANCE][k].time_ps = 100;
    averages_of(&b);
    assert_string_equal(row("eq-p-ranking")->ours_text, "memory > cache > compute");
}

static int clear(void **state) {
    (void)state;
    ww_validation_clear(&v);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_published_figure_gets_a_row),
        cmocka_unit_test(the_kernels_are_those_of_table_3_2),
        cmocka_unit_test(speed_ups_are_geometric_means_over_a_class),
        cmocka_unit_test(the_static_best_saves_energy_at_95_percent_of_the_performance),
        cmocka_unit_test(the_best_number_of_ctas_is_the_fastest_measured),
        cmocka_unit_test(warp_states_tell_classes_apart),
        cmocka_unit_test(classes_are_ranked),
    };
    return cmocka_run_group_tests(tests, NULL, clear);
}
