/* energy.c: from counters, cycles and time to joules by component. */
#include "../estimator/result/result.h"
#include "power_table.h"
#include <string.h>

/* A unit counts as used by a kernel if at least this share of its lane operations went there. The source's
 * categories are per sample of 500 cycles; over a whole launch a single operation must not move a kernel into
 * another category. */
#define USED_SHARE 0.01

static double lane_share(const struct ww_launch_result *l) {
    uint64_t issued = l->counter[WW_C_INST_ISSUED];
    if (issued == 0) return 0;
    return (double)l->counter[WW_C_THREAD_INST] / (32.0 * (double)issued);
}

/* A time of a launch at one operating point, with what is known of the launch as a whole. */
struct stretch {
    const uint64_t *counter;
    double seconds, active_sm_s; /* active_sm_s: summed over SMs */
    double lane_share;           /* of the launch */
    uint32_t units;              /* that the launch uses, POWER_USES_* */
};

static void add_events(const struct ww_power *p, const struct power_point *point, const struct stretch *l,
                       struct ww_energy *out) {
    for (size_t i = 0; i < p->event_count; i++) {
        const struct power_event *e = &p->event[i];
        uint64_t less = e->less == e->counter ? 0 : l->counter[e->less];
        double joules = e->joules * (double)(l->counter[e->counter] - less) * point->dynamic[e->to];
        out->dynamic_j[e->to] += e->by_lanes ? joules * l->lane_share : joules;
    }
}

static uint32_t units_used(const struct ww_launch_result *l) {
    const uint64_t *c = l->counter;
    double of[6] = {(double)(c[WW_C_LANE_INT] + c[WW_C_LANE_IMUL]),
                    (double)(c[WW_C_LANE_FP32] + c[WW_C_LANE_FP16]),
                    (double)c[WW_C_LANE_FP64],
                    (double)(c[WW_C_LANE_SFU] - c[WW_C_LANE_CVT_FP] - c[WW_C_LANE_CVT_INT]),
                    (double)c[WW_C_LANE_TENSOR],
                    32.0 * (double)c[WW_C_MEM_INST_TEX]};
    double all = 0;
    uint32_t mask = 0;
    for (int u = 0; u < 6; u++) all += of[u];
    for (int u = 0; u < 6; u++)
        if (of[u] > 0 && of[u] >= USED_SHARE * all) mask |= 1u << u;
    return mask;
}

static const struct power_lane *lane_category(const struct ww_power *p, uint32_t mask) {
    const struct power_lane *fallback = NULL;
    for (size_t i = 0; i < p->lane_count; i++) {
        if (p->lane[i].mask == mask) return &p->lane[i];
        if (p->lane[i].mask == 0) fallback = &p->lane[i];
    }
    return fallback;
}

/* AccelWattch's divergence model: base + (lanes - 1) x add, shared out over the SMs that are active. */
static void add_lane_model(const struct ww_power *p, const struct power_point *point, const struct stretch *l,
                           double sms, struct ww_energy *out) {
    if (p->lane_count == 0) return;
    const struct power_lane *c = lane_category(p, l->units);
    double lanes = 32.0 * l->lane_share;
    double watts = c->first_lane + (lanes > 1 ? (lanes - 1) * c->add_lane : 0);
    out->static_j[c->to] += watts * l->active_sm_s / sms * point->leakage[c->to];
}

static double follow(const struct power_point *point, const struct power_static *s) {
    return s->kind == POWER_LEAKAGE   ? point->leakage[s->to]
           : s->kind == POWER_CLOCK   ? point->clock[s->to]
           : s->kind == POWER_STANDBY ? point->standby[s->to]
                                      : 1;
}

/* Of the time in which SMs have CTAs, that in which they issue nothing: their clocks run all the same. Issued
 * instructions bring the energy of their cycle with them. */
static double stalled_sm_s(const struct ww_gpu_spec *gpu, const struct stretch *l) {
    double interval = gpu->front_issue_interval > 0 ? gpu->front_issue_interval : 1;
    double most = l->active_sm_s * gpu->clock_sm_mhz * 1e6 * gpu->sm_schedulers / interval;
    double busy = most > 0 ? (double)l->counter[WW_C_INST_ISSUED] / most : 0;
    return busy < 1 ? l->active_sm_s * (1 - busy) : 0;
}

/* Seconds for which a row's watts flow, times the number of what draws them. An idle SM whose clock stops saves
 * its clock tree; one whose supply is off saves its leakage too, both its own row and its part of the chip's.
 */
static double drawn(const struct power_static *s, const struct ww_gpu_spec *gpu, double seconds,
                    double active_sm_s) {
    double sms = (double)gpu->sm_count, engines = (double)gpu->dma_engines;
    uint32_t idle = gpu->power_idle_sm;
    double idle_sm_s = sms * seconds > active_sm_s ? sms * seconds - active_sm_s : 0;
    bool leaks = s->kind == POWER_LEAKAGE;
    bool saved =
        (idle != WW_IDLE_SM_TABLE && s->kind == POWER_CLOCK) || (idle == WW_IDLE_SM_POWER_GATED && leaks);
    if (s->per == POWER_PER_ACTIVE_SM) return active_sm_s;
    if (s->per == POWER_PER_DMA_ENGINE) return engines * (saved ? active_sm_s : sms * seconds);
    if (s->per == POWER_PER_IDLE_SM) return saved ? 0 : idle_sm_s;
    bool of_sms = ww_power_domain_of(s->to) == POWER_DOMAIN_SM;
    return saved && of_sms && sms > 0 ? seconds - idle_sm_s / sms : seconds;
}

