/* Prefetchers by their interface alone: what every one of them keeps to, and APOGEE's table, field by field
 * (A. Sethia's dissertation, section 5.3 and table 5.3b). */
#include "../../estimator/base/rng.h"
#include "../../estimator/mech/fetch/fetch.h"
#include "../../estimator/mech/fetch/fetch_apogee.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bench {
    const struct ww_fetch_ops *ops;
    void *state, *settings;
    struct ww_arena arena;
    uint64_t address[32];
    struct ww_fetch_line line[32];
    struct ww_fetch_load load;
    struct ww_fetch_requests requests;
};

static void open_with(struct bench *b, const char *name, const char *parameter) {
    struct ww_mech_choice choice[WW_KIND_COUNT];
    struct ww_error e;
    char text[64];
    const char *strings[] = {text, parameter};
    memset(b, 0, sizeof *b);
    snprintf(text, sizeof text, "fetch=%s", name);
    ww_arena_init(&b->arena, 0);
    if (ww_mech_resolve(strings, parameter ? 2 : 1, &b->arena, choice, &e) != WW_OK) fail_msg("%s", e.text);
    b->ops = (const struct ww_fetch_ops *)(const void *)choice[WW_KIND_FETCH].info;
    b->settings = ww_arena_alloc(&b->arena, b->ops->info.settings_size + 1);
    memcpy(b->settings, choice[WW_KIND_FETCH].settings, b->ops->info.settings_size);
    b->state = calloc(1, b->ops->state_size + 1);
    const struct ww_fetch_launch launch = {.line = 32};
    if (b->ops->begin) b->ops->begin(b->state, b->settings, &launch);
    b->load = (struct ww_fetch_load){.threads = 128, .width = 4, .address = b->address, .line = b->line};
}

static void close_bench(struct bench *b) {
    free(b->state);
    ww_arena_free(&b->arena);
}

/* A load by the lanes of mask at base + lane * stride, with that many lines missed. */
static void load(struct bench *b, uint32_t pc, uint32_t warp, uint32_t mask, uint64_t base, int64_t stride,
                 bool missed) {
    struct ww_fetch_load *l = &b->load;
    l->cycle += 10;
    l->pc = pc;
    l->warp = warp;
    l->mask = mask;
    l->lanes = 0;
    for (uint32_t i = 0; i < 32; i++)
        if (mask >> i & 1) b->address[l->lanes++] = base + (uint64_t)((int64_t)i * stride);
    l->lines = 1;
    b->line[0] = (struct ww_fetch_line){base / 32 * 32, missed ? WW_FETCH_MISS : WW_FETCH_HIT};
    l->missed = l->absent = missed;
    b->requests.count = b->requests.farther = b->requests.nearer = 0;
    b->ops->load(b->state, b->settings, l, &b->requests);
}

/* ---- every prefetcher ---- */

static uint64_t drill(const char *name, const char *parameter) {
    struct bench b;
    struct ww_rng rng;
    uint64_t trail = 14695981039346656037u, regular = 1;
    open_with(&b, name, parameter);
    ww_rng_seed(&rng, 7);
    for (int i = 0; i < 20000; i++) {
        uint64_t r = ww_rng_next(&rng);
        uint32_t mask = (r >> 20 & 7) ? UINT32_MAX : (uint32_t)(ww_rng_next(&rng) | 1);
        int64_t stride = (r >> 30 & 3) ? (int64_t)(r >> 32 & 15) : (int64_t)(r >> 32 & 1023) - 512;
        uint64_t base = r & 16 ? (r >> 40) << 5 : 4096ull * regular++; /* half of them are regular */
        uint32_t pc = r & 16 ? (uint32_t)r & 31 : 0;
        load(&b, pc, r & 16 ? (uint32_t)(r >> 8) & 15 : 0, mask, base, stride, r >> 12 & 1);
        assert_true(b.requests.count <= WW_FETCH_REQUESTS);
        for (uint32_t k = 0; k < b.requests.count; k++) {
            const struct ww_fetch_request *a = &b.requests.request[k];
            assert_true(a->shifted || (a->mask && a->width));
            trail = (trail ^ a->base ^ a->token ^ (uint64_t)a->stride << 40) * 1099511628211u;
            if (a->token == WW_FETCH_NO_TOKEN) continue;
            if (b.ops->queued) b.ops->queued(b.state, a->token);
            if (b.ops->sent && (r >> 13 & 1)) b.ops->sent(b.state, a->token);
            if (b.ops->done && (r >> 14 & 1)) b.ops->done(b.state, a->token);
        }
        if (b.ops->lost && (r >> 15 & 3) == 0) b.ops->lost(b.state);
    }
    close_bench(&b);
    return trail;
}

