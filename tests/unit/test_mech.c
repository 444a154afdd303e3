/* Choosing mechanisms, and the contract that every scheduler keeps. */
#include "../../estimator/warpwatt.h"
#include "../../estimator/base/rng.h"
#include "../../estimator/mech/sched/sched.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static enum ww_code resolve(const char *a, const char *b, struct ww_arena *arena,
                            struct ww_mech_choice choice[WW_KIND_COUNT], struct ww_error *e) {
    const char *strings[] = {a, b};
    ww_arena_init(arena, 0);
    return ww_mech_resolve(strings, a ? b ? 2 : 1 : 0, arena, choice, e);
}

static void refused(const char *text, const char *part) {
    struct ww_arena arena;
    struct ww_mech_choice choice[WW_KIND_COUNT];
    struct ww_error e;
    assert_int_equal(resolve(text, NULL, &arena, choice, &e), WW_USAGE);
    assert_non_null(strstr(e.where, text));
    if (!strstr(e.text, part)) fail_msg("\"%s\" is not in \"%s\"", part, e.text);
    ww_arena_free(&arena);
}

static void without_a_choice_each_kind_gets_its_first_mechanism(void **state) {
    (void)state;
    struct ww_arena arena;
    struct ww_mech_choice choice[WW_KIND_COUNT];
    assert_int_equal(resolve(NULL, NULL, &arena, choice, NULL), WW_OK);
    assert_string_equal(choice[WW_KIND_SCHED].info->name, "gto");
    for (int k = 0; k < WW_KIND_COUNT; k++)
        if (choice[k].info) assert_int_equal(choice[k].info->kind, k);
    ww_arena_free(&arena);
}

static void a_gpu_brings_its_scheduler_unless_the_user_names_one(void **state) {
    (void)state;
    struct ww_arena arena;
    struct ww_mech_choice choice[WW_KIND_COUNT];
    const char *const lrr = "sched=lrr";
    ww_arena_init(&arena, 0);
    assert_int_equal(ww_mech_resolve_on("cggty", NULL, 0, &arena, choice, NULL), WW_OK);
    assert_string_equal(choice[WW_KIND_SCHED].info->name, "cggty");
    assert_int_equal(ww_mech_resolve_on("cggty", &lrr, 1, &arena, choice, NULL), WW_OK);
    assert_string_equal(choice[WW_KIND_SCHED].info->name, "lrr");
    ww_arena_free(&arena);
}

static void the_last_choice_of_a_kind_wins(void **state) {
    (void)state;
    struct ww_arena arena;
    struct ww_mech_choice choice[WW_KIND_COUNT];
    assert_int_equal(resolve("sched=gto", "sched=lrr", &arena, choice, NULL), WW_OK);
    assert_string_equal(choice[WW_KIND_SCHED].info->name, "lrr");
    ww_arena_free(&arena);
}

static void a_mechanism_brings_its_companion_unless_the_user_names_that_kind(void **state) {
    (void)state;
    struct ww_arena arena;
    struct ww_mech_choice choice[WW_KIND_COUNT];
    assert_int_equal(resolve("sched=mascar", NULL, &arena, choice, NULL), WW_OK);
    assert_string_equal(choice[WW_KIND_LSU].info->name, "reexecute");
    ww_arena_free(&arena);
    assert_int_equal(resolve("lsu=in_order", "sched=mascar", &arena, choice, NULL), WW_OK);
    assert_string_equal(choice[WW_KIND_LSU].info->name, "in_order");
    ww_arena_free(&arena);
    assert_int_equal(resolve("sched=lrr", NULL, &arena, choice, NULL), WW_OK);
    assert_string_equal(choice[WW_KIND_LSU].info->name, "in_order");
    ww_arena_free(&arena);
}

static void unknown_kinds_names_and_parameters_list_what_exists(void **state) {
    (void)state;
    refused("shced=gto", "sched=NAME");
    refused("sched=gt0", "gto, cggty, lrr");
    refused("sched=lrrr", "did you mean \"lrr\"");
    refused("sched.depth=3", "no such parameter");
    refused("gto", "KIND=NAME");
    refused("=gto", "KIND=NAME");
    refused("", "KIND=NAME");
}

