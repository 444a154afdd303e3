/* Cycles and events of a launch on any GPU, from the trace's profile alone, in microseconds. */
#include "../core/sm/occupancy.h"
#include "model.h"
#include "../core/launch/engine.h"
#include "model_part.h"
#include <math.h>
#include <string.h>

const struct ww_model_constants ww_model_default = {
#define CONSTANT(name, value) .name = (value),
#define RESIDUAL(application, gpu, cycles, energy)
#define SPAN(id, least, most)
#include "model_fit.def"
#undef CONSTANT
#undef RESIDUAL
#undef SPAN
};
const struct ww_model_constants ww_model_start = {
#define X(field, start, least, most, help) .field = (start),
#include "model_constants.def"
#undef X
};
const struct ww_model_constant ww_model_constant[] = {
#define X(field, start, least, most, help)                                                                     \
    {#field, help, least, most, offsetof(struct ww_model_constants, field)},
#include "model_constants.def"
#undef X
};
const size_t ww_model_constant_count = sizeof ww_model_constant / sizeof *ww_model_constant;

const char *ww_model_term_name(enum ww_model_term term) {
    static const char *const name[] = {
#define X(id, name, help) name,
#include "model_term.def"
#undef X
    };
    return term < WW_MODEL_TERMS ? name[term] : NULL;
}

/* ---- one point ---- */

#define ROUNDS 2 /* of finding how many CTAs are active, which traffic depends on, and the other way round */

/* A launch on a GPU. */
struct point {
    const struct ww_model_kernel *kernel;
    const struct ww_kernel_profile *p;
    const struct ww_gpu_spec *gpu;
    const struct ww_model_constants *with;
    struct ww_model_traffic traffic;
    double l2_cycle, dram_cycle; /* in SM cycles */
    double waves, busiest;       /* CTAs of an SM over those resident; CTAs of the busiest SM over the mean's */
    double sms;                  /* that have CTAs */
    uint32_t resident;           /* CTAs of an SM */
    double memory;               /* cycles from a load to its use */
    double lines;                /* cycles that the load/store unit spends on lines of global memory */
    double cta_path, slot_path;  /* cycles of a CTA alone, of those of a slot, one after another */
};

static uint32_t shared_bytes(const struct ww_gpu_spec *gpu, const struct ww_kernel_profile *p) {
    uint32_t bytes = p->shared_static + p->shared_dynamic + gpu->sm_shared_reserved, unit = gpu->sm_shared_unit;
    return (bytes + unit - 1) / unit * unit;
}

static enum ww_code occupy(struct point *q, struct ww_model_result *out, struct ww_error *error) {
    const struct ww_kernel_profile *p = q->p;
    struct ww_launch l = {.kernel = p->kernel,
                          .registers_per_thread = p->registers_per_thread,
                          .shared_static = p->shared_static,
                          .shared_dynamic = p->shared_dynamic,
                          .cta_count = p->ctas,
                          .warps_per_cta = p->warps_per_cta};
    memcpy(l.grid, p->grid, sizeof l.grid);
    memcpy(l.block, p->block, sizeof l.block);
    WW_TRY(ww_occupancy(q->gpu, &l, &out->ctas_per_sm, &out->limiter, error));
    double sms = q->gpu->sm_count, ctas = (double)p->ctas, of_sm = ctas / sms;
    q->sms = ctas < sms ? ctas : sms;
    double most = ceil(of_sm);
    q->resident = most < out->ctas_per_sm ? (uint32_t)most : out->ctas_per_sm;
    double waves = most / q->resident, whole = ceil(waves), even = of_sm / q->resident;
    q->waves = even <= 1 ? 1 : even + q->with->tail * (whole - even);
    q->busiest = of_sm < 1 ? 1 : 1 + q->with->tail * (most / of_sm - 1);
    return WW_OK;
}

/* What one load that is waited for takes. */
static double load_latency(const struct point *q) {
    const struct ww_gpu_spec *g = q->gpu;
    double l1 = g->l1_latency + g->lsu_latency;
    double l2 = (2.0 * g->xbar_latency + g->l2_latency + (g->l2_partitions > 1 ? g->l2_far_latency / 2.0 : 0)) *
                q->l2_cycle;
    double dram =
        (double)(g->dram_latency + g->dram_trcd + g->dram_tcl) + (double)g->dram_burst / g->dram_data_rate;
    return l1 + q->traffic.miss_l1 * l2 + q->traffic.miss_l2 * dram * q->dram_cycle;
}

/* Latencies that depend on the reader (pipe.guard_latency): a conditional branch has a comparison before it, a
 * memory instruction the computation of its address, a special function its argument. If an L0 does not hold
 * the code, each of its lines costs icache.stream_cycles. */
static void by_reader(const struct point *q, double *l) {
    const struct ww_gpu_spec *g = q->gpu;
    double code = (double)q->p->code_lines * 128;
    if (g->icache_l0_kb && code > (double)g->icache_l0_kb * 1024)
        l[WW_PATH_ISSUE] += (double)g->icache_stream_cycles * 16 / g->icache_line;
    if (!g->pipe_guard_latency) return;
    if (g->pipe_guard_latency > g->pipe_int_latency)
        l[WW_PATH_BRANCH] += (double)g->pipe_guard_latency - g->pipe_int_latency;
    l[WW_PATH_MEMORY] += g->pipe_memory_cycles;
    l[WW_PATH_SHARED] += g->pipe_memory_cycles;
    l[WW_PATH_CONST] += g->pipe_sfu_cycles;
    l[WW_PATH_SFU] += g->pipe_sfu_cycles;
}

static void latencies(const struct point *q, double *l) {
    const struct ww_gpu_spec *g = q->gpu;
    double more = g->front_dependent_issue;
    l[WW_PATH_ISSUE] = g->front_issue_interval;
    l[WW_PATH_BRANCH] = g->front_branch_cycles > 1 ? g->front_branch_cycles : 1;
    l[WW_PATH_INT] = g->pipe_int_latency + more;
    l[WW_PATH_IMUL] = g->pipe_imul_latency + more;
    l[WW_PATH_FP32] = g->pipe_fp32_latency + more;
    l[WW_PATH_FP16] = g->pipe_fp16_latency + more;
    l[WW_PATH_FP64] = g->pipe_fp64_latency + more;
    l[WW_PATH_SFU] = g->pipe_sfu_latency + more;
    l[WW_PATH_TENSOR] = (g->pipe_tensor_count ? g->pipe_tensor_latency : g->pipe_fp16_latency) + more;
    l[WW_PATH_CONTROL] = g->pipe_branch_latency + more;
    l[WW_PATH_SHARED] = g->shared_latency + g->lsu_latency + more;
    l[WW_PATH_PASS] = g->shared_conflict_cycles;
    l[WW_PATH_UPDATE] = g->shared_atomic_cycles;
    l[WW_PATH_CONST] = g->const_latency + more;
    l[WW_PATH_MEMORY] = q->memory;
    l[WW_PATH_LINE] = 1;
    by_reader(q, l);
    l[WW_PATH_BARRIER] = g->front_barrier_cycles ? g->front_barrier_cycles : g->pipe_branch_latency;
}

/* The longest of the paths, whose plane is *at. */
static double longest(const float plane[WW_PATH_PLANES][WW_PATH_COUNT], const double *l, int *at) {
    double most = 0;
    *at = 0;
    for (int k = 0; k < WW_PATH_PLANES; k++) {
        double sum = 0;
        for (int c = 0; c < WW_PATH_COUNT; c++) sum += (double)plane[k][c] * l[c];
        if (sum <= most) continue;
        most = sum;
        *at = k;
    }
    return most;
}

/* What the cycles of a path are spent on, but for issues. */
static void waits(const float *steps, const double *l, double cycles, struct ww_model_waits *w) {
    double part[WW_PATH_COUNT];
    for (int c = 0; c < WW_PATH_COUNT; c++) part[c] = cycles > 0 ? (double)steps[c] * l[c] / cycles : 0;
    w->memory = part[WW_PATH_MEMORY] + part[WW_PATH_LINE];
    w->shared = part[WW_PATH_SHARED] + part[WW_PATH_PASS] + part[WW_PATH_UPDATE] + part[WW_PATH_CONST];
    w->barrier = part[WW_PATH_BARRIER];
    w->front = part[WW_PATH_BRANCH];
    w->alu = 0;
    for (int c = WW_PATH_INT; c <= WW_PATH_CONTROL; c++) w->alu += part[c];
}

/* SM cycles of a page walk whose table comes from DRAM. */
static double page_walk(const struct point *q) {
    const struct ww_gpu_spec *g = q->gpu;
    double dram = (double)(g->dram_latency + g->dram_trcd + g->dram_tcl);
    return (double)(g->tlb_l2_cycles + g->tlb_read_cycles + g->tlb_fill_cycles) * q->l2_cycle +
           dram * q->dram_cycle;
}

static double greatest(double a, double b) {
    return a > b ? a : b;
}

/* The launch itself, and what misses everywhere at its start: code, constants, the first page. */
static double cold_start(const struct point *q) {
    const struct ww_gpu_spec *g = q->gpu;
    double cycles = (double)g->launch_front_cycles + g->launch_end_cycles + g->launch_cta_cycles;
    if (g->icache_kb) {
        double at_once = g->icache_l0_kb ? greatest(1, g->icache_stream_lines) : 1 + g->icache_prefetch_lines;
        double fetches = (double)q->p->code_lines * 128 / g->icache_line / at_once,
               latency = g->icache_miss_cycles;
        if (g->icache_l0_kb) latency += g->icache_l0_miss_cycles + g->icache_dram_cycles;
        cycles += (double)q->p->code_lines * g->icache_stream_cycles; /* the first pass over the code */
        cycles += (1 + q->with->fetch * (fetches > 1 ? fetches - 1 : 0)) * latency;
    }
    if (q->p->constant_lines > 0) cycles += g->const_miss_cycles + g->const_l15_miss_cycles;
    if (g->tlb_enabled && q->p->pages > 0) cycles += page_walk(q);
    return cycles;
}

static double path(struct point *q, struct ww_model_result *out) {
    double l[WW_PATH_COUNT];
    int at, of_longest;
    latencies(q, l);
    double mean = longest(q->p->plane, l, &at), most = longest(q->p->longest, l, &of_longest);
    out->cta_path = q->cta_path = mean;
    waits(q->p->plane[at], l, mean, &out->waits);
    double missed = q->traffic.miss_l1;
    out->waits.dram_part = q->traffic.miss_l2;
    out->waits.l2_part = missed - q->traffic.miss_l2;
    double all = mean * q->waves + (q->waves - 1) * q->gpu->launch_cta_cycles;
    q->slot_path = all;
    return all > most ? all : most;
}

static double unit(double n, uint32_t lanes, uint32_t count) {
    return count ? n * (lanes >= 32 ? 1 : 32 / lanes) / count : 0;
}

/* Cycles of an SM's arithmetic units: of the one that is used most. */
static double units(const struct point *q) {
    const struct ww_gpu_spec *g = q->gpu;
    const uint64_t *n = q->p->pipe;
    double integer = (double)(n[WW_PIPE_INT] - (g->lsu_sysreg ? q->p->sysreg : 0)),
           fp32 = (double)n[WW_PIPE_FP32];
    double imul = (double)n[WW_PIPE_IMUL], fp16 = (double)n[WW_PIPE_FP16], tensor = (double)n[WW_PIPE_TENSOR];
    if (g->pipe_tensor_count == 0) fp16 += tensor;
    double of_int = unit(integer, g->pipe_int_lanes, g->pipe_int_count);
    double of_fp = unit(fp32, g->pipe_fp32_lanes, g->pipe_fp32_count);
    double of_imul = unit(imul, g->pipe_imul_lanes, g->pipe_imul_count);
    if (g->pipe_int_shares_fp32) {
        of_fp += unit(integer, g->pipe_fp32_lanes, g->pipe_fp32_count);
        of_int = 0;
    }
    if (g->pipe_imul_shares == WW_IMUL_INT && !g->pipe_int_shares_fp32)
        of_int += unit(imul, g->pipe_int_lanes, g->pipe_int_count);
    else if (g->pipe_imul_shares != WW_IMUL_OWN)
        of_fp += unit(imul, g->pipe_fp32_lanes, g->pipe_fp32_count);
    double most = greatest(greatest(of_int, of_fp), of_imul);
    most = greatest(most, unit(fp16, g->pipe_fp16_lanes, g->pipe_fp16_count));
    most = greatest(most, unit((double)n[WW_PIPE_FP64], g->pipe_fp64_lanes, g->pipe_fp64_count));
    most = greatest(most, unit((double)n[WW_PIPE_SFU], g->pipe_sfu_lanes, g->pipe_sfu_count));
    return greatest(most, unit(tensor, g->pipe_tensor_lanes, g->pipe_tensor_count));
}

static double issue(const struct point *q) {
    const struct ww_gpu_spec *g = q->gpu;
    double n = (double)q->p->warp_instructions;
    if (g->sm_issue_width > 1) n -= (double)q->p->pairs / 2;
    n *= g->front_issue_interval;
    if (g->front_rf_banks) n += (double)q->p->conflicts2;
    return n / g->sm_schedulers;
}

/* *global: of these, for lines of global and local memory. */
static double load_store(const struct point *q, double *global) {
    const struct ww_gpu_spec *g = q->gpu;
    const struct ww_kernel_profile *p = q->p;
    unsigned width = g->lsu_lanes >= 32 ? 0 : g->lsu_lanes >= 16 ? 1 : 2;
    double at_least = 1u << width, pass = g->shared_pass_cycles;
    double store_pass = g->shared_store_cycles ? g->shared_store_cycles : pass;
    double shared = greatest((double)p->shared * at_least,
                             (double)p->shared_passes * pass + (double)p->shared_store_passes * store_pass);
    double others = (double)(p->shuffles + (g->lsu_sysreg ? p->sysreg : 0)) * at_least;
    *global = (double)p->lsu_cycles[width] + q->traffic.more_lines;
    double addresses =
        g->lsu_sub_queue ? (double)p->pipe[WW_PIPE_MEM] * g->lsu_sub_cycles / g->sm_schedulers : 0;
    return greatest(addresses, shared + others + (double)p->shared_updates * g->shared_atomic_cycles + *global);
}

static double l1_port(const struct point *q) {
    const struct ww_gpu_spec *g = q->gpu;
    return (q->traffic.l1_reads + q->traffic.past_sectors) * 32 / g->l1_bytes_per_cycle;
}

static double mshrs(const struct point *q) {
    const struct ww_gpu_spec *g = q->gpu;
    double beyond = q->memory - (g->l1_latency + g->lsu_latency);
    double missed = q->traffic.miss_l1 > 0.01 ? beyond / q->traffic.miss_l1 : beyond;
    return q->traffic.miss_lines * missed / g->l1_mshrs;
}

/* Flits of packets that carry so many sectors in all. */
static double flits(const struct ww_gpu_spec *g, double packets, double sectors) {
    if (packets <= 0) return 0;
    double each = sectors / packets, least = floor(each), part = each - least;
    double a = ceil((32 * least + g->xbar_header) / g->xbar_flit);
    double b = ceil((32 * (least + 1) + g->xbar_header) / g->xbar_flit);
    return packets * ((1 - part) * greatest(a, 1) + part * greatest(b, 1));
}

static double crossbar(struct point *q) {
    const struct ww_gpu_spec *g = q->gpu;
    struct ww_model_traffic *t = &q->traffic;
    double loads = t->miss_lines + t->past_lines, stores = (double)q->p->store_lines;
    double atomics = (double)q->p->atomic_lines;
    t->packets_up = t->packets_down = loads + stores + atomics;
    t->flits_up = flits(g, loads, 0) + flits(g, stores, (double)q->p->store_bytes / 32) +
                  flits(g, atomics, (double)q->p->atomic_sectors);
    t->flits_down = flits(g, loads + atomics, t->l2_reads) + flits(g, stores, 0);
    double most = greatest(t->flits_up, t->flits_down) / ceil(q->sms / g->xbar_sms_per_port);
    if (g->xbar_trunks && g->xbar_trunk_bytes)
        most = greatest(most, t->l2_reads * 32 / ((double)g->xbar_trunks * g->xbar_trunk_bytes));
    return most * q->l2_cycle;
}

double ww_model_join(const double *term, size_t n, double exponent) {
    double most = 0, sum = 0;
    for (size_t i = 0; i < n; i++) most = greatest(most, term[i]);
    if (most <= 0) return 0;
    for (size_t i = 0; i < n; i++)
        if (term[i] > 0.02 * most) sum += pow(term[i] / most, exponent);
    return most * pow(sum, 1 / exponent);
}

/* Instructions pass issue and units, or shared memory behind them; requests pass look-ups, crossbar and L2
 * slices, DRAM, one after another: such stages are full at the same time, so that little more than the
 * narrowest counts, and the two kinds go on side by side. With dependences the two kinds overlap less, the
 * fewer CTAs follow one another. The limiting resource idles at the launch's start and end, before the first
 * CTAs use it and after the last ones. */
static double cycles_of(const struct point *q, const double *t) {
    double edge = q->with->edge * q->cta_path;
    double core[] = {t[WW_MODEL_ISSUE], t[WW_MODEL_UNIT], t[WW_MODEL_LSU]};
    double memory[] = {greatest(q->lines, t[WW_MODEL_PORT]), greatest(t[WW_MODEL_XBAR], t[WW_MODEL_L2]),
                       t[WW_MODEL_DRAM], t[WW_MODEL_MSHR]};
    double flow = greatest(ww_model_join(core, 3, q->with->stage), ww_model_join(memory, 4, q->with->stage));
    double joined[] = {t[WW_MODEL_PATH] - edge, flow, t[WW_MODEL_TLB], t[WW_MODEL_DISPATCH]};
    double exponent = q->with->overlap + q->with->drift * log2(q->waves);
    return t[WW_MODEL_START] + edge + ww_model_join(joined, sizeof joined / sizeof *joined, exponent);
}

static void limits(struct point *q, struct ww_model_result *out, double *rows) {
    double of_sm = q->busiest / q->gpu->sm_count, *t = out->term;
    t[WW_MODEL_TLB] = 0;
    if (q->sms < q->gpu->sm_count) of_sm = 1 / q->sms;
    t[WW_MODEL_ISSUE] = issue(q) * of_sm;
    t[WW_MODEL_UNIT] = units(q) * of_sm;
    t[WW_MODEL_LSU] = load_store(q, &q->lines) * of_sm;
    q->lines *= of_sm;
    t[WW_MODEL_PORT] = l1_port(q) * of_sm;
    t[WW_MODEL_XBAR] = crossbar(q);
    t[WW_MODEL_L2] = ww_model_slices(q->p, q->gpu, &q->traffic) * q->l2_cycle;
    t[WW_MODEL_DRAM] = ww_model_dram(q->kernel, q->gpu, q->with, &q->traffic, rows) * q->dram_cycle;
    if (q->gpu->tlb_enabled) t[WW_MODEL_TLB] = (double)q->p->pages * page_walk(q) / q->gpu->tlb_walkers;
    t[WW_MODEL_DISPATCH] = (double)q->p->ctas / q->gpu->launch_ctas_per_cycle;
    q->memory = load_latency(q);
    t[WW_MODEL_MSHR] = mshrs(q) * of_sm;
    t[WW_MODEL_PATH] = path(q, out);
    t[WW_MODEL_START] = cold_start(q);
    out->resident_warps = (double)q->resident * q->p->warps_per_cta;
    enum ww_model_term most = WW_MODEL_PATH;
    for (enum ww_model_term i = 0; i < WW_MODEL_TERMS; i++)
        if (i != WW_MODEL_START && t[i] > t[most]) most = i;
    out->waits.bound_by_memory = most >= WW_MODEL_LSU && most <= WW_MODEL_DRAM;
}

/* CTAs of an SM that go on at a time. Warps are not in step: as many progress as keep the narrowest stage busy
 * (path over its cycles). Others wait for their turn, and their data do not take cache capacity yet. */
static double active(const struct point *q, const double *term) {
    double most = 0, all = q->resident;
    for (int t = WW_MODEL_ISSUE; t <= WW_MODEL_DRAM; t++)
        if (t != WW_MODEL_MSHR) most = greatest(most, term[t]);
    double needed = most > 0 ? all * q->slot_path / most : all;
    if (needed > all) needed = all;
    return all * pow(needed > 1 ? needed / all : 1 / all, q->with->greedy);
}

enum ww_code ww_model_launch(const struct ww_model_kernel *kernel, const struct ww_gpu_spec *gpu,
                             const struct ww_model_constants *constants, struct ww_model_result *out,
                             struct ww_error *error) {
    struct point q = {.kernel = kernel,
                      .p = kernel->of,
                      .gpu = gpu,
                      .with = constants,
                      .l2_cycle = gpu->clock_sm_mhz / gpu->clock_l2_mhz,
                      .dram_cycle = gpu->clock_sm_mhz / gpu->clock_dram_mhz};
    double rows;
    WW_TRY(occupy(&q, out, error));
    struct ww_model_ctas ctas = {q.resident, shared_bytes(gpu, kernel->of), q.resident, q.sms};
    ww_model_traffic(kernel, gpu, constants, &ctas, &q.traffic);
    limits(&q, out, &rows);
    for (int i = 0; i < ROUNDS; i++) {
        double now = active(&q, out->term);
        if (now == ctas.active) break;
        ctas.active = now;
        ww_model_traffic(kernel, gpu, constants, &ctas, &q.traffic);
        limits(&q, out, &rows);
    }
    out->cycles = cycles_of(&q, out->term);
    ww_model_events(kernel, gpu, &q.traffic, rows, out);
    return WW_OK;
}
