/* mascar_int.h: what the files of suite "mascar" share. */
#ifndef WW_VALIDATE_MASCAR_INT_H
#define WW_VALIDATE_MASCAR_INT_H

#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../rows/matrix.h"

/* Classes of the dissertation's table 4.3 and figure 4.8, and one kernel of no class, which no average counts:
 * kmeans-2 with points that are not coalesced. */
enum ww_mascar_class { WW_MASCAR_CACHE, WW_MASCAR_MEMORY, WW_MASCAR_COMPUTE, WW_MASCAR_SENSITIVITY };

/* Machines that are measured. */
enum ww_mascar_machine {
    WW_MASCAR_LRR,
    WW_MASCAR_GTO,
    WW_MASCAR_OWL,
    WW_MASCAR_CCWS,
    WW_MASCAR_MASCAR,
    WW_MASCAR_SCHEDULING,  /* Mascar without re-execution */
    WW_MASCAR_REEXECUTION, /* round-robin with it */
    WW_MASCAR_TWO_LEVEL,
    WW_MASCAR_QUEUES, /* figure 4.3, round-robin */
    WW_MASCAR_ASSOC,
    WW_MASCAR_DRAM,
    WW_MASCAR_L1,
    WW_MASCAR_ALL,
    WW_MASCAR_CLEARS_6, /* Mascar with another saturation flag, on a few workloads */
    WW_MASCAR_CLEARS_4,
    WW_MASCAR_CLEARS_2,
    WW_MASCAR_SETS_6,
    WW_MASCAR_MACHINES
};

struct ww_mascar_kernel {
    const char *kernel, *row; /* ours, and the name in table 4.3 */
    enum ww_mascar_class class;
};

enum { WW_MASCAR_KERNELS = 31 };
extern const struct ww_mascar_kernel ww_mascar_kernel[WW_MASCAR_KERNELS];

static inline const struct ww_matrix_sum *ww_mascar_sum(const struct ww_matrix *b, size_t kernel,
                                                        enum ww_mascar_machine m) {
    return &b->sum[(size_t)m * b->kernels + kernel];
}

/* A counter as a share of cycles in which SMs are active. */
static inline double ww_mascar_share(const struct ww_matrix_sum *s, enum ww_counter c) {
    double active = (double)s->counter[WW_C_SM_ACTIVE_CYCLES];
    return active > 0 ? (double)s->counter[c] / active : 0;
}

static inline double ww_mascar_leakage(const struct ww_matrix_sum *s) {
    double sum = 0;
    for (int c = 0; c < WW_COMPONENT_COUNT; c++) sum += c == WW_P_DRAM_BACKGROUND ? 0 : s->static_j[c];
    return sum;
}

/* Whether the kernel was measured with other saturation flags. */
bool ww_mascar_has_flags(const char *row);
/* The bars of figures 4.1, 4.3, 4.4 and 4.8 to 4.13, a row for each kernel; the text states none of them. */
enum ww_code ww_mascar_bars(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error);

#endif
