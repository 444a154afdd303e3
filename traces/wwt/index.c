/* Reading the index chunk. */
#include "format.h"
#include "index.h"
#include "waits.h"
#include <stdlib.h>
#include <string.h>

/* Execution counts as they stand in the index, and the launch that has them. */
struct counted {
    const unsigned char *bytes;
    size_t n;
    const struct ww_wwt_launch *launch;
};

struct parser {
    struct ww_cursor *c;
    struct ww_arena *arena;
    struct ww_wwt_index *index;
    const char *why;
    uint64_t file_bytes;
    uint64_t offset; /* of the next group's chunk */
    struct ww_launch *code;
    struct counted *counted; /* by code: the counts of its last launch */
    uint64_t code_count;
    uint32_t version;
};

static bool reject(struct parser *p, const char *why) {
    p->why = why;
    return false;
}

/* A count of things that take at least one byte each; an array for them of `size` each. */
static void *get_array(struct parser *p, uint64_t *count, size_t size) {
    *count = ww_cursor_varint(p->c);
    if (p->c->failed || *count > (uint64_t)(p->c->end - p->c->p)) {
        p->why = "a count is larger than what follows";
        return NULL;
    }
    void *array = ww_arena_array(p->arena, (size_t)*count, size);
    if (!array) p->why = NULL;
    return array;
}

static bool get_u32(struct parser *p, uint32_t *v) {
    uint64_t wide = ww_cursor_varint(p->c);
    *v = (uint32_t)wide;
    return !p->c->failed && wide <= UINT32_MAX;
}

static bool parse_codes(struct parser *p) {
    p->code = get_array(p, &p->code_count, sizeof *p->code);
    if (!p->code) return false;
    p->counted = ww_arena_array(p->arena, (size_t)p->code_count, sizeof *p->counted);
    if (!p->counted) return reject(p, NULL);
    for (uint64_t i = 0; i < p->code_count; i++)
        if (!ww_wwt_get_code(p->c, p->version, p->arena, &p->code[i], &p->why)) return false;
    return true;
}

static bool parse_shape(struct parser *p, struct ww_launch *l, uint64_t *number) {
    uint64_t code = ww_cursor_varint(p->c);
    if (p->c->failed || code >= p->code_count) return reject(p, "a launch names code that does not exist");
    *l = p->code[code];
    *number = code;
    uint32_t *field[] = {&l->grid[0],
                         &l->grid[1],
                         &l->grid[2],
                         &l->block[0],
                         &l->block[1],
                         &l->block[2],
                         &l->registers_per_thread,
                         &l->shared_static,
                         &l->shared_dynamic,
                         &l->local_bytes};
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        if (!get_u32(p, field[i])) return reject(p, "a launch is cut off or a number is too large");
    const char *why = ww_wwt_check_shape(l);
    return why ? reject(p, why) : true;
}

/* How often each instruction was executed, by warps and by threads; the sums. */
static bool parse_counts(struct parser *p, struct ww_wwt_launch *l) {
    uint32_t n = l->view.inst_count;
    if (n > (uint64_t)(p->c->end - p->c->p)) return reject(p, "execution counts are cut off");
    l->inst_warp = ww_arena_array(p->arena, n, sizeof *l->inst_warp);
    l->inst_thread = ww_arena_array(p->arena, n, sizeof *l->inst_thread);
    if (!l->inst_warp || !l->inst_thread) return reject(p, NULL);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t warps = ww_cursor_varint(p->c), idle = warps ? ww_cursor_varint(p->c) : 0;
        if (p->c->failed || warps >> 50 || idle > 32 * warps)
            return reject(p, "an execution count is out of bounds");
        l->inst_warp[i] = warps;
        l->inst_thread[i] = 32 * warps - idle;
        l->view.warp_instructions += l->inst_warp[i];
        l->view.thread_instructions += l->inst_thread[i];
    }
    return true;
}

/* Launches of the same code often have the same counts, which are kept once. */
static bool get_counts(struct parser *p, struct ww_wwt_launch *l, struct counted *last) {
    const unsigned char *at = p->c->p;
    if (last->launch && (size_t)(p->c->end - at) >= last->n && memcmp(at, last->bytes, last->n) == 0) {
        l->inst_warp = last->launch->inst_warp;
        l->inst_thread = last->launch->inst_thread;
        l->view.warp_instructions = last->launch->view.warp_instructions;
        l->view.thread_instructions = last->launch->view.thread_instructions;
        p->c->p += last->n;
        return true;
    }
    if (!parse_counts(p, l)) return false;
    *last = (struct counted){at, (size_t)(p->c->p - at), l};
    return true;
}

/* The CTAs of one group: runs, each by its distance from the end of the one before. */
static bool parse_runs(struct parser *p, struct ww_wwt_launch *l, uint32_t number, uint64_t *end) {
    struct ww_wwt_group *g = &l->group[number];
    uint64_t count, position = 0, limit = l->view.cta_count;
    struct ww_wwt_run *run = get_array(p, &count, sizeof *run);
    if (!run) return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t first = i ? *end + ww_cursor_varint(p->c) : *end + (uint64_t)ww_cursor_svarint(p->c);
        uint64_t n = ww_cursor_varint(p->c);
        if (p->c->failed || n == 0 || (i && first <= *end) || first >= limit || n > limit - first ||
            n > UINT32_MAX - position)
            return reject(p, "a run of CTAs is out of bounds");
        run[i] = (struct ww_wwt_run){first, n, number, (uint32_t)position};
        position += n;
        *end = first + n;
    }
    if (position == 0) return reject(p, "a group has no CTA");
    g->run = run;
    g->run_count = (uint32_t)count;
    g->cta_count = (uint32_t)position;
    l->run_count += count;
    l->cta_present += position;
    return true;
}

