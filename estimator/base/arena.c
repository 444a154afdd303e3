/* Memory that lives and dies together. */
#include "arena.h"
#include "pages.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define WW_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WW_ASAN 1
#endif
#endif
#ifdef WW_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#define GAP 16
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#define GAP 0
#endif

#define ALIGN 16
#define CHUNK_MIN ((size_t)64 << 10)
#define CHUNK_MAX ((size_t)32 << 20)
#define CHUNK_LARGE WW_PAGES_LARGE /* from here on large pages; a smaller chunk would waste most of one */

struct ww_arena_chunk {
    _Alignas(ALIGN) struct ww_arena_chunk *next; /* what is behind the header is aligned as it is */
    size_t size;                                 /* of the data behind the header */
    size_t used;
    size_t dirty;  /* bytes that have been used at some time; those behind them are zero */
    size_t mapped; /* bytes of large pages that it is, 0: it is malloc's */
};

void ww_arena_init(struct ww_arena *a, size_t limit) {
    *a = (struct ww_arena){.limit = limit};
}

static struct ww_arena_chunk *new_chunk(struct ww_arena *a, size_t need) {
    size_t size = a->used < CHUNK_MIN ? CHUNK_MIN : a->used < CHUNK_MAX ? a->used : CHUNK_MAX;
    if (size < need) size = need;
    size_t total = size + sizeof(struct ww_arena_chunk);
    if (a->limit && (total > a->limit || a->used > a->limit - total)) return NULL;
    /* At first large ones are zeroed pages of the system; later calloc would clear more than is asked for. */
    struct ww_arena_chunk *c = total >= CHUNK_LARGE ? ww_pages_new(&total, WW_PAGES_LARGE) : NULL;
    bool mapped = c;
    if (!c) c = a->reset ? malloc(total) : calloc(1, total);
    if (!c) return NULL;
    size = total - sizeof *c;
    *c = (struct ww_arena_chunk){
        .next = a->chunk, .size = size, .dirty = a->reset && !mapped ? size : 0, .mapped = mapped ? total : 0};
    POISON(c + 1, size);
    a->chunk = c;
    a->used += total;
    return c;
}

/* *old: bytes from the block's start that are not known to be zero. */
static char *take(struct ww_arena *a, size_t size, size_t *old) {
    if (size > SIZE_MAX / 2) return NULL;
    size_t need = (size + ALIGN - 1) / ALIGN * ALIGN + GAP;
    if (need == 0) need = ALIGN;
    struct ww_arena_chunk *c = a->chunk;
    if (!c || c->size - c->used < need) c = new_chunk(a, need);
    if (!c) return NULL;
    char *p = (char *)(c + 1) + c->used;
    c->used += need;
    UNPOISON(p, size);
    *old = c->used - need < c->dirty ? c->dirty - (c->used - need) : 0;
    if (c->used > c->dirty) c->dirty = c->used;
    return p;
}

void *ww_arena_alloc(struct ww_arena *a, size_t size) {
    size_t old;
    char *p = take(a, size, &old);
    return p ? memset(p, 0, size < old ? size : old) : NULL;
}

void *ww_arena_raw(struct ww_arena *a, size_t count, size_t size) {
    size_t total, old;
    if (__builtin_mul_overflow(count, size, &total)) return NULL;
    return take(a, total, &old);
}

void *ww_arena_array(struct ww_arena *a, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) return NULL;
    return ww_arena_alloc(a, total);
}

/* On a line of the host. *old: bytes from its start that are not known to be zero. */
static char *take_lines(struct ww_arena *a, size_t count, size_t size, size_t *old) {
    if (size && count > (SIZE_MAX - WW_HOST_LINE) / size) return NULL;
    char *p = take(a, count * size + WW_HOST_LINE, old);
    size_t skip = -(uintptr_t)p & (WW_HOST_LINE - 1);
    if (!p) return NULL;
    *old = *old > skip ? *old - skip : 0;
    return p + skip;
}

void *ww_arena_raw_lines(struct ww_arena *a, size_t count, size_t size) {
    size_t old;
    return take_lines(a, count, size, &old);
}

void *ww_arena_lines(struct ww_arena *a, size_t count, size_t size) {
    size_t old;
    char *p = take_lines(a, count, size, &old);
    return p ? memset(p, 0, count * size < old ? count * size : old) : NULL;
}

char *ww_arena_strndup(struct ww_arena *a, const char *s, size_t n) {
    char *p = ww_arena_alloc(a, n + 1);
    if (p) memcpy(p, s, n);
    return p;
}

char *ww_arena_strdup(struct ww_arena *a, const char *s) {
    return ww_arena_strndup(a, s, strlen(s));
}

char *ww_arena_printf(struct ww_arena *a, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *p = n < 0 ? NULL : ww_arena_alloc(a, (size_t)n + 1);
    if (p) vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

static void free_chunks(struct ww_arena_chunk *c) {
    while (c) {
        struct ww_arena_chunk *next = c->next;
        UNPOISON(c + 1, c->size);
        if (c->mapped)
            ww_pages_free(c, c->mapped);
        else
            free(c);
        c = next;
    }
}

void ww_arena_free(struct ww_arena *a) {
    free_chunks(a->chunk);
    a->chunk = NULL;
    a->used = 0;
}

void ww_arena_reset(struct ww_arena *a) {
    struct ww_arena_chunk **link = &a->chunk, *keep = NULL, **keep_link = NULL;
    for (; *link; link = &(*link)->next)
        if (!keep || (*link)->size > keep->size) {
            keep = *link;
            keep_link = link;
        }
    if (!keep) return;
    a->reset = true;
    *keep_link = keep->next;
    free_chunks(a->chunk);
    keep->next = NULL;
    keep->used = 0;
    POISON(keep + 1, keep->size);
    a->chunk = keep;
    a->used = keep->size + sizeof *keep;
}
