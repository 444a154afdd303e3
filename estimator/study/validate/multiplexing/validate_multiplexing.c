/* Suite "multiplexing": Y. Yang, P. Xiang, M. Mantor, N. Rubin, H. Zhou, Shared Memory Multiplexing: A Novel
 * Way to Improve GPGPU Throughput (PACT 2012). Occupancy of table 1, the share of a CTA's life in which shared
 * memory is used (figure 1), the speed-ups of the software approaches on three machines (figure 11) and of the
 * hardware (figures 14 and 15). docs/studies/validation.md says what the kernels are and why rows lie outside.
 */
#include "../../../api/trace.h"
#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../rows/matrix.h"
#include <math.h>
#include <string.h>

/* Kernels of table 1 in its order; the first seven are those of the figures. */
enum { MV, FFT, MC, STO, SP, HG, CV, MM, TP, RD, KERNELS, FEW = MM };
/* And a second reading of RD, whose size the paper does not state: a CTA for every 256 elements. */
enum { RD_SHORT = KERNELS, ALL_KERNELS };
enum variant { BASE, VTB, PIPE, CO_VTB, HW, CO_HW, VARIANTS };
enum machine { G480_16, G480_48, G285, SIM_STATIC, SIM_1, SIM_2, SIM_3, MACHINES };
/* Behind the kernels' workloads come FFTs of the batch sizes other than 512 and MVs of heights other than
 * 16384, plain and with VTB_pipe. */
enum { BATCHES = 4, HEIGHTS = 2, OF_KERNELS = ALL_KERNELS * VARIANTS };
enum { OF_BATCHES = OF_KERNELS + 2 * BATCHES, WORKLOADS = OF_BATCHES + 2 * HEIGHTS };
static const uint32_t batch[BATCHES] = {128, 256, 1024, 2048};
static const char *const batch_parameter[BATCHES] = {"batch=128", "batch=256", "batch=1024", "batch=2048"};
static const char *const height_parameter[HEIGHTS] = {"rows=8192", "rows=32768"};

static const struct {
    const char *id, *name, *workload, *parameter[6];
    const char *overlap; /* source lines that VTB_pipe may overlap */
    uint64_t split;      /* private bytes of CO-VTB and CO-HW, 0: not applied */
    uint32_t join;       /* CTAs under VTB */
    /* Written by hand, as the paper's CO-VTB was; for VTB_pipe with its loop peeled. NULL: the transform. */
    const char *pipe, *co_vtb, *co_hw;
} kernels[ALL_KERNELS] = {
    [MV] = {"mv", "MV", "mv", {"rows=16384"}, "18-24", 0, 2, NULL, NULL, NULL},
    [FFT] = {"fft", "FFT", "fft", {NULL}, "20-59", 0, 2, NULL, NULL, NULL},
    [MC] = {"mc", "MC", "marching", {"side=64"}, "56-66", 6144, 4, NULL, "variant=co_vtb", NULL},
    [STO] = {"sto", "STO", "storegpu", {"ctas=384"}, "17-26", 64, 2, NULL, NULL, NULL},
    [SP] = {"sp", "SP", "scalarprod", {"pairs=512"}, "20-26", 0, 2, NULL, NULL, NULL},
    [HG] = {"hg",
            "HG",
            "bytehist",
            {"ctas=480"},
            "45-47",
            7936,
            2,
            "variant=peeled",
            "variant=co_vtb",
            "variant=co_hw"},
    [CV] = {"cv", "CV", "convolution", {"height=1792"}, "21-23", 0, 2, NULL, NULL, NULL},
    [MM] = {"mm", "MM", "sgemm", {"variant=tiled", "reserved=36"}, NULL, 0, 2, NULL, NULL, NULL},
    [TP] = {"tp", "TP", "transpose", {"variant=lines", "reserved=36"}, NULL, 0, 2, NULL, NULL, NULL},
    /* The SDK's default: 64 CTAs over 2^24 elements. */
    [RD] = {"rd",
            "RD",
            "reduction",
            {"n=16777216", "block=128", "per_thread=2048", "reserved=28"},
            NULL,
            0,
            2,
            NULL,
            NULL,
            NULL},
    [RD_SHORT] = {"rd-short",
                  "RD, 256 elements a CTA",
                  "reduction",
                  {"block=128", "reserved=28"},
                  NULL,
                  0,
                  2,
                  NULL,
                  NULL,
                  NULL},
};

