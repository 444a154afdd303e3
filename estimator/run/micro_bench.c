/* Replays microbenchmarks that are made in memory (traces/micro) and records when instructions issued. */
#include "../api/gpu.h"
#include "../result/result.h"
#include "micro_bench.h"
#include "../../traces/micro/micro.h"
#include "../config/gpu.h"
#include "../core/launch/engine_internal.h"
#include <stdlib.h>
#include <string.h>

#define ONE_EPOCH (1u << 30)

struct ww_bench {
    const struct ww_gpu *gpu;
    struct ww_gpu_spec spec; /* the GPU's, without the launch itself unless it is asked for */
    uint64_t seed;
    struct ww_engine *engine;
    struct ww_probe probe;
    size_t room;
    struct ww_bench_sample *sample;
    struct ww_launch_result launch; /* the last one */
    struct ww_arena arena;          /* of its arrays */
    ww_progress_fn progress;
    void *progress_context;
};

enum ww_code ww_bench_reset(struct ww_bench *b, struct ww_error *error) {
    ww_engine_free(b->engine);
    b->engine = NULL;
    struct ww_engine_options o = {.gpu = &b->spec,
                                  .epoch_cycles = ONE_EPOCH,
                                  .seed = b->seed,
                                  .probe = &b->probe,
                                  .progress = b->progress,
                                  .progress_context = b->progress_context};
    return ww_engine_new(&o, &b->engine, error);
}

void ww_bench_launches(struct ww_bench *b) {
    b->spec = b->gpu->spec;
}

void ww_bench_watch(struct ww_bench *b, ww_progress_fn progress, void *context) {
    b->progress = progress;
    b->progress_context = context;
    if (!b->engine) return;
    b->engine->options.progress = progress;
    b->engine->options.progress_context = context;
}

enum ww_code ww_bench_new(const struct ww_gpu *gpu, uint64_t seed, struct ww_bench **out,
                          struct ww_error *error) {
    struct ww_bench *b = calloc(1, sizeof *b);
    *out = NULL;
    if (!b) return ww_fail_nomem(error, "a bench");
    b->gpu = gpu;
    b->spec = gpu->spec;
    ww_launch_none(&b->spec);
    b->seed = seed;
    ww_arena_init(&b->arena, 0);
    enum ww_code code = ww_bench_reset(b, error);
    if (code == WW_OK)
        *out = b;
    else
        ww_bench_free(b);
    return code;
}

void ww_bench_free(struct ww_bench *b) {
    if (!b) return;
    ww_engine_free(b->engine);
    ww_arena_free(&b->arena);
    free(b->probe.sample);
    free(b->sample);
    free(b);
}

static enum ww_code load_cta(void *context, uint64_t cta, struct ww_cta_trace *out, struct ww_error *error) {
    return ww_micro_cta(context, cta, out, error);
}

static void release_cta(void *context, struct ww_cta_trace *cta) {
    ww_micro_release(context, cta);
}

static uint64_t next_cta(void *context, uint64_t cta) {
    return cta < ww_micro_launch(context)->cta_count ? cta : UINT64_MAX;
}

static enum ww_code make_room(struct ww_bench *b, size_t samples, struct ww_error *error) {
    b->probe.count = 0;
    b->probe.capacity = samples;
    if (samples <= b->room) return WW_OK;
    free(b->probe.sample);
    free(b->sample);
    b->room = 0;
    b->probe.sample = calloc(samples, sizeof *b->probe.sample);
    b->sample = calloc(samples, sizeof *b->sample);
    if (!b->probe.sample || !b->sample) return ww_fail_nomem(error, "issue times");
    b->room = samples;
    return WW_OK;
}

enum ww_code ww_bench_run(struct ww_bench *b, const struct ww_micro *micro, size_t samples,
                          struct ww_bench_result *out, struct ww_error *error) {
    struct ww_launch_result *launch = &b->launch;
    /* The source hands its context on as it is; a microbenchmark is only read. */
    struct ww_cta_source source = {(void *)(uintptr_t)micro, load_cta, release_cta, next_cta};
    WW_TRY(make_room(b, samples, error));
    ww_micro_timed(micro, &b->probe.first, &b->probe.end);
    if (samples == 0) b->probe.first = b->probe.end = 0;
    ww_arena_reset(&b->arena);
    *launch = (struct ww_launch_result){0};
    WW_TRY(ww_engine_replay(b->engine, ww_micro_launch(micro), &source, &b->arena, launch, error));
    *out = (struct ww_bench_result){
        .cycles = launch->cycles, .time_ps = launch->time_ps, .sample = b->sample, .launch = launch};
    memcpy(out->counter, launch->counter, sizeof out->counter);
    out->sample_count = b->probe.count < samples ? b->probe.count : samples;
    for (size_t i = 0; i < out->sample_count; i++) {
        const struct ww_probe_sample *s = &b->probe.sample[i];
        b->sample[i] = (struct ww_bench_sample){s->cycle, s->inst, s->sm, s->warp};
    }
    return WW_OK;
}

/* Shared memory that a CTA can ask for, so that it fits an SM together with what the system adds. */
static uint32_t shared_of_cta(const struct ww_gpu_spec *g) {
    uint32_t most = g->sm_shared_per_cta_kb * 1024;
    uint32_t all = g->sm_shared_kb * 1024 / g->sm_shared_unit * g->sm_shared_unit;
    uint32_t room = all > g->sm_shared_reserved ? all - g->sm_shared_reserved : 0;
    return most < room ? most : room;
}

void ww_bench_board(const struct ww_bench *b, struct ww_bench_board *out) {
    const struct ww_gpu_spec *g = &b->gpu->spec;
    *out = (struct ww_bench_board){.name = g->name,
                                   .arch = g->arch,
                                   .l2_bytes = (uint64_t)g->l2_size_kb * 1024,
                                   .sms = g->sm_count,
                                   .max_warps = g->sm_max_warps,
                                   .max_threads = g->sm_max_threads,
                                   .max_ctas = g->sm_max_ctas,
                                   .max_cta_threads = g->sm_max_threads < 1024 ? g->sm_max_threads : 1024,
                                   .shared_bytes = g->sm_shared_kb * 1024,
                                   .shared_per_cta = shared_of_cta(g),
                                   .sm_mhz = g->clock_sm_mhz,
                                   .dram_peak_gbps = g->clock_dram_mhz * g->dram_data_rate * g->dram_channels *
                                                     g->dram_bus_bits / 8 / 1000};
}
