/* The host time of each launch's replay, relative to the others', and how it is spread over the launch, so that
 * progress shows the time left.
 *
 * A warp instruction costs about as much as a 32-byte sector that one asks for: fitted to the host's time of 38
 * launches of 14 programs, this is within a third of three in four of them, instructions alone within a third
 * of half. Sectors are counted in a few CTAs of each launch that matters. Of these CTAs there is a curve, too:
 * what part of the cost has come when a part of the instructions has, as rows of a sparse matrix end with few
 * lanes. */
#include "../core/sm/coalesce.h"
#include "../core/sm/occupancy.h"
#include "run_int.h"
#include <stdlib.h>
#include <string.h>

#define LOOKED_AT 3          /* CTAs of a launch */
#define LOOKED_STEPS 65536.0 /* instructions, after which no further CTA is looked at */
#define MATTERS 256          /* launches with less than this part of all instructions do not */
#define ENDED_WEIGHT 0.15

struct look {
    struct ww_coalescer coalescer;
    const struct ww_launch *launch;
    double steps[WW_RUN_CURVE], cost[WW_RUN_CURVE], all_steps, all_cost;
};

static bool goes_to_memory(const struct ww_inst *inst) {
    return (inst->space == WW_SPACE_GLOBAL || inst->space == WW_SPACE_TEX) && inst->op != WW_OP_BARRIER &&
           inst->op != WW_OP_SLEEP && inst->op != WW_OP_DMA;
}

static double cost_of(struct ww_coalescer *c, const struct ww_inst *inst, const struct ww_warp_stream *w,
                      const struct ww_access *access, uint32_t mask) {
    double cost = 1;
    if (!goes_to_memory(inst) || !mask) return cost;
    ww_coalesce(c, access, w->pool, mask, inst->width);
    for (uint32_t i = 0; i < c->count; i++) cost += __builtin_popcount(c->request[i].chunks);
    return cost;
}

/* Warps are taken to run in parallel: the CTA's time is that of its longest one. */
static void look_at_warp(struct look *l, const struct ww_warp_stream *w, uint32_t longest) {
    const struct ww_access *access = w->access;
    for (uint32_t i = 0; i < w->step_count; i++) {
        const struct ww_inst *inst = &l->launch->inst[w->step[i].inst];
        size_t at = (size_t)((uint64_t)i * WW_RUN_CURVE / longest);
        bool reaches = (inst->flags & WW_INST_ACCESS) != 0;
        double cost = reaches ? cost_of(&l->coalescer, inst, w, access, w->step[i].mask) : 1;
        access += reaches;
        l->steps[at]++;
        l->cost[at] += cost;
        l->all_cost += cost;
    }
    l->all_steps += w->step_count;
}

static enum ww_code look_at_cta(struct run *r, struct look *l, size_t index, uint64_t from,
                                struct ww_error *error) {
    struct ww_cta_trace cta;
    uint32_t longest = 1;
    uint64_t at = ww_trace_next_cta(r->trace, index, from);
    if (at >= l->launch->cta_count) return WW_OK;
    WW_TRY(ww_trace_load_cta(r->trace, index, at, &cta, error));
    for (uint32_t w = 0; w < cta.warp_count; w++)
        if (cta.warp[w].step_count > longest) longest = cta.warp[w].step_count;
    for (uint32_t w = 0; w < cta.warp_count; w++) look_at_warp(l, &cta.warp[w], longest);
    ww_trace_release_cta(r->trace, &cta);
    return WW_OK;
}

static void draw_curve(const struct look *l, struct ww_run_cost *out) {
    double steps = 0, cost = 0;
    for (size_t i = 0; i < WW_RUN_CURVE; i++) {
        out->steps[i] = steps += l->steps[i] / l->all_steps;
        out->spent[i] = cost += l->cost[i] / l->all_cost;
    }
}

