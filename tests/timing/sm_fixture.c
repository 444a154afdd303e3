#include "../../estimator/warpwatt.h"
#include "sm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct ww_gpu_spec fixture_gpu(void) {
    struct ww_gpu_spec g;
    memset(&g, 0, sizeof g);
    ww_param_defaults(ww_gpu_rows, ww_gpu_row_count, &g);
    g.clock_sm_mhz = g.clock_l2_mhz = 1000;
    g.clock_dram_mhz = 1000;
    g.sm_count = 1;
    g.sm_schedulers = 2;
    g.sm_max_warps = 16;
    g.sm_max_ctas = 8;
    g.sm_max_threads = 512;
    g.sm_registers = 65536;
    g.sm_max_registers_per_thread = 255;
    g.sm_shared_kb = g.sm_shared_per_cta_kb = 48;
    g.front_branch_cycles = 5;
    g.front_ibuffer = 2;
    uint32_t *lanes[] = {&g.pipe_int_lanes,  &g.pipe_imul_lanes, &g.pipe_fp32_lanes,
                         &g.pipe_fp16_lanes, &g.pipe_fp64_lanes, &g.pipe_sfu_lanes};
    uint32_t *count[] = {&g.pipe_int_count,  &g.pipe_imul_count, &g.pipe_fp32_count,
                         &g.pipe_fp16_count, &g.pipe_fp64_count, &g.pipe_sfu_count};
    for (int i = 0; i < 6; i++) {
        *lanes[i] = 32;
        *count[i] = 2;
    }
    g.pipe_fp64_lanes = 8;
    g.pipe_sfu_lanes = 4;
    g.pipe_int_latency = 4;
    g.pipe_imul_latency = 6;
    g.pipe_fp32_latency = 5;
    g.pipe_fp16_latency = 7;
    g.pipe_fp64_latency = 9;
    g.pipe_sfu_latency = 20;
    g.lsu_lanes = 32;
    g.shared_latency = 24;
    g.shared_pass_cycles = 1;
    g.l1_latency = 30;
    g.const_latency = 8;
    g.l1_write = WW_L1_EVICT;
    return g;
}

void program_init(struct program *p, uint32_t ctas, uint32_t threads, uint32_t variants, uint32_t steps) {
    memset(p, 0, sizeof *p);
    uint32_t warps = (threads + 31) / 32, streams = warps * variants;
    p->launch = (struct ww_launch){.kernel = "made_by_hand",
                                   .arch = "sm_70",
                                   .grid = {ctas, 1, 1},
                                   .block = {threads, 1, 1},
                                   .registers_per_thread = 16,
                                   .cta_count = ctas,
                                   .warps_per_cta = warps,
                                   .local_bytes = 64};
    p->launch.inst = p->inst;
    p->variants = variants;
    p->most = steps;
    p->stream = calloc(streams, sizeof *p->stream);
    p->step = calloc((size_t)streams * steps, sizeof *p->step);
    p->access = calloc((size_t)streams * steps, sizeof *p->access);
    p->pool = calloc((size_t)streams * steps * 32, sizeof *p->pool);
    assert_true(p->stream && p->step && p->access && p->pool);
    for (uint32_t i = 0; i < streams; i++) {
        p->stream[i].step = p->step + (size_t)i * steps;
        p->stream[i].access = p->access + (size_t)i * steps;
        p->stream[i].pool = p->pool;
    }
}

void program_free(struct program *p) {
    free(p->stream);
    free(p->step);
    free(p->access);
    free(p->pool);
}

uint32_t program_inst(struct program *p, enum ww_op op, int dst, int src1, int src2) {
    uint32_t i = p->launch.inst_count++;
    struct ww_inst *in = &p->inst[i];
    *in = (struct ww_inst){.pc = i * 16, .op = (uint8_t)op};
    if (dst >= 0) in->dst[in->dst_count++] = (struct ww_operand){(uint16_t)dst, 1};
    if (src1 >= 0) in->src[in->src_count++] = (struct ww_operand){(uint16_t)src1, 1};
    if (src2 >= 0) in->src[in->src_count++] = (struct ww_operand){(uint16_t)src2, 1};
    return i;
}

uint32_t program_memory(struct program *p, enum ww_op op, enum ww_space space, uint32_t width, int dst,
                        int src) {
    uint32_t i = program_inst(p, op, dst, src, -1);
    p->inst[i].space = (uint8_t)space;
    p->inst[i].width = (uint8_t)width;
    p->inst[i].flags = WW_INST_ACCESS;
    return i;
}

void program_step(struct program *p, uint32_t warp, uint32_t inst, uint32_t mask) {
    struct ww_warp_stream *s = &p->stream[warp];
    assert_true(s->step_count < p->most);
    p->step[(size_t)warp * p->most + s->step_count++] = (struct ww_step){inst, mask};
    p->launch.warp_instructions++;
}

