/* The host sides of the workloads over a device that runs nothing: what they write, what they launch, and
 * that results that are wrong (here: left at zero) are found to be wrong. */
#include "../../estimator/warpwatt.h"
#include "../../traces/workloads/workload.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* clang-format off: cmocka needs the above first */
#include <cmocka.h>
/* clang-format on */

enum { BLOCKS_MAX = 64 };

struct ww_device {
    void *block[BLOCKS_MAX];
    size_t block_count;
    uint64_t written; /* hash of all bytes written */
    uint32_t launches;
    uint32_t grid[3], block_dim[3]; /* of the first launch */
    char kernel[64];
    size_t arg_count;
};
struct ww_module {
    int unused;
};

/* ---- the device of device.h ---- */

enum ww_code ww_device_alloc(struct ww_device *device, size_t bytes, uint64_t *address,
                             struct ww_error *error) {
    if (bytes == 0 || device->block_count == BLOCKS_MAX) return ww_fail(error, WW_USAGE, "", "allocation");
    void *p = calloc(1, bytes);
    if (!p) return ww_fail_nomem(error, "test");
    device->block[device->block_count++] = p;
    *address = (uint64_t)(uintptr_t)p;
    return WW_OK;
}

static void hash(struct ww_device *device, const void *data, size_t n) {
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) device->written = (device->written ^ p[i]) * 0x100000001b3u;
}

enum ww_code ww_device_write(struct ww_device *device, uint64_t address, const void *data, size_t n,
                             struct ww_error *error) {
    (void)error;
    hash(device, data, n);
    memcpy((void *)(uintptr_t)address, data, n);
    return WW_OK;
}

enum ww_code ww_device_read(struct ww_device *device, void *data, uint64_t address, size_t n,
                            struct ww_error *error) {
    (void)device;
    (void)error;
    memcpy(data, (void *)(uintptr_t)address, n);
    return WW_OK;
}

enum ww_code ww_device_memset(struct ww_device *device, uint64_t address, unsigned char value, size_t n,
                              struct ww_error *error) {
    (void)device;
    (void)error;
    memset((void *)(uintptr_t)address, value, n);
    return WW_OK;
}

enum ww_code ww_device_texture_u32(struct ww_device *device, uint64_t address, uint64_t count, uint32_t words,
                                   uint64_t *handle, struct ww_error *error) {
    (void)device;
    (void)address;
    (void)count;
    (void)words;
    (void)error;
    *handle = 1;
    return WW_OK;
}

enum ww_code ww_device_variable(struct ww_device *device, struct ww_module *module, const char *name,
                                bool share, uint64_t *address, uint64_t *bytes, struct ww_error *error) {
    static char variable[20000];
    (void)device;
    (void)module;
    (void)name;
    (void)share;
    (void)error;
    *address = (uintptr_t)variable;
    *bytes = sizeof variable;
    return WW_OK;
}

enum ww_code ww_device_map(struct ww_device *device, const struct ww_device_matrix *matrix,
                           unsigned char map[WW_DEVICE_MAP_BYTES], struct ww_error *error) {
    (void)device;
    (void)matrix;
    (void)error;
    memset(map, 0, WW_DEVICE_MAP_BYTES);
    return WW_OK;
}

void ww_device_cluster(struct ww_device *device, const uint32_t cluster[3]) {
    (void)device;
    (void)cluster;
}

enum ww_code ww_device_image(struct ww_device *device, const struct ww_device_image *image, uint64_t *handle,
                             struct ww_error *error) {
    (void)device;
    (void)image;
    (void)error;
    *handle = 1;
    return WW_OK;
}

enum ww_code ww_device_module(struct ww_device *device, const char *name_or_path, struct ww_module **module,
                              struct ww_error *error) {
    (void)device;
    (void)name_or_path;
    (void)error;
    *module = NULL;
    return WW_OK;
}

enum ww_code ww_device_launch(struct ww_device *device, struct ww_module *module, const char *kernel,
                              const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared,
                              const struct ww_arg *args, size_t count, struct ww_error *error) {
    (void)module;
    (void)dynamic_shared;
    (void)args;
    (void)error;
    if (device->launches++ == 0) {
        memcpy(device->grid, grid, sizeof device->grid);
        memcpy(device->block_dim, block, sizeof device->block_dim);
        snprintf(device->kernel, sizeof device->kernel, "%s", kernel);
        device->arg_count = count;
    }
    return WW_OK;
}

/* ---- helpers ---- */

static void release(struct ww_device *device) {
    for (size_t i = 0; i < device->block_count; i++) free(device->block[i]);
    device->block_count = 0;
}

static enum ww_code run(const char *name, const char *const *parameters, size_t count, uint64_t seed,
                        struct ww_device *device, struct ww_error *error) {
    const struct ww_workload_ops *ops;
    void *settings;
    memset(device, 0, sizeof *device);
    WW_TRY(ww_workload_prepare(name, parameters, count, &ops, &settings, error));
    enum ww_code code = ops->run(settings, device, seed, error);
    free(settings);
    release(device);
    return code;
}

static enum ww_code run_small(const char *name, const char *parameter, struct ww_device *device,
                              struct ww_error *error) {
    const char *parameters[] = {"size=small", parameter};
    return run(name, parameters, parameter ? 2 : 1, 1, device, error);
}

/* ---- tests ---- */

