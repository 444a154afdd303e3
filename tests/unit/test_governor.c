/* What governors decide from an epoch's counters, and the contract that every governor keeps. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/base/rng.h"
#include "../../estimator/mech/gov/governor.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SMS 5
#define MOST 6
#define W_CTA 8
#define SAMPLES 32

/* A governor with its settings and state, and what is in force. */
struct bench {
    const struct ww_governor_ops *ops;
    struct ww_arena arena;
    const void *settings;
    void *state, *sm_state;
    uint32_t limit[SMS];
    struct ww_governor_decision decision;
    struct ww_governor_sm sm[SMS];
    struct ww_governor_epoch epoch;
};

static void bench_open(struct bench *b, const char *const *mech, size_t count) {
    struct ww_mech_choice choice[WW_KIND_COUNT];
    struct ww_error error;
    memset(b, 0, sizeof *b);
    ww_arena_init(&b->arena, 0);
    assert_int_equal(ww_mech_resolve(mech, count, &b->arena, choice, &error), WW_OK);
    b->ops = (const struct ww_governor_ops *)(const void *)choice[WW_KIND_GOVERNOR].info;
    b->settings = choice[WW_KIND_GOVERNOR].settings;
    b->state = calloc(1, b->ops->state_size + 1);
    b->sm_state = calloc(SMS, b->ops->sm_size + 1);
    b->decision.limit = b->limit;
    for (int i = 0; i < SMS; i++) b->limit[i] = MOST;
    for (int d = 0; d < WW_DOMAIN_COUNT; d++) b->decision.clock[d] = 1;
    b->epoch = (struct ww_governor_epoch){
        .samples = SAMPLES, .sms = SMS, .most = MOST, .w_cta = W_CTA, .more = true, .sm = b->sm};
    const struct ww_governor_launch launch = {SMS, MOST, W_CTA, false};
    if (b->ops->start) b->ops->start(b->state, b->sm_state, b->settings, &launch, &b->decision);
}

static void bench_close(struct bench *b) {
    free(b->state);
    free(b->sm_state);
    ww_arena_free(&b->arena);
}

static void open_equalizer(struct bench *b, const char *objective) {
    char text[64];
    snprintf(text, sizeof text, "governor.objective=%s", objective);
    const char *mech[] = {"governor=equalizer", text};
    bench_open(b, mech, 2);
}

/* All SMs have so many warps in a state, on average. */
static void all_sms(struct bench *b, double active, double waiting, double x_alu, double x_mem) {
    for (int i = 0; i < SMS; i++)
        b->sm[i] = (struct ww_governor_sm){.active = (uint64_t)(active * SAMPLES),
                                           .waiting = (uint64_t)(waiting * SAMPLES),
                                           .x_alu = (uint64_t)(x_alu * SAMPLES),
                                           .x_mem = (uint64_t)(x_mem * SAMPLES),
                                           .limit = b->limit[i]};
}

static void epochs(struct bench *b, int count) {
    while (count--) b->ops->decide(b->state, b->sm_state, b->settings, &b->epoch, &b->decision);
}

static void expect(const struct bench *b, uint32_t limit, double sm, double memory) {
    for (int i = 0; i < SMS; i++) assert_int_equal(b->limit[i], limit);
    assert_float_equal(b->decision.clock[WW_DOMAIN_SM], sm, 1e-12);
    assert_float_equal(b->decision.clock[WW_DOMAIN_L2], memory, 1e-12);
    assert_float_equal(b->decision.clock[WW_DOMAIN_DRAM], memory, 1e-12);
}

/* ---- algorithm 1 ---- */

static void line_7_more_memory_warps_than_a_cta_has_take_a_cta_and_boost_memory(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "performance");
    all_sms(&b, 48, 20, 0, W_CTA + 1.0 / SAMPLES);
    epochs(&b, 3);
    expect(&b, MOST - 1, 1, 1.15);
    bench_close(&b);
}

static void line_7_as_many_as_a_cta_has_are_not_more(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "performance");
    all_sms(&b, 48, 20, 0, W_CTA);
    epochs(&b, 6);
    expect(&b, MOST, 1, 1.15); /* line 12 */
    bench_close(&b);
}

