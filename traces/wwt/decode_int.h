/* decode_int.h: shared by the parts of the group decoder. */
#ifndef WW_WWT_DECODE_INT_H
#define WW_WWT_DECODE_INT_H

#include "decode.h"
#include "format.h"

struct ww_wwt_decoder {
    const struct ww_launch *launch;
    uint32_t version; /* of the file */
    struct ww_wwt_decoded *d;
    struct ww_cursor col[WW_WWT_COLUMNS];
    const char *why;
    const unsigned char *at; /* where it broke */
    bool nomem;
};

/* Records why decoding fails; returns false. */
static inline bool ww_wwt_reject(struct ww_wwt_decoder *x, const struct ww_cursor *c, const char *why) {
    x->why = why;
    x->at = c->p;
    return false;
}

static inline bool ww_wwt_no_memory(struct ww_wwt_decoder *x) {
    x->nomem = true;
    return false;
}

/* Expands all paths: d->path, step, access_step. */
bool ww_wwt_decode_paths(struct ww_wwt_decoder *x, size_t path_count);
/* Decodes all warps' accesses: d->access, pool. d->warp has its steps and counts. */
bool ww_wwt_decode_accesses(struct ww_wwt_decoder *x, const uint32_t *warp_path, size_t warp_count);

#endif
