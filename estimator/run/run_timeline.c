/* What a run keeps for its timeline: when and where CTAs ran, and counters of the memory path by epoch. */
#include "../result/result.h"
#include "../result/names.h"
#include "../base/err.h"
#include "../config/gpu.h"
#include "../core/launch/ctalog.h"
#include "run_int.h"
#include <stdlib.h>
#include <string.h>

enum ww_code ww_run_timeline_open(struct run *r, struct ww_cta_log *log, struct ww_error *error) {
    const struct ww_gpu_spec *gpu = &r->options->gpu->spec;
    *log = (struct ww_cta_log){.most = r->options->timeline_ctas, .slots = gpu->sm_max_ctas};
    log->row = calloc(log->most + 1, sizeof *log->row);
    log->open = calloc((size_t)gpu->sm_count * log->slots + 1, sizeof *log->open);
    if (log->row && log->open) return WW_OK;
    ww_run_timeline_close(log);
    return ww_fail_nomem(error, "the CTAs of a timeline");
}

void ww_run_timeline_close(struct ww_cta_log *log) {
    free(log->row);
    free(log->open);
    *log = (struct ww_cta_log){0};
}

static enum ww_code keep_counters(struct run *r, struct ww_launch_result *l, struct ww_error *error) {
    size_t count;
    const struct ww_segment *segment = ww_engine_segments(r->engine, &count);
    l->epoch_counter =
        ww_arena_array(r->arena, l->epoch_count * WW_EPOCH_COUNTERS + 1, sizeof *l->epoch_counter);
    if (!l->epoch_counter) return ww_fail_nomem(error, "counters by epoch");
    for (size_t i = 0; i < count && l->epoch_count; i++) {
        size_t k = (size_t)(segment[i].first_cycle / r->result->epoch_cycles);
        if (k >= l->epoch_count) k = l->epoch_count - 1;
        for (size_t c = 0; c < WW_EPOCH_COUNTERS; c++)
            l->epoch_counter[k * WW_EPOCH_COUNTERS + c] += segment[i].counter[ww_epoch_counter(c)];
    }
    return WW_OK;
}

enum ww_code ww_run_timeline_keep(struct run *r, struct ww_cta_log *log, struct ww_launch_result *l,
                                  struct ww_error *error) {
    if (!r->options->timeline) return WW_OK;
    WW_TRY(keep_counters(r, l, error));
    l->cta = ww_arena_array(r->arena, log->count + 1, sizeof *l->cta);
    if (!l->cta) return ww_fail_nomem(error, "the CTAs of a timeline");
    memcpy(l->cta, log->row, log->count * sizeof *l->cta);
    l->cta_count = log->count;
    log->most -= log->count; /* what is left for the next launches */
    log->count = 0;
    return WW_OK;
}
