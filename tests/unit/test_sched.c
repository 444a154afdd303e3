/* What the schedulers decide on made-up views, and that every workload ends under each of them and obeys the
 * laws. The contract of all schedulers is tested in test_mech.c. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/mech/sched/sched.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define SLOTS 24

struct bench {
    const struct ww_sched_ops *ops;
    void *state;
    uint64_t age[64];
    uint32_t cta[64];
    uint64_t resident, waiting_long, order;
};

static void bench_arrive(struct bench *b, uint32_t first, uint32_t end, uint32_t cta) {
    for (uint32_t slot = first; slot < end; slot++) {
        b->age[slot] = b->order++;
        b->cta[slot] = cta;
        b->resident |= 1ull << slot;
        if (b->ops->arrived) b->ops->arrived(b->state, slot, b->age[slot]);
    }
}

static void bench_finish(struct bench *b, uint32_t first, uint32_t end) {
    for (uint32_t slot = first; slot < end; slot++) {
        b->resident &= ~(1ull << slot);
        if (b->ops->finished) b->ops->finished(b->state, slot);
    }
}

static void bench_begin(struct bench *b, const char *name, const char *setting, double value) {
    memset(b, 0, sizeof *b);
    const struct ww_mech_info *info = ww_mech_find(WW_KIND_SCHED, name);
    assert_non_null(info);
    b->ops = (const struct ww_sched_ops *)(const void *)info; /* info is the ops' first member */
    b->state = calloc(1, b->ops->state_size);
    char *settings = calloc(1, info->settings_size + 1);
    ww_param_defaults(info->params, info->param_count, settings);
    int row = setting ? ww_param_find(info->params, info->param_count, setting) : -1;
    if (setting) assert_int_equal(ww_param_set_number(&info->params[row], settings, value, "", NULL), WW_OK);
    b->ops->init(b->state, settings, SLOTS);
    free(settings);
}

/* Three CTAs of eight warps, which lie in the slots in another order than they came. */
static void bench_usual(struct bench *b, const char *name, const char *setting, double value) {
    bench_begin(b, name, setting, value);
    bench_arrive(b, 8, 16, 1);
    bench_arrive(b, 16, 24, 2);
    bench_arrive(b, 0, 8, 0);
}

static int bench_pick(struct bench *b, uint64_t ready) {
    struct ww_sched_view view = {
        .ready = ready, .resident = b->resident, .waiting_long = b->waiting_long, .age = b->age, .cta = b->cta};
    int slot = b->ops->pick(b->state, &view);
    if (slot >= 0 && b->ops->issued) b->ops->issued(b->state, (uint32_t)slot, false, 0);
    return slot;
}

#define BIT(slot) (1ull << (slot))
#define ALL 0xffffffull

static void cggty_stays_with_a_warp_and_then_takes_the_youngest(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "cggty", NULL, 0);
    assert_int_equal(bench_pick(&b, ALL), 7); /* slots 0 to 7 came last */
    assert_int_equal(bench_pick(&b, ALL & ~BIT(7)), 6);
    assert_int_equal(bench_pick(&b, ALL), 6);
    assert_int_equal(bench_pick(&b, BIT(8) | BIT(23)), 23);
    bench_finish(&b, 23, 24);
    bench_arrive(&b, 23, 24, 3); /* another warp, which is not the one that was greedy */
    bench_arrive(&b, 8, 9, 3);
    assert_int_equal(bench_pick(&b, BIT(8) | BIT(23)), 8);
    free(b.state);
}

