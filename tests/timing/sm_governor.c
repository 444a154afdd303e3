/* What the engine does with a governor's decisions: clock changes at their cycle, paused CTAs, limits on CTAs,
 * samples, and segments with their time. */
#include "../../estimator/warpwatt.h"
#include "fake_memory.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- a governor that does what a test says ---- */

enum { MOST_EPOCHS = 64 };

static struct {
    struct ww_governor_plan plan;
    uint32_t limit[MOST_EPOCHS];             /* from the end of an epoch on; 0: no change */
    double clock[MOST_EPOCHS];               /* of the SMs; 0: no change */
    struct ww_governor_sm seen[MOST_EPOCHS]; /* SM 0 */
    struct ww_governor_epoch epoch[MOST_EPOCHS];
    uint32_t decided, first_limit;
} script;

static void script_plan(const void *settings, struct ww_governor_plan *plan) {
    (void)settings;
    *plan = script.plan;
}

static void script_start(void *state, void *sm_state, const void *settings,
                         const struct ww_governor_launch *launch, struct ww_governor_decision *decision) {
    (void)state;
    (void)sm_state;
    (void)settings;
    for (uint32_t i = 0; i < launch->sms; i++)
        decision->limit[i] = script.first_limit ? script.first_limit : launch->most;
}

static void script_decide(void *state, void *sm_state, const void *settings,
                          const struct ww_governor_epoch *epoch, struct ww_governor_decision *decision) {
    uint32_t n = script.decided++;
    (void)state;
    (void)sm_state;
    (void)settings;
    if (n >= MOST_EPOCHS) return;
    script.seen[n] = epoch->sm[0];
    script.epoch[n] = *epoch;
    if (script.limit[n])
        for (uint32_t i = 0; i < epoch->sms; i++) decision->limit[i] = script.limit[n];
    if (script.clock[n] > 0) decision->clock[WW_DOMAIN_SM] = script.clock[n];
}

static const struct ww_governor_ops scripted = {
    .info = {.kind = WW_KIND_GOVERNOR, .name = "scripted"},
    .plan = script_plan,
    .start = script_start,
    .decide = script_decide,
};

static void script_reset(uint32_t epoch, uint32_t sample, uint32_t transition) {
    memset(&script, 0, sizeof script);
    script.plan = (struct ww_governor_plan){epoch, sample, transition};
}

/* ---- replays ---- */

struct governed {
    struct replay replay;
    struct ww_segment *segment;
    size_t count;
};

static enum ww_code load(void *context, uint64_t cta, struct ww_cta_trace *out, struct ww_error *error) {
    struct program *p = context;
    (void)error;
    out->index = cta;
    out->warp_count = p->launch.warps_per_cta;
    out->warp = p->stream + (cta % p->variants) * p->launch.warps_per_cta;
    return WW_OK;
}

static void release(void *context, struct ww_cta_trace *cta) {
    (void)context;
    (void)cta;
}

static uint64_t next(void *context, uint64_t cta) {
    const struct program *p = context;
    return cta < p->launch.cta_count ? cta : UINT64_MAX;
}

/* Replays `launches` times; the last one counts. ops NULL: no governor. */
static struct governed run_with(struct program *p, const struct ww_gpu_spec *gpu,
                                const struct ww_governor_ops *ops, int launches) {
    struct governed r;
    struct ww_engine *engine;
    struct ww_mech_choice choice[WW_KIND_COUNT] = {{0}};
    struct ww_cta_source source = {p, load, release, next};
    memset(&r, 0, sizeof r);
    ww_arena_init(&r.replay.arena, 0);
    if (ops) choice[WW_KIND_GOVERNOR].info = &ops->info;
    struct ww_engine_options options = {
        .gpu = gpu, .mechanism = choice, .epoch_cycles = 256, .per_pc = true, .segments = true};
    assert_int_equal(ww_engine_new(&options, &engine, &r.replay.error), WW_OK);
    for (int i = 0; i < launches; i++) {
        r.replay.code =
            ww_engine_replay(engine, &p->launch, &source, &r.replay.arena, &r.replay.r, &r.replay.error);
        if (r.replay.code != WW_OK) break;
        check_laws(p, gpu, &r.replay.r);
    }
    const struct ww_segment *segment = ww_engine_segments(engine, &r.count);
    r.segment = calloc(r.count + 1, sizeof *segment);
    assert_non_null(r.segment);
    if (r.count) memcpy(r.segment, segment, r.count * sizeof *segment);
    ww_engine_free(engine);
    return r;
}

