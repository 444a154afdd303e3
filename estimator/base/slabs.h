/* slabs.h: blocks of memory that are given back in about the order in which they were taken.
 *
 * They lie side by side in slabs of large pages of the system, each of which is used again when all of its
 * blocks have been given back: the system clears less memory then, which costs as much as replay does. A block
 * of more than half a slab has pages of its own, and the latest one that was given back is kept. Blocks are
 * 16-byte aligned and not zeroed. Under ASan they are malloc's.
 *
 *     slab:  [header | block | block | ... free ... ]        at a multiple of its size
 */
#ifndef WW_BASE_SLABS_H
#define WW_BASE_SLABS_H

#include <stdbool.h>
#include <stddef.h>

struct ww_slab;

/* Zero: there are none yet. */
struct ww_slabs {
    struct ww_slab *current; /* the one that blocks are taken from, or NULL */
    struct ww_slab *empty;   /* without blocks */
    unsigned empty_count;
    void *large; /* a large block that is not in use, or NULL */
    size_t large_size;
};

/* Takes a block; NULL: no memory. Without slabs (NULL) blocks are malloc's. */
void *ww_slabs_take(struct ww_slabs *s, size_t size);
/* Changes a block's size where it lies; false: it has no room there, and stays as it is. Shrinking does not
 * fail, but for a large block, which may keep its size. */
bool ww_slabs_resize(struct ww_slabs *s, void *block, size_t size, size_t new_size);
/* Gives a block back; size: as it was taken, or resized. NULL is allowed. */
void ww_slabs_give(struct ww_slabs *s, void *block, size_t size);
/* Frees what is kept. All blocks have been given back. */
void ww_slabs_free(struct ww_slabs *s);

#endif
