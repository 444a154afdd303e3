/* The SM as a whole: laws of conservation on random programs, counts, epochs, errors. */
#include "../../estimator/warpwatt.h"
#include "../timing/fake_memory.h"
#include "../timing/sm_fixture.h"
#include "random_fixture.h"

#include "../../estimator/base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void random_gpu(struct ww_gpu_spec *g, struct ww_rng *r) {
    g->sm_count = 1 + ww_rng_below(r, 3);
    g->sm_schedulers = 1 + ww_rng_below(r, 4);
    g->sm_issue_width = 1 + ww_rng_below(r, 2);
    g->pipe_fp64_count = 1 + ww_rng_below(r, 2);
    g->front_rf_banks = ww_rng_below(r, 3);
    g->l1_mshrs = 1 + ww_rng_below(r, 8);
    g->l1_mshr_merge = 1 + ww_rng_below(r, 4);
    g->l1_miss_queue = 1 + ww_rng_below(r, 4);
    g->l1_size_kb = 1 + ww_rng_below(r, 3);
    g->l1_ways = 2;
    g->l1_sector = 32u << ww_rng_below(r, 3);
    g->l1_write = ww_rng_below(r, 4);
    g->l1_replace = ww_rng_below(r, 4);
    snprintf(g->l1_way_weights, sizeof g->l1_way_weights, "1,3");
    g->tex_kb = ww_rng_below(r, 3);
    g->tex_ways = 4;
    g->tex_line = 32u << ww_rng_below(r, 3);
    g->tex_mshrs = 1 + ww_rng_below(r, 8);
    g->tex_mshr_merge = 1 + ww_rng_below(r, 4);
    g->tex_read_only_loads = ww_rng_below(r, 2);
    if (g->l1_sector == 32 && ww_rng_below(r, 2)) {
        g->l1_line = 32u << ww_rng_below(r, 3);
        g->lsu_line = 128;
        snprintf(g->l1_index, sizeof g->l1_index, "0x2080");
    }
    g->lsu_queue = 1 + ww_rng_below(r, 4);
    g->lsu_lanes = 16u << ww_rng_below(r, 2);
    g->icache_kb = ww_rng_below(r, 2);
    g->front_fetch_port = ww_rng_below(r, 2);
    g->icache_miss_cycles = 70;
    g->icache_l0_kb = g->icache_kb && ww_rng_below(r, 2);
    g->icache_l0_ways = 2;
    g->icache_l0_miss_cycles = ww_rng_below(r, 20);
    g->icache_stream_lines = ww_rng_below(r, 4);
    g->icache_dram_cycles = ww_rng_below(r, 2) * 90;
    g->l1_global_loads = ww_rng_below(r, 4) != 0;
    g->front_issue_interval = 1 + ww_rng_below(r, 2);
    g->launch_cta_cycles = ww_rng_below(r, 400);
    g->clock_sm_mhz = 700 + ww_rng_below(r, 900);
    fake.most = ww_rng_below(r, 3) ? 0 : 1 + ww_rng_below(r, 6);
    fake.level = ww_rng_below(r, 2) ? WW_LEVEL_L2 : WW_LEVEL_DRAM;
    fake.latency_ps = 1 + ww_rng_below(r, 600000);
}

/* A core as from Volta on, and code whose control fields say anything. */
static void random_control(struct program *p, struct ww_gpu_spec *g, struct ww_rng *r) {
    snprintf(g->arch, sizeof g->arch, "sm_70");
    g->core_dependences = WW_DEPENDENCES_CONTROL;
    g->sm_issue_width = 1;
    g->core_unit_queue = ww_rng_below(r, 4);
    g->core_read_cycles = g->core_read_store_cycles = 1 + ww_rng_below(r, 20);
    g->lsu_sub_queue = ww_rng_below(r, 6);
    g->lsu_sub_cycles = 1 + ww_rng_below(r, 8);
    g->lsu_sub_stages = ww_rng_below(r, 12);
    for (uint32_t i = 0; i < p->launch.inst_count; i++) {
        struct ww_inst *in = &p->inst[i];
        bool counts = ww_rng_below(r, 2);
        if (in->op == WW_OP_NOP || in->op == WW_OP_FP16) {
            in->op = WW_OP_ASYNC_WAIT;
            in->barrier = (uint8_t)ww_rng_below(r, 8);
            in->barrier_threads = (uint16_t)ww_rng_below(r, 4096);
        }
        if (in->op == WW_OP_LOAD && in->space == WW_SPACE_GLOBAL && ww_rng_below(r, 4) == 0) {
            in->op = WW_OP_ASYNC_COPY;
            in->dst_count = 0;
        }
        in->flags |= WW_INST_CONTROL;
        in->control = (struct ww_control){.stall = (uint8_t)ww_rng_below(r, 16),
                                          .yield = (uint8_t)ww_rng_below(r, 2),
                                          .write_barrier = (uint8_t)(counts ? ww_rng_below(r, 8) : 7),
                                          .read_barrier = (uint8_t)ww_rng_below(r, 8),
                                          .wait = (uint8_t)ww_rng_below(r, 64)};
    }
}

