/* structures.c: what the memory structures of a GPU cost that differ from those of a table's own GPU.
 *
 * The table's values are right for the shapes that it names. For another shape the energy per access is scaled
 * by the ratio of the laws of scaling.h, and the difference of the laws' leakage is added or taken off. Queues
 * and MSHRs stand inside other components' values; they add or take off the difference of a search.
 */
#include "../estimator/result/result.h"
#include "power_table.h"

/* Bytes of an entry: an address with what waits for it; of a queue, a request with its data. */
#define MSHR_BYTES 8
#define QUEUE_BYTES 32

/* Capacity, row and ways of one copy as a GPU has it; fields that it does not determine stay as they are. */
static void shape_in(const struct ww_gpu_spec *g, const struct power_structure *s,
                     struct ww_structure_shape *shape) {
    switch ((enum power_structure_name)s->name) {
    case POWER_S_REGFILE:
        shape->bytes = 4.0 * g->sm_registers;
        break;
    case POWER_S_SHARED:
        shape->bytes = 1024.0 * (g->l1_unified ? g->l1_size_kb : g->sm_shared_kb);
        shape->row_bytes = g->shared_banks * g->shared_bank_bytes;
        break;
    case POWER_S_L1:
        shape->bytes = 1024.0 * g->l1_size_kb;
        shape->row_bytes = g->l1_line;
        shape->ways = g->l1_ways;
        break;
    case POWER_S_L2:
        shape->bytes = 1024.0 * g->l2_size_kb;
        shape->row_bytes = g->l2_line;
        shape->ways = g->l2_ways;
        break;
    case POWER_S_TEXTURE:
        shape->bytes = 1024.0 * g->tex_kb;
        shape->ways = g->tex_ways;
        break;
    case POWER_S_CONSTANT:
        shape->bytes = 1024.0 * g->const_kb;
        shape->row_bytes = g->const_line;
        shape->ways = g->const_ways;
        break;
    case POWER_S_ICACHE:
        shape->bytes = 1024.0 * g->icache_kb;
        shape->row_bytes = g->icache_line;
        shape->ways = g->icache_ways;
        break;
    case POWER_S_L1_MSHR:
        shape->bytes = MSHR_BYTES * (double)g->l1_mshrs;
        break;
    case POWER_S_L2_MSHR:
        shape->bytes = MSHR_BYTES * (double)g->l2_mshrs;
        break;
    case POWER_S_L1_QUEUE:
        shape->bytes = QUEUE_BYTES * (double)g->l1_miss_queue;
        break;
    case POWER_S_COUNT:
        break;
    }
}

/* The two shapes of one bank; false if they are the same. A size of 0 (a structure that the GPU lacks) is not
 * used, so it is left as the table has it. */
static bool shapes(const struct ww_gpu_spec *gpu, const struct power_structure *s,
                   struct ww_structure_shape *ref, struct ww_structure_shape *own) {
    *ref = (struct ww_structure_shape){
        (enum ww_structure_kind)s->kind, s->bytes, s->row_bytes, s->ways, 1, s->node_nm};
    if (s->kind == WW_STRUCTURE_CAM) ref->ports = 2;
    *own = *ref;
    shape_in(gpu, s, own);
    if (own->bytes <= 0 || own->row_bytes <= 0) *own = *ref;
    bool same = own->bytes == ref->bytes && own->row_bytes == ref->row_bytes && own->ways == ref->ways;
    ref->bytes /= s->banks;
    own->bytes /= s->banks;
    return !same;
}

double ww_power_structure_factor(const struct ww_power *power, const struct ww_gpu_spec *gpu,
                                 enum ww_component component) {
    double factor = 1;
    for (size_t i = 0; i < power->structure_count; i++) {
        const struct power_structure *s = &power->structure[i];
        struct ww_structure_shape ref, own;
        if (s->to != component || s->event[0] || !shapes(gpu, s, &ref, &own)) continue;
        factor *= ww_scaling_value(power->scaling, WW_STRUCTURE_READ, &own) /
                  ww_scaling_value(power->scaling, WW_STRUCTURE_READ, &ref);
    }
    return factor;
}

/* Adds joules, which may be negative, to a part of an energy that does not go below 0. */
static void add_or_take(double joules, double *part) {
    *part = *part + joules > 0 ? *part + joules : 0;
}

static void add_structure(const struct ww_power *power, const struct ww_gpu_spec *gpu,
                          const struct power_structure *s, const struct power_point *point,
                          const uint64_t *counter, double seconds, struct ww_energy *out) {
    struct ww_structure_shape ref, own;
    if (!shapes(gpu, s, &ref, &own)) return;
    const struct ww_scaling *laws = power->scaling;
    double milliwatts =
        ww_scaling_value(laws, WW_STRUCTURE_LEAKAGE, &own) - ww_scaling_value(laws, WW_STRUCTURE_LEAKAGE, &ref);
    double copies = (s->copies ? s->copies : gpu->sm_count) * (double)s->banks;
    double joules = milliwatts * 1e-3 * copies * seconds * point->leakage[s->from];
    add_or_take(joules, &out->static_j[joules > 0 ? s->to : s->from]);
    if (!s->event[0]) return;
    double picojoules =
        ww_scaling_value(laws, WW_STRUCTURE_READ, &own) - ww_scaling_value(laws, WW_STRUCTURE_READ, &ref);
    add_or_take(picojoules * 1e-12 * (double)counter[s->counter] * point->dynamic[s->to],
                &out->dynamic_j[s->to]);
}

void ww_power_add_structures(const struct ww_power *power, const struct ww_gpu_spec *gpu,
                             const struct power_point *point, const uint64_t *counter, double seconds,
                             struct ww_energy *out) {
    for (size_t i = 0; i < power->structure_count; i++)
        add_structure(power, gpu, &power->structure[i], point, counter, seconds, out);
}

bool ww_power_area(const struct ww_power *power, const struct ww_gpu_spec *gpu, double *mm2) {
    *mm2 = 0;
    for (size_t i = 0; i < power->structure_count; i++) {
        const struct power_structure *s = &power->structure[i];
        struct ww_structure_shape ref, own;
        shapes(gpu, s, &ref, &own);
        double copies = (s->copies ? s->copies : gpu->sm_count) * (double)s->banks;
        *mm2 += copies * ww_scaling_value(power->scaling, WW_STRUCTURE_AREA, &own);
    }
    for (size_t i = 0; i < power->steady_count; i++)
        if (power->steady[i].per == POWER_PER_DMA_ENGINE)
            *mm2 += power->steady[i].area_mm2 * gpu->sm_count * gpu->dma_engines;
    return power->structure_count > 0;
}
