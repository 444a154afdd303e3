/* heap.h: a binary min-heap of (key, value) pairs with a caller-given array; ties come out in order of
 * insertion number so that results never depend on heap shape. */
#ifndef WW_BASE_HEAP_H
#define WW_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ww_heap_item {
    uint64_t key;
    uint64_t order; /* set by push */
    uint64_t value;
};

struct ww_heap {
    struct ww_heap_item *item; /* owned by the caller */
    size_t count, capacity;
    uint64_t pushed;
};

static inline bool ww_heap_less(const struct ww_heap_item *a, const struct ww_heap_item *b) {
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* Returns false if full. */
static inline bool ww_heap_push(struct ww_heap *h, uint64_t key, uint64_t value) {
    if (h->count == h->capacity) return false;
    struct ww_heap_item new_item = {key, h->pushed++, value};
    size_t i = h->count++;
    while (i > 0) {
        size_t up = (i - 1) / 2;
        if (!ww_heap_less(&new_item, &h->item[up])) break;
        h->item[i] = h->item[up];
        i = up;
    }
    h->item[i] = new_item;
    return true;
}

/* Takes the smallest; the heap must not be empty. */
static inline struct ww_heap_item ww_heap_pop(struct ww_heap *h) {
    struct ww_heap_item top = h->item[0], last = h->item[--h->count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= h->count) break;
        if (child + 1 < h->count && ww_heap_less(&h->item[child + 1], &h->item[child])) child++;
        if (!ww_heap_less(&h->item[child], &last)) break;
        h->item[i] = h->item[child];
        i = child;
    }
    if (h->count) h->item[i] = last;
    return top;
}

#endif
