/* Suite "elastic": C. Gou, G. N. Gaydadjiev, "Elastic Pipeline: Addressing GPU On-chip Shared Memory Bank
 * Conflicts", CF 2011. Table 4's kernels on elastic-16 with each organisation of the pipeline, and the padded
 * versions of those that have one. docs/studies/validation.md says how they compare. */
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../../../mech/pipe/pipe.h"
#include "../../../mech/pipe/pipe_history.h"
#include "elastic_int.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHORT "elements=short"
#define INVERSE "direction=inverse"
#define PADDED "tile=padded"

/* Of a thread of the short transforms: the most with which a core has table 4's 7 CTAs; as compiled they
 * take 23. */
#define SHORT_REGISTERS 18

static const struct ww_matrix_workload workloads[] = {
    {"aes", {"direction=encrypt"}, 0, NULL},
    {"aes", {"direction=decrypt"}, 0, NULL},
    {"reduction", {"variant=strided", "per_thread=1", "n=4194304"}, 0, "0"},
    {"transpose", {"variant=square", "rows=256", "cols=256"}, 0, NULL},
    {"dct", {NULL}, 0, NULL},
    {"dct", {INVERSE}, 0, NULL},
    {"dct", {SHORT}, SHORT_REGISTERS, NULL},
    {"dct", {SHORT, INVERSE}, SHORT_REGISTERS, NULL},
    {"transpose", {"variant=square_padded", "rows=256", "cols=256"}, 0, NULL},
    {"dct", {PADDED}, 0, NULL},
    {"dct", {INVERSE, PADDED}, 0, NULL},
    {"dct", {SHORT, PADDED}, SHORT_REGISTERS, NULL},
    {"dct", {SHORT, INVERSE, PADDED}, SHORT_REGISTERS, NULL},
};

const struct ww_elastic_kernel ww_elastic_kernel[WW_ELASTIC_KERNELS] = {
    {"aes_encrypt_256", "aes_e", 257 * 256},
    {"aes_decrypt_256", "aes_d", 257 * 256},
    {"reduction_strided", "reduction", 16384 * 256},
    {"transpose_square", "transpose", 256 * 256},
    {"dct_forward", "dct", 512 * 64},
    {"dct_inverse", "idct", 512 * 64},
    {"dct_short_forward", "dct_short", 256 * 128},
    {"dct_short_inverse", "idct_short", 256 * 128},
    {"transpose_square_padded", "transpose-padded", 256 * 256},
    {"dct_forward_padded", "dct-padded", 512 * 64},
    {"dct_inverse_padded", "idct-padded", 512 * 64},
    {"dct_short_forward_padded", "dct_short-padded", 256 * 128},
    {"dct_short_inverse_padded", "idct_short-padded", 256 * 128},
};

static const struct ww_matrix_machine machines[WW_ELASTIC_MACHINES] = {
    [WW_ELASTIC_BASE] = {"elastic-16", {"sched=lrr", "pipe=unified"}},
    [WW_ELASTIC_SPLIT] = {"elastic-16", {"sched=lrr", "pipe=split"}},
    [WW_ELASTIC_PURE] = {"elastic-16", {"sched=lrr", "pipe=elastic", "pipe.aware=off"}},
    [WW_ELASTIC_FULL] = {"elastic-16", {"sched=lrr", "pipe=elastic", "pipe.aware=safe"}},
    [WW_ELASTIC_ANYWAY] = {"elastic-16", {"sched=lrr", "pipe=elastic", "pipe.aware=anyway"}},
};

static bool wanted(size_t workload, size_t machine) {
    return workload < WW_ELASTIC_CONFLICTING || machine == WW_ELASTIC_BASE || machine == WW_ELASTIC_FULL;
}

/* Thread instructions of each kernel on the baseline: all, and those that access shared memory. */
struct counts {
    double all[WW_ELASTIC_KERNELS], shared[WW_ELASTIC_KERNELS];
};

