/* What the workloads' host sides share: rows of parameters, memory, launches, comparison. */
#include "host.h"
#include <math.h>
#include <string.h>

enum ww_code ww_host_run(const char *name, ww_host_body body, const void *settings, struct ww_device *device,
                         uint64_t seed, struct ww_error *error) {
    return ww_host_run_module(name, name, body, settings, device, seed, error);
}

enum ww_code ww_host_run_module(const char *name, const char *module, ww_host_body body, const void *settings,
                                struct ww_device *device, uint64_t seed, struct ww_error *error) {
    struct ww_host h = {.name = name, .device = device, .error = error};
    WW_TRY(ww_device_module(device, module, &h.module, error));
    ww_rng_seed(&h.rng, seed);
    ww_arena_init(&h.arena, 0);
    enum ww_code code = body(&h, settings);
    ww_arena_free(&h.arena);
    return code;
}

uint32_t ww_host_size(uint32_t value, uint32_t size, uint32_t small, uint32_t normal, uint32_t large) {
    if (value) return value;
    return size == WW_SIZE_SMALL ? small : size == WW_SIZE_LARGE ? large : normal;
}

uint32_t ww_host_ceil(uint64_t a, uint32_t b) {
    return (uint32_t)((a + b - 1) / b);
}

enum ww_code ww_host_array(struct ww_host *h, void *out, size_t count, size_t size) {
    void *p = ww_arena_array(&h->arena, count, size);
    if (!p) return ww_fail_nomem(h->error, "a workload's data");
    memcpy(out, &p, sizeof p);
    return WW_OK;
}

enum ww_code ww_host_random(struct ww_host *h, float **out, size_t count, double low, double high) {
    WW_TRY(ww_host_array(h, out, count, sizeof **out));
    for (size_t i = 0; i < count; i++) (*out)[i] = (float)(low + (high - low) * ww_rng_unit(&h->rng));
    return WW_OK;
}

enum ww_code ww_host_buffer(struct ww_host *h, uint64_t *address, size_t count, size_t size) {
    return ww_device_alloc(h->device, count * size, address, h->error);
}

enum ww_code ww_host_upload(struct ww_host *h, uint64_t *address, const void *data, size_t count, size_t size) {
    WW_TRY(ww_host_buffer(h, address, count, size));
    return ww_device_write(h->device, *address, data, count * size, h->error);
}

enum ww_code ww_host_read(struct ww_host *h, void *data, uint64_t address, size_t count, size_t size) {
    return ww_device_read(h->device, data, address, count * size, h->error);
}

enum ww_code ww_host_texture(struct ww_host *h, uint64_t *handle, uint64_t address, size_t count,
                             uint32_t words) {
    return ww_device_texture_u32(h->device, address, count, words, handle, h->error);
}

enum ww_code ww_host_constant(struct ww_host *h, const char *name, const void *data, size_t count,
                              size_t size) {
    uint64_t address, bytes;
    WW_TRY(ww_device_variable(h->device, h->module, name, false, &address, &bytes, h->error));
    return ww_device_write(h->device, address, data, count * size, h->error);
}

struct ww_host_shape ww_host_line(uint32_t grid, uint32_t block) {
    return (struct ww_host_shape){.grid = {grid, 1, 1}, .block = {block, 1, 1}, .shared = 0};
}

enum ww_code ww_host_launch(struct ww_host *h, const char *kernel, const struct ww_host_shape *shape,
                            const struct ww_arg *args, size_t count) {
    ww_device_cluster(h->device, shape->cluster);
    return ww_device_launch(h->device, h->module, kernel, shape->grid, shape->block, shape->shared, args, count,
                            h->error);
}

enum ww_code ww_host_same_u32(struct ww_host *h, const char *array, const uint32_t *got, const uint32_t *want,
                              size_t n) {
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            return ww_fail(h->error, WW_MISMATCH, h->name, "%s[%zu] is %u, expected %u exactly", array, i,
                           got[i], want[i]);
    return WW_OK;
}

enum ww_code ww_host_near_f32(struct ww_host *h, const char *array, const float *got, const double *want,
                              const double *scale, size_t n, double factor) {
    for (size_t i = 0; i < n; i++) {
        double tolerance = factor * WW_UNIT_ROUNDOFF * scale[i];
        double difference = fabs((double)got[i] - want[i]);
        if (!(difference <= tolerance)) /* true for NaN too */
            return ww_fail(h->error, WW_MISMATCH, h->name, "%s[%zu] is %.9g, expected %.9g within %.3g", array,
                           i, (double)got[i], want[i], tolerance);
    }
    return WW_OK;
}