static void reset(void) {
    fake.latency_ps = 200000;
    fake.notice_ps = 0;
    fake.level = WW_LEVEL_L2;
    fake.most = 0;
}

/* mech: NULL: only the scheduler; else a pipeline and its parameters, of the SMs that can have one. */
static bool restless;    /* see sm_fixture.h */
static uint32_t threads; /* more than one: of a GPU of 45 SMs */
static bool control;     /* control fields are obeyed */
static bool at_edges;    /* answers come at the very time of an SM's edge */

static void a_random_replay_with(uint64_t seed, const char *const *mech, size_t count, uint32_t epoch,
                                 struct replay *out) {
    struct ww_rng r;
    struct program p;
    struct ww_gpu_spec g = fixture_gpu();
    ww_rng_seed(&r, seed);
    random_gpu(&g, &r);
    if (threads) g.sm_count = 45;
    fake.notice_ps = 0;
    if (at_edges) {
        g.clock_sm_mhz = 1000;
        fake.latency_ps = (fake.latency_ps / 1000 + 2) * 1000;
        fake.notice_ps = 500; /* by then the edge's own event stands in the queue */
    }
    if (count > 1) {
        g.sm_schedulers = g.sm_issue_width = 1;
        g.pipe_fp64_count = g.pipe_fp32_count = g.pipe_fp16_count = 1;
        g.pipe_int_count = g.pipe_imul_count = g.pipe_sfu_count = 1;
        g.shared_banks = 8;
    }
    uint32_t warps = 1 + ww_rng_below(&r, 4);
    program_init(&p, 1 + ww_rng_below(&r, threads ? 120 : 20), 32 * warps - 16, 3, 100);
    random_instructions(&p, &r);
    random_streams(&p, &r);
    if (control) random_control(&p, &g, &r);
    p.restless = restless;
    p.threads = threads;
    *out = program_run_mech(&p, &g, mech, count, epoch);
    if (out->code != WW_OK) fail_msg("seed %d: %s %s", (int)seed, out->error.where, out->error.text);
    assert_int_equal(fake.sectors - fake.atomic_sectors,
                     out->r.counter[WW_C_L1_SECTOR_MISS] + out->r.counter[WW_C_TEX_SECTOR_MISS] +
                         out->r.counter[WW_C_PREFETCH_SECTOR] + out->r.counter[WW_C_L1_SECTOR_WRITE]);
    program_free(&p);
}

static void a_random_replay(uint64_t seed, const char *sched, uint32_t epoch, struct replay *out) {
    char text[64];
    const char *const mech = text;
    snprintf(text, sizeof text, "sched=%s", sched);
    a_random_replay_with(seed, &mech, 1, epoch, out);
}

static void the_laws_hold_on_random_programs_and_gpus(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct replay r;
        a_random_replay(seed, seed & 1 ? "gto" : "lrr", seed % 3 ? 128 : 4096, &r);
        replay_free(&r);
    }
    reset();
}

static void the_laws_hold_where_control_fields_are_obeyed(void **state) {
    (void)state;
    uint64_t waits = 0;
    control = true;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct replay r;
        a_random_replay(seed, seed & 1 ? "cggty" : "lrr", seed % 3 ? 128 : 4096, &r);
        waits += r.r.warp_cycles[WW_S_WAIT_STALL] > 0 && r.r.warp_cycles[WW_S_WAIT_READ] > 0;
        replay_free(&r);
    }
    control = false;
    assert_true(waits > 100);
    reset();
}

