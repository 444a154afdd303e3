/* Collaborative blocks (figure 6): the first `split` bytes of a CTA's shared memory are private, the rest is
 * public and used in turns: CO-VTB joins two CTAs, CO-HW allocates the public part while it is used.
 *
 *     CO-VTB:  | private of the first | private of the second | public |
 *
 * Stores to the public part before the first load of it wait in registers until the region begins (`reg` in the
 * figure): a move where they stood, the store where the region begins. An instruction that reaches both parts
 * is executed for one, then for the other, after a comparison of its index and a branch. */
#include "transform.h"

#include <string.h>

enum { PRIVATE = 1, PUBLIC = 2, LATE_MAX = 32 };

static bool reaches_shared(const struct ww_inst *in) {
    return in->space == WW_SPACE_SHARED && in->op >= WW_OP_LOAD && in->op <= WW_OP_REDUCE &&
           (in->flags & WW_INST_ACCESS);
}

/* Active lanes whose address lies in the public part; address: of all active lanes. */
static uint32_t public_lanes(const struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step,
                             uint64_t address[32]) {
    const struct ww_warp_stream *s = &t->cta[cta].warp[warp];
    const struct ww_access *a = ww_tf_access_of(t, cta, warp, step);
    uint32_t lanes = 0;
    for (uint32_t m = s->step[step].mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        address[lane] = ww_region_lane_address(a, s->pool, s->step[step].mask, lane);
        if (address[lane] >= t->split) lanes |= 1u << lane;
    }
    return lanes;
}

/* ---- before the planning ---- */

/* The last vector register that a store reads: its data. */
static int data_operand(const struct ww_inst *in) {
    for (int i = in->src_count - 1; i >= 0; i--)
        if (in->src[i].reg < WW_REG_PRED) return i;
    return -1;
}

static enum ww_code add_late(struct ww_tf *t, uint32_t inst) {
    const struct ww_inst *in = &t->launch->inst[inst];
    if (t->late_of[inst] != WW_TF_NONE) return WW_OK;
    if (t->late_count == LATE_MAX)
        return ww_tf_refuse(t, "more than 32 stores to the public part wait for a region");
    int data = data_operand(in);
    t->late_of[inst] = t->late_count;
    t->late[t->late_count++] = (struct ww_tf_late){.inst = inst, .temp = t->temps};
    t->temps += data < 0 ? 0 : in->src[data].n;
    return WW_OK;
}

/* Moves a region's begin behind the stores that can wait, up to the first load of the public part or the
 * barrier. */
static enum ww_code delay(struct ww_tf *t, uint32_t cta, uint32_t warp, struct ww_span *s) {
    const struct ww_warp_stream *stream = &t->cta[cta].warp[warp];
    uint64_t address[32];
    uint32_t seen = 0, i = s->begin;
    for (; i < s->end; i++) {
        const struct ww_inst *in = ww_tf_inst(t, cta, warp, i);
        uint32_t n = stream->step[i].inst;
        if (in->op == WW_OP_BARRIER) break;
        if (!reaches_shared(in) || !public_lanes(t, cta, warp, i, address)) continue;
        if (in->op != WW_OP_STORE) break;
        WW_TRY(add_late(t, n));
        if ((seen >> t->late_of[n]) & 1)
            return ww_tf_refuse(
                t, "a store to the public part is executed more than once before it is read: unroll its loop");
        seen |= 1u << t->late_of[n];
    }
    s->begin = i;
    return WW_OK;
}

static void note_parts(struct ww_tf *t, uint32_t cta, uint32_t warp) {
    const struct ww_warp_stream *s = &t->cta[cta].warp[warp];
    uint64_t address[32];
    for (uint32_t i = 0; i < s->step_count; i++) {
        if (!reaches_shared(ww_tf_inst(t, cta, warp, i)) || !s->step[i].mask) continue;
        uint32_t lanes = public_lanes(t, cta, warp, i, address);
        t->touched[s->step[i].inst] |=
            (uint8_t)((lanes ? PUBLIC : 0) | (lanes != s->step[i].mask ? PRIVATE : 0));
    }
}

static enum ww_code look(struct ww_tf *t) {
    uint32_t n = t->launch->inst_count;
    if (!t->touched) {
        t->touched = ww_arena_array(&t->launch_arena, n + 1, sizeof *t->touched);
        t->late_of = ww_arena_array(&t->launch_arena, n + 1, sizeof *t->late_of);
        t->check = ww_arena_array(&t->launch_arena, n + 1, sizeof *t->check);
        t->late = ww_arena_array(&t->launch_arena, LATE_MAX, sizeof *t->late);
        if (!t->touched || !t->late_of || !t->check || !t->late) return ww_fail_nomem(t->error, "a transform");
        memset(t->late_of, 0xff, n * sizeof *t->late_of);
    }
    for (uint32_t c = 0; c < t->present; c++)
        for (uint32_t w = 0; w < t->launch->warps_per_cta; w++) {
            note_parts(t, c, w);
            for (uint32_t k = 0; k < t->regions[c].count; k++) WW_TRY(delay(t, c, w, ww_tf_span(t, c, k, w)));
        }
    return t->present > 1 ? ww_tf_vtb_look(t) : WW_OK;
}

