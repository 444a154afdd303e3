/* Allocation and release of shared memory around each region, as section 5 of the paper inserts them; and
 * barriers in the same places, with which figure 1 measures how long shared memory is used. */
#include "transform.h"

static enum ww_code groups(struct ww_tf *t, const char *take, const char *give) {
    uint32_t bytes = t->launch->shared_static + t->launch->shared_dynamic - (uint32_t)t->split;
    struct ww_tf_code *c = &t->code;
    t->give = ww_tf_group(c); /* a release at a place comes before an allocation there */
    ww_tf_add(c, t->give, WW_OP_BARRIER, give, WW_TF_NONE, WW_TF_NONE);
    t->take = ww_tf_group(c);
    ww_tf_add(c, t->take, WW_OP_BARRIER, take, WW_TF_NONE, WW_TF_NONE);
    if (c->failed || bytes == 0) return WW_OK;
    c->group[t->give].inst[0].bytes = c->group[t->take].inst[0].bytes = bytes;
    c->group[t->give].inst[0].flags = WW_INST_SMEM_FREE;
    c->group[t->take].inst[0].flags = WW_INST_SMEM_ALLOC;
    return WW_OK;
}

enum ww_code ww_tf_allocate_groups(struct ww_tf *t) {
    return groups(t, "BAR.ALLOC", "BAR.FREE");
}

/* Memory that other warps may see: a barrier may be there to order it. */
static bool orders(const struct ww_inst *in) {
    bool memory = in->op >= WW_OP_LOAD && in->op <= WW_OP_ASYNC_COPY;
    return memory && in->space != WW_SPACE_CONST && in->space != WW_SPACE_LOCAL;
}

/* Whether nothing that a barrier orders stands between steps of each warp: after its barrier number `b` and
 * before the region, or from the region to its barrier. */
static bool redundant(struct ww_tf *t, uint32_t b, uint32_t k, bool before) {
    const struct ww_regions *r = &t->regions[0];
    for (uint32_t w = 0; w < r->warps; w++) {
        uint32_t bar = r->barrier[(size_t)w * r->barriers + b];
        const struct ww_span *s = ww_tf_span(t, 0, k, w);
        uint32_t from = before ? bar + 1 : s->end, to = before ? s->begin : bar;
        for (uint32_t i = from; i < to; i++)
            if (orders(ww_tf_inst(t, 0, w, i))) return false;
    }
    return true;
}

/* Marks the barriers just before and just behind region k, which the allocation's own replace. */
static bool replaced(struct ww_tf *t, uint32_t warp, uint32_t step) {
    const struct ww_regions *r = &t->regions[0];
    uint32_t b = 0;
    while (r->barrier[(size_t)warp * r->barriers + b] != step) b++;
    for (uint32_t k = 0; k < r->count; k++) {
        const struct ww_span *s = ww_tf_span(t, 0, k, warp);
        bool next = b + 1 >= r->barriers || r->barrier[(size_t)warp * r->barriers + b + 1] >= s->begin;
        bool last = b == 0 || r->barrier[(size_t)warp * r->barriers + b - 1] < s->end;
        if (step < s->begin && next && redundant(t, b, k, true)) return true;
        if (step >= s->end && last && redundant(t, b, k, false)) return true;
    }
    return false;
}

static void between(struct ww_tf *t, uint32_t warp, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (ww_tf_inst(t, 0, warp, i)->op != WW_OP_BARRIER || !replaced(t, warp, i))
            ww_tf_steps(t, 0, warp, i, i + 1);
}

void ww_tf_allocate_warp(struct ww_tf *t, uint32_t cta, uint32_t warp) {
    uint32_t at = 0;
    for (uint32_t k = 0; k < t->regions[cta].count; k++) {
        struct ww_span s = *ww_tf_span(t, cta, k, warp);
        between(t, warp, at, s.begin);
        ww_tf_put(t, cta, warp, s.begin, t->take);
        ww_tf_late_stores(t, cta, warp, s.begin);
        ww_tf_steps(t, cta, warp, s.begin, s.end);
        ww_tf_put(t, cta, warp, s.end, t->give);
        at = s.end;
    }
    between(t, warp, at, t->cta[cta].warp[warp].step_count);
}

const struct ww_tf_kind ww_tf_hw = {.name = "hw",
                                    .ctas_min = 1,
                                    .ctas_max = 1,
                                    .one_copy = true,
                                    .groups = ww_tf_allocate_groups,
                                    .warp = ww_tf_allocate_warp};
