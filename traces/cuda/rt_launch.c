/* rt_launch.c: launch configurations, launches, attributes of kernels. */
#include "rt.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ATTRIBUTE_COOPERATIVE 2
#define ATTRIBUTE_CLUSTER 4
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

/* ---- a launch ---- */

static bool selected(const struct rt_kernel *k) {
    const struct rt_options *o = &ww_rt.options;
    if (!o->out || o->no_record) return false;
    if (o->kernel && fnmatch(o->kernel, k->name, 0) != 0) return false;
    uint64_t n = k->launches - 1; /* of this kernel, from 0 */
    if (o->every > 1 && n % o->every != 0) return false;
    return o->first == 0 || n / o->every < o->first;
}

static int check_config(const rt_launch_config *c) {
    uint64_t threads = (uint64_t)c->block.x * c->block.y * c->block.z;
    bool zero = !c->grid.x || !c->grid.y || !c->grid.z || !threads;
    bool wide = c->block.x > 1024 || c->block.y > 1024 || c->block.z > 64 || c->grid.x > INT32_MAX ||
                c->grid.y > 65535 || c->grid.z > 65535;
    if (zero || wide || threads > 1024 || c->dynamic_shared > UINT32_MAX) return RT_ERROR_INVALID_CONFIGURATION;
    for (unsigned n = 0; n < c->attribute_count; n++) {
        const rt_launch_attribute *a = &c->attribute[n];
        bool cluster = a->id == ATTRIBUTE_CLUSTER;
        if (cluster && (uint64_t)a->value.cluster.x * a->value.cluster.y * a->value.cluster.z > 1 &&
            ww_rt.capability < 90)
            return RT_ERROR_INVALID_CLUSTER_SIZE;
    }
    return 0;
}

static int check_resources(const rt_launch_config *c, const struct ww_kernel_info *info) {
    uint64_t threads = (uint64_t)c->block.x * c->block.y * c->block.z;
    uint64_t shared = info->shared_bytes + c->dynamic_shared;
    if (shared > (uint64_t)ww_rt.spec->sm_shared_per_cta_kb << 10) return RT_ERROR_INVALID_VALUE;
    return threads > info->max_threads ? RT_ERROR_LAUNCH_OUT_OF_RESOURCES : 0;
}

/* Modelled time: instructions at the rate of full issue, after the GPU's launch overhead. */
static void launch_time(uint64_t instructions) {
    const struct ww_gpu_spec *s = ww_rt.spec;
    double lanes = 32.0 * s->sm_count * s->sm_schedulers / s->front_issue_interval;
    double overhead = s->launch_overhead_us > 0 ? s->launch_overhead_us : 5;
    ww_rt.now_us += overhead + (double)instructions / (lanes * s->clock_sm_mhz);
}

static bool is_cooperative(const rt_launch_config *c) {
    for (unsigned n = 0; n < c->attribute_count; n++)
        if (c->attribute[n].id == ATTRIBUTE_COOPERATIVE) return c->attribute[n].value.cooperative != 0;
    return false;
}

static void set_cluster(const rt_launch_config *c) {
    uint32_t cluster[3] = {0};
    for (unsigned n = 0; n < c->attribute_count; n++) {
        const rt_launch_attribute *a = &c->attribute[n];
        if (a->id != ATTRIBUTE_CLUSTER || !a->value.cluster.x) continue;
        cluster[0] = a->value.cluster.x;
        cluster[1] = a->value.cluster.y ? a->value.cluster.y : 1;
        cluster[2] = a->value.cluster.z ? a->value.cluster.z : 1;
    }
    ww_device_cluster(ww_rt.device, cluster);
}