static enum ww_code split_groups(struct ww_tf *t) {
    struct ww_tf_code *c = &t->code;
    uint32_t first = ww_tf_free_registers(t->launch, t->temps + 1), p = ww_tf_free_predicate(t->launch);
    if (first == WW_TF_NONE) return ww_tf_refuse(t, "too few registers are left for the stores that wait");
    for (uint32_t i = 0; i < t->late_count; i++) {
        struct ww_tf_late *late = &t->late[i];
        const struct ww_inst *in = &t->launch->inst[late->inst];
        int data = data_operand(in);
        late->move = ww_tf_group(c);
        late->store = ww_tf_group(c);
        struct ww_inst *store = ww_tf_copy(c, late->store, late->inst);
        if (!store) return ww_fail_nomem(t->error, "a transform");
        if (data < 0) continue;
        late->temp += first + 1;
        for (uint32_t k = 0; k < in->src[data].n && k < WW_TF_GROUP_MAX; k++)
            ww_tf_add(c, late->move, WW_OP_INT, "MOV", late->temp + k, in->src[data].reg + k);
        store->src[data].reg = (uint16_t)late->temp;
    }
    for (uint32_t i = 0; i < t->launch->inst_count; i++) {
        if (t->touched[i] != (PRIVATE | PUBLIC)) continue;
        t->check[i] = ww_tf_group(c);
        ww_tf_add(c, t->check[i], WW_OP_INT, "ISETP", p,
                  t->launch->inst[i].src_count ? t->launch->inst[i].src[0].reg : WW_TF_NONE);
        ww_tf_add(c, t->check[i], WW_OP_BRANCH, "BRA", WW_TF_NONE, p);
        if (!c->failed) c->group[t->check[i]].inst[1].flags |= WW_INST_BRANCH_COND;
        ww_tf_copy(c, t->check[i], i);
    }
    return WW_OK;
}

/* ---- writing ---- */

/* Addresses of the new CTA's layout. */
static void put_access(struct ww_tf *t, uint32_t cta, uint32_t mask, const uint64_t address[32]) {
    uint64_t moved[32];
    uint64_t more = t->kind->ctas_max > 1 ? t->split : 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        moved[lane] = address[lane] + (address[lane] < t->split ? cta * more : more);
    }
    ww_tf_access(t->stream, mask, moved);
}

static bool in_region(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step) {
    for (uint32_t k = 0; k < t->regions[cta].count; k++) {
        const struct ww_span *s = ww_tf_span(t, cta, k, warp);
        if (step >= s->begin && step < s->end) return true;
    }
    return false;
}

void ww_tf_split_step(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step) {
    const struct ww_step *s = &t->cta[cta].warp[warp].step[step];
    const struct ww_inst *in = ww_tf_inst(t, cta, warp, step);
    uint64_t address[32];
    if (!reaches_shared(in) || !s->mask) {
        ww_tf_copy_step(t, cta, warp, step);
        return;
    }
    uint32_t lanes = public_lanes(t, cta, warp, step, address), rest = s->mask & ~lanes;
    bool both = t->touched[s->inst] == (PRIVATE | PUBLIC);
    bool waits = lanes && t->late_of[s->inst] != WW_TF_NONE && !in_region(t, cta, warp, step);
    if (waits) {
        uint32_t late = t->late_of[s->inst];
        t->late_done |= 1u << late;
        t->late_step[late] = step;
        ww_tf_put(t, cta, warp, step, t->late[late].move);
        lanes = 0;
    }
    if (both && t->planning) ww_tf_mark(&t->code, s->inst, t->check[s->inst]);
    if (t->planning) return;
    if (both) {
        uint32_t first = ww_tf_at(&t->code, s->inst, t->check[s->inst]);
        ww_tf_step(t->stream, first, s->mask);
        ww_tf_step(t->stream, first + 1, s->mask);
        if (lanes) {
            ww_tf_step(t->stream, first + 2, lanes);
            put_access(t, cta, lanes, address);
        }
        lanes = 0;
    }
    if (lanes | rest) {
        ww_tf_step(t->stream, t->code.moved[s->inst], lanes | rest);
        put_access(t, cta, lanes | rest, address);
    }
}

void ww_tf_late_stores(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step) {
    uint64_t address[32];
    for (uint32_t m = t->late_done; m; m &= m - 1) {
        uint32_t late = (uint32_t)__builtin_ctz(m), from = t->late_step[late];
        const struct ww_warp_stream *s = &t->cta[cta].warp[warp];
        uint32_t place = step < s->step_count ? s->step[step].inst : t->launch->inst_count;
        uint32_t lanes = public_lanes(t, cta, warp, from, address);
        if (t->planning) {
            ww_tf_mark(&t->code, place, t->late[late].store);
            continue;
        }
        ww_tf_step(t->stream, ww_tf_at(&t->code, place, t->late[late].store), lanes);
        put_access(t, cta, lanes, address);
    }
    t->late_done = 0;
}

static enum ww_code co_vtb_groups(struct ww_tf *t) {
    WW_TRY(ww_tf_vtb_groups(t));
    return split_groups(t);
}

static enum ww_code co_hw_groups(struct ww_tf *t) {
    WW_TRY(ww_tf_allocate_groups(t));
    return split_groups(t);
}

const struct ww_tf_kind ww_tf_co_vtb = {.name = "co_vtb",
                                        .ctas_min = 2,
                                        .ctas_max = 2,
                                        .split = true,
                                        .look = look,
                                        .groups = co_vtb_groups,
                                        .warp = ww_tf_vtb_warp};
const struct ww_tf_kind ww_tf_co_hw = {.name = "co_hw",
                                       .ctas_min = 1,
                                       .ctas_max = 1,
                                       .split = true,
                                       .look = look,
                                       .groups = co_hw_groups,
                                       .warp = ww_tf_allocate_warp};
