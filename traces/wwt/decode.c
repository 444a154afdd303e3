/* Decoding a CTA group: its head, then its columns. */
#include "decode_int.h"
#include "bytes.h"
#include <stdlib.h>
#include <string.h>

static void free_room(struct ww_wwt_decoded *d, void *p, size_t room, size_t size) {
    ww_slabs_give(d->slabs, p, (room + 1) * size);
}

/* The group's own list of CTAs, which must be the index's. */
static bool read_runs(struct ww_wwt_decoder *x, struct ww_cursor *c, size_t number) {
    const struct ww_wwt_group *g = x->d->group;
    uint64_t end = 0;
    bool same = ww_wwt_varint(c) == number && ww_wwt_varint(c) == g->run_count;
    for (uint32_t i = 0; same && i < g->run_count; i++) {
        same = end + ww_wwt_varint(c) == g->run[i].first && ww_wwt_varint(c) == g->run[i].count;
        end = g->run[i].first + g->run[i].count;
    }
    return same && !c->failed ? true : ww_wwt_reject(x, c, "a group is not the one that the index names");
}

/* Number of paths and the columns, which fill the rest exactly. */
static bool read_columns(struct ww_wwt_decoder *x, struct ww_cursor *c, uint64_t *paths) {
    uint64_t size[WW_WWT_COLUMNS] = {0};
    int columns = x->version < WW_WWT_VERSION_SUBSET ? WW_WWT_COLUMNS_OLD : WW_WWT_COLUMNS;
    *paths = ww_wwt_varint(c);
    for (int i = 0; i < columns; i++) size[i] = ww_wwt_varint(c);
    for (int i = 0; i < WW_WWT_COLUMNS; i++) {
        const unsigned char *p =
            size[i] <= (uint64_t)(c->end - c->p) ? ww_cursor_bytes(c, (size_t)size[i]) : NULL;
        if (c->failed || !p) return ww_wwt_reject(x, c, "a column is cut off");
        x->col[i] = (struct ww_cursor){p, p + size[i], false};
    }
    if (c->p != c->end) return ww_wwt_reject(x, c, "bytes follow the last column");
    if (*paths > size[WW_WWT_COL_LENGTH] || *paths > WW_WWT_GROUP_WARPS_MAX)
        return ww_wwt_reject(x, c, "there are fewer paths than declared");
    return true;
}

/* Lanes that warp `w` of a CTA has. */
static uint32_t lanes_of(const struct ww_launch *l, uint32_t w) {
    uint32_t left = l->block[0] * l->block[1] * l->block[2] - 32 * w;
    return left >= 32 ? UINT32_MAX : (1u << left) - 1;
}

/* Which path each warp takes; sets up the streams. */
static bool read_warps(struct ww_wwt_decoder *x, uint32_t *warp_path, size_t count) {
    struct ww_wwt_decoded *d = x->d;
    struct ww_cursor *c = &x->col[WW_WWT_COL_WARP];
    const struct ww_cursor *access = &x->col[WW_WWT_COL_ACCESS];
    uint64_t total = 0, most = (uint64_t)(access->end - access->p);
    for (size_t i = 0; i < count; i++) {
        uint64_t k = ww_wwt_varint(c);
        if (c->failed || k >= d->path_count) return ww_wwt_reject(x, c, "a warp's path does not exist");
        const struct ww_wwt_path *path = &d->path[k];
        if (path->mask & ~lanes_of(x->launch, (uint32_t)(i % x->launch->warps_per_cta)))
            return ww_wwt_reject(x, c, "a mask has lanes that the CTA does not have");
        warp_path[i] = (uint32_t)k;
        d->warp[i].step = d->step + path->first_step;
        d->warp[i].step_count = path->step_count;
        d->warp[i].access_count = path->access_count;
        total += path->access_count;
    }
    if (total != most || total > WW_WWT_ACCESS_MAX)
        return ww_wwt_reject(x, c, "the number of accesses is not that of the steps");
    d->access_count = (size_t)total;
    d->access = ww_wwt_room(d, &d->access_room, d->access_count, sizeof *d->access);
    return d->access ? true : ww_wwt_no_memory(x);
}