static void wrong_results_of_every_workload_are_mismatches(void **state) {
    (void)state;
    for (size_t i = 0; i < ww_workload_count(); i++) {
        struct ww_device device;
        struct ww_error error = {0};
        const char *name = ww_workload_at(i)->name;
        assert_int_equal(run_small(name, NULL, &device, &error), WW_MISMATCH);
        assert_string_equal(error.where, name);
        assert_non_null(strstr(error.text, "expected"));
    }
}

/* Those after the ten basic workloads take grid and block from the papers that they follow. */
static void default_sizes_of_the_basic_workloads_fill_v100_twice(void **state) {
    (void)state;
    for (size_t i = 0; i < 10; i++) {
        struct ww_device device;
        struct ww_error error;
        (void)run(ww_workload_at(i)->name, NULL, 0, 1, &device, &error);
        uint32_t threads = device.block_dim[0] * device.block_dim[1] * device.block_dim[2];
        uint32_t resident = 2048 / threads > 32 ? 32 : 2048 / threads; /* CTAs of an SM at most */
        uint64_t ctas = (uint64_t)device.grid[0] * device.grid[1] * device.grid[2];
        assert_true(threads % 32 == 0);
        assert_true(ctas >= 2u * 80u * resident);
    }
}

static void same_seed_gives_the_same_inputs(void **state) {
    (void)state;
    const char *const small[] = {"size=small"};
    for (size_t i = 0; i < ww_workload_count(); i++) {
        struct ww_device a, b, c;
        struct ww_error error;
        const char *name = ww_workload_at(i)->name;
        (void)run(name, small, 1, 5, &a, &error);
        (void)run(name, small, 1, 5, &b, &error);
        (void)run(name, small, 1, 6, &c, &error);
        assert_true(a.written == b.written);
        assert_true(a.written != c.written);
    }
}

static void variants_choose_the_kernel(void **state) {
    (void)state;
    static const char *const table[][3] = {
        {"vectoradd", "variant=vec4", "vectoradd_vec4"},
        {"transpose", "variant=naive", "transpose_naive"},
        {"transpose", "variant=coalesced", "transpose_coalesced"},
        {"transpose", "variant=padded", "transpose_padded"},
        {"reduction", "variant=interleaved", "reduction_interleaved"},
        {"reduction", "variant=sequential", "reduction_sequential"},
        {"reduction", "variant=shuffle", "reduction_shuffle"},
        {"sgemm", "variant=register", "sgemm_register"},
        {"spmv", "variant=scalar", "spmv_scalar"},
        {"spmv", "variant=vector", "spmv_vector"},
        {"spmv", "variant=jds", "spmv_jds"},
        {"bfs", "variant=topology", "bfs_topology"},
        {"bfs", "variant=frontier", "bfs_frontier"},
        {"kmeans", "variant=aos", "kmeans_assign_aos"},
        {"stencil", "variant=march", "stencil_march"},
        {"histogram", "variant=global", "histogram_global"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ww_device device;
        struct ww_error error;
        (void)run_small(table[i][0], table[i][1], &device, &error);
        assert_string_equal(device.kernel, table[i][2]);
    }
}

static void explicit_sizes_override_the_preset(void **state) {
    (void)state;
    struct ww_device device;
    struct ww_error error;
    const char *const parameters[] = {"size=large", "n=1000", "block=100"};
    (void)run("vectoradd", parameters, 3, 1, &device, &error);
    assert_int_equal(device.grid[0], 10);
    assert_int_equal(device.block_dim[0], 100);
}

static void stencil_launches_once_per_iteration(void **state) {
    (void)state;
    struct ww_device device;
    struct ww_error error;
    (void)run_small("stencil", "iterations=7", &device, &error);
    assert_int_equal(device.launches, 7);
}

static void reduction_launches_until_one_sum_is_left(void **state) {
    (void)state;
    struct ww_device device;
    struct ww_error error;
    const char *const parameters[] = {"n=5000", "block=32", "per_thread=1"};
    (void)run("reduction", parameters, 3, 1, &device, &error);
    assert_int_equal(device.launches, 3); /* 5000 -> 157 -> 5 -> 1 */
}

static void values_that_do_not_fit_together_are_usage_errors(void **state) {
    (void)state;
    static const char *const table[][4] = {
        {"vectoradd", "n=1001", "variant=vec4", "multiple of 4"},
        {"reduction", "block=96", "n=10", "power of two"},
        {"reduction", "block=16", "variant=shuffle", "32"},
        {"spmv", "block=100", "variant=vector", "multiple of 32"},
        {"stencil", "block_x=64", "block_y=32", "1024"},
        {"transpose", "rows=65536", "cols=65536", "2^28"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct ww_device device;
        struct ww_error error = {0};
        assert_int_equal(run(table[i][0], &table[i][1], 2, 1, &device, &error), WW_USAGE);
        assert_non_null(strstr(error.text, table[i][3]));
        assert_int_equal(device.launches, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_results_of_every_workload_are_mismatches),
        cmocka_unit_test(default_sizes_of_the_basic_workloads_fill_v100_twice),
        cmocka_unit_test(same_seed_gives_the_same_inputs),
        cmocka_unit_test(variants_choose_the_kernel),
        cmocka_unit_test(explicit_sizes_override_the_preset),
        cmocka_unit_test(stencil_launches_once_per_iteration),
        cmocka_unit_test(reduction_launches_until_one_sum_is_left),
        cmocka_unit_test(values_that_do_not_fit_together_are_usage_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
