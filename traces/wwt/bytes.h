/* bytes.h: the cursor of base/buf.h, inline for the decoder's loops. Same rules: reading past the end sets
 * `failed` and gives 0. */
#ifndef WW_WWT_BYTES_H
#define WW_WWT_BYTES_H

#include "../../estimator/base/buf.h"

static inline uint64_t ww_wwt_varint(struct ww_cursor *c) {
    if (c->end - c->p < 10) return ww_cursor_varint(c);
    const unsigned char *p = c->p;
    uint64_t v = *p++;
    if (v >= 0x80) {
        v &= 0x7f;
        for (unsigned shift = 7;; shift += 7) {
            if (shift == 63) return ww_cursor_varint(c); /* the long way checks the last byte */
            uint64_t byte = *p++;
            v |= (byte & 0x7f) << shift;
            if (byte < 0x80) break;
        }
    }
    c->p = p;
    return v;
}

/* A signed difference, as a number modulo 2^64. */
static inline uint64_t ww_wwt_svarint(struct ww_cursor *c) {
    uint64_t v = ww_wwt_varint(c);
    return (v >> 1) ^ (~(v & 1) + 1);
}

static inline unsigned char ww_wwt_byte(struct ww_cursor *c) {
    if (c->p < c->end) return *c->p++;
    c->failed = true;
    return 0;
}

#endif
