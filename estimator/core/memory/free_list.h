/* free_list.h: which elements of a pool are free. Those that were given back are a list, the last one first;
 * behind it come those that were never taken, in their order. Nothing is written to these before: large pools
 * cost nothing until they are used. The link is the owner's: what is free names the next one. */
#ifndef WW_CORE_FREE_LIST_H
#define WW_CORE_FREE_LIST_H

#include <stdint.h>

struct ww_free_list {
    uint32_t first; /* to be taken next, UINT32_MAX: none */
    uint32_t fresh, count;
};

static inline struct ww_free_list ww_free_list(uint32_t count) {
    return (struct ww_free_list){.first = count ? 0 : UINT32_MAX, .count = count};
}

/* The first one has been taken; next: what it named, unless it is fresh. */
static inline void ww_free_taken(struct ww_free_list *f, uint32_t next) {
    if (f->first == f->fresh) next = ++f->fresh < f->count ? f->fresh : UINT32_MAX;
    f->first = next;
}

/* Element n comes back; returns what it names as the next. */
static inline uint32_t ww_free_back(struct ww_free_list *f, uint32_t n) {
    uint32_t next = f->first;
    f->first = n;
    return next;
}

#endif