static struct governed run(struct program *p, const struct ww_gpu_spec *gpu) {
    struct governed r = run_with(p, gpu, &scripted, 1);
    if (r.replay.code != WW_OK) fail_msg("%s: %s", r.replay.error.where, r.replay.error.text);
    return r;
}

static void governed_free(struct governed *r) {
    replay_free(&r->replay);
    free(r->segment);
}

/* One warp a CTA that issues an independent instruction a cycle, `steps` of them. */
static void make_stream(struct program *p, uint32_t ctas, uint32_t steps) {
    program_init(p, ctas, 32, 1, steps);
    uint32_t i = program_inst(p, WW_OP_INT, -1, -1, -1);
    for (uint32_t k = 0; k < steps; k++) program_all(p, i);
}

/* One SM of one scheduler that issues one instruction a cycle. */
static struct ww_gpu_spec one_scheduler(void) {
    struct ww_gpu_spec g = fixture_gpu();
    g.sm_schedulers = 1;
    g.pipe_int_count = g.pipe_imul_count = g.pipe_fp32_count = 1;
    g.pipe_fp16_count = g.pipe_fp64_count = g.pipe_sfu_count = 1;
    g.front_ibuffer = 16;
    return g;
}

/* ---- clocks ---- */

static void a_clock_changes_the_transition_after_the_decision(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler(); /* 1000 MHz: 1000 ps a cycle */
    struct program p;
    make_stream(&p, 1, 1000);
    script_reset(128, 32, 200);
    script.clock[0] = 0.5;
    struct governed r = run(&p, &g);
    const struct ww_launch_result *l = &r.replay.r;
    assert_int_equal(l->cycles, 1000);
    assert_int_equal(l->point_count, 2);
    assert_int_equal(l->point[1].cycle, 128 + 200);
    assert_int_equal(l->point[1].time_ps, 328000);
    assert_float_equal(l->point[1].mhz[WW_DOMAIN_SM], 500, 1e-9);
    assert_int_equal(l->time_ps, 328000 + (1000 - 328) * 2000);
    governed_free(&r);
    program_free(&p);
}

static void a_transition_of_no_cycles_changes_the_clock_at_the_end_of_the_epoch(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    make_stream(&p, 1, 300);
    script_reset(128, 32, 0);
    script.clock[0] = 0.5;
    struct governed r = run(&p, &g);
    assert_int_equal(r.replay.r.point[1].cycle, 128);
    assert_int_equal(r.replay.r.time_ps, 128000 + 172 * 2000);
    governed_free(&r);
    program_free(&p);
}

/* The warp waits for a load of 10 us, a time in which the SM does nothing. */
static void a_clock_changes_at_its_time_inside_a_skipped_interval(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    fake.latency_ps = 10000000;
    program_init(&p, 1, 32, 1, 4);
    uint32_t ld = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 2, 1, -1);
    program_access(&p, 0, ld, ALL, 0x1000, 4);
    program_step(&p, 0, use, ALL);
    script_reset(1024, 256, 512);
    struct governed plain = run(&p, &g);
    script_reset(1024, 256, 512);
    script.clock[0] = 2;
    struct governed r = run(&p, &g);
    /* until cycle 1536 as without; from then on two cycles in the time of one */
    uint64_t rest = plain.replay.r.cycles - 1536;
    assert_int_equal(r.replay.r.point[1].cycle, 1536);
    assert_in_range(r.replay.r.cycles, 1536 + 2 * rest - 40, 1536 + 2 * rest);
    assert_in_range(stall(&r.replay, use, WW_S_WAIT_L2), r.replay.r.cycles - 60, r.replay.r.cycles);
    governed_free(&plain);
    governed_free(&r);
    fake.latency_ps = 200000;
    program_free(&p);
}

