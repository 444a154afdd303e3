/* device.h: the device that a workload's host side sees.
 *
 * A device runs PTX kernels functionally and, when it has a recording, adds each launch to it. Allocation
 * is deterministic: the same calls give the same addresses. Work is done when a call returns; there are no
 * streams. Ownership: memory and modules belong to the device and live until it is freed.
 */
#ifndef WW_TRACES_DEVICE_H
#define WW_TRACES_DEVICE_H

#include "../estimator/base/err.h"

struct ww_device;
struct ww_module;

/* One kernel argument: `size` bytes at `data` (little-endian, as in C). Arguments are given in the order of
 * the kernel's .param declarations, which also decide where each one lies. */
struct ww_arg {
    const void *data;
    size_t size;
};

/* Reserves `bytes` (> 0) of zeroed global memory at a 256-byte aligned address.
 * Errors: WW_NOMEM, WW_USAGE (0 bytes). */
enum ww_code ww_device_alloc(struct ww_device *device, size_t bytes, uint64_t *address, struct ww_error *error);
/* Gives an allocation back. `address` 0 is fine. Errors: WW_USAGE (not the start of an allocation). */
enum ww_code ww_device_free(struct ww_device *device, uint64_t address, struct ww_error *error);

/* Copies n bytes to, from, or fills them in global memory. Errors: WW_USAGE (range outside one allocation). */
enum ww_code ww_device_write(struct ww_device *device, uint64_t address, const void *data, size_t n,
                             struct ww_error *error);
enum ww_code ww_device_read(struct ww_device *device, void *data, uint64_t address, size_t n,
                            struct ww_error *error);
enum ww_code ww_device_memset(struct ww_device *device, uint64_t address, unsigned char value, size_t n,
                              struct ww_error *error);
/* A texture of `count` texels of `words` (1, 2 or 4) unsigned words each in device memory; its handle, which
 * kernels are given. Errors: WW_NOMEM. */
enum ww_code ww_device_texture_u32(struct ww_device *device, uint64_t address, uint64_t count, uint32_t words,
                                   uint64_t *handle, struct ww_error *error);

/* An image that kernels fetch from: RGBA of 8 bits each, rows one after the other, first at `address`. */
struct ww_device_image {
    uint64_t address;
    uint32_t width, height;
};
/* Gives the image a handle for tex instructions: values of 0 to 1, linear filtering, coordinates of 0 to 1 that
 * repeat outside. The memory stays the image's own. Errors: WW_NOMEM, WW_USAGE (no pixels). */
enum ww_code ww_device_image(struct ww_device *device, const struct ww_device_image *image, uint64_t *handle,
                             struct ww_error *error);

/* A matrix by rows that bulk copies fetch boxes of. An element has 1 or 2 bytes, a row of a box 128 bytes, and
 * rows lie in shared memory swizzled by 128 bytes. */
struct ww_device_matrix {
    uint64_t address;
    uint32_t element, rows, columns, box_rows;
};
#define WW_DEVICE_MAP_BYTES 128u
/* The tensor map of the matrix, an argument of kernels. Errors: WW_USAGE (rows of no whole 16 bytes, a box that
 * is too large). */
enum ww_code ww_device_map(struct ww_device *device, const struct ww_device_matrix *matrix,
                           unsigned char map[WW_DEVICE_MAP_BYTES], struct ww_error *error);

/* Loads PTX: by the name of embedded text (embed.h), or from a file if `name_or_path` ends in ".ptx". The
 * same name gives the same module. Errors: WW_USAGE (no such name), WW_IO, WW_INPUT, WW_UNSUPPORTED. */
enum ww_code ww_device_module(struct ww_device *device, const char *name_or_path, struct ww_module **module,
                              struct ww_error *error);

/* A .global or .const variable of the module. A constant gets a device address at the first call. With `share`
 * the variable is moved to host memory at its own device address, so that the host can use it, too.
 * Errors: WW_USAGE (no such variable), WW_NOMEM, WW_IO (the address cannot be mapped). */
enum ww_code ww_device_variable(struct ww_device *device, struct ww_module *module, const char *name,
                                bool share, uint64_t *address, uint64_t *bytes, struct ww_error *error);

/* CTAs of a cluster of the launches that follow; all 0: as the kernel says. */
void ww_device_cluster(struct ww_device *device, const uint32_t cluster[3]);

/* Runs `kernel` to its end. `dynamic_shared` in bytes. Errors: WW_USAGE (no such kernel, number or sizes of
 * arguments differ from its parameters, a launch limit), WW_EXEC (the kernel misbehaved), WW_UNSUPPORTED. */
enum ww_code ww_device_launch(struct ww_device *device, struct ww_module *module, const char *kernel,
                              const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared,
                              const struct ww_arg *args, size_t count, struct ww_error *error);

#endif
