/* encode.h: a CTA group as bytes. */
#ifndef WW_WWT_ENCODE_H
#define WW_WWT_ENCODE_H

#include "../../estimator/base/buf.h"
#include "format.h"
#include "pending.h"

/* Where the compressor should begin anew: columns of different statistics in one block spoil each other. */
struct ww_wwt_cuts {
    size_t at[2 * WW_WWT_COLUMNS]; /* ascending */
    unsigned count;
};

/* Appends the uncompressed group of `count` CTAs (in order of their numbers) to *out, which is empty, and adds
 * the group's executions of each instruction to inst_warp and inst_thread. `number` is the launch's. Errors:
 * WW_NOMEM; WW_UNSUPPORTED (larger than a chunk may be). */
enum ww_code ww_wwt_encode(const struct ww_launch *launch, size_t number, struct ww_wwt_cta *const *cta,
                           size_t count, struct ww_buf *out, struct ww_wwt_cuts *cuts, uint64_t *inst_warp,
                           uint64_t *inst_thread, struct ww_error *error);
/* Appends the runs of consecutive CTAs: their number, then for each its distance from the end of the one
 * before (of the first: from 0) and its length. */
void ww_wwt_put_runs(struct ww_buf *b, struct ww_wwt_cta *const *cta, size_t count, uint64_t end,
                     bool is_signed);

/* Columns being filled; shared by the parts of the encoder. */
struct ww_wwt_encoder {
    const struct ww_launch *launch;
    struct ww_buf col[WW_WWT_COLUMNS];
};
/* As those of base/buf.h, inline for the encoder's loops. */
static inline void ww_wwt_put_byte(struct ww_buf *b, unsigned char c) {
    if (b->n + 1 >= b->cap) {
        ww_buf_byte(b, c);
        return;
    }
    b->p[b->n++] = (char)c;
    b->p[b->n] = 0;
}
static inline void ww_wwt_put_varint(struct ww_buf *b, uint64_t v) {
    for (; v >= 0x80; v >>= 7) ww_wwt_put_byte(b, (unsigned char)(v | 0x80));
    ww_wwt_put_byte(b, (unsigned char)v);
}
static inline void ww_wwt_put_svarint(struct ww_buf *b, int64_t v) {
    ww_wwt_put_varint(b, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

/* Appends one path's steps. */
void ww_wwt_encode_path(struct ww_wwt_encoder *e, const struct ww_wwt_steps *s);
/* Appends all accesses of the CTAs' warps; false: no memory. */
bool ww_wwt_encode_accesses(struct ww_wwt_encoder *e, struct ww_wwt_cta *const *cta, size_t count);

#endif
