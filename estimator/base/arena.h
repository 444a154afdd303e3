/* arena.h: memory that lives and dies together.
 *
 * An arena hands out 16-byte aligned blocks, zeroed unless asked otherwise, from chunks and frees all of them
 * at once; there is no free of one block. It holds a limit so that hostile input cannot take the machine's
 * memory.
 *
 *     chunk:  [header | block | gap | block | gap | ... free ... ]     (gaps poisoned under ASan)
 */
#ifndef WW_BASE_ARENA_H
#define WW_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ww_arena_chunk;

struct ww_arena {
    struct ww_arena_chunk *chunk; /* newest first */
    size_t used;                  /* bytes taken from the system */
    size_t limit;                 /* bytes that may be taken; 0: no limit */
    bool reset;                   /* it has been reset: new chunks may be memory used before */
};

/* Makes an empty arena. Nothing is allocated yet. */
void ww_arena_init(struct ww_arena *a, size_t limit);
/* Returns `size` zeroed bytes (size 0 gives a valid pointer), or NULL: no memory or over the limit. */
void *ww_arena_alloc(struct ww_arena *a, size_t size);
/* count x size with overflow check; as ww_arena_alloc. */
void *ww_arena_array(struct ww_arena *a, size_t count, size_t size);
/* The same, not zeroed: the caller writes all of it before reading any. */
void *ww_arena_raw(struct ww_arena *a, size_t count, size_t size);
#define WW_HOST_LINE 64 /* bytes of a line of the host's caches */
/* As ww_arena_array, beginning at such a line. */
void *ww_arena_lines(struct ww_arena *a, size_t count, size_t size);
/* As ww_arena_raw, beginning at such a line. */
void *ww_arena_raw_lines(struct ww_arena *a, size_t count, size_t size);
/* Copies `n` bytes and adds a NUL. */
char *ww_arena_strndup(struct ww_arena *a, const char *s, size_t n);
char *ww_arena_strdup(struct ww_arena *a, const char *s);
__attribute__((format(printf, 2, 3))) char *ww_arena_printf(struct ww_arena *a, const char *fmt, ...);
/* Frees everything; the arena is empty and usable again. */
void ww_arena_free(struct ww_arena *a);
/* Makes the arena empty but keeps its largest chunk for the next use. */
void ww_arena_reset(struct ww_arena *a);

#endif
