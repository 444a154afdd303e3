/* Ways between SMs and slices by their places: the V100's as measured, and what they change in a slice. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimator/config/gpc.h"
#include "estimator/core/memory/floorplan.h"
#include "memsys_fixture.h"
#include <math.h>
#include <string.h>

enum { SLICES = 64, SMS = 80 };

static struct ww_gpu_spec v100(void) {
    struct ww_gpu *gpu = NULL;
    struct ww_error error;
    if (ww_gpu_load("v100", NULL, 0, &gpu, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    struct ww_gpu_spec spec = gpu->spec;
    ww_gpu_free(gpu);
    assert_int_equal(spec.l2_slices, SLICES);
    assert_int_equal(spec.sm_count, SMS);
    return spec;
}

/* Loads that hit the V100's L2, in cycles, from all SMs to all slices. */
struct hits {
    struct ww_gpu_spec spec;
    double of[SMS][SLICES];
};

static const struct hits *v100_hits(void) {
    static struct hits h;
    struct ww_arena arena;
    const uint16_t *table;
    if (h.of[0][0] > 0) return &h;
    h.spec = v100();
    ww_arena_init(&arena, 0);
    assert_true(ww_floorplan_latencies(&h.spec, &arena, &table));
    assert_non_null(table);
    for (uint32_t sm = 0; sm < SMS; sm++)
        for (uint32_t slice = 0; slice < SLICES; slice++)
            h.of[sm][slice] = h.spec.l1_latency + 2.0 * h.spec.xbar_latency + table[sm * SLICES + slice];
    ww_arena_free(&arena);
    return &h;
}

struct spread {
    double mean, deviation, least, most;
};

static struct spread spread_of(const struct hits *h, uint32_t first, uint32_t end) {
    struct spread s = {.least = INFINITY};
    double squares = 0, n = (double)(end - first) * SLICES;
    for (uint32_t sm = first; sm < end; sm++)
        for (uint32_t slice = 0; slice < SLICES; slice++) {
            double x = h->of[sm][slice];
            s.mean += x / n;
            squares += x * x / n;
            s.least = fmin(s.least, x);
            s.most = fmax(s.most, x);
        }
    s.deviation = sqrt(squares - s.mean * s.mean);
    return s;
}

static struct spread of_gpc(const struct hits *h, uint32_t gpc) {
    return spread_of(h, ww_gpc_first(&h->spec, gpc), ww_gpc_first(&h->spec, gpc + 1));
}

/* jin-noc: 212 cycles on the mean, 175 to 248. */
static void a_v100s_hits_take_as_long_as_measured(void **state) {
    (void)state;
    struct spread all = spread_of(v100_hits(), 0, SMS);
    assert_true(fabs(all.mean - 212) < 0.5);
    assert_true(fabs(all.least - 175) <= 3);
    assert_true(fabs(all.most - 248) <= 3);
}

/* jin-noc: GPC 0 has 213 cycles with a deviation of 13.9, GPC 2, in the middle, 209 with 7.5. */
static void gpcs_in_the_middle_have_shorter_ways_and_less_spread(void **state) {
    (void)state;
    struct spread edge = of_gpc(v100_hits(), 0), middle = of_gpc(v100_hits(), 2);
    assert_true(edge.mean - middle.mean > 2 && edge.mean - middle.mean < 8);
    print_message("edge %.1f +- %.1f, middle %.1f +- %.1f\n", edge.mean, edge.deviation, middle.mean,
                  middle.deviation);
    assert_true(fabs(edge.deviation - 13.9) < 3);
    assert_true(fabs(middle.deviation - 7.5) < 3);
}

/* gpu-benches' chase, which is one CTA: 212.1. */
static void the_first_sm_has_the_mean_way(void **state) {
    (void)state;
    struct spread first = spread_of(v100_hits(), 0, 1);
    assert_true(fabs(first.mean - 212) < 4);
}

static void sms_of_a_gpc_differ_by_the_same_at_all_slices(void **state) {
    (void)state;
    const struct hits *h = v100_hits();
    double apart = h->of[5][0] - h->of[0][0];
    assert_true(apart > 1);
    for (uint32_t slice = 1; slice < SLICES; slice++)
        assert_true(fabs(h->of[5][slice] - h->of[0][slice] - apart) <= 1);
}

/* l2.latency is all that a shorter way can save. */
static void no_way_is_shorter_than_the_crossbar(void **state) {
    (void)state;
    struct ww_gpu_spec spec = v100();
    struct ww_arena arena;
    const uint16_t *table;
    spec.l2_latency = 20;
    ww_arena_init(&arena, 0);
    assert_true(ww_floorplan_latencies(&spec, &arena, &table));
    uint16_t least = UINT16_MAX, most = 0;
    for (uint32_t i = 0; i < SMS * SLICES; i++) {
        if (table[i] < least) least = table[i];
        if (table[i] > most) most = table[i];
    }
    assert_int_equal(least, 0);
    assert_true(most > 50 && most < 60);
    ww_arena_free(&arena);
}