static void empty_steps_change_nothing_where_control_fields_are_obeyed(void **state) {
    (void)state;
    control = true;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct replay a, b;
        a_random_replay(seed, "cggty", 128, &a);
        restless = true;
        a_random_replay(seed, "cggty", 128, &b);
        restless = false;
        assert_int_equal(a.r.cycles, b.r.cycles);
        assert_memory_equal(a.r.warp_cycles, b.r.warp_cycles, sizeof a.r.warp_cycles);
        assert_memory_equal(a.r.slot, b.r.slot, sizeof a.r.slot);
        replay_free(&a);
        replay_free(&b);
    }
    control = false;
    reset();
}

static void the_laws_hold_for_every_barrel_pipeline(void **state) {
    (void)state;
    static const char *const pipe[] = {"pipe=unified", "pipe=split", "pipe=elastic"};
    static const char *const barrel[] = {"pipe.barrel=strict", "pipe.barrel=out_of_order",
                                         "pipe.barrel=in_order"};
    static const char *const aware[] = {"pipe.aware=off", "pipe.aware=safe", "pipe.aware=anyway"};
    static const char *const width[] = {"pipe.width=4", "pipe.width=8", "pipe.width=32"};
    static const char *const other[] = {"pipe.ports=1", "pipe.ports=2", "pipe.memory=2", "pipe.stages=48"};
    for (uint64_t seed = 1; seed <= 324; seed++) {
        const char *const mech[] = {pipe[seed % 3],       barrel[seed / 3 % 3], aware[seed / 9 % 3],
                                    width[seed / 27 % 3], other[seed / 81 % 4], "sched=lrr"};
        struct replay r;
        a_random_replay_with(seed, mech, 6, 128, &r);
        const uint64_t *n = r.r.counter;
        uint64_t parts = seed / 27 % 3 == 0 ? 8 : seed / 27 % 3 == 1 ? 4 : 1;
        assert_int_equal(n[WW_C_PIPE_FETCH_CYCLES], parts * r.r.warp_instructions);
        replay_free(&r);
    }
    reset();
}

static void assert_same(const struct replay *a, const struct replay *b) {
    assert_int_equal(a->r.cycles, b->r.cycles);
    for (int i = 0; i < WW_COUNTER_COUNT; i++)
        if (a->r.counter[i] != b->r.counter[i])
            fail_msg("%s: %llu, %llu", ww_counter_name((enum ww_counter)i), (unsigned long long)a->r.counter[i],
                     (unsigned long long)b->r.counter[i]);
    assert_memory_equal(a->r.warp_cycles, b->r.warp_cycles, sizeof a->r.warp_cycles);
    assert_memory_equal(a->r.slot, b->r.slot, sizeof a->r.slot);
    assert_int_equal(a->r.epoch_count, b->r.epoch_count);
    assert_memory_equal(a->r.epoch, b->r.epoch, a->r.epoch_count * sizeof *a->r.epoch);
    assert_int_equal(a->r.pc_count, b->r.pc_count);
    for (size_t i = 0; i < a->r.pc_count; i++) {
        assert_memory_equal(a->r.pc[i].stall, b->r.pc[i].stall, sizeof a->r.pc[i].stall);
        assert_int_equal(a->r.pc[i].counter[WW_I_L2_MISS], b->r.pc[i].counter[WW_I_L2_MISS]);
    }
}

/* What happens depends on time alone, not on which SMs are looked at when. */
static void steps_in_which_nothing_can_happen_change_nothing(void **state) {
    (void)state;
    static const char *const mech[] = {"sched=gto",       "sched=lrr",       "sched=mascar",   "lsu=reexecute",
                                       "sched=two_level", "governor=static", "fetch=stride_sm"};
    for (uint64_t seed = 700; seed < 840; seed++) {
        struct replay a, b;
        at_edges = seed % 2;
        restless = false;
        a_random_replay_with(seed, &mech[seed % 7], 1, 128, &a);
        restless = true;
        a_random_replay_with(seed, &mech[seed % 7], 1, 128, &b);
        restless = at_edges = false;
        assert_same(&a, &b);
        replay_free(&a);
        replay_free(&b);
    }
    reset();
}

static void any_number_of_threads_gives_the_same(void **state) {
    (void)state;
    static const char *const mech[] = {"sched=gto",       "sched=lrr", "sched=mascar",    "lsu=reexecute",
                                       "sched=two_level", "sched=owl", "fetch=stride_sm", "fetch=apogee"};
    static const uint32_t several[] = {2, 3, 8, 13};
    for (uint64_t seed = 900; seed < 964; seed++) {
        struct replay a, b;
        at_edges = seed % 3 == 0;
        threads = 1;
        a_random_replay_with(seed, &mech[seed % 8], 1, 128, &a);
        threads = several[seed / 8 % 4];
        a_random_replay_with(seed, &mech[seed % 8], 1, 128, &b);
        assert_same(&a, &b);
        replay_free(&a);
        replay_free(&b);
    }
    threads = 0;
    at_edges = false;
    reset();
}