/* ---- segments ---- */

static void pieces_lie_one_behind_the_other_and_add_up(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    make_stream(&p, 3, 700);
    script_reset(128, 32, 50);
    script.clock[0] = 0.5;
    script.clock[2] = 1.5;
    script.limit[1] = 1;
    struct governed r = run(&p, &g);
    uint64_t cycle = 0, ps = 0, sum[WW_COUNTER_COUNT] = {0};
    for (size_t i = 0; i < r.count; i++) {
        const struct ww_segment *k = &r.segment[i];
        assert_int_equal(k->first_cycle, cycle);
        double period = 1e6 / k->mhz[WW_DOMAIN_SM];
        assert_in_range(k->time_ps, (uint64_t)((double)k->cycles * period) - 2,
                        (uint64_t)((double)k->cycles * period) + 2);
        cycle += k->cycles;
        ps += k->time_ps;
        for (int c = 0; c < WW_COUNTER_COUNT; c++) sum[c] += k->counter[c];
    }
    assert_int_equal(cycle, r.replay.r.cycles);
    assert_int_equal(ps, r.replay.r.time_ps);
    assert_memory_equal(sum, r.replay.r.counter, sizeof sum);
    governed_free(&r);
    program_free(&p);
}

static void a_piece_counts_the_instructions_of_its_cycles(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    make_stream(&p, 1, 600);
    struct governed r = run_with(&p, &g, NULL, 1);
    assert_int_equal(r.count, 3); /* epochs of 256 cycles */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(r.segment[i].counter[WW_C_INST_ISSUED], r.replay.r.epoch[i].warp_instructions);
        assert_int_equal(r.segment[i].counter[WW_C_LANE_INT], 32 * r.segment[i].counter[WW_C_INST_ISSUED]);
        assert_int_equal(r.segment[i].counter[WW_C_SM_ACTIVE_CYCLES], i < 2 ? 256 : 600 - 512);
    }
    assert_int_equal(r.segment[0].counter[WW_C_INST_ISSUED], 256);
    governed_free(&r);
    program_free(&p);
}

static void cutting_pieces_changes_no_result(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 6, 64, 1, 64);
    uint32_t ld = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 2, 1, -1);
    for (uint32_t k = 0; k < 30; k++)
        for (uint32_t w = 0; w < 2; w++) {
            program_access(&p, w, ld, ALL, 0x1000 * (k + 40 * w), 4);
            program_step(&p, w, use, ALL);
        }
    struct replay without = program_run_with(&p, &g, "gto", 256);
    struct governed with = run_with(&p, &g, NULL, 1);
    assert_true(with.count > 4);
    assert_int_equal(without.r.cycles, with.replay.r.cycles);
    assert_int_equal(without.r.time_ps, with.replay.r.time_ps);
    assert_memory_equal(without.r.counter, with.replay.r.counter, sizeof without.r.counter);
    assert_memory_equal(without.r.warp_cycles, with.replay.r.warp_cycles, sizeof without.r.warp_cycles);
    replay_free(&without);
    governed_free(&with);
    program_free(&p);
}

/* ---- CTAs ---- */

static void a_lowered_limit_pauses_the_youngest_cta_until_an_older_one_ends(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    make_stream(&p, 2, 400);
    script_reset(128, 32, 0);
    script.limit[0] = 1;
    struct governed r = run(&p, &g);
    /* 128 cycles for both, then the first alone to its end, then the second */
    assert_int_equal(r.replay.r.cycles, 800);
    assert_true(r.replay.r.warp_cycles[WW_S_PAUSED] >= 250);
    assert_true(r.replay.r.warp_cycles[WW_S_PAUSED] <= 400 - 128);
    assert_int_equal(script.seen[1].running, 1);
    assert_int_equal(script.seen[1].paused, 1);
    governed_free(&r);
    program_free(&p);
}

