/* Suite "equalizer": chapter III of A. Sethia, Dynamic Hardware Resource Management for Efficient Throughput
 * Processing (dissertation, University of Michigan, 2015). The 27 kernels of its table 3.2 run on gtx480-eq
 * with clocks and numbers of CTAs that stay, and under Equalizer, DynCTA and CCWS. docs/studies/validation.md
 * says what the workloads' sizes are, how kernels and table belong together, and why rows lie outside. */
#include "../../../api/validate.h"
#include "equalizer_int.h"
#include <math.h>

static const struct ww_matrix_workload workloads[] = {
    {"backprop", {"size=large", "variant=aliased"}, 0, NULL},
    {"bfs", {"variant=aliased", "block=512", "nodes=131072"}, 0, NULL},
    {"cfd", {"size=large"}, 0, NULL},
    {"cutcp", {"size=large"}, 20, NULL},
    {"histo", {"size=large", "sample=eighth"}, 0, NULL},
    {"kmeans", {"variant=rodinia", "n=98304"}, 0, NULL},
    {"lavaMD", {"size=large"}, 60, NULL},
    {"lbm", {"ny=64", "nz=48"}, 36, NULL},
    {"leukocyte", {"columns=240"}, 0, NULL},
    {"mri_gridding", {"samples=20000"}, 0, NULL},
    {"mri_q", {NULL}, 24, NULL},
    {"mummer", {"bases=1048576", "queries=23040", "tree=texture"}, 20, NULL},
    {"particlefilter", {"size=large", "precision=double"}, 0, "0"},
    {"particlefilter", {"precision=double"}, 0, "1"},
    {"pathfinder", {"size=large"}, 0, NULL},
    {"sad", {"size=large"}, 0, NULL},
    {"sgemm", {"variant=rows", "m=1536", "n=480", "k=96"}, 42, NULL},
    {"spmv", {"variant=constant", "matrix=mesh", "block=192", "rows=146689"}, 0, NULL},
    {"stencil",
     {"variant=shared", "block_x=32", "block_y=4", "nx=256", "ny=192", "nz=32", "iterations=1"},
     50,
     NULL},
    {"streamcluster", {NULL}, 0, NULL},
};
enum { WORKLOADS = sizeof workloads / sizeof workloads[0] };
/* The same in the same order, to try the suite. */
static const struct ww_matrix_workload small_workloads[WORKLOADS] = {
    {"backprop", {"size=small", "variant=aliased"}, 0, NULL},
    {"bfs", {"size=small", "variant=aliased", "block=512"}, 0, NULL},
    {"cfd", {"size=small"}, 0, NULL},
    {"cutcp", {"size=small"}, 20, NULL},
    {"histo", {"size=small", "sample=eighth"}, 0, NULL},
    {"kmeans", {"size=small", "variant=rodinia"}, 0, NULL},
    {"lavaMD", {"size=small"}, 60, NULL},
    {"lbm", {"size=small"}, 36, NULL},
    {"leukocyte", {"size=small"}, 0, NULL},
    {"mri_gridding", {"size=small"}, 0, NULL},
    {"mri_q", {"size=small"}, 24, NULL},
    {"mummer", {"size=small", "tree=texture"}, 20, NULL},
    {"particlefilter", {"size=small", "precision=double"}, 0, "0"},
    {"particlefilter", {"size=small", "precision=double"}, 0, "1"},
    {"pathfinder", {"size=small"}, 0, NULL},
    {"sad", {"size=small"}, 0, NULL},
    {"sgemm", {"size=small", "variant=rows"}, 42, NULL},
    {"spmv", {"size=small", "variant=constant", "matrix=mesh", "block=192"}, 0, NULL},
    {"stencil", {"size=small", "variant=shared", "block_x=32", "block_y=4"}, 50, NULL},
    {"streamcluster", {"size=small"}, 0, NULL},
};

