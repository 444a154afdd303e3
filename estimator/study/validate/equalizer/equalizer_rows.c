/* The rows of targets.csv that suite "equalizer" measures, and what figures are of its sums. */
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "equalizer_int.h"
#include <math.h>
#include <string.h>

double ww_eq_speedup(const struct ww_matrix *b, size_t k, size_t m) {
    const struct ww_matrix_sum *base = ww_eq_sum(b, k, WW_EQ_BASE), *s = ww_eq_sum(b, k, m);
    return s->time_ps ? (double)base->time_ps / (double)s->time_ps : NAN;
}

double ww_eq_energy(const struct ww_matrix *b, size_t k, size_t m) {
    const struct ww_matrix_sum *base = ww_eq_sum(b, k, WW_EQ_BASE), *s = ww_eq_sum(b, k, m);
    return s->time_ps ? s->total_j / base->total_j : NAN;
}

size_t ww_eq_best_ctas(const struct ww_matrix *b, size_t k) {
    size_t best = WW_EQ_BASE;
    for (size_t m = WW_EQ_CTAS; m < WW_EQ_CTAS + WW_EQ_CTAS_MOST; m++)
        if (ww_eq_speedup(b, k, m) > ww_eq_speedup(b, k, best)) best = m;
    return best;
}

size_t ww_eq_static_best(const struct ww_matrix *b, size_t k) {
    static const size_t slow[] = {WW_EQ_SM_LOW, WW_EQ_MEM_LOW};
    size_t best = WW_EQ_BASE;
    for (size_t i = 0; i < 2; i++)
        if (ww_eq_speedup(b, k, slow[i]) >= 0.95 && ww_eq_energy(b, k, slow[i]) < ww_eq_energy(b, k, best))
            best = slow[i];
    return best;
}

double ww_eq_state(const uint64_t w[WW_STATE_COUNT], enum ww_eq_state state) {
    static const enum ww_warp_state waits[] = {
        WW_S_WAIT_ALU, WW_S_WAIT_SFU,  WW_S_WAIT_SHARED, WW_S_WAIT_CONST, WW_S_WAIT_L1,
        WW_S_WAIT_L2,  WW_S_WAIT_DRAM, WW_S_WAIT_TLB,    WW_S_WAIT_STALL, WW_S_WAIT_READ};
    uint64_t waiting = 0;
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) waiting += w[waits[i]];
    const uint64_t part[] = {[WW_EQ_WAITING] = waiting,
                             [WW_EQ_ISSUED] = w[WW_S_ISSUED],
                             [WW_EQ_X_ALU] = w[WW_S_EXCESS_ALU],
                             [WW_EQ_X_MEM] = w[WW_S_EXCESS_MEM]};
    uint64_t all = part[0] + part[1] + part[2] + part[3];
    return all ? (double)part[state] / (double)all : 0;
}

/* ---- averages ---- */

#define CLASS(c) (1u << (c))
#define EVERY 0xfu
#define NO_KERNEL WW_EQ_KERNELS /* a row of classes, not of one kernel */

/* The geometric mean of a ratio over the classes' kernels, less one, in per cent. */
static double mean(const struct ww_matrix *b, size_t machine, unsigned classes,
                   double (*of)(const struct ww_matrix *, size_t, size_t)) {
    double sum = 0, n = 0;
    for (size_t k = 0; k < b->kernels; k++) {
        if (!(classes >> ww_eq_kernel[k].class & 1)) continue;
        sum += log(of(b, k, machine));
        n++;
    }
    return 100 * (exp(sum / n) - 1);
}

static double static_best(const struct ww_matrix *b) {
    double sum = 0;
    for (size_t k = 0; k < b->kernels; k++) sum += log(ww_eq_energy(b, k, ww_eq_static_best(b, k)));
    return 100 * (exp(sum / (double)b->kernels) - 1);
}

static double largest(const struct ww_matrix *b, size_t machine, unsigned classes, size_t *kernel) {
    double most = 0;
    for (size_t k = 0; k < b->kernels; k++)
        if ((classes >> ww_eq_kernel[k].class & 1) && ww_eq_speedup(b, k, machine) > most) {
            most = ww_eq_speedup(b, k, machine);
            *kernel = k;
        }
    return 100 * (most - 1);
}

static const char *const why_few =
    "kmn alone gains much from fewer CTAs here, and Equalizer goes to and fro between one and two of them; see "
    "docs/studies/validation.md";
