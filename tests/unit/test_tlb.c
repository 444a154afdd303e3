/* Address translation behind a small GPU's L1 (see tlb.h). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimator/core/memory/tlb_array.h"
#include "memsys_fixture.h"
#include <stdlib.h>

enum { PAGE = 64 << 10, L2_CYCLES = 7, READ_CYCLES = 15 };
#define PS 1000u /* of a cycle */

/* The small GPU with pages of 64 KiB, 2 entries and 4 sets of 2; 4 misses, 2 walks. */
static struct rig *start_with(void (*set)(struct ww_gpu_spec *spec)) {
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    small_spec(&rig->spec);
    struct ww_gpu_spec *s = &rig->spec;
    s->l2_size_kb = 512; /* all that a test reads stays there */
    s->tlb_enabled = true;
    s->tlb_page_kb = PAGE >> 10;
    s->tlb_l1_entries = 2;
    s->tlb_l2_sets = 4;
    s->tlb_l2_ways = 2;
    s->tlb_l2_cycles = L2_CYCLES;
    s->tlb_misses = 4;
    s->tlb_walkers = 2;
    s->tlb_read_cycles = READ_CYCLES;
    s->tlb_context_mb = 1;
    if (set) set(s);
    rig_start(rig);
    return rig;
}

static struct rig *start(void) {
    return start_with(NULL);
}

static void stop(struct rig *rig) {
    rig_check_laws(rig);
    rig_stop(rig);
    free(rig);
}

static uint64_t page(uint32_t n) {
    return (uint64_t)n * PAGE;
}

/* ---- the arrays ---- */

/* A pass over pages 0 .. count - 1 again and again; which of them miss in the last one. */
static uint32_t misses(const struct ww_tlb_shape *shape, uint32_t count, bool *missed) {
    struct ww_arena arena;
    struct ww_tlb_array a;
    uint32_t sum = 0;
    ww_arena_init(&arena, 0);
    assert_true(ww_tlb_array_init(&a, &arena, shape, 1));
    for (int pass = 0; pass < 4; pass++) {
        sum = 0;
        for (uint32_t p = 0; p < count; p++) {
            missed[p] = !ww_tlb_array_find(&a, p);
            sum += missed[p];
            if (missed[p]) ww_tlb_array_fill(&a, p);
        }
    }
    ww_arena_free(&arena);
    return sum;
}

static const struct ww_tlb_shape unequal = {.sets = 7, .ways = 8, .first_ways = 17};

/* Mei and Chu, figure 10: 130 MB fit; at 132 MB the entries of a set of 17 miss, and 8 more with each page,
 * until at 144 MB all do. */
static void of_the_65_pages_that_fit_17_miss_with_one_more_and_8_with_each_after_that(void **state) {
    (void)state;
    bool missed[128];
    assert_int_equal(misses(&unequal, 65, missed), 0);
    for (uint32_t more = 1; more <= 7; more++) {
        uint32_t all = misses(&unequal, 65 + more, missed), of_65 = 0;
        for (uint32_t p = 0; p < 65; p++) of_65 += missed[p];
        assert_int_equal(of_65, 17 + 8 * (more - 1));
        assert_int_equal(all, of_65 + more); /* the pages that came last miss, too */
    }
}

static void a_tlb_of_equal_sets_overflows_by_equal_steps(void **state) {
    (void)state;
    static const struct ww_tlb_shape equal = {.sets = 8, .ways = 8};
    bool missed[128];
    assert_int_equal(misses(&equal, 64, missed), 0);
    for (uint32_t more = 1; more <= 8; more++) assert_int_equal(misses(&equal, 64 + more, missed), 9 * more);
}

static void the_least_recently_used_page_of_a_set_goes(void **state) {
    (void)state;
    static const struct ww_tlb_shape shape = {.sets = 2, .ways = 2};
    struct ww_arena arena;
    struct ww_tlb_array a;
    ww_arena_init(&arena, 0);
    assert_true(ww_tlb_array_init(&a, &arena, &shape, 1));
    ww_tlb_array_fill(&a, 0);
    ww_tlb_array_fill(&a, 2);
    ww_tlb_array_fill(&a, 1); /* of the other set */
    assert_true(ww_tlb_array_find(&a, 0));
    ww_tlb_array_fill(&a, 4);
    assert_false(ww_tlb_array_find(&a, 2));
    assert_true(ww_tlb_array_find(&a, 0) && ww_tlb_array_find(&a, 4) && ww_tlb_array_find(&a, 1));
    ww_arena_free(&arena);
}

