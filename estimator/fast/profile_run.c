/* Profiling CTAs side by side, which take turns in memory. */
#include "profile_run.h"
#include "profile_keep.h"
#include <stdlib.h>
#include <string.h>

struct slot {
    struct ww_cta_trace cta;
    bool resident;
    uint32_t live;
    uint64_t instructions;
};

struct runner {
    struct ww_profile_run *run;
    const struct ww_launch *launch;
    struct slot *slot;
    struct ww_walk *walk;       /* warps_per_cta of each slot */
    struct ww_episode *episode; /* the same */
    uint32_t warps;
    uint64_t next, left;
};

static bool touches(const struct ww_episode *e, const struct ww_operand *o) {
    for (uint32_t r = o->reg; r < o->reg + (uint32_t)o->n && r < WW_REG_COUNT; r++)
        if (e->pending[r / 64] >> (r % 64) & 1) return true;
    return false;
}

static bool waits(const struct ww_episode *e, const struct ww_inst *in) {
    if (in->op == WW_OP_FENCE || (in->op == WW_OP_ASYNC_WAIT && e->async)) return true;
    for (uint32_t i = 0; i < in->src_count; i++)
        if (touches(e, &in->src[i])) return true;
    for (uint32_t i = 0; i < in->dst_count; i++)
        if (touches(e, &in->dst[i])) return true;
    return false;
}

static void close_episode(struct ww_profile_run *run, struct ww_episode *e) {
    if (run->episode) run->episode(run->context, e->far);
    memset(e, 0, sizeof *e);
}

static void open_episode(struct ww_episode *e, const struct ww_inst *in, const double far[2]) {
    if (in->dst_count == 0 && in->op != WW_OP_ASYNC_COPY) return;
    for (uint32_t d = 0; d < in->dst_count; d++)
        for (uint32_t r = in->dst[d].reg; r < in->dst[d].reg + (uint32_t)in->dst[d].n && r < WW_REG_COUNT; r++)
            e->pending[r / 64] |= 1ull << (r % 64);
    e->async |= in->op == WW_OP_ASYNC_COPY;
    for (int k = 0; k < 2; k++)
        if (far[k] > e->far[k]) e->far[k] = far[k];
    e->open = true;
}

/* One instruction of a warp; true if it used memory. */
static bool step_once(struct runner *r, struct ww_walk *w, struct ww_episode *e) {
    struct ww_profile_run *run = r->run;
    const struct ww_step *s = &w->stream->step[w->step++];
    const struct ww_inst *in = &r->launch->inst[s->inst];
    const struct ww_access *a = in->flags & WW_INST_ACCESS ? &w->stream->access[w->access++] : NULL;
    struct ww_walk_line line[WW_WALK_LINES];
    double far[2] = {0, 0};
    if (e->open && waits(e, in)) close_episode(run, e);
    if (run->step) run->step(run->context, w, in, s->mask, a, w->step == w->stream->step_count);
    run->done++;
    enum ww_walk_kind kind = a && s->mask ? ww_walk_kind(in) : WW_WALK_NONE;
    if (kind == WW_WALK_NONE) return false;
    unsigned n = ww_walk_lines(w, in, a, s->mask, line);
    run->access(run->context, kind, line, n, far);
    if (kind != WW_WALK_STORE) open_episode(e, in, far);
    return true;
}

/* CTAs that are far apart in the file would each keep a decoded group in memory. */
static bool keeps(const struct runner *r) {
    return r->run->stride > 1;
}

static enum ww_code load(const struct runner *r, uint64_t index, struct ww_cta_trace *out,
                         struct ww_error *error) {
    struct ww_cta_trace cta;
    if (!keeps(r)) return ww_trace_load_cta(r->run->trace, r->run->launch, index, out, error);
    WW_TRY(ww_trace_load_cta(r->run->trace, r->run->launch, index, &cta, error));
    enum ww_code code = ww_keep_cta(r->launch, &cta, out, error);
    ww_trace_release_cta(r->run->trace, &cta);
    return code;
}

