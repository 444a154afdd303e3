/* derive.h: GPU parameters from measurements.
 *
 * A latency that a load sees is the sum of parts of its path, of which a model's parameters are some. So the
 * same chase is run on the model as was run on the GPU, and the parameter changes by the difference, path by
 * path from the SM outwards: first the L1's latency, then, with that in place, the L2's, then DRAM's. What
 * belongs to no parameter stays as the base model has it. Instruction latencies, rates, clocks and what a
 * launch costs are taken as measured. The suite's kernels are never looked at.
 */
#ifndef WW_MEASURED_DERIVE_H
#define WW_MEASURED_DERIVE_H

#include "../../result/measured.h"
#include "hardware.h"

#define DERIVED_MOST 64

/* One parameter. */
struct ww_derived {
    const char *key;
    double base, value;
    char figure[160]; /* method and parameters of the measurement */
    char unit[16];
    double median, low, high; /* of it */
    uint64_t count;
    char note[200]; /* how the value comes from it */
};

struct ww_derivation {
    const struct ww_measured *measured;
    const char *base;
    struct ww_derived row[DERIVED_MOST];
    size_t count;
    char set[DERIVED_MOST][96]; /* "key=value", as overrides of the base */
    const char *override[DERIVED_MOST];
    struct ww_error *error;
};

/* A parameter's value in the base with the overrides so far; it must exist. */
enum ww_code ww_derive_param(const struct ww_derivation *d, const char *key, double *value);
/* Sets a parameter, rounded to a whole number unless `real`; a value that the row's bounds or other parameters
 * do not allow is WW_INPUT. */
enum ww_code ww_derive_set(struct ww_derivation *d, const char *key, double value, bool real,
                           const struct ww_measured_figure *f, const char *note);

/* The same without a check, for several that only fit together; ww_derive_param checks what has been put. */
enum ww_code ww_derive_put(struct ww_derivation *d, const char *key, double value, bool real,
                           const struct ww_measured_figure *f, const char *note);

/* The parts, in this order. A figure that the measurement lacks leaves its parameters unchanged. */
enum ww_code ww_derive_board(struct ww_derivation *d);        /* clocks, SMs, launches */
enum ww_code ww_derive_instructions(struct ww_derivation *d); /* pipelines, barriers */
enum ww_code ww_derive_memory(struct ww_derivation *d);       /* L1, shared memory, L2, DRAM */

#endif
