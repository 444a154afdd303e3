/* What to write into a space file so that sizes which share an array move together. */
#include "../../base/buf.h"
#include "../../config/gpu.h"
#include "job.h"
#include <string.h>

/* Shared memory is carved from the array that holds the L1. */
static const char *const followers[] = {"sm.shared_kb", "sm.shared_per_cta_kb"};

static const struct ww_sweep_param *find(const struct ww_sweep_space *space, const char *key) {
    for (size_t i = 0; i < space->param_count; i++)
        if (strcmp(space->param[i].key, key) == 0) return &space->param[i];
    return NULL;
}

static bool is_blamed(const struct ww_sweep_summary *s) {
    for (uint64_t i = 0; i < s->causes && i < WW_SWEEP_CAUSES; i++)
        if (strstr(s->cause[i].reason, "$.l1.size_kb: ") && strstr(s->cause[i].reason, "with it set"))
            return true;
    return false;
}

/* The largest shared memory that an L1 of that size leaves. */
static double room(const struct ww_gpu_spec *gpu, double l1_kb) {
    return gpu->l1_unified ? l1_kb : (double)gpu->sm_array_kb - l1_kb;
}

static void put_follower(struct ww_buf *b, const struct ww_gpu_spec *gpu, const struct ww_sweep_param *l1,
                         const char *key, double own) {
    ww_buf_printf(b, "%s\"%s\": {\"with\": \"%s\", \"levels\": [", b->n ? ", " : "", key, l1->key);
    for (size_t i = 0; i < l1->count; i++) {
        double kb = room(gpu, l1->level[i].value);
        if (kb > own) kb = own;
        ww_buf_printf(b, "%s%.0f", i ? ", " : "", kb < 0 ? 0 : kb);
    }
    ww_buf_printf(b, "]}");
}

void ww_sweep_together(const struct sweep_job *job, struct ww_sweep_summary *summary) {
    const struct ww_sweep_param *l1 = find(&job->space, "l1.size_kb");
    const struct ww_gpu_spec *gpu = &job->gpu->spec;
    const double own[] = {gpu->sm_shared_kb, gpu->sm_shared_per_cta_kb};
    struct ww_buf b = {0};
    if (!l1 || l1->follows || !is_blamed(summary)) return;
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++)
        if (!find(&job->space, followers[i])) put_follower(&b, gpu, l1, followers[i], own[i]);
    if (!b.failed && b.n < sizeof summary->together) memcpy(summary->together, b.n ? b.p : "", b.n + 1);
    ww_buf_free(&b);
}