static int run(struct rt_kernel *k, const rt_launch_config *c, void **arguments,
               const struct ww_kernel_info *info) {
    struct ww_error error = {0};
    struct ww_arg *arg = calloc((size_t)info->param_count + 1, sizeof *arg);
    if (!arg) return RT_ERROR_MEMORY_ALLOCATION;
    struct ww_module *m = k->binary->module;
    enum ww_code code = WW_OK;
    for (uint32_t n = 0; n < info->param_count && code == WW_OK; n++) {
        uint64_t offset, bytes;
        code = ww_device_kernel_param(ww_rt.device, m, k->name, n, &offset, &bytes, &error);
        arg[n] = (struct ww_arg){arguments[n], (size_t)bytes};
    }
    const uint32_t grid[3] = {c->grid.x, c->grid.y, c->grid.z}, block[3] = {c->block.x, c->block.y, c->block.z};
    bool record = selected(k) && ww_rt_recording(); /* a child made by fork has no part in it */
    if (code == WW_OK) code = ww_device_cooperate(ww_rt.device, is_cooperative(c), &error);
    set_cluster(c);
    uint64_t before = ww_device_executed(ww_rt.device);
    ww_device_pause(ww_rt.device, !record);
    ww_rt.running = k->name;
    if (code == WW_OK)
        code = ww_device_launch(ww_rt.device, m, k->name, grid, block, (uint32_t)c->dynamic_shared, arg,
                                info->param_count, &error);
    ww_rt.running = NULL;
    free(arg);
    launch_time(ww_device_executed(ww_rt.device) - before);
    if (code == WW_OK) {
        ww_rt.recorded += record;
        return 0;
    }
    if (code == WW_USAGE) { /* refused */
        ww_rt.launches--;
        k->launches--;
        return ww_rt_say_error(&error, RT_ERROR_INVALID_VALUE);
    }
    ww_rt.sticky = ww_rt_kernel_error(&error);
    ww_rt.damaged = true;
    return ww_rt_say_error(&error, ww_rt.sticky);
}

static int launch(struct rt_kernel *k, const rt_launch_config *c, void **arguments) {
    struct ww_error error = {0};
    struct ww_kernel_info info;
    if (!k) return RT_ERROR_INVALID_DEVICE_FUNCTION; /* refused on a GPU, too */
    int code = ww_rt_use_kernel(k);
    if (code) ww_rt.damaged = true; /* a launch would be missing from the trace */
    if (!code) code = check_config(c);
    if (code) return code;
    if (ww_device_kernel_info(ww_rt.device, k->binary->module, k->name, &info, &error) != WW_OK) {
        if (!k->refused) ww_rt_say_error(&error, 0);
        k->refused = true;
        ww_rt.damaged = true;
        return error.code == WW_UNSUPPORTED ? RT_ERROR_NOT_SUPPORTED : RT_ERROR_INVALID_PTX;
    }
    code = check_resources(c, &info);
    if (code) return code;
    if (info.param_count && !arguments) return RT_ERROR_INVALID_VALUE;
    ww_rt.launches++; /* launches that are refused do not count */
    k->launches++;
    fflush(stdout); /* what the program printed comes before what the kernel prints */
    return run(k, c, arguments, &info);
}

/* ---- CTAs that an SM holds at a time: its limits ---- */

static uint32_t round_up(uint32_t v, uint32_t unit) {
    return unit ? (v + unit - 1) / unit * unit : v;
}

static uint32_t by_registers(uint32_t warps, uint32_t registers) {
    const struct ww_gpu_spec *s = ww_rt.spec;
    warps = round_up(warps, s->sm_warp_unit);
    uint32_t cta = s->sm_register_granularity == 0 ? warps * round_up(32 * registers, s->sm_register_unit)
                                                   : round_up(32 * registers * warps, s->sm_register_unit);
    return cta ? s->sm_registers / cta : s->sm_max_ctas;
}

