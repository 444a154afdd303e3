/* Suite "d2ma": A. Jamshidi, M. Samadi, S. Mahlke, D2MA, PACT 2014. Kernels of table 2 and SAXPY, plain and
 * with bulk transfers, on gtx480-d2ma; SGEMV and SAXPY with CudaDMA, too. docs/studies/d2ma.md says what is
 * modelled, docs/studies/validation.md why rows lie outside. */
#include "../../../api/validate.h"
#include "../../../base/tempfile.h"
#include "d2ma_int.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS = WW_D2MA_KERNELS, ALL = WW_D2MA_ALL, SGEMV = 10, SAXPY = WW_D2MA_KERNELS };
enum { GAUSS = 6, MEAN = 7, SOBEL = 8, TRANS1 = 3, TRANS2 = 4 };

/* ---- measuring ---- */

/* Two files that this suite writes. */
struct paths {
    char trace[256], changed[256];
};

static enum ww_code measure(const struct ww_d2ma_kernel *k, struct ww_d2ma_sums *s, size_t i,
                            const struct paths *at, const struct ww_validate_options *options,
                            struct ww_error *error) {
    const char *path = at->trace;
    struct ww_d2ma_replay how = {
        .gpu = "gtx480-d2ma", .kernel = k->plain, .options = options, .done = i, .all = ALL};
    WW_TRY(ww_d2ma_record(k, "plain", 0, path, error));
    WW_TRY(ww_d2ma_replay(path, &how, &s->plain[i], error));
    how.gpu = "gtx480-d2ma-inf";
    WW_TRY(ww_d2ma_replay(path, &how, &s->inf[i], error));
    how.gpu = "gtx480-d2ma";
    WW_TRY(ww_d2ma_transform(path, at->changed, &s->writers[i], error));
    WW_TRY(ww_d2ma_replay(at->changed, &how, &s->transformed[i], error));
    how.kernel = k->dma;
    WW_TRY(ww_d2ma_record(k, "dma", 0, path, error));
    WW_TRY(ww_d2ma_replay(path, &how, &s->dma[i], error));
    how.mechanism = "dma.start=last";
    WW_TRY(ww_d2ma_replay(path, &how, &s->last[i], error));
    if (i != SGEMV && i != SAXPY) return WW_OK;
    how.mechanism = NULL;
    how.kernel = i == SGEMV ? "d2_sgemv_cudadma" : "d2_saxpy_cudadma";
    WW_TRY(ww_d2ma_record(k, "cudadma", 0, path, error));
    return ww_d2ma_replay(path, &how, &s->cudadma[i], error);
}

/* ---- rows ---- */

static const char *const why_less = "plain kernels at full occupancy hide more of their copies here; see "
                                    "docs/studies/validation.md";
static const char *const why_more = "fewer instructions are left, or the plain kernel's L1 loses lines; see "
                                    "docs/studies/validation.md";

static enum ww_code add_speedup(struct ww_validation *v, const char *id, double ours, double paper,
                                struct ww_error *error) {
    double tolerance = fabs(paper - 1) / 3;
    bool within = fabs(ours - paper) <= tolerance;
    const char *why = within ? "" : ours < paper ? why_less : why_more;
    return ww_validate_add_number(v, id, ours, WW_VALIDATE_ABSOLUTE, tolerance, why, error);
}

static enum ww_code add_speedups(struct ww_validation *v, const struct ww_d2ma_sums *s,
                                 struct ww_error *error) {
    static const struct {
        const char *id;
        size_t kernel;
        double paper;
    } row[] = {{"d2ma-gauss", GAUSS, 2.19}, {"d2ma-mean", MEAN, 2.15}, {"d2ma-sobel", SOBEL, 1.52},
               {"d2ma-path", 9, 1.02},      {"d2ma-mm", 1, 1.14},      {"d2ma-dwt", 2, 1.15},
               {"d2ma-sgemv", SGEMV, 1.23}, {"d2ma-lud1", 11, 0.93}};
    WW_TRY(add_speedup(v, "d2ma-gm", ww_d2ma_geomean(s), 1.36, error));
    WW_TRY(add_speedup(v, "d2ma-max", ww_d2ma_largest(s, WW_D2MA_SPEEDUP), 2.29, error));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        WW_TRY(
            add_speedup(v, row[i].id, ww_d2ma_value(s, WW_D2MA_SPEEDUP, row[i].kernel), row[i].paper, error));
    return WW_OK;
}

