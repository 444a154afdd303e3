/* Occupancy: CTAs per SM that the limits allow. */
#include "occupancy.h"
#include "../../config/mask_list.h"

static uint64_t round_up(uint64_t v, uint64_t unit) {
    return (v + unit - 1) / unit * unit;
}

uint32_t ww_occupancy_shared(const struct ww_gpu_spec *gpu, const struct ww_launch *launch) {
    uint64_t bytes = (uint64_t)launch->shared_static + launch->shared_dynamic + gpu->sm_shared_reserved;
    bytes = round_up(bytes, gpu->sm_shared_unit);
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

/* Registers are given to warps, or to a CTA at once, in multiples of the unit. */
static uint64_t by_registers(const struct ww_gpu_spec *gpu, const struct ww_launch *l, uint64_t warps) {
    uint64_t unit = gpu->sm_warp_unit, rounded = round_up(warps, unit), most = gpu->sm_max_registers_per_thread;
    /* A trace of another instruction set may hold more than this one can name: code for it would spill. */
    uint64_t registers = l->registers_per_thread < most ? l->registers_per_thread : most;
    if (registers == 0) return UINT64_MAX;
    if (gpu->sm_register_granularity == 1)
        return gpu->sm_registers / round_up(rounded * 32 * registers, gpu->sm_register_unit);
    uint64_t of_warp = round_up(32ull * registers, gpu->sm_register_unit);
    /* One CTA must fit with its warps rounded up to the sub-partitions; how many do is then a matter of the
     * warps that all sub-partitions hold (NVIDIA's cuda_occupancy.h). */
    if (rounded * of_warp > gpu->sm_registers) return 0;
    return gpu->sm_registers / unit / of_warp * unit / warps;
}

static enum ww_code check_cta(const struct ww_gpu_spec *gpu, const struct ww_launch *l, uint64_t threads,
                              struct ww_error *error) {
    const char *name = l->kernel ? l->kernel : "";
    uint64_t shared = (uint64_t)l->shared_static + l->shared_dynamic;
    if (threads == 0) return ww_fail(error, WW_INPUT, name, "the block has no threads");
    if (threads > gpu->sm_max_threads)
        return ww_fail(error, WW_UNSUPPORTED, name, "a CTA has %llu threads, an SM holds sm.max_threads = %u",
                       (unsigned long long)threads, gpu->sm_max_threads);
    if (shared > (uint64_t)gpu->sm_shared_per_cta_kb * 1024)
        return ww_fail(error, WW_UNSUPPORTED, name,
                       "a CTA needs %llu bytes of shared memory, expected at most sm.shared_per_cta_kb = %u",
                       (unsigned long long)shared, gpu->sm_shared_per_cta_kb);
    return WW_OK;
}

static void smallest(uint64_t value, const char *name, uint64_t *least, const char **limiter) {
    if (value >= *least) return;
    *least = value;
    *limiter = name;
}

enum ww_code ww_occupancy(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, uint32_t *ctas,
                          const char **limiter, struct ww_error *error) {
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t warps = (threads + 31) / 32, shared = ww_occupancy_shared(gpu, launch), least = UINT64_MAX;
    WW_TRY(check_cta(gpu, launch, threads, error));
    uint64_t by_threads = gpu->sm_max_threads / threads, by_warps = gpu->sm_max_warps / warps;
    smallest(by_threads < by_warps ? by_threads : by_warps, "threads", &least, limiter);
    smallest(gpu->sm_max_ctas, "ctas", &least, limiter);
    smallest(by_registers(gpu, launch, warps), "registers", &least, limiter);
    smallest(shared ? gpu->sm_shared_kb * 1024ull / shared : UINT64_MAX, "shared", &least, limiter);
    if (least == 0)
        return ww_fail(
            error, WW_UNSUPPORTED, launch->kernel ? launch->kernel : "",
            "a CTA of %llu threads, %u registers per thread and %llu bytes of shared memory does not "
            "fit an SM: the limit is its %s",
            (unsigned long long)threads, launch->registers_per_thread, (unsigned long long)shared, *limiter);
    *ctas = (uint32_t)least;
    return WW_OK;
}

uint64_t ww_occupancy_l1(const struct ww_gpu_spec *gpu, uint64_t used) {
    uint64_t total = (uint64_t)gpu->l1_size_kb * 1024, most = (uint64_t)gpu->sm_shared_kb * 1024,
             kb[WW_MASKS_MAX];
    int count = ww_mask_list(gpu->l1_carveouts, kb), i = 0;
    if (used > most) used = most; /* CTAs that allocate while they run share it */
    while (i + 1 < count && kb[i] * 1024 < used) i++;
    if (count > 0) used = kb[i] * 1024;
    return used < total ? total - used : 0;
}
