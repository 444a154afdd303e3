/* Suite "models": an unloaded GPU behind the L1, against published loads.
 *
 * A load of one sector goes through crossbar, L2 and DRAM of each model alone; the L1's own part, l1.latency,
 * is added. The DRAM figure is the mean of a chase through 32 MiB (an L1 TLB reaches so far) in random order,
 * which finds other rows open. Streams are lines that all SMs read in order. Fused multiply-adds of one SM,
 * times the SMs, are compared with the data sheet. tests/unit/test_models.c holds the models to the same
 * figures. */
#include "../../../api/gpu.h"
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../../../base/rng.h"
#include "../../../config/gpu.h"
#include "../../../core/memory/memsys.h"
#include "../../dissect/meter.h"
#include "../rows/validate.h"
#include <stdlib.h>
#include <string.h>

enum {
    WARM = 500,
    STEPS = 1000,
    LINE = 128,
    SPAN = 32 << 20,
    WAYS = 1009 /* lines of all slices; prime to the number of SMs */
};
enum { STREAM_LINES = 1500, STREAM_DEPTH = 128, MOST_SMS = 1024 }; /* of each SM */
#define TOLERANCE 0.05                                             /* of the measured figure */
#define RATE_TOLERANCE 0.10

struct bench {
    const struct ww_gpu_spec *spec;
    struct ww_queue *queue;
    struct ww_memsys *memory;
    uint64_t counter[WW_COUNTER_COUNT];
    uint64_t replies, last_ps, loads;
    struct stream *stream; /* NULL: loads, one at a time */
};

/* All SMs read neighbouring lines in turn, STREAM_DEPTH of them on their way to each. */
struct stream {
    uint32_t next[MOST_SMS], out[MOST_SMS];
    uint64_t bytes;
};

static void stream_on(struct bench *b, uint16_t sm, uint64_t now_ps) {
    struct stream *s = b->stream;
    uint32_t line = ww_gpu_request_line(b->spec), sectors = line / b->spec->l1_sector;
    while (s->out[sm] < STREAM_DEPTH && s->next[sm] < STREAM_LINES) {
        struct ww_mem_request r = {.address = ((uint64_t)s->next[sm] * b->spec->sm_count + sm) * line,
                                   .sectors = (uint32_t)((1ull << sectors) - 1),
                                   .sm = sm,
                                   .kind = WW_MEM_READ,
                                   .needs_reply = 1};
        if (!ww_memsys_send(b->memory, &r, now_ps)) return;
        s->out[sm]++;
        s->next[sm]++;
    }
}

static void on_reply(void *context, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    struct bench *b = context;
    b->replies++;
    b->last_ps = now_ps;
    if (!b->stream) return;
    b->stream->bytes += (uint64_t)__builtin_popcount(reply->sectors) * b->spec->l1_sector;
    if (reply->last) b->stream->out[sm]--;
    stream_on(b, sm, now_ps);
}

static void on_unblocked(void *context, uint16_t sm, uint64_t now_ps) {
    struct bench *b = context;
    if (b->stream) stream_on(b, sm, now_ps);
}

/* Time of a load of one L1 sector, of 32 bytes where global loads pass the L1 by, in ps. Where ways to the L2
 * differ in length, loads of one SM after another have the mean way. */
static enum ww_code load_ps(struct bench *b, uint64_t address, uint64_t *ps, struct ww_error *error) {
    struct ww_mem_request r = {.address = address,
                               .sectors = 1,
                               .sm = (uint16_t)(b->spec->xbar_columns ? b->loads++ % b->spec->sm_count : 0),
                               .kind = WW_MEM_READ,
                               .needs_reply = 1,
                               .fine = !b->spec->l1_enabled || !b->spec->l1_global_loads};
    uint64_t from = ww_queue_now(b->queue);
    b->replies = 0;
    if (!ww_memsys_send(b->memory, &r, from))
        return ww_fail(error, WW_INTERNAL, "models", "a load was refused");
    while (ww_queue_step(b->queue)) {
    }
    if (b->replies != 1) return ww_fail(error, WW_INTERNAL, "models", "a load got no reply, or several");
    *ps = b->last_ps - from;
    return WW_OK;
}