/* Core does by itself what pick() of a greedy scheduler does: it keeps the order as masks. */
static void greedy_schedulers_pick_as_core_does(void **state) {
    (void)state;
    static const char *const name[] = {"gto", "cggty"};
    for (uint32_t k = 0; k < 2; k++) {
        struct bench b;
        bench_usual(&b, name[k], NULL, 0);
        assert_int_not_equal(b.ops->greedy, WW_SCHED_NOT_GREEDY);
        int last = 0;
        uint64_t random = 1, before[SLOTS], resident = 0;
        for (uint64_t age = 0; resident != ALL; age++) /* in the order in which the warps came */
            for (uint32_t slot = 0; slot < SLOTS; slot++)
                if (b.age[slot] == age) {
                    ww_sched_put_in_order(before, resident, slot, b.ops->greedy);
                    resident |= BIT(slot);
                }
        for (uint32_t i = 0; i < 1000; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t ready = (random >> 32 | 1ull << i % SLOTS) & ALL;
            bool again = last && (ready >> (last - 1)) & 1;
            int own = again ? last - 1 : (int)ww_sched_first(before, ready);
            assert_int_equal(bench_pick(&b, ready), own);
            last = own + 1;
        }
        free(b.state);
    }
}

static void oldest_first_returns_to_the_oldest_warp_when_it_is_ready(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "oldest", NULL, 0);
    assert_int_equal(bench_pick(&b, ALL), 8);
    assert_int_equal(bench_pick(&b, ALL & ~BIT(8)), 9);
    assert_int_equal(bench_pick(&b, ALL), 8); /* greedy-then-oldest would stay with 9 */
    assert_int_equal(bench_pick(&b, BIT(0) | BIT(23)), 23);
    free(b.state);
}

static void gto_takes_the_oldest_warp_first(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "gto", NULL, 0);
    assert_int_equal(bench_pick(&b, ALL), 8); /* slots 8 to 15 came first, then 16 to 23, then 0 to 7 */
    bench_finish(&b, 8, 9);
    assert_int_equal(bench_pick(&b, 0xff80ff), 15);
    bench_finish(&b, 15, 16);
    assert_int_equal(bench_pick(&b, 0xff00ff), 16);
    free(b.state);
}

static void gto_stays_with_a_warp_while_it_can_issue(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "gto", NULL, 0);
    assert_int_equal(bench_pick(&b, BIT(2) | BIT(20)), 20);
    for (int i = 0; i < 3; i++) assert_int_equal(bench_pick(&b, ALL), 20); /* oldest-first would go to 8 */
    free(b.state);
}

static void gto_goes_to_the_oldest_ready_warp_when_its_own_stalls(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "gto", NULL, 0);
    assert_int_equal(bench_pick(&b, BIT(3)), 3);
    assert_int_equal(bench_pick(&b, BIT(1) | BIT(17) | BIT(22)),
                     17); /* round-robin would go to 17 and then 22 */
    assert_int_equal(bench_pick(&b, BIT(1) | BIT(3) | BIT(22)), 22); /* not back to 3 */
    assert_int_equal(bench_pick(&b, ALL), 22);
    free(b.state);
}

static void gto_is_not_greedy_for_a_new_warp_in_an_old_slot(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "gto", NULL, 0);
    assert_int_equal(bench_pick(&b, BIT(8)), 8);
    bench_finish(&b, 8, 9);
    bench_arrive(&b, 8, 9, 3);
    assert_int_equal(bench_pick(&b, ALL), 9); /* 8 is the youngest now */
    free(b.state);
}

static void two_level_goes_round_in_its_group_only(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "two_level", NULL, 0);
    for (int i = 0; i < 24; i++) assert_int_equal(bench_pick(&b, ALL), i % 8);
    free(b.state);
}

static void two_level_keeps_its_group_through_short_stalls(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "two_level", NULL, 0);
    b.waiting_long = 0x7f; /* slot 7 waits for an arithmetic unit */
    assert_int_equal(bench_pick(&b, 0xffff00), 8);
    assert_int_equal(bench_pick(&b, 0xffff80), 7);
    free(b.state);
}

