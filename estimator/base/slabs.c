/* Blocks of memory that are given back in about the order in which they were taken. */
#include "slabs.h"
#include "pages.h"
#include <stdint.h>
#include <stdlib.h>

#define ALIGN ((size_t)16)
#define SLAB ((size_t)8 << 20)
#define KEPT 2u /* empty slabs */

struct ww_slab {
    _Alignas(16) struct ww_slab *next; /* what is behind the header is aligned as it is */
    size_t used;                       /* bytes from its start */
    size_t blocks;
};

static size_t rounded(size_t size) {
    return (size + ALIGN - 1) & ~(ALIGN - 1);
}

static size_t in_pages(size_t size) {
    return (size + WW_PAGES_LARGE - 1) & ~(WW_PAGES_LARGE - 1);
}

static bool is_large(size_t size) {
    return size > SLAB / 2;
}

/* ---- blocks with pages of their own ---- */

static void *take_large(struct ww_slabs *s, size_t size) {
    size_t total = in_pages(size);
    if (s->large && s->large_size == total) {
        void *block = s->large;
        s->large = NULL;
        return block;
    }
    return ww_pages_new(&size, WW_PAGES_LARGE);
}

static void give_large(struct ww_slabs *s, void *block, size_t size) {
    ww_pages_free(s->large, s->large_size);
    s->large = block;
    s->large_size = in_pages(size);
}

/* ---- slabs ---- */

static struct ww_slab *slab_of(void *block) {
    char *p = block;
    return (struct ww_slab *)(void *)(p - ((uintptr_t)p & (SLAB - 1)));
}

static void retire(struct ww_slabs *s, struct ww_slab *slab) {
    if (s->empty_count == KEPT) {
        ww_pages_free(slab, SLAB);
        return;
    }
    slab->next = s->empty;
    s->empty = slab;
    s->empty_count++;
}

static struct ww_slab *new_slab(struct ww_slabs *s) {
    struct ww_slab *slab = s->empty;
    size_t size = SLAB;
    if (slab) {
        s->empty = slab->next;
        s->empty_count--;
    } else if (!(slab = ww_pages_new(&size, SLAB))) {
        return NULL;
    }
    *slab = (struct ww_slab){.used = sizeof *slab};
    if (s->current && s->current->blocks == 0) retire(s, s->current);
    return s->current = slab;
}

#if defined(__SANITIZE_ADDRESS__)
#define PLAIN true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PLAIN true
#endif
#endif
#ifndef PLAIN
#define PLAIN false
#endif

void *ww_slabs_take(struct ww_slabs *s, size_t size) {
    if (!s || PLAIN) return malloc(size ? size : 1);
    if (is_large(size)) return take_large(s, size);
    struct ww_slab *slab = s->current;
    size_t need = rounded(size);
    if (!slab || slab->used + need > SLAB) slab = new_slab(s);
    if (!slab) return NULL;
    char *block = (char *)slab + slab->used;
    slab->used += need;
    slab->blocks++;
    return block;
}

bool ww_slabs_resize(struct ww_slabs *s, void *block, size_t size, size_t new_size) {
    if (!s || PLAIN) return new_size <= size;
    if (is_large(size) || is_large(new_size))
        return is_large(size) && is_large(new_size) && in_pages(size) == in_pages(new_size);
    struct ww_slab *slab = slab_of(block);
    size_t at = (size_t)((char *)block - (char *)slab), end = at + rounded(new_size);
    if (at + rounded(size) != slab->used) return rounded(new_size) <= rounded(size); /* others lie behind it */
    if (end > SLAB) return false;
    slab->used = end;
    return true;
}

void ww_slabs_give(struct ww_slabs *s, void *block, size_t size) {
    if (!block) return;
    if (!s || PLAIN) {
        free(block);
        return;
    }
    if (is_large(size)) {
        give_large(s, block, size);
        return;
    }
    struct ww_slab *slab = slab_of(block);
    if (--slab->blocks) return;
    slab->used = sizeof *slab;
    if (slab != s->current) retire(s, slab);
}

void ww_slabs_free(struct ww_slabs *s) {
    if (s->current) retire(s, s->current);
    for (struct ww_slab *slab = s->empty; slab; slab = s->empty) {
        s->empty = slab->next;
        ww_pages_free(slab, SLAB);
    }
    ww_pages_free(s->large, s->large_size);
    *s = (struct ww_slabs){0};
}
