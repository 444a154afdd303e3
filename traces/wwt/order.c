/* order.c: which launches may run beside each other, in the index. */
#include "format.h"
#include "index.h"

static bool is_plain(const struct ww_trace_order *o) {
    return o->stream == 0 && o->priority == 0 && o->wait_count == 0;
}

const char *ww_wwt_check_order(const struct ww_trace_order *o, size_t launch) {
    if (o->wait_count > WW_WWT_WAITS_MAX) return "a launch waits for too many others";
    for (uint32_t n = 0; n < o->wait_count; n++)
        if (o->wait[n] >= launch) return "a launch waits for itself or a later one";
    return NULL;
}

void ww_wwt_put_order(struct ww_wwt_orders *to, const struct ww_trace_order *o, size_t launch) {
    if (is_plain(o)) return;
    ww_buf_varint(&to->rows, launch - to->next);
    ww_buf_varint(&to->rows, o->stream);
    ww_buf_svarint(&to->rows, o->priority);
    ww_buf_varint(&to->rows, o->wait_count);
    for (uint32_t n = 0; n < o->wait_count; n++) ww_buf_varint(&to->rows, launch - o->wait[n]);
    to->next = launch + 1;
    to->count++;
}

static bool get_waits(struct ww_cursor *c, struct ww_arena *arena, struct ww_trace_order *o, size_t launch,
                      const char **why) {
    uint64_t count = ww_cursor_varint(c);
    if (c->failed || count > WW_WWT_WAITS_MAX || count > (uint64_t)(c->end - c->p)) return false;
    uint32_t *wait = count ? ww_arena_array(arena, (size_t)count, sizeof *wait) : NULL;
    if (count && !wait) {
        *why = NULL;
        return false;
    }
    for (uint64_t n = 0; n < count; n++) {
        uint64_t back = ww_cursor_varint(c);
        if (c->failed || back == 0 || back > launch) return false;
        wait[n] = (uint32_t)(launch - back);
    }
    o->wait = wait;
    o->wait_count = (uint32_t)count;
    return true;
}

/* Nothing at all stands for the order of one stream. */
bool ww_wwt_get_orders(struct ww_cursor *c, struct ww_arena *arena, struct ww_wwt_index *index,
                       const char **why) {
    uint64_t at = 0;
    if (c->p == c->end) return true;
    *why = "the order of the launches is malformed";
    uint64_t rows = ww_cursor_varint(c);
    if (c->failed || (rows == 0 && c->p == c->end) || rows > index->launch_count) return false;
    for (uint64_t n = 0; n < rows; n++, at++) {
        uint64_t skipped = ww_cursor_varint(c);
        if (c->failed || skipped >= index->launch_count - at) return false;
        at += skipped;
        struct ww_trace_order *o = &index->launch[at].view.order;
        uint64_t stream = ww_cursor_varint(c);
        int64_t priority = ww_cursor_svarint(c);
        if (c->failed || stream > UINT32_MAX || priority < INT32_MIN || priority > INT32_MAX) return false;
        o->stream = (uint32_t)stream;
        o->priority = (int32_t)priority;
        if (!get_waits(c, arena, o, (size_t)at, why) || is_plain(o)) return false;
        if (at + 1 == index->launch_count && n + 1 < rows) return false;
    }
    return true;
}
