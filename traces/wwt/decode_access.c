/* Decoding the accesses of a CTA group's warps. */
#include "../../estimator/base/bits.h"
#include "bytes.h"
#include "decode_int.h"
#include "predict.h"
#include <stdlib.h>
#include <string.h>

/* A list of offsets, which all accesses share whose lists are moved copies of one another. Kernels come back to
 * the same pattern of addresses again and again: what is decoded then fits the host's caches. */
struct shape {
    uint32_t list; /* 0: none */
    int32_t span;  /* an access's stride */
};

/* Of an instruction: the list of its last access with one. The predictor's `moved` is behind it. */
struct last_list {
    struct shape shape; /* none if it is not shared */
    uint64_t base;
    unsigned shift; /* log2 of the width of the instruction's accesses */
};

/* A warp whose accesses are there, while the predictor has not learned them. */
struct unlearned {
    const unsigned char *token; /* bytes of its accesses */
    const struct ww_step *step;
    const struct ww_access *ref, *access;
    uint32_t count, stamp;
};

struct access_decoder {
    struct ww_wwt_decoder *x;
    struct ww_wwt_predictor p;
    struct ww_arena lanes;         /* of the instruction states */
    struct last_list *last;        /* by instruction */
    struct unlearned unlearned[2]; /* the latest first, see learn_moved */
    unsigned unlearned_count;
};

/* Room for one more list. */
static bool reserve_pool(struct ww_wwt_decoder *x) {
    struct ww_wwt_decoded *d = x->d;
    if (d->pool_room - d->pool_count >= 32) return true;
    if (d->pool_count > WW_WWT_POOL_MAX)
        return ww_wwt_reject(x, &x->col[WW_WWT_COL_ACCESS], "a group has too many listed addresses");
    size_t room = d->pool_room ? d->pool_room * 2 : 4096;
    uint64_t *pool = realloc(d->growing, room * sizeof *pool);
    if (!pool) return ww_wwt_no_memory(x);
    d->growing = pool;
    d->pool_room = room;
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
        for (unsigned i = 0; i < n; i++) out[i] = ww_listed(ref, a->x->d->growing, i) + base - ref->base;
        return true;
    }
    if (form == WW_WWT_FORM_INDEX) {
        if (mask & ~a->p.index_mask) return false;
        for (uint32_t m = mask; m; m &= m - 1)
            *out++ = base + ww_wwt_index(&a->p, __builtin_ctz(m), context->shift) - context->index;
        return true;
    }
    if (mask & ~s->lane_mask) return false;
    uint64_t move = form == WW_WWT_FORM_LANES ? base - s->lane[__builtin_ctz(mask)] : s->moved;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t from = s->lane[__builtin_ctz(m)] + move;
        *out++ = form == WW_WWT_FORM_LANES ? from : from + (read_split(c) << shift);
    }
    return true;
}

/* The shape of a list in this form: none if it may be a new one. `last`: of the instruction's lanes. */
static struct shape shape_of(const struct ww_wwt_inst_state *s, unsigned form, const struct ww_wwt_context *c,
                             struct shape last) {
    const struct ww_access *ref = form == WW_WWT_FORM_REF_LIST ? c->ref : NULL;
    if (ref && ref->list != WW_AFFINE && (ref->list & ~WW_LIST_PLACE))
        return (struct shape){ref->list, ref->stride};
    return form == WW_WWT_FORM_LANES && s->lane_mask == c->mask ? last : (struct shape){0, 0};
}

/* How far a list's addresses lie from its first one. */
struct extent {
    int64_t low, high; /* 0 or less, 0 or more */
};

static struct extent extent_of(const uint64_t *address, unsigned n) {
    struct extent e = {0, 0};
    for (unsigned i = 1; i < n; i++) {
        int64_t by = (int64_t)(address[i] - address[0]);
        e.low = by < e.low ? by : e.low;
        e.high = by > e.high ? by : e.high;
    }
    return e;
}

/* Distance from the lowest to the highest of a list's addresses, 0 if it is too far for an access's field. */
static int32_t span_of(const struct extent *e, uint64_t first) {
    bool wraps = first + (uint64_t)e->low > first || first + (uint64_t)e->high < first;
    return wraps || (uint64_t)e->high - (uint64_t)e->low > INT32_MAX ? 0 : (int32_t)(e->high - e->low);
}

