/* Encoding the accesses of a CTA group's warps. */
#include "encode.h"
#include "predict.h"
#include "../../estimator/base/bits.h"
#include <stdlib.h>

/* What the ways of writing a surprise of an instruction have cost recently: bits x 16 a lane. Differences of
 * two random numbers vary by more than their length tells, distances by less: ROUGH. */
enum { SEEN = 4, LIST_BITS = 5, BASE_BITS = 10, ROUGH = 12 };
enum way { WAY_LIST, WAY_STEPS, WAY_LOWEST, WAYS };
struct costs {
    uint32_t list[WAYS], affine[WAYS];
    uint64_t seen[SEEN]; /* the latest differences of bases */
    uint8_t next;
    uint8_t kind; /* the latest that needed no difference */
    bool index;   /* the latest list was of form INDEX */
};

struct access_encoder {
    struct ww_wwt_encoder *e;
    struct ww_wwt_predictor p;
    struct costs *costs; /* one per static instruction */
    struct ww_arena lanes;
};

/* The value whose varint is that of the signed difference. */
static uint64_t zigzag(uint64_t d) {
    return (d << 1) ^ (d >> 63 ? UINT64_MAX : 0);
}

static uint64_t scaled(uint64_t d, unsigned shift) {
    return (uint64_t)((int64_t)d >> shift);
}

/* The best kind of prediction; *off is what it misses by. */
static unsigned choose_base(struct access_encoder *a, const struct ww_wwt_inst_state *s, uint64_t base,
                            const struct ww_wwt_context *c, uint64_t *off) {
    uint8_t *late = &a->costs[s - a->p.inst].kind;
    unsigned best = WW_WWT_BASE_COUNT;
    if (c->ref && base == ww_wwt_predict(&a->p, s, WW_WWT_BASE_REF, c)) return *late = WW_WWT_BASE_REF;
    if (s->lane && (*late != WW_WWT_BASE_REF || c->ref) &&
        base == ww_wwt_predict(&a->p, s, (enum ww_wwt_base) * late, c))
        return *late;
    for (unsigned k = 0; k < WW_WWT_BASE_COUNT; k++) {
        if ((k == WW_WWT_BASE_REF || k == WW_WWT_BASE_REF_OFF) && !c->ref) continue;
        uint64_t d = base - ww_wwt_predict(&a->p, s, (enum ww_wwt_base)k, c);
        if (!ww_wwt_has_off(k)) {
            if (d == 0) return *late = (uint8_t)k;
        } else if (best == WW_WWT_BASE_COUNT || zigzag(d) < zigzag(*off)) {
            best = k;
            *off = d;
        }
    }
    return best;
}

/* True if `to` is the list that lies at `from` for these lanes, moved as a whole. */
static bool same_shape(const uint64_t *to, const uint64_t *from, unsigned n) {
    for (unsigned i = 1; i < n; i++)
        if (to[i] - from[i] != to[0] - from[0]) return false;
    return true;
}

static uint32_t number_bits(uint64_t v) {
    return v ? 64 - (uint32_t)__builtin_clzll(v) : 0;
}

/* Notes what each way would cost this time (0: it cannot be used); the one that has cost least recently. To
 * change often costs more than it saves: columns of numbers of one kind compress better. */
static enum way choose_way(uint32_t late[WAYS], const uint32_t now[WAYS], uint32_t least_bits) {
    enum way best = WAY_LIST;
    uint32_t least = UINT32_MAX;
    for (unsigned k = 0; k < WAYS; k++) {
        if (!now[k]) continue;
        late[k] = late[k] ? (63 * late[k] + now[k]) / 64 : now[k];
        uint32_t cost = 8 * late[k] + now[k] + (k == WAY_LOWEST ? 0 : 9 * ROUGH);
        if (cost >= least) continue;
        least = cost;
        best = (enum way)k;
    }
    /* Small differences are a pattern's, and compress: distances would not. */
    return best == WAY_LOWEST && late[WAY_LIST] < 16 * least_bits ? WAY_LIST : best;
}

struct list_plan {
    unsigned form;
    bool unit; /* all differences are multiples of the access width */
    unsigned count;
    uint64_t d[32]; /* differences to be written; of WW_WWT_LOWEST distances */
};

