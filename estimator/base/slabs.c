/* Blocks of memory side by side in large pages of the system. */
#include "slabs.h"
#include "pages.h"
#include <stdint.h>
#include <stdlib.h>

#define ALIGN ((size_t)16)
#define SLAB ((size_t)8 << 20)
#define KEPT 2u /* empty slabs */

/* Free bytes of a slab, from its own address on; those of all slabs are in the order of their addresses. */
struct ww_slab_hole {
    _Alignas(16) struct ww_slab_hole *next;
    size_t size;
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

/* ---- holes ---- */

/* True if no other slab's memory lies between the hole's end and `at`. */
static bool reaches(const struct ww_slab_hole *hole, const void *at) {
    return (const char *)hole + hole->size == (const char *)at && (uintptr_t)at & (SLAB - 1);
}

static bool is_slab(const struct ww_slab_hole *hole) {
    return hole->size == SLAB;
}

/* Takes the whole slab at *link out of the list. */
static void drop(struct ww_slabs *s, struct ww_slab_hole **link) {
    struct ww_slab_hole *hole = *link;
    *link = hole->next;
    s->empty--;
    ww_pages_free(hole, SLAB);
}

/* Adds the memory to the holes. */
static void add_hole(struct ww_slabs *s, void *block, size_t size) {
    struct ww_slab_hole **link = &s->hole, **before = NULL, *hole = block;
    for (; *link && *link < hole; link = &(*link)->next) before = link;
    *hole = (struct ww_slab_hole){*link, size};
    *link = hole;
    if (hole->next && reaches(hole, hole->next)) {
        hole->size += hole->next->size;
        hole->next = hole->next->next;
    }
    if (before && reaches(*before, hole)) {
        (*before)->size += hole->size;
        (*before)->next = hole->next;
        link = before;
    }
    if (is_slab(*link) && s->empty++ == KEPT) drop(s, link);
}

/* The first `need` bytes of the hole at *link. */
static void *take_hole(struct ww_slabs *s, struct ww_slab_hole **link, size_t need) {
    struct ww_slab_hole *hole = *link, *rest = (struct ww_slab_hole *)(void *)((char *)hole + need);
    s->empty -= is_slab(hole);
    if (hole->size == need) {
        *link = hole->next;
    } else {
        *rest = (struct ww_slab_hole){hole->next, hole->size - need};
        *link = rest;
    }
    return hole;
}

static bool add_slab(struct ww_slabs *s) {
    size_t size = SLAB;
    void *slab = ww_pages_new(&size, SLAB);
    if (slab) add_hole(s, slab, SLAB);
    return slab != NULL;
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
    size_t need = rounded(size ? size : 1);
    for (bool more = true; more; more = add_slab(s))
        for (struct ww_slab_hole **link = &s->hole; *link; link = &(*link)->next)
            if ((*link)->size >= need) return take_hole(s, link, need);
    return NULL;
}

void ww_slabs_give(struct ww_slabs *s, void *block, size_t size) {
    if (!block) return;
    if (!s || PLAIN)
        free(block);
    else if (is_large(size))
        give_large(s, block, size);
    else
        add_hole(s, block, rounded(size ? size : 1));
}

void ww_slabs_free(struct ww_slabs *s) {
    while (s->hole) drop(s, &s->hole);
    ww_pages_free(s->large, s->large_size);
    *s = (struct ww_slabs){0};
}
