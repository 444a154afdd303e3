/* model_traffic.c: which level serves how much. */
#include "../core/sm/occupancy.h"
#include "model_part.h"
#include <math.h>

/* Share of accesses that a cache of so many lines misses. */
static double at_capacity(const struct ww_miss_curve *c, double lines) {
    if (lines < 1) return c->at[0];
    double place = 1 + 2 * log2(lines);
    if (place >= WW_REUSE_BINS - 2) return (double)c->at[WW_REUSE_BINS - 1];
    unsigned bin = (unsigned)place;
    double part = place - bin;
    return (double)c->at[bin] * (1 - part) + (double)c->at[bin + 1] * part;
}

/* Sets fill unevenly, so a cache of few ways loses some lines early and keeps others longer: the step at the
 * capacity is smeared. */
static double misses(const struct ww_miss_curve *c, double lines, double ways, double spread) {
    double width = spread / sqrt(ways < 1 ? 1 : ways);
    if (width > 0.9) width = 0.9;
    return (at_capacity(c, lines * (1 - width)) + 2 * at_capacity(c, lines) +
            at_capacity(c, lines * (1 + width))) /
           4;
}

/* The same between the two levels of concurrency around the given one. */
static double local_misses(const struct ww_miss_curve *first, size_t stride, double level, double lines,
                           double ways, double spread) {
    unsigned low = level >= WW_LOCAL_LEVELS - 1 ? WW_LOCAL_LEVELS - 1 : (unsigned)level;
    double part = level - low;
    double a = misses(first + low * stride, lines, ways, spread);
    if (low == WW_LOCAL_LEVELS - 1 || part < 0.01) return a;
    return a * (1 - part) + part * misses(first + (low + 1) * stride, lines, ways, spread);
}

static double l1_lines(const struct ww_gpu_spec *gpu, uint32_t resident, uint32_t shared_bytes) {
    double bytes = 1024.0 * gpu->l1_size_kb;
    if (gpu->l1_unified) bytes = (double)ww_occupancy_l1(gpu, (uint64_t)resident * shared_bytes);
    return bytes > 128 ? bytes / 128 : 1;
}

/* Misses of a cache behind all SMs, between the two levels of concurrency around the given one; `level` counts
 * from the first. */
static double far_misses(const struct ww_miss_curve first[WW_GLOBAL_LEVELS], double level, double lines,
                         double ways, double spread) {
    if (level <= 0) return misses(&first[0], lines, ways, spread);
    if (level >= WW_GLOBAL_LEVELS - 1) return misses(&first[WW_GLOBAL_LEVELS - 1], lines, ways, spread);
    unsigned low = (unsigned)level;
    double part = level - low;
    return misses(&first[low], lines, ways, spread) * (1 - part) +
           misses(&first[low + 1], lines, ways, spread) * part;
}

/* Loads of one type that look in the L1. */
static void add_l1(const struct ww_model_kernel *k, const struct ww_gpu_spec *gpu, double spread, unsigned type,
                   double level, double lines, struct ww_model_traffic *t) {
    const struct ww_kernel_profile *p = k->of;
    double ways = gpu->l1_ways, sectors = (double)p->load_sectors[type], asked = (double)p->load_lines[type];
    double line_miss = local_misses(&k->line[0][type], 2, level, lines, ways, spread);
    double sector_miss = local_misses(&k->sector[0][type], 2, level, lines, ways, spread);
    bool whole = gpu->l1_sector > 32;
    double reads = whole ? asked * 4 : sectors, missed = whole ? asked * line_miss * 4 : sectors * sector_miss;
    t->l1_reads += reads;
    t->l1_misses += missed;
    double requests = gpu->l1_line > 32 ? asked : sectors; /* lines of 32 bytes are requested one by one */
    t->l1_lines += requests;
    t->more_lines += requests - asked;
    double per_line = requests > 0 ? reads / requests : 1;
    t->miss_lines += missed / (per_line > 1 ? per_line : 1);
}

