/* d2ma.c: the kind d2ma: bulk transfers in the place of copies. */
#include "d2ma_look.h"
#include <string.h>

static enum ww_code begin_launch(struct ww_tf *t) {
    struct ww_d2 *d = t->d2 = ww_arena_array(&t->launch_arena, 1, sizeof *t->d2);
    uint32_t n = t->launch->inst_count;
    const struct ww_launch *l = NULL;
    size_t index = 0;
    if (!d) return ww_fail_nomem(t->error, "a transform");
    for (;; index++) {
        WW_TRY(ww_trace_launch(t->trace, index, &l, t->error));
        if (l == t->launch) break;
    }
    WW_TRY(ww_copy_find(t->trace, index, 64, &t->launch_arena, &d->role, &d->found, t->error));
    d->launch = t->launch;
    d->n = n;
    d->row = n / 64 + 1;
    d->producers = ww_arena_array(&t->launch_arena, (size_t)n * d->row + 1, sizeof *d->producers);
    d->to = ww_arena_array(&t->launch_arena, (size_t)n * d->row + 1, sizeof *d->to);
    d->kept = ww_arena_array(&t->launch_arena, (size_t)n + 1, 1);
    d->gone = ww_arena_array(&t->launch_arena, (size_t)n + 1, 1);
    return d->producers && d->to && d->kept && d->gone ? WW_OK : ww_fail_nomem(t->error, "a transform");
}

static enum ww_code look(struct ww_tf *t) {
    if (!t->d2 || t->d2->launch != t->launch) WW_TRY(begin_launch(t));
    return t->d2->found ? ww_d2_look(t, t->d2) : WW_OK;
}

/* A transfer's start reads the tile's address, which two instructions compute, and the region of a halo, which
 * six do; what configures a buffer reads nothing. */
static enum ww_code groups(struct ww_tf *t) {
    struct ww_d2 *d = t->d2;
    struct ww_tf_code *c = &t->code;
    uint32_t base = ww_tf_free_registers(t->launch, 2);
    d->decided = true;
    if (!d->found) return WW_OK;
    t->changed = true;
    if (base == WW_TF_NONE) return ww_tf_refuse(t, "no registers are left for the tile's address");
    WW_TRY(ww_d2_flow(d, &t->launch_arena, t->error));
    c->gone = d->gone;
    d->region = ww_tf_group(c); /* is it the first, the last, for each axis; and the region's number */
    static const char *const which[WW_TF_GROUP_MAX] = {"ISETP", "ISETP", "SEL", "ISETP", "SEL", "IADD3"};
    for (uint32_t k = 0; k < WW_TF_GROUP_MAX; k++) ww_tf_add(c, d->region, WW_OP_INT, which[k], base, base);
    d->configure = ww_tf_group(c);
    ww_tf_add(c, d->configure, WW_OP_DMA, "DMA.CONFIGURE", WW_TF_NONE, WW_TF_NONE);
    d->execute = ww_tf_group(c);
    ww_tf_add(c, d->execute, WW_OP_IMUL, "IMAD", base, WW_TF_NONE);
    ww_tf_add(c, d->execute, WW_OP_IMUL, "IMAD.HI", base + 1, WW_TF_NONE);
    ww_tf_add(c, d->execute, WW_OP_DMA, "DMA.EXECUTE", WW_TF_NONE, base);
    if (c->failed) return ww_fail_nomem(t->error, "a transform");
    c->group[d->execute].inst[2].src[0].n = 2;
    c->group[d->execute].inst[2].flags |= WW_INST_ACCESS;
    return WW_OK;
}

static bool same_shape(const struct ww_dma *a, const struct ww_dma *b) {
    return a->rows == b->rows && a->columns == b->columns && a->stride == b->stride && a->two == b->two &&
           a->mode == b->mode && a->halo_rows == b->halo_rows && a->halo_columns == b->halo_columns;
}

static void start(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step, const struct ww_dma *tile,
                  struct ww_dma *was) {
    uint64_t word[WW_DMA_WORDS];
    if (!same_shape(tile, was)) ww_tf_put(t, cta, warp, step, t->d2->configure);
    if (tile->mode == WW_DMA_HALO) ww_tf_put(t, cta, warp, step, t->d2->region);
    *was = *tile;
    ww_tf_put(t, cta, warp, step, t->d2->execute);
    if (t->planning) return;
    ww_dma_pack(tile, word);
    ww_tf_words(t->stream, t->stream->step[t->stream->steps - 1].mask, word, WW_DMA_WORDS);
}

static void warp(struct ww_tf *t, uint32_t cta, uint32_t w) {
    const struct ww_d2 *d = t->d2;
    const struct ww_warp_stream *s = &t->cta[cta].warp[w];
    struct ww_dma was[WW_DMA_BUFFERS];
    memset(was, 0, sizeof was);
    if (!d->found) {
        ww_tf_steps(t, cta, w, 0, s->step_count);
        return;
    }
    const uint32_t *begin = d->begin + (size_t)w * (d->phases + 1);
    for (uint32_t p = 0; p < d->phases; p++) {
        for (uint32_t k = d->first_tile[p]; k < d->first_tile[p + 1]; k++)
            start(t, cta, w, begin[p], &d->tile[k], &was[d->tile[k].buffer]);
        for (uint32_t i = begin[p]; i < begin[p + 1]; i++)
            if (!d->gone[s->step[i].inst]) ww_tf_copy_step(t, cta, w, i);
    }
}

const struct ww_tf_kind ww_tf_d2ma = {.name = "d2ma",
                                      .ctas_min = 1,
                                      .ctas_max = 1,
                                      .one_copy = true,
                                      .look = look,
                                      .groups = groups,
                                      .warp = warp};
