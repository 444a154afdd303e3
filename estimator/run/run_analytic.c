/* run_analytic.c: mode analytic: a launch's counters and energy by the analytical model (fast/model.h) instead
 * of a replay. The result obeys the conservation laws that a replay's does; what the model does not tell
 * (cycles of epochs and instructions) is absent. */
#include "../api/trace.h"
#include "../api/run.h"
#include "../result/result.h"
#include "../core/sm/control.h"
#include "../core/time/launch_time.h"
#include "../fast/model.h"
#include "../fast/model_error.h"
#include "../fast/profile_file.h"
#include "run_int.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t whole(double v) {
    return v > 0 ? (uint64_t)llround(v) : 0;
}

/* Events as counters. Sums that laws ask for are formed of the rounded parts. */
static void set_counters(const struct ww_model_result *m, struct ww_launch_result *l) {
    uint64_t *c = l->counter;
    for (int i = 0; i < WW_COUNTER_COUNT; i++) c[i] = whole(m->events[i]);
    c[WW_C_L1_SECTOR_READ] = c[WW_C_L1_SECTOR_HIT] + c[WW_C_L1_SECTOR_MISS];
    c[WW_C_XBAR_SECTOR_READ] = c[WW_C_L1_SECTOR_MISS] + c[WW_C_L2_ATOMIC];
    c[WW_C_L2_SECTOR_READ] = c[WW_C_XBAR_SECTOR_READ];
    if (c[WW_C_L2_SECTOR_MISS] > c[WW_C_L2_SECTOR_READ]) c[WW_C_L2_SECTOR_MISS] = c[WW_C_L2_SECTOR_READ];
    c[WW_C_L2_SECTOR_HIT] = c[WW_C_L2_SECTOR_READ] - c[WW_C_L2_SECTOR_MISS];
    c[WW_C_DRAM_SECTOR_READ] = c[WW_C_L2_SECTOR_MISS];
    c[WW_C_L1_SECTOR_WRITE] = c[WW_C_XBAR_SECTOR_WRITE];
    c[WW_C_L2_SECTOR_WRITE] = c[WW_C_XBAR_SECTOR_WRITE];
    c[WW_C_L1_WRITE_HIT] = 0;
    c[WW_C_L1_WRITE_MISS] = c[WW_C_L1_SECTOR_WRITE];
    if (c[WW_C_L2_WRITE_MISS] > c[WW_C_L2_SECTOR_WRITE]) c[WW_C_L2_WRITE_MISS] = c[WW_C_L2_SECTOR_WRITE];
    c[WW_C_L2_WRITE_HIT] = c[WW_C_L2_SECTOR_WRITE] - c[WW_C_L2_WRITE_MISS];
    c[WW_C_DRAM_SECTOR_WRITE] = c[WW_C_L2_WRITEBACK];
    c[WW_C_SHARED_PASSES] = c[WW_C_MEM_INST_SHARED] + c[WW_C_SHARED_WIDE] + c[WW_C_SHARED_CONFLICTS];
}

/* Cycles that do not fit into a part go to the next one. */
static uint64_t take(uint64_t *left, double part) {
    uint64_t n = whole(part);
    if (n > *left) n = *left;
    *left -= n;
    return n;
}

/* Issue slots and warp-cycles by cause: the path's waits as the model has them, the rest is contention.
 * control: warps wait for arithmetic by stall counts. */