static void every_mechanism_is_listed_once_with_help(void **state) {
    (void)state;
    size_t defaults = 0;
    for (size_t i = 0; i < ww_mech_count(); i++) {
        struct ww_mech_view a, b;
        assert_int_equal(ww_mech(i, &a, NULL), WW_OK);
        assert_true(strlen(a.help) > 5);
        defaults += a.is_default;
        for (size_t k = 0; k < i; k++) {
            assert_int_equal(ww_mech(k, &b, NULL), WW_OK);
            assert_false(strcmp(a.kind, b.kind) == 0 && strcmp(a.name, b.name) == 0);
        }
    }
    assert_true(defaults >= 1);
    struct ww_mech_view v;
    assert_int_equal(ww_mech(ww_mech_count(), &v, NULL), WW_USAGE);
}

static void every_parameter_default_lies_within_its_bounds(void **state) {
    (void)state;
    for (size_t i = 0; i < ww_mech_count(); i++) {
        const struct ww_mech_info *m = ww_mech_info_at(i);
        void *settings = calloc(1, m->settings_size + 1);
        assert_int_equal(ww_param_defaults(m->params, m->param_count, settings), 0);
        for (size_t p = 0; p < m->param_count; p++) {
            struct ww_param_view v;
            assert_int_equal(ww_mech_param(i, p, &v, NULL), WW_OK);
            assert_int_equal(ww_param_set_text(&m->params[p], settings, v.value, "", NULL), WW_OK);
        }
        free(settings);
    }
}

/* ---- what the analytical model does with each one ---- */

static void the_default_of_each_kind_is_modelled_analytically(void **state) {
    (void)state;
    for (int k = 0; k < WW_KIND_COUNT; k++) {
        const struct ww_mech_info *m = ww_mech_default((enum ww_mech_kind)k);
        if (m) assert_int_equal(m->analytic, WW_ANALYTIC_MODELLED);
    }
}

/* The warning speaks of schedulers. */
static void only_schedulers_are_alike_to_the_analytical_model(void **state) {
    (void)state;
    for (size_t i = 0; ww_mech_info_at(i); i++) {
        const struct ww_mech_info *m = ww_mech_info_at(i);
        if (m->kind == WW_KIND_SCHED)
            assert_int_not_equal(m->analytic, WW_ANALYTIC_REFUSED);
        else
            assert_int_not_equal(m->analytic, WW_ANALYTIC_ALIKE);
    }
}

/* ---- the contract of a scheduler, for each one ---- */

struct drill {
    const struct ww_sched_ops *ops;
    void *state;
    uint64_t age[64];
    uint32_t cta[64];
    uint64_t picks[64];
    uint64_t trail; /* hash of all picks */
    /* what schedulers of an SM share: here there is one */
    struct ww_sched_sm sm;
    struct ww_sched_view seen;
    uint64_t lsu_ready;
    struct ww_rng rng;
};

static bool drill_unsent(const void *sm, uint32_t warp) {
    (void)sm;
    return warp % 3 == 0; /* always: such an owner never goes for a wait of its own */
}

static bool drill_loads(const void *sm, uint32_t warp) {
    (void)sm;
    return warp % 4 != 0; /* the others store */
}

static void drill_join(struct drill *d) {
    d->sm = (struct ww_sched_sm){.schedulers = 1, .unsent = drill_unsent, .loads = drill_loads};
    d->sm.view[0] = &d->seen;
    d->sm.lsu_ready[0] = &d->lsu_ready;
    d->sm.shared = calloc(1, d->ops->shared_size + 1);
    d->seen = (struct ww_sched_view){.resident = (1u << 24) - 1, .age = d->age, .cta = d->cta};
    if (d->ops->join) d->ops->join(d->state, &d->sm, 0);
}

static void drill_end(struct drill *d) {
    free(d->state);
    free(d->sm.shared);
}

