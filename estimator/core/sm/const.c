/* const.c: the constant caches of an SM. */
#include "../../result/result.h"
#include "sm.h"

/* True on a hit. Later accesses find the line; const.mshrs decides whether they wait for its miss. */
static bool hits(struct ww_tags *tags, uint64_t key) {
    uint32_t line = ww_tags_find(tags, key);
    if (line != WW_NO_LINE) {
        ww_tags_touch(tags, line);
        return true;
    }
    ww_tags_replace(tags, ww_tags_victim(tags, key), key);
    return false;
}

/* Cycles beyond a hit of the first level, for one address. */
static uint32_t look_up(struct ww_sm *sm, uint64_t address) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    uint64_t *n = sm->core->counter;
    n[WW_C_CONST_ACCESS]++;
    if (hits(&sm->constant, address >> sm->core->const_shift)) return 0;
    n[WW_C_CONST_MISS]++;
    if (!g->const_l15_kb || hits(&sm->constant15, address >> sm->core->const15_shift))
        return g->const_miss_cycles;
    n[WW_C_CONST_L15_MISS]++;
    return g->const_miss_cycles + g->const_l15_miss_cycles;
}

bool ww_const_init(struct ww_sm *sm, struct ww_arena *arena) {
    struct ww_const_fills *f = &sm->const_fills;
    if (!sm->core->code.uses_const || !sm->core->gpu->const_mshrs) return true;
    f->count = sm->core->gpu->const_mshrs;
    f->entry = ww_arena_array(arena, f->count, sizeof *f->entry);
    return f->entry != NULL;
}

/* Memory is saturated until fewer than 7/8 of the entries are in use. */
void ww_const_step(struct ww_sm *sm, uint64_t cycle) {
    if (sm->const_fills.saturated_until > cycle) return;
    sm->const_fills.saturated_until = 0;
    sm->lsu.retry = true; /* requests may have been refused because of it */
}

/* A miss in `cycle`, at which an entry is free, is served after `latency`. */
static uint64_t fill(struct ww_const_fills *f, uint64_t key, uint64_t cycle, uint32_t latency) {
    uint64_t ready = cycle + latency;
    uint32_t i = 0;
    for (; i + 1 < f->count && f->entry[i + 1].ready <= ready; i++) f->entry[i] = f->entry[i + 1];
    f->entry[i] = (struct ww_const_fill){key, ready};
    return ready;
}

/* Cycle at which the line of a hit in `cycle` is there: another warp's miss may be on its way. */
static uint64_t filled_at(const struct ww_const_fills *f, uint64_t key, uint64_t cycle) {
    for (uint32_t i = f->count; i-- > 0 && f->entry[i].ready > cycle;)
        if (f->entry[i].key == key) return f->entry[i].ready;
    return cycle;
}

/* The cache's work on a load. */
struct turn {
    uint64_t next;        /* cycle at which it takes another address */
    uint64_t there;       /* at which the lines that were waited for are there */
    uint64_t miss_cycles; /* of misses that follow one another */
};

/* An address of the load. With limited outstanding misses one that finds none free holds the cache; without, an
 * instruction's misses follow one another. */
static void take(struct ww_sm *sm, uint64_t address, struct turn *t) {
    struct ww_const_fills *f = &sm->const_fills;
    uint64_t key = address >> sm->core->const_shift, there;
    uint32_t latency = look_up(sm, address);
    if (!f->count) {
        t->next++;
        t->miss_cycles += latency;
        return;
    }
    if (latency && f->entry[0].ready > t->next) t->next = f->entry[0].ready;
    there = latency ? fill(f, key, t->next, latency) : filled_at(f, key, t->next);
    if (there > t->there) t->there = there;
    t->next++;
}

/* Distinct addresses are served one after the other; one address is broadcast to all lanes. */
static void serve(struct ww_sm *sm, const struct ww_access *a, const uint64_t *pool, uint32_t mask,
                  struct turn *turn) {
    uint64_t met[32];
    uint32_t count = 0, rank = 0;
    for (uint32_t m = mask; m; m &= m - 1, rank++) {
        uint64_t address = ww_lane_address(a, pool, (uint32_t)__builtin_ctz(m), rank);
        uint32_t i = 0;
        while (i < count && met[i] != address) i++;
        if (i < count) continue;
        met[count++] = address;
        take(sm, address, turn);
        if (a->list == WW_AFFINE && a->stride == 0) break;
    }
}

static void note_saturation(struct ww_sm *sm, uint64_t cycle) {
    struct ww_const_fills *f = &sm->const_fills;
    uint64_t until = f->entry[f->count / 8].ready;
    if (until <= cycle) return;
    f->saturated_until = until;
    if (!sm->saturated) ww_sm_count_mode(sm, cycle);
}

uint64_t ww_const_load(struct ww_sm *sm, const struct ww_access *access, const uint64_t *pool, uint32_t mask,
                       uint64_t cycle) {
    struct turn turn = {.next = cycle};
    if (access) {
        serve(sm, access, pool, mask, &turn);
        if (sm->const_fills.count) note_saturation(sm, cycle);
    } else {
        sm->core->counter[WW_C_CONST_ACCESS]++;
        turn.next = cycle + 1;
    }
    ww_group_free(sm, WW_G_CONST, turn.next);
    uint64_t last = turn.next - 1 > turn.there ? turn.next - 1 : turn.there;
    return last + sm->core->gpu->const_latency + turn.miss_cycles;
}