static void without_columns_all_ways_are_equal(void **state) {
    (void)state;
    struct ww_gpu_spec spec = v100();
    struct ww_arena arena;
    const uint16_t *table;
    spec.xbar_columns = 0;
    ww_arena_init(&arena, 0);
    assert_true(ww_floorplan_latencies(&spec, &arena, &table));
    assert_null(table);
    ww_arena_free(&arena);
}

/* ---- in a slice ------------------------------------------------------------------------------ */

/* Eight SMs in four GPCs, two slices in a column of two partitions: the even SMs of a GPC have a longer way. */
static void start_rig(struct rig *rig, bool fast) {
    struct ww_error error;
    small_spec(&rig->spec);
    rig->spec.sm_count = 8;
    rig->spec.sm_gpcs = 4;
    rig->spec.xbar_columns = 1;
    rig->spec.xbar_place_cycles = 16;
    rig_start(rig);
    if (fast) assert_int_equal(ww_memsys_make_fast(rig->memory, &rig->spec, &error), WW_OK);
}

/* A hit from the SM, in ps. */
static uint64_t hit_ps(uint16_t sm, bool fast) {
    static struct rig rig;
    start_rig(&rig, fast);
    rig_round_trip(&rig, 0, 1);
    uint64_t from = ww_queue_now(rig.queue);
    rig.replies = 0;
    rig_read(&rig, sm, 0, 1, 1);
    rig_drain(&rig);
    uint64_t trip = rig.log[0].ps - from;
    rig_stop(&rig);
    return trip;
}

static void a_farther_sm_waits_longer_for_a_hit(void **state) {
    bool fast = *state != NULL;
    uint64_t near = hit_ps(1, fast);
    assert_int_equal(hit_ps(0, fast), near + 8000);
    assert_int_equal(hit_ps(3, fast), near);
}

static void a_shorter_way_passes_a_longer_one(void **state) {
    (void)state;
    static struct rig rig;
    start_rig(&rig, false);
    rig_round_trip(&rig, 0, 1);
    rig.replies = 0;
    for (uint16_t sm = 0; sm < 8; sm += 2) rig_read(&rig, sm, 0, 1, sm);
    for (uint16_t sm = 1; sm < 8; sm += 2) rig_read(&rig, sm, 0, 1, sm);
    rig_drain(&rig);
    assert_int_equal(rig.replies, 8);
    for (size_t i = 0; i < 8; i++) assert_int_equal(rig.log[i].sm % 2, i < 4);
    rig_check_laws(&rig);
    rig_stop(&rig);
}

static void requests_of_one_sm_keep_their_order(void **state) {
    (void)state;
    static struct rig rig;
    start_rig(&rig, false);
    rig_round_trip(&rig, 0, 1);
    rig.replies = 0;
    for (uint32_t i = 0; i < 6; i++) rig_read(&rig, (uint16_t)(i % 2), 0, 1, i);
    rig_drain(&rig);
    assert_int_equal(rig.replies, 6);
    uint32_t next[2] = {0, 1};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(rig.log[i].reply.tag, next[rig.log[i].sm]);
        next[rig.log[i].sm] += 2;
    }
    rig_stop(&rig);
}

/* ---- what the parameters allow --------------------------------------------------------------- */

static void refused(const char *set, const char *expected) {
    struct ww_gpu *gpu = NULL;
    struct ww_error error;
    const char *sets[] = {set};
    assert_int_equal(ww_gpu_load("v100", sets, 1, &gpu, &error), WW_INPUT);
    if (!strstr(error.text, expected)) fail_msg("%s: %s", set, error.text);
}

static void a_plan_that_does_not_fit_the_gpu_is_refused(void **state) {
    (void)state;
    refused("sm.gpcs=0", "sm.gpcs is 0");
    refused("xbar.columns=3", "do not divide into 3 columns");
    refused("l2.partitions=2", "not modelled with l2.partitions=2");
    refused("l2.coalesce=4", "not modelled with l2.coalesce");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_v100s_hits_take_as_long_as_measured),
        cmocka_unit_test(gpcs_in_the_middle_have_shorter_ways_and_less_spread),
        cmocka_unit_test(the_first_sm_has_the_mean_way),
        cmocka_unit_test(sms_of_a_gpc_differ_by_the_same_at_all_slices),
        cmocka_unit_test(no_way_is_shorter_than_the_crossbar),
        cmocka_unit_test(without_columns_all_ways_are_equal),
        cmocka_unit_test(a_farther_sm_waits_longer_for_a_hit),
        {"a_farther_sm_waits_longer_for_a_hit_in_fast_replay", a_farther_sm_waits_longer_for_a_hit, NULL, NULL,
         "fast"},
        cmocka_unit_test(a_shorter_way_passes_a_longer_one),
        cmocka_unit_test(requests_of_one_sm_keep_their_order),
        cmocka_unit_test(a_plan_that_does_not_fit_the_gpu_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
