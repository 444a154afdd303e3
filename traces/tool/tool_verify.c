/* `trace verify`: every checksum, every invariant, the totals, and what no kernel can do. */
#include "../../estimator/api/trace.h"
#include "../../estimator/base/locale.h"
#include "../wwt/reader.h"
#include <stdlib.h>
#include <string.h>

/* Executions of each instruction, counted over again. */
struct counts {
    uint64_t *warp, *thread;
};

/* Lanes that warp `w` of a CTA has. */
static uint32_t lanes_of(const struct ww_launch *l, size_t w) {
    uint64_t left = (uint64_t)l->block[0] * l->block[1] * l->block[2] - 32 * (uint64_t)w;
    return left >= 32 ? UINT32_MAX : (1u << left) - 1;
}

/* The first step of a warp behind the EXIT that ends its last lane; step_count if there is none. */
static uint32_t behind_end(const struct ww_launch *l, const struct ww_warp_stream *warp, uint32_t lanes) {
    uint32_t left = lanes;
    for (uint32_t i = 0; i < warp->step_count; i++) {
        if (!left) return i;
        if (l->inst[warp->step[i].inst].op == WW_OP_EXIT) left &= ~warp->step[i].mask;
    }
    return warp->step_count;
}

/* A warp ends with its last lane: nothing may follow. */
static enum ww_code check_ends(const struct ww_trace *t, size_t launch, const struct ww_wwt_decoded *d,
                               struct ww_error *error) {
    const struct ww_launch *l = &t->index.launch[launch].view;
    size_t warps = (size_t)d->group->cta_count * l->warps_per_cta;
    for (size_t w = 0; w < warps; w++) {
        uint32_t n = behind_end(l, &d->warp[w], lanes_of(l, w % l->warps_per_cta));
        if (n == d->warp[w].step_count) continue;
        return ww_wwt_bad(
            t, error, d->group->offset,
            "launch %zu, warp %zu of a CTA of the group: instruction %u, step %u, stands behind the "
            "EXIT of the warp's last lane; expected no more",
            launch, w % l->warps_per_cta, d->warp[w].step[n].inst, n);
    }
    return WW_OK;
}

static void count_group(const struct ww_wwt_launch *l, const struct ww_wwt_decoded *d, struct counts *c) {
    size_t warps = (size_t)d->group->cta_count * l->view.warps_per_cta;
    for (size_t w = 0; w < warps; w++)
        for (uint32_t i = 0; i < d->warp[w].step_count; i++) {
            const struct ww_step *step = &d->warp[w].step[i];
            c->warp[step->inst]++;
            c->thread[step->inst] += (unsigned)__builtin_popcount(step->mask);
        }
}

static enum ww_code check_counts(const struct ww_trace *t, size_t launch, const struct counts *c,
                                 struct ww_error *error) {
    const struct ww_wwt_launch *l = &t->index.launch[launch];
    for (uint32_t i = 0; i < l->view.inst_count; i++)
        if (c->warp[i] != l->inst_warp[i] || c->thread[i] != l->inst_thread[i])
            return ww_wwt_bad(
                t, error, t->index.chunk_end,
                "launch %zu, instruction %u: %llu warp and %llu thread executions, but the index says "
                "%llu and %llu",
                launch, i, (unsigned long long)c->warp[i], (unsigned long long)c->thread[i],
                (unsigned long long)l->inst_warp[i], (unsigned long long)l->inst_thread[i]);
    return WW_OK;
}

static enum ww_code verify_groups(struct ww_trace *t, size_t launch, struct counts *c, ww_progress_fn progress,
                                  void *context, struct ww_error *error) {
    struct ww_wwt_launch *l = &t->index.launch[launch];
    if (progress && !l->group_count && !progress(context, -1, launch, "launches"))
        return ww_fail(error, WW_FAIL, t->path, "stopped before the end");
    for (uint32_t i = 0; i < l->group_count; i++) {
        struct ww_cta_trace cta;
        WW_TRY(ww_trace_load_cta(t, launch, l->group[i].run[0].first, &cta, error));
        count_group(l, cta.group, c);
        enum ww_code code = check_ends(t, launch, cta.group, error);
        ww_trace_release_cta(t, &cta);
        WW_TRY(code);
        ww_wwt_drop_idle(t);
        uint64_t done = l->group[i].offset + WW_WWT_CHUNK_BYTES + l->group[i].stored;
        if (progress && !progress(context, (double)done / (double)t->size, done, "bytes"))
            return ww_fail(error, WW_FAIL, t->path, "stopped before the end");
    }
    return check_counts(t, launch, c, error);
}

/* A thread has a register at least: what occupancy is computed from. */
static enum ww_code check_registers(const struct ww_trace *t, size_t launch, struct ww_error *error) {
    const struct ww_launch *l = &t->index.launch[launch].view;
    if (l->registers_per_thread) return WW_OK;
    return ww_wwt_bad(t, error, t->index.chunk_end,
                      "launch %zu, kernel \"%.80s\": 0 registers per thread; expected at least 1", launch,
                      l->kernel);
}

enum ww_code ww_trace_verify(struct ww_trace *trace, ww_progress_fn progress, void *context,
                             struct ww_error *error) {
    WW_PLAIN_LOCALE;
    ww_wwt_drop_idle(trace); /* groups in memory must not hide damage of the file */
    for (size_t i = 0; i < trace->index.launch_count; i++) {
        WW_TRY(check_registers(trace, i, error));
        size_t n = (size_t)trace->index.launch[i].view.inst_count + 1;
        struct counts c = {calloc(n, sizeof *c.warp), calloc(n, sizeof *c.thread)};
        enum ww_code code = c.warp && c.thread ? verify_groups(trace, i, &c, progress, context, error)
                                               : ww_fail_nomem(error, "the counts of a trace");
        free(c.warp);
        free(c.thread);
        WW_TRY(code);
    }
    return WW_OK;
}