static void two_level_switches_when_the_whole_group_waits_long(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "two_level", NULL, 0);
    b.waiting_long = 0xff;
    assert_int_equal(bench_pick(&b, 0xffff00), 8);
    b.waiting_long = 0;
    assert_int_equal(bench_pick(&b, ALL), 9); /* the first group is now the last */
    b.waiting_long = 0xff00;
    assert_int_equal(bench_pick(&b, 0xff00ff), 16);
    free(b.state);
}

static void two_level_passes_over_groups_without_warps(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "two_level", NULL, 0);
    bench_finish(&b, 0, 16);
    assert_int_equal(bench_pick(&b, 0xff0000), 16);
    bench_arrive(&b, 0, 8, 3);
    assert_int_equal(bench_pick(&b, 0xff00ff), 17);
    free(b.state);
}

static void two_level_group_size_counts_also_where_it_does_not_divide(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "two_level", "group", 10);
    for (int i = 0; i < 20; i++) assert_int_equal(bench_pick(&b, ALL), i % 10);
    b.waiting_long = 0xfffff;
    for (int i = 0; i < 8; i++) assert_int_equal(bench_pick(&b, 0xf00000), 20 + i % 4);
    free(b.state);
}

static void two_level_with_one_group_of_all_is_round_robin(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "two_level", "group", 64);
    for (int i = 0; i < 48; i++) assert_int_equal(bench_pick(&b, ALL), i % 24);
    free(b.state);
}

static void owl_prefers_the_oldest_cta_and_goes_round_in_it(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "owl", NULL, 0);
    for (int i = 0; i < 24; i++) assert_int_equal(bench_pick(&b, ALL), 8 + i % 8);
    free(b.state);
}

static void owl_returns_to_its_first_group_at_once(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "owl", NULL, 0);
    b.waiting_long = 0xff00;
    assert_int_equal(bench_pick(&b, 0xff00ff), 16); /* second oldest CTA */
    b.waiting_long = 0;
    assert_int_equal(bench_pick(&b, ALL & ~0xf00ull), 12);
    free(b.state);
}

static void owl_without_locality_stays_with_the_group_it_switched_to(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "owl", "locality", 0);
    assert_int_equal(bench_pick(&b, ALL), 8);
    b.waiting_long = 0xff00;
    assert_int_equal(bench_pick(&b, 0xff00ff), 16);
    b.waiting_long = 0;
    assert_int_equal(bench_pick(&b, ALL), 17);
    free(b.state);
}

static void owl_switches_among_the_other_groups_only_on_long_waits(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "owl", NULL, 0);
    b.waiting_long = 0xff00;
    assert_int_equal(bench_pick(&b, 0xff00ff), 16);
    assert_int_equal(bench_pick(&b, 0x0000ff), 0); /* the group of 16..23 waits shortly */
    assert_int_equal(bench_pick(&b, 0xff00ff), 16);
    b.waiting_long = 0xffff00;
    assert_int_equal(bench_pick(&b, 0x0000ff), 0);
    b.waiting_long = 0xff00;
    assert_int_equal(bench_pick(&b, 0xff00ff), 1);
    free(b.state);
}

static void owl_keeps_its_first_group_until_its_last_warp_ends(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "owl", NULL, 0);
    assert_int_equal(bench_pick(&b, ALL), 8);
    bench_finish(&b, 8, 15);
    bench_arrive(&b, 8, 15, 3); /* slots of ended warps: not members */
    assert_int_equal(bench_pick(&b, ALL), 15);
    assert_int_equal(bench_pick(&b, ALL), 15);
    bench_finish(&b, 15, 16);
    assert_int_equal(bench_pick(&b, ALL & ~BIT(15)), 16); /* the oldest CTA left, not the newest */
    assert_int_equal(bench_pick(&b, ALL & ~BIT(15)), 17);
    free(b.state);
}

