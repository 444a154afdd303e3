/* core_copy.c: copies and fills of linear memory. They are done when the call returns. */
#include "core_graph.h"
#include <string.h>

#define LINK_BYTES_PER_US 12000.0 /* host link, PCIe 3.0 x16 as measured by common bandwidth tests */
#define LINK_LATENCY_US 8.0

void ww_rt_copy_time(size_t bytes, bool over_link) {
    const struct ww_gpu_spec *s = ww_rt.spec;
    double dram =
        s->dram_channels * (s->dram_bus_bits / 8.0) * s->dram_data_rate * s->clock_dram_mhz; /* bytes/us */
    ww_rt.now_us += LINK_LATENCY_US + (double)bytes / (over_link ? LINK_BYTES_PER_US : dram / 2);
}

/* The trace keeps what was written on the device; a child made by fork has no part in it. */
static void note(const void *p, size_t pitch, size_t width, size_t height, enum ww_trace_copy_kind kind) {
    struct ww_error error;
    struct ww_trace_copy copy = {.address = (uint64_t)(uintptr_t)p,
                                 .bytes = width,
                                 .pitch = height > 1 ? pitch : 0,
                                 .rows = (uint32_t)height,
                                 .kind = (uint8_t)kind};
    if (height > UINT32_MAX || !ww_rt.options.out || ww_rt.options.no_record || !ww_rt_recording()) return;
    if (ww_device_note_copy(ww_rt.device, &copy, &error) != WW_OK) ww_rt_say_error(&error, 0);
}

/* Pinned memory, which kernels see too, but which is the host's. */
static bool is_pinned(const void *p) {
    const struct rt_shared *s = ww_rt_shared_find(p);
    return s && s->kind != RT_KIND_MANAGED;
}

/* What the trace keeps of a copy's time. Copies within the host are not recorded. */
static void order(size_t bytes, const void *dst, bool to_device, const void *src, bool from_device) {
    struct ww_host_copy copy = {.bytes = bytes};
    copy.way = !to_device ? WW_COPY_FROM_DEVICE : from_device ? WW_COPY_WITHIN : WW_COPY_TO_DEVICE;
    if (to_device != from_device) copy.pageable = !is_pinned(to_device ? src : dst);
    ww_rt_order_copy(to_device || from_device ? &copy : NULL);
}

/* One side of a copy: `on_device` says what the kind claims. */
static int side(const void *p, size_t bytes, bool on_device, bool either, unsigned char **host, bool *device) {
    bool bad;
    *host = ww_rt_device_bytes(p, bytes, &bad);
    *device = *host != NULL;
    if (bad) return RT_ERROR_INVALID_VALUE;
    if (*host) return on_device || either || ww_rt_shared_find(p) ? 0 : RT_ERROR_INVALID_VALUE;
    if (on_device && !either) return RT_ERROR_INVALID_VALUE;
    *host = (unsigned char *)(uintptr_t)p;
    return p ? 0 : RT_ERROR_INVALID_VALUE;
}

static size_t span(size_t pitch, size_t width, size_t height) {
    size_t last, all;
    if (height == 0) return 0;
    if (__builtin_mul_overflow(pitch, height - 1, &last) || __builtin_add_overflow(last, width, &all))
        return SIZE_MAX;
    return all;
}

int ww_rt_copy_rows(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
                    int kind) {
    unsigned char *to, *from;
    bool to_device, from_device, either = kind == RT_COPY_DEFAULT;
    int done;
    const struct rt_op op = {RT_OP_COPY, {.copy = {dst, src, dst_pitch, src_pitch, width, height, kind}}};
    if (ww_rt_captured(NULL, &op, &done)) return done;
    if (kind < RT_HOST_TO_HOST || kind > RT_COPY_DEFAULT) return RT_ERROR_INVALID_MEMCPY_DIRECTION;
    if (width == 0 || height == 0) return 0;
    if (height > 1 && (dst_pitch < width || src_pitch < width)) return RT_ERROR_INVALID_PITCH_VALUE;
    bool wants_device = kind == RT_HOST_TO_DEVICE || kind == RT_DEVICE_TO_DEVICE;
    bool has_device = kind == RT_DEVICE_TO_HOST || kind == RT_DEVICE_TO_DEVICE;
    int code = side(dst, span(dst_pitch, width, height), wants_device, either, &to, &to_device);
    if (!code) code = side(src, span(src_pitch, width, height), has_device, either, &from, &from_device);
    if (code) return code;
    if (dst_pitch == width && src_pitch == width) {
        width *= height;
        height = 1;
    }
    for (size_t y = 0; y < height; y++) memmove(to + y * dst_pitch, from + y * src_pitch, width);
    to_device = to_device && !is_pinned(dst);
    from_device = from_device && !is_pinned(src);
    if (to_device) note(dst, dst_pitch, width, height, from_device ? WW_TRACE_COPY_DEVICE : WW_TRACE_COPY_HOST);
    ww_rt_copy_time(width * height, to_device != from_device);
    order(width * height, dst, to_device, src, from_device);
    return 0;
}

static void fill_row(unsigned char *to, const struct rt_fill *f) {
    if (f->element == 1) {
        memset(to, (int)f->value, f->width);
        return;
    }
    for (size_t x = 0; x + f->element <= f->width; x += f->element) memcpy(to + x, &f->value, f->element);
}

int ww_rt_fill_rows(const struct rt_fill *f) {
    bool bad;
    int done;
    const struct rt_op op = {RT_OP_FILL, {.fill = *f}};
    if (ww_rt_captured(NULL, &op, &done)) return done;
    if (f->width == 0 || f->height == 0) return 0;
    if (f->height > 1 && f->pitch < f->width) return RT_ERROR_INVALID_PITCH_VALUE;
    if ((uintptr_t)f->p % f->element) return RT_ERROR_INVALID_VALUE;
    unsigned char *to = ww_rt_device_bytes(f->p, span(f->pitch, f->width, f->height), &bad);
    if (!to) return RT_ERROR_INVALID_VALUE;
    for (size_t y = 0; y < f->height; y++) fill_row(to + y * f->pitch, f);
    const struct ww_host_copy copy = {.bytes = f->width * f->height, .way = WW_COPY_FILL};
    note(f->p, f->pitch, f->width, f->height, WW_TRACE_COPY_FILL);
    ww_rt_copy_time(f->width * f->height, false);
    ww_rt_order_copy(&copy);
    return 0;
}