static void point_warps(struct ww_wwt_decoded *d, size_t count) {
    const struct ww_access *access = d->access;
    for (size_t i = 0; i < count; i++) {
        d->warp[i].access = access;
        d->warp[i].pool = d->pool;
        access += d->warp[i].access_count;
    }
}

/* The pool moves from where it has grown to a block of its size. */
static bool settle_pool(struct ww_wwt_decoder *x) {
    struct ww_wwt_decoded *d = x->d;
    size_t room;
    uint64_t *pool = d->pool_count ? ww_wwt_room(d, &room, d->pool_count, sizeof *pool) : NULL;
    if (d->pool_count && !pool) return ww_wwt_no_memory(x);
    if (pool) memcpy(pool, d->growing, d->pool_count * sizeof *pool);
    free(d->growing);
    d->growing = NULL;
    d->pool = pool;
    return true;
}

static bool decode_warps(struct ww_wwt_decoder *x) {
    struct ww_wwt_decoded *d = x->d;
    const struct ww_cursor *c = &x->col[WW_WWT_COL_WARP];
    uint64_t count = (uint64_t)d->group->cta_count * x->launch->warps_per_cta;
    if (count > (uint64_t)(c->end - c->p) || count > WW_WWT_GROUP_WARPS_MAX)
        return ww_wwt_reject(x, c, "there are fewer warps than declared");
    d->warp = ww_wwt_room(d, &d->warp_room, (size_t)count, sizeof *d->warp);
    uint32_t *warp_path = malloc((size_t)count * sizeof *warp_path);
    bool ok = d->warp && warp_path ? read_warps(x, warp_path, (size_t)count) &&
                                         ww_wwt_decode_accesses(x, warp_path, (size_t)count)
                                   : ww_wwt_no_memory(x);
    free(warp_path);
    if (!ok || !settle_pool(x)) return false;
    point_warps(d, (size_t)count);
    d->bytes = sizeof *d + (size_t)count * sizeof *d->warp + d->step_room * sizeof *d->step +
               d->access_room * sizeof *d->access + d->pool_count * sizeof *d->pool;
    return true;
}

static bool decode(struct ww_wwt_decoder *x, size_t number, struct ww_cursor *c) {
    uint64_t paths;
    if (!read_runs(x, c, number) || !read_columns(x, c, &paths)) return false;
    if (!ww_wwt_decode_paths(x, (size_t)paths) || !decode_warps(x)) return false;
    for (int i = 0; i < WW_WWT_COLUMNS; i++)
        if (x->col[i].p != x->col[i].end)
            return ww_wwt_reject(x, &x->col[i], "a column is longer than its use");
    return true;
}

void *ww_wwt_room(struct ww_wwt_decoded *d, size_t *room, size_t n, size_t size) {
    void *p = ww_slabs_take(d->slabs, (n + 1) * size);
    *room = p ? n : 0;
    return p;
}

void ww_wwt_decoded_free(struct ww_wwt_decoded *d) {
    if (!d) return;
    free_room(d, d->step, d->step_room, sizeof *d->step);
    free_room(d, d->access, d->access_room, sizeof *d->access);
    free_room(d, d->pool, d->pool_count, sizeof *d->pool);
    free(d->growing);
    free_room(d, d->warp, d->warp_room, sizeof *d->warp);
    free(d->path);
    free(d->access_step);
    free(d);
}

enum ww_code ww_wwt_decode(const struct ww_wwt_launch *launch, size_t number, struct ww_wwt_group *g,
                           uint32_t version, const unsigned char *raw, size_t n, struct ww_slabs *slabs,
                           struct ww_wwt_decoded **out, const char **why, size_t *at) {
    struct ww_wwt_decoder x = {
        .launch = &launch->view, .version = version, .d = calloc(1, sizeof *x.d), .at = raw};
    struct ww_cursor c = {raw, raw + n, false};
    if (!x.d) return WW_NOMEM;
    x.d->group = g;
    x.d->slabs = slabs;
    if (!decode(&x, number, &c)) {
        ww_wwt_decoded_free(x.d);
        *why = x.why;
        *at = (size_t)(x.at - raw);
        return x.nomem ? WW_NOMEM : WW_INPUT;
    }
    free(x.d->path);
    free(x.d->access_step);
    x.d->path = NULL;
    x.d->access_step = NULL;
    *out = x.d;
    return WW_OK;
}