static void owl_groups_whole_ctas_until_they_have_enough_warps(void **state) {
    (void)state;
    struct bench b;
    bench_usual(&b, "owl", "group", 9);
    for (int i = 0; i < 32; i++) assert_int_equal(bench_pick(&b, ALL), 8 + i % 16); /* CTAs 1 and 2 */
    free(b.state);
}

/* ---- replays ---- */

static char path[] = "/tmp/warpwatt-sched-XXXXXX.wwt";

static void replay(const struct ww_gpu *gpu, const char *workload, const char *name) {
    char choice[64];
    struct ww_error error = {0};
    struct ww_result *r = NULL;
    snprintf(choice, sizeof choice, "sched=%s", name);
    const char *strings[] = {choice};
    struct ww_run_options o = {.gpu = gpu, .trace_path = path, .mechanisms = strings, .mechanism_count = 1};
    enum ww_code code = ww_run(&o, &r, &error);
    if (code == WW_OK) code = ww_result_check(r, &error);
    if (code != WW_OK) fail_msg("%s under %s: %s: %s", workload, choice, error.where, error.text);
    assert_true(r->warp_instructions > 0);
    ww_result_free(r);
}

static void every_scheduler_ends_on_every_workload_and_obeys_the_laws(void **state) {
    (void)state;
    struct ww_error error = {0};
    struct ww_gpu *gpu = NULL;
    assert_int_equal(ww_gpu_load("gtx480", NULL, 0, &gpu, &error), WW_OK);
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < ww_workload_count(); i++) {
        struct ww_workload_view w;
        assert_int_equal(ww_workload(i, &w, NULL), WW_OK);
        if (w.arch) continue; /* not on this GPU */
        const char *parameters[] = {"size=small"};
        struct ww_record_options o = {.out_path = path, .arch = "sm_20"};
        struct ww_record_stats stats;
        if (ww_record_workload(w.name, parameters, 1, &o, &stats, &error) != WW_OK)
            fail_msg("%s: %s: %s", w.name, error.where, error.text);
        for (size_t m = 0; ww_mech_info_at(m); m++)
            if (ww_mech_info_at(m)->kind == WW_KIND_SCHED) replay(gpu, w.name, ww_mech_info_at(m)->name);
    }
    unlink(path);
    ww_gpu_free(gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_schedulers_pick_as_core_does),
        cmocka_unit_test(cggty_stays_with_a_warp_and_then_takes_the_youngest),
        cmocka_unit_test(oldest_first_returns_to_the_oldest_warp_when_it_is_ready),
        cmocka_unit_test(gto_takes_the_oldest_warp_first),
        cmocka_unit_test(gto_stays_with_a_warp_while_it_can_issue),
        cmocka_unit_test(gto_goes_to_the_oldest_ready_warp_when_its_own_stalls),
        cmocka_unit_test(gto_is_not_greedy_for_a_new_warp_in_an_old_slot),
        cmocka_unit_test(two_level_goes_round_in_its_group_only),
        cmocka_unit_test(two_level_keeps_its_group_through_short_stalls),
        cmocka_unit_test(two_level_switches_when_the_whole_group_waits_long),
        cmocka_unit_test(two_level_passes_over_groups_without_warps),
        cmocka_unit_test(two_level_group_size_counts_also_where_it_does_not_divide),
        cmocka_unit_test(two_level_with_one_group_of_all_is_round_robin),
        cmocka_unit_test(owl_prefers_the_oldest_cta_and_goes_round_in_it),
        cmocka_unit_test(owl_returns_to_its_first_group_at_once),
        cmocka_unit_test(owl_without_locality_stays_with_the_group_it_switched_to),
        cmocka_unit_test(owl_switches_among_the_other_groups_only_on_long_waits),
        cmocka_unit_test(owl_keeps_its_first_group_until_its_last_warp_ends),
        cmocka_unit_test(owl_groups_whole_ctas_until_they_have_enough_warps),
        cmocka_unit_test(every_scheduler_ends_on_every_workload_and_obeys_the_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
