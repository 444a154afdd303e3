/* The connection of the prefetcher to the L1 of an SM. */
#include "../../result/result.h"
#include "fetch.h"
#include "l1_tag.h"
#include "sm.h"
#include <string.h>

void ww_fetch_shape(struct ww_core *core) {
    core->fetch_shape = core->l1_shape;
    core->fetch_shape.tag = WW_TAG_TEX | WW_TAG_FETCH;
}

/* ---- outcomes of prefetched lines ---- */

static uint32_t place_of(uint64_t key) {
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 52);
}

void ww_fetch_lose(struct ww_sm *sm, struct ww_cache *c, uint32_t line) {
    struct ww_fetcher *f = sm->fetch;
    uint64_t key = c->tags.line[line].key;
    uint32_t at = place_of(key), count = c->fetched[line];
    if (!count) return;
    c->fetched[line] = 0;
    if (f->ops->lost) f->ops->lost(f->state);
    if (f->gone[at].key != key) {
        sm->core->counter[WW_C_PREFETCH_USELESS] += f->gone[at].count;
        f->gone[at].count = 0;
    }
    f->gone[at].key = key;
    f->gone[at].count += count;
}

/* A load misses a line: counts whether the line had been prefetched and was replaced too early. */
static void look_back(struct ww_sm *sm, uint64_t key) {
    struct ww_fetcher *f = sm->fetch;
    uint32_t at = place_of(key);
    if (!f->gone[at].count || f->gone[at].key != key) return;
    sm->core->counter[WW_C_PREFETCH_EARLY] += f->gone[at].count;
    f->gone[at].count = 0;
}

static enum ww_fetch_outcome outcome_of(struct ww_sm *sm, struct ww_cache *c, uint64_t key, uint32_t line,
                                        uint32_t merged, uint32_t miss) {
    uint32_t first = line == WW_NO_LINE ? 0 : c->fetched[line];
    if (first) {
        c->fetched[line] = 0;
        sm->core->counter[merged ? WW_C_PREFETCH_LATE : WW_C_PREFETCH_TIMELY] += first;
    }
    if (line == WW_NO_LINE) look_back(sm, key);
    if (miss) return WW_FETCH_MISS;
    if (merged) return first ? WW_FETCH_LATE : WW_FETCH_MERGED;
    return first ? WW_FETCH_TIMELY : WW_FETCH_HIT;
}

void ww_fetch_note(struct ww_sm *sm, struct ww_cache *c, uint64_t key, uint32_t line, uint32_t merged,
                   uint32_t miss) {
    struct ww_fetcher *f = sm->fetch;
    enum ww_fetch_outcome o = outcome_of(sm, c, key, line, merged, miss);
    if (sm->lsu.from_queue || f->lines == WW_REQUEST_MAX) return; /* the load's instruction is complete */
    f->line[f->lines++] = (struct ww_fetch_line){key << c->shape->line_shift, (uint8_t)o};
}

void ww_fetch_store(struct ww_sm *sm, uint64_t key) {
    struct ww_cache *c = &sm->fetch->own;
    uint32_t line = c->shape ? ww_tags_find(&c->tags, key) : WW_NO_LINE;
    if (line == WW_NO_LINE || c->tags.line[line].pending) return;
    ww_fetch_lose(sm, c, line);
    c->tags.line[line].valid = 0;
    ww_tags_drop(&c->tags, line);
}

static void count_left(struct ww_sm *sm, const struct ww_cache *c) {
    uint32_t lines = c->tags.sets * c->tags.ways;
    for (uint32_t i = 0; i < lines; i++) sm->core->counter[WW_C_PREFETCH_USELESS] += c->fetched[i];
}

void ww_fetch_close(struct ww_sm *sm) {
    struct ww_fetcher *f = sm->fetch;
    if (!f) return;
    count_left(sm, &sm->l1);
    if (f->own.shape) count_left(sm, &f->own);
    for (uint32_t i = 0; i < WW_FETCH_GONE; i++) sm->core->counter[WW_C_PREFETCH_USELESS] += f->gone[i].count;
    sm->core->counter[WW_C_PREFETCH_DROPPED] += f->count;
    f->count = 0;
}

/* ---- from loads to prefetches ---- */

/* Whether a prefetch of the line would find it there or on its way: all sectors that it is for. */
static bool is_there(const struct ww_cache *c, uint64_t key, uint32_t chunks) {
    uint32_t line = ww_tags_find(&c->tags, key);
    return line != WW_NO_LINE &&
           !(c->shape->sectors_of[chunks] & ~(c->tags.line[line].valid | c->tags.line[line].pending));
}

