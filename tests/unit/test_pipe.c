/* Kind "pipe": the equations, the hardware that they need, the bank-conflict history cache, the contract of
 * every organisation, and figures 4 and 5 of Gou and Gaydadjiev's Elastic Pipeline cycle by cycle. */
#include "../../estimator/base/rng.h"
#include "../../estimator/mech/pipe/pipe.h"
#include "../../estimator/mech/pipe/pipe_history.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct ww_pipe_ops *pipe_of(const char *name, struct ww_pipe_plan *plan) {
    const struct ww_mech_info *info = ww_mech_find(WW_KIND_PIPE, name);
    const struct ww_pipe_ops *ops = (const struct ww_pipe_ops *)(const void *)info;
    assert_non_null(info);
    void *settings = calloc(1, info->settings_size + 1);
    ww_param_defaults(info->params, info->param_count, settings);
    ops->plan(settings, plan);
    free(settings);
    return ops;
}

/* ---- equations and overhead ---- */

static void the_safe_distance_is_the_degree_over_the_ports_rounded_up(void **state) {
    (void)state;
    assert_int_equal(ww_pipe_safe_distance(2, 1), 2); /* figure 5 */
    assert_int_equal(ww_pipe_safe_distance(1, 1), 1);
    assert_int_equal(ww_pipe_safe_distance(8, 2), 4);
    assert_int_equal(ww_pipe_safe_distance(7, 2), 4);
    assert_int_equal(ww_pipe_safe_distance(32, 1), 32); /* equation 5: four sub-warps of degree 8 */
}

static void the_degree_of_a_warp_is_the_sum_over_its_sub_warps(void **state) {
    (void)state;
    const uint8_t degree[4] = {1, 8, 0, 3};
    assert_int_equal(ww_pipe_warp_degree(degree, 4), 12);
    assert_int_equal(ww_pipe_warp_degree(degree, 2), 9);
}

static void the_queues_have_as_many_entries_as_equations_2_and_3_say(void **state) {
    (void)state;
    struct ww_pipe_plan plan;
    pipe_of("elastic", &plan);
    assert_int_equal(plan.stages, 24);
    assert_int_equal(plan.memory, 4);
    assert_int_equal(plan.parts, 4);
    assert_int_equal(plan.nonmem, 4);
    assert_int_equal(plan.premem, 3);
    assert_int_equal(ww_pipe_premem(32, 8), 3);
    assert_int_equal(ww_pipe_premem(32, 32), 0);
    assert_int_equal(ww_pipe_premem(5, 2), 2);
}

static void the_hardware_is_that_of_tables_1_and_2(void **state) {
    (void)state;
    struct ww_pipe_plan plan;
    pipe_of("elastic", &plan);
    struct ww_pipe_overhead o = ww_pipe_overhead(&plan, 32, 32, WW_HISTORY_SETS, WW_HISTORY_WAYS);
    assert_int_equal(o.latches, 8 * (4 + 3));
    assert_int_equal(o.writeback_inputs, 7);
    assert_int_equal(o.memory_inputs, 4);
    assert_int_equal(o.tag_bits, 6);
    assert_int_equal(o.degree_bits, 5);
    assert_int_equal(o.history_bytes, 704);
    assert_int_equal(o.gates, 64);
    assert_int_equal(o.counter, 5);
}

/* ---- the history cache ---- */

static uint32_t known(struct ww_pipe_history *h, uint32_t pc, bool wanted) {
    bool hit;
    uint32_t conflicts = ww_history_predict(h, pc, &hit);
    assert_int_equal(hit, wanted);
    return conflicts;
}

static void an_unknown_instruction_is_predicted_not_to_conflict(void **state) {
    (void)state;
    struct ww_pipe_history h = {0};
    assert_int_equal(known(&h, 0, false), 0);
    assert_int_equal(known(&h, 777, false), 0);
}

static void an_instruction_is_predicted_to_do_what_it_did_last(void **state) {
    (void)state;
    struct ww_pipe_history h = {0};
    ww_history_update(&h, 5, 28);
    assert_int_equal(known(&h, 5, true), 28);
    ww_history_update(&h, 5, 3);
    assert_int_equal(known(&h, 5, true), 3);
    assert_int_equal(known(&h, 5 + 256, false), 0);
}

static void a_set_keeps_its_two_instructions_that_were_used_last(void **state) {
    (void)state;
    struct ww_pipe_history h = {0};
    ww_history_update(&h, 5, 1);
    ww_history_update(&h, 5 + 256, 2);
    assert_int_equal(known(&h, 5, true), 1);
    ww_history_update(&h, 5 + 512, 3);
    assert_int_equal(known(&h, 5 + 256, false), 0);
    assert_int_equal(known(&h, 5, true), 1);
    assert_int_equal(known(&h, 5 + 512, true), 3);
}