/* With LRU a pass over one page too many would miss always. */
static void random_replacement_lets_some_of_17_pages_hit_in_16_entries(void **state) {
    (void)state;
    static const struct ww_tlb_shape shape = {.sets = 1, .ways = 16, .random = true};
    bool missed[17];
    uint32_t n = misses(&shape, 17, missed);
    assert_true(n > 0 && n < 17);
}

/* ---- time ---- */

/* Reads a line of the page until everything about it is known. */
static void warm(struct rig *rig, uint64_t address) {
    for (int i = 0; i < 2; i++) rig_round_trip(rig, address, 1);
}

static void a_hit_of_the_l1_tlb_takes_no_time(void **state) {
    (void)state;
    struct rig *rig = start();
    warm(rig, 0);
    uint64_t on = rig_round_trip(rig, 0, 1);
    stop(rig);
    rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    small_spec(&rig->spec);
    rig_start(rig);
    warm(rig, 0);
    assert_int_equal(rig_round_trip(rig, 0, 1), on);
    assert_int_equal(rig->counter[WW_C_TLB_L1_ACCESS], 0);
    stop(rig);
}

/* Pages 0, 1 and 2 lie in sets of their own of the L2 TLB; the L1 TLB holds two of them. */
static void a_hit_of_the_l2_tlb_adds_its_cycles(void **state) {
    (void)state;
    struct rig *rig = start();
    uint64_t best = UINT64_MAX;
    bool seen = false;
    for (uint32_t p = 0; p < 3; p++) warm(rig, page(p));
    for (int i = 0; i < 12; i++) {
        uint64_t before = rig->counter[WW_C_TLB_L2_HIT], ps = rig_round_trip(rig, page((uint32_t)i % 3), 1);
        if (rig->counter[WW_C_TLB_L2_HIT] == before) {
            best = ps;
        } else if (best != UINT64_MAX) {
            assert_int_equal(ps, best + L2_CYCLES * PS);
            seen = true;
        }
    }
    assert_true(seen);
    assert_int_equal(rig->counter[WW_C_TLB_WALK], 3);
    stop(rig);
}

/* Fills the L1 TLB and the L2 TLB's set 0 (pages 0, 4, 8, ...) with others than page 0; random replacement may
 * need many of them. */
static void forget_page_0(struct rig *rig) {
    for (uint32_t p = 1; p <= 40; p++) warm(rig, page(4 * p) + 512 * p);
}

static void a_walk_whose_entries_the_l2_holds_adds_one_read(void **state) {
    (void)state;
    struct rig *rig = start();
    warm(rig, 0);
    uint64_t hit = rig_round_trip(rig, 0, 1);
    forget_page_0(rig);
    uint64_t dram = rig->counter[WW_C_DRAM_SECTOR_READ], walks = rig->counter[WW_C_TLB_WALK];
    uint64_t ps = rig_round_trip(rig, 0, 1);
    assert_int_equal(rig->counter[WW_C_TLB_WALK], walks + 1);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], dram);
    assert_int_equal(ps, hit + (L2_CYCLES + READ_CYCLES) * PS);
    stop(rig);
}

static void set_fill(struct ww_gpu_spec *s) {
    s->tlb_fill_cycles = 100;
}

static void entries_that_come_from_dram_add_their_fill(void **state) {
    (void)state;
    struct rig *rig = start();
    uint64_t without = rig_round_trip(rig, 0, 1);
    stop(rig);
    rig = start_with(set_fill);
    assert_int_equal(rig_round_trip(rig, 0, 1), without + 100 * PS);
    warm(rig, 0);
    uint64_t hit = rig_round_trip(rig, 0, 1);
    forget_page_0(rig);
    assert_int_equal(rig_round_trip(rig, 0, 1), hit + (L2_CYCLES + READ_CYCLES) * PS);
    stop(rig);
}

static void translation_keeps_the_cycles_of_the_l2_clock(void **state) {
    (void)state;
    struct rig *rig = start();
    warm(rig, 0);
    forget_page_0(rig);
    ww_clock_set(ww_memsys_l2_clock(rig->memory), 500, ww_queue_now(rig->queue));
    uint64_t walk = rig_round_trip(rig, 0, 1), hit = rig_round_trip(rig, 0, 1);
    assert_in_range(walk - hit, (L2_CYCLES + READ_CYCLES) * 2 * PS, (L2_CYCLES + READ_CYCLES + 1) * 2 * PS);
    stop(rig);
}

