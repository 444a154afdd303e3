/* Encoding a control-flow path. */
#include "encode.h"
#include "../../estimator/base/bits.h"
#include <string.h>

/* Runs of consecutive instructions. */
static void put_insts(struct ww_wwt_encoder *e, const struct ww_wwt_steps *s) {
    uint32_t next = 0;
    for (uint32_t i = 0, n; i < s->count; i += n) {
        uint32_t first = s->step[i].inst;
        for (n = 1; i + n < s->count && s->step[i + n].inst == first + n;) n++;
        ww_wwt_put_svarint(&e->col[WW_WWT_COL_START], (int64_t)first - next);
        ww_wwt_put_varint(&e->col[WW_WWT_COL_RUN], n - 1);
        next = first + n;
    }
}

/* The smallest mask at the front of the list that has all lanes of `mask`; WW_WWT_MASK_PARENTS: none. */
static unsigned find_parent(const uint32_t *recent, uint32_t mask) {
    unsigned best = WW_WWT_MASK_PARENTS;
    for (unsigned k = 0; k < WW_WWT_MASK_PARENTS; k++)
        if (!(mask & ~recent[k]) && (best == WW_WWT_MASK_PARENTS || ww_bits(recent[k]) < ww_bits(recent[best])))
            best = k;
    return best;
}

/* The lanes of `parent`, a bit each, lowest first: set where `mask` has them. */
static void put_subset(struct ww_wwt_encoder *e, uint32_t mask, uint32_t parent) {
    uint32_t bits = 0, n = 0;
    for (uint32_t m = parent; m; m &= m - 1, n++) bits |= (uint32_t)((mask & m & (0u - m)) != 0) << n;
    if (n <= 8) {
        ww_wwt_put_byte(&e->col[WW_WWT_COL_SUBSET], (unsigned char)bits);
        return;
    }
    for (uint32_t at = 0; at < n; at += 8)
        ww_wwt_put_byte(&e->col[WW_WWT_COL_SUBSET_WIDE], (unsigned char)(bits >> at));
}

/* The token for a mask that is not in the list. */
static unsigned put_new_mask(struct ww_wwt_encoder *e, uint32_t mask, const uint32_t *recent) {
    if (mask == (recent[1] & ~recent[0])) return WW_WWT_MASK_REST;
    unsigned parent = find_parent(recent, mask);
    if (parent == WW_WWT_MASK_PARENTS) {
        ww_buf_u32(&e->col[WW_WWT_COL_MASK_BITS], mask);
        return WW_WWT_MASK_LITERAL;
    }
    put_subset(e, mask, recent[parent]);
    return WW_WWT_MASK_SUBSET + parent;
}

/* The token for a mask; moves it to the front of the recent ones. */
static unsigned put_mask(struct ww_wwt_encoder *e, uint32_t mask, uint32_t recent[WW_WWT_MASK_RECENT]) {
    unsigned token = 0, place;
    while (token < WW_WWT_MASK_RECENT && recent[token] != mask) token++;
    place = token < WW_WWT_MASK_RECENT ? token : WW_WWT_MASK_RECENT - 1;
    if (token == WW_WWT_MASK_RECENT) token = put_new_mask(e, mask, recent);
    memmove(recent + 1, recent, place * sizeof *recent);
    recent[0] = mask;
    return token;
}

static void put_masks(struct ww_wwt_encoder *e, const struct ww_wwt_steps *s) {
    uint32_t recent[WW_WWT_MASK_RECENT] = {UINT32_MAX};
    for (uint32_t i = 0, n; i < s->count; i += n) {
        for (n = 1; i + n < s->count && s->step[i + n].mask == s->step[i].mask;) n++;
        unsigned token = put_mask(e, s->step[i].mask, recent);
        unsigned length = n - 1 < WW_WWT_MASK_LONG ? n - 1 : WW_WWT_MASK_LONG;
        ww_wwt_put_byte(&e->col[WW_WWT_COL_MASK], (unsigned char)(token | length << 4));
        if (length == WW_WWT_MASK_LONG) ww_wwt_put_varint(&e->col[WW_WWT_COL_MASK_RUN], n - 1 - length);
    }
}

void ww_wwt_encode_path(struct ww_wwt_encoder *e, const struct ww_wwt_steps *s) {
    ww_wwt_put_varint(&e->col[WW_WWT_COL_LENGTH], s->count);
    put_insts(e, s);
    put_masks(e, s);
}