static void plan_differences(struct list_plan *plan, unsigned form, const uint64_t *to, const uint64_t *from,
                             unsigned n, unsigned shift) {
    uint64_t odd = 0;
    plan->form = form;
    plan->count = 0;
    for (unsigned i = form == WW_WWT_FORM_LIST ? 1 : 0; i < n; i++) {
        uint64_t d = to[i] - (form == WW_WWT_FORM_LIST ? to[i - 1] : from[i]);
        odd |= d & ((1u << shift) - 1);
        plan->d[plan->count++] = d;
    }
    plan->unit = shift && !odd;
}

/* Distances from the lowest address; false if one is below it. */
static bool plan_distances(struct list_plan *plan, const struct ww_wwt_inst_state *s, const uint64_t *to,
                           unsigned n, unsigned shift) {
    uint64_t odd = 0, lowest = ww_wwt_lowest(s);
    if (!s->lowest) return false;
    plan->form = WW_WWT_FORM_LIST | WW_WWT_LOWEST;
    plan->count = n;
    for (unsigned i = 0; i < n; i++) {
        if (to[i] < lowest) return false;
        plan->d[i] = to[i] - lowest;
        odd |= plan->d[i];
    }
    plan->unit = shift && !(odd & ((1u << shift) - 1));
    return true;
}

/* Bits x 16 a lane, at least 1. */
static uint32_t plan_cost(const struct list_plan *plan, unsigned shift, uint32_t base_bits) {
    uint32_t bits = base_bits, by = plan->unit ? shift : 0;
    for (unsigned i = 0; i < plan->count; i++)
        bits += number_bits(plan->form & WW_WWT_LOWEST ? plan->d[i] >> by : zigzag(scaled(plan->d[i], by)));
    return 1 + 16 * bits / (plan->form == WW_WWT_FORM_LIST ? plan->count + 1 : plan->count);
}

/* True if the list is that of the latest surprise, in other units. */
static bool is_index(const struct ww_wwt_predictor *p, const struct ww_wwt_context *c, const uint64_t *to) {
    if (c->mask & ~p->index_mask) return false;
    uint64_t first = *to;
    for (uint32_t m = c->mask; m; m &= m - 1)
        if (*to++ != first + ww_wwt_index(p, __builtin_ctz(m), c->shift) - c->index) return false;
    return true;
}

/* How to write a list that is no other's copy. `from`: the instruction's last list, or NULL. */
static void plan_surprise(struct access_encoder *a, struct ww_wwt_inst_state *s, const struct ww_wwt_context *c,
                          const uint64_t *to, const uint64_t *from, struct list_plan *plan) {
    unsigned n = ww_bits(c->mask), shift = c->shift;
    struct list_plan steps, lowest;
    uint32_t now[WAYS] = {0};
    uint64_t off = 0;
    unsigned kind = choose_base(a, s, *to, c, &off);
    plan_differences(plan, WW_WWT_FORM_LIST, to, NULL, n, shift);
    now[WAY_LIST] = plan_cost(plan, shift, ww_wwt_has_off(kind) ? number_bits(zigzag(scaled(off, shift))) : 0);
    if (from) {
        plan_differences(&steps, WW_WWT_FORM_STEPS, to, from, n, shift);
        now[WAY_STEPS] = plan_cost(&steps, shift, 0);
    }
    if (plan_distances(&lowest, s, to, n, shift)) now[WAY_LOWEST] = plan_cost(&lowest, shift, 0);
    enum way way = choose_way(a->costs[s - a->p.inst].list, now, LIST_BITS);
    if (way != WAY_LIST) *plan = way == WAY_STEPS ? steps : lowest;
}

/* How to write the list of one lane: if its address is predicted, in the form of the lists around it. */
static void plan_lane(struct access_encoder *a, struct ww_wwt_inst_state *s, const struct ww_wwt_context *c,
                      const uint64_t *to, struct list_plan *plan) {
    bool known = !(c->mask & ~s->lane_mask), index = !(c->mask & ~a->p.index_mask);
    uint64_t off;
    if (ww_wwt_has_off(choose_base(a, s, *to, c, &off))) {
        plan_surprise(a, s, c, to, known ? &s->lane[__builtin_ctz(c->mask)] : NULL, plan);
        return;
    }
    plan->form = index && a->costs[s - a->p.inst].index ? WW_WWT_FORM_INDEX
                 : known                                ? WW_WWT_FORM_LANES
                                                        : WW_WWT_FORM_LIST;
}