static const struct ww_matrix_machine machines[MACHINES] = {
    [G480_16] = {"gtx480-16k", {NULL}},
    [G480_48] = {"gtx480", {NULL}},
    [G285] = {"gtx285", {NULL}},
    [SIM_STATIC] = {"gtx285-multiplexing", {NULL}},
    [SIM_1] = {"gtx285-multiplexing", {"smem=dynamic", "smem.extra=1"}},
    [SIM_2] = {"gtx285-multiplexing", {"smem=dynamic", "smem.extra=2"}},
    [SIM_3] = {"gtx285-multiplexing", {"smem=dynamic", "smem.extra=3"}},
};

/* What the replays gave, by workload (kernel x variant) and machine. */
struct measured {
    uint64_t cycles[WORKLOADS][MACHINES], time_ps[WORKLOADS][MACHINES];
    double use[ALL_KERNELS];
    uint32_t ctas[ALL_KERNELS];
};

static bool applies(size_t kernel, size_t variant) {
    if (kernel >= FEW) return variant == BASE || variant == HW;
    return (variant != CO_VTB && variant != CO_HW) || kernels[kernel].split;
}

static bool wanted(size_t workload, size_t machine) {
    size_t kernel = workload / VARIANTS, variant = workload % VARIANTS;
    if (workload >= OF_BATCHES) return machine <= G480_48;
    if (workload >= OF_KERNELS) return machine == G480_48;
    if (!applies(kernel, variant)) return false;
    if (variant == BASE) return kernel < FEW || machine == SIM_STATIC;
    if (variant == HW) return machine >= SIM_STATIC && (kernel < FEW || machine == SIM_STATIC);
    return variant == CO_HW ? machine >= SIM_1 : machine < SIM_STATIC;
}

static enum ww_code seen(void *context, size_t workload, size_t machine, const struct ww_result *result,
                         struct ww_error *error) {
    struct measured *m = context;
    size_t kernel = workload / VARIANTS, variant = workload % VARIANTS;
    uint64_t used = 0, life = 0;
    (void)error;
    m->cycles[workload][machine] = result->cycles;
    m->time_ps[workload][machine] = result->time_ps;
    for (size_t i = 0; i < result->launch_count; i++) {
        used += result->launch[i].counter[WW_C_SMEM_USED_CYCLES];
        life += result->launch[i].counter[WW_C_CTA_CYCLES];
    }
    if (machine != SIM_STATIC || workload >= OF_KERNELS) return WW_OK;
    if (variant == HW) m->use[kernel] = life ? 100 * (double)used / (double)life : 0;
    if (variant == BASE) m->ctas[kernel] = result->launch[0].ctas_per_sm;
    return WW_OK;
}

static double speedup(const struct measured *m, size_t kernel, enum variant variant, enum machine machine) {
    enum machine base = machine >= SIM_STATIC ? SIM_STATIC : machine;
    uint64_t cycles = m->cycles[kernel * VARIANTS + variant][machine];
    return cycles ? (double)m->cycles[kernel * VARIANTS + BASE][base] / (double)cycles : NAN;
}

/* Geometric mean over the kernels to which the variant applies. */
static double mean(const struct measured *m, enum variant variant, enum machine machine) {
    double sum = 0;
    int n = 0;
    for (size_t k = 0; k < FEW; k++) {
        if (!applies(k, variant)) continue;
        sum += log(speedup(m, k, variant, machine));
        n++;
    }
    return exp(sum / n);
}

static double best_of(const struct measured *m, size_t kernel, enum machine machine) {
    double best = 0;
    for (int v = VTB; v <= CO_VTB; v++)
        if (applies(kernel, (size_t)v)) best = fmax(best, speedup(m, kernel, (enum variant)v, machine));
    return best;
}

static double mean_best(const struct measured *m, enum machine machine) {
    double sum = 0;
    for (size_t k = 0; k < FEW; k++) sum += log(best_of(m, k, machine));
    return exp(sum / FEW);
}

/* The most that two CTAs gain which take turns at shared memory for share % of their lives and overlap in the
 * rest. */
static double bound_of_pair(double share) {
    double s = share / 100;
    return 1 / (s + (1 - s) / 2);
}

/* ---- rows ---- */

static const char *const why_style =
    "regions are most of the life of STO, MC and CV, and not all partitions are "
    "published; see docs/studies/validation.md";

/* A speed-up may miss by a third of the published gain. */
static enum ww_code add_gain(struct ww_validation *v, const char *id, double ours, struct ww_error *error) {
    const struct ww_target *t = ww_target_find(v, id);
    double third = t ? fabs(t->value - 1) / 3 : 0;
    return ww_validate_add_number(v, id, ours, WW_VALIDATE_ABSOLUTE, third, why_style, error);
}