const struct ww_eq_kernel ww_eq_kernel[WW_EQ_KERNELS] = {
    {"cutcp_lattice", "cutcp", WW_EQ_COMPUTE, 8},
    {"histo_main", "histo-2", WW_EQ_COMPUTE, 3},
    {"lavaMD_forces", "lavaMD", WW_EQ_COMPUTE, 4},
    {"leukocyte_dilate", "leuko-2", WW_EQ_COMPUTE, 8},
    {"mri_gridding_reorder", "mri-g-3", WW_EQ_COMPUTE, 6},
    {"mri_q_compute", "mri-q", WW_EQ_COMPUTE, 5},
    {"particlefilter_find_index_f64", "prtcl-2", WW_EQ_COMPUTE, 3},
    {"pathfinder_steps", "pathfinder", WW_EQ_COMPUTE, 6},
    {"sgemm_rows", "sgemm", WW_EQ_COMPUTE, 6},
    {"cfd_time_step", "cfd-1", WW_EQ_MEMORY, 3},
    {"cfd_compute_flux", "cfd-2", WW_EQ_MEMORY, 3},
    {"histo_final", "histo-3", WW_EQ_MEMORY, 3},
    {"lbm_stream_collide", "lbm", WW_EQ_MEMORY, 7},
    {"leukocyte_gicov", "leuko-1", WW_EQ_MEMORY, 6},
    {"backprop_adjust_aliased", "bp-2", WW_EQ_CACHE, 6},
    {"bfs_mask_expand_aliased", "bfs-2", WW_EQ_CACHE, 3},
    {"histo_prescan_eighth", "histo-1", WW_EQ_CACHE, 3},
    {"kmeans_invert", "kmn", WW_EQ_CACHE, 6},
    {"mummer_match_texture", "mmer", WW_EQ_CACHE, 6},
    {"particlefilter_likelihood_f64", "prtcl-1", WW_EQ_CACHE, 3},
    {"spmv_jds_constant", "spmv", WW_EQ_CACHE, 8},
    {"backprop_layerforward", "bp-1", WW_EQ_UNSATURATED, 6},
    {"mri_gridding_gather", "mri-g-1", WW_EQ_UNSATURATED, 8},
    {"mri_gridding_bin", "mri-g-2", WW_EQ_UNSATURATED, 3},
    {"sad_macroblock", "sad", WW_EQ_UNSATURATED, 8},
    {"streamcluster_pgain", "sc", WW_EQ_UNSATURATED, 3},
    {"stencil_shared", "stncl", WW_EQ_UNSATURATED, 5},
};

#define GPU "gtx480-eq"
/* 15 % off 700 and 924 MHz. The memory domain is interconnect, L2, memory controllers and DRAM. */
static const struct ww_matrix_machine machines[WW_EQ_MACHINES] = {
    [WW_EQ_BASE] = {GPU, {NULL}},
    [WW_EQ_SM_HIGH] = {GPU, {NULL}},
    [WW_EQ_SM_LOW] = {GPU, {NULL}},
    [WW_EQ_MEM_HIGH] = {GPU, {NULL}},
    [WW_EQ_MEM_LOW] = {GPU, {NULL}},
    [WW_EQ_CTAS] = {GPU, {NULL}},
    [WW_EQ_CTAS + 1] = {GPU, {NULL}},
    [WW_EQ_CTAS + 2] = {GPU, {NULL}},
    [WW_EQ_CTAS + 3] = {GPU, {NULL}},
    [WW_EQ_CTAS + 4] = {GPU, {NULL}},
    [WW_EQ_CTAS + 5] = {GPU, {NULL}},
    [WW_EQ_CTAS + 6] = {GPU, {NULL}},
    [WW_EQ_PERFORMANCE] = {GPU, {"governor=equalizer", "governor.objective=performance"}},
    [WW_EQ_ENERGY] = {GPU, {"governor=equalizer", "governor.objective=energy"}},
    [WW_EQ_BLOCKS] = {GPU, {"governor=equalizer", "governor.clocks=false"}},
    [WW_EQ_DYNCTA] = {GPU, {"governor=dyncta"}},
    [WW_EQ_CCWS] = {GPU, {"sched=ccws"}},
    [WW_EQ_LRR] = {GPU, {"sched=lrr"}},
    [WW_EQ_LRR_PERFORMANCE] = {GPU, {"sched=lrr", "governor=equalizer", "governor.objective=performance"}},
    [WW_EQ_LRR_DYNCTA] = {GPU, {"sched=lrr", "governor=dyncta"}},
};

