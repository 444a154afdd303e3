/* predict.h: what the encoder and the decoder both predict of an access's base. Both sides feed the same
 * accesses in the same order, so their states stay equal. State lives for one CTA group.
 *
 * All arithmetic is modulo 2^64. The base of a list is the address of its first active lane.
 */
#ifndef WW_WWT_PREDICT_H
#define WW_WWT_PREDICT_H

#include "../trace.h"
#include "format.h"
#include <string.h>

/* Per static instruction. */
struct ww_wwt_inst_state {
    uint64_t last;       /* base of its last access */
    uint64_t first;      /* base of its first access in the latest warp that executed it */
    uint64_t step;       /* last difference between accesses of one warp */
    uint64_t warp_step;  /* last difference between first accesses of successive warps */
    uint64_t ref_step;   /* last difference to the reference access */
    uint64_t chain_step; /* last difference to the access before it */
    uint64_t index_step; /* last difference to the surprise, scaled */
    uint64_t lowest;     /* address of a surprise so far, + 1; 0: none yet */
    uint64_t *lane;      /* 32 addresses of its last list, less `moved`; or NULL */
    uint64_t moved;
    uint32_t lane_mask; /* lanes that `lane` has */
    uint32_t stamp;     /* number of the latest warp that executed it, from 1 */
    int32_t stride;     /* last affine one */
};

/* Of the group. A surprise is an access that was not predicted exactly, or a list with differences of its
 * own: often an index that was loaded, which later accesses use with another origin and width. */
struct ww_wwt_predictor {
    struct ww_wwt_inst_state *inst; /* one per static instruction, zeroed at the start of a group */
    uint64_t before;                /* base of the access before this one, of any instruction */
    uint32_t stamp;                 /* number of the current warp, from 1 */
    uint32_t index_mask;            /* lanes of the latest surprise */
    unsigned index_shift;           /* log2 of its width */
    bool index_affine;              /* its addresses are index[0] + index_stride * lane */
    int32_t index_stride;
    uint64_t index[32]; /* else its addresses, by lane */
    uint32_t scaled_of; /* 1 + lane | shift << 8 of the address `scaled`, 0: none; see ww_wwt_index */
    uint64_t scaled;
};

/* What is known of an access before it is read. */
struct ww_wwt_context {
    const struct ww_access *ref; /* the reference access, or NULL */
    uint64_t last;               /* base of the instruction's last access */
    uint64_t index;              /* address of the latest surprise in the first active lane, scaled */
    bool has_index;
    uint32_t mask;
    unsigned shift; /* log2 of the width */
};

/* log2 of the access width, for scaled differences. */
static inline unsigned ww_wwt_shift(uint8_t width) {
    return width > 1 ? (unsigned)__builtin_ctz(width) : 0;
}

/* Address of the latest surprise in a lane that it has, in units of the width of this access. */
static inline uint64_t ww_wwt_index(const struct ww_wwt_predictor *p, int lane, unsigned shift) {
    uint64_t address =
        p->index_affine ? p->index[0] + (uint64_t)((int64_t)p->index_stride * lane) : p->index[lane];
    return address >> p->index_shift << shift;
}

/* `last`: base of the instruction's last access. */
static inline struct ww_wwt_context ww_wwt_context_after(struct ww_wwt_predictor *p, uint64_t last,
                                                         uint32_t mask, unsigned shift,
                                                         const struct ww_access *ref) {
    struct ww_wwt_context c = {.ref = ref, .last = last, .mask = mask, .shift = shift};
    if (p->index_mask & mask & (~mask + 1u)) { /* most ask for that of one lane, in one unit */
        uint32_t lane = (uint32_t)__builtin_ctz(mask), of = 1 + (lane | shift << 8);
        if (p->scaled_of != of) {
            p->scaled_of = of;
            p->scaled = ww_wwt_index(p, (int)lane, shift);
        }
        c.has_index = true;
        c.index = p->scaled;
    }
    return c;
}

static inline struct ww_wwt_context ww_wwt_context(struct ww_wwt_predictor *p,
                                                   const struct ww_wwt_inst_state *s, bool list, uint32_t mask,
                                                   unsigned shift, const struct ww_access *ref) {
    bool listed = list && (s->lane_mask & mask & (~mask + 1u));
    uint64_t last = listed ? s->lane[__builtin_ctz(mask)] + s->moved : s->last;
    return ww_wwt_context_after(p, last, mask, shift, ref);
}