static void instructions_16384_apart_are_the_same_to_it(void **state) {
    (void)state;
    struct ww_pipe_history h = {0};
    ww_history_update(&h, 9, 4);
    assert_int_equal(known(&h, 9 + 16384, true), 4);
    assert_int_equal(known(&h, 9 + 8192, false), 0);
}

/* ---- figures 4 and 5: stages IF, ID, EXE, two of memory, WB ---- */

enum { I = 10, LONG = 30 };

/* What each stage holds in each cycle, instructions from 1, 0 is a bubble. Instruction n is fetched in cycle n,
 * unless the front was stopped before. */
struct figure {
    uint32_t fetch[LONG], mem0[LONG], wb[LONG];
    bool stalled[LONG];
    struct ww_pipe_back at[LONG];
};

/* kind: by instruction: 0 needs no memory, else the cycles that it needs at MEM0. */
static struct figure draw(const char *name, const uint8_t kind[LONG], uint32_t premem, uint32_t port_taken_in) {
    struct ww_pipe_plan plan;
    const struct ww_pipe_ops *ops = pipe_of(name, &plan);
    struct figure f;
    struct ww_subwarp front[3]; /* IF, ID, EXE */
    struct ww_pipe_back back;
    memset(&f, 0, sizeof f);
    memset(front, 0, sizeof front);
    memset(&back, 0, sizeof back);
    plan.memory = plan.nonmem = 2;
    plan.premem = premem;
    uint32_t next = 1;
    for (uint32_t cycle = 1; cycle < LONG; cycle++) {
        struct ww_pipe_cycle c = {.exe = front[2], .port_taken = cycle == port_taken_in};
        ops->step(&back, &plan, &c);
        f.stalled[cycle] = c.stalled != WW_PIPE_NOT_STALLED;
        if (!f.stalled[cycle]) {
            front[2] = front[1];
            front[1] = front[0];
            front[0] = (struct ww_subwarp){.op = (uint8_t)next,
                                           .cycles = kind[next] ? kind[next] : 1,
                                           .memory = kind[next] != 0,
                                           .valid = true};
            next++;
        }
        f.fetch[cycle] = front[0].op;
        f.mem0[cycle] = back.mem[0].valid ? back.mem[0].op : 0;
        f.wb[cycle] = c.written.valid ? c.written.op : 0;
        f.at[cycle] = back;
    }
    return f;
}

static void figure_4a_a_conflict_stops_unified_stages_and_leaves_a_bubble(void **state) {
    (void)state;
    const uint8_t kind[LONG] = {[I] = 2};
    struct figure f = draw("unified", kind, 0, 0);
    for (uint32_t c = 1; c < LONG; c++) assert_int_equal(f.stalled[c], c == I + 4);
    assert_int_equal(f.mem0[I + 3], I); /* suffers the conflict */
    assert_int_equal(f.mem0[I + 4], I); /* which is resolved at the end of this cycle */
    assert_int_equal(f.mem0[I + 5], I + 1);
    assert_int_equal(f.fetch[I + 3], I + 3);
    assert_int_equal(f.fetch[I + 4], I + 3); /* the stall as the front end sees it */
    assert_int_equal(f.fetch[I + 5], I + 4);
    assert_false(f.at[I + 4].mem[1].valid); /* bubble in MEM1, and in writeback one cycle later */
    assert_int_equal(f.wb[I + 4], I - 1);
    assert_int_equal(f.wb[I + 5], 0);
    assert_int_equal(f.wb[I + 6], I);
    assert_int_equal(f.wb[I + 7], I + 1);
}

static void figure_4b_split_stages_stall_where_both_paths_meet_at_writeback(void **state) {
    (void)state;
    const uint8_t kind[LONG] = {[I] = 2};
    struct figure f = draw("split", kind, 0, 0);
    for (uint32_t c = 1; c < LONG; c++) assert_int_equal(f.stalled[c], c == I + 6);
    assert_int_equal(f.mem0[I + 3], I);
    assert_int_equal(f.mem0[I + 4], I);
    assert_int_equal(f.at[I + 4].nonmem[0].op, I + 1); /* no longer blocked by W_i */
    assert_int_equal(f.wb[I + 5], 0);                  /* the bubble remains */
    assert_int_equal(f.wb[I + 6], I);                  /* W_i+1 is there, too, and has to wait */
    assert_int_equal(f.fetch[I + 5], I + 5);
    assert_int_equal(f.fetch[I + 6], I + 5);
    assert_int_equal(f.wb[I + 7], I + 1);
}

