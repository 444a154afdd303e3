/* The laws of memory structures against their points and against published figures. */
#include "../../power/scaling.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct ww_scaling *scaling;
static struct ww_error error;

static double value(enum ww_structure_quantity q, struct ww_structure_shape shape) {
    return ww_scaling_value(scaling, q, &shape);
}

static struct ww_structure_shape ram(double bytes, double row) {
    return (struct ww_structure_shape){WW_STRUCTURE_RAM, bytes, row, 1, 1, 45};
}

static struct ww_structure_shape cache(double bytes, double ways) {
    return (struct ww_structure_shape){WW_STRUCTURE_CACHE, bytes, 128, ways, 1, 45};
}

static void the_laws_are_the_fit_of_the_points(void **state) {
    (void)state;
    for (size_t i = 0; i < scaling->law_count; i++) {
        const struct ww_scaling_law *law = &scaling->law[i];
        struct ww_scaling_law fit;
        assert_int_equal(ww_scaling_fit(scaling, law->kind, law->quantity, &fit, &error), WW_OK);
        for (int t = 0; t < WW_SCALING_TERMS; t++) assert_true(fabs(fit.c[t] - law->c[t]) < 1e-4);
        assert_int_equal(fit.points, law->points);
    }
}

static void each_law_states_the_error_that_it_has_over_its_points(void **state) {
    (void)state;
    for (size_t i = 0; i < scaling->law_count; i++) {
        const struct ww_scaling_law *law = &scaling->law[i];
        double squares = 0;
        for (size_t k = 0; k < scaling->point_count; k++) {
            const struct ww_scaling_point *p = &scaling->point[k];
            if (p->kind != law->kind) continue;
            double got = value(law->quantity, (struct ww_structure_shape){p->kind, p->bytes, p->row_bytes,
                                                                          p->ways, p->ports, p->node_nm});
            squares += pow(got / p->value[law->quantity] - 1, 2);
        }
        assert_true(fabs(sqrt(squares / law->points) - law->rms) < 1e-3);
    }
}

static void all_points_have_a_law(void **state) {
    (void)state;
    size_t points = 0;
    for (size_t i = 0; i < scaling->law_count; i++)
        if (scaling->law[i].quantity == WW_STRUCTURE_READ) points += scaling->law[i].points;
    assert_int_equal(points, scaling->point_count);
    assert_int_equal(scaling->law_count, WW_STRUCTURE_KINDS * WW_STRUCTURE_QUANTITIES);
}

static void a_larger_array_costs_more(void **state) {
    (void)state;
    for (enum ww_structure_quantity q = 0; q < WW_STRUCTURE_QUANTITIES; q++) {
        assert_true(value(q, ram(65536, 32)) > value(q, ram(8192, 32)));
        assert_true(value(q, cache(49152, 4)) > value(q, cache(16384, 4)));
        assert_true(value(q, cache(32768, 8)) > value(q, cache(32768, 4)));
    }
}

static void beyond_the_points_a_law_goes_on_as_a_power(void **state) {
    (void)state;
    struct ww_structure_shape edge = ram(262144, 32), once = ram(524288, 32), twice = ram(1048576, 32);
    double first = value(WW_STRUCTURE_LEAKAGE, once) / value(WW_STRUCTURE_LEAKAGE, edge);
    double second = value(WW_STRUCTURE_LEAKAGE, twice) / value(WW_STRUCTURE_LEAKAGE, once);
    assert_true(first > 1.7 && first < 2.1);
    assert_true(fabs(first / second - 1) < 1e-9);
}

static void ways_beyond_the_points_cost_what_the_most_do(void **state) {
    (void)state;
    assert_true(value(WW_STRUCTURE_READ, cache(131072, 256)) == value(WW_STRUCTURE_READ, cache(131072, 16)));
}

/* A. Sethia's thesis, table 4.2 and section 4.4.2: a re-execution queue of 32 entries of 301 bits against the
 * 64 KB of L1 and shared memory, by CACTI 5.3: "2.2 % of the size", "3 % of the energy of an access". */
static void mascars_queue_has_2_percent_of_the_size_of_the_array(void **state) {
    (void)state;
    double share = value(WW_STRUCTURE_AREA, ram(1216, 38)) / value(WW_STRUCTURE_AREA, cache(65536, 4));
    assert_true(share > 0.022 * 2 / 3 && share < 0.022 * 4 / 3);
}

static void an_access_of_mascars_queue_costs_3_percent_of_one_of_the_l1(void **state) {
    (void)state;
    double share = value(WW_STRUCTURE_READ, ram(1216, 38)) / value(WW_STRUCTURE_READ, cache(65536, 4));
    assert_true(share > 0.03 * 2 / 3 && share < 0.03 * 4 / 3);
}

/* D. A. Jamshidi et al., D2MA, PACT 2014, table 3: 692 bytes of controllers synthesised at 45 nm have 45169.4
 * um2 and draw 2.40 mW. Flip-flops with their logic are several times as large as SRAM of that capacity. */
static void sram_of_the_capacity_of_d2mas_controllers_is_smaller_than_their_synthesis(void **state) {
    (void)state;
    double um2 = value(WW_STRUCTURE_AREA, ram(692, 32)) * 1e6;
    assert_true(um2 < 45169.4 && um2 > 45169.4 / 10);
}

static void it_leaks_less_than_they_draw(void **state) {
    (void)state;
    double mw = value(WW_STRUCTURE_LEAKAGE, ram(692, 32));
    assert_true(mw < 2.40 && mw > 0.24);
}

static int load(void **state) {
    (void)state;
    return ww_scaling_load("scaling", false, &scaling, &error) == WW_OK ? 0 : -1;
}

static int unload(void **state) {
    (void)state;
    ww_scaling_free(scaling);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_laws_are_the_fit_of_the_points),
        cmocka_unit_test(each_law_states_the_error_that_it_has_over_its_points),
        cmocka_unit_test(all_points_have_a_law),
        cmocka_unit_test(a_larger_array_costs_more),
        cmocka_unit_test(beyond_the_points_a_law_goes_on_as_a_power),
        cmocka_unit_test(ways_beyond_the_points_cost_what_the_most_do),
        cmocka_unit_test(mascars_queue_has_2_percent_of_the_size_of_the_array),
        cmocka_unit_test(an_access_of_mascars_queue_costs_3_percent_of_one_of_the_l1),
        cmocka_unit_test(sram_of_the_capacity_of_d2mas_controllers_is_smaller_than_their_synthesis),
        cmocka_unit_test(it_leaks_less_than_they_draw),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
