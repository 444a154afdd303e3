/* Cache-conscious wavefront scheduling: its victim tag arrays and its stack of scores (Rogers, O'Connor,
 * Aamodt, MICRO 2012). One scheduler with eight warps, base score 100: the cutoff is 800. */
#include "../../estimator/mech/sched/sched.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { WARPS = 8, BASE = 100, THROTTLE = 8, CUTOFF = WARPS * BASE };

struct bench {
    const struct ww_sched_ops *ops;
    void *state;
    uint64_t age[64], lsu_ready, stores;
    uint32_t cta[64];
    struct ww_sched_sm sm;
    struct ww_sched_view view;
};

static bool loads(const void *of, uint32_t warp) {
    return !((((const struct bench *)of)->stores >> warp) & 1);
}

static void begin(struct bench *b, const char *setting, double value) {
    memset(b, 0, sizeof *b);
    const struct ww_mech_info *info = ww_mech_find(WW_KIND_SCHED, "ccws");
    b->ops = (const struct ww_sched_ops *)(const void *)info; /* info is the ops' first member */
    b->state = calloc(1, b->ops->state_size);
    void *settings = calloc(1, info->settings_size);
    ww_param_defaults(info->params, info->param_count, settings);
    int row = setting ? ww_param_find(info->params, info->param_count, setting) : -1;
    if (setting) assert_int_equal(ww_param_set_number(&info->params[row], settings, value, "", NULL), WW_OK);
    b->ops->init(b->state, settings, WARPS);
    b->sm = (struct ww_sched_sm){.schedulers = 1, .sm = b, .loads = loads};
    b->sm.view[0] = &b->view;
    b->sm.lsu_ready[0] = &b->lsu_ready;
    b->sm.shared = calloc(1, b->ops->shared_size);
    b->view = (struct ww_sched_view){.resident = (1u << WARPS) - 1, .age = b->age, .cta = b->cta};
    for (uint32_t w = 0; w < WARPS; w++) b->age[w] = w;
    b->ops->join(b->state, &b->sm, 0);
    free(settings);
}

static void end(struct bench *b) {
    free(b->state);
    free(b->sm.shared);
}

/* Who issues, if the warps of `lsu` want to access memory and no other is ready; -1: none. */
static int pick(struct bench *b, uint64_t lsu, uint64_t cycle) {
    b->view.cycle = cycle;
    b->view.ready = b->view.ready_mem = b->view.ready_lsu = b->lsu_ready = lsu;
    return b->ops->pick(b->state, &b->view);
}

static bool may_load(struct bench *b, uint32_t warp, uint64_t cycle) {
    return pick(b, 1ull << warp, cycle) == (int)warp;
}

static void issue(struct bench *b, uint32_t warp, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) b->ops->issued(b->state, warp, false, 0);
}

/* The warp brought the line in, it was replaced, the warp misses it in `cycle`. */
static void lose(struct bench *b, uint32_t warp, uint64_t line, uint64_t cycle) {
    b->ops->evicted(&b->sm, warp, line);
    b->ops->missed(&b->sm, warp, line, cycle);
}

/* Warps that may load. */
static uint32_t count_allowed(struct bench *b, uint64_t cycle) {
    uint32_t n = 0;
    for (uint32_t w = 0; w < WARPS; w++) n += may_load(b, w, cycle);
    return n;
}

static void without_lost_locality_all_warps_may_load(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, 10);
    b.ops->missed(&b.sm, 3, 77, 1); /* a first miss */
    assert_int_equal(count_allowed(&b, 1), WARPS);
    end(&b);
}

static void a_miss_of_a_line_that_the_warp_lost_raises_its_score(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, 32); /* score 1/32 x 8 x 800 = 200: 100 more than the base, so the last warp must wait */
    lose(&b, 3, 77, 1);
    assert_int_equal(count_allowed(&b, 1), WARPS - 1);
    assert_false(may_load(&b, 7, 1));
    assert_true(may_load(&b, 3, 1));
    end(&b);
}

static void a_line_that_another_warp_brought_is_no_lost_locality(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, 32);
    b.ops->evicted(&b.sm, 2, 77);
    b.ops->missed(&b.sm, 3, 77, 1);
    assert_int_equal(count_allowed(&b, 1), WARPS);
    end(&b);
}

/* 16 entries of 8 ways: two sets, even lines and odd ones. */
static void a_victim_tag_array_forgets_the_first_of_nine_lines_of_a_set(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, 8);
    for (uint64_t line = 0; line < 18; line += 2) b.ops->evicted(&b.sm, 3, line);
    b.ops->missed(&b.sm, 3, 0, 1);
    assert_int_equal(count_allowed(&b, 1), WARPS);
    b.ops->missed(&b.sm, 3, 2, 1);
    assert_int_equal(count_allowed(&b, 1), 1);
    end(&b);
}

