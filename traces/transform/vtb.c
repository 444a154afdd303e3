/* Virtual thread blocks: CTAs in one that take turns in the shared memory of one, kept apart by barriers (VTB,
 * figure 3), or two of them a step apart, so that one computes while the other is inside (VTB_pipe, figure 5).
 */
#include "transform.h"

#include <string.h>

/* "v_tb_id = threadIdx.x / threads", the thread's number within, the CTA's number; "if (v_tb_id == n)". */
enum ww_code ww_tf_vtb_groups(struct ww_tf *t) {
    struct ww_tf_code *c = &t->code;
    uint32_t id = ww_tf_free_registers(t->launch, 1), p = ww_tf_free_predicate(t->launch);
    if (id == WW_TF_NONE) return ww_tf_refuse(t, "no register is left for the number of the virtual block");
    t->prologue = ww_tf_group(c);
    ww_tf_add(c, t->prologue, WW_OP_INT, "SHR", id, id);
    ww_tf_add(c, t->prologue, WW_OP_INT, "LOP", id, id);
    ww_tf_add(c, t->prologue, WW_OP_IMUL, "IMAD", id, id);
    t->barrier = ww_tf_group(c);
    ww_tf_add(c, t->barrier, WW_OP_BARRIER, "BAR.SYNC", WW_TF_NONE, WW_TF_NONE);
    t->guard = ww_tf_group(c);
    ww_tf_add(c, t->guard, WW_OP_INT, "ISETP", p, id);
    ww_tf_add(c, t->guard, WW_OP_BRANCH, "BRA", WW_TF_NONE, p);
    if (!c->failed) c->group[t->guard].inst[1].flags |= WW_INST_BRANCH_COND;
    return WW_OK;
}

/* Barriers between regions k - 1 and k. */
static uint32_t gap_barriers(struct ww_tf *t, uint32_t cta, uint32_t k) {
    const struct ww_regions *r = &t->regions[cta];
    uint32_t from = k ? ww_tf_span(t, cta, k - 1, 0)->end : 0, n = 0;
    uint32_t to = k < r->count ? ww_tf_span(t, cta, k, 0)->begin : t->cta[cta].warp[0].step_count;
    for (uint32_t i = 0; i < r->barriers; i++) n += r->barrier[i] >= from && r->barrier[i] < to;
    return n;
}

enum ww_code ww_tf_vtb_look(struct ww_tf *t) {
    char text[160];
    for (uint32_t c = 1; c < t->present; c++) {
        if (t->regions[c].count != t->regions[0].count) {
            snprintf(text, sizeof text, "CTAs %llu and %llu use shared memory in %u and %u regions",
                     (unsigned long long)t->cta[0].index, (unsigned long long)t->cta[c].index,
                     t->regions[0].count, t->regions[c].count);
            return ww_tf_refuse(t, text);
        }
        for (uint32_t k = 0; k <= t->regions[0].count; k++) {
            if (gap_barriers(t, c, k) == gap_barriers(t, 0, k)) continue;
            snprintf(text, sizeof text,
                     "CTAs %llu and %llu have different numbers of barriers before region %u",
                     (unsigned long long)t->cta[0].index, (unsigned long long)t->cta[c].index, k);
            return ww_tf_refuse(t, text);
        }
    }
    return WW_OK;
}

/* The region of CTA `of`, as the warp of CTA `cta` passes it: its own with a guard before each part, or
 * another's barriers with guards around what it skips. */
static void pass_region(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t k, uint32_t of) {
    const struct ww_regions *r = &t->regions[cta];
    struct ww_span s = *ww_tf_span(t, cta, k, warp);
    uint32_t at = s.begin, parts = t->regions[of].inner[k] + 1;
    if (of == cta) {
        for (uint32_t i = 0; i < r->barriers; i++) {
            uint32_t b = r->barrier[(size_t)warp * r->barriers + i];
            if (b < s.begin || b >= s.end) continue;
            ww_tf_put(t, cta, warp, at, t->guard);
            if (at == s.begin) ww_tf_late_stores(t, cta, warp, at);
            ww_tf_steps(t, cta, warp, at, b + 1);
            at = b + 1;
        }
        ww_tf_put(t, cta, warp, at, t->guard);
        if (at == s.begin) ww_tf_late_stores(t, cta, warp, at);
        ww_tf_steps(t, cta, warp, at, s.end);
        return;
    }
    for (uint32_t j = 0; j < parts; j++) {
        ww_tf_put(t, cta, warp, s.begin, t->guard);
        if (j + 1 < parts) ww_tf_put(t, cta, warp, s.begin, t->barrier);
    }
}

void ww_tf_vtb_warp(struct ww_tf *t, uint32_t cta, uint32_t warp) {
    uint32_t at = 0;
    ww_tf_put(t, cta, warp, 0, t->prologue);
    for (uint32_t k = 0; k < t->regions[cta].count; k++) {
        struct ww_span s = *ww_tf_span(t, cta, k, warp);
        ww_tf_steps(t, cta, warp, at, s.begin);
        for (uint32_t of = 0; of < t->present; of++) {
            if (of) ww_tf_put(t, cta, warp, s.begin, t->barrier);
            pass_region(t, cta, warp, k, of);
        }
        at = s.end;
    }
    ww_tf_steps(t, cta, warp, at, t->cta[cta].warp[warp].step_count);
}