static void a_raised_limit_lets_a_paused_cta_go_on(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    make_stream(&p, 2, 400);
    script_reset(128, 32, 0);
    script.limit[0] = 1;
    script.limit[1] = 2;
    struct governed r = run(&p, &g);
    assert_int_equal(r.replay.r.warp_cycles[WW_S_PAUSED], 128);
    assert_int_equal(script.seen[2].running, 2);
    governed_free(&r);
    program_free(&p);
}

static void no_new_cta_is_asked_for_while_one_is_paused(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    g.sm_max_ctas = 2;
    make_stream(&p, 4, 200);
    script_reset(64, 32, 0);
    script.limit[0] = 1;
    struct governed r = run(&p, &g);
    assert_int_equal(r.replay.r.cycles, 800);
    for (uint32_t i = 1; i < script.decided && i < 10; i++) assert_int_equal(script.seen[i].running, 1);
    /* the second CTA ends before a third one comes: then none is paused any more */
    assert_int_equal(script.seen[script.decided - 1].paused, 0);
    governed_free(&r);
    program_free(&p);
}

static void a_raised_limit_asks_for_a_new_cta(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    make_stream(&p, 4, 400);
    script_reset(128, 32, 0);
    script.first_limit = 1;
    script.limit[1] = 3;
    struct governed r = run(&p, &g);
    assert_int_equal(script.seen[0].running, 1);
    assert_int_equal(script.seen[1].running, 1);
    assert_int_equal(script.seen[2].running, 3);
    governed_free(&r);
    program_free(&p);
}

static void a_limit_is_brought_within_its_bounds(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    make_stream(&p, 4, 300);
    script_reset(128, 32, 0);
    script.limit[0] = 1000;
    script.clock[0] = 1e9;
    struct governed r = run(&p, &g);
    assert_int_equal(script.seen[1].limit, r.replay.r.ctas_per_sm);
    assert_float_equal(r.replay.r.point[1].mhz[WW_DOMAIN_SM], 4000, 1e-6);
    governed_free(&r);
    program_free(&p);
}

/* Both CTAs have a load under way when the second one is paused. */
static void requests_of_a_paused_cta_go_on(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    fake.latency_ps = 300000; /* answered in about cycle 330, while it is paused */
    program_init(&p, 2, 32, 2, 600);
    uint32_t ld = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 2, 1, -1), chain = program_inst(&p, WW_OP_INT, 1, 1, -1);
    for (int k = 0; k < 125; k++) program_step(&p, 0, chain, ALL); /* 4 cycles each */
    program_access(&p, 1, ld, ALL, 0x1000, 4);
    program_step(&p, 1, use, ALL);
    script_reset(128, 32, 0);
    script.limit[0] = 1;
    struct governed r = run(&p, &g);
    assert_in_range(stall(&r.replay, use, WW_S_PAUSED), 490 - 128, 502 - 128);
    assert_true(stall(&r.replay, use, WW_S_WAIT_L2) + stall(&r.replay, use, WW_S_WAIT_DRAM) < 130);
    assert_in_range(r.replay.r.cycles, 497, 500); /* the data are used at once when it goes on */
    fake.latency_ps = 200000;
    governed_free(&r);
    program_free(&p);
}

/* Warp 1 of a paused CTA stands at the barrier, warp 0 comes to it before the pause; it opens while paused. */
static void a_barrier_of_a_paused_cta_opens_and_its_warps_stay(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    g.front_barrier_cycles = 100;
    program_init(&p, 2, 64, 2, 600);
    uint32_t nop = program_inst(&p, WW_OP_INT, -1, -1, -1), bar = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    for (int k = 0; k < 300; k++) program_step(&p, 0, nop, ALL);
    program_step(&p, 1, nop, ALL);
    for (uint32_t w = 2; w < 4; w++) {
        program_step(&p, w, bar, ALL);
        program_step(&p, w, nop, ALL);
    }
    script_reset(32, 32, 0);
    script.limit[0] = 1;
    struct governed r = run(&p, &g);
    assert_true(r.replay.r.warp_cycles[WW_S_PAUSED] > 2 * 200);
    governed_free(&r);
    program_free(&p);
}