void program_all(struct program *p, uint32_t inst) {
    for (uint32_t w = 0; w < p->launch.warps_per_cta * p->variants; w++) program_step(p, w, inst, ALL);
}

void program_access(struct program *p, uint32_t warp, uint32_t inst, uint32_t mask, uint64_t base,
                    int32_t stride) {
    struct ww_warp_stream *s = &p->stream[warp];
    program_step(p, warp, inst, mask);
    p->access[(size_t)warp * p->most + s->access_count++] = (struct ww_access){base, stride, WW_AFFINE};
}

void program_list(struct program *p, uint32_t warp, uint32_t inst, uint32_t mask, const uint64_t *address) {
    struct ww_warp_stream *s = &p->stream[warp];
    program_step(p, warp, inst, mask);
    p->access[(size_t)warp * p->most + s->access_count++] = (struct ww_access){0, 0, p->pool_used};
    for (int i = 0; i < __builtin_popcount(mask); i++) p->pool[p->pool_used++] = address[i];
}

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

struct restless {
    struct ww_event event;
    struct ww_engine *engine;
};

/* Wakes all SMs for the next cycle, again and again until the last CTA has ended. */
static void wake_all(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct restless *r = owner;
    struct ww_core *c = &r->engine->core;
    uint64_t cycle = ww_clock_cycle(&c->clock, now_ps);
    if (c->next_cta >= c->cta_count && c->ended_ctas == c->launched_ctas) return;
    if (cycle <= c->now) cycle = c->now + 1;
    if (c->now < cycle - 1) c->now = cycle - 1;
    for (uint32_t i = 0; i < c->gpu->sm_count; i++)
        if (ww_sm_made(&c->sm[i])) ww_core_wake(c, i, cycle);
    if (cycle < c->tick_cycle) {
        c->tick_cycle = cycle;
        ww_queue_earlier(c->queue, &c->tick, ww_clock_time(&c->clock, cycle));
    }
    ww_queue_add(c->queue, event, now_ps + 100);
}

struct replay program_run_mech(struct program *p, const struct ww_gpu_spec *gpu, const char *const *mech,
                               size_t count, uint32_t epoch_cycles) {
    struct replay r;
    struct ww_engine *engine;
    struct ww_mech_choice choice[WW_KIND_COUNT];
    struct ww_arena settings;
    struct ww_cta_source source = {p, load, release, next};
    memset(&r, 0, sizeof r);
    ww_arena_init(&r.arena, 0);
    ww_arena_init(&settings, 0);
    assert_int_equal(ww_mech_resolve(mech, count, &settings, choice, &r.error), WW_OK);
    struct ww_engine_options options = {.gpu = gpu,
                                        .mechanism = choice,
                                        .epoch_cycles = epoch_cycles,
                                        .per_pc = true,
                                        .probe = p->probe,
                                        .in_step = p->restless || p->in_step,
                                        .code_known = p->code_known,
                                        .fast = p->fast,
                                        .threads = p->threads};
    assert_int_equal(ww_engine_new(&options, &engine, &r.error), WW_OK);
    struct restless restless = {.event = {.fn = wake_all, .owner = &restless}, .engine = engine};
    if (p->restless) ww_queue_add(engine->queue, &restless.event, 1);
    ww_engine_roles(engine, p->roles);
    r.code = ww_engine_replay(engine, &p->launch, &source, &r.arena, &r.r, &r.error);
    ww_engine_free(engine);
    ww_arena_free(&settings);
    if (r.code == WW_OK) check_laws(p, gpu, &r.r);
    return r;
}

struct replay program_run_with(struct program *p, const struct ww_gpu_spec *gpu, const char *sched,
                               uint32_t epoch_cycles) {
    char text[64];
    const char *const mech = text;
    snprintf(text, sizeof text, "sched=%s", sched);
    return program_run_mech(p, gpu, &mech, 1, epoch_cycles);
}

struct replay program_run(struct program *p, const struct ww_gpu_spec *gpu) {
    struct replay r = program_run_with(p, gpu, "gto", 4096);
    if (r.code != WW_OK) fail_msg("%s: %s", r.error.where, r.error.text);
    return r;
}

void replay_free(struct replay *r) {
    ww_arena_free(&r->arena);
}

uint64_t stall(const struct replay *r, uint32_t inst, enum ww_warp_state state) {
    return r->r.pc[inst].stall[state];
}

static uint64_t recorded(const struct program *p) {
    uint64_t sum = 0;
    for (uint64_t c = 0; c < p->launch.cta_count; c++)
        for (uint32_t w = 0; w < p->launch.warps_per_cta; w++)
            sum += p->stream[(c % p->variants) * p->launch.warps_per_cta + w].step_count;
    return sum;
}