/* ---- traffic ---- */

static void a_walk_reads_its_entries_through_the_l2_and_dram(void **state) {
    (void)state;
    struct rig *rig = start();
    rig_round_trip(rig, 0, 1);
    assert_int_equal(rig->counter[WW_C_TLB_WALK_SECTOR], 4); /* 128 bytes */
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_READ], 5);
    assert_int_equal(rig->counter[WW_C_DRAM_SECTOR_READ], 5);
    assert_int_equal(rig->counter[WW_C_XBAR_SECTOR_READ], 1);
    stop(rig);
}

static void requests_of_one_page_share_one_walk(void **state) {
    (void)state;
    struct rig *rig = start();
    for (uint32_t i = 0; i < 8; i++) rig_read(rig, (uint16_t)(i & 1), 128 * i, 1, i);
    rig_drain(rig);
    assert_int_equal(rig->replies, 8);
    assert_int_equal(rig->counter[WW_C_TLB_WALK], 1);
    assert_int_equal(rig->counter[WW_C_TLB_MERGED], 7);
    stop(rig);
}

static void a_walk_is_of_the_instruction_that_missed_first(void **state) {
    (void)state;
    struct rig *rig = start();
    rig_read(rig, 0, 0, 1, 3);
    rig_read(rig, 0, 128, 1, 4);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_TLB_WALK_SECTOR], 4);
    assert_int_equal(rig->inst[3].counter[WW_I_L2_MISS], 4 + 1);
    assert_int_equal(rig->inst[4].counter[WW_I_L2_MISS], 1);
    stop(rig);
}

static void a_hit_passes_a_miss(void **state) {
    (void)state;
    struct rig *rig = start();
    warm(rig, 0);
    rig_read(rig, 0, page(1), 1, 1);
    rig_read(rig, 0, 0, 1, 2);
    rig_drain(rig);
    assert_int_equal(rig->log[rig->replies - 2].reply.tag, 2);
    assert_int_equal(rig->log[rig->replies - 1].reply.tag, 1);
    stop(rig);
}

static void only_the_answers_that_waited_for_a_walk_say_so(void **state) {
    (void)state;
    struct rig *rig = start();
    rig_round_trip(rig, 0, 1);
    assert_true(rig->log[0].reply.walked);
    assert_int_equal(rig->log[0].reply.level, WW_LEVEL_DRAM);
    rig_round_trip(rig, 0, 1);
    assert_false(rig->log[1].reply.walked);
    stop(rig);
}

static void a_translation_brings_no_data_and_counts_no_sector(void **state) {
    (void)state;
    struct rig *rig = start();
    struct ww_mem_request r = {
        .address = 0, .sectors = 1, .tag = 9, .kind = WW_MEM_TRANSLATION, .needs_reply = 1, .fine = 1};
    assert_true(ww_memsys_send(rig->memory, &r, 0));
    rig_drain(rig);
    assert_int_equal(rig->replies, 1);
    assert_int_equal(rig->log[0].reply.tag, 9);
    assert_int_equal(rig->counter[WW_C_L2_SECTOR_READ], 4);
    assert_int_equal(rig->counter[WW_C_XBAR_REPLY_FLIT], 1);
    stop(rig);
}

/* ---- limits ---- */

static void set_one_walker(struct ww_gpu_spec *s) {
    s->tlb_walkers = 1;
}

/* Time from two requests of two new pages to the last reply; their table entries are in the L2. */
static uint64_t two_walks(struct rig *rig) {
    for (uint32_t p = 0; p < 2; p++) warm(rig, page(p));
    for (uint32_t p = 2; p < 12; p++) warm(rig, page(p) + 1024 * p);
    uint64_t from = ww_queue_now(rig->queue);
    for (uint32_t p = 0; p < 2; p++) rig_read(rig, (uint16_t)p, page(p), 1, p);
    rig_drain(rig);
    return rig->log[rig->replies - 1].ps - from;
}

static void walks_beyond_the_walkers_wait_their_turn(void **state) {
    (void)state;
    struct rig *rig = start();
    uint64_t two = two_walks(rig);
    stop(rig);
    rig = start_with(set_one_walker);
    uint64_t one = two_walks(rig);
    assert_true(one >= two + (READ_CYCLES - 2) * PS);
    stop(rig);
}