static enum ww_code add_averages(struct ww_validation *v, const struct measured *m, struct ww_error *error) {
    WW_TRY(add_gain(v, "multiplexing-480-16-vtb", mean(m, VTB, G480_16), error));
    WW_TRY(add_gain(v, "multiplexing-480-16-pipe", mean(m, PIPE, G480_16), error));
    WW_TRY(add_gain(v, "multiplexing-480-16-co", mean(m, CO_VTB, G480_16), error));
    WW_TRY(add_gain(v, "multiplexing-480-16-best", mean_best(m, G480_16), error));
    WW_TRY(add_gain(v, "multiplexing-480-48-vtb", mean(m, VTB, G480_48), error));
    WW_TRY(add_gain(v, "multiplexing-480-48-pipe", mean(m, PIPE, G480_48), error));
    WW_TRY(add_gain(v, "multiplexing-480-48-co", mean(m, CO_VTB, G480_48), error));
    WW_TRY(add_gain(v, "multiplexing-480-48-best", mean_best(m, G480_48), error));
    WW_TRY(add_gain(v, "multiplexing-285", mean_best(m, G285), error));
    WW_TRY(add_gain(v, "multiplexing-hw", mean(m, HW, SIM_3), error));
    return add_gain(v, "multiplexing-cohw", mean(m, CO_HW, SIM_3), error);
}

/* Figure 15 in the words of the target. */
static enum ww_code add_bound(struct ww_validation *v, const struct measured *m, struct ww_error *error) {
    const struct ww_target *t = ww_target_find(v, "multiplexing-k");
    double k1 = mean(m, HW, SIM_1), k2 = mean(m, HW, SIM_2), k3 = mean(m, HW, SIM_3);
    bool little = k1 < k2 && k1 < k3, alike = fabs(k3 - k2) <= 0.05 * k2, more = true, not_more = true;
    for (int k = FFT; k <= MC; k++) more &= speedup(m, (size_t)k, HW, SIM_3) > speedup(m, (size_t)k, HW, SIM_1);
    not_more &= speedup(m, HG, HW, SIM_3) <= speedup(m, HG, HW, SIM_1) * 1.01;
    not_more &= speedup(m, MV, HW, SIM_3) <= speedup(m, MV, HW, SIM_1) * 1.01;
    char text[160];
    snprintf(text, sizeof text, "K+1 %s; K+2 and K+3 %s; FFT and MC %s and HG and MV %s",
             little ? "too little" : "enough", alike ? "alike" : "differ",
             more ? "want more" : "do not want more", not_more ? "do not" : "do");
    bool same = t && little && alike && more && not_more;
    return ww_validate_add_text(v, "multiplexing-k", same ? t->text : text, why_style, error);
}

static enum ww_code add_plain(struct ww_validation *v, const char *id, const char *what, double ours,
                              const char *unit, struct ww_error *error) {
    struct ww_validate_row row = {.id = id, .what = what, .ours = ours, .paper = NAN, .unit = unit, .why = ""};
    return ww_validate_add(v, &row, error);
}

/* Figures 1, 11, 14 and 15 by kernel: the paper draws them and states no numbers. */
static enum ww_code add_kernel(struct ww_validation *v, const struct measured *m, size_t k,
                               struct ww_error *error) {
    static const struct {
        const char *id, *what;
        enum variant variant;
        enum machine machine;
    } bar[] = {
        {"16-vtb", "gtx480-16k: VTB", VTB, G480_16},
        {"16-pipe", "gtx480-16k: VTB_pipe", PIPE, G480_16},
        {"16-co", "gtx480-16k: CO-VTB", CO_VTB, G480_16},
        {"48-vtb", "gtx480: VTB", VTB, G480_48},
        {"48-pipe", "gtx480: VTB_pipe", PIPE, G480_48},
        {"48-co", "gtx480: CO-VTB", CO_VTB, G480_48},
        {"285-vtb", "gtx285: VTB", VTB, G285},
        {"285-pipe", "gtx285: VTB_pipe", PIPE, G285},
        {"285-co", "gtx285: CO-VTB", CO_VTB, G285},
        {"hw-1", "gtx285-multiplexing: HW, K+1", HW, SIM_1},
        {"hw-2", "gtx285-multiplexing: HW, K+2", HW, SIM_2},
        {"hw-3", "gtx285-multiplexing: HW, K+3", HW, SIM_3},
        {"cohw-2", "gtx285-multiplexing: CO-HW, K+2", CO_HW, SIM_2},
        {"cohw-3", "gtx285-multiplexing: CO-HW, K+3", CO_HW, SIM_3},
    };
    char id[64], what[128];
    snprintf(id, sizeof id, "multiplexing-bar-%s-use", kernels[k].id);
    snprintf(what, sizeof what, "gtx285-multiplexing, %s: share of CTA lifetime in shared-memory regions",
             kernels[k].name);
    WW_TRY(add_plain(v, id, what, m->use[k], "%", error));
    snprintf(id, sizeof id, "multiplexing-bar-%s-bound", kernels[k].id);
    snprintf(what, sizeof what, "%s: most that a pair of CTAs gains with this share S: 1 / (S + (1 - S) / 2)",
             kernels[k].name);
    WW_TRY(add_plain(v, id, what, bound_of_pair(m->use[k]), "x", error));
    for (size_t i = 0; k < FEW && i < sizeof bar / sizeof bar[0]; i++) {
        if (!applies(k, bar[i].variant)) continue;
        snprintf(id, sizeof id, "multiplexing-bar-%s-%s", kernels[k].id, bar[i].id);
        snprintf(what, sizeof what, "%s, %s: speed-up", bar[i].what, kernels[k].name);
        WW_TRY(add_plain(v, id, what, speedup(m, k, bar[i].variant, bar[i].machine), "x", error));
    }
    return WW_OK;
}

