/* embed.h: PTX text that is part of the library.
 *
 * The definitions are generated at build time by traces/kernels/embed.sh from traces/kernels/NAME.ptx.
 * `data` has `size` bytes and a NUL behind them. Sorted by name.
 */
#ifndef WW_TRACES_EMBED_H
#define WW_TRACES_EMBED_H

#include <stddef.h>

struct ww_embedded_ptx {
    const char *name; /* the file's name without ".ptx" */
    const unsigned char *data;
    size_t size;
};

extern const struct ww_embedded_ptx ww_embedded_ptx[];
extern const size_t ww_embedded_ptx_count;

#endif