static bool waits(const struct ww_fetcher *f, const struct ww_line_request *r) {
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t at = f->head + i;
        const struct ww_line_request *q = &f->ring[at >= f->plan.queue ? at - f->plan.queue : at].request;
        if (q->key == r->key && !(r->chunks & ~q->chunks)) return true;
    }
    return false;
}

/* A line that the prefetcher asks for: merged with what waits, else it waits, if there is room. */
static void enqueue(struct ww_fetcher *f, struct ww_core *core, const struct ww_fetch_item *item) {
    core->counter[WW_C_PREFETCH_ASKED]++;
    if (waits(f, &item->request)) {
        core->counter[WW_C_PREFETCH_MERGED]++;
        return;
    }
    if (f->count == f->plan.queue) {
        core->counter[WW_C_PREFETCH_DROPPED]++;
        return;
    }
    uint32_t at = f->head + f->count++;
    f->ring[at >= f->plan.queue ? at - f->plan.queue : at] = *item;
    if (item->token != WW_FETCH_NO_TOKEN && f->ops->queued) f->ops->queued(f->state, item->token);
}

static void coalesce(struct ww_fetcher *f, const struct ww_fetch_request *a, const struct ww_fetch_load *load) {
    struct ww_access access = {a->base, a->stride, WW_AFFINE};
    if (!a->shifted) {
        ww_coalesce(&f->coalescer, &access, NULL, a->mask, a->width);
        return;
    }
    for (uint32_t i = 0; i < load->lanes; i++) f->shifted[i] = load->address[i] + a->base;
    access.list = 0;
    ww_coalesce(&f->coalescer, &access, f->shifted, load->mask, load->width);
}

static void call(struct ww_sm *sm, const struct ww_fetch_load *load, uint32_t inst) {
    struct ww_fetcher *f = sm->fetch;
    struct ww_core *core = sm->core;
    f->requests.count = f->requests.farther = f->requests.nearer = 0;
    f->ops->load(f->state, f->settings, load, &f->requests);
    core->counter[WW_C_PREFETCH_FARTHER] += f->requests.farther;
    core->counter[WW_C_PREFETCH_NEARER] += f->requests.nearer;
    for (uint32_t i = 0; i < f->requests.count; i++) {
        coalesce(f, &f->requests.request[i], load);
        for (uint32_t k = 0; k < f->coalescer.count; k++)
            enqueue(f, core,
                    &(struct ww_fetch_item){.request = f->coalescer.request[k],
                                            .ready = load->cycle + f->plan.latency,
                                            .token = f->requests.request[i].token,
                                            .inst = inst,
                                            .warp = load->warp});
    }
}

void ww_fetch_load(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_fetcher *f = sm->fetch;
    struct ww_fetch_load load = {.cycle = cycle,
                                 .pc = f->code + e->inst,
                                 .warp = e->warp,
                                 .threads = sm->resident_ctas * f->cta_threads,
                                 .mask = e->mask,
                                 .lanes = ww_bits(e->mask),
                                 .width = d->width,
                                 .address = f->address,
                                 .line = f->line,
                                 .lines = f->lines};
    f->lines = 0;
    if (!e->mask || !e->access || d->local) return;
    uint32_t rank = 0;
    for (uint32_t m = e->mask; m; m &= m - 1, rank++)
        f->address[rank] = ww_lane_address(e->access, e->pool, (uint32_t)__builtin_ctz(m), rank);
    for (uint32_t i = 0; i < load.lines; i++) {
        load.missed |= f->line[i].outcome >= WW_FETCH_MERGED;
        load.absent |= f->line[i].outcome == WW_FETCH_MISS;
    }
    call(sm, &load, e->inst);
}

/* ---- from prefetches to memory ---- */

struct ww_cache *ww_fetch_where(struct ww_sm *sm, uint64_t key) {
    struct ww_cache *own = &sm->fetch->own;
    return own->shape && ww_tags_find(&own->tags, key) != WW_NO_LINE ? own : &sm->l1;
}

static void tell_done(const struct ww_fetcher *f, uint32_t token) {
    if (token != WW_FETCH_NO_TOKEN && f->ops->done) f->ops->done(f->state, token);
}

void ww_fetch_filled(struct ww_sm *sm, struct ww_cache *c, uint32_t m) {
    struct ww_fetcher *f = sm->fetch;
    uint32_t token = c->token[m];
    c->token[m] = WW_FETCH_NO_TOKEN;
    tell_done(f, token);
}