static void figure_5_forwarding_fills_the_bubble_and_nothing_stalls(void **state) {
    (void)state;
    uint8_t kind[LONG] = {[I] = 2};
    for (uint32_t n = 0; n < I; n++) kind[n] = 1; /* so that writeback is in use */
    struct figure f = draw("elastic", kind, 0, 0);
    for (uint32_t c = 1; c < LONG; c++) assert_false(f.stalled[c]);
    assert_int_equal(f.mem0[I + 4], I);
    assert_int_equal(f.at[I + 4].nonmem[0].op, I + 1);
    assert_int_equal(f.wb[I + 4], I - 1);
    assert_int_equal(f.wb[I + 5], I + 1); /* in place of the bubble, out of order */
    assert_int_equal(f.wb[I + 6], I);
    assert_int_equal(f.wb[I + 7], I + 2);
    for (uint32_t c = I + 4; c < LONG; c++) assert_int_not_equal(f.wb[c], 0);
}

static void figure_5_with_sub_warps_the_second_waits_in_the_premem_queue(void **state) {
    (void)state;
    uint8_t kind[LONG] = {[I] = 2, [I + 1] = 2};
    for (uint32_t n = 0; n < I; n++) kind[n] = 1;
    struct figure f = draw("elastic", kind, 1, 0);
    for (uint32_t c = 1; c < LONG; c++) assert_false(f.stalled[c]);
    assert_int_equal(f.at[I + 4].premem_count, 1);
    assert_int_equal(f.at[I + 4].premem[0].op, I + 1);
    assert_int_equal(f.wb[I + 5], I + 2); /* W_i+2 steps directly into writeback */
    assert_int_equal(f.wb[I + 6], I);
    assert_int_equal(f.wb[I + 8], I + 1);
}

static void without_the_premem_queue_the_second_sub_warp_stalls(void **state) {
    (void)state;
    const uint8_t kind[LONG] = {[I] = 2, [I + 1] = 2};
    struct figure f = draw("elastic", kind, 0, 0);
    assert_true(f.stalled[I + 4]);
}

static void memory_warps_closer_than_the_safe_distance_stall(void **state) {
    (void)state;
    const uint8_t close[LONG] = {[I] = 3, [I + 2] = 1}, far[LONG] = {[I] = 3, [I + 3] = 1};
    struct figure a = draw("elastic", close, 0, 0), b = draw("elastic", far, 0, 0);
    uint32_t stalls[2] = {0, 0};
    for (uint32_t c = 1; c < LONG; c++) {
        stalls[0] += a.stalled[c];
        stalls[1] += b.stalled[c];
    }
    assert_int_equal(stalls[0], 1);
    assert_int_equal(stalls[1], 0); /* equation 1: 3 cycles */
}

static void data_from_memory_come_before_what_the_pipeline_writes(void **state) {
    (void)state;
    const uint8_t kind[LONG] = {0};
    struct figure u = draw("unified", kind, 0, I), e = draw("elastic", kind, 0, I);
    assert_int_equal(u.wb[I], 0);
    assert_true(u.stalled[I]);
    assert_int_equal(e.wb[I], 0);
    assert_false(e.stalled[I]); /* the queue takes what EXE cannot write */
}

/* ---- the contract of an organisation ---- */

struct drill {
    uint32_t entered, written, left, passed, memory, stalls, next_mem;
    bool in_order;
};

/* One cycle; what leaves has entered before, once. */
static bool drill_step(const struct ww_pipe_ops *ops, const struct ww_pipe_plan *plan, struct ww_pipe_back *b,
                       struct ww_pipe_cycle *c, bool in[128], struct drill *d) {
    ops->step(b, plan, c);
    const struct ww_subwarp out[2] = {c->written, c->left};
    if (c->stalled == WW_PIPE_NOT_STALLED && c->exe.valid) {
        assert_false(in[c->exe.op]);
        in[c->exe.op] = true;
        d->entered++;
        d->memory += c->exe.memory;
    }
    if (c->written.valid) assert_false(c->port_taken);
    if (c->written.valid) assert_true(ww_pipe_may_write(c, &c->written));
    for (int i = 0; i < 2; i++)
        if (out[i].valid) {
            assert_true(in[out[i].op]);
            assert_int_equal(out[i].leaves, i);
            in[out[i].op] = false;
            if (d->in_order) assert_int_equal(out[i].op, d->next_mem++ % 128);
        }
    d->written += c->written.valid;
    d->left += c->left.valid;
    d->passed += c->passed.valid && c->passed.memory;
    d->stalls += c->stalled != WW_PIPE_NOT_STALLED;
    return c->stalled == WW_PIPE_NOT_STALLED;
}

