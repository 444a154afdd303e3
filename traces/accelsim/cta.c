/* CTAs that are being put together. */
#include "import.h"
#include "../wwt/writer.h"
#include <stdlib.h>
#include <string.h>

enum ww_code ww_as_cta_new(const struct ww_as_import *im, uint64_t index, struct ww_as_cta **out,
                           struct ww_error *error) {
    struct ww_as_cta *c = calloc(1, sizeof *c);
    *out = NULL;
    if (c) c->warp = calloc(im->launch.warps_per_cta, sizeof *c->warp);
    if (!c || !c->warp) {
        free(c);
        return ww_fail_nomem(error, "a CTA");
    }
    c->index = index;
    *out = c;
    return WW_OK;
}

void ww_as_cta_free(const struct ww_as_import *im, struct ww_as_cta *cta) {
    if (!cta) return;
    for (uint32_t i = 0; i < im->launch.warps_per_cta; i++) {
        free(cta->warp[i].step);
        free(cta->warp[i].access);
        free(cta->warp[i].pool);
    }
    free(cta->warp);
    free(cta);
}

void ww_as_cta_reset(const struct ww_as_import *im, struct ww_as_cta *cta) {
    for (uint32_t i = 0; i < im->launch.warps_per_cta; i++) {
        struct ww_as_warp *w = &cta->warp[i];
        w->step_count = w->access_count = w->pool_count = 0;
        w->last_mask = w->exited = 0;
        w->last_copy = NULL;
        w->poll = NULL;
        w->started = false;
    }
}

static bool grow(void **p, uint32_t *room, uint32_t count, unsigned more, size_t size) {
    if (more <= *room - count) return true;
    uint64_t want = *room ? (uint64_t)*room * 2 : 16;
    if (want < (uint64_t)count + more) want = (uint64_t)count + more;
    if (want > UINT32_MAX / 2) return false;
    void *q = realloc(*p, (size_t)want * size);
    if (!q) return false;
    *p = q;
    *room = (uint32_t)want;
    return true;
}

bool ww_as_warp_room(struct ww_as_warp *w, unsigned steps, unsigned accesses, unsigned addresses) {
    return grow((void **)&w->step, &w->step_room, w->step_count, steps, sizeof *w->step) &&
           grow((void **)&w->access, &w->access_room, w->access_count, accesses, sizeof *w->access) &&
           grow((void **)&w->pool, &w->pool_room, w->pool_count, addresses, sizeof *w->pool);
}

uint32_t ww_as_lanes(const struct ww_launch *launch, uint32_t warp) {
    uint32_t left = launch->block[0] * launch->block[1] * launch->block[2] - 32 * warp;
    return left >= 32 ? UINT32_MAX : (1u << left) - 1;
}

enum ww_code ww_as_cta_index(const struct ww_as_import *im, const uint32_t cta[3], uint64_t *index,
                             struct ww_error *error) {
    const uint32_t *g = im->launch.grid;
    if (cta[0] >= g[0] || cta[1] >= g[1] || cta[2] >= g[2])
        return ww_as_bad(im->parser.in, error, "CTA %u,%u,%u; the grid has %u,%u,%u", cta[0], cta[1], cta[2],
                         g[0], g[1], g[2]);
    *index = cta[0] + g[0] * (cta[1] + (uint64_t)g[1] * cta[2]);
    return WW_OK;
}

/* The table as it is now. */
static void set_code(struct ww_as_import *im) {
    const struct ww_as_code *c = im->parser.code;
    im->launch.inst = c->inst;
    im->launch.inst_count = c->inst_count;
    im->launch.string = c->string;
    im->launch.string_count = c->string_count;
}

enum ww_code ww_as_cta_finish(struct ww_as_import *im, struct ww_as_cta *cta, struct ww_error *error) {
    static const struct ww_step none;
    uint32_t warps = im->launch.warps_per_cta;
    for (uint32_t i = 0; i < warps; i++) {
        const struct ww_as_warp *w = &cta->warp[i];
        im->stream[i] = (struct ww_warp_stream){w->step_count ? w->step : &none, w->access, w->pool,
                                                w->step_count, w->access_count};
        im->stats->warp_instructions += w->step_count;
        for (uint32_t k = 0; k < w->step_count; k++)
            im->stats->thread_instructions += (unsigned)__builtin_popcount(w->step[k].mask);
    }
    struct ww_cta_trace out = {.index = cta->index, .warp_count = warps, .warp = im->stream};
    set_code(im);
    WW_TRY(ww_trace_writer_grow(im->writer, &im->launch, error));
    enum ww_code code = ww_trace_writer_cta(im->writer, &out, error);
    if (code == WW_USAGE)
        return ww_as_bad(im->parser.in, error, "CTA number %llu appears twice", (unsigned long long)cta->index);
    im->stats->ctas++;
    ww_as_gaps_cta(im, cta);
    return code;
}