static enum ww_code count(void *context, size_t workload, size_t machine, const struct ww_result *result,
                          struct ww_error *error) {
    struct counts *n = context;
    (void)error;
    if (machine != WW_ELASTIC_BASE) return WW_OK;
    for (size_t i = 0; i < result->launch_count; i++)
        for (size_t p = 0; p < result->launch[i].pc_count; p++) {
            const struct ww_pc_row *row = &result->launch[i].pc[p];
            bool shared = strncmp(row->mnemonic, "LDS", 3) == 0 || strncmp(row->mnemonic, "STS", 3) == 0;
            n->all[workload] += (double)row->counter[WW_I_THREAD_INSTRUCTIONS];
            if (shared) n->shared[workload] += (double)row->counter[WW_I_THREAD_INSTRUCTIONS];
        }
    return WW_OK;
}

/* ---- table 4 ---- */

static double degree(const struct ww_matrix *b, size_t k) {
    const uint64_t *n = ww_elastic_sum(b, k, WW_ELASTIC_BASE)->counter;
    return (double)n[WW_C_SHARED_PASSES] / (double)(n[WW_C_MEM_INST_SHARED] + n[WW_C_SHARED_WIDE]);
}

/* The formula of the table, 1 + intensity x (degree - 1), of the table's own figures. */
static double theory(const struct ww_validation *v, size_t k) {
    char intensity[32], degrees[32];
    snprintf(intensity, sizeof intensity, "ela-int-%s", ww_elastic_kernel[k].row);
    snprintf(degrees, sizeof degrees, "ela-deg-%s", ww_elastic_kernel[k].row);
    const struct ww_target *i = ww_target_find(v, intensity), *d = ww_target_find(v, degrees);
    return i && d ? 1 + i->value / 100 * (d->value - 1) : NAN;
}

static enum ww_code add(struct ww_validation *v, const char *what, size_t k, double ours,
                        enum ww_validate_test test, double tolerance, const char *why, struct ww_error *error) {
    char id[64];
    snprintf(id, sizeof id, "ela-%s-%s", what, ww_elastic_kernel[k].row);
    return ww_validate_add_number(v, id, ours, test, tolerance, why, error);
}

/* Informs; the row has the table's figure, too. */
static enum ww_code add_instructions(struct ww_validation *v, size_t k, double ours, struct ww_error *error) {
    char id[64], what[96];
    snprintf(id, sizeof id, "ela-inst-%s", ww_elastic_kernel[k].row);
    snprintf(what, sizeof what, "elastic-16, %s: instructions of a thread", ww_elastic_kernel[k].row);
    const struct ww_target *t = ww_target_find(v, id);
    struct ww_validate_row row = {.id = id,
                                  .what = what,
                                  .ours = ours,
                                  .paper = t ? t->value : NAN,
                                  .unit = "",
                                  .test = WW_VALIDATE_RELATIVE,
                                  .uncounted = true,
                                  .why = "ours as lowered for sm_20, the paper's in PTX of 2009"};
    return ww_validate_add(v, &row, error);
}

static enum ww_code add_kernel(struct ww_validation *v, const struct ww_matrix *b, size_t k,
                               const struct counts *n, struct ww_error *error) {
    double threads = ww_elastic_kernel[k].threads;
    const char *input = k < 2 ? "depends on the input, which the paper does not name; ours is random" : "";
    WW_TRY(add(v, "deg", k, degree(b, k), WW_VALIDATE_RELATIVE, 0.1, input, error));
    WW_TRY(add(v, "int", k, 100 * n->shared[k] / n->all[k], WW_VALIDATE_RELATIVE, 0.25, "", error));
    WW_TRY(add(v, "smem", k, n->shared[k] / threads, WW_VALIDATE_RELATIVE, 0.1, "", error));
    WW_TRY(add_instructions(v, k, n->all[k] / threads, error));
    WW_TRY(add(v, "theory", k, theory(v, k), WW_VALIDATE_ABSOLUTE, 0.01,
               "the formula with the table's own figures; ours stand in ela-fig9-*-theory", error));
    return add(v, "cta", k, ww_elastic_sum(b, k, WW_ELASTIC_BASE)->ctas_per_sm, WW_VALIDATE_ABSOLUTE, 0, "",
               error);
}