/* 15 % off 700 and 924 MHz. The memory domain is interconnect, L2, memory controllers and DRAM. */
static const char *const sets[WW_EQ_MACHINES][WW_MATRIX_OVERRIDES] = {
    [WW_EQ_SM_HIGH] = {"clock.sm_mhz=805"},
    [WW_EQ_SM_LOW] = {"clock.sm_mhz=595"},
    [WW_EQ_MEM_HIGH] = {"clock.l2_mhz=805", "clock.dram_mhz=1062.6"},
    [WW_EQ_MEM_LOW] = {"clock.l2_mhz=595", "clock.dram_mhz=785.4"},
    [WW_EQ_CTAS] = {"sm.max_ctas=1"},
    [WW_EQ_CTAS + 1] = {"sm.max_ctas=2"},
    [WW_EQ_CTAS + 2] = {"sm.max_ctas=3"},
    [WW_EQ_CTAS + 3] = {"sm.max_ctas=4"},
    [WW_EQ_CTAS + 4] = {"sm.max_ctas=5"},
    [WW_EQ_CTAS + 5] = {"sm.max_ctas=6"},
    [WW_EQ_CTAS + 6] = {"sm.max_ctas=7"},
};

/* Numbers of CTAs: all that limit the kernels of a workload, by table 3.2, where one is memory-intensive or
 * cache-sensitive; else half of the most and one less than it. */
static bool wanted(size_t workload, size_t machine) {
    /* backprop, bfs, histo, kmeans, mummer, particlefilter's first launch, spmv */
    const uint32_t cache_sensitive = 1u << 0 | 1u << 1 | 1u << 4 | 1u << 5 | 1u << 11 | 1u << 12 | 1u << 17;
    static const struct {
        uint8_t most;
        bool every;
    } ctas[WORKLOADS] = {{6, true},  {3, true},  {3, true},  {8, false}, {3, true},  {6, true}, {4, false},
                         {7, true},  {8, true},  {8, false}, {5, false}, {6, true},  {3, true}, {3, false},
                         {6, false}, {8, false}, {6, false}, {8, true},  {5, false}, {3, false}};
    if (machine >= WW_EQ_LRR) return cache_sensitive >> workload & 1;
    if (machine < WW_EQ_CTAS || machine >= WW_EQ_CTAS + WW_EQ_CTAS_MOST) return true;
    size_t n = machine - WW_EQ_CTAS + 1, most = ctas[workload].most;
    return ctas[workload].every ? n < most : n == most / 2 || n == most - 1;
}

enum ww_code ww_validate_suite_equalizer(struct ww_validation *v, const struct ww_validate_options *options,
                                         struct ww_error *error) {
    const char *kernel[WW_EQ_KERNELS];
    struct ww_eq_times *times = ww_arena_alloc(&v->arena, sizeof *times);
    if (!times) return ww_fail_nomem(error, "a suite's rows");
    for (size_t k = 0; k < WW_EQ_KERNELS; k++) kernel[k] = ww_eq_kernel[k].kernel;
    struct ww_matrix b = {.workload = options && options->small ? small_workloads : workloads,
                          .workloads = WORKLOADS,
                          .machine = machines,
                          .machines = WW_EQ_MACHINES,
                          .set = sets,
                          .kernel = kernel,
                          .kernels = WW_EQ_KERNELS,
                          .wanted = wanted,
                          .seen = ww_eq_seen,
                          .context = times};
    WW_TRY(ww_matrix_run(&b, &v->arena, options, error));
    WW_TRY(ww_eq_averages(v, &b, error));
    WW_TRY(ww_eq_lrr(v, &b, error));
    WW_TRY(ww_eq_bars(v, &b, error));
    return ww_eq_time_rows(v, &b, times, error);
}