static enum ww_code look_at(struct run *r, size_t index, struct look *l, struct ww_run_cost *out,
                            struct ww_error *error) {
    uint32_t ctas;
    const char *limiter;
    struct ww_error ignored;
    const struct ww_launch *launch = l->launch;
    memset(l->steps, 0, sizeof l->steps);
    memset(l->cost, 0, sizeof l->cost);
    l->all_steps = l->all_cost = 0;
    for (uint64_t i = 0; i < LOOKED_AT && l->all_steps < LOOKED_STEPS; i++)
        WW_TRY(look_at_cta(r, l, index, (2 * i + 1) * launch->cta_count / (2 * LOOKED_AT), error));
    if (!(l->all_steps > 0)) return WW_OK;
    /* a launch that does not fit is refused later, with its reason */
    if (ww_occupancy(&r->options->gpu->spec, launch, &ctas, &limiter, &ignored) == WW_OK)
        out->resident = (double)ctas * (double)r->options->gpu->spec.sm_count / (double)launch->cta_count;
    out->cost *= l->all_cost / l->all_steps;
    draw_curve(l, out);
    return WW_OK;
}

/* Launches of one kernel in the same shape mostly do the same. */
static bool is_like(const struct ww_launch *a, const struct ww_launch *b) {
    return a && strcmp(a->kernel, b->kernel) == 0 && a->cta_count == b->cta_count &&
           a->warp_instructions == b->warp_instructions;
}

static enum ww_code add_launch(struct run *r, size_t index, uint64_t instructions, struct look *l,
                               struct ww_run_cost *out, struct ww_error *error) {
    const struct ww_launch *launch;
    WW_TRY(ww_trace_launch(r->trace, index, &launch, error));
    out->cost = (double)launch->warp_instructions;
    if (is_like(l->launch, launch)) {
        *out = out[-1];
    } else if (r->options->weigh && launch->warp_instructions > instructions / MATTERS) {
        l->launch = launch;
        WW_TRY(look_at(r, index, l, out, error));
    } else {
        l->launch = NULL;
    }
    r->all_cost += out->cost;
    return WW_OK;
}

enum ww_code ww_run_costs(struct run *r, uint64_t launches, uint64_t instructions, struct ww_error *error) {
    struct look *l = calloc(1, sizeof *l);
    enum ww_code code = WW_OK;
    size_t n = 0;
    r->spent_cost = r->all_cost = 0;
    r->cost = ww_arena_array(r->arena, launches, sizeof *r->cost);
    if (!r->cost || !l) code = ww_fail_nomem(error, "result");
    if (l) ww_coalesce_init(&l->coalescer, 128);
    for (size_t i = 0; i < r->launches.count && code == WW_OK; i++)
        for (uint64_t k = r->launches.range[i].first; k <= r->launches.range[i].last && code == WW_OK; k++)
            code = add_launch(r, k, instructions, l, &r->cost[n++], error);
    free(l);
    return code;
}

/* Part of a CTA's cost that has come with this part of its instructions. */
static double on_curve(const struct ww_run_cost *c, double steps) {
    double from = 0, spent = 0;
    for (size_t i = 0; i < WW_RUN_CURVE; i++) {
        if (steps <= c->steps[i] && c->steps[i] > from)
            return spent + (c->spent[i] - spent) * (steps - from) / (c->steps[i] - from);
        from = c->steps[i];
        spent = c->spent[i];
    }
    return 1;
}

/* Where warps wait for memory, instructions issue long before the launch ends, and CTAs of one wave end
 * together at its end: without a curve the value lies between. */
double ww_run_part_of_launch(const struct ww_run_cost *c, double issued, double ended) {
    double open = 1 - ended, running = c->resident < open ? c->resident : open;
    if (!(c->resident > 0) || !(running > 0)) return (1 - ENDED_WEIGHT) * issued + ENDED_WEIGHT * ended;
    double age = (issued - ended) / running;
    return ended + running * on_curve(c, age < 0 ? 0 : age > 1 ? 1 : age);
}