static bool parse_group(struct parser *p, struct ww_wwt_launch *l, uint32_t number, uint64_t *end) {
    struct ww_wwt_group *g = &l->group[number];
    if (!get_u32(p, &g->raw) || !get_u32(p, &g->stored)) return reject(p, "a group's size is malformed");
    g->crc = ww_cursor_u32(p->c);
    if (g->stored == 0 || g->stored > g->raw || g->raw > WW_WWT_RAW_MAX ||
        g->raw / g->stored > WW_WWT_RATIO_MAX)
        return reject(p, "a group's size is out of bounds");
    g->offset = p->offset;
    p->offset += WW_WWT_CHUNK_BYTES + (uint64_t)g->stored;
    return parse_runs(p, l, number, end);
}

static int compare_runs(const void *a, const void *b) {
    const struct ww_wwt_run *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* One list of all groups' runs for the search by CTA. */
static bool sort_runs(struct parser *p, struct ww_wwt_launch *l) {
    struct ww_wwt_run *all = ww_arena_array(p->arena, l->run_count, sizeof *all);
    if (!all) return reject(p, NULL);
    size_t n = 0;
    for (uint32_t g = 0; g < l->group_count; g++)
        for (uint32_t i = 0; i < l->group[g].run_count; i++) all[n++] = l->group[g].run[i];
    qsort(all, n, sizeof *all, compare_runs);
    for (size_t i = 1; i < n; i++)
        if (all[i].first < all[i - 1].first + all[i - 1].count) return reject(p, "a CTA is in two groups");
    l->run = all;
    return true;
}

static bool parse_launch(struct parser *p, struct ww_wwt_launch *l) {
    uint64_t groups, end = 0;
    if (!parse_shape(p, &l->view, &l->code) || !get_counts(p, l, &p->counted[l->code])) return false;
    l->group = get_array(p, &groups, sizeof *l->group);
    if (!l->group) return false;
    l->group_count = (uint32_t)groups;
    for (uint32_t g = 0; g < l->group_count; g++)
        if (!parse_group(p, l, g, &end)) return false;
    return sort_runs(p, l);
}

static struct ww_wwt_launch *get_launches(struct parser *p, uint64_t *count) {
    struct ww_cursor ahead = *p->c;
    *count = ww_cursor_varint(&ahead);
    if (!ahead.failed && *count > WW_WWT_LAUNCHES_MAX(p->file_bytes)) {
        p->why = "it has more launches than a file of this size may have";
        return NULL;
    }
    return get_array(p, count, sizeof *p->index->launch);
}

/* Where each code table comes from; launches name tables by number. */
static bool parse_origins(struct parser *p) {
    if (p->version < WW_WWT_VERSION_MACHINE) return true;
    for (uint64_t i = 0; i < p->code_count; i++) {
        p->code[i].code = ww_wwt_get_string(p->c, p->arena);
        if (p->c->failed) return reject(p, "the origin of a code table is malformed");
    }
    for (size_t i = 0; i < p->index->launch_count; i++)
        p->index->launch[i].view.code = p->code[p->index->launch[i].code].code;
    return true;
}

static bool parse_copies(struct parser *p) {
    if (p->version < WW_WWT_VERSION_COPIES) return true;
    for (size_t i = 0; i < p->index->launch_count; i++)
        if (!ww_wwt_get_copies(p->c, p->arena, &p->index->launch[i].view, &p->why)) return false;
    return true;
}

static bool parse(struct parser *p) {
    uint64_t launches;
    p->index->meta.program = ww_wwt_get_string(p->c, p->arena);
    p->index->meta.arguments = ww_wwt_get_string(p->c, p->arena);
    p->index->meta.tool = ww_wwt_get_string(p->c, p->arena);
    if (p->c->failed) return reject(p, "the provenance is malformed");
    if (!parse_codes(p)) return false;
    p->index->launch = get_launches(p, &launches);
    if (!p->index->launch) return false;
    p->index->launch_count = (size_t)launches;
    for (uint64_t i = 0; i < launches; i++)
        if (!parse_launch(p, &p->index->launch[i])) return false;
    p->index->chunk_end = p->offset;
    if (!parse_origins(p) || !parse_copies(p)) return false;
    if (p->version >= WW_WWT_VERSION_COPIES && !ww_wwt_get_orders(p->c, p->arena, p->index, &p->why))
        return false;
    if (p->version >= WW_WWT_VERSION_COPIES && !ww_wwt_get_waits(p->c, p->arena, p->index, &p->why))
        return false;
    if (p->version >= WW_WWT_VERSION_COPIES && !ww_wwt_get_host(p->c, p->arena, p->index, &p->why))
        return false;
    return p->c->p == p->c->end ? true : reject(p, "bytes follow the last launch");
}

bool ww_wwt_index_parse(struct ww_cursor *c, uint32_t version, uint64_t file_bytes, struct ww_arena *arena,
                        struct ww_wwt_index *index, const char **why) {
    struct parser p = {.c = c,
                       .arena = arena,
                       .index = index,
                       .file_bytes = file_bytes,
                       .offset = WW_WWT_HEADER_BYTES,
                       .version = version};
    *index = (struct ww_wwt_index){0};
    bool ok = parse(&p);
    *why = p.why;
    return ok;
}

const struct ww_wwt_run *ww_wwt_find_run(const struct ww_wwt_launch *launch, uint64_t cta) {
    size_t low = 0, high = launch->run_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (launch->run[mid].first <= cta)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0) return NULL;
    const struct ww_wwt_run *r = &launch->run[low - 1];
    return cta - r->first < r->count ? r : NULL;
}
