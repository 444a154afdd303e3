/* host.h: what the workloads' host sides share: rows of parameters, memory, launches, comparison.
 *
 * A workload is a body, called by ww_host_run() with a struct ww_host that holds the device, the module and
 * the random numbers of its seed, and an arena from which all host memory comes: a body returns at the first
 * error and frees nothing.
 *
 * Tolerances. u is the unit roundoff of a float, 2^-24. A float result is compared with a reference in
 * double precision; the allowed difference is `factor` * u * scale[i], where scale[i] is the sum of the
 * absolute values of the terms of element i and factor bounds the roundings on the longest path from an
 * input to the result (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1). The
 * double reference's own error is below 2^-29 of that and is not counted. Where inputs can be whole numbers
 * whose sums a float holds exactly, they are, and the comparison is exact.
 */
#ifndef WW_TRACES_WORKLOADS_HOST_H
#define WW_TRACES_WORKLOADS_HOST_H

#include "../../estimator/base/arena.h"
#include "../../estimator/base/rng.h"
#include "workload.h"

/* Parameters are written once, as PARAMS(U32, ENUM) with U32(field, key, unit, min, max, default, help) and
 * ENUM(field, key, names, default's index, default's name, help); rows and text come from it. Numbers are
 * written as they should be printed. The settings are struct settings in each file. */
#define WW_ROW_U32(f, key, unit, min, max, def, help) WW_PARAM_U32(settings, f, key, unit, min, max, def, help),
#define WW_ROW_ENUM(f, key, names, def, def_name, help) WW_PARAM_ENUM(settings, f, key, names, def, help),
#define WW_TEXT_U32(f, key, unit, min, max, def, help) key "=" #def " (" help "; " #min ".." #max ")\n"
#define WW_TEXT_ENUM(f, key, names, def, def_name, help) key "=" def_name " (" help "; " names ")\n"

/* The parameter that every workload has. */
#define WW_SIZE_PARAM(ENUM)                                                                                    \
    ENUM(size, "size", "small|default|large", 1, "default", "preset of the sizes that are left at 0")
enum { WW_SIZE_SMALL, WW_SIZE_DEFAULT, WW_SIZE_LARGE };

struct ww_host {
    const char *name; /* the workload's */
    struct ww_device *device;
    struct ww_module *module;
    struct ww_arena arena;
    struct ww_rng rng;
    struct ww_error *error;
};

typedef enum ww_code (*ww_host_body)(struct ww_host *h, const void *settings);

/* Loads the module `name`, seeds, calls body, frees the arena. */
enum ww_code ww_host_run(const char *name, ww_host_body body, const void *settings, struct ww_device *device,
                         uint64_t seed, struct ww_error *error);

/* The same with a module of another name, which several workloads share. */
enum ww_code ww_host_run_module(const char *name, const char *module, ww_host_body body, const void *settings,
                                struct ww_device *device, uint64_t seed, struct ww_error *error);

/* value, or where it is 0 the preset of `size`. */
uint32_t ww_host_size(uint32_t value, uint32_t size, uint32_t small, uint32_t normal, uint32_t large);
/* a / b rounded up; b > 0. */
uint32_t ww_host_ceil(uint64_t a, uint32_t b);

/* count elements of `size` bytes, zeroed, in *out. Errors: WW_NOMEM. */
enum ww_code ww_host_array(struct ww_host *h, void *out, size_t count, size_t size);
/* count random floats in [low, high) in *out. */
enum ww_code ww_host_random(struct ww_host *h, float **out, size_t count, double low, double high);

/* Zeroed device memory; the same with a copy of host memory; reading back. */
enum ww_code ww_host_buffer(struct ww_host *h, uint64_t *address, size_t count, size_t size);
enum ww_code ww_host_upload(struct ww_host *h, uint64_t *address, const void *data, size_t count, size_t size);
enum ww_code ww_host_read(struct ww_host *h, void *data, uint64_t address, size_t count, size_t size);
/* A texture of texels of 1, 2 or 4 unsigned words over device memory; its handle. Errors: WW_NOMEM. */
enum ww_code ww_host_texture(struct ww_host *h, uint64_t *handle, uint64_t address, size_t count,
                             uint32_t words);
/* Fills the module's variable in constant memory from its start. Errors: WW_USAGE (no such variable, too
 * small). */
enum ww_code ww_host_constant(struct ww_host *h, const char *name, const void *data, size_t count, size_t size);

/* A launch's shape. cluster: CTAs of each cluster, all 0: as the kernel says. */
struct ww_host_shape {
    uint32_t grid[3], block[3], shared, cluster[3];
};
/* grid x 1 x 1 CTAs of block x 1 x 1 threads. */
struct ww_host_shape ww_host_line(uint32_t grid, uint32_t block);
enum ww_code ww_host_launch(struct ww_host *h, const char *kernel, const struct ww_host_shape *shape,
                            const struct ww_arg *args, size_t count);
#define WW_ARG(lvalue)                                                                                         \
    { &(lvalue), sizeof(lvalue) }
#define WW_ARGS(args) (args), sizeof(args) / sizeof((args)[0])

/* Compare n elements of the output `array`. Errors: WW_MISMATCH with the first that differs. */
enum ww_code ww_host_same_u32(struct ww_host *h, const char *array, const uint32_t *got, const uint32_t *want,
                              size_t n);
enum ww_code ww_host_near_f32(struct ww_host *h, const char *array, const float *got, const double *want,
                              const double *scale, size_t n, double factor);

#define WW_UNIT_ROUNDOFF 0x1p-24

#endif
