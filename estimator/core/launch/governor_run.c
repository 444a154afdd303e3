/* Carries out what a governor decides (mech/gov/governor.h). */
#include "engine_internal.h"
#include "../../result/result.h"
#include "governor_run.h"

#include "../sm/pause.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_MIN 0.25
#define CLOCK_MAX 4.0
#define MOST_POINTS ((size_t)1 << 22)

static bool get_memory(struct ww_governor *g, uint32_t sms) {
    g->state = calloc(1, g->ops->state_size + 1);
    g->sm_state = calloc(sms, g->ops->sm_size + 1);
    g->sm = calloc(sms, sizeof *g->sm);
    g->begin = calloc(sms, sizeof *g->begin);
    g->decision.limit = calloc(sms, sizeof *g->decision.limit);
    return g->state && g->sm_state && g->sm && g->begin && g->decision.limit;
}

enum ww_code ww_governor_new(const struct ww_governor_ops *ops, const void *settings,
                             const struct ww_gpu_spec *gpu, struct ww_governor **governor,
                             struct ww_error *error) {
    *governor = NULL;
    if (!ops->plan) return WW_OK;
    struct ww_governor *g = calloc(1, sizeof *g);
    if (!g) return ww_fail_nomem(error, "the governor");
    g->ops = ops;
    g->settings = settings;
    g->nominal_mhz[WW_DOMAIN_SM] = gpu->clock_sm_mhz;
    g->nominal_mhz[WW_DOMAIN_L2] = gpu->clock_l2_mhz;
    g->nominal_mhz[WW_DOMAIN_DRAM] = gpu->clock_dram_mhz;
    for (int d = 0; d < WW_DOMAIN_COUNT; d++) g->clock[d] = g->decision.clock[d] = 1;
    ops->plan(settings, &g->plan);
    if (g->plan.sample == 0 || g->plan.sample > g->plan.epoch) g->plan.sample = g->plan.epoch;
    g->sample_left = g->plan.epoch ? g->plan.sample - 1 : WW_NEVER;
    g->decide_left = g->plan.epoch ? g->plan.epoch - 1 : WW_NEVER;
    if (!get_memory(g, gpu->sm_count)) {
        ww_governor_free(g);
        return ww_fail_nomem(error, "the governor");
    }
    *governor = g;
    return WW_OK;
}

void ww_governor_free(struct ww_governor *g) {
    if (!g) return;
    free(g->state);
    free(g->sm_state);
    free(g->sm);
    free(g->begin);
    free(g->decision.limit);
    free(g->point);
    free(g);
}

void ww_governor_memory_reset(struct ww_governor *g) {
    g->clock[WW_DOMAIN_L2] = g->clock[WW_DOMAIN_DRAM] = 1;
}

/* Brings a decision within its bounds. */
static void bound(const struct ww_core *core, struct ww_governor_decision *a) {
    for (uint32_t i = 0; i < core->gpu->sm_count; i++) {
        if (a->limit[i] > core->ctas_per_sm) a->limit[i] = core->ctas_per_sm;
        if (a->limit[i] < 1) a->limit[i] = 1;
    }
    for (int d = 0; d < WW_DOMAIN_COUNT; d++) {
        if (!(a->clock[d] >= CLOCK_MIN)) a->clock[d] = CLOCK_MIN;
        if (a->clock[d] > CLOCK_MAX) a->clock[d] = CLOCK_MAX;
    }
}

/* ---- clocks ---- */

static void note_point(struct ww_core *core, uint64_t cycle, uint64_t ps) {
    struct ww_governor *g = core->governor;
    if (g->point_count == g->point_capacity) {
        size_t capacity = g->point_capacity ? 2 * g->point_capacity : 16;
        struct ww_vf_point *row = capacity > MOST_POINTS ? NULL : realloc(g->point, capacity * sizeof *row);
        if (!row) {
            ww_core_fail(core, ww_fail_nomem(core->error, "operating points"));
            return;
        }
        g->point = row;
        g->point_capacity = capacity;
    }
    struct ww_vf_point *p = &g->point[g->point_count++];
    *p = (struct ww_vf_point){.cycle = cycle, .time_ps = ps - core->start_ps};
    memcpy(p->mhz, core->mhz, sizeof p->mhz);
}

/* Sets the clocks that the governor wants, at time ps. True: there was one to set. */
static bool set_clocks(struct ww_core *core, uint64_t ps) {
    struct ww_governor *g = core->governor;
    bool changed = false;
    struct ww_clock *clock[WW_DOMAIN_COUNT] = {&core->clock, ww_memsys_l2_clock(core->memory),
                                               ww_memsys_dram_clock(core->memory)};
    for (int d = 0; d < WW_DOMAIN_COUNT; d++) {
        if (g->clock[d] == g->decision.clock[d]) continue;
        g->clock[d] = g->decision.clock[d];
        ww_clock_set(clock[d], g->nominal_mhz[d] * g->clock[d], ps);
        changed = true;
    }
    for (int d = 0; d < WW_DOMAIN_COUNT; d++) core->mhz[d] = g->nominal_mhz[d] * g->clock[d];
    return changed;
}

