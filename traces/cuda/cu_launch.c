/* cu_launch.c: the driver's interface: attributes of kernels, occupancy, launches. */
#include "cu.h"
#include <string.h>

enum {
    MAX_THREADS,
    SHARED,
    CONSTANT,
    LOCAL,
    REGISTERS,
    PTX,
    BINARY,
    CACHE,
    DYNAMIC_SHARED,
    CARVEOUT,
    ATTRIBUTES = 16
};

static int kernel_attribute(int *value, int attribute, struct rt_kernel *function) {
    struct ww_kernel_info info;
    struct rt_kernel *k;
    if (!value || attribute < 0 || attribute >= ATTRIBUTES) return RT_ERROR_INVALID_VALUE;
    int code = ww_rt_kernel_info(function, &k, &info);
    if (code) return ww_cu_code(code);
    uint64_t most = (uint64_t)ww_rt.spec->sm_shared_per_cta_kb << 10, plain = most < 49152 ? most : 49152;
    uint64_t free_shared = plain > info.shared_bytes ? plain - info.shared_bytes : 0;
    const uint64_t all[ATTRIBUTES] = {
        [MAX_THREADS] = info.max_threads,
        [SHARED] = info.shared_bytes,
        [CONSTANT] = info.constant_bytes,
        [LOCAL] = info.local_bytes,
        [REGISTERS] = info.registers,
        [PTX] = info.ptx_target,
        [BINARY] = ww_rt.capability,
        [DYNAMIC_SHARED] = k->max_dynamic_shared ? k->max_dynamic_shared : free_shared,
    };
    *value = attribute == CARVEOUT ? -1 : (int)all[attribute];
    return 0;
}

RT_EXPORT int cuFuncGetAttribute(int *value, int attribute, struct rt_kernel *function) {
    CU_ENTER;
    return kernel_attribute(value, attribute, function);
}

RT_EXPORT int cuKernelGetAttribute(int *value, int attribute, struct rt_kernel *kernel, int device) {
    CU_ENTER;
    return device == 0 ? kernel_attribute(value, attribute, kernel) : RT_ERROR_INVALID_DEVICE;
}

static int set_attribute(struct rt_kernel *function, int attribute, int value) {
    struct ww_kernel_info info;
    struct rt_kernel *k;
    if (attribute == DYNAMIC_SHARED) return ww_cu_code(ww_rt_set_dynamic_shared(function, value));
    return ww_cu_code(ww_rt_kernel_info(function, &k, &info)); /* hints */
}

RT_EXPORT int cuFuncSetAttribute(struct rt_kernel *function, int attribute, int value) {
    CU_ENTER;
    return set_attribute(function, attribute, value);
}

RT_EXPORT int cuKernelSetAttribute(int attribute, int value, struct rt_kernel *kernel, int device) {
    CU_ENTER;
    return device == 0 ? set_attribute(kernel, attribute, value) : RT_ERROR_INVALID_DEVICE;
}

RT_EXPORT int cuFuncSetCacheConfig(struct rt_kernel *function, int config) {
    (void)config;
    CU_ENTER;
    return ww_rt_find_kernel(function) ? 0 : CU_INVALID_HANDLE;
}
RT_ALIAS(cuFuncSetSharedMemConfig, cuFuncSetCacheConfig)

RT_EXPORT int cuKernelSetCacheConfig(struct rt_kernel *kernel, int config, int device) {
    (void)device;
    return cuFuncSetCacheConfig(kernel, config);
}

RT_EXPORT int cuFuncGetParamInfo(struct rt_kernel *function, size_t n, size_t *offset, size_t *bytes) {
    struct ww_kernel_info info;
    struct rt_kernel *k;
    uint64_t at, size;
    CU_ENTER;
    int code = ww_rt_kernel_info(function, &k, &info);
    if (code) return ww_cu_code(code);
    if (!offset || ww_rt_kernel_param(k, &info, n, &at, &size)) return RT_ERROR_INVALID_VALUE;
    *offset = at;
    if (bytes) *bytes = size;
    return 0;
}
RT_ALIAS(cuKernelGetParamInfo, cuFuncGetParamInfo)

/* ---- occupancy ---- */

RT_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, struct rt_kernel *function,
                                                                   int threads, size_t shared, unsigned flags) {
    struct ww_kernel_info info;
    struct rt_kernel *k;
    (void)flags;
    CU_ENTER;
    if (!blocks || threads <= 0) return RT_ERROR_INVALID_VALUE;
    int code = ww_rt_kernel_info(function, &k, &info);
    if (!code) *blocks = (int)ww_rt_resident(&info, (uint32_t)threads, shared);
    return ww_cu_code(code);
}

RT_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct rt_kernel *function, int threads,
                                                          size_t shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

/* The CTA size with the most resident threads; the larger one of equals. */
RT_EXPORT int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, struct rt_kernel *function,
                                                        size_t (*shared_of)(int block), size_t shared,
                                                        int limit, unsigned flags) {
    struct ww_kernel_info info;
    struct rt_kernel *k;
    uint32_t best = 0;
    (void)flags;
    CU_ENTER;
    if (!grid || !block) return RT_ERROR_INVALID_VALUE;
    int code = ww_rt_kernel_info(function, &k, &info);
    if (code) return ww_cu_code(code);
    uint32_t most = limit > 0 && (uint32_t)limit < info.max_threads ? (uint32_t)limit : info.max_threads;
    *grid = *block = 0;
    for (uint32_t threads = most; threads > 0; threads = threads % 32 ? threads / 32 * 32 : threads - 32) {
        uint32_t n = ww_rt_resident(&info, threads, shared_of ? shared_of((int)threads) : shared);
        if (n * threads <= best) continue;
        best = n * threads;
        *block = (int)threads;
        *grid = (int)(n * ww_rt.spec->sm_count);
    }
    return 0;
}

