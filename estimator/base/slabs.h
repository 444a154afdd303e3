/* slabs.h: blocks of memory that live for about as long as those taken with them.
 *
 * They lie side by side in slabs of large pages of the system. A block is taken from the free memory with the
 * lowest address that it fits in: the memory in use stays together, and what has just been given back is used
 * before the system clears more, which costs as much as replay does. A slab without blocks is kept, if few are.
 * A block of more than half a slab has pages of its own, and the latest one that was given back is kept. Blocks
 * are 16-byte aligned and not zeroed. Under ASan they are malloc's.
 *
 *     slab:  [block | block | ... free ... | block | ... free ... ]        at a multiple of its size
 */
#ifndef WW_BASE_SLABS_H
#define WW_BASE_SLABS_H

#include <stdbool.h>
#include <stddef.h>

struct ww_slab_hole;

/* Zero: there are none yet. */
struct ww_slabs {
    struct ww_slab_hole *hole; /* free memory, lowest address first */
    unsigned empty;            /* slabs that are free as a whole */
    void *large;               /* a large block that is not in use, or NULL */
    size_t large_size;
};

/* Takes a block; NULL: no memory. Without slabs (NULL) blocks are malloc's. */
void *ww_slabs_take(struct ww_slabs *s, size_t size);
/* Gives a block back; size: as it was taken. NULL is allowed. */
void ww_slabs_give(struct ww_slabs *s, void *block, size_t size);
/* Frees what is kept. All blocks have been given back. */
void ww_slabs_free(struct ww_slabs *s);

#endif
