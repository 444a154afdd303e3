/* The toy machine of figure 4.2: three warps, each two loads and four additions of which the first needs both;
 * a load takes five cycles, one instruction issues a cycle. */
#include "../../../api/gpu.h"
#include "../../../result/result.h"
#include "mascar_toy.h"
#include "../../../core/launch/engine_internal.h"

/* A cycle of the toy is so many SM cycles: steps of our pipeline that the toy does not have (issue to unit,
 * fill to use) are a small part of one. The last cycle begun counts. */
enum { TOY = 32, WARPS = 3, LOADS = 2, ADDS = 4, STEPS = LOADS + ADDS };

struct toy {
    struct ww_inst inst[LOADS + 1];
    struct ww_step step[WARPS][STEPS];
    struct ww_access access[WARPS][LOADS];
    struct ww_warp_stream stream[WARPS];
    struct ww_launch launch;
    uint32_t warps;
};

static enum ww_code load(void *context, uint64_t cta, struct ww_cta_trace *out, struct ww_error *error) {
    struct toy *t = context;
    (void)error;
    *out = (struct ww_cta_trace){.index = cta, .warp_count = t->warps, .warp = t->stream};
    return WW_OK;
}

static void release(void *context, struct ww_cta_trace *cta) {
    (void)context;
    (void)cta;
}

static uint64_t next(void *context, uint64_t cta) {
    (void)context;
    return cta == 0 ? 0 : UINT64_MAX;
}

/* Each load of each warp reads a line in another slice. */
static void make(struct toy *t, uint32_t warps) {
    *t = (struct toy){.warps = warps};
    for (uint16_t i = 0; i < LOADS; i++)
        t->inst[i] = (struct ww_inst){.pc = i * 8u,
                                      .op = WW_OP_LOAD,
                                      .space = WW_SPACE_GLOBAL,
                                      .width = 4,
                                      .flags = WW_INST_ACCESS,
                                      .dst_count = 1,
                                      .dst = {{(uint16_t)(i + 1), 1}}};
    t->inst[LOADS] = (struct ww_inst){.pc = LOADS * 8,
                                      .op = WW_OP_INT,
                                      .dst_count = 1,
                                      .dst = {{9, 1}},
                                      .src_count = 2,
                                      .src = {{1, 1}, {2, 1}}};
    for (uint32_t w = 0; w < WARPS; w++) {
        for (uint32_t i = 0; i < STEPS; i++)
            t->step[w][i] = (struct ww_step){i < LOADS ? i : LOADS, UINT32_MAX};
        for (uint32_t i = 0; i < LOADS; i++)
            t->access[w][i] = (struct ww_access){0x100 * (w * LOADS + i), 4, WW_AFFINE};
        t->stream[w] = (struct ww_warp_stream){
            .step = t->step[w], .step_count = STEPS, .access = t->access[w], .access_count = LOADS};
    }
    t->launch = (struct ww_launch){.kernel = "toy",
                                   .arch = "sm_20",
                                   .grid = {1, 1, 1},
                                   .block = {32 * warps, 1, 1},
                                   .registers_per_thread = 16,
                                   .cta_count = 1,
                                   .warps_per_cta = warps,
                                   .inst = t->inst,
                                   .inst_count = LOADS + 1,
                                   .warp_instructions = warps * STEPS};
}

/* One SM, one scheduler, everything at one clock, nothing that the toy does not have. */
static void simplify(struct ww_gpu_spec *g, uint32_t requests) {
    g->clock_l2_mhz = g->clock_dram_mhz = g->clock_sm_mhz;
    g->sm_count = 1;
    g->sm_schedulers = 1;
    g->sm_warp_unit = 1;
    g->icache_kb = 0;
    g->front_ibuffer = 16;
    g->front_issue_interval = TOY;
    g->pipe_int_count = g->pipe_imul_count = g->pipe_fp32_count = g->pipe_fp16_count = 1;
    g->pipe_int_latency = 4;
    g->l1_latency = 1;
    g->l1_mshrs = requests;
    g->dram_trefi = 0;
    g->dram_latency = 0;
}

static enum ww_code replay(const struct ww_gpu_spec *gpu, const char *const *mechanism, size_t count,
                           uint32_t warps, uint64_t *cycles, struct ww_error *error) {
    struct toy toy;
    struct ww_arena arena;
    struct ww_mech_choice choice[WW_KIND_COUNT];
    struct ww_engine *engine = NULL;
    struct ww_launch_result r = {0};
    struct ww_cta_source source = {&toy, load, release, next};
    make(&toy, warps);
    ww_arena_init(&arena, 0);
    enum ww_code code = ww_mech_resolve(mechanism, count, &arena, choice, error);
    struct ww_engine_options options = {.gpu = gpu, .mechanism = choice};
    if (code == WW_OK) code = ww_engine_new(&options, &engine, error);
    if (code == WW_OK) code = ww_engine_replay(engine, &toy.launch, &source, &arena, &r, error);
    *cycles = r.cycles;
    ww_engine_free(engine);
    ww_arena_free(&arena);
    return code;
}

/* Sets the L2's latency so that a load takes the toy's five cycles, and is used in the sixth: what a lone warp
 * takes is its first load's issue, a second toy cycle for the other load, six to its use, and three more
 * additions. */
static enum ww_code set_load(struct ww_gpu_spec *g, struct ww_error *error) {
    const char *const gto = "sched=gto";
    const uint64_t want = (1 + 6 + ADDS - 1) * TOY + 1;
    uint64_t cycles = 0;
    for (int i = 0; i < 3; i++) {
        WW_TRY(replay(g, &gto, 1, 1, &cycles, error));
        int64_t latency = (int64_t)g->l2_latency + (int64_t)want - (int64_t)cycles;
        if (latency < 1) return ww_fail(error, WW_INTERNAL, "mascar", "a load cannot be as short as the toy's");
        g->l2_latency = (uint32_t)latency;
    }
    g->l2_latency += 2; /* the two steps of our pipeline lie outside of what holds an MSHR */
    return WW_OK;
}

enum ww_code ww_mascar_toy(const char *gpu, const char *const *mechanism, size_t count, uint32_t requests,
                           double *cycles, struct ww_error *error) {
    struct ww_gpu *model = NULL;
    uint64_t taken = 0;
    WW_TRY(ww_gpu_load(gpu, NULL, 0, &model, error));
    struct ww_gpu_spec spec = model->spec;
    ww_gpu_free(model);
    simplify(&spec, requests);
    WW_TRY(set_load(&spec, error));
    WW_TRY(replay(&spec, mechanism, count, WARPS, &taken, error));
    *cycles = (double)((taken + TOY - 1) / TOY);
    return WW_OK;
}