/* The base as that kind predicts it, without its difference. */
static inline uint64_t ww_wwt_predict(const struct ww_wwt_predictor *p, const struct ww_wwt_inst_state *s,
                                      enum ww_wwt_base kind, const struct ww_wwt_context *c) {
    switch (kind) {
    case WW_WWT_BASE_REF:
    case WW_WWT_BASE_REF_OFF:
        return (c->ref ? c->ref->base : 0) + s->ref_step;
    case WW_WWT_BASE_LINEAR:
    case WW_WWT_BASE_LINEAR_OFF:
        return s->stamp == p->stamp ? c->last + s->step : s->first + s->warp_step;
    case WW_WWT_BASE_CHAIN:
    case WW_WWT_BASE_CHAIN_OFF:
        return p->before + s->chain_step;
    case WW_WWT_BASE_INDEX:
        return c->index + s->index_step;
    default:
        return c->last;
    }
}

/* The same of a kind that has no difference: all four are formed, as which one it is cannot be foreseen. */
static inline uint64_t ww_wwt_predict_exactly(const struct ww_wwt_predictor *p,
                                              const struct ww_wwt_inst_state *s, enum ww_wwt_base kind,
                                              const struct ww_wwt_context *c) {
    bool again = s->stamp == p->stamp;
    const uint64_t base[4] = {[WW_WWT_BASE_REF] = (c->ref ? c->ref->base : 0) + s->ref_step,
                              [WW_WWT_BASE_LINEAR] = again ? c->last + s->step : s->first + s->warp_step,
                              [WW_WWT_BASE_CHAIN] = p->before + s->chain_step,
                              [WW_WWT_BASE_INDEX & 3] = c->index + s->index_step};
    return base[kind & 3];
}

/* Learns the base that the access really had. */
static inline void ww_wwt_learn(struct ww_wwt_predictor *p, struct ww_wwt_inst_state *s, uint64_t base,
                                const struct ww_wwt_context *c) {
    if (s->stamp == p->stamp) {
        s->step = base - c->last;
    } else {
        s->warp_step = base - s->first;
        s->first = base;
        s->stamp = p->stamp;
    }
    if (c->ref) s->ref_step = base - c->ref->base;
    if (c->has_index) s->index_step = base - c->index;
    s->chain_step = base - p->before;
    s->last = base;
    p->before = base;
}

/* The lowest address of the surprises that the instruction had, 0 if there was none. */
static inline uint64_t ww_wwt_lowest(const struct ww_wwt_inst_state *s) {
    return s->lowest - (s->lowest != 0);
}

static inline void ww_wwt_learn_lowest(struct ww_wwt_inst_state *s, uint64_t address) {
    if (address < s->lowest - 1) s->lowest = address + 1;
}

/* Address of the first active lane of an affine access. */
static inline uint64_t ww_wwt_first(const struct ww_access *access, uint32_t mask) {
    return access->base + (uint64_t)((int64_t)access->stride * (mask ? __builtin_ctz(mask) : 0));
}

/* True if the access with this kind and form is a surprise. */
static inline bool ww_wwt_is_surprise(unsigned kind, unsigned form) {
    return ww_wwt_has_off(kind) || form == WW_WWT_FORM_LIST || form == WW_WWT_FORM_STEPS ||
           (form & WW_WWT_LOWEST);
}

/* Learns a surprise. `address` is a list's, or NULL. */
static inline void ww_wwt_learn_index(struct ww_wwt_predictor *p, struct ww_wwt_inst_state *s,
                                      const struct ww_wwt_context *c, const struct ww_access *access,
                                      const uint64_t *address) {
    if (!address && c->mask) ww_wwt_learn_lowest(s, ww_wwt_first(access, c->mask));
    p->scaled_of = 0;
    p->index_mask = c->mask;
    p->index_shift = c->shift;
    p->index_affine = !address;
    if (p->index_affine) {
        p->index[0] = access->base;
        p->index_stride = access->stride;
        return;
    }
    uint64_t lowest = *address;
    for (uint32_t m = c->mask; m; m &= m - 1, address++) {
        p->index[__builtin_ctz(m)] = *address;
        if (*address < lowest) lowest = *address;
    }
    ww_wwt_learn_lowest(s, lowest);
}

/* Remembers a list by lane. s->lane has room for 32. */
static inline void ww_wwt_learn_list(struct ww_wwt_inst_state *s, uint32_t mask, const uint64_t *address) {
    s->lane_mask = mask;
    s->moved = 0;
    if (mask == UINT32_MAX) {
        memcpy(s->lane, address, 32 * sizeof *address);
        return;
    }
    for (; mask; mask &= mask - 1) s->lane[__builtin_ctz(mask)] = *address++;
}

#endif