static void set_one_miss(struct ww_gpu_spec *s) {
    s->tlb_misses = 1;
}

static void pages_that_find_no_free_miss_are_translated_in_turn(void **state) {
    (void)state;
    struct rig *rig = start_with(set_one_miss);
    for (uint32_t p = 0; p < 6; p++) rig_read(rig, (uint16_t)(p & 1), page(p), 1, p);
    rig_drain(rig);
    assert_int_equal(rig->replies, 6);
    for (uint32_t p = 0; p < 6; p++) assert_int_equal(rig->log[p].reply.tag, p);
    assert_int_equal(rig->counter[WW_C_TLB_WALK], 6);
    stop(rig);
}

static void send_pages(struct rig *rig, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    uint32_t *next = rig->user;
    (void)reply;
    while (next[sm] < 500) {
        struct ww_mem_request r = {
            .address = page(next[sm] * 2 + sm), .sectors = 1, .sm = sm, .kind = WW_MEM_READ, .needs_reply = 1};
        if (!ww_memsys_send(rig->memory, &r, now_ps)) return;
        next[sm]++;
    }
}

/* More requests than slices and TLBs hold: the SMs are refused, called again, and all are answered. */
static void misses_push_back_on_the_sms_and_none_is_lost(void **state) {
    (void)state;
    struct rig *rig = start();
    uint32_t next[2] = {0};
    rig->user = next;
    rig->react = send_pages;
    for (uint16_t sm = 0; sm < 2; sm++) send_pages(rig, sm, NULL, 0);
    assert_true(next[0] < 500);
    rig_drain(rig);
    assert_int_equal(rig->replies, 1000);
    assert_true(rig->unblocked > 0);
    stop(rig);
}

/* ---- contexts ---- */

static void set_context(struct ww_gpu_spec *s) {
    s->tlb_contexts = 1;
    s->tlb_context_cycles = 50;
}

static void the_first_region_is_active_and_another_costs_a_switch(void **state) {
    (void)state;
    struct rig *rig = start_with(set_context);
    rig_round_trip(rig, 0, 1);
    rig_round_trip(rig, page(1), 1);
    assert_int_equal(rig->counter[WW_C_TLB_CONTEXT_SWITCH], 0);
    uint64_t walked = rig->counter[WW_C_TLB_WALK_CYCLES], again;
    rig_round_trip(rig, 1 << 20, 1);
    assert_int_equal(rig->counter[WW_C_TLB_CONTEXT_SWITCH], 1);
    assert_int_equal(rig->counter[WW_C_TLB_WALK_SECTOR], 3 * 4 + 1);
    walked = rig->counter[WW_C_TLB_WALK_CYCLES] - walked;
    again = rig->counter[WW_C_TLB_WALK_CYCLES];
    rig_round_trip(rig, (1 << 20) + page(1), 1);
    again = rig->counter[WW_C_TLB_WALK_CYCLES] - again;
    assert_int_equal(rig->counter[WW_C_TLB_CONTEXT_SWITCH], 1);
    assert_true(walked >= again + 50 + READ_CYCLES);
    stop(rig);
}

static void walks_of_one_new_region_share_its_switch(void **state) {
    (void)state;
    struct rig *rig = start_with(set_context);
    rig_round_trip(rig, 0, 1);
    for (uint32_t p = 0; p < 2; p++) rig_read(rig, (uint16_t)p, (1 << 20) + page(p), 1, p);
    rig_drain(rig);
    assert_int_equal(rig->counter[WW_C_TLB_CONTEXT_SWITCH], 1);
    assert_int_equal(rig->counter[WW_C_TLB_WALK], 3);
    stop(rig);
}

static void two_regions_in_turn_switch_each_time(void **state) {
    (void)state;
    struct rig *rig = start_with(set_context);
    for (uint32_t i = 0; i < 6; i++) rig_round_trip(rig, (uint64_t)(i & 1) << 20 | page(i), 1);
    assert_int_equal(rig->counter[WW_C_TLB_CONTEXT_SWITCH], 5);
    stop(rig);
}

/* Where the answer to `tag` stands among all. */
static uint32_t answer_of(const struct rig *rig, uint32_t tag) {
    for (uint32_t i = 0; i < rig->replies; i++)
        if (rig->log[i].reply.tag == tag) return i;
    fail_msg("no answer to %u", tag);
    return 0;
}

