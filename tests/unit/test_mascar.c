/* Who may issue memory instructions in Mascar's MP mode beside the owner (Sethia, dissertation, 2015, 4.3.1).
 * Two schedulers of eight warps; slot order is age order. */
#include "../../estimator/mech/sched/sched.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SCHEDULERS = 2, WARPS = 8 };

struct bench {
    const struct ww_sched_ops *ops;
    void *state[SCHEDULERS];
    uint64_t age[64], lsu_ready[SCHEDULERS];
    uint32_t cta[64];
    struct ww_sched_sm sm;
    struct ww_sched_view view[SCHEDULERS];
};

static bool all_sent(const void *sm, uint32_t warp) {
    (void)sm;
    (void)warp;
    return false;
}

static void begin(struct bench *b, double others) {
    memset(b, 0, sizeof *b);
    const struct ww_mech_info *info = ww_mech_find(WW_KIND_SCHED, "mascar");
    b->ops = (const struct ww_sched_ops *)(const void *)info; /* info is the ops' first member */
    void *settings = calloc(1, info->settings_size);
    ww_param_defaults(info->params, info->param_count, settings);
    int row = ww_param_find(info->params, info->param_count, "others");
    if (others >= 0)
        assert_int_equal(ww_param_set_number(&info->params[row], settings, others, "", NULL), WW_OK);
    b->sm = (struct ww_sched_sm){.schedulers = SCHEDULERS, .unsent = all_sent};
    b->sm.shared = calloc(1, b->ops->shared_size);
    for (uint64_t w = 0; w < 64; w++) b->age[w] = w;
    for (uint32_t k = 0; k < SCHEDULERS; k++) {
        b->state[k] = calloc(1, b->ops->state_size);
        b->view[k] = (struct ww_sched_view){.resident = (1u << WARPS) - 1, .age = b->age, .cta = b->cta};
        b->sm.view[k] = &b->view[k];
        b->sm.lsu_ready[k] = &b->lsu_ready[k];
        b->ops->init(b->state[k], settings, WARPS);
        b->ops->join(b->state[k], &b->sm, k);
    }
    free(settings);
}

static void end(struct bench *b) {
    for (uint32_t k = 0; k < SCHEDULERS; k++) free(b->state[k]);
    free(b->sm.shared);
}

/* Who issues on scheduler k in MP mode, if the slots of `free` are ready and may access memory. */
static int pick(struct bench *b, uint32_t k, uint64_t free_slots) {
    struct ww_sched_view *v = &b->view[k];
    v->memory_saturated = true;
    v->ready = v->ready_mem = v->ready_lsu = free_slots;
    return b->ops->pick(b->state[k], v);
}

#define BIT(slot) (1ull << (slot))

static void the_oldest_memory_ready_warp_becomes_the_owner(void **state) {
    (void)state;
    struct bench b;
    begin(&b, -1);
    b.lsu_ready[0] = BIT(3) | BIT(5);
    assert_int_equal(pick(&b, 0, BIT(3) | BIT(5)), 3);
    assert_int_equal(b.sm.owner_changes, 1);
    assert_true(b.ops->may_miss(&b.sm, 3 * SCHEDULERS, false));
    assert_false(b.ops->may_miss(&b.sm, 5 * SCHEDULERS, false));
    end(&b);
}

static void a_younger_warp_does_not_issue_though_it_was_ready_when_the_mode_began(void **state) {
    (void)state;
    struct bench b;
    begin(&b, -1);
    b.lsu_ready[0] = BIT(3) | BIT(5);
    assert_int_equal(pick(&b, 0, BIT(3) | BIT(5)), 3);
    assert_int_equal(pick(&b, 0, BIT(5)), -1);
    end(&b);
}

/* Slot 2 is ready for memory when the mode begins, but has requests in the re-execution queue. */
static void an_older_warp_that_was_ready_when_the_mode_began_issues_once(void **state) {
    (void)state;
    struct bench b;
    begin(&b, -1);
    b.lsu_ready[0] = BIT(2) | BIT(3);
    assert_int_equal(pick(&b, 0, BIT(3)), 3);
    assert_int_equal(pick(&b, 0, BIT(2)), 2);
    b.ops->issued(b.state[0], 2, true, 0);
    assert_int_equal(pick(&b, 0, BIT(2)), -1);
    end(&b);
}