/* Writes a list to where the pool has room for it; returns how an access names it. */
static uint32_t put_list(struct ww_wwt_decoded *d, const uint64_t *address, unsigned n,
                         const struct extent *e) {
    uint32_t at = (uint32_t)d->pool_count, in_word = 1;
    void *list = d->growing + at;
    if (e->low >= INT16_MIN && e->high <= INT16_MAX) {
        for (unsigned i = 0; i < n; i++) ((int16_t *)list)[i] = (int16_t)(address[i] - address[0]);
        at |= WW_LIST_16;
        in_word = 4;
    } else if (e->low >= INT32_MIN && e->high <= INT32_MAX) {
        for (unsigned i = 0; i < n; i++) ((int32_t *)list)[i] = (int32_t)(address[i] - address[0]);
        at |= WW_LIST_32;
        in_word = 2;
    } else {
        memcpy(list, address, n * sizeof *address);
    }
    d->pool_count += (n + in_word - 1) / in_word;
    return at;
}

/* Reads a list, whose addresses `address` is filled with, into the pool. */
static bool add_list(struct access_decoder *a, const struct ww_wwt_inst_state *s, unsigned form, unsigned shift,
                     const struct ww_wwt_context *c, uint64_t base, uint64_t address[32], struct shape *out) {
    struct ww_wwt_decoder *x = a->x;
    unsigned n = ww_bits(c->mask);
    if (!reserve_pool(x)) return false;
    if (!c->mask || !read_list(a, s, form, shift, c, base, address))
        return ww_wwt_reject(x, &x->col[WW_WWT_COL_ACCESS], "an access's list refers to none");
    struct extent e = extent_of(address, n);
    *out = (struct shape){put_list(x->d, address, n, &e), span_of(&e, *address)};
    return true;
}

/* *address: those of the list if they had to be looked at, in `room` or in the pool. */
static bool decode_list(struct access_decoder *a, uint32_t inst, unsigned form, unsigned shift,
                        const struct ww_wwt_context *c, uint64_t base, struct ww_access *out, uint64_t room[32],
                        const uint64_t **address) {
    struct ww_wwt_inst_state *s = &a->p.inst[inst];
    struct last_list *last = &a->last[inst];
    struct shape shape = shape_of(s, form, c, last->shape);
    bool known = shape.list;
    if (known && last->shape.list == shape.list && s->lane_mask == c->mask) {
        last->base = base;
        *out = (struct ww_access){base, shape.span, shape.list};
        return true;
    }
    if (!known && !add_list(a, s, form, shift, c, base, room, &shape)) return false;
    *out = (struct ww_access){known ? base : *room, shape.span, shape.list};
    *address = known ? ww_list_addresses(out, a->x->d->growing, ww_bits(c->mask), room) : room;
    if (!s->lane && !(s->lane = ww_arena_alloc(&a->lanes, 32 * sizeof *s->lane))) return ww_wwt_no_memory(a->x);
    ww_wwt_learn_list(s, c->mask, *address);
    last->shape = shape.list & ~WW_LIST_PLACE ? shape : (struct shape){0, 0};
    last->base = **address;
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
    s->moved = 0;
    s->lane[__builtin_ctz(c->mask)] = address;
    a->last[inst].shape = (struct shape){0, 0};
    a->last[inst].base = address;
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
    if (s->lane_mask) s->moved = a->last[step->inst].base - s->lane[__builtin_ctz(s->lane_mask)];
    struct ww_wwt_context c = ww_wwt_context(&a->p, s, list, step->mask, a->last[step->inst].shift, ref);
    unsigned shift = token & WW_WWT_UNIT ? c.shift : 0;
    uint64_t base = ww_wwt_predict(&a->p, s, (enum ww_wwt_base)kind, &c);
    if (ww_wwt_has_off(kind)) base += read_split(&x->col[WW_WWT_COL_BASE]) << shift;
    bool one = step->mask && !(step->mask & (step->mask - 1));
    uint64_t room[32];
    const uint64_t *address = NULL;
    if (list && one) {
        if (!decode_lane(a, step->inst, form, shift, &c, base, out)) return false;
        address = &out->base;
    } else if (list) {
        if (!decode_list(a, step->inst, form, shift, &c, base, out, room, &address)) return false;
    } else {
        if ((form & ~WW_WWT_LOWEST) == WW_WWT_FORM_STRIDE && !read_stride(x, &s->stride)) return false;
        if (form & WW_WWT_LOWEST)
            *out = affine_distance(x, s, step->mask, shift);
        else
            *out = (struct ww_access){base, s->stride, WW_AFFINE};
    }
    ww_wwt_learn(&a->p, s, out->base, &c);
    if (!ww_wwt_is_surprise(kind, form)) return true;
    if (list && !address) address = ww_list_addresses(out, x->d->growing, ww_bits(step->mask), room);
    ww_wwt_learn_index(&a->p, s, &c, out, address);
    return true;
}

