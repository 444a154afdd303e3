/* Recording and replaying for suite "d2ma". */
#include "../../../../traces/transform/copy.h"
#include "../../../../traces/trace.h"
#include "../../../config/gpu.h"
#include "../../../core/launch/engine.h"
#include "../../../core/sm/probe.h"
#include "../../../api/gpu.h"
#include "../../../api/trace.h"
#include "../../../api/record.h"
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "d2ma_int.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct ww_d2ma_kernel ww_d2ma_kernel[WW_D2MA_KERNELS + 1] = {
    {"DCT", "d2_block", "dct", "d2_dct", "d2_dct_dma"},
    {"MM", "d2_block", "mm", "d2_mm", "d2_mm_dma"},
    {"DWT", "d2_stream", "haar", "d2_haar", "d2_haar_dma"},
    {"TRANS1", "d2_block", "trans1", "d2_trans1", "d2_trans1_dma"},
    {"TRANS2", "d2_block", "trans2", "d2_trans2", "d2_trans2_dma"},
    {"FW", "d2_stream", "walsh", "d2_walsh", "d2_walsh_dma"},
    {"GAUSS", "d2_filter", "gauss", "d2_gauss", "d2_gauss_dma"},
    {"MEAN", "d2_filter", "mean", "d2_mean", "d2_mean_dma"},
    {"SOBEL", "d2_filter", "sobel", "d2_sobel", "d2_sobel_dma"},
    {"PATH", "d2_stream", "path", "d2_path", "d2_path_dma"},
    {"SGEMV", "d2_stream", "sgemv", "d2_sgemv", "d2_sgemv_dma"},
    {"LUD1", "d2_block", "lud", "d2_lud_internal", "d2_lud_internal_dma"},
    {"LUD2", "d2_block", "lud", "d2_lud_diagonal", "d2_lud_diagonal_dma"},
    {"SAXPY", "d2_stream", "saxpy", "d2_saxpy", "d2_saxpy_dma"},
};

enum ww_code ww_d2ma_record(const struct ww_d2ma_kernel *k, const char *variant, unsigned ctas,
                            const char *path, struct ww_error *error) {
    char kernel[64], way[64], n[32];
    const char *parameter[] = {kernel, way, n};
    struct ww_record_options o = {.out_path = path, .arch = "sm_20"};
    struct ww_record_stats stats;
    snprintf(kernel, sizeof kernel, "kernel=%s", k->name);
    snprintf(way, sizeof way, "variant=%s", variant);
    snprintf(n, sizeof n, "n=%u", ctas);
    return ww_record_workload(k->workload, parameter, ctas ? 3 : 2, &o, &stats, error);
}

static void add(struct ww_d2ma_sum *sum, const struct ww_launch_result *l) {
    sum->cycles += l->cycles;
    sum->warp_instructions += l->warp_instructions;
    sum->thread_instructions += l->thread_instructions;
    for (int c = 0; c < WW_COUNTER_COUNT; c++) sum->counter[c] += l->counter[c];
    for (int s = 0; s < WW_SLOT_COUNT; s++) sum->slot[s] += l->slot[s];
}

enum { CTAS = 8 }; /* of a launch, whose streams say which instructions copy */

enum ww_code ww_d2ma_transform(const char *plain, const char *changed, struct ww_writers *found,
                               struct ww_error *error) {
    const struct ww_transform_options how = {.kind = "d2ma"};
    struct ww_trace *before = NULL, *after = NULL;
    *found = (struct ww_writers){0};
    enum ww_code code = ww_trace_open(plain, &before, error);
    if (code == WW_OK) code = ww_trace_transform(before, &how, changed, error);
    if (code == WW_OK) code = ww_trace_open(changed, &after, error);
    if (code == WW_OK) code = ww_writers_compare_all(before, after, found, error);
    if (after) ww_trace_close(after);
    if (before) ww_trace_close(before);
    return code;
}

static enum ww_code replay(struct ww_trace *trace, struct ww_engine *engine, const char *kernel,
                           struct ww_d2ma_sum *sum, struct ww_error *error) {
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < ww_trace_launch_count(trace) && code == WW_OK; i++) {
        struct ww_arena arena;
        struct ww_launch_result r = {0};
        const uint8_t *role = NULL;
        bool found = false;
        ww_arena_init(&arena, 0);
        code = ww_copy_find(trace, i, CTAS, &arena, &role, &found, error);
        ww_engine_roles(engine, role); /* all 0 where the engine copies: stalls are counted nevertheless */
        if (code == WW_OK) code = ww_engine_launch(engine, trace, i, &arena, &r, error);
        if (code == WW_OK && strcmp(r.kernel, kernel) == 0) add(sum, &r);
        ww_arena_free(&arena);
    }
    ww_engine_roles(engine, NULL);
    return code;
}

static bool goes_on(void *context, double part, uint64_t done, const char *unit) {
    const struct ww_d2ma_replay *how = context;
    struct ww_error ignored;
    (void)part, (void)done, (void)unit;
    return ww_validate_step(how->options, how->done, how->all, &ignored) == WW_OK;
}

enum ww_code ww_d2ma_replay(const char *path, const struct ww_d2ma_replay *how, struct ww_d2ma_sum *sum,
                            struct ww_error *error) {
    struct ww_arena arena;
    struct ww_mech_choice choice[WW_KIND_COUNT];
    struct ww_engine *engine = NULL;
    struct ww_trace *trace = NULL;
    struct ww_gpu *gpu = NULL;
    memset(sum, 0, sizeof *sum);
    ww_arena_init(&arena, 0);
    enum ww_code code = ww_gpu_load(how->gpu, &how->set, how->set != NULL, &gpu, error);
    if (code == WW_OK) code = ww_mech_resolve(&how->mechanism, how->mechanism != NULL, &arena, choice, error);
    if (code == WW_OK) {
        struct ww_engine_options o = {.gpu = &gpu->spec,
                                      .mechanism = choice,
                                      .transfers = how->log,
                                      .progress = goes_on,
                                      .progress_context = (void *)(uintptr_t)how};
        code = ww_engine_new(&o, &engine, error);
    }
    if (code == WW_OK) code = ww_trace_open(path, &trace, error);
    if (code == WW_OK) code = replay(trace, engine, how->kernel, sum, error);
    if (trace) ww_trace_close(trace);
    ww_engine_free(engine);
    ww_gpu_free(gpu);
    ww_arena_free(&arena);
    return code;
}

enum ww_code ww_d2ma_inform(struct ww_validation *v, const char *id, const char *what, double ours,
                            const char *unit, struct ww_error *error) {
    const struct ww_validate_row row = {
        .id = id, .what = what, .ours = ours, .paper = NAN, .unit = unit, .uncounted = true, .why = ""};
    return ww_validate_add(v, &row, error);
}