static uint32_t lower(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint32_t resident(const struct ww_kernel_info *info, uint32_t threads, uint64_t dynamic) {
    const struct ww_gpu_spec *s = ww_rt.spec;
    uint64_t bytes = info->shared_bytes + dynamic + s->sm_shared_reserved;
    uint32_t warps = (threads + 31) / 32, n = s->sm_max_ctas;
    if (threads == 0 || threads > info->max_threads || bytes > (uint64_t)s->sm_shared_per_cta_kb << 10)
        return 0;
    n = lower(n, s->sm_max_warps / warps);
    n = lower(n, s->sm_max_threads / threads);
    n = lower(n, by_registers(warps, info->registers));
    uint32_t shared = round_up((uint32_t)bytes, s->sm_shared_unit);
    return shared ? lower(n, (s->sm_shared_kb << 10) / shared) : n;
}

/* ---- entry points ---- */

RT_EXPORT int cudaLaunchKernelExC(const rt_launch_config *config, const void *function, void **arguments) {
    RT_ENTER;
    if (!config) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    return ww_rt_set(launch(ww_rt_find_kernel(function), config, arguments));
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

/* All CTAs take turns here, so that any cooperative grid could run; the GPU's limit is kept all the same. */
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
    struct ww_kernel_info info;
    int code = ww_rt_use_kernel(k);
    if (code) return ww_rt_set(code);
    uint64_t ctas = (uint64_t)grid.x * grid.y * grid.z;
    if (ww_device_kernel_info(ww_rt.device, k->binary->module, k->name, &info, NULL) == WW_OK) {
        if (info.registers == 0) info.registers = 32;
        uint64_t fit = (uint64_t)resident(&info, block.x * block.y * block.z, shared) * ww_rt.spec->sm_count;
        if (ctas > fit) return ww_rt_set(RT_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    return ww_rt_set(launch(k, &c, arguments));
}
RT_ALIAS(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel)

/* ---- attributes ---- */

static int kernel_info(const void *function, struct rt_kernel **k, struct ww_kernel_info *info) {
    struct ww_error error = {0};
    *k = ww_rt_find_kernel(function);
    int code = ww_rt_use_kernel(*k);
    if (code) return code;
    if (ww_device_kernel_info(ww_rt.device, (*k)->binary->module, (*k)->name, info, &error) != WW_OK)
        return ww_rt_say_error(&error,
                               error.code == WW_UNSUPPORTED ? RT_ERROR_NOT_SUPPORTED : RT_ERROR_INVALID_PTX);
    if (info->registers == 0) info->registers = 32; /* not lowered: nothing is recorded */
    return 0;
}

/* From version 11 on; only what version 11.0 has is written, so that older programs are not overrun. */
RT_EXPORT int cudaFuncGetAttributes(rt_func_attributes *a, const void *function) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    RT_ENTER;
    if (!a) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = kernel_info(function, &k, &info);
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
    int code = kernel_info(function, &k, &info);
    if (code) return ww_rt_set(code);
    if (attribute != FUNC_MAX_DYNAMIC_SHARED) return 0; /* hints */
    uint64_t most = (uint64_t)ww_rt.spec->sm_shared_per_cta_kb << 10;
    if (value < 0 || (uint64_t)value + info.shared_bytes > most) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    k->max_dynamic_shared = (uint32_t)value;
    return 0;
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
    int code = kernel_info(function, &k, &info);
    if (code) return ww_rt_set(code);
    if (n >= info.param_count || !offset ||
        ww_device_kernel_param(ww_rt.device, k->binary->module, k->name, (uint32_t)n, &at, &bytes, NULL) !=
            WW_OK)
        return ww_rt_set(RT_ERROR_INVALID_VALUE);
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
    int code = kernel_info(function, &k, &info);
    if (!code) *blocks = (int)resident(&info, (uint32_t)threads, dynamic);
    return ww_rt_set(code);
}

RT_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                            size_t dynamic) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic, 0);
}

RT_EXPORT int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks,
                                                        int threads) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    RT_ENTER;
    if (!bytes || blocks <= 0 || threads <= 0) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = kernel_info(function, &k, &info);
    if (code) return ww_rt_set(code);
    uint64_t share = ((uint64_t)ww_rt.spec->sm_shared_kb << 10) / (unsigned)blocks;
    uint64_t most = (uint64_t)ww_rt.spec->sm_shared_per_cta_kb << 10,
             used = info.shared_bytes + ww_rt.spec->sm_shared_reserved;
    if (share > most) share = most;
    *bytes = share > used ? share - used : 0;
    return 0;
}

/* ---- clusters: as many as fit if each CTA had a multiprocessor's share ---- */

#define PORTABLE_CLUSTER 8

static uint32_t cluster_of(const rt_launch_config *c) {
    uint64_t ctas = 1;
    for (unsigned n = 0; n < c->attribute_count; n++) {
        const rt_launch_attribute *a = &c->attribute[n];
        if (a->id == ATTRIBUTE_CLUSTER)
            ctas = (uint64_t)a->value.cluster.x * a->value.cluster.y * a->value.cluster.z;
    }
    return ctas >= 1 && ctas <= 16 ? (uint32_t)ctas : 1;
}

RT_EXPORT int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const rt_launch_config *c) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    RT_ENTER;
    if (!clusters || !c) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = kernel_info(function, &k, &info);
    uint32_t threads = c->block.x * c->block.y * c->block.z;
    if (!code)
        *clusters = (int)(resident(&info, threads, c->dynamic_shared) * ww_rt.spec->sm_count / cluster_of(c));
    return ww_rt_set(code);
}

RT_EXPORT int cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const rt_launch_config *c) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    RT_ENTER;
    if (!size || !c) return ww_rt_set(RT_ERROR_INVALID_VALUE);
    int code = kernel_info(function, &k, &info);
    if (!code) *size = PORTABLE_CLUSTER;
    return ww_rt_set(code);
}