/* The same in SM cycles, as a warp sees it: with the L1's part. */
static double cycles(const struct bench *b, double ps) {
    return b->spec->l1_latency + ps * b->spec->clock_sm_mhz / 1e6;
}

static enum ww_code hit_cycles(struct bench *b, double *out, struct ww_error *error) {
    uint32_t lines = b->spec->xbar_columns ? WAYS : 1;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 2 * lines; i++) { /* the second load finds the line */
        uint64_t ps = 0;
        WW_TRY(load_ps(b, (uint64_t)(i % lines) * LINE, &ps, error));
        if (i >= lines) sum += ps;
    }
    *out = cycles(b, (double)sum / lines);
    return WW_OK;
}

static enum ww_code miss_cycles(struct bench *b, double *out, struct ww_error *error) {
    struct ww_rng rng;
    uint64_t sum = 0;
    ww_rng_seed(&rng, 1);
    for (int i = 0; i < WARM + STEPS; i++) {
        uint64_t ps = 0;
        WW_TRY(load_ps(b, (uint64_t)ww_rng_below(&rng, SPAN / LINE) * LINE, &ps, error));
        if (i >= WARM) sum += ps;
    }
    *out = cycles(b, (double)sum / STEPS);
    return WW_OK;
}

/* What DRAM adds to a load that hits the L2. */
static enum ww_code beyond_cycles(struct bench *b, double *out, struct ww_error *error) {
    double hit = 0, miss = 0;
    WW_TRY(hit_cycles(b, &hit, error));
    WW_TRY(miss_cycles(b, &miss, error));
    *out = miss - hit;
    return WW_OK;
}

/* GB/s of a read stream from DRAM. */
static enum ww_code read_gbps(struct bench *b, double *out, struct ww_error *error) {
    struct stream *s = b->stream = calloc(1, sizeof *s);
    if (!s || b->spec->sm_count > MOST_SMS) return free(s), ww_fail_nomem(error, "models");
    uint64_t from = ww_queue_now(b->queue);
    for (uint32_t sm = 0; sm < b->spec->sm_count; sm++) stream_on(b, (uint16_t)sm, from);
    while (ww_queue_step(b->queue)) {
    }
    *out = (double)s->bytes * 1000 / (double)(b->last_ps - from);
    free(s);
    b->stream = NULL;
    return WW_OK;
}

typedef enum ww_code (*measure_fn)(struct bench *b, double *out, struct ww_error *error);

static enum ww_code measure(const char *gpu_name, measure_fn what, double *out, struct ww_error *error) {
    struct ww_gpu *gpu = NULL;
    WW_TRY(ww_gpu_load(gpu_name, NULL, 0, &gpu, error));
    struct bench b = {.spec = &gpu->spec, .queue = ww_queue_new(500)};
    struct ww_memsys_client client = {&b, on_reply, on_unblocked};
    if (b.queue) b.memory = ww_memsys_new(b.spec, b.queue, &client, b.counter, 1);
    enum ww_code code = b.memory ? what(&b, out, error) : ww_fail_nomem(error, gpu_name);
    ww_memsys_free(b.memory);
    ww_queue_free(b.queue);
    ww_gpu_free(gpu);
    return code;
}

enum { FMA_CTA = 256, FMA_ROUNDS = 512, FMA_WORDS = 4 };