static void every_prefetcher_stays_within_bounds_and_asks_the_same_again(void **state) {
    int met = 0;
    (void)state;
    for (size_t i = 0; ww_mech_info_at(i); i++) {
        const struct ww_mech_info *info = ww_mech_info_at(i);
        struct ww_fetch_plan plan;
        if (info->kind != WW_KIND_FETCH || info->param_count == 0) continue;
        struct bench b;
        open_with(&b, info->name, NULL);
        b.ops->plan(b.settings, &plan);
        close_bench(&b);
        assert_true(plan.queue > 0 && plan.latency == 10);
        assert_true(drill(info->name, NULL) == drill(info->name, NULL));
        met++;
    }
    assert_true(met >= 5);
}

static void a_prefetcher_that_may_not_send_asks_for_nothing(void **state) {
    (void)state;
    for (size_t i = 0; ww_mech_info_at(i); i++) {
        const struct ww_mech_info *info = ww_mech_info_at(i);
        if (info->kind != WW_KIND_FETCH || info->param_count == 0) continue;
        assert_true(drill(info->name, "fetch.send=false") == 14695981039346656037u);
        assert_false(drill(info->name, NULL) == 14695981039346656037u);
    }
}

/* ---- APOGEE ---- */

static const struct ww_apogee_entry *entry_of(const struct bench *b, uint32_t pc, bool tia) {
    const struct ww_apogee *a = b->state;
    for (uint32_t i = 0; i < WW_APOGEE_MOST; i++) {
        const struct ww_apogee_entry *e = &a->entry[i];
        bool is = tia ? e->type >= WW_APOGEE_TIA : e->type == WW_APOGEE_FOA;
        if (is && e->pc == pc) return e;
    }
    return NULL;
}

static void an_entry_has_76_bits_and_a_table_4864(void **state) {
    (void)state;
    assert_int_equal(ww_apogee_bits(1, 4), 10 + 28 + 8 + 8 + 6 + 6 + 2 + 8);
    assert_int_equal(ww_apogee_bits(64, 4), 4864);
    assert_int_equal(ww_apogee_bits(64, 32) - ww_apogee_bits(64, 4), 64 * 2 * 28);
}

static void the_offset_is_the_difference_of_addresses_over_that_of_threads(void **state) {
    struct bench b;
    (void)state;
    open_with(&b, "apogee", NULL);
    load(&b, 5, 0, 0xf00f00f1, 0x1000, 8, true); /* with gaps */
    assert_int_equal(entry_of(&b, 5, false)->offset, 8);
    assert_int_equal(entry_of(&b, 5, false)->confidence, 13 - 2);
    assert_int_equal(entry_of(&b, 5, false)->thread, 31);
    assert_int_equal(entry_of(&b, 5, false)->address, 0x1000 + 8 * 31);
    assert_int_equal(b.requests.count, 1);
    close_bench(&b);
}

static void the_next_access_lies_n_threads_further_on(void **state) {
    struct bench b;
    (void)state;
    open_with(&b, "apogee", NULL);
    load(&b, 5, 0, UINT32_MAX, 0x1000, 4, true);
    assert_int_equal(b.requests.count, 1);
    /* last address + offset * (n - N + 1), n = 128, N = 32 */
    assert_int_equal(b.requests.request[0].base, 0x1000 + 31 * 4 + 4 * (128 - 32 + 1));
    assert_int_equal(b.requests.request[0].stride, 4);
    assert_int_equal(b.requests.request[0].mask, UINT32_MAX);
    close_bench(&b);
}

