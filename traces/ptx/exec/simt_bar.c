/* simt_bar.c: CTA barriers.
 *
 * A barrier without a count waits for every live thread of the CTA. With a count it waits for that many
 * threads, in whole warps: lanes of an arriving warp that have exited or never existed count as arrived. A warp
 * that arrives twice, by bar.arrive and then by bar.sync, counts twice. */
#include "../../../estimator/base/buf.h"
#include "simt.h"
#include <string.h>

static uint32_t bits(uint32_t v) {
    return (uint32_t)__builtin_popcount(v);
}

static bool is_complete(const struct ex_cta *cta, const struct ex_barrier *b) {
    uint32_t threads = b->before;
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        uint32_t missing = cta->warp[n].live & ~b->arrived[n];
        if (b->expected == 0 && missing) return false;
        if (b->arrived[n]) threads += EX_LANES - bits(missing);
    }
    return b->expected == 0 || threads >= b->expected;
}

static void add_arrival(struct ex_barrier *b, const struct ex_warp *w, uint32_t mask) {
    uint32_t *arrived = &b->arrived[w->index];
    if (b->expected && *arrived & mask) {
        b->before += EX_LANES - bits(w->live & ~*arrived);
        *arrived = 0;
    }
    *arrived |= mask;
}

static void give_result(struct ex_warp *w, struct ex_split *s, const struct ex_barrier *b) {
    const struct ex_inst *i = &s->frame->func->inst[s->pc];
    if (i->d == EX_NO_SLOT) return;
    unsigned char *base = w->base[0];
    w->base[0] = s->frame->regs;
    if (i->sub == PTX_SUB_RED_POPC) {
        uint32_t *d = ex_dst(w, i->d);
        EX_EACH(s->act, d[l] = b->popc;);
    } else {
        ex_set_pred(w, i->d, (i->sub == PTX_SUB_RED_AND ? b->all : b->any) ? EX_ALL : 0, s->act);
    }
    w->base[0] = base;
}

/* Splits of one warp at the same instruction of the same activation are joined. */
static void merge_splits(struct ex_warp *w) {
    for (uint32_t a = 0; a < w->split_count; a++) {
        for (uint32_t b = a + 1; b < w->split_count;) {
            struct ex_split *x = &w->split[a], *y = &w->split[b];
            bool same = x->state == SPLIT_RUN && y->state == SPLIT_RUN && x->pc == y->pc &&
                        x->frame == y->frame && x->join == y->join;
            if (!same) {
                b++;
                continue;
            }
            x->mask |= y->mask;
            memmove(y, y + 1, (w->split_count - b - 1) * sizeof *y);
            w->split_count--;
            if (w->current >= w->split_count) w->current = 0;
        }
    }
}

static void release(struct ex_cta *cta, uint32_t number) {
    struct ex_barrier *b = &cta->barrier[number];
    if (number >= SIMT_BARRIERS) ww_simt_dma_copy(cta, number - SIMT_BARRIERS);
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        struct ex_warp *w = &cta->warp[n];
        bool any = false;
        for (uint32_t s = 0; s < w->split_count; s++) {
            struct ex_split *at = &w->split[s];
            if (at->state != SPLIT_BARRIER || at->barrier != number) continue;
            give_result(w, at, b);
            at->state = SPLIT_RUN;
            at->pc++;
            any = true;
        }
        w->released = w->released || any;
        if (any && w->split_count > 1) merge_splits(w);
    }
    memset(b, 0, sizeof *b);
}

void ww_simt_barrier_check(struct ex_cta *cta) {
    for (uint32_t n = 0; n < SIMT_BARRIERS + WW_DMA_BUFFERS; n++)
        if (cta->barrier[n].used && is_complete(cta, &cta->barrier[n])) release(cta, n);
}

static void add_predicate(struct ex_warp *w, struct ex_barrier *b, const struct ex_inst *i, uint32_t mask) {
    if (i->c == EX_NO_SLOT) return;
    uint32_t p = ex_pred(w, i, i->c, 2) & mask;
    b->popc += bits(p);
    b->all &= p == mask;
    b->any |= p != 0;
}

