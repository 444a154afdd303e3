/* d2ma_look.c: what the copies of a CTA's phases leave in shared memory, and which barriers order more than
 * that. */
#include "d2ma_look.h"
#include <string.h>

enum { LANES = 32, WARPS_MAX = 64 };

/* What a phase's warps do to a word of shared memory: a bit for each warp. */
struct touch {
    uint64_t read, written;
    uint8_t filled; /* by copies: the tile's buffer + 1 */
    bool early;     /* written by a warp that has not waited for the tile that was there */
};

struct look {
    struct ww_tf *t;
    struct ww_d2 *d;
    uint32_t registers, words;
    uint64_t *value;                 /* [warp][register][lane]: where it comes from */
    uint64_t *from;                  /* [words] of the phase */
    struct touch *now, *before;      /* [words]: of the phase; since the last barrier that stays */
    uint8_t waited[WARPS_MAX];       /* bit by buffer: the warp has read of the tile in this phase */
    uint32_t lane[WARPS_MAX][LANES]; /* the last conditional branch or jump that a lane took + 1 */
    uint32_t *last;                  /* [warp][register of any kind][lane]: instruction that wrote it + 1 */
};

static enum ww_code refuse(const struct look *k, const struct ww_inst *in, const char *why) {
    return ww_fail(k->t->error, WW_UNSUPPORTED, k->t->launch->kernel, "d2ma cannot be applied at pc 0x%x: %s",
                   in->pc, why);
}

/* ---- phases ---- */

static uint32_t barriers_of(const struct ww_tf *t, uint32_t w) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->cta[0].warp[w].step_count; i++)
        n += ww_tf_inst(t, 0, w, i)->op == WW_OP_BARRIER;
    return n;
}

static enum ww_code find_phases(struct look *k) {
    const struct ww_tf *t = k->t;
    uint32_t warps = t->launch->warps_per_cta, phases = barriers_of(t, 0) + 1;
    k->d->phases = phases;
    k->d->begin = ww_arena_array(&k->t->unit_arena, (size_t)warps * (phases + 1), sizeof *k->d->begin);
    k->d->first_tile = ww_arena_array(&k->t->unit_arena, (size_t)phases + 1, sizeof *k->d->first_tile);
    k->d->tile = ww_arena_array(&k->t->unit_arena, (size_t)phases * WW_DMA_BUFFERS, sizeof *k->d->tile);
    if (!k->d->begin || !k->d->first_tile || !k->d->tile) return ww_fail_nomem(t->error, "a transform");
    for (uint32_t w = 0; w < warps; w++) {
        uint32_t *begin = k->d->begin + (size_t)w * (phases + 1), p = 0;
        for (uint32_t i = 0; i < t->cta[0].warp[w].step_count; i++)
            if (ww_tf_inst(t, 0, w, i)->op == WW_OP_BARRIER && ++p < phases) begin[p] = i + 1;
        if (p + 1 != phases) return ww_tf_refuse(t, "its warps meet at different numbers of barriers");
        begin[phases] = t->cta[0].warp[w].step_count;
    }
    return WW_OK;
}

/* ---- values ---- */

static uint64_t *value_of(struct look *k, uint32_t warp, uint32_t reg, uint32_t lane) {
    return &k->value[((size_t)warp * k->registers + reg) * LANES + lane];
}

/* The only general register among the sources, or none. */
static bool one_source(const struct ww_inst *in, uint32_t *reg) {
    uint32_t n = 0;
    for (uint32_t s = 0; s < in->src_count; s++)
        if (in->src[s].reg < WW_REG_PRED) *reg = in->src[s].reg, n++;
    return n == 1;
}

static bool named(const struct look *k, const struct ww_inst *in, const char *what) {
    return strncmp(k->t->launch->string[in->mnemonic], what, strlen(what)) == 0;
}

static void set_values(struct look *k, const struct ww_inst *in, uint32_t warp, uint32_t mask,
                       const struct ww_access *a, const uint64_t *pool) {
    uint32_t from = 0;
    bool load = in->op == WW_OP_LOAD && in->space == WW_SPACE_GLOBAL && in->width >= 4;
    bool move = named(k, in, "MOV") || named(k, in, "IMAD.MOV"), copies = move && one_source(in, &from);
    bool immediate = move && !copies && in->src_count == 0;
    for (uint32_t o = 0; o < in->dst_count; o++)
        for (uint32_t r = 0; r < in->dst[o].n && in->dst[o].reg + r < k->registers; r++)
            for (uint32_t m = mask; m; m &= m - 1) {
                uint32_t lane = (uint32_t)__builtin_ctz(m), reg = in->dst[o].reg + r;
                uint64_t v = immediate ? WW_D2_CONSTANT : WW_D2_NONE;
                if (load) v = ww_region_lane_address(a, pool, mask, lane) + 4u * (uint64_t)r;
                if (copies && from + r < k->registers) v = *value_of(k, warp, from + r, lane);
                *value_of(k, warp, reg, lane) = v;
            }
}

/* ---- the flow of values and of control, for all CTAs ---- */