static enum ww_code add_averages(struct ww_validation *v, const struct ww_d2ma_sums *s,
                                 struct ww_error *error) {
    const struct {
        const char *id;
        double ours;
        enum ww_validate_test test;
        double tolerance;
        const char *why;
    } row[] = {
        {"d2ma-instr", ww_d2ma_mean(s, WW_D2MA_INSTRUCTIONS, 0, KERNELS), WW_VALIDATE_RELATIVE, 1.0 / 3,
         "ours have few instructions other than the copy; see docs/studies/d2ma.md"},
        {"d2ma-instr-filters", ww_d2ma_smallest(s, WW_D2MA_INSTRUCTIONS, GAUSS, SOBEL + 1),
         WW_VALIDATE_RELATIVE, 1.0 / 3,
         "ours have few instructions other than the copy; see docs/studies/d2ma.md"},
        {"d2ma-xfer", ww_d2ma_mean(s, WW_D2MA_WHOLE, 0, KERNELS), WW_VALIDATE_RELATIVE, 1.0 / 3,
         "tiles of resident CTAs wait for one another: the engine's unit holds one that waits for MSHRs"},
        {"d2ma-agen", ww_d2ma_mean(s, WW_D2MA_AGEN, 0, KERNELS), WW_VALIDATE_RELATIVE, 1.0 / 3,
         "the address of a tile is computed by warps here and there, and a plain copy asks early"},
        {"d2ma-mem", ww_d2ma_mean(s, WW_D2MA_MEM, 0, KERNELS), WW_VALIDATE_RELATIVE, 1.0 / 3,
         "tiles of resident CTAs wait for one another: the engine's unit holds one that waits for MSHRs"},
        {"d2ma-xfer-filters", ww_d2ma_mean(s, WW_D2MA_WHOLE, GAUSS, SOBEL + 1), WW_VALIDATE_RELATIVE, 1.0 / 3,
         "tiles of resident CTAs wait for one another: the engine's unit holds one that waits for MSHRs"},
        {"d2ma-stall-base", ww_d2ma_mean(s, WW_D2MA_STALL_PLAIN, 0, KERNELS), WW_VALIDATE_RELATIVE, 1.0 / 3,
         "up to 48 warps on an SM: mostly one has something else to do"},
        {"d2ma-stall", ww_d2ma_mean(s, WW_D2MA_STALL_DMA, 0, KERNELS), WW_VALIDATE_AT_MOST, 0,
         "few instructions are left to overlap transfers with once address arithmetic is gone"},
        {"d2ma-l2miss-trans1", ww_d2ma_value(s, WW_D2MA_L2_MISS, TRANS1), WW_VALIDATE_ABSOLUTE, 10, ""},
        {"d2ma-l2miss-trans2", ww_d2ma_value(s, WW_D2MA_L2_MISS, TRANS2), WW_VALIDATE_ABSOLUTE, 10, ""},
        {"d2ma-inf", ww_d2ma_unlimited_mean(s), WW_VALIDATE_RELATIVE, 1.0 / 3,
         "other kernels: the paper's 28 are not named"},
        {"d2ma-trans2", ww_d2ma_value(s, WW_D2MA_WHOLE, TRANS1) - ww_d2ma_value(s, WW_D2MA_WHOLE, TRANS2),
         WW_VALIDATE_ABSOLUTE, 17.0 / 3,
         "a tile of TRANS2 takes a set of the plain kernel's L1, which holds four of its lines; TRANS1's wait "
         "for writes"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        WW_TRY(ww_validate_add_number(v, row[i].id, row[i].ours, row[i].test, row[i].tolerance, row[i].why,
                                      error));
    return WW_OK;
}

/* No figure of the paper: what a transform has to keep. */
static enum ww_code add_writers(struct ww_validation *v, const struct ww_d2ma_sums *s, struct ww_error *error) {
    const struct ww_validate_row row = {
        .id = "d2ma-writers",
        .what = "trace transform d2ma, all kernels: words loaded from shared memory with another last writer",
        .ours = ww_d2ma_mean(s, WW_D2MA_WRITERS, 0, ALL) * ALL,
        .paper = 0,
        .unit = "word",
        .test = WW_VALIDATE_ABSOLUTE,
        .why = ""};
    return ww_validate_add(v, &row, error);
}

static double ratio(uint64_t a, uint64_t b) {
    return b ? (double)a / (double)b : NAN;
}

static enum ww_code add_cudadma(struct ww_validation *v, const struct ww_d2ma_sums *s, struct ww_error *error) {
    const struct ww_validate_row row = {.id = "d2ma-cudadma-SGEMV",
                                        .what = "SGEMV: speedup of CudaDMA (section 5.4)",
                                        .ours = ratio(s->plain[SGEMV].cycles, s->cudadma[SGEMV].cycles),
                                        .paper = 1.10,
                                        .unit = "x",
                                        .test = WW_VALIDATE_ABSOLUTE,
                                        .tolerance = 0.1 / 3,
                                        .why = "bound by the bandwidth that the matrix takes"};
    WW_TRY(ww_validate_add(v, &row, error));
    return ww_d2ma_inform(v, "d2ma-cudadma-SAXPY", "SAXPY: speedup of CudaDMA",
                          ratio(s->plain[SAXPY].cycles, s->cudadma[SAXPY].cycles), "x", error);
}

static enum ww_code run(struct ww_validation *v, const struct ww_validate_options *options,
                        const struct paths *at, struct ww_error *error) {
    struct ww_d2ma_sums *s = ww_arena_array(&v->arena, 1, sizeof *s);
    if (!s) return ww_fail_nomem(error, "measurements");
    for (size_t i = 0; i < ALL; i++) {
        WW_TRY(ww_validate_step(options, i, ALL, error));
        WW_TRY(measure(&ww_d2ma_kernel[i], s, i, at, options, error));
    }
    WW_TRY(add_speedups(v, s, error));
    WW_TRY(add_averages(v, s, error));
    WW_TRY(ww_d2ma_hardware(v, error));
    WW_TRY(add_writers(v, s, error));
    WW_TRY(ww_d2ma_kernels(v, s, error));
    WW_TRY(add_cudadma(v, s, error));
    return ww_d2ma_timeline(v, at->trace, error);
}

enum ww_code ww_validate_suite_d2ma(struct ww_validation *v, const struct ww_validate_options *options,
                                    struct ww_error *error) {
    struct ww_temp folder;
    struct paths at;
    WW_TRY(ww_temp_folder(&folder, error));
    int n = snprintf(at.trace, sizeof at.trace, "%s/plain.wwt", folder.path);
    int m = snprintf(at.changed, sizeof at.changed, "%s/changed.wwt", folder.path);
    enum ww_code code = n < (int)sizeof at.trace && m < (int)sizeof at.changed
                            ? run(v, options, &at, error)
                            : ww_fail(error, WW_IO, folder.path, "the path is too long");
    ww_temp_remove(&folder);
    return code;
}