static void change_clocks(struct ww_core *core, uint64_t cycle) {
    struct ww_governor *g = core->governor;
    g->change_at = WW_NEVER;
    ww_segments_cut(core, cycle, core->now_ps);
    if (!set_clocks(core, core->now_ps)) return;
    note_point(core, cycle, core->now_ps);
    if (!core->cut.queued) return;
    uint64_t length = core->epochs.length; /* the end of the epoch has another time now */
    ww_queue_cancel(core->queue, &core->cut);
    ww_queue_add(core->queue, &core->cut, ww_clock_time(&core->clock, (cycle / length + 1) * length));
}

/* ---- CTAs ---- */

static void adjust(struct ww_core *core, uint64_t cycle) {
    struct ww_governor *g = core->governor;
    g->adjust = false;
    for (uint32_t i = 0; i < core->gpu->sm_count; i++)
        if (ww_sm_set_running(&core->sm[i], g->decision.limit[i], cycle)) ww_core_wake(core, i, cycle);
    if (core->next_cta < core->cta_count && cycle < core->dispatch_at) core->dispatch_at = cycle;
}

void ww_governor_cta_ended(struct ww_core *core, uint64_t cycle) {
    uint64_t at = cycle > core->now ? cycle : core->now + 1; /* the cycle under way is not done twice */
    core->governor->adjust = true;
    if (at < core->governor_at) core->governor_at = at;
}

void ww_governor_count(const struct ww_core *core, uint32_t *limit, uint32_t *paused) {
    *limit = *paused = 0;
    for (uint32_t i = 0; i < core->gpu->sm_count; i++) {
        *limit += core->governor ? core->governor->decision.limit[i] : core->ctas_per_sm;
        *paused += core->sm[i].paused_ctas;
    }
}

/* ---- samples and decisions ---- */

/* The load/store unit takes no instruction of this ready warp in this cycle. */
static bool restricted(const struct ww_sm *sm, const struct ww_warp *w, uint64_t cycle) {
    const struct ww_sched *s = &sm->sched[w->sched];
    return s->unit_free[w->group] > cycle || (s->view.parked >> w->slot) & 1;
}

static void sample_warp(struct ww_governor_sm *out, const struct ww_sm *sm, const struct ww_warp *w,
                        uint64_t cycle) {
    if (!w->resident || w->paused || w->done) return;
    if (w->since > cycle) { /* issued in this cycle */
        out->active++;
        return;
    }
    switch (w->state) {
    case WW_S_NO_INST:
    case WW_S_NO_INST_L0:
    case WW_S_NO_INST_L15:
        return;
    case WW_S_EXCESS_ALU:
        out->x_alu++;
        break;
    case WW_S_EXCESS_MEM:
        out->x_mem += restricted(sm, w, cycle);
        break;
    case WW_S_WAIT_ALU:
    case WW_S_WAIT_SFU:
    case WW_S_WAIT_SHARED:
    case WW_S_WAIT_CONST:
    case WW_S_CONST_MISS:
    case WW_S_WAIT_L1:
    case WW_S_WAIT_L2:
    case WW_S_WAIT_DRAM:
    case WW_S_WAIT_TLB:
    case WW_S_WAIT_STALL:
    case WW_S_WAIT_READ:
        out->waiting++;
        break;
    default:
        break;
    }
    out->active++;
}

static void sample(struct ww_core *core, uint64_t cycle) {
    struct ww_governor *g = core->governor;
    for (uint32_t i = 0; i < core->gpu->sm_count; i++) {
        const struct ww_sm *sm = &core->sm[i];
        if (!sm->resident_ctas) continue;
        for (uint32_t k = 0; k < core->gpu->sm_max_warps; k++) sample_warp(&g->sm[i], sm, &sm->warp[k], cycle);
    }
    g->epoch.samples++;
    g->sample_at += g->plan.sample;
}

/* Issue slots of the launch so far. */
static struct ww_governor_slots slots_of(struct ww_sm *sm, uint64_t end) {
    struct ww_governor_slots n = {0, 0, 0};
    for (uint32_t k = 0; k < sm->core->gpu->sm_schedulers; k++) {
        struct ww_sched *s = &sm->sched[k];
        ww_issue_count(s, end);
        n.issued += s->slot[WW_SLOT_ISSUED];
        n.idle += s->slot[WW_SLOT_EMPTY] + s->slot[WW_SLOT_DRAIN] + s->slot[WW_SLOT_NO_INST];
        n.memory += s->slot[WW_SLOT_WAIT_MEM] + s->slot[WW_SLOT_EXCESS_MEM];
    }
    return n;
}

/* Adds the slots since the epoch, or the launch, began to the SM's record. */
static void add_slots(struct ww_core *core, uint32_t i, uint64_t end) {
    struct ww_governor *g = core->governor;
    struct ww_governor_slots now = slots_of(&core->sm[i], end), *begin = &g->begin[i];
    g->sm[i].issued += now.issued - begin->issued;
    g->sm[i].idle_cycles += (now.idle - begin->idle) / core->gpu->sm_schedulers;
    g->sm[i].memory_cycles += (now.memory - begin->memory) / core->gpu->sm_schedulers;
    *begin = now;
}