static void line_10_as_many_alu_warps_as_a_cta_has_boost_the_sms(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "performance");
    all_sms(&b, 48, 40, W_CTA, W_CTA);
    epochs(&b, 3);
    expect(&b, MOST, 1.15, 1);
    bench_close(&b);
}

static void line_12_more_than_two_memory_warps_boost_memory_and_leave_ctas(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "performance");
    for (int i = 0; i < SMS; i++) b.limit[i] = 3;
    all_sms(&b, 48, 40, W_CTA - 1, 2 + 1.0 / SAMPLES);
    epochs(&b, 6);
    expect(&b, 3, 1, 1.15);
    bench_close(&b);
}

static void line_14_many_waiting_warps_get_a_cta_more_and_line_16_the_larger_excess_decides(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "performance");
    for (int i = 0; i < SMS; i++) b.limit[i] = 3;
    all_sms(&b, 20, 10 + 1.0 / SAMPLES, 2, 1);
    epochs(&b, 3);
    expect(&b, 4, 1.15, 1);
    all_sms(&b, 20, 11, 1, 1); /* line 18: equal is memory */
    epochs(&b, 3);
    expect(&b, 5, 1, 1.15);
    bench_close(&b);
}

static void with_half_of_the_warps_waiting_a_kernel_is_degenerate_and_nothing_changes(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "performance");
    for (int i = 0; i < SMS; i++) b.limit[i] = 3;
    all_sms(&b, 20, 10, 2, 1);
    epochs(&b, 6);
    expect(&b, 3, 1, 1);
    bench_close(&b);
}

static void line_21_idle_sms_ask_for_speed_against_load_imbalance(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "performance");
    all_sms(&b, 0, 0, 0, 0);
    b.sm[0] = (struct ww_governor_sm){.active = 20 * SAMPLES, .waiting = 10 * SAMPLES};
    epochs(&b, 1);
    expect(&b, MOST, 1.15, 1);
    bench_close(&b);
    open_equalizer(&b, "energy");
    all_sms(&b, 0, 0, 0, 0);
    epochs(&b, 1);
    expect(&b, MOST, 1, 0.85);
    bench_close(&b);
}

/* ---- actions ---- */

static void energy_mode_throttles_the_resource_that_is_not_needed(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "energy");
    all_sms(&b, 48, 0, W_CTA, 0);
    epochs(&b, 1);
    expect(&b, MOST, 1, 0.85);
    all_sms(&b, 48, 20, 0, 4);
    epochs(&b, 1);
    expect(&b, MOST, 0.85, 1);
    bench_close(&b);
}

static void a_number_of_ctas_changes_after_three_epochs_in_a_row_and_not_before(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "performance");
    all_sms(&b, 48, 20, 0, 20);
    epochs(&b, 2);
    expect(&b, MOST, 1, 1.15);
    all_sms(&b, 48, 20, 0, 4); /* one epoch that wants no change begins the count anew */
    epochs(&b, 1);
    all_sms(&b, 48, 20, 0, 20);
    epochs(&b, 2);
    expect(&b, MOST, 1, 1.15);
    epochs(&b, 1);
    expect(&b, MOST - 1, 1, 1.15);
    epochs(&b, 3 * MOST);
    expect(&b, 1, 1, 1.15); /* one CTA stays */
    bench_close(&b);
}

static void a_domain_moves_one_step_an_epoch(void **state) {
    (void)state;
    struct bench b;
    const char *mech[] = {"governor=equalizer", "governor.objective=energy", "governor.maintain=keep"};
    bench_open(&b, mech, 3);
    all_sms(&b, 48, 20, 0, 4);
    epochs(&b, 1);
    expect(&b, MOST, 0.85, 1);
    epochs(&b, 1); /* low is the lowest */
    expect(&b, MOST, 0.85, 1);
    all_sms(&b, 48, 0, W_CTA, 0);
    epochs(&b, 1); /* maintain=keep: the SMs stay low */
    expect(&b, MOST, 0.85, 0.85);
    bench_close(&b);
}

