/* device_host.h: what a host program's runtime needs of a device in addition to device.h: memory that host and
 * device share, a module's variables, what is known of a kernel. */
#ifndef WW_TRACES_PTX_DEVICE_HOST_H
#define WW_TRACES_PTX_DEVICE_HOST_H

#include "../../host_copy.h"
#include "device_new.h"

/* Device addresses of later allocations begin here, and `bytes` of them may be in use at a time. */
void ww_device_set_memory(struct ww_device *device, uint64_t address, uint64_t bytes);
/* Bytes of allocated device memory. */
uint64_t ww_device_memory_used(const struct ww_device *device);
/* Bytes that device malloc may use. */
void ww_device_set_heap(struct ww_device *device, uint64_t bytes);
uint64_t ww_device_heap(const struct ww_device *device);
/* Like ww_device_alloc and ww_device_free, with `pad` bytes (a multiple of 256) at both ends that kernels may
 * touch: on a GPU, too, an access slightly outside of an allocation mostly hits mapped memory. Errors: theirs.
 */
enum ww_code ww_device_alloc_padded(struct ww_device *device, size_t bytes, uint32_t pad, uint64_t *address,
                                    struct ww_error *error);
enum ww_code ww_device_free_padded(struct ww_device *device, uint64_t address, struct ww_error *error);
/* Kernels see host memory at its own address, until it is detached. The memory stays the caller's.
 * Errors: WW_USAGE (overlaps device memory), WW_NOMEM. */
enum ww_code ww_device_attach(struct ww_device *device, void *host, size_t bytes, struct ww_error *error);
/* Like it, where `pad` bytes in front of `host` and behind its `bytes` are mapped, too, and kernels may touch
 * them. */
enum ww_code ww_device_attach_padded(struct ww_device *device, void *host, size_t bytes, uint32_t pad,
                                     struct ww_error *error);
/* False if nothing begins at this address. */
bool ww_device_detach(struct ww_device *device, const void *host);

/* The allocation around a device address, without padding; false if there is none. host == base for attached
 * memory. */
struct ww_device_range {
    uint64_t base, bytes;
    unsigned char *host;
};
bool ww_device_find(const struct ww_device *device, uint64_t address, struct ww_device_range *range);

/* True if the device records into a file whose descriptor the program has closed: nothing more can be recorded.
 */
bool ww_device_recording_lost(const struct ww_device *device);
/* Device memory was written by a copy or a fill, which the trace keeps for the next launch that is recorded.
 * Errors: WW_NOMEM. */
enum ww_code ww_device_note_copy(struct ww_device *device, const struct ww_trace_copy *copy,
                                 struct ww_error *error);
/* The order of the next launch that is recorded (trace.h; copied). Errors: WW_NOMEM. */
enum ww_code ww_device_note_order(struct ww_device *device, const struct ww_trace_order *order,
                                  struct ww_error *error);
/* Notes when a copy may run, and copies that the next launch that is recorded waits for (../../host_copy.h).
 * Errors: WW_NOMEM. */
enum ww_code ww_device_note_host_copy(struct ww_device *device, const struct ww_host_copy *copy,
                                      struct ww_error *error);
enum ww_code ww_device_note_copy_waits(struct ww_device *device, const struct ww_copy_waits *waits,
                                       struct ww_error *error);
/* Launches are computed, not recorded, while paused. */
void ww_device_pause(struct ww_device *device, bool paused);

/* Launches that follow are cooperative, or not: such kernels find 16 bytes of zeroed memory through %envreg1
 * and %envreg2, in which their CTAs meet. Errors: WW_NOMEM. */
enum ww_code ww_device_cooperate(struct ww_device *device, bool cooperative, struct ww_error *error);

struct tex_object;
/* Adds a texture or surface object (tex.h, copied) and gives its handle. Errors: WW_NOMEM. */
enum ww_code ww_device_add_texture(struct ww_device *device, const struct tex_object *object, uint64_t *handle,
                                   struct ww_error *error);
/* The object of a handle, or NULL; valid until the next is added. */
struct tex_object *ww_device_texture(struct ww_device *device, uint64_t handle);

/* What is known of a kernel. */
struct ww_kernel_info {
    uint32_t param_count;
    uint64_t param_bytes;
    uint32_t registers; /* of a thread: as lowered, or 0 if the device does not record */
    uint64_t shared_bytes, local_bytes, constant_bytes;
    uint32_t max_threads, ptx_target, ptx_version;
};
/* Errors: WW_USAGE (no such kernel), those of the lowering. */
enum ww_code ww_device_kernel_info(struct ww_device *device, struct ww_module *module, const char *kernel,
                                   struct ww_kernel_info *info, struct ww_error *error);
/* Bytes and offset of a parameter; n < param_count. Call ww_device_kernel_info first. */
enum ww_code ww_device_kernel_param(struct ww_device *device, struct ww_module *module, const char *kernel,
                                    uint32_t n, uint64_t *offset, uint64_t *bytes, struct ww_error *error);
/* True if the module has this kernel. */
bool ww_module_has_kernel(struct ww_device *device, struct ww_module *module, const char *kernel);

#endif