RT_EXPORT int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, struct rt_kernel *function,
                                               size_t (*shared_of)(int block), size_t shared, int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit, 0);
}

RT_EXPORT int cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, struct rt_kernel *function, int blocks,
                                                      int threads) {
    CU_ENTER;
    return ww_cu_code(ww_rt_available_shared(bytes, function, blocks, threads));
}

static rt_launch_config config_of(const cu_launch_config *c) {
    return (rt_launch_config){.grid = {c->grid[0], c->grid[1], c->grid[2]},
                              .block = {c->block[0], c->block[1], c->block[2]},
                              .dynamic_shared = c->shared,
                              .stream = c->stream,
                              .attribute = c->attribute,
                              .attribute_count = c->attribute_count};
}

static bool is_config(const cu_launch_config *c) {
    return c && (!c->attribute_count || c->attribute);
}

RT_EXPORT int cuOccupancyMaxActiveClusters(int *clusters, struct rt_kernel *function,
                                           const cu_launch_config *config) {
    CU_ENTER;
    if (!is_config(config)) return RT_ERROR_INVALID_VALUE;
    const rt_launch_config c = config_of(config);
    return ww_cu_code(ww_rt_active_clusters(clusters, function, &c));
}

RT_EXPORT int cuOccupancyMaxPotentialClusterSize(int *size, struct rt_kernel *function,
                                                 const cu_launch_config *config) {
    CU_ENTER;
    if (!is_config(config)) return RT_ERROR_INVALID_VALUE;
    const rt_launch_config c = config_of(config);
    return ww_cu_code(ww_rt_cluster_size(size, function, &c));
}

/* ---- launches ---- */

#define PARAMETERS_MAX 4096u /* of a kernel: it has at most 32 KiB of them */

enum { EXTRA_END, EXTRA_BUFFER, EXTRA_SIZE };

/* The buffer that holds all parameters, from the list of `extra`. */
static unsigned char *extra_buffer(void **extra, size_t *bytes) {
    unsigned char *buffer = NULL;
    *bytes = 0;
    for (unsigned n = 0; n < 2 && (uintptr_t)*extra != EXTRA_END; n++, extra += 2) {
        if ((uintptr_t)extra[0] == EXTRA_BUFFER) buffer = extra[1];
        if ((uintptr_t)extra[0] == EXTRA_SIZE) *bytes = *(const size_t *)extra[1];
    }
    return buffer;
}

static int launch_buffer(struct rt_kernel *function, const rt_launch_config *c, void **extra) {
    void *argument[PARAMETERS_MAX];
    struct ww_kernel_info info;
    struct rt_kernel *k;
    size_t n;
    unsigned char *buffer = extra_buffer(extra, &n);
    int code = ww_rt_kernel_info(function, &k, &info);
    if (code) return code;
    if (info.param_count > PARAMETERS_MAX || (info.param_count && !buffer)) return RT_ERROR_INVALID_VALUE;
    for (uint32_t p = 0; p < info.param_count; p++) {
        uint64_t offset, bytes;
        code = ww_rt_kernel_param(k, &info, p, &offset, &bytes);
        if (code || offset > n || bytes > n - offset) return RT_ERROR_INVALID_VALUE;
        argument[p] = buffer + offset;
    }
    return ww_rt_launch(k, c, argument);
}

static int launch(struct rt_kernel *function, const rt_launch_config *c, void **arguments, void **extra) {
    if (arguments && extra) return RT_ERROR_INVALID_VALUE;
    if (!ww_rt_known_stream(c->stream)) return CU_INVALID_HANDLE;
    return ww_cu_code(extra ? launch_buffer(function, c, extra)
                            : ww_rt_launch(ww_rt_find_kernel(function), c, arguments));
}

RT_EXPORT int cuLaunchKernel(struct rt_kernel *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, void *stream, void **arguments,
                             void **extra) {
    const rt_launch_config c = {
        .grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_shared = shared, .stream = stream};
    CU_CONTEXT;
    return launch(function, &c, arguments, extra);
}
RT_ALIAS(cuLaunchKernel_ptsz, cuLaunchKernel)

RT_EXPORT int cuLaunchKernelEx(const cu_launch_config *config, struct rt_kernel *function, void **arguments,
                               void **extra) {
    CU_CONTEXT;
    if (!is_config(config)) return RT_ERROR_INVALID_VALUE;
    const rt_launch_config c = config_of(config);
    return launch(function, &c, arguments, extra);
}
RT_ALIAS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx)

#define ATTRIBUTE_COOPERATIVE 2

RT_EXPORT int cuLaunchCooperativeKernel(struct rt_kernel *function, unsigned gx, unsigned gy, unsigned gz,
                                        unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                                        void **arguments) {
    rt_launch_attribute a = {.id = ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    const rt_launch_config c = {.grid = {gx, gy, gz},
                                .block = {bx, by, bz},
                                .dynamic_shared = shared,
                                .stream = stream,
                                .attribute = &a,
                                .attribute_count = 1};
    CU_CONTEXT;
    struct rt_kernel *k = ww_rt_find_kernel(function);
    int code = ww_rt_cooperative_fits(k, &c);
    return code ? ww_cu_code(code) : launch(k, &c, arguments, NULL);
}
RT_ALIAS(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel)
