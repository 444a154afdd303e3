/* Clocks, launches, pipelines, barriers: as measured. */
#include "../../result/measured.h"
#include "derive.h"
#include <math.h>
#include <string.h>

static const struct ww_measured_figure *micro(const struct ww_derivation *d, const char *method,
                                              const char *parameters) {
    return ww_measured_find(d->measured, "micro", method, parameters);
}

/* A property that the driver states, in the form of a figure. */
static struct ww_measured_figure property(const char *name, const char *unit, double v) {
    return (struct ww_measured_figure){"micro", "property", name, unit, v, v, v, 1};
}

/* Transfers a second over the bus's width: the driver's clock is half of the transfers'. */
static enum ww_code memory_clock(struct ww_derivation *d) {
    const struct ww_measured *m = d->measured;
    double channels, bits, rate, mhz;
    if (!m->memory_clock_khz || !m->memory_bus_bits) return WW_OK;
    WW_TRY(ww_derive_param(d, "dram.channels", &channels));
    WW_TRY(ww_derive_param(d, "dram.bus_bits", &bits));
    WW_TRY(ww_derive_param(d, "dram.data_rate", &rate));
    WW_TRY(ww_derive_param(d, "clock.dram_mhz", &mhz));
    double peak = 2e3 * (double)m->memory_clock_khz * (double)m->memory_bus_bits; /* bits a second */
    double derived = peak / (channels * bits * rate) * 1e-6;
    struct ww_measured_figure f = property("memory_clock_khz", "kHz", (double)m->memory_clock_khz);
    if (fabs(derived - mhz) < 0.005 * mhz) return WW_OK;
    return ww_derive_set(d, "clock.dram_mhz", derived, true, &f,
                         "twice that over the bus's width, by the model's channels and transfers a cycle");
}

enum ww_code ww_derive_board(struct ww_derivation *d) {
    const struct ww_measured_figure *f;
    double sms;
    WW_TRY(ww_derive_param(d, "sm.count", &sms));
    if (d->measured->sms && d->measured->sms != (uint32_t)sms) {
        struct ww_measured_figure p = property("sms", "SM", d->measured->sms);
        WW_TRY(ww_derive_set(d, "sm.count", d->measured->sms, false, &p, "as the driver has it"));
    }
    if ((f = micro(d, "clock", "domain=sm")))
        WW_TRY(ww_derive_set(d, "clock.sm_mhz", f->median, true, f,
                             "cycles of a busy SM against the GPU's timer"));
    WW_TRY(memory_clock(d));
    if ((f = micro(d, "launch", "kind=empty ctas=1 block=32"))) {
        double active = 0, mhz = 0, part;
        const char *const cycles[] = {"launch.front_cycles", "launch.end_cycles", "launch.cta_cycles"};
        for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++) {
            WW_TRY(ww_derive_param(d, cycles[i], &part));
            active += part;
        }
        WW_TRY(ww_derive_param(d, "clock.sm_mhz", &mhz));
        double us = f->median * 1e6 - active / mhz;
        WW_TRY(ww_derive_set(d, "launch.overhead_us", us > 0 ? us : 0, true, f,
                             "what events around a kernel that does nothing measure, less the model's active "
                             "cycles of such a launch"));
    }
    return WW_OK;
}

/* ---- instructions ---- */

static const struct {
    const char *op, *pipe;
} classes[] = {{"iadd", "int"},   {"imad", "imul"}, {"ffma", "fp32"},
               {"hfma2", "fp16"}, {"dfma", "fp64"}, {"ex2", "sfu"}};

/* The power of two that is near, or 0. */
static double power_of_two(double v) {
    double p = exp2(round(log2(v)));
    return fabs(v - p) <= 0.15 * p ? p : 0;
}

static enum ww_code pipe_latency(struct ww_derivation *d, const char *op, const char *key) {
    char parameters[64];
    double added;
    snprintf(parameters, sizeof parameters, "op=%s", op);
    const struct ww_measured_figure *f = micro(d, "latency", parameters);
    if (!f) return WW_OK;
    WW_TRY(ww_derive_param(d, "front.dependent_issue", &added));
    if (f->median - added < 1) return WW_OK;
    return ww_derive_set(d, key, f->median - added, false, f, added > 0 ? "less front.dependent_issue" : "");
}

/* Lanes of an instance, where the rate is clear: a power of two over all instances, and whole lanes of each. */
static enum ww_code pipe_lanes(struct ww_derivation *d, const char *op, const char *key,
                               const char *count_key) {
    char parameters[64];
    double count;
    snprintf(parameters, sizeof parameters, "op=%s", op);
    const struct ww_measured_figure *f = micro(d, "throughput", parameters);
    if (!f || !(f->median > 0)) return WW_OK;
    WW_TRY(ww_derive_param(d, count_key, &count));
    double all = power_of_two(f->median), lanes = count > 0 ? all / count : 0;
    if (lanes < 1 || lanes > 64 || lanes != floor(lanes)) return WW_OK;
    return ww_derive_set(d, key, lanes, false, f, "the near power of two over the SM's instances");
}

enum ww_code ww_derive_instructions(struct ww_derivation *d) {
    /* keys must outlive the derivation: one of each class */
    static const char *const latency[] = {"pipe.int.latency",  "pipe.imul.latency", "pipe.fp32.latency",
                                          "pipe.fp16.latency", "pipe.fp64.latency", "pipe.sfu.latency"};
    static const char *const lanes[] = {"pipe.int.lanes",  "pipe.imul.lanes", "pipe.fp32.lanes",
                                        "pipe.fp16.lanes", "pipe.fp64.lanes", "pipe.sfu.lanes"};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        char count[64];
        snprintf(count, sizeof count, "pipe.%s.count", classes[i].pipe);
        WW_TRY(pipe_latency(d, classes[i].op, latency[i]));
        WW_TRY(pipe_lanes(d, classes[i].op, lanes[i], count));
    }
    const struct ww_measured_figure *f = micro(d, "barrier", "threads=32");
    if (f && f->median >= 1)
        WW_TRY(ww_derive_set(d, "front.barrier_cycles", f->median, false, f, "a CTA of one warp"));
    return WW_OK;
}