/* Figure 12 compares MV with a library that runs here on no machine. What can be compared: the library is
 * called similar to the original with 48 KiB and to VTB_pipe with 16 KiB, and VTB_pipe with 48 KiB 52 % faster
 * on average. */
static enum ww_code add_mv(struct ww_validation *v, const struct measured *m, struct ww_error *error) {
    const struct {
        const char *rows;
        size_t base, pipe;
    } height[HEIGHTS + 1] = {{"8192", OF_BATCHES, OF_BATCHES + 1},
                             {"16384", MV * VARIANTS + BASE, MV * VARIANTS + PIPE},
                             {"32768", OF_BATCHES + 2, OF_BATCHES + 3}};
    char id[64], what[128];
    for (size_t i = 0; i <= HEIGHTS; i++) {
        double base = (double)m->cycles[height[i].base][G480_48];
        snprintf(id, sizeof id, "multiplexing-fig12-%s-16-pipe", height[i].rows);
        snprintf(what, sizeof what,
                 "MV of %s rows: VTB_pipe with 16 KiB over the original with 48 KiB (similar)", height[i].rows);
        WW_TRY(add_plain(v, id, what, base / (double)m->cycles[height[i].pipe][G480_16], "x", error));
        snprintf(id, sizeof id, "multiplexing-fig12-%s-48-pipe", height[i].rows);
        snprintf(what, sizeof what,
                 "MV of %s rows: VTB_pipe with 48 KiB over the original (1.52 over the library)",
                 height[i].rows);
        WW_TRY(add_plain(v, id, what, base / (double)m->cycles[height[i].pipe][G480_48], "x", error));
        snprintf(id, sizeof id, "multiplexing-fig12-%s-48-base", height[i].rows);
        snprintf(what, sizeof what, "MV of %s rows: the original with 48 KiB over that with 16 KiB",
                 height[i].rows);
        WW_TRY(add_plain(v, id, what, (double)m->cycles[height[i].base][G480_16] / base, "x", error));
    }
    return WW_OK;
}

/* Throughput of a batch in GFLOP/s, with operations counted as usual: 5 n log2 n a transform. */
static double throughput(const struct measured *m, size_t workload, uint32_t transforms) {
    double ns = (double)m->time_ps[workload][G480_48] * 1e-3;
    return ns > 0 ? transforms * 5.0 * 1024 * 10 / ns : NAN;
}

static enum ww_code add_fft(struct ww_validation *v, const struct measured *m, struct ww_error *error) {
    double base = throughput(m, FFT * VARIANTS + BASE, 512), pipe = throughput(m, FFT * VARIANTS + PIPE, 512);
    for (size_t i = 0; i < BATCHES; i++) {
        base += throughput(m, OF_KERNELS + 2 * i, batch[i]);
        pipe += throughput(m, OF_KERNELS + 2 * i + 1, batch[i]);
    }
    WW_TRY(ww_validate_add_number(v, "multiplexing-fft-48-base", base / (BATCHES + 1), WW_VALIDATE_RELATIVE,
                                  1 / 3.0, "", error));
    return ww_validate_add_number(v, "multiplexing-fft-48-pipe", pipe / (BATCHES + 1), WW_VALIDATE_RELATIVE,
                                  1 / 3.0, "", error);
}