/* Watts of a row in an SM of this size. */
static double watts(const struct power_static *s, const struct ww_gpu_spec *gpu) {
    if (s->scales == POWER_SCALES_REGISTERS) return s->value * (double)gpu->sm_registers / s->at;
    if (s->scales == POWER_SCALES_WARPS) return s->value * (double)gpu->sm_max_warps / s->at;
    return s->value;
}

/* Adds the energy of a stretch. */
static void add_stretch(const struct ww_power *power, const struct ww_gpu_spec *gpu,
                        const struct power_point *point, const struct stretch *l, struct ww_energy *out) {
    double sms = (double)gpu->sm_count;
    struct ww_energy own = {.known = true};
    add_events(power, point, l, &own);
    for (size_t i = 0; i < power->steady_count; i++) {
        const struct power_static *s = &power->steady[i];
        double over =
            s->per == POWER_PER_STALLED_SM ? stalled_sm_s(gpu, l) : drawn(s, gpu, l->seconds, l->active_sm_s);
        own.static_j[s->to] += watts(s, gpu) * over * follow(point, s);
    }
    add_lane_model(power, point, l, sms, &own);
    ww_power_add_structures(power, gpu, point, l->counter, l->seconds, &own);
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
        out->dynamic_j[c] += own.dynamic_j[c];
        out->static_j[c] += own.static_j[c];
    }
}

static void add_up(struct ww_energy *e) {
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) e->total_j += e->dynamic_j[c] + e->static_j[c];
}

/* The launch overhead has no cycles; its SMs are idle. */
void ww_power_launch(const struct ww_power *power, const struct ww_gpu_spec *gpu,
                     const struct ww_launch_result *launch, struct ww_energy *out) {
    struct stretch l = {.counter = launch->counter,
                        .seconds = (double)(launch->time_ps - launch->shared_ps) * 1e-12,
                        .active_sm_s =
                            (double)(launch->counter[WW_C_SM_ACTIVE_CYCLES] - launch->shared_active) /
                            (gpu->clock_sm_mhz * 1e6),
                        .lane_share = lane_share(launch),
                        .units = units_used(launch)};
    struct power_point point;
    *out = (struct ww_energy){.known = true};
    ww_power_point_of(power, gpu, &point);
    add_stretch(power, gpu, &point, &l, out);
    add_up(out);
}

/* The GPU at a segment's clocks. */
static void set_point(struct ww_gpu_spec *gpu, const struct ww_segment *segment) {
    gpu->clock_sm_mhz = segment->mhz[WW_DOMAIN_SM];
    gpu->clock_l2_mhz = segment->mhz[WW_DOMAIN_L2];
    gpu->clock_dram_mhz = segment->mhz[WW_DOMAIN_DRAM];
}

static uint64_t segments_ps(const struct ww_segment *segment, size_t count) {
    uint64_t ps = 0;
    for (size_t i = 0; i < count; i++) ps += segment[i].time_ps;
    return ps;
}

/* Number of the epoch that a segment lies in. */
static size_t epoch_of(const struct ww_launch_result *launch, const struct ww_segment *segment) {
    size_t i = launch->epoch_count > 1 ? (size_t)(segment->first_cycle / launch->epoch[1].first_cycle) : 0;
    return i < launch->epoch_count ? i : launch->epoch_count - 1;
}

void ww_power_segments(const struct ww_power *power, const struct ww_gpu_spec *gpu,
                       const struct ww_launch_result *launch, const struct ww_segment *segment, size_t count,
                       struct ww_epoch_energy *epoch, struct ww_energy *out) {
    struct ww_gpu_spec at = *gpu;
    struct power_point point;
    uint64_t overhead = launch->time_ps - segments_ps(segment, count);
    *out = (struct ww_energy){.known = true};
    for (size_t i = 0; i < count; i++) {
        const struct ww_segment *p = &segment[i];
        struct ww_energy own = {.known = true};
        if (i == 0 || memcmp(p->mhz, segment[i - 1].mhz, sizeof p->mhz) != 0) {
            set_point(&at, p);
            ww_power_point_of(power, &at, &point);
        }
        struct stretch l = {.counter = p->counter,
                            .seconds = (double)(p->time_ps + (i ? 0 : overhead)) * 1e-12,
                            .active_sm_s = (double)p->counter[WW_C_SM_ACTIVE_CYCLES] / (at.clock_sm_mhz * 1e6),
                            .lane_share = lane_share(launch),
                            .units = units_used(launch)};
        add_stretch(power, &at, &point, &l, &own);
        struct ww_epoch_energy *e = &epoch[epoch_of(launch, p)];
        for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
            e->dynamic_j[c] += own.dynamic_j[c];
            e->static_j[c] += own.static_j[c];
        }
    }
    for (size_t i = 0; i < launch->epoch_count; i++)
        for (int c = 0; c < WW_COMPONENT_COUNT; c++) {
            out->dynamic_j[c] += epoch[i].dynamic_j[c];
            out->static_j[c] += epoch[i].static_j[c];
        }
    add_up(out);
}
