/* Encoding a control-flow path. */
#include "encode.h"
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

/* The token for a mask; moves it to the front of the recent ones. */
static unsigned put_mask(struct ww_wwt_encoder *e, uint32_t mask, uint32_t recent[WW_WWT_MASK_RECENT]) {
    unsigned token = 0, place;
    while (token < WW_WWT_MASK_RECENT && recent[token] != mask) token++;
    place = token < WW_WWT_MASK_RECENT ? token : WW_WWT_MASK_RECENT - 1;
    if (token == WW_WWT_MASK_RECENT && mask != (recent[1] & ~recent[0])) {
        token = WW_WWT_MASK_LITERAL;
        ww_buf_u32(&e->col[WW_WWT_COL_MASK_BITS], mask);
    }
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
    _Static_assert(WW_WWT_MASK_REST == WW_WWT_MASK_RECENT, "put_mask counts on it");
    ww_wwt_put_varint(&e->col[WW_WWT_COL_LENGTH], s->count);
    put_insts(e, s);
    put_masks(e, s);
}