/* Written sectors that leave the L2 before the launch ends. Of the sectors that it holds then, as many wait to
 * be written as were stored to among those that came; they have driven out what earlier launches left. */
static double written_back(const struct ww_model_kernel *k, double lines, double stores, double loaded) {
    const struct ww_miss_curve *curve = &k->far_store[WW_GLOBAL_LEVELS - 1];
    double cold = stores * (double)curve->at[WW_REUSE_BINS - 1];
    double missed = stores * at_capacity(curve, lines);
    double held =
        missed + loaded - (double)k->of->stored_loaded; /* a sector that is loaded and stored to is one */
    if (held < missed) held = missed;
    double kept = held > 0 ? 4 * lines * missed / held : 0;
    double before = (double)k->of->stored_before;
    kept -= before < kept ? before : kept;
    if (kept > cold) kept = cold;
    return missed > kept ? missed - kept : 0;
}

/* Loads ask for all of a line. */
static bool whole_lines(const struct ww_gpu_spec *gpu) {
    return gpu->l1_sector > 32 && gpu->l1_global_loads && gpu->l1_enabled;
}

static void far_levels(const struct ww_model_kernel *k, const struct ww_gpu_spec *gpu, double spread,
                       double level, struct ww_model_traffic *t) {
    const struct ww_kernel_profile *p = k->of;
    double lines = 1024.0 * gpu->l2_size_kb / 128 / gpu->l2_partitions, ways = gpu->l2_ways;
    double loads = (double)(p->load_sectors[0] + p->load_sectors[1] + p->bypass_sectors);
    double asked = (double)(p->load_lines[0] + p->load_lines[1] + p->bypass_lines);
    double atomics = (double)p->atomic_sectors, stores = (double)p->store_sectors + atomics;
    double reads = t->l1_misses + t->past_sectors,
           dram = loads * far_misses(k->far_sector, level, lines, ways, spread);
    if (whole_lines(gpu)) dram = 4 * asked * far_misses(k->far_line, level, lines, ways, spread);
    if (dram > reads) dram = reads;
    t->l2_reads = reads + atomics;
    t->l2_writes = (double)p->store_sectors;
    t->l2_write_misses =
        t->l2_writes * far_misses(k->far_store, level, lines, ways, spread) - (double)p->stored_loaded;
    if (t->l2_write_misses < 0) t->l2_write_misses = 0;
    double of_atomics = atomics * far_misses(k->far_store, level, lines, ways, spread);
    t->dram_reads = dram + of_atomics;
    t->l2_hits = t->l2_reads - t->dram_reads;
    t->dram_writes = written_back(k, lines * gpu->l2_partitions, stores, t->dram_reads);
}

void ww_model_traffic(const struct ww_model_kernel *kernel, const struct ww_gpu_spec *gpu,
                      const struct ww_model_constants *constants, const struct ww_model_ctas *ctas,
                      struct ww_model_traffic *out) {
    const struct ww_kernel_profile *p = kernel->of;
    double lines = l1_lines(gpu, ctas->resident, ctas->shared_bytes);
    double level = log2(ctas->active > 1 ? ctas->active : 1), all = log2(ctas->active * ctas->sms / 16) / 2;
    *out = (struct ww_model_traffic){.past_sectors = (double)p->bypass_sectors,
                                     .past_lines = (double)p->bypass_lines};
    for (unsigned type = 0; type < 2; type++) {
        if (gpu->l1_enabled && (type == 1 || gpu->l1_global_loads)) {
            add_l1(kernel, gpu, constants->spread, type, level, lines, out);
            continue;
        }
        out->past_sectors += (double)p->load_sectors[type];
        out->past_lines += (double)p->load_lines[type];
    }
    out->l1_hits = out->l1_reads - out->l1_misses;
    unsigned view = gpu->l1_enabled && gpu->l1_global_loads ? 0 : 1;
    out->miss_l1 = gpu->l1_enabled ? local_misses(&kernel->episode[0][view], 2, level, lines, gpu->l1_ways,
                                                  constants->spread)
                                   : 1;
    double l2 = 1024.0 * gpu->l2_size_kb / 128 / gpu->l2_partitions;
    out->miss_l2 = far_misses(kernel->far_episode, all, l2, gpu->l2_ways, constants->spread);
    if (out->miss_l2 > out->miss_l1) out->miss_l2 = out->miss_l1;
    far_levels(kernel, gpu, constants->spread, all, out);
}

