/* Figures 3.2, 3.9 and 3.11 of suite "equalizer": invocations of bfs-2 by the number of CTAs, time by operating
 * point, and what warps do over the time of mri-g-1 and spmv. The dissertation's text states none of these, so
 * they inform. */
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "equalizer_int.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The mean over the n-th part of a launch's cycles, of epochs by their overlap. */
static void split(const struct ww_launch_result *l, struct ww_eq_part out[WW_EQ_PARTS]) {
    for (int p = 0; p < WW_EQ_PARTS; p++) {
        double from = (double)l->cycles * p / WW_EQ_PARTS, to = (double)l->cycles * (p + 1) / WW_EQ_PARTS;
        double sum[4] = {0}, cycles = 0;
        for (size_t e = 0; e < l->epoch_count; e++) {
            const struct ww_epoch *epoch = &l->epoch[e];
            double first = (double)epoch->first_cycle, last = first + (double)epoch->cycles;
            double both = fmin(to, last) - fmax(from, first);
            if (both <= 0) continue;
            double part = both / (double)epoch->cycles;
            uint64_t unpaused = 0;
            for (int s = 0; s < WW_STATE_COUNT; s++)
                if (s != WW_S_PAUSED && s != WW_S_DONE) unpaused += epoch->warp_cycles[s];
            for (enum ww_warp_state s = WW_S_WAIT_ALU; s <= WW_S_WAIT_READ; s++)
                sum[0] += part * (double)epoch->warp_cycles[s];
            sum[1] += part * (double)epoch->warp_cycles[WW_S_EXCESS_ALU];
            sum[2] += part * (double)epoch->warp_cycles[WW_S_EXCESS_MEM];
            sum[3] += part * (double)unpaused;
            cycles += both;
        }
        double sms = cycles * WW_EQ_SMS;
        if (sms > 0) out[p] = (struct ww_eq_part){sum[0] / sms, sum[1] / sms, sum[2] / sms, sum[3] / sms};
    }
}

/* The launches of bfs's first kernel. */
static void invocations(struct ww_eq_times *t, size_t machine, const struct ww_result *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->launch_count; i++)
        if (strcmp(r->launch[i].kernel, "bfs_mask_expand") == 0 && n < WW_EQ_INVOCATIONS)
            t->invocation[machine][n++] = r->launch[i].time_ps;
    if (n) t->invocations = n;
}

static size_t kernel_of(const char *name) {
    size_t k = 0;
    while (k < WW_EQ_KERNELS && strcmp(ww_eq_kernel[k].kernel, name) != 0) k++;
    return k;
}

/* Adds the time that a launch spends at each domain's high and low point. */
static void levels(struct ww_eq_times *t, size_t machine, const struct ww_launch_result *l) {
    size_t k = kernel_of(l->kernel);
    if (k == WW_EQ_KERNELS) return;
    double *level = t->level[machine][k];
    for (size_t i = 0; i < l->point_count; i++) {
        const struct ww_vf_point *p = &l->point[i];
        double ps = (double)(i + 1 < l->point_count ? p[1].time_ps : l->time_ps) - (double)p->time_ps;
        double sm = p->mhz[WW_DOMAIN_SM] - WW_EQ_SM_MHZ, mem = p->mhz[WW_DOMAIN_DRAM] - WW_EQ_DRAM_MHZ;
        level[WW_EQ_SM_UP] += sm > 1 ? ps : 0;
        level[WW_EQ_SM_DOWN] += sm < -1 ? ps : 0;
        level[WW_EQ_MEM_UP] += mem > 1 ? ps : 0;
        level[WW_EQ_MEM_DOWN] += mem < -1 ? ps : 0;
    }
}

enum ww_code ww_eq_seen(void *context, size_t workload, size_t machine, const struct ww_result *r,
                        struct ww_error *error) {
    struct ww_eq_times *t = context;
    (void)workload;
    (void)error;
    invocations(t, machine, r);
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct ww_launch_result *l = &r->launch[i];
        levels(t, machine, l);
        if (machine == WW_EQ_BASE && strcmp(l->kernel, "mri_gridding_gather") == 0) split(l, t->mri);
        if (strcmp(l->kernel, "spmv_jds_constant") != 0) continue;
        if (machine == WW_EQ_BASE) split(l, t->spmv_base);
        if (machine == WW_EQ_BLOCKS) split(l, t->spmv);
        if (machine == WW_EQ_DYNCTA) split(l, t->dyncta);
    }
    return WW_OK;
}

static enum ww_code add(struct ww_validation *v, const char *id, const char *what, double value,
                        const char *unit, struct ww_error *error) {
    struct ww_validate_row row = {.id = id, .what = what, .ours = value, .paper = NAN, .unit = unit, .why = ""};
    return ww_validate_add(v, &row, error);
}

static uint64_t total(const struct ww_eq_times *t, size_t machine) {
    uint64_t sum = 0;
    for (size_t i = 0; i < t->invocations; i++) sum += t->invocation[machine][i];
    return sum;
}

