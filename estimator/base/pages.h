/* pages.h: large blocks of memory in large pages of the system.
 *
 * Replay touches dozens of MiB: in large pages it misses the host's TLB less, and the system gives out few of
 * them in place of thousands of small ones. Under ASan a block is malloc's, so that its ends are guarded. */
#ifndef WW_BASE_PAGES_H
#define WW_BASE_PAGES_H

#include <stddef.h>

#define WW_PAGES_LARGE ((size_t)2 << 20) /* bytes of a large page */

/* Gives a zeroed block of *size bytes, which is rounded up, at a multiple of `align` (such a page's size times
 * a power of 2); NULL: no memory. Meant for sizes near such a page's and above. */
void *ww_pages_new(size_t *size, size_t align);
/* Frees it; size: as ww_pages_new left it, or what was asked for. NULL is allowed. */
void ww_pages_free(void *block, size_t size);

#endif
