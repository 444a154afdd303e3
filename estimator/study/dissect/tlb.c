/* Section 4.4: the TLBs, seen in loads that hit the L2 cache. */
#include "meter.h"
#include <math.h>
#include <stdlib.h>

#define UNIT (256 * WW_KB)
#define LARGEST (512 * WW_MB) /* what is active of a page table at a time */

/* The same number of elements side by side: if these miss as well, it is a data cache that is too small. */
static enum ww_code misses_nearby(struct ww_meter *m, uint64_t size, uint32_t hit_at_most, bool *misses,
                                  struct ww_error *error) {
    enum { NEARBY = 128 };
    size_t n = (size_t)(size / UNIT) + 1, all = 2 * n;
    uint64_t *address = calloc(all, sizeof *address);
    uint32_t *latency = calloc(all, sizeof *latency);
    enum ww_code code = address && latency ? WW_OK : ww_fail_nomem(error, "a chase");
    for (size_t i = 0; code == WW_OK && i < all; i++) address[i] = i % n * NEARBY;
    if (code == WW_OK) code = ww_meter_chase(m, address, all, latency, error);
    *misses = false;
    for (size_t i = n; code == WW_OK && i < all; i++) *misses |= latency[i] > hit_at_most;
    free(address);
    free(latency);
    return code;
}

/* *data: the misses are a data cache's. */
static enum ww_code dissect_level(struct ww_meter *m, const struct ww_cluster *hit,
                                  const struct ww_cluster *miss, bool *data, struct ww_error *error) {
    struct ww_dissect_tlb *t = &m->out->tlb[m->out->tlb_count];
    struct ww_infer_plan plan = {.unit = UNIT,
                                 .stagger = 128,
                                 .smallest = 2 * UNIT,
                                 .largest = LARGEST,
                                 .longest_line = 8 * WW_MB,
                                 .hit_at_most = ww_cluster_between(hit, miss),
                                 .sets = true};
    struct ww_box box = ww_meter_box(m);
    *t = (struct ww_dissect_tlb){.hit = (hit->low + hit->high) / 2.0, .miss = (miss->low + miss->high) / 2.0};
    WW_TRY(ww_infer(&box, &plan, &m->out->arena, &t->c, error));
    *data = false;
    if (!t->c.found) return WW_OK;
    WW_TRY(misses_nearby(m, t->c.size, plan.hit_at_most, data, error));
    /* Long strides may overfill sets of a data cache, too: the apparent page size is then no power of two. */
    *data |= t->c.line == 0 || (t->c.line & (t->c.line - 1)) != 0;
    if (!*data) m->out->tlb_count++;
    return WW_OK;
}

enum ww_code ww_dissect_tlbs(struct ww_meter *m, struct ww_error *error) {
    struct ww_cluster cluster[WW_CLUSTERS];
    size_t count;
    bool data = false;
    const struct ww_infer_plan look = {.unit = UNIT, .stagger = 128, .smallest = 2 * UNIT, .largest = LARGEST};
    m->path = WW_MICRO_L2;
    WW_TRY(ww_meter_levels(m, &look, cluster, &count, error));
    /* What is slower than a miss of the data differs by DRAM's rows. */
    for (size_t i = 0; i + 1 < count && m->out->tlb_count < 2 && !data; i++)
        WW_TRY(dissect_level(m, &cluster[i], &cluster[i + 1], &data, error));
    return WW_OK;
}