static void an_offset_is_trusted_from_two_less_than_the_active_threads_on(void **state) {
    struct bench b;
    uint64_t odd;
    (void)state;
    open_with(&b, "apogee", NULL);
    load(&b, 5, 0, 0x3, 0x1000, 4, true); /* two threads: nothing is left to agree */
    assert_int_equal(b.requests.count, 1);
    load(&b, 6, 0, 0x1, 0x1000, 4, true); /* one: no offset */
    assert_int_equal(b.requests.count, 0);
    load(&b, 6, 0, 0x7, 0x2000, 4, true);
    assert_int_equal(b.requests.count, 1);
    /* the last thread does not agree: confidence is reset, and learned anew with the next load */
    load(&b, 5, 0, 0xff, 0x3000, 4, true);
    assert_int_equal(entry_of(&b, 5, false)->confidence, 7);
    odd = b.address[7] + 1;
    b.address[7] = odd;
    b.ops->load(b.state, b.settings, &b.load, &b.requests);
    assert_int_equal(entry_of(&b, 5, false)->confidence, 0);
    load(&b, 5, 0, 0xff, 0x4000, 16, true);
    assert_int_equal(entry_of(&b, 5, false)->offset, 16);
    assert_int_equal(entry_of(&b, 5, false)->confidence, 6);
    close_bench(&b);
}

static void an_offset_beyond_its_eight_bits_is_none(void **state) {
    struct bench b;
    (void)state;
    open_with(&b, "apogee", NULL);
    load(&b, 5, 0, UINT32_MAX, 0x100000, 127, true);
    assert_int_equal(b.requests.count, 1);
    load(&b, 6, 0, UINT32_MAX, 0x100000, 128, true);
    assert_int_equal(b.requests.count, 0);
    load(&b, 7, 0, UINT32_MAX, 0x100000, -128, true);
    assert_int_equal(b.requests.count, 1);
    close_bench(&b);
}

static void the_entry_of_the_lowest_confidence_is_replaced(void **state) {
    struct bench b;
    (void)state;
    open_with(&b, "apogee", "fetch.entries=3");
    load(&b, 1, 0, UINT32_MAX, 0x1000, 4, false);
    load(&b, 2, 0, 0xff, 0x2000, 4, false);
    load(&b, 3, 0, 0xffff, 0x3000, 4, false);
    load(&b, 4, 0, UINT32_MAX, 0x4000, 4, false);
    assert_null(entry_of(&b, 2, false));
    assert_non_null(entry_of(&b, 1, false));
    assert_non_null(entry_of(&b, 3, false));
    close_bench(&b);
}

static uint32_t token(const struct bench *b) {
    assert_true(b->requests.count > 0);
    return b->requests.request[0].token;
}

static void a_load_in_01_was_slow_and_the_distance_grows(void **state) {
    struct bench b;
    (void)state;
    open_with(&b, "apogee", NULL);
    load(&b, 5, 0, UINT32_MAX, 0x1000, 4, true);
    b.ops->queued(b.state, token(&b));
    assert_int_equal(entry_of(&b, 5, false)->state[0], WW_APOGEE_SENT);
    load(&b, 5, 0, UINT32_MAX, 0x1200, 4, true);
    assert_int_equal(entry_of(&b, 5, false)->distance, 2);
    assert_int_equal(b.requests.farther, 1);
    assert_int_equal(b.requests.request[0].base, 0x1200 + 2 * 4 * 128);
    close_bench(&b);
}

