#include "../../estimator/warpwatt.h"
#include "stream_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { INSTS_MAX = 128, PROLOGUE = 8, ARRAYS_MAX = 8 };
#define ARRAY_BYTES (1ull << 28) /* from the start of one array to that of the next: boards hold few GB */

struct stream {
    const struct stream_kernel *kernel;
    struct ww_launch launch;
    struct ww_inst inst[INSTS_MAX];
    uint32_t body, tail; /* first instruction of the loop; first after it */
    struct ww_step *step;
    uint32_t steps, accesses; /* of a warp */
    uint64_t base;            /* address of the first array */
};

void stream_load_gpu(const char *name, struct ww_gpu_spec *gpu) {
    struct ww_gpu *loaded = NULL;
    struct ww_error error;
    if (ww_gpu_load(name, NULL, 0, &loaded, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    *gpu = loaded->spec;
    ww_gpu_free(loaded);
}

double stream_peak_gbps(const struct ww_gpu_spec *g) {
    return g->dram_channels * (g->dram_bus_bits / 8.0) * g->dram_data_rate * g->clock_dram_mhz / 1000;
}

static struct ww_inst *add(struct stream *s, enum ww_op op, int dst, int src1, int src2) {
    uint32_t i = s->launch.inst_count++;
    struct ww_inst *in = &s->inst[i];
    assert_true(i < INSTS_MAX);
    *in = (struct ww_inst){.pc = i * 16, .op = (uint8_t)op};
    if (dst >= 0) in->dst[in->dst_count++] = (struct ww_operand){(uint16_t)dst, 1};
    if (src1 >= 0) in->src[in->src_count++] = (struct ww_operand){(uint16_t)src1, 1};
    if (src2 >= 0) in->src[in->src_count++] = (struct ww_operand){(uint16_t)src2, 1};
    return in;
}

static void add_access(struct stream *s, enum ww_op op, int dst, int src1, int src2) {
    struct ww_inst *in = add(s, op, dst, src1, src2);
    in->space = WW_SPACE_GLOBAL;
    in->width = (uint8_t)s->kernel->width;
    in->flags = WW_INST_ACCESS;
}

/* Index and address, the loop's loads, one operation on each word, its stores, its end. */
static void write_code(struct stream *s) {
    const struct stream_kernel *k = s->kernel;
    for (int i = 0; i < PROLOGUE; i++) add(s, WW_OP_INT, 0, 0, -1);
    s->body = s->launch.inst_count;
    for (uint32_t a = 0; a < k->loads; a++)
        for (uint32_t w = 0; w < k->words; w++) add_access(s, WW_OP_LOAD, (int)(1 + a * k->words + w), 0, -1);
    for (uint32_t w = 0; w < k->words; w++)
        for (uint32_t a = 1; a < k->loads; a++)
            add(s, k->width == 8 ? WW_OP_FP64 : WW_OP_FP32, (int)(1 + w), (int)(1 + w),
                (int)(1 + a * k->words + w));
    for (uint32_t a = 0; a < k->stores; a++)
        for (uint32_t w = 0; w < k->words; w++) add_access(s, WW_OP_STORE, -1, k->loads ? (int)(1 + w) : 0, 0);
    if (!k->stores) /* the data are looked at */
        for (uint32_t w = 0; w < k->words; w++) add(s, WW_OP_INT, 50, (int)(1 + w), -1);
    if (k->rounds > 1) {
        add(s, WW_OP_INT, 0, 0, -1);
        add(s, WW_OP_BRANCH, -1, 0, -1);
    }
    s->tail = s->launch.inst_count;
    add(s, WW_OP_EXIT, -1, -1, -1);
}

static void write_steps(struct stream *s) {
    const struct stream_kernel *k = s->kernel;
    s->steps = s->body + k->rounds * (s->tail - s->body) + 1;
    s->accesses = k->rounds * k->words * (k->loads + k->stores);
    s->step = calloc(s->steps, sizeof *s->step);
    assert_non_null(s->step);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->body; i++) s->step[n++] = (struct ww_step){i, UINT32_MAX};
    for (uint32_t r = 0; r < k->rounds; r++)
        for (uint32_t i = s->body; i < s->tail; i++) s->step[n++] = (struct ww_step){i, UINT32_MAX};
    s->step[n++] = (struct ww_step){s->tail, UINT32_MAX};
}

static uint32_t lanes_of(const struct stream_kernel *k, uint32_t warp) {
    uint32_t lanes = k->threads - warp * 32;
    return lanes < 32 ? lanes : 32;
}

static void write_accesses(const struct stream *s, uint64_t thread, struct ww_access *out) {
    const struct stream_kernel *k = s->kernel;
    uint64_t grid = (uint64_t)k->ctas * k->threads;
    for (uint32_t r = 0; r < k->rounds; r++)
        for (uint32_t a = 0; a < k->loads + k->stores; a++)
            for (uint32_t w = 0; w < k->words; w++) {
                uint64_t word = thread + grid * ((uint64_t)r * k->words + w);
                *out++ = (struct ww_access){s->base + a * ARRAY_BYTES + word * k->width, (int32_t)k->width,
                                            WW_AFFINE};
            }
}

/* One block of memory: the warps' streams, their accesses and, of a warp of fewer lanes, its own steps. */
static enum ww_code load(void *context, uint64_t cta, struct ww_cta_trace *out, struct ww_error *error) {
    struct stream *s = context;
    const struct stream_kernel *k = s->kernel;
    uint32_t warps = s->launch.warps_per_cta;
    size_t accesses = sizeof(struct ww_access) * s->accesses, steps = sizeof *s->step * s->steps;
    char *block = calloc(1, warps * (sizeof(struct ww_warp_stream) + accesses) + steps);
    (void)error;
    assert_non_null(block);
    struct ww_warp_stream *stream = (struct ww_warp_stream *)block;
    struct ww_access *access = (struct ww_access *)(stream + warps);
    struct ww_step *last = (struct ww_step *)(access + (size_t)warps * s->accesses);
    memcpy(last, s->step, steps);
    uint32_t lanes = lanes_of(k, warps - 1);
    for (uint32_t i = 0; i < s->steps; i++) last[i].mask = lanes < 32 ? (1u << lanes) - 1 : UINT32_MAX;
    for (uint32_t w = 0; w < warps; w++, access += s->accesses) {
        write_accesses(s, cta * k->threads + w * 32, access);
        stream[w] = (struct ww_warp_stream){.step = w + 1 < warps ? s->step : last,
                                            .access = access,
                                            .step_count = s->steps,
                                            .access_count = s->accesses};
    }
    *out = (struct ww_cta_trace){.index = cta, .warp_count = warps, .warp = stream, .group = block};
    return WW_OK;
}

static void release(void *context, struct ww_cta_trace *cta) {
    (void)context;
    free(cta->group);
}

static uint64_t next(void *context, uint64_t cta) {
    const struct stream *s = context;
    return cta < s->launch.cta_count ? cta : UINT64_MAX;
}

static void start(struct stream *s, const struct stream_kernel *k, uint64_t base) {
    memset(s, 0, sizeof *s);
    s->kernel = k;
    s->base = base;
    s->launch = (struct ww_launch){.kernel = "stream",
                                   .arch = "sm_70",
                                   .grid = {k->ctas, 1, 1},
                                   .block = {k->threads, 1, 1},
                                   .registers_per_thread = 16,
                                   .shared_static = k->shared_bytes,
                                   .cta_count = k->ctas,
                                   .warps_per_cta = (k->threads + 31) / 32};
    s->launch.inst = s->inst;
    write_code(s);
    write_steps(s);
    s->launch.warp_instructions = (uint64_t)s->steps * s->launch.warps_per_cta * k->ctas;
}

static void replay(struct ww_engine *engine, const struct stream_kernel *k, uint64_t base,
                   struct stream_result *out) {
    struct stream s;
    struct ww_arena arena;
    struct ww_launch_result r;
    struct ww_error error;
    start(&s, k, base);
    struct ww_cta_source source = {&s, load, release, next};
    ww_arena_init(&arena, 0);
    memset(&r, 0, sizeof r);
    if (ww_engine_replay(engine, &s.launch, &source, &arena, &r, &error) != WW_OK)
        fail_msg("%s: %s", error.where, error.text);
    /* What is measured takes thousands of CTAs one after another, so that launching is no part of it. */
    out->cycles = (double)(r.cycles - r.counter[WW_C_LAUNCH_FRONT_CYCLES] - r.counter[WW_C_LAUNCH_END_CYCLES]);
    memcpy(out->counter, r.counter, sizeof out->counter);
    ww_arena_free(&arena);
    free(s.step);
}

/* The same over other arrays, in large pieces: twice as many bytes as the L2 holds, as its sets fill unevenly.
 */
static struct stream_kernel fill_of(const struct stream_kernel *kernel, const struct ww_gpu_spec *gpu) {
    struct stream_kernel k = {.threads = 256, .words = 1, .width = 16, .rounds = 1};
    k.loads = kernel->loads;
    k.stores = kernel->stores;
    k.ctas = gpu->l2_size_kb * 2048 / (k.threads * k.width * (k.loads + k.stores)) + 1;
    return k;
}

struct stream_result stream_run(const struct stream_kernel *k, const struct ww_gpu_spec *gpu) {
    struct ww_engine *engine;
    struct ww_error error;
    struct ww_mech_choice choice[WW_KIND_COUNT] = {{0}};
    struct stream_kernel fill = fill_of(k, gpu);
    struct stream_result out;
    choice[WW_KIND_SCHED].info = ww_mech_find(WW_KIND_SCHED, "gto");
    struct ww_engine_options options = {.gpu = gpu, .mechanism = choice, .epoch_cycles = 4096};
    if (ww_engine_new(&options, &engine, &error) != WW_OK) fail_msg("%s: %s", error.where, error.text);
    replay(engine, &fill, ARRAYS_MAX * ARRAY_BYTES, &out);
    replay(engine, k, 0, &out);
    ww_engine_free(engine);
    double bytes = (double)(k->loads + k->stores) * k->words * k->width * k->rounds * k->threads * k->ctas;
    out.gbps = bytes * gpu->clock_sm_mhz / 1000 / out.cycles;
    return out;
}