void ww_simt_barrier(struct ex_warp *w, uint32_t s, const struct ex_inst *i, uint32_t mask) {
    unsigned first = (unsigned)__builtin_ctz(mask);
    uint64_t number = ex_lane(w, i->a, 4, first), count = i->b == EX_NO_SLOT ? 0 : ex_lane(w, i->b, 4, first);
    if (number >= SIMT_BARRIERS || count % EX_LANES || count > 1024 || (i->b != EX_NO_SLOT && count == 0)) {
        ww_ex_fail(w, first, WW_EXEC,
                   "barrier %llu of %llu threads: expected a number below 16 and a multiple of 32",
                   (unsigned long long)number, (unsigned long long)count);
        return;
    }
    w->value = number | count << 8;
    struct ex_barrier *b = &w->cta->barrier[number];
    if (!b->used) *b = (struct ex_barrier){.used = true, .expected = (uint32_t)count, .all = 1};
    if (b->expected != count) {
        ww_ex_fail(w, first, WW_EXEC, "barrier %llu is waited for with %u threads and with %llu",
                   (unsigned long long)number, b->expected, (unsigned long long)count);
        return;
    }
    add_arrival(b, w, mask);
    add_predicate(w, b, i, mask);
    struct ex_split *at = &w->split[s];
    if (i->sub == PTX_SUB_ARRIVE) {
        at->pc++;
    } else {
        at->state = SPLIT_BARRIER;
        at->barrier = (uint8_t)number;
        at->act = mask;
    }
    if (is_complete(w->cta, b)) release(w->cta, (uint32_t)number);
}

void ww_simt_barrier_dma(struct ex_warp *w, uint32_t s, uint32_t mask, uint32_t buffer) {
    uint32_t number = SIMT_BARRIERS + buffer;
    struct ex_barrier *b = &w->cta->barrier[number];
    struct ex_split *at = &w->split[s];
    b->used = true;
    b->arrived[w->index] |= mask;
    at->state = SPLIT_BARRIER;
    at->barrier = (uint8_t)number;
    at->act = mask;
    if (is_complete(w->cta, b)) release(w->cta, number);
}

static void say_split(const struct ex_warp *w, const struct ex_split *s, struct ww_buf *out) {
    const struct ptx_inst *src = s->frame->func->inst[s->pc].src;
    ww_buf_printf(out, "; warp %u lanes 0x%08x ", w->index, s->mask);
    if (s->state == SPLIT_BARRIER && s->barrier >= SIMT_BARRIERS)
        ww_buf_printf(out, "at a transfer of buffer %u, line %u", s->barrier - SIMT_BARRIERS,
                      src ? src->text_line : 0);
    else if (s->state == SPLIT_BARRIER)
        ww_buf_printf(out, "at barrier %u, line %u", s->barrier, src ? src->text_line : 0);
    else
        ww_buf_printf(out, "%s line %u", s->state == SPLIT_CLUSTER ? "at barrier.cluster," : "at",
                      src ? src->text_line : 0);
    if (src && src->line) ww_buf_printf(out, " (source line %u)", src->line);
}

static void say_joins(const struct ex_warp *w, struct ww_buf *out) {
    for (int32_t j = 0; j < w->join_capacity; j++) {
        const struct ex_join *at = &w->join[j];
        if (!at->frame || !at->arrived) continue;
        const struct ptx_inst *src = at->frame->func->inst[at->pc].src;
        ww_buf_printf(out, "; warp %u lanes 0x%08x wait to reconverge at line %u", w->index, at->arrived,
                      src ? src->text_line : 0);
    }
}

void ww_simt_barrier_stuck(struct ex_cta *cta) {
    struct ww_buf text = {0};
    struct ex_warp *first = NULL;
    uint32_t waiting = 0, live = 0;
    bool cluster = false;
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        struct ex_warp *w = &cta->warp[n];
        live += bits(w->live);
        for (uint32_t s = 0; s < w->split_count; s++) {
            if (w->split[s].state == SPLIT_BARRIER) waiting += bits(w->split[s].act);
            cluster = cluster || w->split[s].state == SPLIT_CLUSTER;
            if (!first) {
                first = w;
                w->run->at_func = w->split[s].frame->func;
                w->run->at = &w->split[s].frame->func->inst[w->split[s].pc];
            }
            if (text.n < 400) say_split(w, &w->split[s], &text);
        }
        if (text.n < 400) say_joins(w, &text);
    }
    if (!first) first = &cta->warp[0];
    if (cluster) {
        ww_simt_cluster_count(cta->cluster, &waiting, &live);
        ww_ex_fail(first, EX_LANES, WW_EXEC,
                   "barrier.cluster cannot complete: %u of %u live threads of the cluster have arrived%.400s",
                   waiting, live, text.p ? text.p : "");
        ww_buf_free(&text);
        return;
    }
    ww_ex_fail(first, EX_LANES, WW_EXEC, "barrier cannot complete: %u of %u live threads wait%.440s", waiting,
               live, text.p ? text.p : "");
    ww_buf_free(&text);
}
