/* Decoding the accesses of a CTA group's warps. */
#include "../../estimator/base/bits.h"
#include "bytes.h"
#include "decode_int.h"
#include "predict.h"
#include <stdlib.h>
#include <string.h>

struct access_decoder {
    struct ww_wwt_decoder *x;
    struct ww_wwt_predictor p;
    struct ww_arena lanes; /* of the instruction states */
};

/* Room for one more list. */
static bool reserve_pool(struct ww_wwt_decoder *x) {
    struct ww_wwt_decoded *d = x->d;
    if (d->pool_room - d->pool_count >= 32) return true;
    if (d->pool_count > WW_WWT_POOL_MAX)
        return ww_wwt_reject(x, &x->col[WW_WWT_COL_ACCESS], "a group has too many listed addresses");
    size_t room = d->pool_room ? d->pool_room * 2 : 4096;
    uint64_t *pool = realloc(d->pool, room * sizeof *pool);
    if (!pool) return ww_wwt_no_memory(x);
    d->pool = pool;
    d->pool_room = room;
    return true;
}

/* A signed difference whose varint is split over three columns. */
static inline uint64_t read_split(struct ww_cursor *c) {
    uint64_t byte = ww_wwt_byte(c), v = byte & 0x7f;
    if (byte >= 0x80) {
        byte = ww_wwt_byte(++c);
        v |= (byte & 0x7f) << 7;
        if (byte >= 0x80) {
            uint64_t high = ww_wwt_varint(++c);
            if (high >> 50) c->failed = true;
            v |= high << 14;
        }
    }
    return (v >> 1) ^ (~(v & 1) + 1);
}

static inline void add_to_all(uint64_t *restrict out, const uint64_t *restrict from, unsigned n,
                              uint64_t move) {
    for (unsigned i = 0; i < n; i++) out[i] = from[i] + move;
}

/* Copies n addresses moved by one distance. The compiler makes vectors of the loop with a fixed count. */
static void copy_moved(uint64_t *out, const uint64_t *from, unsigned n, uint64_t move) {
    if (n == 32)
        add_to_all(out, from, 32, move);
    else
        add_to_all(out, from, n, move);
}

/* Fills `out` with the list's addresses; false if the form does not apply here. */
static bool read_list(struct access_decoder *a, const struct ww_wwt_inst_state *s, unsigned form,
                      unsigned shift, const struct ww_wwt_context *context, uint64_t base, uint64_t *out) {
    struct ww_cursor *c = &a->x->col[WW_WWT_COL_LIST];
    const struct ww_access *ref = context->ref;
    uint32_t mask = context->mask;
    unsigned n = ww_bits(mask);
    if (form == WW_WWT_FORM_LIST) {
        *out = base;
        for (unsigned i = 1; i < n; i++) out[i] = out[i - 1] + (read_split(c) << shift);
        return true;
    }
    if (form == WW_WWT_FORM_REF_LIST) {
        if (!ref || ref->list == WW_AFFINE) return false;
        copy_moved(out, a->x->d->pool + ref->list, n, base - ref->base);
        return true;
    }
    if (form == WW_WWT_FORM_INDEX) {
        if (mask & ~a->p.index_mask) return false;
        for (uint32_t m = mask; m; m &= m - 1)
            *out++ = base + ww_wwt_index(&a->p, __builtin_ctz(m), context->shift) - context->index;
        return true;
    }
    if (mask & ~s->lane_mask) return false;
    uint64_t move = base - s->lane[__builtin_ctz(mask)];
    if (form == WW_WWT_FORM_LANES && n == 32) {
        copy_moved(out, s->lane, n, move);
        return true;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t from = s->lane[__builtin_ctz(m)];
        *out++ = form == WW_WWT_FORM_LANES ? from + move : from + (read_split(c) << shift);
    }
    return true;
}

