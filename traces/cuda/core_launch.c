/* core_launch.c: launches of kernels, and what is known of them. */
#include "../../estimator/config/gpc.h"
#include "core_graph.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ATTRIBUTE_COOPERATIVE 2
#define ATTRIBUTE_CLUSTER 4

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
        if (!arguments[n]) {
            free(arg);
            return RT_ERROR_INVALID_VALUE;
        }
        code = ww_device_kernel_param(ww_rt.device, m, k->name, n, &offset, &bytes, &error);
        arg[n] = (struct ww_arg){arguments[n], (size_t)bytes};
    }
    const uint32_t grid[3] = {c->grid.x, c->grid.y, c->grid.z}, block[3] = {c->block.x, c->block.y, c->block.z};
    bool record = selected(k) && ww_rt_recording(); /* a child made by fork has no part in it */
    if (code == WW_OK) code = ww_device_cooperate(ww_rt.device, is_cooperative(c), &error);
    set_cluster(c);
    uint64_t before = ww_device_executed(ww_rt.device);
    ww_device_pause(ww_rt.device, !record);
    if (code == WW_OK && record && ww_rt_order_launch(c->stream))
        code = ww_fail_nomem(&error, "the order of a launch");
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

int ww_rt_launch(struct rt_kernel *k, const rt_launch_config *c, void **arguments) {
    struct ww_error error = {0};
    struct ww_kernel_info info;
    if (!k) return RT_ERROR_INVALID_DEVICE_FUNCTION; /* refused on a GPU, too */
    int done;
    const struct rt_op op = {RT_OP_LAUNCH, {.launch = {k, *c, arguments}}};
    if (c->stream && ww_rt_captured(c->stream, &op, &done)) return done;
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

uint32_t ww_rt_resident(const struct ww_kernel_info *info, uint32_t threads, uint64_t dynamic) {
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

int ww_rt_kernel_info(const void *function, struct rt_kernel **k, struct ww_kernel_info *info) {
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

int ww_rt_kernel_param(const struct rt_kernel *k, const struct ww_kernel_info *info, uint64_t n,
                       uint64_t *offset, uint64_t *bytes) {
    if (n >= info->param_count || ww_device_kernel_param(ww_rt.device, k->binary->module, k->name, (uint32_t)n,
                                                         offset, bytes, NULL) != WW_OK)
        return RT_ERROR_INVALID_VALUE;
    return 0;
}

/* All CTAs take turns here, so that any cooperative grid could run; the GPU's limit is applied nevertheless. */
int ww_rt_cooperative_fits(struct rt_kernel *k, const rt_launch_config *c) {
    struct ww_kernel_info info;
    int code = ww_rt_use_kernel(k);
    if (code) return code;
    uint64_t ctas = (uint64_t)c->grid.x * c->grid.y * c->grid.z;
    if (ww_device_kernel_info(ww_rt.device, k->binary->module, k->name, &info, NULL) != WW_OK) return 0;
    if (info.registers == 0) info.registers = 32;
    uint64_t fit = (uint64_t)ww_rt_resident(&info, c->block.x * c->block.y * c->block.z, c->dynamic_shared) *
                   ww_rt.spec->sm_count;
    return ctas > fit ? RT_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : 0;
}

int ww_rt_set_dynamic_shared(const void *function, int bytes) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    int code = ww_rt_kernel_info(function, &k, &info);
    if (code) return code;
    uint64_t most = (uint64_t)ww_rt.spec->sm_shared_per_cta_kb << 10;
    if (bytes < 0 || (uint64_t)bytes + info.shared_bytes > most) return RT_ERROR_INVALID_VALUE;
    k->max_dynamic_shared = (uint32_t)bytes;
    return 0;
}

int ww_rt_available_shared(size_t *bytes, const void *function, int blocks, int threads) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    if (!bytes || blocks <= 0 || threads <= 0) return RT_ERROR_INVALID_VALUE;
    int code = ww_rt_kernel_info(function, &k, &info);
    if (code) return code;
    uint64_t share = ((uint64_t)ww_rt.spec->sm_shared_kb << 10) / (unsigned)blocks;
    uint64_t most = (uint64_t)ww_rt.spec->sm_shared_per_cta_kb << 10,
             used = info.shared_bytes + ww_rt.spec->sm_shared_reserved;
    if (share > most) share = most;
    *bytes = share > used ? share - used : 0;
    return 0;
}

/* ---- clusters: as many as the GPCs of the GPU hold ---- */

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

int ww_rt_active_clusters(int *clusters, const void *function, const rt_launch_config *c) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    if (!clusters || !c) return RT_ERROR_INVALID_VALUE;
    int code = ww_rt_kernel_info(function, &k, &info);
    uint32_t threads = c->block.x * c->block.y * c->block.z;
    if (!code)
        *clusters =
            (int)ww_gpc_clusters(ww_rt.spec, ww_rt_resident(&info, threads, c->dynamic_shared), cluster_of(c));
    return code;
}

int ww_rt_cluster_size(int *size, const void *function, const rt_launch_config *c) {
    struct rt_kernel *k;
    struct ww_kernel_info info;
    if (!size || !c) return RT_ERROR_INVALID_VALUE;
    int code = ww_rt_kernel_info(function, &k, &info);
    if (!code) *size = PORTABLE_CLUSTER;
    return code;
}
