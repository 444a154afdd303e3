/* rt_register.c: fat binaries, kernels and variables that a program's start-up code registers. */
#include "core.h"

RT_EXPORT void **__cudaRegisterFatBinary(void *fatbin) {
    const struct rt_wrapper *w = fatbin;
    RT_LOCK;
    bool wrapped = ww_rt_readable(fatbin) >= sizeof *w && w->magic == RT_WRAPPER_MAGIC;
    struct rt_binary *b = wrapped ? ww_rt_add_binary(w->data, w->version >= 2 ? w->linked : NULL)
                                  : ww_rt_add_binary(fatbin, NULL);
    return b ? &b->self : NULL;
}

RT_EXPORT void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle;
}

/* Modules stay until the process ends: other exit handlers may still use them. */
RT_EXPORT void __cudaUnregisterFatBinary(void **handle) {
    (void)handle;
}

static struct rt_binary *binary_of(void **handle) {
    return handle ? *handle : NULL;
}

RT_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                      int limit, void *tid, void *bid, rt_dim3 *block, rt_dim3 *grid,
                                      int *warp) {
    (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    RT_LOCK;
    ww_rt_add_kernel(binary_of(handle), host, name);
}

RT_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                                 size_t size, int constant, int global) {
    (void)device, (void)ext, (void)constant, (void)global;
    RT_LOCK;
    ww_rt_add_variable(binary_of(handle), host, name, size);
}

/* The program reads a managed variable through *host, so its module is loaded now. */
RT_EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
                                        size_t size, int constant, int global) {
    (void)device, (void)ext, (void)constant, (void)global;
    RT_LOCK;
    const struct rt_variable *v = ww_rt_add_variable(binary_of(handle), host, name, size);
    uint64_t address;
    if (!v || ww_rt_enter() || ww_rt_load(v->binary)) return;
    if (ww_rt_share_variable(v->binary, name, &address) == 0)
        *host = (void *)(uintptr_t)address; /* on both sides */
}

RT_EXPORT char __cudaInitModule(void **handle) {
    (void)handle;
    return 1;
}

RT_EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) {
    (void)handle, (void)name, (void)host, (void)size;
}

static void refuse_old(const char *what, const char *name) {
    ww_rt_say("%s '%s': references of file scope are not supported; use cudaCreateTextureObject or "
              "cudaCreateSurfaceObject",
              what, name);
}

RT_EXPORT void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name,
                                     int dim, int norm, int ext) {
    (void)handle, (void)host, (void)device, (void)dim, (void)norm, (void)ext;
    refuse_old("texture", name);
}

RT_EXPORT void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name,
                                     int dim, int ext) {
    (void)handle, (void)host, (void)device, (void)dim, (void)ext;
    refuse_old("surface", name);
}

RT_EXPORT int cudaGetSymbolAddress(void **address, const void *symbol) {
    uint64_t at, bytes;
    RT_ENTER;
    if (!address) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = ww_rt_symbol(symbol, &at, &bytes);
    if (!code) *address = (void *)(uintptr_t)at;
    return ww_rt_set(code);
}

RT_EXPORT int cudaGetSymbolSize(size_t *size, const void *symbol) {
    uint64_t at, bytes;
    RT_ENTER;
    if (!size) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = ww_rt_symbol(symbol, &at, &bytes);
    if (!code) *size = bytes;
    return ww_rt_set(code);
}
