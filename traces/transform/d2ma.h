/* d2ma.h: private to the transform d2ma: copies from global to shared memory become bulk transfers.
 *
 * Barriers of all threads cut a CTA's execution into phases. What the copies of a phase leave in shared memory,
 * word by word with the address that each word came from, is fitted by at most four transfers, which start
 * where the phase begins. Instructions that only the copies needed are removed (d2ma_flow.c), and so are
 * barriers that only stand between a copy and its readers.
 */
#ifndef WW_TRACES_TRANSFORM_D2MA_H
#define WW_TRACES_TRANSFORM_D2MA_H

#include "copy.h"
#include "../dma.h"
#include "transform.h"

/* Where a shared word's value comes from. */
#define WW_D2_NONE 0u     /* nowhere that is known */
#define WW_D2_CONSTANT 1u /* an immediate */
/* else its global address */

struct ww_d2 {
    const struct ww_launch *launch;
    const uint8_t *role; /* copy.h */
    bool found, decided;
    uint32_t n, row; /* instructions; 64-bit words of a set of them */
    uint64_t *producers,
        *to;              /* [n][row]: who made what an instruction reads; where conditional branches went */
    uint8_t *kept, *gone; /* by instruction: barriers that must stay; what the new trace lacks */
    uint32_t halo_rows, halo_columns;
    uint32_t region, configure, execute; /* groups */
    /* the unit */
    uint32_t phases;
    uint32_t *begin;      /* [warp][phases + 1]: steps */
    uint32_t *first_tile; /* [phases + 1] */
    struct ww_dma *tile;
};

/* The words of a phase: from[k] is that of word k of the CTA's shared memory. */
struct ww_d2_words {
    const uint64_t *from;
    uint32_t count;
};

/* Fits transfers to the words, in the order of their shared addresses; `halo` has the rows and columns of the
 * launch's halo, as far as they are known, and is widened by what constants show. NULL, or why the words are no
 * tiles. */
const char *ww_d2_fit(const struct ww_d2_words *w, uint32_t *halo_rows, uint32_t *halo_columns,
                      struct ww_dma tile[WW_DMA_BUFFERS], uint32_t *tiles);

/* Marks in d->gone what nothing but copies needs. Errors: WW_NOMEM. */
enum ww_code ww_d2_flow(struct ww_d2 *d, struct ww_arena *arena, struct ww_error *error);

static inline bool ww_d2_has(const uint64_t *set, uint32_t k) {
    return set[k / 64] >> (k % 64) & 1;
}
static inline void ww_d2_add(uint64_t *set, uint32_t k) {
    set[k / 64] |= (uint64_t)1 << (k % 64);
}

#endif