/* By access byte without the unit: the base is where it is predicted to be, and the form is affine with the
 * instruction's last stride (1), or the list of the last warp's (2): no column has more of it. */
#define KINDS(form, way)                                                                                       \
    [(form) << WW_WWT_FORM_SHIFT | WW_WWT_BASE_REF] = (way),                                                   \
                                   [(form) << WW_WWT_FORM_SHIFT | WW_WWT_BASE_LINEAR] = (way),                 \
                                   [(form) << WW_WWT_FORM_SHIFT | WW_WWT_BASE_CHAIN] = (way),                  \
                                   [(form) << WW_WWT_FORM_SHIFT | WW_WWT_BASE_INDEX] = (way)
enum { OTHER, BY_STRIDE, BY_LIST };
static const uint8_t predicted[256] = {KINDS(WW_WWT_FORM_AFFINE, BY_STRIDE),
                                       KINDS(WW_WWT_FORM_REF_LIST, BY_LIST)};

/* A copy of the list that the instruction has had last, moved: what is known of its lanes stays. */
static inline bool is_moved_list(const struct last_list *last, const struct ww_wwt_inst_state *s, uint32_t mask,
                                 const struct ww_access *ref) {
    return ref->list == last->shape.list && ref->list && s->lane_mask == mask && (mask & (mask - 1));
}

/* Decodes such accesses of a warp, the usual ones; returns how many come before another one. `ref`: those of
 * the last warp, if there is one. */
static inline __attribute__((always_inline)) uint32_t decode_usual(struct access_decoder *a,
                                                                   const struct ww_step *step,
                                                                   const struct ww_access *ref, bool has_ref,
                                                                   struct ww_access *out, uint32_t n) {
    const unsigned char *token = a->x->col[WW_WWT_COL_ACCESS].p;
    struct ww_access *from = out;
    for (struct ww_access *end = out + n; out < end; out++, step++, ref++, token++) {
        uint32_t way = predicted[*token & ~WW_WWT_UNIT], mask = step->mask;
        struct ww_wwt_inst_state *s = &a->p.inst[step->inst];
        struct last_list *last = &a->last[step->inst];
        uint64_t before = s->last;
        struct ww_access access = {0, s->stride, WW_AFFINE};
        if (way != BY_STRIDE) {
            if (way == OTHER || !has_ref || !is_moved_list(last, s, mask, ref)) break;
            before = last->base;
            access.stride = ref->stride;
            access.list = ref->list;
        }
        struct ww_wwt_context context =
            ww_wwt_context_after(&a->p, before, mask, last->shift, has_ref ? ref : NULL);
        access.base = ww_wwt_predict_exactly(&a->p, s, (enum ww_wwt_base)(*token & 7), &context);
        if (way != BY_STRIDE) last->base = access.base;
        *out = access;
        ww_wwt_learn(&a->p, s, access.base, &context);
    }
    a->x->col[WW_WWT_COL_ACCESS].p = token;
    return (uint32_t)(out - from);
}

/* The same from number i of n on; returns the number of the other one. */
static uint32_t decode_predicted(struct access_decoder *a, const struct ww_step *step,
                                 const struct ww_access *ref, struct ww_access *out, uint32_t i, uint32_t n) {
    const struct ww_cursor *c = &a->x->col[WW_WWT_COL_ACCESS];
    if (n - i > (size_t)(c->end - c->p)) n = i + (uint32_t)(c->end - c->p);
    if (ref) return i + decode_usual(a, step + i, ref + i, true, out + i, n - i);
    return i + decode_usual(a, step + i, out + i, false, out + i, n - i);
}

/* How many accesses from the first on are affine, with their instructions' last strides, and as far from those
 * of the last warp as that one's were; of eight that are not all so, none count. */
static uint32_t affine_moved(const unsigned char *token, uint32_t n) {
    const uint64_t other = 0x0101010101010101u * (0xffu & ~WW_WWT_UNIT);
    uint64_t tokens;
    uint32_t i = 0;
    for (; i + sizeof tokens <= n; i += (uint32_t)sizeof tokens) {
        memcpy(&tokens, token + i, sizeof tokens);
        if (tokens & other) return i;
    }
    return i;
}

/* True if all accesses of a warp are affine as above, or copies of their instructions' last lists that have
 * moved as far. Reads their bytes then. A warp that is written as the moved one before it on its path is one,
 * too: its lists are that one's. */