/* Picoseconds of an SM that holds all its threads, each with so many rounds of multiply-adds. */
static enum ww_code rounds_ps(struct ww_meter *m, uint32_t rounds, uint64_t *ps, struct ww_error *error) {
    struct ww_bench_result r;
    struct ww_micro *micro = NULL;
    const struct ww_micro_roofline what = {
        .cta_size = FMA_CTA, .rounds = rounds, .words = FMA_WORDS, .ctas = m->board.max_threads / FMA_CTA};
    WW_TRY(ww_micro_roofline(&what, &micro, error));
    enum ww_code code = ww_bench_run(m->bench, micro, 0, &r, error);
    if (code == WW_OK) *ps = r.time_ps;
    ww_micro_free(micro);
    return code;
}

/* TFLOPS of fused multiply-adds: what more rounds take, so that launching and the first words do not count. */
static enum ww_code one_sm(struct ww_meter *m, double *out, struct ww_error *error) {
    uint64_t once, thrice;
    WW_TRY(rounds_ps(m, FMA_ROUNDS, &once, error)); /* the first launch alone waits for its code */
    WW_TRY(rounds_ps(m, FMA_ROUNDS, &once, error));
    WW_TRY(rounds_ps(m, 3 * FMA_ROUNDS, &thrice, error));
    double threads = (double)(m->board.max_threads / FMA_CTA * FMA_CTA);
    *out = 2.0 * FMA_WORDS * 2 * FMA_ROUNDS * threads / (double)(thrice - once);
    return WW_OK;
}

static enum ww_code fp32_tflops(const char *gpu, double *out, struct ww_error *error) {
    static const char *const one[] = {"sm.count=1"};
    const struct ww_dissect_options o = {.gpu = gpu, .overrides = one, .override_count = 1};
    struct ww_dissect dissect = {0};
    struct ww_gpu *whole = NULL;
    struct ww_meter m;
    WW_TRY(ww_gpu_load(gpu, NULL, 0, &whole, error));
    ww_arena_init(&dissect.arena, 0);
    enum ww_code code = ww_meter_open(&m, &o, &dissect, NULL, error);
    if (code == WW_OK) code = one_sm(&m, out, error);
    ww_meter_close(&m);
    ww_arena_free(&dissect.arena);
    *out *= whole->spec.sm_count;
    ww_gpu_free(whole);
    return code;
}

/* What a row's name says is measured: "model-l2-v100". */
static const struct {
    const char *prefix;
    measure_fn measure; /* NULL: fp32_tflops */
    double tolerance;
} kinds[] = {
    {"model-l2-", hit_cycles, TOLERANCE},
    {"model-dram-", miss_cycles, TOLERANCE},
    {"model-beyond-", beyond_cycles, TOLERANCE},
    {"model-read-", read_gbps, RATE_TOLERANCE},
    {"model-fp32-", NULL, TOLERANCE},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The kind of a row, or KINDS; *gpu is the rest of its name. */
static size_t kind_of(const char *id, const char **gpu) {
    for (size_t k = 0; k < KINDS; k++) {
        size_t n = strlen(kinds[k].prefix);
        *gpu = id + n;
        if (strncmp(id, kinds[k].prefix, n) == 0) return k;
    }
    return KINDS;
}

enum ww_code ww_validate_suite_models(struct ww_validation *v, const struct ww_validate_options *options,
                                      struct ww_error *error) {
    const char *gpu;
    size_t rows = 0, at = 0;
    for (size_t i = 0; i < v->target_count; i++) rows += kind_of(v->target[i].id, &gpu) < KINDS;
    for (size_t i = 0; i < v->target_count; i++) {
        const char *id = v->target[i].id;
        size_t k = kind_of(id, &gpu);
        double ours = 0;
        if (k == KINDS) continue;
        WW_TRY(ww_validate_step(options, at++, rows, error));
        if (kinds[k].measure)
            WW_TRY(measure(gpu, kinds[k].measure, &ours, error));
        else
            WW_TRY(fp32_tflops(gpu, &ours, error));
        WW_TRY(ww_validate_add_number(v, id, ours, WW_VALIDATE_RELATIVE, kinds[k].tolerance, "", error));
    }
    return WW_OK;
}
