/* rt_copy.c: copies and fills of linear memory and symbols. They are done when the call returns. */
#include "rt.h"
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
    if (to_device) note(dst, dst_pitch, width, height, from_device ? WW_TRACE_COPY_DEVICE : WW_TRACE_COPY_HOST);
    ww_rt_copy_time(width * height, to_device != from_device);
    return 0;
}

RT_EXPORT int cudaMemcpy(void *dst, const void *src, size_t n, int kind) {
    RT_ENTER;
    return ww_rt_set(ww_rt_copy_rows(dst, n, src, n, n, 1, kind));
}
RT_ALIAS(cudaMemcpy_ptds, cudaMemcpy)

RT_EXPORT int cudaMemcpyAsync(void *dst, const void *src, size_t n, int kind, void *stream) {
    (void)stream;
    return cudaMemcpy(dst, src, n, kind);
}
RT_ALIAS(cudaMemcpyAsync_ptsz, cudaMemcpyAsync)

RT_EXPORT int cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t n) {
    if (dst_device || src_device) return ww_rt_set(RT_ERROR_INVALID_DEVICE);
    return cudaMemcpy(dst, src, n, RT_DEVICE_TO_DEVICE);
}

RT_EXPORT int cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t n,
                                  void *stream) {
    (void)stream;
    return cudaMemcpyPeer(dst, dst_device, src, src_device, n);
}

RT_EXPORT int cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                           size_t height, int kind) {
    RT_ENTER;
    if (width > dst_pitch || width > src_pitch) return ww_rt_set(RT_ERROR_INVALID_PITCH_VALUE);
    return ww_rt_set(ww_rt_copy_rows(dst, dst_pitch, src, src_pitch, width, height, kind));
}
RT_ALIAS(cudaMemcpy2D_ptds, cudaMemcpy2D)

RT_EXPORT int cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                                size_t height, int kind, void *stream) {
    (void)stream;
    return cudaMemcpy2D(dst, dst_pitch, src, src_pitch, width, height, kind);
}
RT_ALIAS(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync)

/* ---- symbols ---- */

static int symbol_place(const void *symbol, size_t n, size_t offset, void **p) {
    uint64_t address, bytes;
    int code = ww_rt_symbol(symbol, &address, &bytes);
    if (code) return code;
    if (offset > bytes || n > bytes - offset) return RT_ERROR_INVALID_VALUE;
    *p = (void *)(uintptr_t)(address + offset);
    return 0;
}

RT_EXPORT int cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n, size_t offset, int kind) {
    void *p;
    RT_ENTER;
    if (kind != RT_HOST_TO_DEVICE && kind != RT_DEVICE_TO_DEVICE && kind != RT_COPY_DEFAULT)
        return ww_rt_set(RT_ERROR_INVALID_MEMCPY_DIRECTION);
    int code = symbol_place(symbol, n, offset, &p);
    return ww_rt_set(code ? code : ww_rt_copy_rows(p, n, src, n, n, 1, kind));
}
RT_ALIAS(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol)

RT_EXPORT int cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t n, size_t offset, int kind,
                                      void *stream) {
    (void)stream;
    return cudaMemcpyToSymbol(symbol, src, n, offset, kind);
}
RT_ALIAS(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync)

RT_EXPORT int cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t n, size_t offset, int kind) {
    void *p;
    RT_ENTER;
    if (kind != RT_DEVICE_TO_HOST && kind != RT_DEVICE_TO_DEVICE && kind != RT_COPY_DEFAULT)
        return ww_rt_set(RT_ERROR_INVALID_MEMCPY_DIRECTION);
    int code = symbol_place(symbol, n, offset, &p);
    return ww_rt_set(code ? code : ww_rt_copy_rows(dst, n, p, n, n, 1, kind));
}
RT_ALIAS(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol)

RT_EXPORT int cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t n, size_t offset, int kind,
                                        void *stream) {
    (void)stream;
    return cudaMemcpyFromSymbol(dst, symbol, n, offset, kind);
}
RT_ALIAS(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync)

/* ---- fills ---- */

static int fill_rows(void *p, size_t pitch, int value, size_t width, size_t height) {
    bool bad;
    if (width == 0 || height == 0) return 0;
    if (height > 1 && pitch < width) return RT_ERROR_INVALID_PITCH_VALUE;
    unsigned char *to = ww_rt_device_bytes(p, span(pitch, width, height), &bad);
    if (!to) return RT_ERROR_INVALID_VALUE;
    for (size_t y = 0; y < height; y++) memset(to + y * pitch, value, width);
    note(p, pitch, width, height, WW_TRACE_COPY_FILL);
    ww_rt_copy_time(width * height, false);
    return 0;
}

RT_EXPORT int cudaMemset(void *p, int value, size_t n) {
    RT_ENTER;
    return ww_rt_set(fill_rows(p, n, value, n, 1));
}
RT_ALIAS(cudaMemset_ptds, cudaMemset)

RT_EXPORT int cudaMemsetAsync(void *p, int value, size_t n, void *stream) {
    (void)stream;
    return cudaMemset(p, value, n);
}
RT_ALIAS(cudaMemsetAsync_ptsz, cudaMemsetAsync)

RT_EXPORT int cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    RT_ENTER;
    return ww_rt_set(fill_rows(p, pitch, value, width, height));
}
RT_ALIAS(cudaMemset2D_ptds, cudaMemset2D)

RT_EXPORT int cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, void *stream) {
    (void)stream;
    return cudaMemset2D(p, pitch, value, width, height);
}
RT_ALIAS(cudaMemset2DAsync_ptsz, cudaMemset2DAsync)

RT_EXPORT int cudaMemset3D(rt_pitched p, int value, rt_extent extent) {
    RT_ENTER;
    size_t slice;
    if (__builtin_mul_overflow(p.pitch, p.ysize, &slice)) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    for (size_t z = 0; z < extent.depth; z++) {
        int code = fill_rows((unsigned char *)p.ptr + z * slice, p.pitch, value, extent.width, extent.height);
        if (code) return ww_rt_set(code);
    }
    return 0;
}
RT_ALIAS(cudaMemset3D_ptds, cudaMemset3D)

RT_EXPORT int cudaMemset3DAsync(rt_pitched p, int value, rt_extent extent, void *stream) {
    (void)stream;
    return cudaMemset3D(p, value, extent);
}
RT_ALIAS(cudaMemset3DAsync_ptsz, cudaMemset3DAsync)
