/* A growable array of bytes. */
#include "buf.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ww_buf_reserve(struct ww_buf *b, size_t more) {
    if (b->failed) return false;
    size_t need;
    if (__builtin_add_overflow(b->n, more, &need) || need > SIZE_MAX / 4) {
        b->failed = true;
        return false;
    }
    if (b->p && need + 1 <= b->cap) return true;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need + 1) cap *= 2;
    char *p = realloc(b->p, cap);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->p = p;
    b->cap = cap;
    b->p[b->n] = 0;
    return true;
}

void ww_buf_append(struct ww_buf *b, const void *data, size_t n) {
    if (!ww_buf_reserve(b, n)) return;
    if (n) memcpy(b->p + b->n, data, n);
    b->n += n;
    b->p[b->n] = 0;
}

void ww_buf_byte(struct ww_buf *b, unsigned char c) {
    ww_buf_append(b, &c, 1);
}

void ww_buf_puts(struct ww_buf *b, const char *s) {
    ww_buf_append(b, s, strlen(s));
}

void ww_buf_printf(struct ww_buf *b, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n >= 0 && ww_buf_reserve(b, (size_t)n)) {
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void ww_buf_varint(struct ww_buf *b, uint64_t v) {
    unsigned char out[10];
    size_t n = 0;
    while (v >= 0x80) {
        out[n++] = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    out[n++] = (unsigned char)v;
    ww_buf_append(b, out, n);
}

void ww_buf_svarint(struct ww_buf *b, int64_t v) {
    ww_buf_varint(b, ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0));
}

static void append_le(struct ww_buf *b, uint64_t v, size_t n) {
    unsigned char out[8];
    for (size_t i = 0; i < n; i++) out[i] = (unsigned char)(v >> (8 * i));
    ww_buf_append(b, out, n);
}

void ww_buf_u32(struct ww_buf *b, uint32_t v) {
    append_le(b, v, 4);
}

void ww_buf_u64(struct ww_buf *b, uint64_t v) {
    append_le(b, v, 8);
}

void ww_buf_clear(struct ww_buf *b) {
    b->n = 0;
    b->failed = false;
    if (b->p) b->p[0] = 0;
}

void ww_buf_free(struct ww_buf *b) {
    free(b->p);
    *b = (struct ww_buf){0};
}

const void *ww_cursor_bytes(struct ww_cursor *c, size_t n) {
    if (c->failed || (size_t)(c->end - c->p) < n) {
        c->failed = true;
        return NULL;
    }
    const void *p = c->p;
    c->p += n;
    return p;
}

unsigned char ww_cursor_byte(struct ww_cursor *c) {
    const unsigned char *p = ww_cursor_bytes(c, 1);
    return p ? *p : 0;
}

uint64_t ww_cursor_varint(struct ww_cursor *c) {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char byte = ww_cursor_byte(c);
        if (shift == 63 && byte > 1) break;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return c->failed ? 0 : v;
    }
    c->failed = true;
    return 0;
}

int64_t ww_cursor_svarint(struct ww_cursor *c) {
    uint64_t v = ww_cursor_varint(c);
    return (int64_t)((v >> 1) ^ (~(v & 1) + 1));
}

static uint64_t read_le(struct ww_cursor *c, size_t n) {
    const unsigned char *p = ww_cursor_bytes(c, n);
    uint64_t v = 0;
    for (size_t i = 0; p && i < n; i++) v |= (uint64_t)p[i] << (8 * i);
    return v;
}

uint32_t ww_cursor_u32(struct ww_cursor *c) {
    return (uint32_t)read_le(c, 4);
}

uint64_t ww_cursor_u64(struct ww_cursor *c) {
    return read_le(c, 8);
}
