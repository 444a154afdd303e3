/* order.c: which launches may run concurrently, in the index. */
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

/* ---- clusters ---- */

void ww_wwt_put_cluster(struct ww_wwt_orders *to, const uint32_t cluster[3], size_t launch) {
    if (!cluster[0]) return;
    ww_buf_varint(&to->rows, launch - to->next);
    for (int n = 0; n < 3; n++) ww_buf_varint(&to->rows, cluster[n]);
    to->next = launch + 1;
    to->count++;
}

const char *ww_wwt_check_cluster(const struct ww_launch *l) {
    uint64_t ctas = 1;
    if (!l->cluster[0] && !l->cluster[1] && !l->cluster[2]) return NULL;
    for (int n = 0; n < 3; n++) {
        ctas *= l->cluster[n];
        if (l->cluster[n] == 0 || ctas > WW_CLUSTER_CTAS) return "a cluster has no CTA, or more than 16";
        if (l->grid[n] % l->cluster[n]) return "the grid is not a multiple of the clusters";
    }
    return NULL;
}

static bool get_clusters(struct ww_cursor *c, struct ww_wwt_index *index, const char **why) {
    uint64_t at = 0, rows = ww_cursor_varint(c);
    *why = "the clusters of the launches are malformed";
    if (c->failed || (rows == 0 && c->p == c->end) || rows > index->launch_count) return false;
    for (uint64_t n = 0; n < rows; n++, at++) {
        uint64_t skipped = ww_cursor_varint(c);
        if (c->failed || at >= index->launch_count || skipped >= index->launch_count - at) return false;
        at += skipped;
        struct ww_launch *l = &index->launch[at].view;
        for (int k = 0; k < 3; k++) {
            uint64_t ctas = ww_cursor_varint(c);
            if (c->failed || ctas == 0 || ctas > WW_CLUSTER_CTAS) return false;
            l->cluster[k] = (uint32_t)ctas;
        }
        if (ww_wwt_check_cluster(l)) return false;
    }
    return true;
}

/* Nothing at all stands for the order of one stream, without clusters. */
bool ww_wwt_get_orders(struct ww_cursor *c, struct ww_arena *arena, struct ww_wwt_index *index,
                       const char **why) {
    uint64_t at = 0;
    if (c->p == c->end) return true;
    *why = "the order of the launches is malformed";
    uint64_t rows = ww_cursor_varint(c);
    if (c->failed || rows > index->launch_count || (rows == 0 && c->p == c->end)) return false;
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
    return c->p == c->end || get_clusters(c, index, why);
}
