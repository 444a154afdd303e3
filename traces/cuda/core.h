/* core.h: what the runtime's and the driver's interfaces share: memory, arrays, textures, kernels, streams and
 * events.
 *
 * It lives in libcuda.so.1, once in a process; libcudart.so calls it there. Callers hold the lock (RT_ENTER).
 * What returns int returns RT_ERROR_..., 0 if it went well.
 */
#ifndef WW_TRACES_CUDA_CORE_H
#define WW_TRACES_CUDA_CORE_H

#include "rt.h"
#include "../host_copy.h"
#include "rt_array.h"

#pragma GCC visibility push(default)

/* ---- core_memory.c ---- */
int ww_rt_device_new(void **p, size_t bytes);
/* Rounds the width up to the pitch; false if sizes are too large. */
bool ww_rt_pitched_bytes(size_t width, size_t rows, size_t *pitch, size_t *bytes);
int ww_rt_shared_alloc(void **p, size_t bytes, enum rt_kind kind, unsigned flags);
/* Device or managed memory, and pinned memory. NULL is fine. */
int ww_rt_free(void *p);
int ww_rt_free_host(void *p);
int ww_rt_register_host(void *p, size_t bytes, unsigned flags);
int ww_rt_unregister_host(void *p);
/* The allocation around an address; false if there is none. */
bool ww_rt_find(const void *p, struct ww_device_range *range);
uint64_t ww_rt_memory_used(void);
uint64_t ww_rt_heap(void);
void ww_rt_set_heap(uint64_t bytes);

/* ---- core_device.c ---- */
/* Limits of the device, by their number in both interfaces. */
int ww_rt_set_limit(int limit, size_t value);
int ww_rt_get_limit(int limit, size_t *value);

/* ---- core_copy.c ---- */
/* `value` fills elements of `element` bytes: 1, 2 or 4. `width` is in bytes. */
struct rt_fill {
    void *p;
    size_t pitch, width, height;
    uint32_t value;
    unsigned element;
};
int ww_rt_fill_rows(const struct rt_fill *f);

/* ---- core_array.c, core_texture.c ---- */
int ww_rt_array_new(struct rt_array **out, const rt_channel *c, rt_extent e, unsigned flags);
int ww_rt_array_free(struct rt_array *array);
/* The place of (x bytes, y) in the array if width x height bytes fit there, and its pitch. */
int ww_rt_array_place(const void *array, size_t x, size_t y, size_t width, size_t height, unsigned char **p,
                      size_t *pitch);
int ww_rt_copy_3d(const rt_copy3d *c);
int ww_rt_texture_new(unsigned long long *out, const rt_resource *r, const rt_texture *t, const void *view);
int ww_rt_surface_new(unsigned long long *out, const rt_resource *r);
int ww_rt_texture_free(unsigned long long handle, bool surface);

/* ---- core_module.c ---- */
/* Adds a kernel or a variable of a binary; `host` is what the program knows it by, NULL: its own address. NULL
 * if memory is short. */
struct rt_kernel *ww_rt_add_kernel(struct rt_binary *binary, const void *host, const char *name);
struct rt_variable *ww_rt_add_variable(struct rt_binary *binary, const void *host, const char *name,
                                       size_t bytes);
struct rt_binary *ww_rt_add_binary(const void *data, const void *const *linked);
/* A fat binary, the wrapper of one, a cubin, or PTX text that ends with 0; its length is not given. It is
 * copied and loaded. */
int ww_rt_load_image(const void *image, struct rt_binary **out);
/* The same of `n` bytes, but for the wrapper. */
int ww_rt_load_bytes(const void *image, uint64_t n, struct rt_binary **out);
/* Address and size of a variable of a loaded binary. */
int ww_rt_variable(struct rt_binary *b, const char *name, uint64_t *address, uint64_t *bytes);
/* Makes a managed variable visible at its address on the host. */
int ww_rt_share_variable(struct rt_binary *b, const char *name, uint64_t *address);
bool ww_rt_has_kernel(struct rt_binary *b, const char *name);

/* ---- core_launch.c ---- */
int ww_rt_launch(struct rt_kernel *k, const rt_launch_config *c, void **arguments);
int ww_rt_kernel_info(const void *function, struct rt_kernel **k, struct ww_kernel_info *info);
int ww_rt_kernel_param(const struct rt_kernel *k, const struct ww_kernel_info *info, uint64_t n,
                       uint64_t *offset, uint64_t *bytes);