static void check_states(const struct ww_launch_result *r) {
    uint64_t all = 0, instructions = 0, cycles = 0;
    for (int s = 0; s < WW_STATE_COUNT; s++) {
        uint64_t epochs = 0, rows = 0;
        for (size_t e = 0; e < r->epoch_count; e++) epochs += r->epoch[e].warp_cycles[s];
        for (size_t i = 0; i < r->pc_count; i++) rows += r->pc[i].stall[s];
        assert_int_equal(r->warp_cycles[s], epochs);
        assert_int_equal(r->warp_cycles[s], rows);
        all += r->warp_cycles[s];
    }
    for (size_t e = 0; e < r->epoch_count; e++) {
        instructions += r->epoch[e].warp_instructions;
        cycles += r->epoch[e].cycles;
    }
    assert_int_equal(all, r->resident_warp_cycles);
    assert_int_equal(instructions, r->warp_instructions);
    assert_int_equal(cycles, r->cycles);
}

static void check_rows(const struct ww_launch_result *r) {
    uint64_t issues = 0, threads = 0, conflicts = 0, sectors = 0;
    const uint64_t *n = r->counter;
    for (size_t i = 0; i < r->pc_count; i++) {
        issues += r->pc[i].counter[WW_I_ISSUES];
        threads += r->pc[i].counter[WW_I_THREAD_INSTRUCTIONS];
        conflicts += r->pc[i].counter[WW_I_SHARED_CONFLICTS];
        sectors += r->pc[i].counter[WW_I_SECTORS];
        assert_true(r->pc[i].counter[WW_I_L1_MISS] <= r->pc[i].counter[WW_I_SECTORS]);
    }
    assert_int_equal(issues, r->warp_instructions);
    assert_int_equal(threads, r->thread_instructions);
    assert_int_equal(conflicts, n[WW_C_SHARED_CONFLICTS]);
    assert_true(sectors >= n[WW_C_L1_SECTOR_READ] + n[WW_C_TEX_SECTOR_READ] + n[WW_C_L1_SECTOR_WRITE]);
}

void check_laws(const struct program *p, const struct ww_gpu_spec *gpu, const struct ww_launch_result *r) {
    const uint64_t *n = r->counter;
    uint64_t slots = 0;
    for (int s = 0; s < WW_SLOT_COUNT; s++) slots += r->slot[s];
    assert_int_equal(slots, (uint64_t)gpu->sm_count * gpu->sm_schedulers * r->cycles);
    assert_int_equal(r->slot[WW_SLOT_ISSUED], r->warp_instructions - n[WW_C_DUAL_ISSUED]);
    assert_int_equal(r->warp_cycles[WW_S_ISSUED], r->slot[WW_SLOT_ISSUED]);
    assert_int_equal(r->warp_instructions, recorded(p));
    assert_int_equal(n[WW_C_CTA_LAUNCHED], p->launch.cta_count);
    assert_int_equal(n[WW_C_SM_ACTIVE_CYCLES] + n[WW_C_SM_IDLE_CYCLES], gpu->sm_count * r->cycles);
    uint64_t pipe = n[WW_C_PIPE_FETCH_CYCLES] + n[WW_C_PIPE_STALL_SCHED] + n[WW_C_PIPE_STALL_CONFLICT] +
                    n[WW_C_PIPE_STALL_OTHER];
    if (pipe) assert_int_equal(pipe, n[WW_C_SM_ACTIVE_CYCLES]);
    assert_int_equal(n[WW_C_L1_SECTOR_READ],
                     n[WW_C_L1_SECTOR_HIT] + n[WW_C_L1_SECTOR_MERGED] + n[WW_C_L1_SECTOR_MISS]);
    assert_int_equal(n[WW_C_TEX_SECTOR_READ],
                     n[WW_C_TEX_SECTOR_HIT] + n[WW_C_TEX_SECTOR_MERGED] + n[WW_C_TEX_SECTOR_MISS]);
    assert_int_equal(n[WW_C_SHARED_PASSES],
                     n[WW_C_MEM_INST_SHARED] + n[WW_C_SHARED_WIDE] + n[WW_C_SHARED_CONFLICTS]);
    assert_int_equal(n[WW_C_PREFETCH_ASKED], n[WW_C_PREFETCH_MERGED] + n[WW_C_PREFETCH_PRESENT] +
                                                 n[WW_C_PREFETCH_DROPPED] + n[WW_C_PREFETCH_SENT]);
    assert_int_equal(n[WW_C_PREFETCH_SENT], n[WW_C_PREFETCH_TIMELY] + n[WW_C_PREFETCH_LATE] +
                                                n[WW_C_PREFETCH_EARLY] + n[WW_C_PREFETCH_USELESS]);
    check_states(r);
    check_rows(r);
}
