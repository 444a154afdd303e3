/* equalizer_int.h: what the files of suite "equalizer" share. */
#ifndef WW_VALIDATE_EQUALIZER_INT_H
#define WW_VALIDATE_EQUALIZER_INT_H

#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../rows/matrix.h"

/* Classes of the dissertation's figure 3.4. */
enum ww_eq_class { WW_EQ_COMPUTE, WW_EQ_MEMORY, WW_EQ_CACHE, WW_EQ_UNSATURATED, WW_EQ_CLASSES };

#define WW_EQ_CTAS_MOST 7 /* static numbers of CTAs, 1 to this; 8 is the baseline's limit */

/* Machines that are measured. */
enum ww_eq_machine {
    WW_EQ_BASE,
    WW_EQ_SM_HIGH,
    WW_EQ_SM_LOW,
    WW_EQ_MEM_HIGH,
    WW_EQ_MEM_LOW,
    WW_EQ_CTAS, /* at most 1 CTA of an SM; 2 is the next machine, and so on */
    WW_EQ_PERFORMANCE = WW_EQ_CTAS + WW_EQ_CTAS_MOST,
    WW_EQ_ENERGY,
    WW_EQ_BLOCKS, /* Equalizer's numbers of CTAs, clocks at nominal */
    WW_EQ_DYNCTA,
    WW_EQ_CCWS,
    WW_EQ_LRR, /* round-robin, on workloads with cache-sensitive kernels: the baseline, and with it */
    WW_EQ_LRR_PERFORMANCE,
    WW_EQ_LRR_DYNCTA,
    WW_EQ_MACHINES
};

struct ww_eq_kernel {
    const char *kernel, *row; /* ours, and the name in table 3.2 */
    enum ww_eq_class class;
    uint32_t ctas; /* CTAs of an SM in table 3.2 */
};

#define WW_EQ_SM_MHZ 700 /* of gtx480-eq */
#define WW_EQ_DRAM_MHZ 924

enum { WW_EQ_KERNELS = 27, WW_EQ_SMS = 15, WW_EQ_PARTS = 16, WW_EQ_INVOCATIONS = 32 };
extern const struct ww_eq_kernel ww_eq_kernel[WW_EQ_KERNELS];

/* Where an operating point's time goes (figure 3.9). */
enum ww_eq_level { WW_EQ_SM_UP, WW_EQ_SM_DOWN, WW_EQ_MEM_UP, WW_EQ_MEM_DOWN, WW_EQ_LEVELS };

/* Figures over time. A part is a sixteenth of a launch's cycles; figures are warps of an SM. */
struct ww_eq_part {
    double waiting, alu, mem, unpaused;
};
struct ww_eq_times {
    uint64_t invocation[WW_EQ_MACHINES][WW_EQ_INVOCATIONS]; /* ps of bfs's launches of its first kernel */
    size_t invocations;
    double level[WW_EQ_MACHINES][WW_EQ_KERNELS][WW_EQ_LEVELS]; /* ps at a domain's high or low point */
    struct ww_eq_part mri[WW_EQ_PARTS];                        /* baseline */
    struct ww_eq_part spmv_base[WW_EQ_PARTS], spmv[WW_EQ_PARTS], dyncta[WW_EQ_PARTS]; /* and under both */
};
/* A matrix's `seen`; `context` is the struct above. */
enum ww_code ww_eq_seen(void *context, size_t workload, size_t machine, const struct ww_result *result,
                        struct ww_error *error);

static inline const struct ww_matrix_sum *ww_eq_sum(const struct ww_matrix *b, size_t kernel, size_t m) {
    return &b->sum[m * b->kernels + kernel];
}
/* Time of the baseline over that of the machine; NAN where either was not measured. */
double ww_eq_speedup(const struct ww_matrix *b, size_t kernel, size_t machine);
/* Joules of the machine over those of the baseline; NAN as above. */
double ww_eq_energy(const struct ww_matrix *b, size_t kernel, size_t machine);
/* The machine of the fastest static number of CTAs; the baseline if none is faster. */
size_t ww_eq_best_ctas(const struct ww_matrix *b, size_t kernel);
/* Of the slow SM and the slow memory the one that saves more energy at no less than 0.95 of the performance;
 * the baseline if neither does. */
size_t ww_eq_static_best(const struct ww_matrix *b, size_t kernel);
/* Share of a kernel's accounted warp cycles (figure 3.4: neither at a barrier nor without an instruction). */
enum ww_eq_state { WW_EQ_WAITING, WW_EQ_ISSUED, WW_EQ_X_ALU, WW_EQ_X_MEM };
double ww_eq_state(const uint64_t warp_cycles[WW_STATE_COUNT], enum ww_eq_state state);

/* The same class under round-robin, the baseline of chapter IV: rows that inform. */
enum ww_code ww_eq_lrr(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error);
/* The rows of targets.csv. */
enum ww_code ww_eq_averages(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error);
/* A row for each kernel and bar of figures 3.1, 3.4, 3.5, 3.7, 3.8 and 3.10; and figures 3.2, 3.9 and 3.11. */
enum ww_code ww_eq_bars(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error);
enum ww_code ww_eq_time_rows(struct ww_validation *v, const struct ww_matrix *b, const struct ww_eq_times *t,
                             struct ww_error *error);

#endif