/* ---- averages ---- */

#define THIRD (1.0 / 3)

static double stall_change(const struct ww_matrix *b, size_t k) {
    return 100 * (ww_elastic_stalls(ww_elastic_sum(b, k, WW_ELASTIC_FULL)) /
                      ww_elastic_stalls(ww_elastic_sum(b, k, WW_ELASTIC_BASE)) -
                  1);
}

static double gain(const struct ww_matrix *b, size_t k, enum ww_elastic_machine m) {
    return ww_elastic_gain(ww_elastic_sum(b, k, WW_ELASTIC_BASE), ww_elastic_sum(b, k, m));
}

static double mean_gain(const struct ww_matrix *b, size_t first, size_t end, enum ww_elastic_machine m) {
    double sum = 0;
    for (size_t k = first; k < end; k++) sum += gain(b, k, m);
    return sum / (double)(end - first);
}

static enum ww_code add_stalls(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error) {
    double sum = 0, best = INFINITY, before = 0, after = 0;
    for (size_t k = 0; k < WW_ELASTIC_CONFLICTING; k++) {
        double change = stall_change(b, k);
        sum += change / WW_ELASTIC_CONFLICTING;
        if (change < best) best = change;
        if (k < 2) continue;
        before += (double)ww_elastic_sum(b, k, WW_ELASTIC_BASE)->counter[WW_C_PIPE_STALL_CONFLICT];
        after += (double)ww_elastic_sum(b, k, WW_ELASTIC_FULL)->counter[WW_C_PIPE_STALL_CONFLICT];
    }
    WW_TRY(ww_validate_add_number(v, "ela-stall", sum, WW_VALIDATE_RELATIVE, THIRD, "", error));
    WW_TRY(ww_validate_add_number(v, "ela-stall-best", best, WW_VALIDATE_RELATIVE, THIRD, "", error));
    WW_TRY(
        ww_validate_add_number(v, "ela-stall-aes", stall_change(b, 0), WW_VALIDATE_RELATIVE, THIRD, "", error));
    return ww_validate_add_number(
        v, "ela-vanish", 100 * after / before, WW_VALIDATE_ABSOLUTE, 10,
        "what is left comes from first executions and from reduction's changing degrees", error);
}

static enum ww_code add_ranking(struct ww_validation *v, double pure, double full, struct ww_error *error) {
    const char *ours = pure > 0 && full > pure ? "baseline < elastic alone < with aware scheduling"
                                               : "another order than the paper's";
    return ww_validate_add_text(v, "ela-ranking", ours, "", error);
}