static void drill_begin(struct drill *d, const struct ww_mech_info *info) {
    memset(d, 0, sizeof *d);
    d->ops = (const struct ww_sched_ops *)(const void *)info; /* info is the ops' first member */
    d->state = calloc(1, d->ops->state_size + 1);
    struct ww_arena arena;
    ww_arena_init(&arena, 0);
    void *settings = ww_arena_alloc(&arena, info->settings_size);
    ww_param_defaults(info->params, info->param_count, settings);
    if (d->ops->init) d->ops->init(d->state, settings, 24);
    ww_arena_free(&arena);
    drill_join(d);
    ww_rng_seed(&d->rng, 5);
    for (uint32_t s = 0; s < 24; s++) {
        d->age[s] = 100 - s; /* slot order is not age order */
        d->cta[s] = s / 8;
        if (d->ops->arrived) d->ops->arrived(d->state, s, d->age[s]);
    }
}

static int drill_pick(struct drill *d, uint64_t cycle, uint64_t ready, uint64_t ready_mem) {
    struct ww_sched_view *view = &d->seen;
    view->cycle = cycle;
    view->ready = ready;
    view->ready_mem = view->ready_lsu = d->lsu_ready = ready_mem & ready;
    int slot = d->ops->pick(d->state, view);
    if (slot >= 0 && d->ops->issued) d->ops->issued(d->state, (uint32_t)slot, ready_mem >> slot & 1, cycle);
    if (slot >= 0) d->picks[slot]++;
    d->trail = d->trail * 31 + (uint64_t)(slot + 2);
    return slot;
}

static void drill_random(struct drill *d, uint64_t seed) {
    struct ww_rng r;
    ww_rng_seed(&r, seed);
    for (uint64_t cycle = 0; cycle < 5000; cycle++) {
        uint64_t ready = ww_rng_next(&r) & ww_rng_next(&r) & ((1u << 24) - 1);
        if (!ready) continue;
        d->seen.memory_saturated = ww_rng_next(&d->rng) % 64 ? d->seen.memory_saturated : cycle % 2;
        d->seen.waiting_long = ~ready & ww_rng_next(&d->rng);
        if (d->ops->missed) d->ops->missed(&d->sm, (uint32_t)cycle % 24, cycle % 40, cycle);
        if (d->ops->evicted) d->ops->evicted(&d->sm, (uint32_t)cycle % 24, cycle % 40);
        int slot = drill_pick(d, cycle, ready, ww_rng_next(&r));
        if (slot >= 0) assert_true(ready >> slot & 1);
    }
}

static void each_scheduler(void (*test)(const struct ww_mech_info *info)) {
    size_t met = 0;
    for (size_t i = 0; i < ww_mech_count(); i++)
        if (ww_mech_info_at(i)->kind == WW_KIND_SCHED) {
            test(ww_mech_info_at(i));
            met++;
        }
    assert_true(met >= 2);
}

static void check_picks_ready(const struct ww_mech_info *info) {
    struct drill d;
    drill_begin(&d, info);
    drill_random(&d, 1);
    drill_end(&d);
}

static void schedulers_pick_only_ready_warps(void **state) {
    (void)state;
    each_scheduler(check_picks_ready);
}

static void check_same(const struct ww_mech_info *info) {
    struct drill a, b;
    drill_begin(&a, info);
    drill_begin(&b, info);
    drill_random(&a, 2);
    drill_random(&b, 2);
    assert_true(a.trail == b.trail);
    drill_end(&a);
    drill_end(&b);
}

static void schedulers_are_deterministic(void **state) {
    (void)state;
    each_scheduler(check_same);
}

/* Hash of what a scheduler picks while the SM's memory is saturated, or is not. */
static uint64_t answers(const struct ww_mech_info *info, bool saturated) {
    struct drill d;
    struct ww_rng r;
    drill_begin(&d, info);
    ww_rng_seed(&r, 7);
    d.seen.memory_saturated = saturated;
    for (uint64_t cycle = 0; cycle < 2000; cycle++) {
        uint64_t ready = (ww_rng_next(&r) & ((1u << 24) - 1)) | 1;
        drill_pick(&d, cycle, ready, ww_rng_next(&r));
    }
    drill_end(&d);
    return d.trail;
}

static void check_saturation(const struct ww_mech_info *info) {
    const struct ww_sched_ops *ops = (const struct ww_sched_ops *)(const void *)info;
    assert_int_equal(answers(info, false) != answers(info, true), ops->by_saturation);
    if (ops->may_miss) assert_true(ops->by_saturation); /* it is asked while the flag is set */
}

