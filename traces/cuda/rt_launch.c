/* rt_launch.c: launch configurations, launches, attributes of kernels. */
#include "core.h"
#include <string.h>

#define ATTRIBUTE_COOPERATIVE 2
#define DEPTH 32 /* of <<<>>> in arguments of <<<>>> */

static _Thread_local struct {
    rt_dim3 grid, block;
    size_t shared;
    void *stream;
} pushed[DEPTH];
static _Thread_local unsigned depth;

RT_EXPORT unsigned __cudaPushCallConfiguration(rt_dim3 grid, rt_dim3 block, size_t shared, void *stream) {
    if (depth == DEPTH) return (unsigned)ww_rt_set(RT_ERROR_INVALID_CONFIGURATION);
    pushed[depth].grid = grid;
    pushed[depth].block = block;
    pushed[depth].shared = shared;
    pushed[depth++].stream = stream;
    return 0;
}

RT_EXPORT int __cudaPopCallConfiguration(rt_dim3 *grid, rt_dim3 *block, size_t *shared, void *stream) {
    if (depth == 0) return ww_rt_set(RT_ERROR_MISSING_CONFIGURATION);
    depth--;
    *grid = pushed[depth].grid;
    *block = pushed[depth].block;
    *shared = pushed[depth].shared;
    *(void **)stream = pushed[depth].stream;
    return 0;
}

RT_EXPORT int __cudaGetKernel(void **kernel, const void *host) {
    RT_LOCK;
    struct rt_kernel *k = ww_rt_find_kernel(host);
    if (!k) return ww_rt_set(RT_ERROR_INVALID_DEVICE_FUNCTION);
    *kernel = k;
    return 0;
}
RT_ALIAS(cudaGetKernel, __cudaGetKernel)
RT_ALIAS(cudaGetFuncBySymbol, __cudaGetKernel)

/* ---- entry points ---- */

RT_EXPORT int cudaLaunchKernelExC(const rt_launch_config *config, const void *function, void **arguments) {
    RT_ENTER;
    if (!config) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    return ww_rt_set(ww_rt_launch(ww_rt_find_kernel(function), config, arguments));
}
RT_ALIAS(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC)

RT_EXPORT int cudaLaunchKernel(const void *function, rt_dim3 grid, rt_dim3 block, void **arguments,
                               size_t shared, void *stream) {
    rt_launch_config c = {.grid = grid, .block = block, .dynamic_shared = shared, .stream = stream};
    return cudaLaunchKernelExC(&c, function, arguments);
}
RT_ALIAS(cudaLaunchKernel_ptsz, cudaLaunchKernel)
RT_ALIAS(__cudaLaunchKernel, cudaLaunchKernel)
RT_ALIAS(__cudaLaunchKernel_ptsz, cudaLaunchKernel)

/* All CTAs take turns here, so that any cooperative grid could run; the GPU's limit is applied nevertheless. */
RT_EXPORT int cudaLaunchCooperativeKernel(const void *function, rt_dim3 grid, rt_dim3 block, void **arguments,
                                          size_t shared, void *stream) {
    rt_launch_attribute a = {.id = ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    rt_launch_config c = {.grid = grid,
                          .block = block,
                          .dynamic_shared = shared,
                          .stream = stream,
                          .attribute = &a,
                          .attribute_count = 1};
    RT_ENTER;
    struct rt_kernel *k = ww_rt_find_kernel(function);
    int code = ww_rt_cooperative_fits(k, &c);
    return ww_rt_set(code ? code : ww_rt_launch(k, &c, arguments));
}
RT_ALIAS(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel)

/* ---- attributes ---- */

/* From version 11 on; only what version 11.0 has is written, so that older programs are not overrun. */
RT_EXPORT int cudaFuncGetAttributes(rt_func_attributes *a, const void *function) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    RT_ENTER;
    if (!a) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = ww_rt_kernel_info(function, &k, &info);
    if (code) return ww_rt_set(code);
    uint64_t most = (uint64_t)ww_rt.spec->sm_shared_per_cta_kb << 10, plain = most < 49152 ? most : 49152;
    int free_shared = (int)(plain > info.shared_bytes ? plain - info.shared_bytes : 0);
    memset(a, 0, offsetof(rt_func_attributes, cluster_must));
    a->shared_bytes = info.shared_bytes;
    a->const_bytes = info.constant_bytes;
    a->local_bytes = info.local_bytes;
    a->max_threads = (int)info.max_threads;
    a->registers = (int)info.registers;
    a->ptx_version = (int)info.ptx_target;
    a->binary_version = (int)ww_rt.capability;
    a->max_dynamic_shared = k->max_dynamic_shared ? (int)k->max_dynamic_shared : free_shared;
    a->carveout = -1;
    return 0;
}

#define FUNC_MAX_DYNAMIC_SHARED 8
RT_EXPORT int cudaFuncSetAttribute(const void *function, int attribute, int value) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    RT_ENTER;
    if (attribute == FUNC_MAX_DYNAMIC_SHARED) return ww_rt_set(ww_rt_set_dynamic_shared(function, value));
    return ww_rt_set(ww_rt_kernel_info(function, &k, &info)); /* hints */
}

static int known_function(const void *function) {
    RT_ENTER;
    return ww_rt_set(ww_rt_find_kernel(function) ? 0 : RT_ERROR_INVALID_DEVICE_FUNCTION);
}

RT_EXPORT int cudaFuncSetCacheConfig(const void *function, int config) {
    (void)config;
    return known_function(function);
}
RT_EXPORT int cudaFuncSetSharedMemConfig(const void *function, int config) {
    (void)config;
    return known_function(function);
}

RT_EXPORT int cudaFuncGetName(const char **name, const void *function) {
    RT_ENTER;
    const struct rt_kernel *k = ww_rt_find_kernel(function);
    if (!k || !name) return ww_rt_set(k ? RT_ERROR_INVALID_VALUE : RT_ERROR_INVALID_DEVICE_FUNCTION);
    *name = k->name;
    return 0;
}

RT_EXPORT int cudaFuncGetParamInfo(const void *function, size_t n, size_t *offset, size_t *size) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    uint64_t at, bytes;
    RT_ENTER;
    int code = ww_rt_kernel_info(function, &k, &info);
    if (code) return ww_rt_set(code);
    if (!offset || ww_rt_kernel_param(k, &info, n, &at, &bytes)) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    *offset = at;
    if (size) *size = bytes;
    return 0;
}

/* ---- occupancy ---- */

RT_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                                     int threads, size_t dynamic,
                                                                     unsigned flags) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    (void)flags;
    RT_ENTER;
    if (!blocks || threads <= 0) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = ww_rt_kernel_info(function, &k, &info);
    if (!code) *blocks = (int)ww_rt_resident(&info, (uint32_t)threads, dynamic);
    return ww_rt_set(code);
}

RT_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                            size_t dynamic) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic, 0);
}

RT_EXPORT int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks,
                                                        int threads) {
    RT_ENTER;
    return ww_rt_set(ww_rt_available_shared(bytes, function, blocks, threads));
}

/* ---- clusters ---- */

RT_EXPORT int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const rt_launch_config *c) {
    RT_ENTER;
    return ww_rt_set(ww_rt_active_clusters(clusters, function, c));
}

RT_EXPORT int cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const rt_launch_config *c) {
    RT_ENTER;
    return ww_rt_set(ww_rt_cluster_size(size, function, c));
}