static void a_hit_in_10_was_timely_and_nothing_changes(void **state) {
    struct bench b;
    (void)state;
    open_with(&b, "apogee", NULL);
    load(&b, 5, 0, UINT32_MAX, 0x1000, 4, true);
    b.ops->queued(b.state, token(&b));
    b.ops->done(b.state, token(&b));
    assert_int_equal(entry_of(&b, 5, false)->state[0], WW_APOGEE_BACK);
    load(&b, 5, 0, UINT32_MAX, 0x1200, 4, false);
    assert_int_equal(entry_of(&b, 5, false)->distance, 1);
    assert_int_equal(entry_of(&b, 5, false)->state[0], WW_APOGEE_LOADED);
    close_bench(&b);
}

/* From a distance of 3, whose prefetch is for the third load. */
static uint8_t distance_after(uint64_t third) {
    struct bench b;
    open_with(&b, "apogee", "fetch.distance=3");
    load(&b, 5, 0, UINT32_MAX, 0x1000, 4, true);
    uint32_t t = token(&b);
    b.ops->queued(b.state, t);
    b.ops->done(b.state, t);
    load(&b, 5, 0, UINT32_MAX, 0x1200, 4, true); /* not what the prefetch was for */
    assert_int_equal(entry_of(&b, 5, false)->distance, 3);
    load(&b, 5, 0, UINT32_MAX, 0x1400, 4, true);
    load(&b, 5, 0, UINT32_MAX, third, 4, true);
    uint8_t distance = entry_of(&b, 5, false)->distance;
    close_bench(&b);
    return distance;
}

static void a_miss_in_10_at_the_predicted_address_was_early_and_the_distance_shrinks(void **state) {
    (void)state;
    assert_int_equal(distance_after(0x1600), 2);
}

static void a_miss_in_10_at_another_address_was_wrong_and_nothing_changes(void **state) {
    (void)state;
    assert_int_equal(distance_after(0x9600), 3);
}

static void read_literally_the_next_load_decides_whatever_it_is_for(void **state) {
    struct bench b;
    (void)state;
    open_with(&b, "apogee", "fetch.compare=next");
    load(&b, 5, 0, UINT32_MAX, 0x1000, 4, true);
    for (uint32_t i = 1; i < 80; i++) { /* each comes before the answer to the one before */
        b.ops->queued(b.state, token(&b));
        load(&b, 5, 0, UINT32_MAX, 0x1000 + 512 * i, 4, i < 3);
    }
    assert_int_equal(entry_of(&b, 5, false)->distance, 63); /* as far as its bits go */
    close_bench(&b);
}

static void states_belong_to_warps(void **state) {
    struct bench b;
    (void)state;
    open_with(&b, "apogee", NULL);
    load(&b, 5, 0, UINT32_MAX, 0x1000, 4, true);
    b.ops->queued(b.state, token(&b));
    load(&b, 5, 1, UINT32_MAX, 0x1080, 4, true);
    assert_int_equal(entry_of(&b, 5, false)->distance, 1); /* warp 1's first load says nothing of warp 0's */
    assert_int_equal(entry_of(&b, 5, false)->state[0], WW_APOGEE_SENT);
    assert_int_equal(entry_of(&b, 5, false)->state[1], WW_APOGEE_LOADED);
    close_bench(&b);
}

static void answers_to_an_entry_that_is_gone_are_not_heard(void **state) {
    struct bench b;
    (void)state;
    open_with(&b, "apogee", "fetch.entries=1");
    load(&b, 5, 0, UINT32_MAX, 0x1000, 4, true);
    uint32_t old = token(&b);
    b.ops->queued(b.state, old);
    load(&b, 6, 0, UINT32_MAX, 0x8000, 4, true);
    b.ops->queued(b.state, token(&b));
    b.ops->done(b.state, old);
    assert_int_equal(entry_of(&b, 6, false)->state[0], WW_APOGEE_SENT);
    close_bench(&b);
}

static bool asks_for(const struct bench *b, uint64_t address) {
    for (uint32_t i = 0; i < b->requests.count; i++)
        if (b->requests.request[i].base == address) return true;
    return false;
}