static enum ww_code add_gains(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error) {
    double best = 0, hand = 0;
    double full = mean_gain(b, 0, WW_ELASTIC_CONFLICTING, WW_ELASTIC_FULL);
    double pure = mean_gain(b, 0, WW_ELASTIC_CONFLICTING, WW_ELASTIC_PURE);
    for (size_t k = 0; k < WW_ELASTIC_CONFLICTING; k++) best = fmax(best, gain(b, k, WW_ELASTIC_FULL));
    for (size_t k = WW_ELASTIC_FIRST_STARRED; k < WW_ELASTIC_CONFLICTING; k++)
        hand += (double)ww_elastic_sum(b, ww_elastic_padded(k), WW_ELASTIC_BASE)->cycles /
                (double)ww_elastic_sum(b, k, WW_ELASTIC_FULL)->cycles /
                (WW_ELASTIC_CONFLICTING - WW_ELASTIC_FIRST_STARRED);
    WW_TRY(ww_validate_add_number(v, "ela-perf", full, WW_VALIDATE_RELATIVE, THIRD, "", error));
    WW_TRY(ww_validate_add_number(v, "ela-perf-best", best, WW_VALIDATE_RELATIVE, THIRD, "", error));
    WW_TRY(ww_validate_add_number(v, "ela-perf-aes", gain(b, 0, WW_ELASTIC_FULL), WW_VALIDATE_RELATIVE, THIRD,
                                  "", error));
    WW_TRY(ww_validate_add_number(v, "ela-pure", pure, WW_VALIDATE_RELATIVE, THIRD, "", error));
    WW_TRY(add_ranking(v, pure, full, error));
    WW_TRY(ww_validate_add_number(v, "ela-clean",
                                  mean_gain(b, WW_ELASTIC_CONFLICTING, WW_ELASTIC_KERNELS, WW_ELASTIC_FULL),
                                  WW_VALIDATE_ABSOLUTE, 1, "", error));
    WW_TRY(ww_validate_add_number(v, "ela-hand", hand, WW_VALIDATE_RELATIVE, 0.1,
                                  "of the five that have a padded version", error));
    double variant =
        ww_elastic_gain(ww_elastic_sum(b, 5, WW_ELASTIC_FULL), ww_elastic_sum(b, 5, WW_ELASTIC_ANYWAY));
    return ww_validate_add_number(
        v, "ela-variant", variant, WW_VALIDATE_RELATIVE, THIRD,
        "a change of the order of warps, which acts through DRAM; see docs/studies/validation.md", error);
}

/* ---- arithmetic ---- */

static enum ww_code add_hardware(struct ww_validation *v, struct ww_error *error) {
    struct ww_mech_choice choice[WW_KIND_COUNT];
    struct ww_pipe_plan plan;
    const char *const mech = "pipe=elastic";
    WW_TRY(ww_mech_resolve(&mech, 1, &v->arena, choice, error));
    const struct ww_pipe_ops *ops = (const struct ww_pipe_ops *)(const void *)choice[WW_KIND_PIPE].info;
    ops->plan(choice[WW_KIND_PIPE].settings, &plan);
    struct ww_pipe_overhead o = ww_pipe_overhead(&plan, 32, 32, WW_HISTORY_SETS, WW_HISTORY_WAYS);
    WW_TRY(ww_validate_add_number(v, "ela-queue-nonmem", plan.nonmem, WW_VALIDATE_ABSOLUTE, 0, "", error));
    WW_TRY(ww_validate_add_number(v, "ela-queue-premem", plan.premem, WW_VALIDATE_ABSOLUTE, 0, "", error));
    return ww_validate_add_number(v, "ela-history", o.history_bytes, WW_VALIDATE_ABSOLUTE, 0, "", error);
}

enum ww_code ww_validate_suite_elastic(struct ww_validation *v, const struct ww_validate_options *options,
                                       struct ww_error *error) {
    const char *kernel[WW_ELASTIC_KERNELS];
    struct counts n = {{0}, {0}};
    for (size_t k = 0; k < WW_ELASTIC_KERNELS; k++) kernel[k] = ww_elastic_kernel[k].kernel;
    struct ww_matrix b = {.workload = workloads,
                          .workloads = sizeof workloads / sizeof workloads[0],
                          .machine = machines,
                          .machines = WW_ELASTIC_MACHINES,
                          .kernel = kernel,
                          .kernels = WW_ELASTIC_KERNELS,
                          .wanted = wanted,
                          .per_pc = true,
                          .seen = count,
                          .context = &n};
    WW_TRY(add_hardware(v, error));
    WW_TRY(ww_matrix_run(&b, &v->arena, options, error));
    for (size_t k = 0; k < WW_ELASTIC_CONFLICTING; k++) WW_TRY(add_kernel(v, &b, k, &n, error));
    WW_TRY(add_stalls(v, &b, error));
    WW_TRY(add_gains(v, &b, error));
    return ww_elastic_bars(v, &b, error);
}
