/* rt_copy.c: copies and fills of linear memory and symbols. They are done when the call returns. */
#include "core_graph.h"
#include <string.h>

RT_EXPORT int cudaMemcpy(void *dst, const void *src, size_t n, int kind) {
    RT_ENTER;
    return ww_rt_set(ww_rt_copy_rows(dst, n, src, n, n, 1, kind));
}
RT_ALIAS(cudaMemcpy_ptds, cudaMemcpy)

RT_EXPORT int cudaMemcpyAsync(void *dst, const void *src, size_t n, int kind, void *stream) {
    RT_ON(stream);
    return cudaMemcpy(dst, src, n, kind);
}
RT_ALIAS(cudaMemcpyAsync_ptsz, cudaMemcpyAsync)

RT_EXPORT int cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t n) {
    if (dst_device || src_device) return ww_rt_set(RT_ERROR_INVALID_DEVICE);
    return cudaMemcpy(dst, src, n, RT_DEVICE_TO_DEVICE);
}

RT_EXPORT int cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t n,
                                  void *stream) {
    RT_ON(stream);
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
    RT_ON(stream);
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
    RT_ON(stream);
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
    RT_ON(stream);
    return cudaMemcpyFromSymbol(dst, symbol, n, offset, kind);
}
RT_ALIAS(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync)

/* ---- fills ---- */

static int fill(void *p, size_t pitch, int value, size_t width, size_t height) {
    const struct rt_fill f = {p, pitch, width, height, (uint32_t)value, 1};
    return ww_rt_fill_rows(&f);
}

RT_EXPORT int cudaMemset(void *p, int value, size_t n) {
    RT_ENTER;
    return ww_rt_set(fill(p, n, value, n, 1));
}
RT_ALIAS(cudaMemset_ptds, cudaMemset)

RT_EXPORT int cudaMemsetAsync(void *p, int value, size_t n, void *stream) {
    RT_ON(stream);
    return cudaMemset(p, value, n);
}
RT_ALIAS(cudaMemsetAsync_ptsz, cudaMemsetAsync)

RT_EXPORT int cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    RT_ENTER;
    return ww_rt_set(fill(p, pitch, value, width, height));
}
RT_ALIAS(cudaMemset2D_ptds, cudaMemset2D)

RT_EXPORT int cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, void *stream) {
    RT_ON(stream);
    return cudaMemset2D(p, pitch, value, width, height);
}
RT_ALIAS(cudaMemset2DAsync_ptsz, cudaMemset2DAsync)

RT_EXPORT int cudaMemset3D(rt_pitched p, int value, rt_extent extent) {
    RT_ENTER;
    size_t slice;
    if (__builtin_mul_overflow(p.pitch, p.ysize, &slice)) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    for (size_t z = 0; z < extent.depth; z++) {
        int code = fill((unsigned char *)p.ptr + z * slice, p.pitch, value, extent.width, extent.height);
        if (code) return ww_rt_set(code);
    }
    return 0;
}
RT_ALIAS(cudaMemset3D_ptds, cudaMemset3D)

RT_EXPORT int cudaMemset3DAsync(rt_pitched p, int value, rt_extent extent, void *stream) {
    RT_ON(stream);
    return cudaMemset3D(p, value, extent);
}
RT_ALIAS(cudaMemset3DAsync_ptsz, cudaMemset3DAsync)
