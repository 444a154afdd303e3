/* Decoding the accesses of a CTA group's warps. */
#include "../../estimator/base/bits.h"
#include "bytes.h"
#include "decode_int.h"
#include "predict.h"
#include <stdlib.h>
#include <string.h>

/* Lists that are moved copies of one another have one shape: the place of the first of them. The word in front
 * of a list names its shape, and in its upper half how far its addresses lie apart
 * at most. Kernels come back to the same addresses of shared memory again and again, and
 * equal lists (shape and base) need to be there once only: what is decoded then fits the host's caches. */
struct known_list {
    uint64_t base;
    uint32_t shape, list; /* shape 0: none */
};

enum { KNOWN_BITS = 11, KNOWN_LISTS = 1 << KNOWN_BITS };

struct access_decoder {
    struct ww_wwt_decoder *x;
    struct ww_wwt_predictor p;
    struct ww_arena lanes;    /* of the instruction states */
    struct known_list *known; /* by hash of shape and base, the latest */
    uint32_t *last;           /* by instruction: the list that its lane addresses are of, 0: none */
};

/* Room for one more list. */
static bool reserve_pool(struct ww_wwt_decoder *x) {
    struct ww_wwt_decoded *d = x->d;
    if (d->pool_room - d->pool_count >= 33) return true;
    if (d->pool_count > WW_WWT_POOL_MAX)
        return ww_wwt_reject(x, &x->col[WW_WWT_COL_ACCESS], "a group has too many listed addresses");
    size_t room = d->pool_room ? d->pool_room * 2 : 4096;
    uint64_t *pool = ww_wwt_more_room(d, d->pool, &d->pool_room, room, sizeof *pool);
    if (!pool) return ww_wwt_no_memory(x);
    d->pool = pool;
    return true;
}

/* A number whose varint is split over three columns. */
static inline uint64_t read_number(struct ww_cursor *c) {
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
    return v;
}