static void only_schedulers_that_say_so_go_by_saturation(void **state) {
    (void)state;
    each_scheduler(check_saturation);
}

static void check_progress(const struct ww_mech_info *info) {
    struct drill d;
    drill_begin(&d, info);
    for (uint32_t s = 0; s < 24; s++) { /* a lone ready warp issues, soon at the latest */
        int slot = -1;
        for (uint64_t cycle = 0; slot < 0 && cycle < 10000; cycle++)
            slot = drill_pick(&d, s * 20000 + cycle, 1ull << s, 0);
        assert_int_equal(slot, s);
    }
    drill_end(&d);
}

static void a_lone_ready_warp_issues_in_the_end(void **state) {
    (void)state;
    each_scheduler(check_progress);
}

/* While memory is saturated as well, with a memory instruction at the head. The owner of memory is warp 3,
 * which never gives it up by itself: when saturation ends, as it does when it asks for nothing, the others go
 * on. */
static void check_memory_progress(const struct ww_mech_info *info) {
    struct drill d;
    drill_begin(&d, info);
    d.seen.memory_saturated = true;
    drill_pick(&d, 0, 1ull << 3, 1ull << 3);
    for (uint32_t s = 0; s < 24; s++) {
        int slot = -1;
        for (uint64_t cycle = 1; slot < 0 && cycle < 20000; cycle++) {
            d.seen.memory_saturated = cycle < 10000;
            slot = drill_pick(&d, s * 20000 + cycle, 1ull << s, 1ull << s);
        }
        assert_int_equal(slot, s);
    }
    drill_end(&d);
}

static void a_lone_warp_gets_its_memory_instruction_issued_in_the_end(void **state) {
    (void)state;
    each_scheduler(check_memory_progress);
}

static void lrr_serves_all_ready_warps_equally(void **state) {
    (void)state;
    struct drill d;
    drill_begin(&d, ww_mech_find(WW_KIND_SCHED, "lrr"));
    for (uint64_t cycle = 0; cycle < 24 * 10; cycle++) drill_pick(&d, cycle, (1u << 24) - 1, 0);
    for (int s = 0; s < 24; s++) assert_int_equal(d.picks[s], 10);
    drill_end(&d);
}

static void gto_stays_with_a_warp_then_takes_the_oldest(void **state) {
    (void)state;
    struct drill d;
    drill_begin(&d, ww_mech_find(WW_KIND_SCHED, "gto"));
    uint64_t every = (1u << 24) - 1;
    assert_int_equal(drill_pick(&d, 0, every, 0), 23); /* slot 23 is the oldest */
    assert_int_equal(drill_pick(&d, 1, every & ~(1u << 23), 0), 22);
    assert_int_equal(drill_pick(&d, 2, every, 0), 22); /* greedy, although 23 is ready again */
    assert_int_equal(drill_pick(&d, 3, 0x11, 0), 4);   /* 22 stalls: oldest of the ready ones */
    drill_end(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_choice_each_kind_gets_its_first_mechanism),
        cmocka_unit_test(a_gpu_brings_its_scheduler_unless_the_user_names_one),
        cmocka_unit_test(the_last_choice_of_a_kind_wins),
        cmocka_unit_test(unknown_kinds_names_and_parameters_list_what_exists),
        cmocka_unit_test(every_mechanism_is_listed_once_with_help),
        cmocka_unit_test(every_parameter_default_lies_within_its_bounds),
        cmocka_unit_test(the_default_of_each_kind_is_modelled_analytically),
        cmocka_unit_test(only_schedulers_are_alike_to_the_analytical_model),
        cmocka_unit_test(only_schedulers_that_say_so_go_by_saturation),
        cmocka_unit_test(schedulers_pick_only_ready_warps),
        cmocka_unit_test(schedulers_are_deterministic),
        cmocka_unit_test(a_lone_ready_warp_issues_in_the_end),
        cmocka_unit_test(a_lone_warp_gets_its_memory_instruction_issued_in_the_end),
        cmocka_unit_test(a_mechanism_brings_its_companion_unless_the_user_names_that_kind),
        cmocka_unit_test(lrr_serves_all_ready_warps_equally),
        cmocka_unit_test(gto_stays_with_a_warp_then_takes_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