static void an_older_warp_that_became_ready_later_does_not_issue(void **state) {
    (void)state;
    struct bench b;
    begin(&b, -1);
    b.lsu_ready[0] = BIT(3);
    assert_int_equal(pick(&b, 0, BIT(3)), 3);
    assert_int_equal(pick(&b, 0, BIT(2)), -1);
    end(&b);
}

static void the_other_scheduler_issues_no_memory_instruction(void **state) {
    (void)state;
    struct bench b;
    begin(&b, -1);
    b.lsu_ready[0] = BIT(3);
    b.lsu_ready[1] = BIT(0);
    assert_int_equal(pick(&b, 0, BIT(3)), 3);
    assert_int_equal(pick(&b, 1, BIT(0)), -1);
    end(&b);
}

static void with_all_that_were_ready_admitted_a_younger_warp_issues(void **state) {
    (void)state;
    struct bench b;
    begin(&b, 2); /* ready */
    b.lsu_ready[0] = BIT(3) | BIT(5);
    assert_int_equal(pick(&b, 0, BIT(3) | BIT(5)), 3);
    assert_int_equal(pick(&b, 0, BIT(5)), 5);
    end(&b);
}

static void with_none_admitted_the_owner_issues_alone(void **state) {
    (void)state;
    struct bench b;
    begin(&b, 1); /* none */
    b.lsu_ready[0] = BIT(2) | BIT(3);
    assert_int_equal(pick(&b, 0, BIT(3)), 3);
    assert_int_equal(pick(&b, 0, BIT(2)), -1);
    assert_int_equal(pick(&b, 0, BIT(2) | BIT(3)), 3);
    end(&b);
}

static void with_all_admitted_both_schedulers_issue_behind_the_owner(void **state) {
    (void)state;
    struct bench b;
    begin(&b, 3); /* all */
    b.lsu_ready[0] = BIT(3);
    assert_int_equal(pick(&b, 0, BIT(3)), 3);
    assert_int_equal(pick(&b, 0, BIT(2) | BIT(3)), 3);
    assert_int_equal(pick(&b, 0, BIT(5)), 5);
    assert_int_equal(pick(&b, 1, BIT(0)), 0);
    assert_false(b.ops->may_miss(&b.sm, 5 * SCHEDULERS, false)); /* they may issue, not miss */
    end(&b);
}

static void who_was_admitted_is_asked_anew_when_the_mode_begins_again(void **state) {
    (void)state;
    struct bench b;
    begin(&b, -1);
    b.lsu_ready[0] = BIT(2) | BIT(3);
    assert_int_equal(pick(&b, 0, BIT(3)), 3);
    b.view[0].memory_saturated = false; /* EP mode in between */
    b.view[0].ready = b.view[0].ready_mem = b.view[0].ready_lsu = BIT(3);
    assert_int_equal(b.ops->pick(b.state[0], &b.view[0]), 3);
    b.lsu_ready[0] = BIT(1) | BIT(3);
    assert_int_equal(pick(&b, 0, BIT(3)), 3);
    assert_int_equal(pick(&b, 0, BIT(2)), -1);
    assert_int_equal(pick(&b, 0, BIT(1)), 1);
    end(&b);
}

static void an_owner_that_waits_for_its_load_makes_room_for_the_next(void **state) {
    (void)state;
    struct bench b;
    begin(&b, -1);
    b.lsu_ready[0] = BIT(3) | BIT(5);
    assert_int_equal(pick(&b, 0, BIT(3) | BIT(5)), 3);
    b.view[0].waiting_long = BIT(3);
    assert_int_equal(pick(&b, 0, BIT(5)), 5);
    assert_true(b.ops->may_miss(&b.sm, 5 * SCHEDULERS, false));
    end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_memory_ready_warp_becomes_the_owner),
        cmocka_unit_test(a_younger_warp_does_not_issue_though_it_was_ready_when_the_mode_began),
        cmocka_unit_test(an_older_warp_that_was_ready_when_the_mode_began_issues_once),
        cmocka_unit_test(an_older_warp_that_became_ready_later_does_not_issue),
        cmocka_unit_test(the_other_scheduler_issues_no_memory_instruction),
        cmocka_unit_test(with_all_that_were_ready_admitted_a_younger_warp_issues),
        cmocka_unit_test(with_none_admitted_the_owner_issues_alone),
        cmocka_unit_test(with_all_admitted_both_schedulers_issue_behind_the_owner),
        cmocka_unit_test(who_was_admitted_is_asked_anew_when_the_mode_begins_again),
        cmocka_unit_test(an_owner_that_waits_for_its_load_makes_room_for_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
