/* sass_bar.c: CTA barriers.
 *
 * A barrier without a count waits for every live thread of the CTA. With a count it waits for that many
 * threads, in whole warps: lanes of an arriving warp that have exited or never existed count as arrived. A warp
 * that arrives twice, by BAR.ARV and then by BAR.SYNC, counts twice. */
#include "../../../estimator/base/buf.h"
#include "bulk.h"

static uint32_t bits(uint32_t v) {
    return (uint32_t)__builtin_popcount(v);
}

static bool is_complete(const struct sx_cta *cta, const struct sx_barrier *b) {
    uint32_t threads = b->before;
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        uint32_t missing = cta->warp[n].live & ~b->arrived[n];
        if (b->expected == 0 && missing) return false;
        if (b->arrived[n]) threads += SX_LANES - bits(missing);
    }
    return b->expected == 0 || threads >= b->expected;
}

static void add_arrival(struct sx_barrier *b, const struct sx_warp *w, uint32_t mask) {
    uint32_t *arrived = &b->arrived[w->index];
    if (b->expected && *arrived & mask) {
        b->before += SX_LANES - bits(w->live & ~*arrived);
        *arrived = 0;
    }
    *arrived |= mask;
}

static void release(struct sx_cta *cta, uint32_t number) {
    struct sx_barrier *b = &cta->barrier[number];
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        struct sx_warp *w = &cta->warp[n];
        if (!b->arrived[n]) continue;
        w->reduced = (struct sx_reduced){b->popc, b->all, b->any, b->is_and};
        ww_sx_let_go(w, SX_AT_BAR, number, SX_ALL);
        w->released = true;
    }
    memset(b, 0, sizeof *b);
}

void ww_sx_barrier_check(struct sx_cta *cta) {
    for (uint32_t n = 0; n < SX_BARRIERS; n++)
        if (cta->barrier[n].used && is_complete(cta, &cta->barrier[n])) release(cta, n);
}

static void add_predicate(struct sx_barrier *b, uint32_t p, uint32_t mask) {
    b->popc += bits(p & mask);
    b->all &= (p & mask) == mask;
    b->any |= (p & mask) != 0;
}

bool ww_sx_barrier(struct sx_warp *w, uint32_t g, uint32_t number, uint32_t count, bool waits,
                   uint32_t predicate, uint32_t mask) {
    unsigned first = (unsigned)__builtin_ctz(mask);
    if (number >= SX_BARRIERS || count % SX_LANES || count > 1024) {
        ww_sx_fail(w, first, WW_EXEC,
                   "barrier %u of %u threads: expected a number below 16 and a multiple of 32", number, count);
        return false;
    }
    struct sx_barrier *b = &w->cta->barrier[number];
    if (!b->used) *b = (struct sx_barrier){.used = true, .expected = count, .all = 1, .is_and = b->is_and};
    if (b->expected != count) {
        ww_sx_fail(w, first, WW_EXEC, "barrier %u is waited for with %u threads and with %u", number,
                   b->expected, count);
        return false;
    }
    w->value = number | (uint64_t)count << 8;
    add_arrival(b, w, mask);
    add_predicate(b, predicate, mask);
    struct sx_group *at = &w->group[g];
    if (waits) {
        at->state = SX_AT_BAR;
        at->barrier = (uint8_t)number;
    } else {
        at->pc++;
    }
    bool complete = is_complete(w->cta, b);
    if (complete) release(w->cta, number);
    return complete || !waits;
}

static const struct sx_inst *inst_of(const struct sx_warp *w, const struct sx_group *g) {
    return &w->run->kernel->inst[g->pc < w->run->kernel->count ? g->pc : 0];
}

static void say_group(const struct sx_warp *w, const struct sx_group *g, struct ww_buf *out) {
    static const char *const text[] = {"at", "waits to reconverge at", "waits for lanes at", "at a barrier,"};
    ww_buf_printf(out, "; warp %u lanes 0x%08x %s offset 0x%x", w->index, g->mask, text[g->state],
                  inst_of(w, g)->src->offset);
    if (g->state == SX_AT_BAR && g->barrier == SX_CLUSTER_BARRIER)
        ww_buf_printf(out, " (the cluster's)");
    else if (g->state == SX_AT_BAR)
        ww_buf_printf(out, " (barrier %u)", g->barrier);
}

void ww_sx_barrier_stuck(struct sx_cta *cta) {
    struct ww_buf text = {0};
    struct sx_warp *first = NULL;
    uint32_t waiting = 0, live = 0;
    bool cluster = false;
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        struct sx_warp *w = &cta->warp[n];
        live += bits(w->live);
        for (uint32_t g = 0; g < w->group_count; g++) {
            if (w->group[g].state == SX_AT_BAR) {
                waiting += bits(w->group[g].mask);
                cluster = cluster || w->group[g].barrier == SX_CLUSTER_BARRIER;
            }
            if (!first) {
                first = w;
                w->run->at = inst_of(w, &w->group[g]);
            }
            if (text.n < 400) say_group(w, &w->group[g], &text);
        }
    }
    if (!first) first = &cta->warp[0];
    if (cluster) {
        ww_sx_cluster_count(cta->cluster, &waiting, &live);
        ww_sx_fail(first, SX_LANES, WW_EXEC,
                   "barrier.cluster cannot complete: %u of %u live threads of the cluster have arrived%.400s",
                   waiting, live, text.p ? text.p : "");
        ww_buf_free(&text);
        return;
    }
    ww_sx_fail(first, SX_LANES, WW_EXEC, "barrier cannot complete: %u of %u live threads wait%.440s", waiting,
               live, text.p ? text.p : "");
    ww_buf_free(&text);
}