static void every_random_sequence_of_limits_ends(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    for (uint32_t seed = 1; seed < 12; seed++) {
        struct program p;
        program_init(&p, 12, 64, 1, 64);
        uint32_t ld = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
        uint32_t use = program_inst(&p, WW_OP_INT, 2, 1, -1), bar = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
        for (uint32_t k = 0; k < 15; k++)
            for (uint32_t w = 0; w < 2; w++) {
                program_access(&p, w, ld, ALL, 0x1000 * (k + 40 * w), 4);
                program_step(&p, w, use, ALL);
                program_step(&p, w, bar, ALL);
            }
        script_reset(64 + seed, 16, seed);
        uint32_t x = seed * 2654435761u;
        for (int i = 0; i < MOST_EPOCHS; i++) {
            x = x * 1664525u + 1013904223u;
            script.limit[i] = 1 + (x >> 24) % 8;
            script.clock[i] = 0.5 + (double)((x >> 16) % 8) / 8;
        }
        struct governed a = run(&p, &g); /* check_laws sees that nothing is lost */
        uint32_t decided = script.decided;
        script.decided = 0;
        struct governed b = run(&p, &g);
        assert_int_equal(decided, script.decided);
        assert_int_equal(a.replay.r.cycles, b.replay.r.cycles);
        assert_int_equal(a.replay.r.time_ps, b.replay.r.time_ps);
        governed_free(&a);
        governed_free(&b);
        program_free(&p);
    }
}

/* The last warp leaves in a cycle that is no part of the launch any more; a governor may decide in it. */
static void a_decision_in_any_cycle_up_to_the_end_counts_no_slot_beyond_it(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    uint64_t cycles = 0;
    for (uint32_t epoch = 64; epoch == 64 || epoch <= cycles + 1; epoch++) {
        struct program p;
        make_stream(&p, 1, 80);
        script_reset(epoch, epoch % 2 ? 1 : epoch, 0);
        struct governed r = run(&p, &g); /* check_laws counts the slots */
        cycles = r.replay.r.cycles;
        governed_free(&r);
        program_free(&p);
    }
    assert_in_range(cycles, 65, 200);
}

static void a_stuck_launch_is_told_under_a_governor(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    program_init(&p, 1, 64, 1, 4);
    uint32_t bar = program_inst(&p, WW_OP_BARRIER, -1, -1, -1), nop = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    p.inst[bar].barrier_threads = 64;
    program_step(&p, 0, bar, ALL);
    program_step(&p, 0, nop, ALL);
    program_step(&p, 1, nop, ALL);
    script_reset(128, 32, 0);
    struct governed r = run_with(&p, &g, &scripted, 1);
    assert_int_equal(r.replay.code, WW_INPUT);
    governed_free(&r);
    program_free(&p);
}

/* ---- samples ---- */

static void samples_are_of_their_cycle_also_in_skipped_time(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    fake.latency_ps = 5000000;
    program_init(&p, 1, 96, 1, 4);
    uint32_t ld = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 10);
    uint32_t use = program_inst(&p, WW_OP_INT, 2, 1, -1);
    for (uint32_t w = 0; w < 3; w++) {
        program_access(&p, w, ld, ALL, 0x1000 * w, 4);
        program_step(&p, w, use, ALL);
    }
    script_reset(1024, 128, 0);
    struct governed r = run(&p, &g);
    assert_true(script.decided >= 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(script.epoch[i].cycle, 1024 * (i + 1) - 1);
        assert_int_equal(script.epoch[i].samples, 8);
        assert_int_equal(script.seen[i].active, 3 * 8);
        assert_int_equal(script.seen[i].waiting, 3 * 8);
    }
    assert_in_range(script.seen[1].memory_cycles, 1024, 1024);
    assert_int_equal(script.seen[1].idle_cycles, 0);
    fake.latency_ps = 200000;
    governed_free(&r);
    program_free(&p);
}