static void set_states(const struct ww_gpu_spec *gpu, const struct ww_model_result *m, bool control,
                       struct ww_launch_result *l) {
    uint64_t slots = (uint64_t)gpu->sm_count * gpu->sm_schedulers * l->cycles;
    uint64_t issued = l->warp_instructions < slots ? l->warp_instructions : slots;
    l->counter[WW_C_DUAL_ISSUED] = l->warp_instructions - issued;
    l->slot[WW_SLOT_ISSUED] = issued;
    uint64_t left = slots - issued;
    double lost = (double)left;
    uint64_t launch = l->counter[WW_C_LAUNCH_FRONT_CYCLES] + l->counter[WW_C_LAUNCH_END_CYCLES];
    launch *= (uint64_t)gpu->sm_count * gpu->sm_schedulers;
    l->slot[WW_SLOT_LAUNCH] = take(&left, (double)launch);
    uint64_t empty = (uint64_t)gpu->sm_schedulers * l->counter[WW_C_SM_IDLE_CYCLES];
    l->slot[WW_SLOT_EMPTY] = take(&left, empty > launch ? (double)(empty - launch) : 0);
    lost = (double)left;
    l->slot[WW_SLOT_WAIT_MEM] = take(&left, lost * m->waits.memory);
    l->slot[WW_SLOT_WAIT_SHARED] = take(&left, lost * m->waits.shared);
    l->slot[control ? WW_SLOT_WAIT_STALL : WW_SLOT_WAIT_ALU] = take(&left, lost * m->waits.alu);
    l->slot[WW_SLOT_BARRIER] = take(&left, lost * m->waits.barrier);
    l->slot[WW_SLOT_NO_INST] = take(&left, lost * m->waits.front);
    l->slot[m->waits.bound_by_memory ? WW_SLOT_EXCESS_MEM : WW_SLOT_EXCESS_ALU] += left;
    uint64_t warps = whole(m->resident_warps * (double)l->counter[WW_C_SM_ACTIVE_CYCLES]);
    l->resident_warp_cycles = warps > issued ? warps : issued;
    l->warp_cycles[WW_S_ISSUED] = issued;
    left = l->resident_warp_cycles - issued;
    lost = (double)left;
    l->warp_cycles[WW_S_WAIT_DRAM] = take(&left, lost * m->waits.memory * m->waits.dram_part);
    l->warp_cycles[WW_S_WAIT_L2] = take(&left, lost * m->waits.memory * m->waits.l2_part);
    l->warp_cycles[WW_S_WAIT_L1] =
        take(&left, lost * m->waits.memory * (1 - m->waits.dram_part - m->waits.l2_part));
    l->warp_cycles[WW_S_WAIT_SHARED] = take(&left, lost * m->waits.shared);
    l->warp_cycles[control ? WW_S_WAIT_STALL : WW_S_WAIT_ALU] = take(&left, lost * m->waits.alu);
    l->warp_cycles[WW_S_BARRIER] = take(&left, lost * m->waits.barrier);
    l->warp_cycles[WW_S_NO_INST] = take(&left, lost * m->waits.front);
    l->warp_cycles[m->waits.bound_by_memory ? WW_S_EXCESS_MEM : WW_S_EXCESS_ALU] += left;
}

static enum ww_code describe(struct run *r, const struct ww_kernel_profile *p, const struct ww_model_result *m,
                             struct ww_launch_result *l, struct ww_error *error) {
    const struct ww_gpu_spec *gpu = &r->options->gpu->spec;
    struct ww_launch_time time;
    ww_launch_time_begin(&time, gpu, r->result->launch_count > 0);
    l->kernel = ww_arena_strdup(r->arena, p->kernel);
    if (!l->kernel) return ww_fail_nomem(error, "result");
    for (int i = 0; i < 3; i++) {
        l->grid[i] = p->grid[i];
        l->block[i] = p->block[i];
    }
    l->registers_per_thread = p->registers_per_thread;
    l->shared_bytes = p->shared_static + p->shared_dynamic;
    l->ctas_per_sm = m->ctas_per_sm;
    l->occupancy_limiter = p->ctas < (uint64_t)m->ctas_per_sm * gpu->sm_count ? "grid" : m->limiter;
    l->cycles = whole(m->cycles);
    l->time_ps = ww_launch_ps(&time, gpu, m->cycles);
    l->warp_instructions = p->warp_instructions;
    l->thread_instructions = p->thread_instructions;
    l->counter[WW_C_LAUNCH_FRONT_CYCLES] = time.front;
    l->counter[WW_C_LAUNCH_END_CYCLES] = time.end;
    l->counter[WW_C_LAUNCH_LATENCY_PS] = time.latency_ps;
    l->counter[WW_C_LAUNCH_HIDDEN_PS] = time.hidden_ps;
    return WW_OK;
}

static enum ww_code model_one(struct run *r, const struct ww_kernel_profile *p, size_t index,
                              struct ww_model_span *span, struct ww_error *error) {
    const struct ww_gpu_spec *gpu = &r->options->gpu->spec;
    struct ww_launch_result *l = &r->result->launch[r->result->launch_count];
    struct ww_model_kernel kernel;
    struct ww_model_result m;
    const struct ww_launch *launch;
    *l = (struct ww_launch_result){.index = (uint32_t)index};
    if (p->ctas == 0) return WW_OK;
    ww_model_fold(p, &kernel);
    WW_TRY(ww_model_launch(&kernel, gpu, &ww_model_default, &m, error));
    set_counters(&m, l);
    WW_TRY(describe(r, p, &m, l, error));
    uint64_t all = l->cycles * gpu->sm_count, active = l->counter[WW_C_SM_ACTIVE_CYCLES];
    l->counter[WW_C_SM_ACTIVE_CYCLES] = active < all ? active : all;
    l->counter[WW_C_SM_IDLE_CYCLES] = all - l->counter[WW_C_SM_ACTIVE_CYCLES];
    WW_TRY(ww_trace_launch(r->trace, index, &launch, error));
    set_states(gpu, &m, ww_control_applies(gpu, launch), l);
    if (r->power) ww_power_launch(r->power, gpu, l, &l->energy);
    r->result->launch_count++;
    ww_run_add_up(r->result, l);
    ww_model_span_add(span, p, gpu, &m);
    return WW_OK;
}

