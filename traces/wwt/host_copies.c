/* host_copies.c: copies of a program and what they and launches wait for, in the index. */
#include "format.h"
#include "host_copies.h"
#include "index.h"
#include "writer.h"

#define WAY 3u
#define PAGEABLE 4u

/* ---- writing ---- */

static enum ww_code refuse(const struct ww_trace_writer *w, struct ww_error *error) {
    return ww_fail(error, WW_INTERNAL, w->path,
                   "a copy has no bytes, or an operation waits for a later one or for too many");
}

static bool is_before(const struct ww_trace_writer *w, uint64_t operation) {
    return operation / 2 < (WW_OPERATION_IS_COPY(operation) ? w->host.copy_count : w->launch_count);
}

enum ww_code ww_trace_writer_host_copy(struct ww_trace_writer *w, const struct ww_host_copy *c,
                                       struct ww_error *error) {
    struct ww_wwt_host *h = &w->host;
    if (h->over || h->copy_count == WW_WWT_HOST_COPIES_MAX) {
        h->over = true;
        return WW_OK;
    }
    if (!c->bytes || (unsigned)c->way >= WW_COPY_WAYS || c->wait_count > WW_WWT_WAITS_MAX)
        return refuse(w, error);
    for (uint32_t n = 0; n < c->wait_count; n++)
        if (!is_before(w, c->wait[n])) return refuse(w, error);
    const unsigned char way = (unsigned char)((unsigned)c->way | (c->pageable ? PAGEABLE : 0));
    ww_buf_varint(&h->copies, w->launch_count - h->last_launch);
    ww_buf_append(&h->copies, &way, 1);
    ww_buf_varint(&h->copies, c->bytes);
    ww_buf_varint(&h->copies, c->stream);
    ww_buf_varint(&h->copies, c->wait_count);
    for (uint32_t n = 0; n < c->wait_count; n++) {
        uint64_t is_copy = WW_OPERATION_IS_COPY(c->wait[n]), all = is_copy ? h->copy_count : w->launch_count;
        ww_buf_varint(&h->copies, 2 * (all - c->wait[n] / 2) + is_copy);
    }
    h->last_launch = w->launch_count;
    h->copy_count++;
    return h->copies.failed ? ww_fail_nomem(error, "copies of a program") : WW_OK;
}

enum ww_code ww_trace_writer_copy_waits(struct ww_trace_writer *w, const struct ww_copy_waits *waits,
                                        struct ww_error *error) {
    struct ww_wwt_host *h = &w->host;
    if (h->over || waits->count == 0) return WW_OK;
    if (waits->count > WW_WWT_WAITS_MAX || w->launch_count < h->next_launch) return refuse(w, error);
    for (uint32_t n = 0; n < waits->count; n++)
        if (waits->copy[n] >= h->copy_count) return refuse(w, error);
    ww_buf_varint(&h->launches, w->launch_count - h->next_launch);
    ww_buf_varint(&h->launches, waits->count);
    for (uint32_t n = 0; n < waits->count; n++) ww_buf_varint(&h->launches, h->copy_count - waits->copy[n]);
    h->next_launch = w->launch_count + 1;
    h->launch_count++;
    return h->launches.failed ? ww_fail_nomem(error, "copies of a program") : WW_OK;
}

bool ww_wwt_has_host(const struct ww_wwt_host *h) {
    return h->copy_count && !h->over;
}

void ww_wwt_put_host(struct ww_buf *b, const struct ww_wwt_host *h) {
    ww_buf_varint(b, h->copy_count);
    ww_buf_append(b, h->copies.p, h->copies.n);
    ww_buf_varint(b, h->launch_count);
    ww_buf_append(b, h->launches.p, h->launches.n);
}

void ww_wwt_forget_host(struct ww_wwt_host *h) {
    ww_buf_free(&h->copies);
    ww_buf_free(&h->launches);
}

/* ---- reading ---- */