const struct ww_tf_kind ww_tf_vtb = {.name = "vtb",
                                     .ctas_min = 2,
                                     .ctas_max = WW_TF_JOIN_MAX,
                                     .one_copy = true,
                                     .look = ww_tf_vtb_look,
                                     .groups = ww_tf_vtb_groups,
                                     .warp = ww_tf_vtb_warp};

/* ---- VTB_pipe ---- */

static struct ww_span gap_of(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t k) {
    uint32_t from = k ? ww_tf_span(t, cta, k - 1, warp)->end : 0;
    return (struct ww_span){from, k < t->regions[cta].count ? ww_tf_span(t, cta, k, warp)->begin
                                                            : t->cta[cta].warp[warp].step_count};
}

/* First step of the gap that an annotation names, or its end. */
static uint32_t first_noted(struct ww_tf *t, uint32_t cta, uint32_t warp, struct ww_span gap) {
    for (uint32_t i = gap.begin; i < gap.end; i++)
        if (ww_list_has(t->overlap, ww_tf_inst(t, cta, warp, i)->line)) return i;
    return gap.end;
}

static bool has_barrier(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (ww_tf_inst(t, cta, warp, i)->op == WW_OP_BARRIER) return true;
    return false;
}

/* Whether the section before region k may overlap: all warps have it, and no barrier stands in what is done
 * ahead with it (before the first region: within it). */
static bool overlaps(struct ww_tf *t, uint32_t k) {
    for (uint32_t c = 0; c < t->present; c++)
        for (uint32_t w = 0; w < t->launch->warps_per_cta; w++) {
            struct ww_span gap = gap_of(t, c, w, k);
            uint32_t noted = first_noted(t, c, w, gap);
            if (noted == gap.end) return false;
            if (k == 0 ? has_barrier(t, c, w, noted, gap.end) : has_barrier(t, c, w, gap.begin, noted))
                return false;
        }
    return true;
}

/* The section, without the barriers that only ordered it against the region. */
static void section(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (ww_tf_inst(t, cta, warp, i)->op != WW_OP_BARRIER) ww_tf_steps(t, cta, warp, i, i + 1);
}

/* What stands before the section is done by both CTAs at the same time; the section by the first while the
 * second is in its region before, and by the second while the first is in its next one. */
static void pipe_warp(struct ww_tf *t, uint32_t cta, uint32_t warp) {
    uint32_t regions = t->regions[cta].count;
    ww_tf_put(t, cta, warp, 0, t->prologue);
    for (uint32_t k = 0; k < regions; k++) {
        struct ww_span gap = gap_of(t, cta, warp, k), following = gap_of(t, cta, warp, k + 1);
        bool now = overlaps(t, k), next = k + 1 < regions && overlaps(t, k + 1);
        uint32_t at = gap.end, noted = now ? first_noted(t, cta, warp, gap) : gap.end;
        if (!now || k == 0) ww_tf_steps(t, cta, warp, gap.begin, noted);
        if (cta == 0) {
            if (now && k == 0) section(t, cta, warp, noted, gap.end);
            pass_region(t, cta, warp, k, 0);
            if (t->present > 1) {
                ww_tf_put(t, cta, warp, at, t->barrier);
                pass_region(t, cta, warp, k, 1);
            }
            if (next) section(t, cta, warp, following.begin, following.end);
        } else {
            pass_region(t, cta, warp, k, 0);
            if (now) section(t, cta, warp, noted, gap.end);
            ww_tf_put(t, cta, warp, at, t->barrier);
            pass_region(t, cta, warp, k, 1);
            if (next) section(t, cta, warp, following.begin, first_noted(t, cta, warp, following));
        }
        if (next) ww_tf_put(t, cta, warp, at, t->barrier);
    }
    struct ww_span tail = gap_of(t, cta, warp, regions);
    ww_tf_steps(t, cta, warp, tail.begin, tail.end);
}

static enum ww_code pipe_look(struct ww_tf *t) {
    WW_TRY(ww_tf_vtb_look(t));
    for (uint32_t k = 0; k < t->regions[0].count; k++)
        if (overlaps(t, k)) return WW_OK;
    if (t->regions[0].count == 0) return WW_OK;
    return ww_tf_refuse(
        t, "no line of --overlap is executed by all warps before a region, without a barrier in between");
}

const struct ww_tf_kind ww_tf_vtb_pipe = {.name = "vtb_pipe",
                                          .ctas_min = 2,
                                          .ctas_max = 2,
                                          .overlap = true,
                                          .one_copy = true,
                                          .look = pipe_look,
                                          .groups = ww_tf_vtb_groups,
                                          .warp = pipe_warp};
