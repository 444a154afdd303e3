/* A row for each kernel and bar of the figures of suite "equalizer". The dissertation's text states none of
 * them, so they inform. */
#include "../../../api/validate.h"
#include "equalizer_int.h"
#include <math.h>
#include <stdio.h>

/* What a bar is, of a kernel's sums. */
typedef double (*bar_fn)(const struct ww_matrix *b, size_t kernel, size_t machine);

static double performance(const struct ww_matrix *b, size_t k, size_t m) {
    return ww_eq_speedup(b, k, m);
}

/* Energy of the baseline over that of the machine. */
static double efficiency(const struct ww_matrix *b, size_t k, size_t m) {
    return 1 / ww_eq_energy(b, k, m);
}

static double increase(const struct ww_matrix *b, size_t k, size_t m) {
    return 100 * (ww_eq_energy(b, k, m) - 1);
}

static double savings(const struct ww_matrix *b, size_t k, size_t m) {
    return -increase(b, k, m);
}

static double static_savings(const struct ww_matrix *b, size_t k, size_t m) {
    (void)m;
    return savings(b, k, ww_eq_static_best(b, k));
}

static double ctas_of(const struct ww_matrix *b, size_t k, size_t m) {
    return m == WW_EQ_BASE ? ww_eq_sum(b, k, m)->ctas_per_sm : (double)(m - WW_EQ_CTAS + 1);
}

static double best_ctas(const struct ww_matrix *b, size_t k, size_t m) {
    (void)m;
    return ctas_of(b, k, ww_eq_best_ctas(b, k));
}

static double best_performance(const struct ww_matrix *b, size_t k, size_t m) {
    (void)m;
    return ww_eq_speedup(b, k, ww_eq_best_ctas(b, k));
}

static double best_efficiency(const struct ww_matrix *b, size_t k, size_t m) {
    (void)m;
    return efficiency(b, k, ww_eq_best_ctas(b, k));
}

#define STATE(name, state)                                                                                     \
    static double name(const struct ww_matrix *b, size_t k, size_t m) {                                        \
        return 100 * ww_eq_state(ww_eq_sum(b, k, m)->warp_cycles, state);                                      \
    }
STATE(waiting, WW_EQ_WAITING)
STATE(x_alu, WW_EQ_X_ALU)
STATE(x_mem, WW_EQ_X_MEM)

#define CLASS(c) (1u << (c))
#define EVERY 0xfu
#define CACHE CLASS(WW_EQ_CACHE)