static void release(const struct runner *r, struct slot *s) {
    if (keeps(r))
        ww_kept_free(&s->cta);
    else
        ww_trace_release_cta(r->run->trace, &s->cta);
    s->resident = false;
}

static void end_cta(struct runner *r, struct slot *s, uint64_t index) {
    if (r->run->cta) r->run->cta(r->run->context, index, s->instructions);
    release(r, s);
    r->run->done_ctas++;
}

/* Puts the next CTA into a free slot, if there is one. */
static enum ww_code fill(struct runner *r, uint32_t i, struct ww_error *error) {
    struct slot *s = &r->slot[i];
    if (r->left == 0) return WW_OK;
    uint64_t cta = ww_trace_next_cta(r->run->trace, r->run->launch, r->next);
    if (cta >= r->launch->cta_count) {
        r->left = 0;
        return WW_OK;
    }
    WW_TRY(load(r, cta, &s->cta, error));
    r->next = cta + r->run->stride;
    r->left--;
    s->resident = true;
    s->instructions = 0;
    s->live = s->cta.warp_count < r->warps ? s->cta.warp_count : r->warps;
    for (uint32_t w = 0; w < s->live; w++) {
        r->walk[i * r->warps + w] = (struct ww_walk){.stream = &s->cta.warp[w], .id = i * r->warps + w};
        memset(&r->episode[i * r->warps + w], 0, sizeof *r->episode);
        s->instructions += s->cta.warp[w].step_count;
    }
    return WW_OK;
}

/* Each warp of the slot up to its next access. False: none has anything left. */
static bool turn(struct runner *r, uint32_t i) {
    struct slot *s = &r->slot[i];
    bool any = false;
    for (uint32_t w = 0; w < s->live; w++) {
        struct ww_walk *walk = &r->walk[i * r->warps + w];
        struct ww_episode *e = &r->episode[i * r->warps + w];
        if (walk->step >= walk->stream->step_count) continue;
        while (walk->step < walk->stream->step_count && !step_once(r, walk, e)) continue;
        if (walk->step >= walk->stream->step_count && e->open) close_episode(r->run, e);
        any |= walk->step < walk->stream->step_count;
    }
    return any;
}

static enum ww_code round_of_turns(struct runner *r, bool *any, struct ww_error *error) {
    *any = false;
    for (uint32_t i = 0; i < r->run->slots; i++) {
        struct slot *s = &r->slot[i];
        if (!s->resident) WW_TRY(fill(r, i, error));
        if (!s->resident) continue;
        *any = true;
        if (!turn(r, i)) end_cta(r, s, s->cta.index);
    }
    if (*any && r->run->go_on && !r->run->go_on(r->run->context, r->run->done))
        return ww_fail(error, WW_FAIL, "profile", "stopped before the end");
    return WW_OK;
}

static enum ww_code run_all(struct runner *r, struct ww_error *error) {
    for (bool any = true; any;) {
        WW_TRY(round_of_turns(r, &any, error));
        if (r->run->steps && r->run->done >= r->run->steps) break;
    }
    return WW_OK;
}

enum ww_code ww_profile_run(struct ww_profile_run *run, struct ww_error *error) {
    struct runner r = {.run = run, .next = run->first, .left = run->most};
    WW_TRY(ww_trace_launch(run->trace, run->launch, &r.launch, error));
    r.warps = r.launch->warps_per_cta ? r.launch->warps_per_cta : 1;
    if (run->slots > run->most) run->slots = (uint32_t)run->most;
    r.slot = calloc(run->slots + 1u, sizeof *r.slot);
    r.walk = calloc((size_t)run->slots * r.warps + 1u, sizeof *r.walk);
    r.episode = calloc((size_t)run->slots * r.warps + 1u, sizeof *r.episode);
    enum ww_code code = r.slot && r.walk && r.episode ? run_all(&r, error) : ww_fail_nomem(error, "profile");
    for (uint32_t i = 0; r.slot && i < run->slots; i++)
        if (r.slot[i].resident) release(&r, &r.slot[i]);
    free(r.slot);
    free(r.walk);
    free(r.episode);
    return code;
}