static bool has_room(const struct ww_sm *sm) {
    const struct ww_fetcher *f = sm->fetch;
    return sm->l1.used + (f->own.shape ? f->own.used : 0) < sm->core->l1_shape.mshrs;
}

void ww_fetch_step(struct ww_sm *sm, uint64_t cycle) {
    struct ww_fetcher *f = sm->fetch;
    uint64_t *n = sm->core->counter;
    if (!f->count || f->blocked || f->ring[f->head].ready > cycle) return;
    const struct ww_fetch_item *item = &f->ring[f->head];
    struct ww_cache *c = f->own.shape ? &f->own : &sm->l1;
    if (is_there(&sm->l1, item->request.key, item->request.chunks) ||
        (f->own.shape && is_there(&f->own, item->request.key, item->request.chunks))) {
        n[WW_C_PREFETCH_PRESENT]++;
        tell_done(f, item->token);
    } else if (has_room(sm) && ww_l1_prefetch(sm, c, &item->request, item->warp, item->inst, cycle)) {
        uint32_t line = ww_tags_find(&c->tags, item->request.key);
        c->fetched[line]++;
        tell_done(f, c->token[c->tags.line[line].mshr]); /* of other sectors of the line */
        c->token[c->tags.line[line].mshr] = item->token;
        n[WW_C_PREFETCH_SENT]++;
        if (item->token != WW_FETCH_NO_TOKEN && f->ops->sent) f->ops->sent(f->state, item->token);
    } else {
        f->blocked = true;
        return;
    }
    if (++f->head == f->plan.queue) f->head = 0;
    f->count--;
}

/* ---- making it ---- */

static bool init_marks(struct ww_cache *c, struct ww_arena *arena) {
    size_t lines = (size_t)c->tags.sets * c->tags.ways;
    c->fetched = ww_arena_array(arena, lines, sizeof *c->fetched);
    c->token = ww_arena_array(arena, c->shape->mshrs, sizeof *c->token);
    if (!c->fetched || !c->token) return false;
    for (uint32_t i = 0; i < c->shape->mshrs; i++) c->token[i] = WW_FETCH_NO_TOKEN;
    return true;
}

static bool init_own(struct ww_sm *sm, struct ww_arena *arena) {
    struct ww_fetcher *f = sm->fetch;
    uint32_t lines = f->plan.cache_kb * 1024 >> sm->core->l1_shape.line_shift, ways = f->plan.cache_ways;
    if (!lines) return true;
    if (ways > lines) ways = lines;
    return ww_cache_init(&f->own, &sm->core->fetch_shape, arena) &&
           ww_tags_init(&f->own.tags, arena, lines / ways, ways, WW_REPLACE_LRU, WW_HASH_XOR, 0) &&
           init_marks(&f->own, arena);
}

/* Where the kernel's code lies, as seen by the tables, which know instructions by their addresses: somewhere,
 * and at the same place in each of its launches. */
static uint32_t code_of(const struct ww_launch *launch) {
    uint32_t h = 2166136261u;
    for (const char *p = launch->kernel; p && *p; p++) h = (h ^ (uint8_t)*p) * 16777619u;
    return (h ^ h >> 16) & 0xffffff;
}

bool ww_fetch_init(struct ww_sm *sm, struct ww_arena *arena, void *state) {
    const struct ww_core *core = sm->core;
    if (!core->fetch_plan.queue || !core->gpu->l1_enabled) return true;
    struct ww_fetcher *f = ww_arena_array(arena, 1, sizeof *f);
    if (!f) return false;
    sm->fetch = f;
    sm->extras = true;
    sm->lsu.skips_retries = sm->lsu.passes = false;
    f->ops = core->fetch_ops;
    f->settings = core->fetch_settings;
    f->state = state;
    f->plan = core->fetch_plan;
    f->code = code_of(core->launch);
    const uint32_t *block = core->launch->block;
    f->cta_threads = block[0] * block[1] * block[2];
    f->ring = ww_arena_array(arena, f->plan.queue, sizeof *f->ring);
    f->line = ww_arena_array(arena, WW_REQUEST_MAX, sizeof *f->line);
    if (!f->ring || !f->line || !init_marks(&sm->l1, arena) || !init_own(sm, arena)) return false;
    ww_coalesce_init(&f->coalescer, 1u << core->l1_shape.line_shift);
    const struct ww_fetch_launch launch = {.line = 1u << core->l1_shape.line_shift, .sequence = core->sequence};
    f->ops->begin(f->state, f->settings, &launch);
    return true;
}