static void a_replay_gives_the_same_again(void **state) {
    (void)state;
    for (uint64_t seed = 500; seed < 520; seed++) {
        struct replay a, b;
        a_random_replay(seed, "gto", 128, &a);
        a_random_replay(seed, "gto", 128, &b);
        assert_int_equal(a.r.cycles, b.r.cycles);
        assert_memory_equal(a.r.counter, b.r.counter, sizeof a.r.counter);
        assert_memory_equal(a.r.warp_cycles, b.r.warp_cycles, sizeof a.r.warp_cycles);
        assert_int_equal(a.r.epoch_count, b.r.epoch_count);
        assert_memory_equal(a.r.epoch, b.r.epoch, a.r.epoch_count * sizeof *a.r.epoch);
        replay_free(&a);
        replay_free(&b);
    }
    reset();
}

/* The length of an epoch cuts the time; it does not change it. */
static void epochs_cut_what_is_there(void **state) {
    (void)state;
    for (uint64_t seed = 600; seed < 620; seed++) {
        struct replay a, b;
        a_random_replay(seed, "gto", 1, &a);
        a_random_replay(seed, "gto", 1u << 20, &b);
        assert_int_equal(a.r.cycles, b.r.cycles);
        assert_int_equal(a.r.epoch_count, a.r.cycles);
        assert_int_equal(b.r.epoch_count, (b.r.cycles + (1u << 20) - 1) >> 20);
        assert_memory_equal(a.r.warp_cycles, b.r.warp_cycles, sizeof a.r.warp_cycles);
        replay_free(&a);
        replay_free(&b);
    }
    reset();
}

/* A wait that is attributed when the load comes back falls into the epochs in which it was waited. */
static void a_long_wait_is_split_over_its_epochs(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    reset();
    program_init(&p, 1, 32, 1, 2);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 2);
    program_access(&p, 0, load, ALL, 4096, 4);
    program_step(&p, 0, program_inst(&p, WW_OP_INT, 3, 1, -1), ALL);
    struct replay r = program_run_with(&p, &g, "gto", 100);
    assert_int_equal(r.code, WW_OK);
    assert_int_equal(r.r.cycles, 1 + 200 + 30 + 1);
    assert_int_equal(r.r.epoch[0].warp_cycles[WW_S_WAIT_L2], 99);
    assert_int_equal(r.r.epoch[1].warp_cycles[WW_S_WAIT_L2], 100);
    assert_int_equal(r.r.epoch[2].warp_cycles[WW_S_WAIT_L2], 31);
    assert_int_equal(r.r.epoch[2].cycles, 32);
    replay_free(&r);
    program_free(&p);
}

static void lanes_are_counted_by_active_mask(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 40, 1, 4);
    uint32_t add = program_inst(&p, WW_OP_FP32, 1, 2, 3);
    program_step(&p, 0, add, ALL);
    program_step(&p, 0, add, 0x3);
    program_step(&p, 1, add, 0xff);
    program_step(&p, 1, add, 0);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_LANE_FP32], 32 + 2 + 8);
    assert_int_equal(r.r.counter[WW_C_LANE_FP32_ADD], 32 + 2 + 8);
    assert_int_equal(r.r.thread_instructions, 42);
    assert_int_equal(r.r.counter[WW_C_REG_READ], 4 * 2);
    assert_int_equal(r.r.counter[WW_C_REG_WRITE], 4);
    replay_free(&r);
    program_free(&p);
}

static void a_branch_that_leaves_fewer_lanes_is_divergent(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 6);
    uint32_t nop = program_inst(&p, WW_OP_NOP, -1, -1, -1), br = program_inst(&p, WW_OP_BRANCH, -1, -1, -1);
    p.inst[br].flags = WW_INST_BRANCH_COND;
    program_step(&p, 0, nop, ALL);
    program_step(&p, 0, br, ALL);
    program_step(&p, 0, nop, 0xff);
    program_step(&p, 0, nop, ALL);
    program_step(&p, 0, br, ALL);
    program_step(&p, 0, nop, ALL);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_BRANCH], 2);
    assert_int_equal(r.r.counter[WW_C_BRANCH_DIVERGENT], 1);
    replay_free(&r);
    program_free(&p);
}