static double at_window(const double of[WW_ROW_WINDOWS], double window) {
    if (window <= 0) return of[0];
    if (window >= WW_ROW_WINDOWS - 1) return of[WW_ROW_WINDOWS - 1];
    unsigned low = (unsigned)window;
    return of[low] + (window - low) * (of[low + 1] - of[low]);
}

/* Rows that a sector of a kind of misses opens. */
static double rows_opened(const struct ww_kernel_profile *p, const struct ww_gpu_spec *gpu,
                          enum ww_row_kind kind) {
    double window = log2(gpu->dram_channels * (double)gpu->dram_queue / 512) / 2;
    if (kind == WW_ROW_STORES) window = 0;
    double chunks = at_window(p->chunks_per_sector[kind], window);
    double rows = at_window(p->rows_per_sector[kind], window) * 131072 / gpu->dram_row_bytes;
    if (kind == WW_ROW_STORES && gpu->l2_replace > WW_REPLACE_FIFO) return chunks;
    return rows < chunks ? rows : chunks;
}

/* Banks that change rows at a time. A channel's queue holds requests for few rows, some of them in one bank: of
 * n that fall on banks at random, the bank that gets most has about n / banks + sqrt(2 n / banks ln banks). */
static double banks_at_work(const struct ww_gpu_spec *gpu, double rows_per_burst) {
    double banks = gpu->dram_banks, n = gpu->dram_queue * rows_per_burst;
    if (n < 1 || banks < 2) return 1;
    double most = n / banks + sqrt(2 * n / banks * log(banks));
    return most > 1 ? n / most : n;
}

double ww_model_dram(const struct ww_model_kernel *kernel, const struct ww_gpu_spec *gpu,
                     const struct ww_model_constants *constants, const struct ww_model_traffic *traffic,
                     double *rows) {
    const struct ww_kernel_profile *p = kernel->of;
    double sectors = traffic->dram_reads + traffic->dram_writes;
    *rows = traffic->dram_reads * rows_opened(p, gpu, whole_lines(gpu) ? WW_ROW_LINES : WW_ROW_SECTORS) +
            traffic->dram_writes * rows_opened(p, gpu, WW_ROW_STORES);
    if (sectors <= 0) return 0;
    double burst_bytes = gpu->dram_bus_bits / 8.0 * gpu->dram_burst;
    double column = (double)gpu->dram_burst / gpu->dram_data_rate;
    if (column < gpu->dram_tccd) column = gpu->dram_tccd;
    double bus = sectors * 32 / burst_bytes * column;
    double window = gpu->dram_tfaw / 4.0;
    double activate = *rows * (gpu->dram_trrd > window ? gpu->dram_trrd : window);
    double banks =
        *rows * (gpu->dram_tras + gpu->dram_trp) / banks_at_work(gpu, *rows / (sectors * 32 / burst_bytes));
    double needed[] = {bus, activate > banks ? activate : banks};
    double refresh = gpu->dram_trefi ? (double)gpu->dram_trfc / gpu->dram_trefi : 0;
    if (gpu->dram_refresh) refresh /= gpu->dram_banks;
    return ww_model_join(needed, 2, constants->stage) / gpu->dram_channels / (1 - refresh);
}
