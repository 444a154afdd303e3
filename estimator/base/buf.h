/* buf.h: a growable array of bytes.
 *
 * Invariants: p[n] is 0 whenever p is not NULL; n <= cap. A failed append sets `failed`, changes nothing
 * else, and later appends do nothing, so that a writer may append freely and check once at the end.
 */
#ifndef WW_BASE_BUF_H
#define WW_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ww_buf {
    char *p;
    size_t n, cap;
    bool failed;
};

/* Makes room for `more` bytes behind n; false if memory ran out. */
bool ww_buf_reserve(struct ww_buf *b, size_t more);
void ww_buf_append(struct ww_buf *b, const void *data, size_t n);
void ww_buf_byte(struct ww_buf *b, unsigned char c);
void ww_buf_puts(struct ww_buf *b, const char *s);
__attribute__((format(printf, 2, 3))) void ww_buf_printf(struct ww_buf *b, const char *fmt, ...);
/* LEB128, least significant group first; signed values are zigzag coded. */
void ww_buf_varint(struct ww_buf *b, uint64_t v);
void ww_buf_svarint(struct ww_buf *b, int64_t v);
void ww_buf_u32(struct ww_buf *b, uint32_t v); /* little-endian */
void ww_buf_u64(struct ww_buf *b, uint64_t v);
void ww_buf_clear(struct ww_buf *b); /* n = 0, memory kept */
void ww_buf_free(struct ww_buf *b);

/* Reading with bounds: a cursor over bytes. Any read past the end sets `failed` and returns 0. */
struct ww_cursor {
    const unsigned char *p, *end;
    bool failed;
};
uint64_t ww_cursor_varint(struct ww_cursor *c);
int64_t ww_cursor_svarint(struct ww_cursor *c);
uint32_t ww_cursor_u32(struct ww_cursor *c);
uint64_t ww_cursor_u64(struct ww_cursor *c);
unsigned char ww_cursor_byte(struct ww_cursor *c);
/* `n` bytes in place, or NULL. */
const void *ww_cursor_bytes(struct ww_cursor *c, size_t n);

#endif