static void an_empty_warp_ends_at_once(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 3, 64, 1, 2);
    program_step(&p, 0, program_inst(&p, WW_OP_NOP, -1, -1, -1), ALL);
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.warp_instructions, 3);
    assert_int_equal(r.r.warp_cycles[WW_S_DONE], 3);
    replay_free(&r);
    program_free(&p);
}

static void a_barrier_that_cannot_complete_is_an_input_error(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 64, 1, 2);
    uint32_t bar = program_inst(&p, WW_OP_BARRIER, -1, -1, -1);
    p.inst[bar].barrier = 2;
    p.inst[bar].barrier_threads = 64;
    program_step(&p, 1, bar, ALL);
    program_step(&p, 1, program_inst(&p, WW_OP_NOP, -1, -1, -1), ALL);
    struct replay r = program_run_with(&p, &g, "gto", 4096);
    assert_int_equal(r.code, WW_INPUT);
    assert_string_equal(r.error.where, "CTA 0, warp 1, pc 0x0");
    assert_non_null(strstr(r.error.text, "barrier 2: 1 warps have arrived, expected 2"));
    replay_free(&r);
    program_free(&p);
}

static bool stop(void *context, double part, uint64_t done, const char *unit) {
    (void)part;
    (void)unit;
    *(uint64_t *)context = done;
    return false;
}

static enum ww_code no_load(void *context, uint64_t cta, struct ww_cta_trace *out, struct ww_error *error) {
    const struct program *p = context;
    *out = (struct ww_cta_trace){.index = cta, .warp_count = 1, .warp = p->stream};
    return cta < 3 ? WW_OK : ww_fail(error, WW_IO, "here", "no more");
}

static void no_release(void *context, struct ww_cta_trace *cta) {
    (void)context;
    (void)cta;
}

static uint64_t odd(void *context, uint64_t cta) {
    (void)context;
    return cta | 1;
}

static uint64_t any(void *context, uint64_t cta) {
    (void)context;
    return cta;
}

static enum ww_code replay_source(struct program *p, uint64_t (*next)(void *, uint64_t),
                                  ww_progress_fn progress, void *context, struct ww_launch_result *out,
                                  struct ww_error *error) {
    struct ww_gpu_spec g = fixture_gpu();
    struct ww_engine_options options = {.gpu = &g, .progress = progress, .progress_context = context};
    struct ww_cta_source source = {p, no_load, no_release, next};
    struct ww_arena arena;
    struct ww_engine *engine;
    ww_arena_init(&arena, 0);
    assert_int_equal(ww_engine_new(&options, &engine, error), WW_OK);
    enum ww_code code = ww_engine_replay(engine, &p->launch, &source, &arena, out, error);
    struct ww_error second;
    enum ww_code again = ww_engine_replay(engine, &p->launch, &source, &arena, out, &second);
    assert_int_equal(again, code == WW_OK ? WW_OK : WW_USAGE); /* a failed launch ends the engine's life */
    ww_engine_free(engine);
    ww_arena_free(&arena);
    return code;
}

static void progress_may_stop_a_replay(void **state) {
    (void)state;
    struct program p;
    struct ww_launch_result out = {0};
    struct ww_error error;
    uint64_t done = 0;
    program_init(&p, 1, 32, 1, 300000);
    uint32_t nop = program_inst(&p, WW_OP_NOP, -1, -1, -1);
    for (int i = 0; i < 300000; i++) program_step(&p, 0, nop, ALL);
    assert_int_equal(replay_source(&p, any, stop, &done, &out, &error), WW_FAIL);
    assert_true(done >= 1u << 14 && done < 1u << 18);
    assert_true(done < 300000);
    program_free(&p);
}

static void an_error_of_the_trace_ends_the_launch(void **state) {
    (void)state;
    struct program p;
    struct ww_launch_result out = {0};
    struct ww_error error;
    program_init(&p, 10, 32, 1, 4);
    program_all(&p, program_inst(&p, WW_OP_NOP, -1, -1, -1));
    assert_int_equal(replay_source(&p, any, NULL, NULL, &out, &error), WW_IO);
    assert_string_equal(error.where, "here");
    program_free(&p);
}