/* How to write the list `to`; a reference's list would be at `pool`. */
static void plan_list(struct access_encoder *a, struct ww_wwt_inst_state *s, const struct ww_wwt_context *c,
                      const uint64_t *to, const uint64_t *pool, struct list_plan *plan) {
    unsigned n = ww_bits(c->mask), i = 0;
    uint64_t from[32];
    plan->count = 0;
    plan->unit = false;
    if (n == 1) {
        plan_lane(a, s, c, to, plan);
        return;
    }
    plan->form = WW_WWT_FORM_REF_LIST;
    if (c->ref && c->ref->list != WW_AFFINE && same_shape(to, pool + c->ref->list, n)) return;
    bool known = !(c->mask & ~s->lane_mask);
    for (uint32_t m = known ? c->mask : 0; m; m &= m - 1) from[i++] = s->lane[__builtin_ctz(m)];
    plan->form = WW_WWT_FORM_LANES;
    if (known && same_shape(to, from, n)) return;
    plan->form = WW_WWT_FORM_INDEX;
    if (is_index(&a->p, c, to)) return;
    plan_surprise(a, s, c, to, known ? from : NULL, plan);
}

/* A varint whose first, second and further bytes go to columns of their own: the high bytes of addresses
 * are alike, the low ones are not, and apart they compress better. */
static void put_split(struct ww_wwt_encoder *e, enum ww_wwt_column first, uint64_t v) {
    unsigned col = first;
    for (; v >= 0x80; v >>= 7) {
        ww_wwt_put_byte(&e->col[col], (unsigned char)(v | 0x80));
        if (col < first + 2u) col++;
    }
    ww_wwt_put_byte(&e->col[col], (unsigned char)v);
}

static void put_token(struct access_encoder *a, unsigned kind, bool unit, unsigned form, uint64_t off,
                      unsigned by) {
    ww_wwt_put_byte(&a->e->col[WW_WWT_COL_ACCESS],
                    (unsigned char)(kind | (unit ? WW_WWT_UNIT : 0) | form << WW_WWT_FORM_SHIFT));
    if (ww_wwt_has_off(kind)) put_split(a->e, WW_WWT_COL_BASE, zigzag(scaled(off, by)));
}

static bool put_list(struct access_encoder *a, struct ww_wwt_inst_state *s, const struct ww_access *access,
                     const struct ww_wwt_context *c, const uint64_t *address, const uint64_t *ref_pool) {
    struct list_plan plan;
    uint64_t off = 0;
    if (!s->lane && !(s->lane = ww_arena_alloc(&a->lanes, 32 * sizeof *s->lane))) return false;
    plan_list(a, s, c, address, ref_pool, &plan);
    unsigned kind = WW_WWT_BASE_REF; /* where the form needs no base */
    bool lowest = plan.form & WW_WWT_LOWEST;
    if (plan.form != WW_WWT_FORM_STEPS && !lowest) kind = choose_base(a, s, *address, c, &off);
    bool has_off = ww_wwt_has_off(kind), even = !(off & ((1u << c->shift) - 1));
    bool unit = plan.count ? plan.unit && (!has_off || even) : c->shift && has_off && even;
    unsigned by = unit ? c->shift : 0;
    a->costs[s - a->p.inst].index = plan.form == WW_WWT_FORM_INDEX;
    put_token(a, kind, unit, plan.form, off, by);
    for (unsigned i = 0; i < plan.count; i++)
        put_split(a->e, WW_WWT_COL_LIST, lowest ? plan.d[i] >> by : zigzag(scaled(plan.d[i], by)));
    ww_wwt_learn_list(s, c->mask, address);
    ww_wwt_learn(&a->p, s, *address, c);
    if (ww_wwt_is_surprise(kind, plan.form)) ww_wwt_learn_index(&a->p, s, c, access, address);
    return true;
}

/* True if the difference is one of the latest; it becomes one. */
static bool is_seen(struct costs *c, uint64_t off) {
    for (unsigned k = 0; k < SEEN; k++)
        if (c->seen[k] == off) return true;
    c->seen[c->next++ % SEEN] = off;
    return false;
}

/* True if a base that no kind predicts is better told as a distance from the lowest address; *off becomes it.
 */
static bool prefers_lowest(struct access_encoder *a, const struct ww_wwt_inst_state *s,
                           const struct ww_access *access, const struct ww_wwt_context *c, uint64_t *off) {
    uint64_t first = ww_wwt_first(access, c->mask), lowest = ww_wwt_lowest(s);
    if (!s->lowest || first < lowest || !c->mask) return false;
    uint32_t now[WAYS] = {[WAY_LIST] = 1 + 16 * number_bits(zigzag(scaled(*off, c->shift))),
                          [WAY_LOWEST] = 1 + 16 * number_bits((first - lowest) >> c->shift)};
    struct costs *costs = &a->costs[s - a->p.inst];
    bool again = is_seen(costs, *off);
    if (choose_way(costs->affine, now, BASE_BITS) != WAY_LOWEST || again) return false;
    *off = first - lowest;
    return true;
}