static bool all_moved(struct access_decoder *a, const struct ww_step *step, const struct ww_access *ref,
                      uint32_t n) {
    const unsigned affine = WW_WWT_FORM_AFFINE << WW_WWT_FORM_SHIFT | WW_WWT_BASE_REF;
    const unsigned listed = WW_WWT_FORM_REF_LIST << WW_WWT_FORM_SHIFT | WW_WWT_BASE_REF;
    struct ww_cursor *c = &a->x->col[WW_WWT_COL_ACCESS];
    const unsigned char *token = c->p;
    if (n > (size_t)(c->end - token)) return false;
    uint32_t i = affine_moved(token, n);
    if (i < n && a->unlearned_count && a->unlearned[0].access == ref && !memcmp(token, token - n, n)) i = n;
    for (; i < n; i++) {
        unsigned way = token[i] & ~WW_WWT_UNIT;
        const uint32_t inst = step[i].inst;
        if (way == affine) continue;
        if (way != listed || !is_moved_list(&a->last[inst], &a->p.inst[inst], step[i].mask, &ref[i]))
            return false;
    }
    c->p += n;
    return true;
}

/* Nothing but strides, lists and distances from the last warp are looked at, and these do not change: so the
 * predictor learns a row of such warps of one path when another one comes. */
static void move_warp(struct access_decoder *a, const struct unlearned *u, struct ww_access *out) {
    for (uint32_t i = 0; i < u->count; i++) {
        const struct ww_wwt_inst_state *s = &a->p.inst[u->step[i].inst];
        const struct ww_access *ref = &u->ref[i];
        const uint64_t base = ref->base + s->ref_step;
        out[i] = u->token[i] >> WW_WWT_FORM_SHIFT ? (struct ww_access){base, ref->stride, ref->list}
                                                  : (struct ww_access){base, s->stride, WW_AFFINE};
    }
    if (!u->count) return;
    a->unlearned[1] = a->unlearned[0];
    a->unlearned[0] = *u;
    a->unlearned_count += a->unlearned_count < 2;
}

/* Learns such warps, of one path: what is left of a row of them is what its last two have. */
static void learn_moved(struct access_decoder *a) {
    while (a->unlearned_count) {
        const struct unlearned *u = &a->unlearned[--a->unlearned_count];
        a->p.stamp = u->stamp;
        for (uint32_t i = 0; i < u->count; i++) {
            const struct ww_step *step = &u->step[i];
            struct ww_wwt_inst_state *s = &a->p.inst[step->inst];
            struct last_list *last = &a->last[step->inst];
            uint64_t base = u->access[i].base,
                     *before = u->access[i].list == WW_AFFINE ? &s->last : &last->base;
            struct ww_wwt_context context =
                ww_wwt_context_after(&a->p, *before, step->mask, last->shift, &u->ref[i]);
            *before = base;
            ww_wwt_learn(&a->p, s, base, &context);
        }
    }
}

/* The accesses of a warp, number `stamp` from 1. */
static bool decode_warp(struct access_decoder *a, struct ww_wwt_path *path, uint32_t stamp,
                        struct ww_access *out) {
    struct ww_wwt_decoder *x = a->x;
    const struct ww_step *step = x->d->access_step + path->first_access;
    const struct ww_access *ref = path->ref;
    uint32_t n = path->access_count;
    path->ref = n ? out : NULL;
    if (n && a->unlearned_count && a->unlearned[0].step != step) learn_moved(a);
    if (ref && all_moved(a, step, ref, n)) {
        const unsigned char *token = x->col[WW_WWT_COL_ACCESS].p - n;
        move_warp(a, &(struct unlearned){token, step, ref, out, n, stamp}, out);
        return true;
    }
    learn_moved(a);
    a->p.stamp = stamp;
    for (uint32_t i = 0;; i++) {
        i = decode_predicted(a, step, ref, out, i, n);
        if (i == n) return true;
        if (!decode_access(a, &step[i], ref ? &ref[i] : NULL, &out[i])) return false;
    }
}

static bool decode_warps(struct access_decoder *a, const uint32_t *warp_path, size_t warp_count) {
    struct ww_wwt_decoder *x = a->x;
    struct ww_access *out = x->d->access;
    for (size_t w = 0; w < warp_count; w++) {
        struct ww_wwt_path *path = &x->d->path[warp_path[w]];
        if (!decode_warp(a, path, (uint32_t)w + 1, out)) return false;
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
    for (uint32_t i = 0; a.last && i < x->launch->inst_count; i++)
        a.last[i].shift = ww_wwt_shift(x->launch->inst[i].width);
    bool ok = a.p.inst && a.last ? decode_warps(&a, warp_path, warp_count) : ww_wwt_no_memory(x);
    free(a.p.inst);
    free(a.last);
    ww_arena_free(&a.lanes);
    return ok;
}