/* Figure 5.9: PC2, PC1, PC0 follow one another; PC0 loads one address. */
static void
an_invariant_load_is_prefetched_by_the_load_before_it_and_moves_ahead_while_it_is_slow(void **state) {
    struct bench b;
    enum { PC0 = 10, PC1 = 9, PC2 = 8, AD0 = 0x7000 };
    (void)state;
    open_with(&b, "apogee", NULL);
    load(&b, PC2, 0, UINT32_MAX, 0x1000, 0x1001, false);
    load(&b, PC1, 0, UINT32_MAX, 0x2000, 0x1001, false);
    load(&b, PC0, 0, UINT32_MAX, AD0, 0, true);
    assert_int_equal(entry_of(&b, PC0, false)->thread, WW_APOGEE_SCALAR);
    assert_non_null(entry_of(&b, PC1, true)); /* the last accessed load */
    assert_int_equal(entry_of(&b, PC1, true)->address, AD0);
    load(&b, PC2, 0, UINT32_MAX, 0x1000, 0x1001, false);
    assert_false(asks_for(&b, AD0));
    load(&b, PC1, 0, UINT32_MAX, 0x2000, 0x1001, false);
    assert_true(asks_for(&b, AD0));
    b.ops->queued(b.state, token(&b));
    load(&b, PC0, 0, UINT32_MAX, AD0, 0, true); /* it has not come back: slow */
    assert_int_equal(entry_of(&b, PC1, true)->type, WW_APOGEE_TIA_SLOW);
    load(&b, PC2, 0, UINT32_MAX, 0x1000, 0x1001, false);
    load(&b, PC1, 0, UINT32_MAX, 0x2000, 0x1001, false); /* moves to the load before this one */
    assert_null(entry_of(&b, PC1, true));
    assert_int_equal(entry_of(&b, PC2, true)->type, WW_APOGEE_TIA);
    load(&b, PC0, 0, UINT32_MAX, AD0, 0, true);
    load(&b, PC2, 0, UINT32_MAX, 0x1000, 0x1001, false);
    assert_true(asks_for(&b, AD0));
    close_bench(&b);
}

static void the_table_outlives_a_launch(void **state) {
    struct bench b;
    const struct ww_fetch_launch again = {.line = 32, .sequence = 1};
    (void)state;
    open_with(&b, "apogee", NULL);
    load(&b, 5, 0, UINT32_MAX, 0x1000, 4, true);
    b.ops->queued(b.state, token(&b));
    b.ops->begin(b.state, b.settings, &again);
    assert_int_equal(entry_of(&b, 5, false)->offset, 4);
    assert_int_equal(entry_of(&b, 5, false)->state[0], WW_APOGEE_LOADED);
    close_bench(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefetcher_stays_within_bounds_and_asks_the_same_again),
        cmocka_unit_test(a_prefetcher_that_may_not_send_asks_for_nothing),
        cmocka_unit_test(an_entry_has_76_bits_and_a_table_4864),
        cmocka_unit_test(the_offset_is_the_difference_of_addresses_over_that_of_threads),
        cmocka_unit_test(the_next_access_lies_n_threads_further_on),
        cmocka_unit_test(an_offset_is_trusted_from_two_less_than_the_active_threads_on),
        cmocka_unit_test(an_offset_beyond_its_eight_bits_is_none),
        cmocka_unit_test(the_entry_of_the_lowest_confidence_is_replaced),
        cmocka_unit_test(a_load_in_01_was_slow_and_the_distance_grows),
        cmocka_unit_test(a_hit_in_10_was_timely_and_nothing_changes),
        cmocka_unit_test(a_miss_in_10_at_the_predicted_address_was_early_and_the_distance_shrinks),
        cmocka_unit_test(a_miss_in_10_at_another_address_was_wrong_and_nothing_changes),
        cmocka_unit_test(read_literally_the_next_load_decides_whatever_it_is_for),
        cmocka_unit_test(states_belong_to_warps),
        cmocka_unit_test(answers_to_an_entry_that_is_gone_are_not_heard),
        cmocka_unit_test(
            an_invariant_load_is_prefetched_by_the_load_before_it_and_moves_ahead_while_it_is_slow),
        cmocka_unit_test(the_table_outlives_a_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