static void drill(const char *name, uint64_t seed, uint32_t memory, uint32_t premem, bool in_order) {
    struct ww_pipe_plan plan;
    const struct ww_pipe_ops *ops = pipe_of(name, &plan);
    struct ww_pipe_back back;
    struct ww_rng r;
    struct drill d = {.in_order = in_order};
    bool in[128] = {false};
    uint32_t number = 0;
    struct ww_subwarp exe = {0};
    memset(&back, 0, sizeof back);
    ww_rng_seed(&r, seed);
    plan.memory = plan.nonmem = memory;
    plan.premem = premem;
    for (uint32_t cycle = 0; cycle < 4000; cycle++) {
        struct ww_pipe_cycle c = {.exe = exe, .port_taken = ww_rng_below(&r, 5) == 0};
        c.closed = exe.memory && ww_rng_below(&r, 10) == 0;
        if (!drill_step(ops, &plan, &back, &c, in, &d)) continue;
        exe = (struct ww_subwarp){.op = (uint8_t)(number % 128), .cycles = 1};
        exe.valid = cycle < 3800 && ww_rng_below(&r, 4);
        exe.memory = exe.valid && ww_rng_below(&r, 3) == 0;
        if (exe.memory && ww_rng_below(&r, 2)) exe.cycles = (uint8_t)(1 + ww_rng_below(&r, 8));
        exe.leaves = exe.memory && ww_rng_below(&r, 4) == 0;
        number += exe.valid;
    }
    assert_int_equal(d.entered, number);
    assert_int_equal(d.written + d.left, number);
    assert_int_equal(d.passed, d.memory);
    assert_true(d.stalls > 0);
    assert_true(number > 500);
}

static void everything_that_enters_leaves_once(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        drill("unified", seed, 2 + (uint32_t)seed % 4, 0, true);
        drill("split", seed, 2 + (uint32_t)seed % 4, 0, false);
        drill("elastic", seed, 2 + (uint32_t)seed % 4, (uint32_t)seed % 4, false);
    }
}

static void what_may_not_be_written_yet_waits(void **state) {
    (void)state;
    static const char *const names[] = {"unified", "split", "elastic"};
    for (int i = 0; i < 3; i++) {
        struct ww_pipe_plan plan;
        const struct ww_pipe_ops *ops = pipe_of(names[i], &plan);
        struct ww_pipe_back back;
        memset(&back, 0, sizeof back);
        for (uint32_t cycle = 0; cycle < 40; cycle++) {
            struct ww_pipe_cycle c = {.wait = {0, cycle < 20 ? 1u << 6 : 0}};
            if (cycle == 0) c.exe = (struct ww_subwarp){.op = 70, .cycles = 1, .valid = true, .memory = i == 0};
            ops->step(&back, &plan, &c);
            assert_int_equal(c.written.valid, cycle == 20);
        }
    }
}

static void the_default_is_no_such_pipeline(void **state) {
    (void)state;
    struct ww_pipe_plan plan;
    const struct ww_pipe_ops *ops = pipe_of("none", &plan);
    assert_int_equal(plan.stages, 0);
    assert_null(ops->step);
    struct ww_mech_choice choice[WW_KIND_COUNT];
    struct ww_arena arena;
    ww_arena_init(&arena, 0);
    assert_int_equal(ww_mech_resolve(NULL, 0, &arena, choice, NULL), WW_OK);
    assert_string_equal(choice[WW_KIND_PIPE].info->name, "none");
    ww_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_safe_distance_is_the_degree_over_the_ports_rounded_up),
        cmocka_unit_test(the_degree_of_a_warp_is_the_sum_over_its_sub_warps),
        cmocka_unit_test(the_queues_have_as_many_entries_as_equations_2_and_3_say),
        cmocka_unit_test(the_hardware_is_that_of_tables_1_and_2),
        cmocka_unit_test(an_unknown_instruction_is_predicted_not_to_conflict),
        cmocka_unit_test(an_instruction_is_predicted_to_do_what_it_did_last),
        cmocka_unit_test(a_set_keeps_its_two_instructions_that_were_used_last),
        cmocka_unit_test(instructions_16384_apart_are_the_same_to_it),
        cmocka_unit_test(figure_4a_a_conflict_stops_unified_stages_and_leaves_a_bubble),
        cmocka_unit_test(figure_4b_split_stages_stall_where_both_paths_meet_at_writeback),
        cmocka_unit_test(figure_5_forwarding_fills_the_bubble_and_nothing_stalls),
        cmocka_unit_test(figure_5_with_sub_warps_the_second_waits_in_the_premem_queue),
        cmocka_unit_test(without_the_premem_queue_the_second_sub_warp_stalls),
        cmocka_unit_test(memory_warps_closer_than_the_safe_distance_stall),
        cmocka_unit_test(data_from_memory_come_before_what_the_pipeline_writes),
        cmocka_unit_test(everything_that_enters_leaves_once),
        cmocka_unit_test(what_may_not_be_written_yet_waits),
        cmocka_unit_test(the_default_is_no_such_pipeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