static void note_sources(struct look *k, const struct ww_inst *in, uint32_t at, uint32_t warp, uint32_t mask) {
    bool exchange = in->op == WW_OP_SHUFFLE || in->op == WW_OP_VOTE;
    uint64_t *set = k->d->producers + (size_t)at * k->d->row;
    for (uint32_t s = 0; s < in->src_count; s++)
        for (uint32_t r = in->src[s].reg; r < (uint32_t)in->src[s].reg + in->src[s].n && r < WW_REG_COUNT;
             r++) {
            /* lanes that a predicate turned off have read it */
            uint32_t m = exchange || r >= WW_REG_PRED || mask == 0 ? UINT32_MAX : mask;
            const uint32_t *last = k->last + ((size_t)warp * WW_REG_COUNT + r) * LANES;
            for (; m; m &= m - 1)
                if (last[__builtin_ctz(m)]) ww_d2_add(set, last[__builtin_ctz(m)] - 1);
        }
}

static void note_results(struct look *k, const struct ww_inst *in, uint32_t at, uint32_t warp, uint32_t mask) {
    for (uint32_t o = 0; o < in->dst_count; o++)
        for (uint32_t r = in->dst[o].reg; r < (uint32_t)in->dst[o].reg + in->dst[o].n && r < WW_REG_COUNT; r++)
            for (uint32_t m = mask; m; m &= m - 1)
                k->last[((size_t)warp * WW_REG_COUNT + r) * LANES + (uint32_t)__builtin_ctz(m)] = at + 1;
}

static void note_branches(struct look *k, const struct ww_inst *in, uint32_t at, uint32_t warp, uint32_t mask) {
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), *was = &k->lane[warp][lane];
        if (*was) ww_d2_add(k->d->to + (size_t)(*was - 1) * k->d->row, at);
        *was = in->op == WW_OP_BRANCH && !named(k, in, "SSY") && !named(k, in, "BSSY") ? at + 1 : 0;
    }
}

/* ---- shared memory ---- */

/* Shared words of an access of a lane; false if it reaches outside. */
static bool words_of(const struct look *k, const struct ww_inst *in, uint64_t address, uint32_t *first,
                     uint32_t *n) {
    *first = (uint32_t)(address / 4);
    *n = in->width < 4 ? 1 : in->width / 4u;
    return address / 4 + *n <= k->words;
}

static enum ww_code fill(struct look *k, const struct ww_inst *in, uint32_t warp, uint32_t lane,
                         uint64_t address) {
    uint32_t first, n, data = 0, address_registers = 0;
    for (uint32_t s = 0; s < in->src_count; s++) address_registers += in->src[s].reg < WW_REG_PRED;
    for (uint32_t s = 0, met = 0; s < in->src_count; s++)
        if (in->src[s].reg < WW_REG_PRED && ++met == address_registers) data = in->src[s].reg;
    if (in->width < 4 || address % 4) return refuse(k, in, "elements of less than 4 bytes are copied");
    if (!words_of(k, in, address, &first, &n)) return refuse(k, in, "it stores outside of shared memory");
    for (uint32_t r = 0; r < n; r++) {
        uint64_t v = data + r < k->registers ? *value_of(k, warp, data + r, lane) : WW_D2_NONE;
        struct touch *w = &k->now[first + r];
        if (v == WW_D2_NONE) return refuse(k, in, "where a value that is copied comes from is not known");
        if (w->read || w->written || (w->filled && k->from[first + r] != v))
            return refuse(k, in, "a word is used or written and then copied between the same barriers");
        k->from[first + r] = v;
        w->filled = 1;
    }
    return WW_OK;
}

static enum ww_code touch(struct look *k, const struct ww_inst *in, uint32_t warp, uint64_t address) {
    uint32_t first, n;
    if (!words_of(k, in, address, &first, &n)) return refuse(k, in, "it reaches outside of shared memory");
    for (uint32_t r = 0; r < n; r++) {
        struct touch *w = &k->now[first + r];
        uint8_t tile = (uint8_t)(1u << k->before[first + r].filled >> 1);
        if (in->op != WW_OP_STORE) {
            w->read |= (uint64_t)1 << warp;
            k->waited[warp] |= tile;
        }
        if (in->op != WW_OP_LOAD) {
            w->written |= (uint64_t)1 << warp;
            w->early = w->early || (tile & ~k->waited[warp]) != 0;
        }
    }
    return WW_OK;
}

static enum ww_code shared_step(struct look *k, const struct ww_inst *in, uint32_t at, uint32_t warp,
                                uint32_t mask, const struct ww_access *a, const uint64_t *pool) {
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = ww_region_lane_address(a, pool, mask, lane);
        WW_TRY(k->d->role[at] == WW_COPY_STORE ? fill(k, in, warp, lane, address)
                                               : touch(k, in, warp, address));
    }
    return WW_OK;
}

