/* workload.h: what a built-in workload is.
 *
 * A workload is the host side of a CUDA program in plain C: it makes its inputs from a seed, launches
 * kernels of its PTX module on a device, reads the results back and compares them with a reference that is
 * computed in plain C. It calls device.h and nothing else of the recorder. Adding one is a file in
 * workloads/ that ends in a const ops struct, its kernel in kernels/, and a line in workload_list.def.
 */
#ifndef WW_TRACES_WORKLOAD_H
#define WW_TRACES_WORKLOAD_H

#include "../../estimator/config/param.h"
#include "../device.h"

struct ww_workload_ops {
    const char *name, *help;
    const struct ww_param *params; /* one row each; the struct they describe is `settings` */
    size_t param_count;
    const char *param_text; /* the rows for people: lines "key=default (help; bounds)" */
    size_t settings_size;
    const char *ptx_name; /* embedded PTX: kernels/PTX_NAME.ptx */
    const char *arch; /* NULL: any; "sm_80": what it needs at least; "sm_90a": it runs there and nowhere else */
    /* Runs all launches and compares. `settings` has been filled from `params` (defaults, then the user's
     * values, each under its bounds). Same settings and seed: same launches and data. Frees what it takes
     * from the heap; device memory is left to the device.
     * Errors: WW_MISMATCH (output differs from the reference: the text names array, index, value, expected
     * value and tolerance), WW_USAGE (values that do not fit together), WW_NOMEM, any of the device's. */
    enum ww_code (*run)(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error);
};

/* All of them: ww_workload_NAME. */
#define X(name) extern const struct ww_workload_ops ww_workload_##name;
#include "workload_list.def"
#undef X

/* The i-th workload's ops, in the order of workload_list.def; i < ww_workload_count() (warpwatt.h). */
const struct ww_workload_ops *ww_workload_at(size_t i);
/* The workload of that name, or NULL. */
const struct ww_workload_ops *ww_workload_find(const char *name);

enum { WW_WORKLOAD_ARCH = 64 };
/* The architecture to record for: `arch`, or where it is NULL what the workload needs, sm_70 if that is
 * nothing; in *chosen, of WW_WORKLOAD_ARCH bytes. Errors: WW_USAGE (one that cannot run the workload). */
enum ww_code ww_workload_arch(const struct ww_workload_ops *ops, const char *arch, char *chosen,
                              struct ww_error *error);

/* A workload with its parameters set: `settings` is from the heap, free with free(). `parameters` are
 * `count` texts "key=value", later ones win. Errors: WW_USAGE (unknown name or key; the text lists what
 * there is), WW_INPUT (value out of bounds), WW_NOMEM. */
enum ww_code ww_workload_prepare(const char *name, const char *const *parameters, size_t count,
                                 const struct ww_workload_ops **ops, void **settings, struct ww_error *error);

#endif