static const char *const why_wait = "histo-2, pathfinder and mri-g-3 wait for memory on these inputs and lose "
                                    "5 to 15 %; the other compute kernels "
                                    "lose nothing; see docs/studies/validation.md";
static const char *const why_unsat =
    "mri-g-2, mri-g-3, pathfinder, sc and stncl wait for memory on these inputs and follow its clock, too";
static const char *const why_bound = "kernels that the DRAM bounds lose nothing to slower SMs here";
static const char *const why_static =
    "memory that has no requests draws little here, so that its clock costs and saves little";
static const char *const why_kmn = "kmn under fewer warps; the published figure reads as the mean of the "
                                   "cache-sensitive kernels (docs/studies/validation.md)";

static const struct {
    const char *id;
    size_t machine;
    unsigned classes;
    bool energy;
    const char *const *why;
} averages[] = {
    {"eq-p", WW_EQ_PERFORMANCE, EVERY, false, NULL},
    {"eq-p-energy", WW_EQ_PERFORMANCE, EVERY, true, NULL},
    {"eq-p-compute", WW_EQ_PERFORMANCE, CLASS(WW_EQ_COMPUTE), false, NULL},
    {"eq-p-compute-energy", WW_EQ_PERFORMANCE, CLASS(WW_EQ_COMPUTE), true, NULL},
    {"eq-p-memory", WW_EQ_PERFORMANCE, CLASS(WW_EQ_MEMORY), false, NULL},
    {"eq-p-memory-energy", WW_EQ_PERFORMANCE, CLASS(WW_EQ_MEMORY), true, &why_static},
    {"eq-p-cache", WW_EQ_PERFORMANCE, CLASS(WW_EQ_CACHE), false, &why_few},
    {"eq-p-cache-energy", WW_EQ_PERFORMANCE, CLASS(WW_EQ_CACHE), true, &why_few},
    {"eq-sm-high", WW_EQ_SM_HIGH, EVERY, false, NULL},
    {"eq-sm-high-energy", WW_EQ_SM_HIGH, EVERY, true, NULL},
    {"eq-mem-high", WW_EQ_MEM_HIGH, EVERY, false, &why_unsat},
    {"eq-mem-high-energy", WW_EQ_MEM_HIGH, EVERY, true, &why_static},
    {"eq-e", WW_EQ_ENERGY, EVERY, false, &why_few},
    {"eq-e-energy", WW_EQ_ENERGY, EVERY, true, &why_few},
    {"eq-e-compute", WW_EQ_ENERGY, CLASS(WW_EQ_COMPUTE), false, &why_wait},
    {"eq-e-compute-energy", WW_EQ_ENERGY, CLASS(WW_EQ_COMPUTE), true, &why_static},
    {"eq-e-memory", WW_EQ_ENERGY, CLASS(WW_EQ_MEMORY), false, &why_bound},
    {"eq-e-memory-energy", WW_EQ_ENERGY, CLASS(WW_EQ_MEMORY), true, NULL},
    {"eq-e-cache", WW_EQ_ENERGY, CLASS(WW_EQ_CACHE), false, &why_few},
    {"eq-e-cache-energy", WW_EQ_ENERGY, CLASS(WW_EQ_CACHE), true, &why_few},
    {"eq-e-unsat", WW_EQ_ENERGY, CLASS(WW_EQ_UNSATURATED), false, NULL},
    {"eq-e-unsat-energy", WW_EQ_ENERGY, CLASS(WW_EQ_UNSATURATED), true, NULL},
    {"eq-sm-low", WW_EQ_SM_LOW, EVERY, false, NULL},
    {"eq-mem-low", WW_EQ_MEM_LOW, EVERY, false, &why_unsat},
};

/* A third of the published gain, but no closer than 2 points. */
static enum ww_code add(struct ww_validation *v, const char *id, double ours, const char *why,
                        struct ww_error *error) {
    const struct ww_target *target = ww_target_find(v, id);
    double third = target ? fabs(target->value) / 3 : 0;
    return ww_validate_add_number(v, id, ours, WW_VALIDATE_ABSOLUTE, third > 2 ? third : 2, why, error);
}

static size_t kernel_named(const char *row) {
    for (size_t k = 0; k < WW_EQ_KERNELS; k++)
        if (strcmp(ww_eq_kernel[k].row, row) == 0) return k;
    return NO_KERNEL;
}

/* ---- what the text says in words ---- */

static const char *const class_name[WW_EQ_CLASSES] = {"compute", "memory", "cache", "unsaturated"};