static void victims_of_the_other_set_replace_nothing(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, 8);
    b.ops->evicted(&b.sm, 3, 0);
    for (uint64_t line = 1; line < 41; line += 2) b.ops->evicted(&b.sm, 3, line);
    b.ops->missed(&b.sm, 3, 0, 1);
    assert_int_equal(count_allowed(&b, 1), 1);
    end(&b);
}

static void a_score_falls_by_one_a_cycle_to_the_base(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, 16); /* score 400: 300 above the base */
    lose(&b, 3, 77, 1000);
    assert_int_equal(count_allowed(&b, 1000), WARPS - 3);
    assert_int_equal(count_allowed(&b, 1000 + 100), WARPS - 2); /* 300 + 5 x 100 = 800 */
    assert_int_equal(count_allowed(&b, 1000 + 200), WARPS - 1);
    assert_int_equal(count_allowed(&b, 1000 + 201), WARPS); /* 199 + 6 x 100: the last warp's reaches 800 */
    end(&b);
}

static void a_warp_whose_score_is_the_cutoff_is_the_only_one_that_loads(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, THROTTLE); /* score 1/8 x 8 x 800 */
    lose(&b, 3, 77, 5);
    assert_true(may_load(&b, 3, 5));
    assert_int_equal(count_allowed(&b, 5), 1);
    assert_int_equal(count_allowed(&b, 6), 2); /* 799: the next warp's score reaches the cutoff */
    end(&b);
}

static void a_score_above_the_cutoff_holds_the_others_back_for_longer(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, THROTTLE / 2); /* twice the cutoff */
    lose(&b, 3, 77, 0);
    assert_int_equal(count_allowed(&b, CUTOFF), 1);
    assert_int_equal(count_allowed(&b, CUTOFF + 1), 2);
    end(&b);
}

static void a_larger_throttle_raises_scores_more(void **state) {
    (void)state;
    struct bench b;
    begin(&b, "throttle", 32);
    issue(&b, 0, 32);
    lose(&b, 3, 77, 5);
    assert_int_equal(count_allowed(&b, 5), 1);
    end(&b);
}

static void lost_locality_is_counted_per_instruction_of_resident_warps(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, 1000);
    issue(&b, 3, 8);
    lose(&b, 3, 77, 0); /* 1/1008 x 8 x 800 is below the base */
    assert_int_equal(count_allowed(&b, 0), WARPS);
    b.ops->finished(b.state, 0); /* its instructions count no more: now 2/8 */
    lose(&b, 3, 79, 0);
    assert_int_equal(count_allowed(&b, 0), 1);
    end(&b);
}

static void a_new_warp_in_a_slot_begins_with_the_base_score_and_no_victims(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, 8);
    lose(&b, 3, 77, 0);
    b.ops->evicted(&b.sm, 3, 79);
    b.ops->finished(b.state, 3);
    assert_int_equal(count_allowed(&b, 0), WARPS);
    b.ops->missed(&b.sm, 3, 79, 0);
    assert_int_equal(count_allowed(&b, 0), WARPS);
    end(&b);
}

static void only_loads_are_held_back(void **state) {
    (void)state;
    struct bench b;
    begin(&b, NULL, 0);
    issue(&b, 0, 8);
    lose(&b, 3, 77, 0);
    assert_int_equal(pick(&b, 1 << 6, 0), -1);
    b.stores = 1 << 6;
    assert_int_equal(pick(&b, 1 << 6, 0), 6);
    b.view.cycle = 0;
    b.view.ready = 1 << 5; /* arithmetic */
    b.view.ready_mem = b.view.ready_lsu = 0;
    assert_int_equal(b.ops->pick(b.state, &b.view), 5);
    end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_lost_locality_all_warps_may_load),
        cmocka_unit_test(a_miss_of_a_line_that_the_warp_lost_raises_its_score),
        cmocka_unit_test(a_line_that_another_warp_brought_is_no_lost_locality),
        cmocka_unit_test(a_victim_tag_array_forgets_the_first_of_nine_lines_of_a_set),
        cmocka_unit_test(victims_of_the_other_set_replace_nothing),
        cmocka_unit_test(a_score_falls_by_one_a_cycle_to_the_base),
        cmocka_unit_test(a_warp_whose_score_is_the_cutoff_is_the_only_one_that_loads),
        cmocka_unit_test(a_score_above_the_cutoff_holds_the_others_back_for_longer),
        cmocka_unit_test(a_larger_throttle_raises_scores_more),
        cmocka_unit_test(lost_locality_is_counted_per_instruction_of_resident_warps),
        cmocka_unit_test(a_new_warp_in_a_slot_begins_with_the_base_score_and_no_victims),
        cmocka_unit_test(only_loads_are_held_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