static void a_walk_whose_region_is_at_hand_passes_one_that_needs_a_switch(void **state) {
    (void)state;
    struct rig *rig = start_with(set_context);
    rig_round_trip(rig, 0, 1);
    rig_read(rig, 0, 1 << 20, 1, 1); /* its switch is under way when ... */
    rig_read(rig, 0, 2 << 20, 1, 2); /* ... another one would have to wait for it */
    rig_read(rig, 0, page(1), 1, 3);
    rig_drain(rig);
    assert_true(answer_of(rig, 3) < answer_of(rig, 1));
    assert_true(answer_of(rig, 1) < answer_of(rig, 2));
    assert_int_equal(rig->counter[WW_C_TLB_CONTEXT_SWITCH], 2);
    stop(rig);
}

static void set_large_context(struct ww_gpu_spec *s) {
    set_context(s);
    s->tlb_context_mb = 16;
    s->tlb_misses = 128;
}

/* Sends a read as soon as the crossbar takes it. */
static void read_in_turn(struct rig *rig, uint64_t address, uint32_t tag) {
    struct ww_mem_request request = {
        .address = address, .sectors = 1, .tag = tag, .kind = WW_MEM_READ, .needs_reply = 1};
    while (!ww_memsys_send(rig->memory, &request, ww_queue_now(rig->queue)))
        assert_true(ww_queue_step(rig->queue));
}

static void no_more_than_32_walks_pass_one_that_needs_a_switch(void **state) {
    (void)state;
    struct rig *rig = start_with(set_large_context);
    enum { WALKERS = 2, OTHER = 500 };
    rig_round_trip(rig, 0, 1);
    for (uint32_t p = 1; p <= WALKERS; p++) read_in_turn(rig, page(p), p);
    read_in_turn(rig, 16 << 20, OTHER);
    for (uint32_t p = 1; p <= 100; p++) read_in_turn(rig, page(WALKERS + p), WALKERS + p);
    rig_drain(rig);
    assert_true(answer_of(rig, WALKERS + 32) < answer_of(rig, OTHER));
    assert_true(answer_of(rig, OTHER) < answer_of(rig, WALKERS + 100));
    assert_true(rig->counter[WW_C_TLB_CONTEXT_SWITCH] <= 2); /* there and back */
    stop(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_65_pages_that_fit_17_miss_with_one_more_and_8_with_each_after_that),
        cmocka_unit_test(a_tlb_of_equal_sets_overflows_by_equal_steps),
        cmocka_unit_test(the_least_recently_used_page_of_a_set_goes),
        cmocka_unit_test(random_replacement_lets_some_of_17_pages_hit_in_16_entries),
        cmocka_unit_test(a_hit_of_the_l1_tlb_takes_no_time),
        cmocka_unit_test(a_hit_of_the_l2_tlb_adds_its_cycles),
        cmocka_unit_test(a_walk_whose_entries_the_l2_holds_adds_one_read),
        cmocka_unit_test(entries_that_come_from_dram_add_their_fill),
        cmocka_unit_test(translation_keeps_the_cycles_of_the_l2_clock),
        cmocka_unit_test(a_walk_reads_its_entries_through_the_l2_and_dram),
        cmocka_unit_test(requests_of_one_page_share_one_walk),
        cmocka_unit_test(a_walk_is_of_the_instruction_that_missed_first),
        cmocka_unit_test(a_hit_passes_a_miss),
        cmocka_unit_test(only_the_answers_that_waited_for_a_walk_say_so),
        cmocka_unit_test(a_translation_brings_no_data_and_counts_no_sector),
        cmocka_unit_test(walks_beyond_the_walkers_wait_their_turn),
        cmocka_unit_test(pages_that_find_no_free_miss_are_translated_in_turn),
        cmocka_unit_test(misses_push_back_on_the_sms_and_none_is_lost),
        cmocka_unit_test(the_first_region_is_active_and_another_costs_a_switch),
        cmocka_unit_test(walks_of_one_new_region_share_its_switch),
        cmocka_unit_test(two_regions_in_turn_switch_each_time),
        cmocka_unit_test(a_walk_whose_region_is_at_hand_passes_one_that_needs_a_switch),
        cmocka_unit_test(no_more_than_32_walks_pass_one_that_needs_a_switch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