static void a_clock_changes_if_more_than_half_of_the_sms_want_it(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "performance");
    all_sms(&b, 20, 10, 2, 1); /* no wish */
    for (int i = 0; i < 2; i++) b.sm[i].x_alu = (uint64_t)W_CTA * SAMPLES;
    epochs(&b, 3);
    expect(&b, MOST, 1, 1);
    b.sm[2].x_alu = (uint64_t)W_CTA * SAMPLES;
    epochs(&b, 1);
    expect(&b, MOST, 1.15, 1);
    bench_close(&b);
}

static void each_sm_decides_on_its_own_ctas(void **state) {
    (void)state;
    struct bench b;
    open_equalizer(&b, "performance");
    all_sms(&b, 20, 10, 2, 1);
    b.sm[3].x_mem = 20 * SAMPLES;
    epochs(&b, 3);
    for (int i = 0; i < SMS; i++) assert_int_equal(b.limit[i], i == 3 ? MOST - 1 : MOST);
    bench_close(&b);
}

static void ctas_and_clocks_can_be_left_alone(void **state) {
    (void)state;
    struct bench b;
    const char *clocks[] = {"governor=equalizer", "governor.ctas=false"};
    bench_open(&b, clocks, 2);
    all_sms(&b, 48, 20, 0, 20);
    epochs(&b, 6);
    expect(&b, MOST, 1, 1.15);
    bench_close(&b);
    const char *ctas[] = {"governor=equalizer", "governor.clocks=false"};
    bench_open(&b, ctas, 2);
    all_sms(&b, 48, 20, 0, 20);
    epochs(&b, 3);
    expect(&b, MOST - 1, 1, 1);
    bench_close(&b);
}

/* ---- the others ---- */

static void dyncta_begins_with_half_and_follows_idle_and_memory_cycles(void **state) {
    (void)state;
    struct bench b;
    const char *mech[] = {"governor=dyncta"};
    const uint64_t cycles[][2] = {{0, 200}, {16, 2000}, {15, 128}, {15, 129}, {15, 383}, {15, 384}};
    const int change[] = {0, 1, 1, 0, 0, -1};
    bench_open(&b, mech, 1);
    for (size_t k = 0; k < sizeof change / sizeof *change; k++) {
        for (int i = 0; i < SMS; i++) {
            b.limit[i] = MOST / 2;
            b.sm[i].idle_cycles = cycles[k][0];
            b.sm[i].memory_cycles = cycles[k][1];
        }
        epochs(&b, 1);
        expect(&b, (uint32_t)(MOST / 2 + change[k]), 1, 1);
    }
    bench_close(&b);
    bench_open(&b, mech, 1);
    expect(&b, MOST / 2, 1, 1);
    bench_close(&b);
}

static void static_points_are_there_from_the_start(void **state) {
    (void)state;
    struct bench b;
    const char *mech[] = {"governor=static", "governor.sm=1.15", "governor.memory=0.85", "governor.ctas=2"};
    bench_open(&b, mech, 4);
    expect(&b, 2, 1.15, 0.85);
    bench_close(&b);
    bench_open(&b, mech, 1);
    expect(&b, MOST, 1, 1);
    bench_close(&b);
}

/* ---- the contract ---- */

static void random_epoch(struct bench *b, struct ww_rng *rng) {
    for (int i = 0; i < SMS; i++) {
        struct ww_governor_sm *sm = &b->sm[i];
        memset(sm, 0, sizeof *sm);
        sm->limit = b->limit[i];
        if (ww_rng_below(rng, 8) == 0) continue; /* idle */
        sm->active = ww_rng_below(rng, 48 * SAMPLES + 1);
        sm->waiting = ww_rng_below(rng, (uint32_t)sm->active + 1);
        sm->x_alu = ww_rng_below(rng, (uint32_t)(sm->active - sm->waiting) + 1);
        sm->x_mem = sm->active - sm->waiting - sm->x_alu;
        sm->idle_cycles = ww_rng_below(rng, 64);
        sm->memory_cycles = ww_rng_below(rng, 1024);
    }
}