/* The median of a share over a class's kernels. */
static double median(const struct ww_matrix *b, enum ww_eq_class class, enum ww_eq_state state) {
    double list[WW_EQ_KERNELS];
    size_t n = 0;
    for (size_t k = 0; k < b->kernels; k++) {
        if (ww_eq_kernel[k].class != class) continue;
        double share = ww_eq_state(ww_eq_sum(b, k, WW_EQ_BASE)->warp_cycles, state);
        size_t at = n++;
        for (; at && list[at - 1] > share; at--) list[at] = list[at - 1];
        list[at] = share;
    }
    return n ? (list[(n - 1) / 2] + list[n / 2]) / 2 : 0;
}

/* The classes in falling order of a figure, of those in `classes`. */
static void ranking(const double figure[WW_EQ_CLASSES], unsigned classes, char *out, size_t size) {
    out[0] = 0;
    for (unsigned left = classes; left;) {
        int most = -1;
        for (int c = 0; c < WW_EQ_CLASSES; c++)
            if ((left >> c & 1) && (most < 0 || figure[c] > figure[most])) most = c;
        size_t n = strlen(out);
        snprintf(out + n, size - n, "%s%s", n ? " > " : "", class_name[most]);
        left &= ~CLASS(most);
    }
}

static enum ww_code add_words(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error) {
    double alu[WW_EQ_CLASSES], mem[WW_EQ_CLASSES], fast[WW_EQ_CLASSES], saved[WW_EQ_CLASSES];
    char text[128];
    for (int c = 0; c < WW_EQ_CLASSES; c++) {
        alu[c] = median(b, (enum ww_eq_class)c, WW_EQ_X_ALU);
        mem[c] = median(b, (enum ww_eq_class)c, WW_EQ_X_MEM);
        fast[c] = mean(b, WW_EQ_PERFORMANCE, CLASS(c), ww_eq_speedup);
        saved[c] = -mean(b, WW_EQ_ENERGY, CLASS(c), ww_eq_energy);
    }
    ranking(alu, EVERY, text, sizeof text);
    *strchr(text, ' ') = 0; /* the first alone */
    WW_TRY(ww_validate_add_text(v, "eq-fig34-alu", text, "", error));
    bool both = fmin(mem[WW_EQ_MEMORY], mem[WW_EQ_CACHE]) > fmax(mem[WW_EQ_COMPUTE], mem[WW_EQ_UNSATURATED]);
    WW_TRY(ww_validate_add_text(v, "eq-fig34-mem", both ? "memory and cache" : "others", "", error));
    ranking(fast, CLASS(WW_EQ_COMPUTE) | CLASS(WW_EQ_MEMORY) | CLASS(WW_EQ_CACHE), text, sizeof text);
    WW_TRY(ww_validate_add_text(
        v, "eq-p-ranking", text,
        "memory and compute are published 1.4 points apart, and have changed places here", error));
    ranking(saved, EVERY, text, sizeof text);
    return ww_validate_add_text(v, "eq-e-ranking", text, "", error);
}

enum ww_code ww_eq_averages(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error) {
    size_t kmn = kernel_named("kmn"), most = 0;
    for (size_t i = 0; i < sizeof averages / sizeof averages[0]; i++)
        WW_TRY(add(v, averages[i].id,
                   mean(b, averages[i].machine, averages[i].classes,
                        averages[i].energy ? ww_eq_energy : ww_eq_speedup),
                   averages[i].why ? *averages[i].why : "", error));
    WW_TRY(add(v, "eq-p-kmn", 100 * (ww_eq_speedup(b, kmn, WW_EQ_PERFORMANCE) - 1), why_few, error));
    WW_TRY(add(v, "eq-p-kmn-energy", 100 * (ww_eq_energy(b, kmn, WW_EQ_PERFORMANCE) - 1), why_few, error));
    WW_TRY(add(v, "eq-static-best-energy", static_best(b), "", error));
    WW_TRY(add(v, "eq-dyncta", largest(b, WW_EQ_DYNCTA, CLASS(WW_EQ_CACHE), &most), why_kmn, error));
    WW_TRY(add(v, "eq-ccws", largest(b, WW_EQ_CCWS, CLASS(WW_EQ_CACHE), &most), why_kmn, error));
    largest(b, WW_EQ_PERFORMANCE, EVERY, &most);
    WW_TRY(ww_validate_add_text(v, "eq-p-most", ww_eq_kernel[most].row, "", error));
    return add_words(v, b, error);
}
