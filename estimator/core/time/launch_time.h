/* launch_time.h: what a launch takes in addition to its CTAs, in SM cycles and in time.
 *
 *   alone    latency | front cycles | CTAs ... last write | end cycles |
 *   queued   launch before ... end cycles |
 *                      front cycles | CTAs ...             front cycles that are hidden take no time here
 *
 * Active cycles are those of a launch that stands alone, as profilers count them. A launch that is queued
 * behind another one is processed while that one runs: its first CTA comes launch.queued_us after the other's
 * end, and launch.stream_us later if no graph brings them. */
#ifndef WW_CORE_LAUNCH_TIME_H
#define WW_CORE_LAUNCH_TIME_H

#include "../../config/gpu.h"

struct ww_launch_time {
    uint64_t front, end; /* SM cycles: launch.front_cycles, launch.end_cycles */
    uint64_t latency_ps,
        hidden_ps; /* time that is no active cycle's, and front cycles' that is the launch's before */
};

/* Makes launches take nothing but their CTAs. */
static inline void ww_launch_none(struct ww_gpu_spec *g) {
    g->launch_front_cycles = g->launch_end_cycles = 0;
    g->launch_overhead_us = 0;
    g->launch_queued_us = -1;
}

static inline void ww_launch_time_begin(struct ww_launch_time *t, const struct ww_gpu_spec *g, bool queued) {
    double front_us = g->launch_front_cycles / g->clock_sm_mhz, us = g->launch_overhead_us;
    if (queued && g->launch_queued_us >= 0) us = g->launch_queued_us + g->launch_stream_us - front_us;
    *t = (struct ww_launch_time){.front = g->launch_front_cycles, .end = g->launch_end_cycles};
    if (us >= 0)
        t->latency_ps = (uint64_t)(us * 1e6 + 0.5);
    else
        t->hidden_ps = (uint64_t)(-us * 1e6 + 0.5);
}

/* How long a launch takes whose active cycles are all at the GPU's clock. */
static inline uint64_t ww_launch_ps(const struct ww_launch_time *t, const struct ww_gpu_spec *g,
                                    double cycles) {
    double ps = cycles / g->clock_sm_mhz * 1e6 + (double)t->latency_ps - (double)t->hidden_ps;
    return ps > 0 ? (uint64_t)(ps + 0.5) : 0;
}

/* The part of the hidden time that lies in cycles [from, to). */
static inline uint64_t ww_launch_hidden(const struct ww_launch_time *t, uint64_t from, uint64_t to) {
    if (!t->hidden_ps || from >= t->front) return 0;
    if (to > t->front) to = t->front;
    return t->hidden_ps * to / t->front - t->hidden_ps * from / t->front;
}

#endif