/* Shares of the time that the most CTAs take, by invocation; "best": with the best number for each. */
static enum ww_code add_bfs(struct ww_validation *v, const struct ww_eq_times *t, struct ww_error *error) {
    static const struct {
        size_t machine;
        const char *name, *what;
    } bar[] = {{WW_EQ_CTAS, "1", "1 CTA"},
               {WW_EQ_CTAS + 1, "2", "2 CTAs"},
               {WW_EQ_BASE, "3", "3 CTAs"},
               {WW_EQ_BLOCKS, "equalizer", "Equalizer's number of CTAs"}};
    double base = (double)total(t, WW_EQ_BASE), best = 0;
    char id[64], what[128];
    for (size_t i = 0; i < t->invocations; i++) {
        double least = INFINITY;
        for (size_t n = 0; n < 4; n++) {
            double share = 100 * (double)t->invocation[bar[n].machine][i] / base;
            if (n < 3) least = fmin(least, share);
            snprintf(id, sizeof id, "eq-fig%s-bfs-2-%02zu-%s", n < 3 ? "32a" : "311a", i + 1, bar[n].name);
            snprintf(what, sizeof what, "gtx480-eq, bfs-2: time of invocation %zu, %s", i + 1, bar[n].what);
            WW_TRY(add(v, id, what, share, "%", error));
        }
        best += least;
    }
    WW_TRY(add(v, "eq-fig32a-bfs-2-best", "gtx480-eq, bfs-2: time with the best number for each invocation",
               best, "%", error));
    return add(v, "eq-fig311a-bfs-2-equalizer", "gtx480-eq, bfs-2: time with Equalizer's number of CTAs",
               100 * (double)total(t, WW_EQ_BLOCKS) / base, "%", error);
}

static enum ww_code add_parts(struct ww_validation *v, const char *figure, const char *row, const char *under,
                              const struct ww_eq_part part[WW_EQ_PARTS], struct ww_error *error) {
    static const char *const name[] = {"waiting", "alu", "mem", "unpaused"};
    char id[64], what[128];
    for (int p = 0; p < WW_EQ_PARTS; p++) {
        const double value[] = {part[p].waiting, part[p].alu, part[p].mem, part[p].unpaused};
        for (int n = 0; n < 4; n++) {
            snprintf(id, sizeof id, "eq-fig%s-%s-%s-%02d-%s", figure, row, under, p + 1, name[n]);
            snprintf(what, sizeof what, "gtx480-eq, %s, %s: %s warps, part %d of %d of the time", row, under,
                     name[n], p + 1, WW_EQ_PARTS);
            WW_TRY(add(v, id, what, value[n], "warp", error));
        }
    }
    return WW_OK;
}

/* Figure 3.9: what share of the time a domain is at its high (P) or low (E) point. */
static enum ww_code add_levels(struct ww_validation *v, const struct ww_matrix *b, const struct ww_eq_times *t,
                               struct ww_error *error) {
    static const struct {
        size_t machine;
        enum ww_eq_level level;
        const char *name, *what;
    } bar[] = {{WW_EQ_PERFORMANCE, WW_EQ_SM_UP, "P-sm", "performance mode: time with fast SMs"},
               {WW_EQ_PERFORMANCE, WW_EQ_MEM_UP, "P-mem", "performance mode: time with fast memory"},
               {WW_EQ_ENERGY, WW_EQ_SM_DOWN, "E-sm", "energy mode: time with slow SMs"},
               {WW_EQ_ENERGY, WW_EQ_MEM_DOWN, "E-mem", "energy mode: time with slow memory"}};
    char id[64], what[128];
    for (size_t k = 0; k < b->kernels; k++)
        for (size_t n = 0; n < sizeof bar / sizeof bar[0]; n++) {
            double all = (double)ww_eq_sum(b, k, bar[n].machine)->time_ps;
            snprintf(id, sizeof id, "eq-fig39-%s-%s", ww_eq_kernel[k].row, bar[n].name);
            snprintf(what, sizeof what, "gtx480-eq, %s, %s", ww_eq_kernel[k].row, bar[n].what);
            WW_TRY(add(v, id, what, 100 * t->level[bar[n].machine][k][bar[n].level] / all, "%", error));
        }
    return WW_OK;
}

enum ww_code ww_eq_time_rows(struct ww_validation *v, const struct ww_matrix *b, const struct ww_eq_times *t,
                             struct ww_error *error) {
    WW_TRY(add_levels(v, b, t, error));
    WW_TRY(add_bfs(v, t, error));
    WW_TRY(add_parts(v, "32b", "mri-g-1", "base", t->mri, error));
    WW_TRY(add_parts(v, "311b", "spmv", "base", t->spmv_base, error));
    WW_TRY(add_parts(v, "311b", "spmv", "equalizer", t->spmv, error));
    return add_parts(v, "311b", "spmv", "dyncta", t->dyncta, error);
}
