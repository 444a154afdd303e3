/* Suite "models": an unloaded GPU behind the L1, against published loads.
 *
 * A load of one sector goes through crossbar, L2 and DRAM of each model alone; the L1's own part, l1.latency,
 * is added. The DRAM figure is the mean of a chase through 32 MiB (an L1 TLB reaches so far) in random order,
 * which finds other rows open. tests/unit/test_models.c holds the models to the same figures. */
#include "../../../api/gpu.h"
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../../../base/rng.h"
#include "../../../config/gpu.h"
#include "../../../core/memory/memsys.h"
#include "../rows/validate.h"

enum { WARM = 500, STEPS = 1000, LINE = 128, SPAN = 32 << 20 };
#define TOLERANCE 0.05 /* of the measured figure */

struct bench {
    const struct ww_gpu_spec *spec;
    struct ww_queue *queue;
    struct ww_memsys *memory;
    uint64_t counter[WW_COUNTER_COUNT];
    uint64_t replies, last_ps;
};

static void on_reply(void *context, uint16_t sm, const struct ww_mem_reply *reply, uint64_t now_ps) {
    struct bench *b = context;
    (void)sm;
    (void)reply;
    b->replies++;
    b->last_ps = now_ps;
}

static void on_unblocked(void *context, uint16_t sm, uint64_t now_ps) {
    (void)context;
    (void)sm;
    (void)now_ps;
}

/* Time of a load of one L1 sector, of 32 bytes where global loads pass the L1 by, in ps. */
static enum ww_code load_ps(struct bench *b, uint64_t address, uint64_t *ps, struct ww_error *error) {
    struct ww_mem_request r = {.address = address,
                               .sectors = 1,
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
    uint64_t ps = 0;
    for (int i = 0; i < 2; i++) WW_TRY(load_ps(b, 0, &ps, error)); /* the second finds the line */
    *out = cycles(b, (double)ps);
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

enum ww_code ww_validate_suite_models(struct ww_validation *v, const struct ww_validate_options *options,
                                      struct ww_error *error) {
    static const struct {
        const char *id, *gpu;
        measure_fn measure;
    } rows[] = {
        {"model-l2-gtx560ti", "gtx560ti", hit_cycles}, {"model-dram-gtx560ti", "gtx560ti", miss_cycles},
        {"model-l2-gtx780", "gtx780", hit_cycles},     {"model-dram-gtx780", "gtx780", miss_cycles},
        {"model-l2-gtx980", "gtx980", hit_cycles},     {"model-dram-gtx980", "gtx980", miss_cycles},
        {"model-dram-gtx280", "gtx280", miss_cycles},  {"model-l2-v100", "v100", hit_cycles},
        {"model-dram-v100", "v100", miss_cycles},      {"model-l2-a100", "a100", hit_cycles},
        {"model-dram-a100", "a100", miss_cycles},      {"model-l2-h100", "h100", hit_cycles},
        {"model-l2-l40", "l40", hit_cycles},           {"model-dram-l40", "l40", miss_cycles},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    for (size_t i = 0; i < ROWS; i++) {
        double ours = 0;
        WW_TRY(ww_validate_step(options, i, ROWS, error));
        WW_TRY(measure(rows[i].gpu, rows[i].measure, &ours, error));
        WW_TRY(ww_validate_add_number(v, rows[i].id, ours, WW_VALIDATE_RELATIVE, TOLERANCE, "", error));
    }
    return WW_OK;
}