static void put_affine(struct access_encoder *a, struct ww_wwt_inst_state *s, const struct ww_access *access,
                       const struct ww_wwt_context *c) {
    uint64_t off = 0;
    unsigned kind = choose_base(a, s, access->base, c, &off);
    unsigned form = access->stride == s->stride ? WW_WWT_FORM_AFFINE : WW_WWT_FORM_STRIDE;
    bool has_off = ww_wwt_has_off(kind), lowest = has_off && prefers_lowest(a, s, access, c, &off);
    bool unit = has_off && c->shift && !(off & ((1u << c->shift) - 1));
    unsigned by = unit ? c->shift : 0;
    if (lowest) {
        form |= WW_WWT_LOWEST;
        kind = WW_WWT_BASE_REF;
        put_token(a, kind, unit, form, 0, by);
        put_split(a->e, WW_WWT_COL_BASE, off >> by);
    } else {
        put_token(a, kind, unit, form, off, by);
    }
    if ((form & ~WW_WWT_LOWEST) == WW_WWT_FORM_STRIDE)
        ww_wwt_put_svarint(&a->e->col[WW_WWT_COL_STRIDE], access->stride);
    s->stride = access->stride;
    ww_wwt_learn(&a->p, s, access->base, c);
    if (ww_wwt_is_surprise(kind, form)) ww_wwt_learn_index(&a->p, s, c, access, NULL);
}

/* Access i of the warp. */
static bool put_access(struct access_encoder *a, const struct ww_wwt_cta_warp *warp, uint32_t i,
                       const struct ww_wwt_cta_warp *ref) {
    const struct ww_step *step = ww_wwt_access_steps(warp->steps) + i;
    struct ww_wwt_inst_state *s = &a->p.inst[step->inst];
    struct ww_access *access = &warp->access[i];
    bool one = step->mask && !(step->mask & (step->mask - 1)), list = access->list != WW_AFFINE;
    const uint64_t *address = list ? warp->pool + access->list : &access->base;
    if (one &&
        s->lane) { /* where the instruction's others are lists, it is one, too; a reader makes it affine */
        *access = (struct ww_access){ww_wwt_first(access, step->mask), 0, WW_AFFINE};
        list = true;
    }
    unsigned shift = ww_wwt_shift(a->e->launch->inst[step->inst].width);
    struct ww_wwt_context c = ww_wwt_context(&a->p, s, list, step->mask, shift, ref ? &ref->access[i] : NULL);
    if (list) return put_list(a, s, access, &c, address, ref ? ref->pool : NULL);
    put_affine(a, s, access, &c);
    return true;
}

/* One warp; `ref` is the last warp on the same path, or NULL. */
static bool put_warp(struct access_encoder *a, const struct ww_wwt_cta_warp *warp,
                     const struct ww_wwt_cta_warp *ref) {
    a->p.stamp++;
    for (uint32_t i = 0; i < warp->steps->access_count; i++)
        if (!put_access(a, warp, i, ref)) return false;
    return true;
}

static bool put_warps(struct access_encoder *a, struct ww_wwt_cta *const *cta, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (uint32_t w = 0; w < cta[i]->warp_count; w++) {
            struct ww_wwt_cta_warp *warp = &cta[i]->warp[w];
            if (!put_warp(a, warp, warp->steps->latest)) return false;
            if (warp->steps->access_count) warp->steps->latest = warp;
        }
    return true;
}

bool ww_wwt_encode_accesses(struct ww_wwt_encoder *e, struct ww_wwt_cta *const *cta, size_t count) {
    struct access_encoder a = {.e = e};
    ww_arena_init(&a.lanes, 0);
    a.p.inst = calloc((size_t)e->launch->inst_count + 1, sizeof *a.p.inst);
    a.costs = calloc((size_t)e->launch->inst_count + 1, sizeof *a.costs);
    bool ok = a.p.inst && a.costs && put_warps(&a, cta, count);
    free(a.p.inst);
    free(a.costs);
    ww_arena_free(&a.lanes);
    return ok;
}