static bool decode_list(struct access_decoder *a, struct ww_wwt_inst_state *s, unsigned form, unsigned shift,
                        const struct ww_wwt_context *c, uint64_t base, struct ww_access *out) {
    struct ww_wwt_decoder *x = a->x;
    struct ww_wwt_decoded *d = x->d;
    if (!reserve_pool(x)) return false;
    uint64_t *address = d->pool + d->pool_count;
    if (!c->mask || !read_list(a, s, form, shift, c, base, address))
        return ww_wwt_reject(x, &x->col[WW_WWT_COL_ACCESS], "an access's list refers to none");
    if (!s->lane && !(s->lane = ww_arena_alloc(&a->lanes, 32 * sizeof *s->lane))) return ww_wwt_no_memory(x);
    *out = (struct ww_access){.base = *address, .list = (uint32_t)d->pool_count};
    ww_wwt_learn_list(s, c->mask, address);
    d->pool_count += ww_bits(c->mask);
    return true;
}

static bool read_stride(struct ww_wwt_decoder *x, int32_t *stride) {
    int64_t v = (int64_t)ww_wwt_svarint(&x->col[WW_WWT_COL_STRIDE]);
    *stride = (int32_t)v;
    return v == *stride || ww_wwt_reject(x, &x->col[WW_WWT_COL_STRIDE], "a stride is out of range");
}

/* One access. `ref` is the same access of the last warp on this path, or NULL. */
static bool decode_access(struct access_decoder *a, const struct ww_step *step, const struct ww_access *ref,
                          struct ww_access *out) {
    struct ww_wwt_decoder *x = a->x;
    struct ww_wwt_inst_state *s = &a->p.inst[step->inst];
    unsigned token = ww_wwt_byte(&x->col[WW_WWT_COL_ACCESS]);
    unsigned kind = token & 7, form = token >> WW_WWT_FORM_SHIFT;
    if (form >= WW_WWT_FORM_COUNT || (form == WW_WWT_FORM_STEPS && kind != 0))
        return ww_wwt_reject(x, &x->col[WW_WWT_COL_ACCESS], "an access byte is unknown");
    bool list = form >= WW_WWT_FORM_LIST;
    struct ww_wwt_context c =
        ww_wwt_context(&a->p, s, list, step->mask, x->launch->inst[step->inst].width, ref);
    unsigned shift = token & WW_WWT_UNIT ? c.shift : 0;
    uint64_t base = ww_wwt_predict(&a->p, s, (enum ww_wwt_base)kind, &c);
    if (ww_wwt_has_off(kind)) base += read_split(&x->col[WW_WWT_COL_BASE]) << shift;
    if (list) {
        if (!decode_list(a, s, form, shift, &c, base, out)) return false;
    } else {
        if (form == WW_WWT_FORM_STRIDE && !read_stride(x, &s->stride)) return false;
        *out = (struct ww_access){base, s->stride, WW_AFFINE};
    }
    ww_wwt_learn(&a->p, s, out->base, &c);
    ww_wwt_learn_index(&a->p, kind, form, &c, out, list ? x->d->pool + out->list : NULL);
    return true;
}

static bool decode_warps(struct access_decoder *a, const uint32_t *warp_path, size_t warp_count) {
    struct ww_wwt_decoder *x = a->x;
    struct ww_access *out = x->d->access;
    for (size_t w = 0; w < warp_count; w++) {
        struct ww_wwt_path *path = &x->d->path[warp_path[w]];
        const struct ww_step *step = x->d->access_step + path->first_access;
        const struct ww_access *ref = path->ref;
        a->p.stamp = (uint32_t)w + 1;
        path->ref = path->access_count ? out : NULL;
        for (uint32_t i = 0; i < path->access_count; i++, out++)
            if (!decode_access(a, &step[i], ref ? &ref[i] : NULL, out)) return false;
    }
    for (int i = WW_WWT_COL_ACCESS; i < WW_WWT_COLUMNS; i++)
        if (x->col[i].failed) return ww_wwt_reject(x, &x->col[i], "the accesses are cut off");
    return true;
}

bool ww_wwt_decode_accesses(struct ww_wwt_decoder *x, const uint32_t *warp_path, size_t warp_count) {
    struct access_decoder a = {.x = x};
    ww_arena_init(&a.lanes, 0);
    a.p.inst = calloc((size_t)x->launch->inst_count + 1, sizeof *a.p.inst);
    bool ok = a.p.inst ? decode_warps(&a, warp_path, warp_count) : ww_wwt_no_memory(x);
    free(a.p.inst);
    ww_arena_free(&a.lanes);
    return ok;
}