static void ctas_that_a_slice_leaves_out_are_passed_over(void **state) {
    (void)state;
    struct program p;
    struct ww_launch_result out = {0};
    struct ww_error error;
    program_init(&p, 3, 32, 1, 4);
    program_all(&p, program_inst(&p, WW_OP_NOP, -1, -1, -1));
    assert_int_equal(replay_source(&p, odd, NULL, NULL, &out, &error), WW_OK);
    assert_int_equal(out.counter[WW_C_CTA_LAUNCHED], 1);
    program_free(&p);
}

static void a_malformed_width_is_an_input_error(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    program_init(&p, 1, 32, 1, 2);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 12, 1, 2);
    program_access(&p, 0, load, ALL, 4096, 4);
    struct replay r = program_run_with(&p, &g, "gto", 4096);
    assert_int_equal(r.code, WW_INPUT);
    replay_free(&r);
    program_free(&p);
}

static void a_unified_l1_gives_up_what_shared_memory_takes(void **state) {
    (void)state;
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    reset();
    g.l1_unified = true;
    g.l1_size_kb = 48;
    g.l1_ways = 48;
    g.sm_max_ctas = 1;
    program_init(&p, 1, 32, 1, 128);
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 1);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 24; i++) program_access(&p, 0, load, ALL, 128u * 8 * i, 4); /* one set */
    g.l1_hash = WW_HASH_NONE;
    struct replay r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 24 * 4);
    replay_free(&r);
    p.launch.shared_static = 40 * 1024; /* 8 ways are left */
    r = program_run(&p, &g);
    assert_int_equal(r.r.counter[WW_C_L1_SECTOR_HIT], 0);
    replay_free(&r);
    program_free(&p);
}

/* Hits of 24 lines of one set that are loaded twice, in an L1 of 48 ways of a KiB. */
static uint64_t hits_beside(const char *carveouts, uint32_t shared_kb) {
    struct ww_gpu_spec g = fixture_gpu();
    struct program p;
    reset();
    g.l1_unified = true;
    g.l1_size_kb = 48;
    g.l1_ways = 48;
    snprintf(g.l1_carveouts, sizeof g.l1_carveouts, "%s", carveouts);
    g.sm_max_ctas = 1;
    g.l1_hash = WW_HASH_NONE;
    program_init(&p, 1, 32, 1, 128);
    p.launch.shared_static = shared_kb * 1024;
    uint32_t load = program_memory(&p, WW_OP_LOAD, WW_SPACE_GLOBAL, 4, 1, 1);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 24; i++) program_access(&p, 0, load, ALL, 128u * 8 * i, 4);
    struct replay r = program_run(&p, &g);
    uint64_t hits = r.r.counter[WW_C_L1_SECTOR_HIT];
    replay_free(&r);
    program_free(&p);
    return hits;
}

static void a_carve_out_is_the_least_that_the_ctas_fit_in(void **state) {
    (void)state;
    assert_int_equal(hits_beside("", 20), 24 * 4);
    assert_int_equal(hits_beside("16,40", 16), 24 * 4); /* 32 ways are left */
    assert_int_equal(hits_beside("16,40", 17), 0);      /* 8 */
    assert_int_equal(hits_beside("40", 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_laws_hold_on_random_programs_and_gpus),
        cmocka_unit_test(the_laws_hold_where_control_fields_are_obeyed),
        cmocka_unit_test(empty_steps_change_nothing_where_control_fields_are_obeyed),
        cmocka_unit_test(the_laws_hold_for_every_barrel_pipeline),
        cmocka_unit_test(a_replay_gives_the_same_again),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(steps_in_which_nothing_can_happen_change_nothing),
        cmocka_unit_test(epochs_cut_what_is_there),
        cmocka_unit_test(a_long_wait_is_split_over_its_epochs),
        cmocka_unit_test(lanes_are_counted_by_active_mask),
        cmocka_unit_test(a_branch_that_leaves_fewer_lanes_is_divergent),
        cmocka_unit_test(an_empty_warp_ends_at_once),
        cmocka_unit_test(a_barrier_that_cannot_complete_is_an_input_error),
        cmocka_unit_test(progress_may_stop_a_replay),
        cmocka_unit_test(an_error_of_the_trace_ends_the_launch),
        cmocka_unit_test(ctas_that_a_slice_leaves_out_are_passed_over),
        cmocka_unit_test(a_malformed_width_is_an_input_error),
        cmocka_unit_test(a_unified_l1_gives_up_what_shared_memory_takes),
        cmocka_unit_test(a_carve_out_is_the_least_that_the_ctas_fit_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