/* When the clocks that are wanted now take effect. A transition to the same point that is under way continues.
 */
static void plan_change(struct ww_governor *g, const double *before, uint64_t cycle) {
    bool same = true, differs = false;
    for (int d = 0; d < WW_DOMAIN_COUNT; d++) {
        same &= g->decision.clock[d] == before[d];
        differs |= g->decision.clock[d] != g->clock[d];
    }
    if (!differs)
        g->change_at = WW_NEVER;
    else if (!same || g->change_at == WW_NEVER)
        g->change_at = cycle + 1 + g->plan.transition;
}

static void decide(struct ww_core *core, uint64_t cycle) {
    struct ww_governor *g = core->governor;
    double before[WW_DOMAIN_COUNT];
    uint32_t sms = core->gpu->sm_count;
    for (uint32_t i = 0; i < sms; i++) {
        add_slots(core, i, cycle); /* its own cycle may be the one after the launch's last */
        g->sm[i].limit = g->decision.limit[i];
        g->sm[i].paused = core->sm[i].paused_ctas;
        g->sm[i].running = core->sm[i].resident_ctas - core->sm[i].paused_ctas;
    }
    g->epoch.cycle = cycle;
    g->epoch.more = core->next_cta < core->cta_count;
    memcpy(before, g->decision.clock, sizeof before);
    g->ops->decide(g->state, g->sm_state, g->settings, &g->epoch, &g->decision);
    bound(core, &g->decision);
    g->adjust = true;
    plan_change(g, before, cycle);
    memset(g->sm, 0, sms * sizeof *g->sm);
    g->epoch.samples = 0;
    g->decide_at += g->plan.epoch;
}

void ww_governor_before(struct ww_core *core, uint64_t cycle) {
    struct ww_governor *g = core->governor;
    if (g->change_at <= cycle) change_clocks(core, cycle);
    if (g->adjust) adjust(core, cycle);
    core->governor_at = WW_NEVER;
}

void ww_governor_after(struct ww_core *core, uint64_t cycle) {
    struct ww_governor *g = core->governor;
    if (g->sample_at <= cycle) sample(core, cycle);
    if (g->decide_at <= cycle) decide(core, cycle);
    core->governor_at = g->adjust ? cycle + 1 : g->sample_at;
    if (g->change_at < core->governor_at) core->governor_at = g->change_at;
    if (g->decide_at < core->governor_at) core->governor_at = g->decide_at;
}

/* ---- launches ---- */

static bool same_kernel(struct ww_governor *g, const struct ww_core *core, const struct ww_launch *launch) {
    char name[sizeof g->kernel];
    snprintf(name, sizeof name, "%s", launch->kernel ? launch->kernel : "");
    bool same = g->begun && strcmp(name, g->kernel) == 0 && g->epoch.most == core->ctas_per_sm &&
                g->epoch.w_cta == core->warps_per_cta;
    memcpy(g->kernel, name, sizeof name);
    g->begun = true;
    return same;
}

void ww_governor_begin(struct ww_core *core, const struct ww_launch *launch) {
    struct ww_governor *g = core->governor;
    uint32_t sms = core->gpu->sm_count;
    struct ww_governor_launch of = {.sms = sms,
                                    .most = core->ctas_per_sm,
                                    .w_cta = core->warps_per_cta,
                                    .same_kernel = same_kernel(g, core, launch)};
    g->epoch = (struct ww_governor_epoch){
        .samples = g->epoch.samples, .sms = sms, .most = of.most, .w_cta = of.w_cta, .sm = g->sm};
    g->ops->start(g->state, g->sm_state, g->settings, &of, &g->decision);
    bound(core, &g->decision);
    for (uint32_t i = 0; i < sms; i++) core->sm[i].cta_room = g->decision.limit[i];
    memset(g->begin, 0, sms * sizeof *g->begin);
    ww_clock_init(&core->clock, g->nominal_mhz[WW_DOMAIN_SM] * g->decision.clock[WW_DOMAIN_SM]);
    core->clock.origin_ps = core->start_ps;
    g->clock[WW_DOMAIN_SM] = g->decision.clock[WW_DOMAIN_SM];
    set_clocks(core, core->start_ps);
    g->point_count = 0;
    note_point(core, 0, core->start_ps);
    g->adjust = false;
    g->change_at = WW_NEVER;
    g->sample_at = g->sample_left;
    g->decide_at = g->decide_left;
    core->governor_at = g->sample_at < g->decide_at ? g->sample_at : g->decide_at;
}

/* What is left of a period at the launch's end. */
static uint64_t left(uint64_t at, uint64_t cycle) {
    return at == WW_NEVER ? WW_NEVER : at > cycle ? at - cycle : 0;
}

void ww_governor_end(struct ww_core *core, uint64_t cycle) {
    struct ww_governor *g = core->governor;
    for (uint32_t i = 0; i < core->gpu->sm_count; i++) add_slots(core, i, cycle);
    g->sample_left = left(g->sample_at, cycle);
    g->decide_left = left(g->decide_at, cycle);
}