static const struct {
    const char *figure, *bar, *what, *unit;
    unsigned classes;
    size_t machine;
    bar_fn value;
} bars[] = {
    {"31a", "perf", "performance, SM 15 % faster", "x", EVERY, WW_EQ_SM_HIGH, performance},
    {"31a", "eff", "energy efficiency, SM 15 % faster", "x", EVERY, WW_EQ_SM_HIGH, efficiency},
    {"31b", "perf", "performance, SM 15 % slower", "x", EVERY, WW_EQ_SM_LOW, performance},
    {"31b", "eff", "energy efficiency, SM 15 % slower", "x", EVERY, WW_EQ_SM_LOW, efficiency},
    {"31c", "perf", "performance, memory 15 % faster", "x", EVERY, WW_EQ_MEM_HIGH, performance},
    {"31c", "eff", "energy efficiency, memory 15 % faster", "x", EVERY, WW_EQ_MEM_HIGH, efficiency},
    {"31d", "perf", "performance, memory 15 % slower", "x", EVERY, WW_EQ_MEM_LOW, performance},
    {"31d", "eff", "energy efficiency, memory 15 % slower", "x", EVERY, WW_EQ_MEM_LOW, efficiency},
    {"31e", "ctas", "fastest static number of CTAs", "CTA", EVERY, WW_EQ_BASE, best_ctas},
    {"31e", "perf", "performance, fastest static number of CTAs", "x", EVERY, WW_EQ_BASE, best_performance},
    {"31f", "eff", "energy efficiency, fastest static number of CTAs", "x", EVERY, WW_EQ_BASE, best_efficiency},
    {"34", "waiting", "warps that wait", "%", EVERY, WW_EQ_BASE, waiting},
    {"34", "alu", "excess warps, arithmetic", "%", EVERY, WW_EQ_BASE, x_alu},
    {"34", "mem", "excess warps, memory", "%", EVERY, WW_EQ_BASE, x_mem},
    {"37", "perf", "performance, performance mode", "x", EVERY, WW_EQ_PERFORMANCE, performance},
    {"37", "energy", "increase in energy, performance mode", "%", EVERY, WW_EQ_PERFORMANCE, increase},
    {"37", "sm-energy", "increase in energy, SM 15 % faster", "%", EVERY, WW_EQ_SM_HIGH, increase},
    {"37", "mem-energy", "increase in energy, memory 15 % faster", "%", EVERY, WW_EQ_MEM_HIGH, increase},
    {"38", "perf", "performance, energy mode", "x", EVERY, WW_EQ_ENERGY, performance},
    {"38", "savings", "energy savings, energy mode", "%", EVERY, WW_EQ_ENERGY, savings},
    {"38", "static", "energy savings, static best", "%", EVERY, WW_EQ_BASE, static_savings},
    {"310", "dyncta", "performance, DynCTA", "x", CACHE, WW_EQ_DYNCTA, performance},
    {"310", "ccws", "performance, CCWS", "x", CACHE, WW_EQ_CCWS, performance},
    {"310", "equalizer", "performance, Equalizer, performance mode", "x", CACHE, WW_EQ_PERFORMANCE,
     performance},
    {"310", "blocks", "performance, Equalizer's numbers of CTAs alone", "x", CACHE, WW_EQ_BLOCKS, performance},
};

static enum ww_code add(struct ww_validation *v, const char *figure, size_t k, const char *bar,
                        const char *what, double value, const char *unit, struct ww_error *error) {
    char id[64], text[128];
    snprintf(id, sizeof id, "eq-fig%s-%s-%s", figure, ww_eq_kernel[k].row, bar);
    snprintf(text, sizeof text, "gtx480-eq, %s: %s", ww_eq_kernel[k].row, what);
    struct ww_validate_row row = {.id = id, .what = text, .ours = value, .paper = NAN, .unit = unit, .why = ""};
    return ww_validate_add(v, &row, error);
}

/* Figure 3.5: memory-intensive kernels by the number of CTAs. */
static enum ww_code by_ctas(struct ww_validation *v, const struct ww_matrix *b, size_t k,
                            struct ww_error *error) {
    for (size_t m = WW_EQ_CTAS; m < WW_EQ_CTAS + WW_EQ_CTAS_MOST; m++) {
        char bar[32], what[64];
        double value = ww_eq_speedup(b, k, m);
        if (isnan(value) || m - WW_EQ_CTAS + 1 >= ww_eq_sum(b, k, WW_EQ_BASE)->ctas_per_sm) break;
        snprintf(bar, sizeof bar, "%zu", m - WW_EQ_CTAS + 1);
        snprintf(what, sizeof what, "performance, %zu CTAs of an SM", m - WW_EQ_CTAS + 1);
        WW_TRY(add(v, "35", k, bar, what, value, "x", error));
    }
    return WW_OK;
}

enum ww_code ww_eq_bars(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error) {
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++)
        for (size_t k = 0; k < b->kernels; k++)
            if (bars[i].classes >> ww_eq_kernel[k].class & 1)
                WW_TRY(add(v, bars[i].figure, k, bars[i].bar, bars[i].what,
                           bars[i].value(b, k, bars[i].machine), bars[i].unit, error));
    for (size_t k = 0; k < b->kernels; k++)
        if (ww_eq_kernel[k].class == WW_EQ_MEMORY) WW_TRY(by_ctas(v, b, k, error));
    return WW_OK;
}