static enum ww_code one_step(struct look *k, uint32_t warp, uint32_t step) {
    const struct ww_warp_stream *s = &k->t->cta[0].warp[warp];
    uint32_t at = s->step[step].inst, mask = s->step[step].mask;
    const struct ww_inst *in = &k->t->launch->inst[at];
    const struct ww_access *a = in->flags & WW_INST_ACCESS ? ww_tf_access_of(k->t, 0, warp, step) : NULL;
    if (!k->d->decided) {
        note_branches(k, in, at, warp, mask);
        note_sources(k, in, at, warp, mask);
        note_results(k, in, at, warp, mask);
    }
    if (a && in->space == WW_SPACE_SHARED) WW_TRY(shared_step(k, in, at, warp, mask, a, s->pool));
    if (in->dst_count) set_values(k, in, warp, mask, a, s->pool);
    return WW_OK;
}

/* ---- barriers ---- */

static bool others(uint64_t a, uint64_t b) { /* two different warps, one of each */
    return a && b && !(a == b && (a & (a - 1)) == 0);
}

/* True if a barrier must stand between: but for a copy and those who read what it brought, and may then change
 * it. */
static bool ordered(const struct touch *first, const struct touch *then) {
    bool copies = then->filled && (first->read || first->written || first->filled);
    return copies || (first->filled && then->early) || others(first->written, then->read | then->written) ||
           others(first->read, then->written);
}

static void decide_barrier(struct look *k, uint32_t phase, bool copied) {
    uint32_t at = k->t->cta[0].warp[0].step[k->d->begin[phase] - 1].inst;
    bool keep = !copied || k->d->kept[at];
    for (uint32_t w = 0; w < k->words && !keep; w++) keep = ordered(&k->before[w], &k->now[w]);
    if (keep) k->d->kept[at] = 1;
    for (uint32_t w = 0; w < k->words; w++) {
        if (keep) k->before[w] = (struct touch){0, 0, 0, false};
        k->before[w].read |= k->now[w].read;
        k->before[w].written |= k->now[w].written;
        if (k->now[w].filled) k->before[w].filled = k->now[w].filled;
    }
}

/* ---- a phase ---- */

static enum ww_code fit_phase(struct look *k, uint32_t phase) {
    struct ww_d2 *d = k->d;
    uint32_t tiles = 0, rows = d->halo_rows, columns = d->halo_columns;
    const struct ww_d2_words words = {k->from, k->words};
    const char *why = ww_d2_fit(&words, &rows, &columns, d->tile + d->first_tile[phase], &tiles);
    d->halo_rows = rows;
    d->halo_columns = columns;
    if (why && d->decided) return ww_tf_refuse(k->t, why);
    d->first_tile[phase + 1] = d->first_tile[phase] + tiles;
    for (uint32_t n = d->first_tile[phase]; n < d->first_tile[phase + 1] && !why; n++)
        for (uint32_t w = d->tile[n].shared / 4, end = w + ww_dma_bytes(&d->tile[n]) / 4; w < end; w++)
            if (k->now[w].filled) k->now[w].filled = (uint8_t)(d->tile[n].buffer + 1);
    return WW_OK;
}

static enum ww_code phases(struct look *k) {
    bool copied = false;
    for (uint32_t p = 0; p < k->d->phases; p++) {
        memset(k->from, 0, k->words * sizeof *k->from);
        memset(k->now, 0, k->words * sizeof *k->now);
        memset(k->waited, 0, sizeof k->waited);
        for (uint32_t w = 0; w < k->t->launch->warps_per_cta; w++) {
            const uint32_t *begin = k->d->begin + (size_t)w * (k->d->phases + 1);
            for (uint32_t i = begin[p]; i < begin[p + 1]; i++) WW_TRY(one_step(k, w, i));
        }
        WW_TRY(fit_phase(k, p));
        if (!k->d->decided && p > 0) decide_barrier(k, p, copied);
        if (p == 0) memcpy(k->before, k->now, k->words * sizeof *k->now);
        copied = k->d->first_tile[p + 1] > k->d->first_tile[p];
    }
    return WW_OK;
}

enum ww_code ww_d2_look(struct ww_tf *t, struct ww_d2 *d) {
    struct look *k = ww_arena_array(&t->unit_arena, 1, sizeof *k);
    uint32_t warps = t->launch->warps_per_cta;
    if (!k) return ww_fail_nomem(t->error, "a transform");
    k->t = t;
    k->d = d;
    k->registers = WW_REG_PRED;
    k->words = (t->launch->shared_static + t->launch->shared_dynamic) / 4;
    k->value = ww_arena_array(&t->unit_arena, (size_t)warps * k->registers * LANES, sizeof *k->value);
    k->last = ww_arena_array(&t->unit_arena, (size_t)warps * WW_REG_COUNT * LANES, sizeof *k->last);
    k->from = ww_arena_array(&t->unit_arena, (size_t)k->words + 1, sizeof *k->from);
    k->now = ww_arena_array(&t->unit_arena, (size_t)k->words + 1, sizeof *k->now);
    k->before = ww_arena_array(&t->unit_arena, (size_t)k->words + 1, sizeof *k->before);
    if (!k->value || !k->last || !k->from || !k->now || !k->before)
        return ww_fail_nomem(t->error, "a transform");
    if (warps > WARPS_MAX) return ww_tf_refuse(t, "a CTA has more than 64 warps");
    WW_TRY(find_phases(k));
    return phases(k);
}
