/* Copies and fills between launches, in the index. */
#include "format.h"
#include "index.h"

static uint64_t end_of(const struct ww_trace_copy *c) {
    return c->address + (c->rows > 1 ? c->pitch * (c->rows - 1) : 0) + c->bytes;
}

const char *ww_wwt_check_copy(const struct ww_trace_copy *c) {
    uint64_t span = 0, end;
    if (c->kind >= WW_TRACE_COPY_KINDS) return "a copy's kind is unknown";
    if (c->rows == 0 || c->bytes == 0) return "a copy has no bytes";
    if (c->rows > 1 && c->pitch < c->bytes) return "the rows of a copy overlap";
    if ((c->rows > 1 && __builtin_mul_overflow(c->pitch, (uint64_t)c->rows - 1, &span)) ||
        __builtin_add_overflow(span, c->bytes, &span) || __builtin_add_overflow(c->address, span, &end))
        return "a copy goes beyond the last address";
    return NULL;
}

void ww_wwt_put_copies(struct ww_buf *b, const struct ww_trace_copy *copy, uint32_t count) {
    uint64_t end = 0;
    ww_buf_varint(b, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct ww_trace_copy *c = &copy[i];
        ww_buf_append(b, &c->kind, 1);
        ww_buf_svarint(b, (int64_t)(c->address - end));
        ww_buf_varint(b, c->bytes);
        ww_buf_varint(b, c->rows);
        if (c->rows > 1) ww_buf_varint(b, c->pitch);
        end = end_of(c);
    }
}

static bool get_copy(struct ww_cursor *cursor, uint64_t before, struct ww_trace_copy *c) {
    const unsigned char *kind = ww_cursor_bytes(cursor, 1);
    if (!kind) return false;
    c->kind = *kind;
    c->address = before + (uint64_t)ww_cursor_svarint(cursor);
    c->bytes = ww_cursor_varint(cursor);
    uint64_t rows = ww_cursor_varint(cursor);
    if (rows > UINT32_MAX) return false;
    c->rows = (uint32_t)rows;
    c->pitch = rows > 1 ? ww_cursor_varint(cursor) : 0;
    return !cursor->failed;
}

bool ww_wwt_get_copies(struct ww_cursor *c, struct ww_arena *arena, struct ww_launch *launch,
                       const char **why) {
    uint64_t count = ww_cursor_varint(c), end = 0;
    *why = "the copies before a launch are malformed";
    if (c->failed || count > WW_WWT_COPIES_MAX || count > (uint64_t)(c->end - c->p)) return false;
    if (count == 0) return true;
    struct ww_trace_copy *copy = ww_arena_array(arena, (size_t)count, sizeof *copy);
    if (!copy) {
        *why = NULL;
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!get_copy(c, end, &copy[i])) return false;
        const char *wrong = ww_wwt_check_copy(&copy[i]);
        if (wrong) {
            *why = wrong;
            return false;
        }
        end = end_of(&copy[i]);
    }
    launch->copy = copy;
    launch->copy_count = (uint32_t)count;
    return true;
}