/* A signed difference, written so. */
static inline uint64_t read_split(struct ww_cursor *c) {
    uint64_t v = read_number(c);
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
    if (form & WW_WWT_LOWEST) {
        uint64_t lowest = ww_wwt_lowest(s);
        for (unsigned i = 0; i < n; i++) out[i] = lowest + (read_number(c) << shift);
        return true;
    }
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

/* The shape of a list in this form: 0 if it may be a new one. `last`: the list of the instruction's lanes. */
static uint32_t shape_of(const struct access_decoder *a, const struct ww_wwt_inst_state *s, unsigned form,
                         const struct ww_wwt_context *c, uint32_t last) {
    const uint64_t *pool = a->x->d->pool;
    if (form == WW_WWT_FORM_REF_LIST)
        return c->ref && c->ref->list != WW_AFFINE ? (uint32_t)pool[c->ref->list - 1] : 0;
    return form == WW_WWT_FORM_LANES && last && s->lane_mask == c->mask ? (uint32_t)pool[last - 1] : 0;
}

/* Where a list of this shape and base would be noted. */
static struct known_list *known_at(const struct access_decoder *a, uint32_t shape, uint64_t base) {
    return &a->known[((base + shape) * 0x9e3779b97f4a7c15u) >> (64 - KNOWN_BITS)];
}

/* Distance from the lowest to the highest of a list's addresses, 0 if it is too far for an access's field. */
static uint64_t span_of(const uint64_t *address, unsigned n) {
    uint64_t low = address[0], high = address[0];
    for (unsigned i = 1; i < n; i++) {
        low = address[i] < low ? address[i] : low;
        high = address[i] > high ? address[i] : high;
    }
    return high - low <= INT32_MAX ? high - low : 0;
}

/* Adds a list to the pool; returns its place, 0 after an error. */
static uint32_t add_list(struct access_decoder *a, const struct ww_wwt_inst_state *s, unsigned form,
                         unsigned shift, const struct ww_wwt_context *c, uint64_t base, uint32_t shape) {
    struct ww_wwt_decoder *x = a->x;
    struct ww_wwt_decoded *d = x->d;
    if (!reserve_pool(x)) return 0;
    uint32_t list = (uint32_t)d->pool_count + 1;
    if (!c->mask || !read_list(a, s, form, shift, c, base, d->pool + list)) {
        ww_wwt_reject(x, &x->col[WW_WWT_COL_ACCESS], "an access's list refers to none");
        return 0;
    }
    uint64_t span = shape ? d->pool[shape - 1] >> 32 : span_of(d->pool + list, ww_bits(c->mask));
    if (!shape) shape = list;
    d->pool[list - 1] = span << 32 | shape;
    d->pool_count += 1 + ww_bits(c->mask);
    *known_at(a, shape, d->pool[list]) = (struct known_list){d->pool[list], shape, list};
    return list;
}

static bool decode_list(struct access_decoder *a, uint32_t inst, unsigned form, unsigned shift,
                        const struct ww_wwt_context *c, uint64_t base, struct ww_access *out) {
    struct ww_wwt_inst_state *s = &a->p.inst[inst];
    uint32_t shape = shape_of(a, s, form, c, a->last[inst]), list;
    const struct known_list *known = known_at(a, shape, base);
    if (shape && known->shape == shape && known->base == base)
        list = known->list;
    else if (!(list = add_list(a, s, form, shift, c, base, shape)))
        return false;
    const uint64_t *address = a->x->d->pool + list;
    *out = (struct ww_access){.base = *address, .stride = (int32_t)(address[-1] >> 32), .list = list};
    if (a->last[inst] == list && s->lane_mask == c->mask) return true;
    if (!s->lane && !(s->lane = ww_arena_alloc(&a->lanes, 32 * sizeof *s->lane))) return ww_wwt_no_memory(a->x);
    ww_wwt_learn_list(s, c->mask, address);
    a->last[inst] = list;
    return true;
}

/* A list of one lane, which becomes affine: it takes no place in the pool. */
static bool decode_lane(struct access_decoder *a, uint32_t inst, unsigned form, unsigned shift,
                        const struct ww_wwt_context *c, uint64_t base, struct ww_access *out) {
    struct ww_wwt_inst_state *s = &a->p.inst[inst];
    uint64_t address = base;
    if (form == WW_WWT_FORM_REF_LIST ? !c->ref : !read_list(a, s, form, shift, c, base, &address))
        return ww_wwt_reject(a->x, &a->x->col[WW_WWT_COL_ACCESS], "an access's list refers to none");
    if (!s->lane && !(s->lane = ww_arena_alloc(&a->lanes, 32 * sizeof *s->lane))) return ww_wwt_no_memory(a->x);
    s->lane_mask = c->mask;
    s->lane[__builtin_ctz(c->mask)] = address;
    a->last[inst] = 0;
    *out = (struct ww_access){address, 0, WW_AFFINE};
    return true;
}

static bool read_stride(struct ww_wwt_decoder *x, int32_t *stride) {
    int64_t v = (int64_t)ww_wwt_svarint(&x->col[WW_WWT_COL_STRIDE]);
    *stride = (int32_t)v;
    return v == *stride || ww_wwt_reject(x, &x->col[WW_WWT_COL_STRIDE], "a stride is out of range");
}

/* What version 3 adds: forms 0 to 2 with distances from the lowest address instead of a base. Only their kind
 * is 0. */
static bool is_distance(const struct ww_wwt_decoder *x, unsigned form, unsigned kind) {
    return x->version >= WW_WWT_VERSION_SUBSET && kind == 0 && form >= WW_WWT_LOWEST &&
           form <= (WW_WWT_FORM_LIST | WW_WWT_LOWEST);
}

/* An affine access whose first active lane has a distance. */
static struct ww_access affine_distance(struct ww_wwt_decoder *x, const struct ww_wwt_inst_state *s,
                                        uint32_t mask, unsigned shift) {
    uint64_t first = ww_wwt_lowest(s) + (read_number(&x->col[WW_WWT_COL_BASE]) << shift);
    uint64_t by = (uint64_t)((int64_t)s->stride * (mask ? __builtin_ctz(mask) : 0));
    return (struct ww_access){first - by, s->stride, WW_AFFINE};
}

/* One access. `ref` is the same access of the last warp on this path, or NULL. */
static bool decode_access(struct access_decoder *a, const struct ww_step *step, const struct ww_access *ref,
                          struct ww_access *out) {
    struct ww_wwt_decoder *x = a->x;
    struct ww_wwt_inst_state *s = &a->p.inst[step->inst];
    unsigned token = ww_wwt_byte(&x->col[WW_WWT_COL_ACCESS]);
    unsigned kind = token & 7, form = token >> WW_WWT_FORM_SHIFT;
    if (form >= WW_WWT_FORM_COUNT ? !is_distance(x, form, kind) : form == WW_WWT_FORM_STEPS && kind != 0)
        return ww_wwt_reject(x, &x->col[WW_WWT_COL_ACCESS], "an access byte is unknown");
    bool list = (form & ~WW_WWT_LOWEST) >= WW_WWT_FORM_LIST;
    struct ww_wwt_context c =
        ww_wwt_context(&a->p, s, list, step->mask, x->launch->inst[step->inst].width, ref);
    unsigned shift = token & WW_WWT_UNIT ? c.shift : 0;
    uint64_t base = ww_wwt_predict(&a->p, s, (enum ww_wwt_base)kind, &c);
    if (ww_wwt_has_off(kind)) base += read_split(&x->col[WW_WWT_COL_BASE]) << shift;
    bool one = step->mask && !(step->mask & (step->mask - 1));
    if (list) {
        if (!(one ? decode_lane : decode_list)(a, step->inst, form, shift, &c, base, out)) return false;
    } else {
        if ((form & ~WW_WWT_LOWEST) == WW_WWT_FORM_STRIDE && !read_stride(x, &s->stride)) return false;
        if (form & WW_WWT_LOWEST)
            *out = affine_distance(x, s, step->mask, shift);
        else
            *out = (struct ww_access){base, s->stride, WW_AFFINE};
    }
    ww_wwt_learn(&a->p, s, out->base, &c);
    const uint64_t *address = out->list == WW_AFFINE ? &out->base : x->d->pool + out->list;
    ww_wwt_learn_index(&a->p, s, kind, form, &c, out, list ? address : NULL);
    return true;
}

/* Affine, with the instruction's last stride, and where it is predicted to be: no column has more of it. */
static inline bool is_predicted(unsigned token) {
    unsigned kinds =
        1u << WW_WWT_BASE_REF | 1u << WW_WWT_BASE_LINEAR | 1u << WW_WWT_BASE_CHAIN | 1u << WW_WWT_BASE_INDEX;
    return token >> WW_WWT_FORM_SHIFT == WW_WWT_FORM_AFFINE && (kinds >> (token & 7) & 1);
}

/* Decodes such accesses of a warp, the usual ones, from number i of n on; returns the number of the first that
 * is another one. */
static uint32_t decode_predicted(struct access_decoder *a, const struct ww_step *step,
                                 const struct ww_access *ref, struct ww_access *out, uint32_t i, uint32_t n) {
    struct ww_cursor *c = &a->x->col[WW_WWT_COL_ACCESS];
    const struct ww_inst *inst = a->x->launch->inst;
    if (n - i > (size_t)(c->end - c->p)) n = i + (uint32_t)(c->end - c->p);
    const unsigned char *token = c->p;
    for (; i < n && is_predicted(*token); i++, token++) {
        struct ww_wwt_inst_state *s = &a->p.inst[step[i].inst];
        struct ww_wwt_context context =
            ww_wwt_context(&a->p, s, false, step[i].mask, inst[step[i].inst].width, ref ? &ref[i] : NULL);
        uint64_t base = ww_wwt_predict(&a->p, s, (enum ww_wwt_base)(*token & 7), &context);
        out[i] = (struct ww_access){base, s->stride, WW_AFFINE};
        ww_wwt_learn(&a->p, s, base, &context);
    }
    c->p = token;
    return i;
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
        for (uint32_t i = 0, n = path->access_count;; i++) {
            i = decode_predicted(a, step, ref, out, i, n);
            if (i == n) break;
            if (!decode_access(a, &step[i], ref ? &ref[i] : NULL, &out[i])) return false;
        }
        out += path->access_count;
    }
    for (int i = WW_WWT_COL_ACCESS; i < WW_WWT_COLUMNS; i++)
        if (x->col[i].failed) return ww_wwt_reject(x, &x->col[i], "the accesses are cut off");
    return true;
}

bool ww_wwt_decode_accesses(struct ww_wwt_decoder *x, const uint32_t *warp_path, size_t warp_count) {
    struct access_decoder a = {.x = x};
    size_t insts = (size_t)x->launch->inst_count + 1;
    ww_arena_init(&a.lanes, 0);
    a.p.inst = calloc(insts, sizeof *a.p.inst);
    a.last = calloc(insts, sizeof *a.last);
    a.known = calloc(KNOWN_LISTS, sizeof *a.known);
    bool ok = a.p.inst && a.last && a.known ? decode_warps(&a, warp_path, warp_count) : ww_wwt_no_memory(x);
    free(a.p.inst);
    free(a.last);
    free(a.known);
    ww_arena_free(&a.lanes);
    return ok;
}