/* CTAs that an SM holds at a time; all CTAs of a cooperative launch are resident. */
uint32_t ww_rt_resident(const struct ww_kernel_info *info, uint32_t threads, uint64_t dynamic);
int ww_rt_cooperative_fits(struct rt_kernel *k, const rt_launch_config *c);
int ww_rt_set_dynamic_shared(const void *function, int bytes);
/* Dynamic shared memory with which `blocks` CTAs of `threads` are resident. */
int ww_rt_available_shared(size_t *bytes, const void *function, int blocks, int threads);
/* Clusters of such a launch that the GPU holds at a time; CTAs of the largest cluster that runs everywhere. */
int ww_rt_active_clusters(int *clusters, const void *function, const rt_launch_config *c);
int ww_rt_cluster_size(int *size, const void *function, const rt_launch_config *c);

/* ---- core_stream.c ---- */
struct rt_node;
struct rt_capture;
/* The last nodes of a stream that is captured. */
struct rt_tail {
    struct rt_node **node;
    size_t count;
};
/* Up to which launch (number + 1) of a stream everything is done, and up to which launch or copy of it. */
struct rt_clock_entry {
    uint32_t lane, launch;        /* the stream's number in the trace */
    uint64_t operation, numbered; /* of launches and copies, from 1; its name in the trace (host_copy.h) */
};
struct rt_clock {
    struct rt_clock_entry *entry; /* by lane */
    size_t count;
};
struct rt_stream {
    uint32_t lane;
    struct rt_clock clock;
    uint64_t id;
    unsigned flags;
    int priority;
    struct rt_capture *capture; /* NULL: none */
    struct rt_tail tail;
    struct rt_stream *next;
};
struct rt_event {
    double at_us;
    bool recorded, timed;
    struct rt_capture *capture; /* that it was recorded in last, or NULL */
    struct rt_tail tail;
    struct rt_clock clock;
    struct rt_event *next;
};
/* The default streams have small numbers for handles. */
bool ww_rt_known_stream(const void *stream);
bool ww_rt_known_event(const struct rt_event *event);
int ww_rt_stream_new(struct rt_stream **out, unsigned flags, int priority);
int ww_rt_stream_free(struct rt_stream *stream);
int ww_rt_event_new(struct rt_event **out, unsigned flags);
int ww_rt_event_free(struct rt_event *event);
int ww_rt_event_record(struct rt_event *event, void *stream);
int ww_rt_stream_wait(void *stream, struct rt_event *event);
/* What the program waits for is done before what it asks for next. */
void ww_rt_order_host_waits(const void *stream);
void ww_rt_order_host_waits_event(const struct rt_event *event);
void ww_rt_order_host_waits_all(void);
/* The program waits for the stream, which must not be captured. */
int ww_rt_stream_synchronize(void *stream);
int ww_rt_event_elapsed(float *ms, const struct rt_event *start, const struct rt_event *stop);

#pragma GCC visibility pop

/* ---- core_order.c ---- */
/* A launch of the stream is about to be recorded. */
int ww_rt_order_launch(const void *stream);
/* A copy was done (NULL: none that a trace keeps). The host waits for copies of streams that the program did
 * not make, and for copies from the device to memory that is not pinned. */
void ww_rt_order_copy(const struct ww_host_copy *copy);
/* The clock of the stream's next operation. */
struct rt_clock *ww_rt_order_clock(const void *stream);
void ww_rt_clock_merge(struct rt_clock *to, const struct rt_clock *more);
void ww_rt_clock_free(struct rt_clock *c);
uint32_t ww_rt_new_lane(void);
/* Launches that follow belong to a node with this clock; NULL: to no node. */
void ww_rt_order_node(struct rt_clock *clock, uint32_t lane, int priority);

/* Heads of the lists. */
struct rt_stream *ww_rt_streams(void);
struct rt_event *ww_rt_events(void);
/* core_capture.c, for core_stream.c. True if the event became part of a capture. */
bool ww_rt_capture_event(struct rt_event *event, void *stream, int *code);
int ww_rt_capture_wait(void *stream, const struct rt_event *event);

#endif