/* Four warps for one issue slot: in each cycle one issues and three could. */
static void warps_that_could_issue_and_do_not_are_in_excess(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    program_init(&p, 1, 128, 1, 400);
    uint32_t i = program_inst(&p, WW_OP_INT, -1, -1, -1);
    for (int k = 0; k < 400; k++) program_all(&p, i);
    script_reset(512, 64, 0);
    struct governed r = run(&p, &g);
    assert_int_equal(script.epoch[0].samples, 8);
    assert_in_range(script.seen[0].active, 28, 32);
    assert_in_range(script.seen[0].x_alu, 20, 24);
    assert_int_equal(script.seen[0].x_mem, 0);
    assert_int_equal(script.seen[0].issued, 512);
    governed_free(&r);
    program_free(&p);
}

static void warps_of_paused_ctas_are_not_sampled(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    make_stream(&p, 4, 400);
    script_reset(128, 32, 0);
    script.limit[0] = 1;
    struct governed r = run(&p, &g);
    assert_int_equal(script.seen[0].active, 4 * 4);
    assert_in_range(script.seen[1].active, 3, 4);
    assert_int_equal(script.seen[1].x_alu, 0);
    governed_free(&r);
    program_free(&p);
}

/* ---- over launches ---- */

static void epochs_and_clocks_go_on_over_launches(void **state) {
    (void)state;
    struct ww_gpu_spec g = one_scheduler();
    struct program p;
    make_stream(&p, 1, 100); /* 100 cycles a launch */
    script_reset(256, 64, 0);
    script.clock[0] = 0.5;
    struct governed r = run_with(&p, &g, &scripted, 4);
    /* decided at the end of cycle 55 of the third launch; the clock of the fourth is low from its start */
    assert_int_equal(script.decided, 1);
    assert_int_equal(script.epoch[0].samples, 4);
    assert_int_equal(script.epoch[0].cycle, 255 - 200);
    assert_int_equal(r.replay.r.point_count, 1);
    assert_int_equal(r.replay.r.time_ps, 100 * 2000);
    governed_free(&r);
    program_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_changes_the_transition_after_the_decision),
        cmocka_unit_test(a_transition_of_no_cycles_changes_the_clock_at_the_end_of_the_epoch),
        cmocka_unit_test(a_clock_changes_at_its_time_inside_a_skipped_interval),
        cmocka_unit_test(pieces_lie_one_behind_the_other_and_add_up),
        cmocka_unit_test(a_piece_counts_the_instructions_of_its_cycles),
        cmocka_unit_test(cutting_pieces_changes_no_result),
        cmocka_unit_test(a_lowered_limit_pauses_the_youngest_cta_until_an_older_one_ends),
        cmocka_unit_test(a_raised_limit_lets_a_paused_cta_go_on),
        cmocka_unit_test(no_new_cta_is_asked_for_while_one_is_paused),
        cmocka_unit_test(a_raised_limit_asks_for_a_new_cta),
        cmocka_unit_test(a_limit_is_brought_within_its_bounds),
        cmocka_unit_test(requests_of_a_paused_cta_go_on),
        cmocka_unit_test(a_barrier_of_a_paused_cta_opens_and_its_warps_stay),
        cmocka_unit_test(every_random_sequence_of_limits_ends),
        cmocka_unit_test(a_decision_in_any_cycle_up_to_the_end_counts_no_slot_beyond_it),
        cmocka_unit_test(a_stuck_launch_is_told_under_a_governor),
        cmocka_unit_test(samples_are_of_their_cycle_also_in_skipped_time),
        cmocka_unit_test(warps_that_could_issue_and_do_not_are_in_excess),
        cmocka_unit_test(warps_of_paused_ctas_are_not_sampled),
        cmocka_unit_test(epochs_and_clocks_go_on_over_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