struct host_parser {
    struct ww_cursor *c;
    struct ww_arena *arena;
    struct ww_wwt_index *index;
    struct ww_host_copy *copy;
    const char **why;
};

static void *get_array(struct host_parser *p, uint64_t most, size_t size, uint64_t *count) {
    *count = ww_cursor_varint(p->c);
    if (p->c->failed || *count > most || *count > (uint64_t)(p->c->end - p->c->p)) return NULL;
    void *array = ww_arena_array(p->arena, (size_t)*count + 1, size);
    if (!array) *p->why = NULL;
    return array;
}

static bool get_copy(struct host_parser *p, uint64_t number, uint64_t *launch) {
    struct ww_host_copy *to = &p->copy[number];
    *launch += ww_cursor_varint(p->c);
    const unsigned char *way = ww_cursor_bytes(p->c, 1);
    to->bytes = ww_cursor_varint(p->c);
    uint64_t count, stream = ww_cursor_varint(p->c);
    if (p->c->failed || !way || *way > (WAY | PAGEABLE) || !to->bytes || stream > UINT32_MAX ||
        *launch > p->index->launch_count)
        return false;
    to->way = (enum ww_copy_way)(*way & WAY);
    to->pageable = (*way & PAGEABLE) != 0;
    to->stream = (uint32_t)stream;
    to->launch = (uint32_t)*launch;
    uint64_t *wait = get_array(p, WW_WWT_WAITS_MAX, sizeof *wait, &count);
    if (!wait) return false;
    for (uint64_t n = 0; n < count; n++) {
        uint64_t v = ww_cursor_varint(p->c), is_copy = v & 1, back = v / 2, all = is_copy ? number : *launch;
        if (p->c->failed || back == 0 || back > all) return false;
        wait[n] = 2 * (all - back) + is_copy;
    }
    to->wait = wait;
    to->wait_count = (uint32_t)count;
    return true;
}

/* Copies that stand before the launch. */
static uint64_t copies_before(const struct ww_host_order *h, uint64_t launch) {
    size_t low = 0, high = h->copy_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (h->copy[mid].launch <= launch)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool get_launches(struct host_parser *p) {
    uint64_t rows = ww_cursor_varint(p->c), at = 0;
    if (p->c->failed || rows > p->index->launch_count) return false;
    struct ww_copy_waits *launch = ww_arena_array(p->arena, p->index->launch_count + 1, sizeof *launch);
    if (!launch) {
        *p->why = NULL;
        return false;
    }
    for (uint64_t n = 0; n < rows; n++, at++) {
        uint64_t count, skipped = ww_cursor_varint(p->c);
        if (p->c->failed || at >= p->index->launch_count || skipped >= p->index->launch_count - at)
            return false;
        at += skipped;
        uint32_t *wait = get_array(p, WW_WWT_WAITS_MAX, sizeof *wait, &count);
        uint64_t before = copies_before(&p->index->host, at);
        if (!wait || count == 0) return false;
        for (uint64_t k = 0; k < count; k++) {
            uint64_t back = ww_cursor_varint(p->c);
            if (p->c->failed || back == 0 || back > before) return false;
            wait[k] = (uint32_t)(before - back);
        }
        launch[at] = (struct ww_copy_waits){wait, (uint32_t)count};
    }
    p->index->host.launch = launch;
    return true;
}

bool ww_wwt_get_host(struct ww_cursor *c, struct ww_arena *arena, struct ww_wwt_index *index,
                     const char **why) {
    struct host_parser p = {.c = c, .arena = arena, .index = index, .why = why};
    uint64_t count, launch = 0;
    if (c->p == c->end) return true;
    *why = "the copies of the program are malformed";
    p.copy = get_array(&p, WW_WWT_HOST_COPIES_MAX, sizeof *p.copy, &count);
    if (!p.copy || count == 0) return false;
    for (uint64_t n = 0; n < count; n++)
        if (!get_copy(&p, n, &launch)) return false;
    index->host.copy = p.copy;
    index->host.copy_count = (size_t)count;
    return get_launches(&p);
}
