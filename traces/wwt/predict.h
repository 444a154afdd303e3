/* predict.h: what the encoder and the decoder both predict of an access's base. Both sides feed the same
 * accesses in the same order, so their states stay equal. State lives for one CTA group.
 *
 * All arithmetic is modulo 2^64. The base of a list is the address of its first active lane.
 */
#ifndef WW_WWT_PREDICT_H
#define WW_WWT_PREDICT_H

#include "../trace.h"
#include "format.h"

/* Per static instruction. */
struct ww_wwt_inst_state {
    uint64_t last;       /* base of its last access */
    uint64_t first;      /* base of its first access in the latest warp that executed it */
    uint64_t step;       /* last difference between accesses of one warp */
    uint64_t warp_step;  /* last difference between first accesses of successive warps */
    uint64_t ref_step;   /* last difference to the reference access */
    uint64_t chain_step; /* last difference to the access before it */
    uint64_t *lane;      /* 32 addresses of its last list, or NULL */
    uint32_t lane_mask;  /* lanes that `lane` has */
    uint32_t stamp;      /* number of the latest warp that executed it, from 1 */
    int32_t stride;      /* last affine one */
};

/* Of the group. */
struct ww_wwt_predictor {
    struct ww_wwt_inst_state *inst; /* one per static instruction, zeroed at the start of a group */
    uint64_t before;                /* base of the access before this one, of any instruction */
    uint32_t stamp;                 /* number of the current warp, from 1 */
};

/* log2 of the access width, for scaled differences. */
static inline unsigned ww_wwt_shift(uint8_t width) {
    return width > 1 ? (unsigned)__builtin_ctz(width) : 0;
}

/* The last base, for a list: of the lane that is now the first, if the last list has it. */
static inline uint64_t ww_wwt_last(const struct ww_wwt_inst_state *s, bool list, uint32_t mask) {
    if (!list || !(s->lane_mask & mask & (~mask + 1u))) return s->last;
    return s->lane[__builtin_ctz(mask)];
}

/* The prediction of one of the enum's first three kinds, or of the last one. `last` is ww_wwt_last(). */
static inline uint64_t ww_wwt_predict(const struct ww_wwt_predictor *p, const struct ww_wwt_inst_state *s,
                                      enum ww_wwt_base kind, uint64_t last, const struct ww_access *ref) {
    switch (kind) {
    case WW_WWT_BASE_REF:
    case WW_WWT_BASE_REF_OFF:
        return (ref ? ref->base : 0) + s->ref_step;
    case WW_WWT_BASE_LINEAR:
    case WW_WWT_BASE_LINEAR_OFF:
        return s->stamp == p->stamp ? last + s->step : s->first + s->warp_step;
    case WW_WWT_BASE_CHAIN:
    case WW_WWT_BASE_CHAIN_OFF:
        return p->before + s->chain_step;
    default:
        return last;
    }
}

/* Learns the base that the access really had. */
static inline void ww_wwt_learn(struct ww_wwt_predictor *p, struct ww_wwt_inst_state *s, uint64_t base,
                                uint64_t last, const struct ww_access *ref) {
    if (s->stamp == p->stamp) {
        s->step = base - last;
    } else {
        s->warp_step = base - s->first;
        s->first = base;
        s->stamp = p->stamp;
    }
    if (ref) s->ref_step = base - ref->base;
    s->chain_step = base - p->before;
    s->last = base;
    p->before = base;
}

/* Remembers a list by lane. s->lane has room for 32. */
static inline void ww_wwt_learn_list(struct ww_wwt_inst_state *s, uint32_t mask, const uint64_t *address) {
    s->lane_mask = mask;
    for (; mask; mask &= mask - 1) s->lane[__builtin_ctz(mask)] = *address++;
}

#endif
