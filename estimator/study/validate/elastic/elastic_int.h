/* elastic_int.h: what the files of suite "elastic" share. */
#ifndef WW_VALIDATE_ELASTIC_INT_H
#define WW_VALIDATE_ELASTIC_INT_H

#include "../../../api/validate.h"
#include "../../../result/result.h"
#include "../rows/matrix.h"

enum ww_elastic_machine {
    WW_ELASTIC_BASE,  /* unified memory stages */
    WW_ELASTIC_SPLIT, /* figure 4(b) */
    WW_ELASTIC_PURE,  /* elastic, any warp issues */
    WW_ELASTIC_FULL,  /* elastic, aware of conflicts: the paper's enhanced GPU */
    WW_ELASTIC_ANYWAY,
    WW_ELASTIC_MACHINES
};

/* Kernels: those of table 4 in its order, then the padded versions of its last five, in the same order. */
enum { WW_ELASTIC_CONFLICTING = 8, WW_ELASTIC_FIRST_STARRED = 3, WW_ELASTIC_KERNELS = 13 };

struct ww_elastic_kernel {
    const char *kernel, *row; /* ours, and the name in ids of rows */
    double threads;           /* of the grid */
};
extern const struct ww_elastic_kernel ww_elastic_kernel[WW_ELASTIC_KERNELS];

static inline const struct ww_matrix_sum *ww_elastic_sum(const struct ww_matrix *b, size_t kernel,
                                                         enum ww_elastic_machine m) {
    return &b->sum[(size_t)m * b->kernels + kernel];
}

/* The padded version of a starred kernel. */
static inline size_t ww_elastic_padded(size_t kernel) {
    return kernel - WW_ELASTIC_FIRST_STARRED + WW_ELASTIC_CONFLICTING;
}

/* Pipeline stalls of all causes. */
static inline double ww_elastic_stalls(const struct ww_matrix_sum *s) {
    return (double)(s->counter[WW_C_PIPE_STALL_SCHED] + s->counter[WW_C_PIPE_STALL_CONFLICT] +
                    s->counter[WW_C_PIPE_STALL_OTHER]);
}

/* Performance over another measurement of the same work, less one, in per cent. */
static inline double ww_elastic_gain(const struct ww_matrix_sum *before, const struct ww_matrix_sum *after) {
    return 100 * ((double)before->cycles / (double)after->cycles - 1);
}

/* A row for each kernel and bar of figures 8 to 11, which the text does not state. */
enum ww_code ww_elastic_bars(struct ww_validation *v, const struct ww_matrix *b, struct ww_error *error);

#endif