static uint64_t drill(const char *name) {
    struct bench b;
    struct ww_rng rng;
    char text[64];
    const char *mech = text;
    uint64_t trail = 14695981039346656037u;
    snprintf(text, sizeof text, "governor=%s", name);
    bench_open(&b, &mech, 1);
    ww_rng_seed(&rng, 7);
    for (int k = 0; k < 2000; k++) {
        uint32_t before[SMS];
        memcpy(before, b.limit, sizeof before);
        random_epoch(&b, &rng);
        if (b.ops->decide) epochs(&b, 1);
        for (int i = 0; i < SMS; i++) {
            assert_in_range(b.limit[i], 1, MOST);
            assert_true(abs((int)b.limit[i] - (int)before[i]) <= 1);
            trail = (trail ^ b.limit[i]) * 1099511628211u;
        }
        for (int d = 0; d < WW_DOMAIN_COUNT; d++) {
            assert_true(b.decision.clock[d] >= 0.25 && b.decision.clock[d] <= 4);
            trail = (trail ^ (uint64_t)llround(b.decision.clock[d] * 1e6)) * 1099511628211u;
        }
    }
    bench_close(&b);
    return trail;
}

static void every_governor_stays_within_bounds_and_decides_the_same_again(void **state) {
    (void)state;
    int governors = 0;
    for (size_t i = 0; ww_mech_info_at(i); i++) {
        const struct ww_mech_info *info = ww_mech_info_at(i);
        if (info->kind != WW_KIND_GOVERNOR) continue;
        assert_int_equal(drill(info->name), drill(info->name));
        governors++;
    }
    assert_true(governors >= 4);
}

/* What sampling relies on. */
static void governors_decide_while_a_launch_runs_if_they_say_that_they_adapt(void **state) {
    (void)state;
    for (size_t i = 0; ww_mech_info_at(i); i++) {
        const struct ww_mech_info *info = ww_mech_info_at(i);
        if (info->kind != WW_KIND_GOVERNOR) continue;
        struct bench b;
        struct ww_governor_plan plan = {0};
        char text[64];
        snprintf(text, sizeof text, "governor=%s", info->name);
        bench_open(&b, (const char *[]){text}, 1);
        if (b.ops->plan) b.ops->plan(b.settings, &plan);
        assert_int_equal(b.ops->adapts, b.ops->decide != NULL);
        assert_int_equal(b.ops->adapts, plan.epoch != 0);
        bench_close(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_7_more_memory_warps_than_a_cta_has_take_a_cta_and_boost_memory),
        cmocka_unit_test(line_7_as_many_as_a_cta_has_are_not_more),
        cmocka_unit_test(line_10_as_many_alu_warps_as_a_cta_has_boost_the_sms),
        cmocka_unit_test(line_12_more_than_two_memory_warps_boost_memory_and_leave_ctas),
        cmocka_unit_test(line_14_many_waiting_warps_get_a_cta_more_and_line_16_the_larger_excess_decides),
        cmocka_unit_test(with_half_of_the_warps_waiting_a_kernel_is_degenerate_and_nothing_changes),
        cmocka_unit_test(line_21_idle_sms_ask_for_speed_against_load_imbalance),
        cmocka_unit_test(energy_mode_throttles_the_resource_that_is_not_needed),
        cmocka_unit_test(a_number_of_ctas_changes_after_three_epochs_in_a_row_and_not_before),
        cmocka_unit_test(a_domain_moves_one_step_an_epoch),
        cmocka_unit_test(a_clock_changes_if_more_than_half_of_the_sms_want_it),
        cmocka_unit_test(each_sm_decides_on_its_own_ctas),
        cmocka_unit_test(ctas_and_clocks_can_be_left_alone),
        cmocka_unit_test(dyncta_begins_with_half_and_follows_idle_and_memory_cycles),
        cmocka_unit_test(static_points_are_there_from_the_start),
        cmocka_unit_test(governors_decide_while_a_launch_runs_if_they_say_that_they_adapt),
        cmocka_unit_test(every_governor_stays_within_bounds_and_decides_the_same_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