static enum ww_code model_all(struct run *r, const struct ww_model_profile *profile, struct ww_error *error) {
    struct ww_model_span span = {0};
    uint64_t n = 0;
    WW_TRY(ww_model_error_check(r->confidence, error));
    for (size_t i = 0; i < r->launches.count; i++)
        n += r->launches.range[i].last - r->launches.range[i].first + 1;
    r->result->launch = ww_arena_array(r->arena, n, sizeof *r->result->launch);
    if (!r->result->launch) return ww_fail_nomem(error, "result");
    for (size_t i = 0; i < r->launches.count; i++)
        for (uint64_t k = r->launches.range[i].first; k <= r->launches.range[i].last; k++) {
            WW_TRY(ww_run_goes_on(r, k, error));
            WW_TRY(model_one(r, &profile->launch[k], (size_t)k, &span, error));
        }
    struct ww_model_error e;
    char why[256];
    ww_model_error_of(&span, r->confidence, &e);
    double cycles = (double)r->result->cycles, joules = r->result->energy_j;
    r->result->cycles_interval = (struct ww_interval){cycles * e.cycles_low, cycles * e.cycles_high};
    r->result->energy_interval = (struct ww_interval){joules * e.energy_low, joules * e.energy_high};
    if (ww_model_span_outside(&span, why, sizeof why)) {
        const char *before = r->result->warning;
        r->result->warning = ww_arena_printf(r->arena, "%s%s%s", before ? before : "", before ? "; " : "", why);
    }
    return WW_OK;
}

/* Fails for a mechanism that changes what the model assumes. */
static enum ww_code fail_mechanism(const struct ww_mech_info *m, struct ww_error *error) {
    const char *kind = ww_mech_kind_name(m->kind);
    struct ww_buf known = {0};
    for (size_t i = 0; ww_mech_info_at(i); i++) {
        const struct ww_mech_info *other = ww_mech_info_at(i);
        if (other->kind == m->kind && other->analytic == WW_ANALYTIC_MODELLED)
            ww_buf_printf(&known, "%s%s=%s", known.n ? ", " : "", kind, other->name);
    }
    enum ww_code code = ww_fail(error, WW_UNSUPPORTED, "--mode analytic", "%s=%s is not modelled, only %s",
                                kind, m->name, known.p ? known.p : "nothing");
    ww_buf_free(&known);
    return code;
}

static enum ww_code check_mechanisms(struct run *r, struct ww_error *error) {
    for (unsigned k = 0; k < WW_KIND_COUNT; k++) {
        const struct ww_mech_info *m = r->choice[k].info;
        if (m && m->analytic == WW_ANALYTIC_REFUSED) return fail_mechanism(m, error);
        if (m && m->analytic == WW_ANALYTIC_ALIKE && !r->result->warning)
            r->result->warning = "the analytical model does not tell schedulers apart";
    }
    return WW_OK;
}

enum ww_code ww_run_analytic_check(struct ww_trace *trace, struct ww_error *error) {
    for (size_t i = 0; i < ww_trace_launch_count(trace); i++) {
        const struct ww_launch *l;
        WW_TRY(ww_trace_launch(trace, i, &l, error));
        for (uint32_t k = 0; k < l->inst_count; k++)
            if (l->inst[k].op == WW_OP_DMA)
                return ww_fail(error, WW_UNSUPPORTED, "--mode analytic", "%s: bulk transfers are not modelled",
                               l->kernel ? l->kernel : "");
    }
    return WW_OK;
}

enum ww_code ww_run_analytic(struct run *r, struct ww_error *error) {
    struct ww_model_profile profile;
    const struct ww_run_options *o = r->options;
    WW_TRY(check_mechanisms(r, error));
    if (r->flush || r->flush_sm) {
        char asked[48];
        snprintf(asked, sizeof asked, "--cache-control %s", o->cache_control);
        return ww_fail(error, WW_UNSUPPORTED, asked,
                       "the analytical model keeps caches over launches; expected --mode full or sampled");
    }
    WW_TRY(ww_run_analytic_check(r->trace, error));
    WW_TRY(ww_model_profile_of(r->trace, o->trace_path, o->progress, o->context, &profile, NULL, error));
    enum ww_code code = model_all(r, &profile, error);
    if (code == WW_OK) code = ww_run_tell_serial(r, error);
    ww_model_profile_free(&profile);
    return code;
}