static enum ww_code add_all(struct ww_validation *v, const struct measured *m, struct ww_error *error) {
    double sum = 0, other = log(m->use[RD_SHORT]) - log(m->use[RD]);
    char id[32];
    for (size_t k = 0; k < KERNELS; k++) {
        snprintf(id, sizeof id, "multiplexing-occ-%s", kernels[k].id);
        WW_TRY(ww_validate_add_number(v, id, m->ctas[k], WW_VALIDATE_ABSOLUTE, 0, "", error));
        sum += log(m->use[k]);
    }
    WW_TRY(ww_validate_add_number(v, "multiplexing-use", exp(sum / KERNELS), WW_VALIDATE_RELATIVE, 1 / 3.0,
                                  why_style, error));
    WW_TRY(add_plain(v, "multiplexing-use-short", "the same with RD of 256 elements a CTA",
                     exp((sum + other) / KERNELS), "%", error));
    WW_TRY(add_averages(v, m, error));
    WW_TRY(add_bound(v, m, error));
    WW_TRY(add_fft(v, m, error));
    WW_TRY(add_mv(v, m, error));
    for (size_t k = 0; k < ALL_KERNELS; k++) WW_TRY(add_kernel(v, m, k, error));
    return WW_OK;
}

static const char *by_hand(size_t k, size_t variant) {
    return variant == PIPE     ? kernels[k].pipe
           : variant == CO_VTB ? kernels[k].co_vtb
           : variant == CO_HW  ? kernels[k].co_hw
                               : NULL;
}

static void fill_one(struct ww_matrix_workload *w, struct ww_transform_options *t, size_t k, size_t variant) {
    static const char *const kind[VARIANTS] = {NULL, "vtb", "vtb_pipe", "co_vtb", "hw", "co_hw"};
    const char *hand = by_hand(k, variant);
    size_t p = 0;
    /* As many registers as a GTX 480's instructions can name; as let the paper's five CTAs of CV fit (7.1), and
     * table 1's four of MM. */
    w->registers = k == FFT ? 63 : k == CV ? 51 : k == MM ? 16 : 0;
    for (; p < 5 && kernels[k].parameter[p]; p++) w->parameter[p] = kernels[k].parameter[p];
    w->parameter[p] = hand;
    t->kind = hand && variant != PIPE ? NULL : kind[variant];
    t->ctas = variant == VTB ? kernels[k].join : 0;
    t->overlap = variant == PIPE ? kernels[k].overlap : NULL;
    t->split = variant == CO_VTB || variant == CO_HW ? kernels[k].split : 0;
}

/* Workloads and transforms, kernel by kernel. Those that do not apply are not replayed; they are recorded as
 * small. */
static void fill(struct ww_matrix_workload w[WORKLOADS], struct ww_transform_options t[WORKLOADS]) {
    for (size_t i = 0; i < OF_KERNELS; i++) {
        size_t k = i / VARIANTS, variant = i % VARIANTS;
        w[i] = (struct ww_matrix_workload){.name = kernels[k].workload};
        if (applies(k, variant))
            fill_one(&w[i], &t[i], k, variant);
        else
            w[i].parameter[0] = "size=small";
    }
    for (size_t i = 0; i < 2 * (BATCHES + HEIGHTS); i++) {
        size_t at = OF_KERNELS + i, kernel = at < OF_BATCHES ? FFT : MV;
        w[at] = (struct ww_matrix_workload){.name = kernels[kernel].workload};
        fill_one(&w[at], &t[at], kernel, i & 1 ? PIPE : BASE);
        w[at].parameter[0] = at < OF_BATCHES ? batch_parameter[i / 2] : height_parameter[(at - OF_BATCHES) / 2];
    }
}

enum ww_code ww_validate_suite_multiplexing(struct ww_validation *v, const struct ww_validate_options *options,
                                            struct ww_error *error) {
    struct ww_matrix_workload *w = ww_arena_array(&v->arena, WORKLOADS, sizeof *w);
    struct ww_transform_options *t = ww_arena_array(&v->arena, WORKLOADS, sizeof *t);
    struct measured *m = ww_arena_array(&v->arena, 1, sizeof *m);
    if (!w || !t || !m) return ww_fail_nomem(error, "measurements");
    fill(w, t);
    struct ww_matrix b = {.workload = w,
                          .workloads = WORKLOADS,
                          .machine = machines,
                          .machines = MACHINES,
                          .transform = t,
                          .wanted = wanted,
                          .seen = seen,
                          .context = m};
    WW_TRY(ww_matrix_run(&b, &v->arena, options, error));
    return add_all(v, m, error);
}
