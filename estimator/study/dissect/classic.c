/* Section 4.1: average latencies of the texture cache, as the methods before the fine-grained chase read them:
 * Saavedra and Smith (1995), strides at fixed sizes, and Wong et al. (2010), sizes at a fixed stride. On a
 * cache whose sets are not chosen by the lowest bits of the line the two contradict each other. */
#include "meter.h"
#include <math.h>
#include <stdlib.h>

#define MOST_ROWS 512u
#define WONG_STRIDE 32u

static enum ww_code average(struct ww_meter *m, uint64_t bytes, uint64_t stride, double *cycles,
                            struct ww_error *error) {
    enum { PASSES = 4 };
    size_t n = ww_micro_walk(0, bytes, stride, PASSES, NULL), one = n / PASSES;
    uint64_t *address = calloc(n, sizeof *address);
    uint32_t *latency = calloc(n, sizeof *latency);
    enum ww_code code = address && latency ? WW_OK : ww_fail_nomem(error, "a chase");
    if (code == WW_OK) {
        double sum = 0;
        ww_micro_walk(0, bytes, stride, PASSES, address);
        code = ww_meter_chase(m, address, n, latency, error);
        for (size_t i = one; i < n; i++) sum += latency[i];
        *cycles = sum / (double)(n - one);
    }
    free(address);
    free(latency);
    return code;
}

static enum ww_code add(struct ww_meter *m, struct ww_dissect_classic_row *row, size_t *count, uint64_t bytes,
                        uint64_t stride, struct ww_error *error) {
    if (*count == MOST_ROWS) return WW_OK;
    row[*count] = (struct ww_dissect_classic_row){bytes, stride, NAN};
    return average(m, bytes, stride, &row[(*count)++].cycles, error);
}

/* Sizes around and above the cache's, all powers of two of strides. */
static enum ww_code saavedra(struct ww_meter *m, uint64_t size, struct ww_error *error) {
    struct ww_dissect_classic *c = &m->out->classic;
    for (uint64_t bytes = size / 2; bytes <= 8 * size; bytes *= 2)
        for (uint64_t stride = 4; stride <= bytes / 2; stride *= 2)
            WW_TRY(add(m, c->saavedra, &c->saavedra_count, bytes, stride, error));
    return WW_OK;
}

static enum ww_code wong(struct ww_meter *m, uint64_t size, struct ww_error *error) {
    struct ww_dissect_classic *c = &m->out->classic;
    for (uint64_t bytes = size - 512; bytes <= size + 1536; bytes += WONG_STRIDE)
        WW_TRY(add(m, c->wong, &c->wong_count, bytes, WONG_STRIDE, error));
    return WW_OK;
}

static double lowest(const struct ww_dissect_classic_row *row, size_t count) {
    double low = INFINITY;
    for (size_t i = 0; i < count; i++) low = fmin(low, row[i].cycles);
    return low;
}

/* Equation (1): the largest size without a miss is the cache's; of a size four times that, the first stride at
 * which all accesses miss is the line, and size / stride where they all hit again the ways. */
static void read_saavedra(struct ww_dissect_classic *c) {
    struct ww_dissect_guess *g = &c->by_saavedra;
    double low = lowest(c->saavedra, c->saavedra_count), high = 0;
    for (size_t i = 0; i < c->saavedra_count; i++) {
        const struct ww_dissect_classic_row *r = &c->saavedra[i];
        if (r->stride == 4 && r->cycles <= low + 0.5 && r->bytes > g->size) g->size = r->bytes;
    }
    for (size_t i = 0; i < c->saavedra_count; i++)
        if (c->saavedra[i].bytes == 4 * g->size) high = fmax(high, c->saavedra[i].cycles);
    for (size_t i = 0; i < c->saavedra_count; i++) {
        const struct ww_dissect_classic_row *r = &c->saavedra[i];
        if (r->bytes != 4 * g->size) continue;
        if (!g->line && r->cycles > low + 0.95 * (high - low)) g->line = r->stride;
        if (g->line && !g->ways && r->stride > g->line && r->cycles <= low + 0.5)
            g->ways = (uint32_t)(r->bytes / r->stride);
    }
    if (g->ways && g->line) g->sets = (uint32_t)(g->size / g->line / g->ways);
}

/* Equation (2): latency rises in steps beyond the size; a step's width is the line, their number the sets. */
static void read_wong(struct ww_dissect_classic *c) {
    struct ww_dissect_guess *g = &c->by_wong;
    double low = lowest(c->wong, c->wong_count), high = 0, step;
    uint64_t first = 0, last = 0;
    for (size_t i = 0; i < c->wong_count; i++) high = fmax(high, c->wong[i].cycles);
    step = (high - low) / 16;
    for (size_t i = 0; i < c->wong_count; i++) {
        if (c->wong[i].cycles <= low + 0.5) g->size = c->wong[i].bytes;
        if (i && c->wong[i].cycles > c->wong[i - 1].cycles + step) {
            if (!first) first = c->wong[i].bytes;
            last = c->wong[i].bytes;
            g->sets++;
        }
    }
    if (g->sets > 1) g->line = (last - first) / (g->sets - 1);
    if (g->line && g->sets) g->ways = (uint32_t)(g->size / g->line / g->sets);
}

enum ww_code ww_dissect_classic(struct ww_meter *m, struct ww_error *error) {
    const struct ww_dissect_cache *texture = NULL;
    struct ww_dissect_classic *c = &m->out->classic;
    for (size_t i = 0; i < m->out->cache_count; i++)
        if (m->out->cache[i].texture) texture = &m->out->cache[i];
    if (!texture || !texture->c.found || texture->c.size > 64 * WW_KB) return WW_OK;
    c->saavedra = ww_arena_array(&m->out->arena, MOST_ROWS, sizeof *c->saavedra);
    c->wong = ww_arena_array(&m->out->arena, MOST_ROWS, sizeof *c->wong);
    if (!c->saavedra || !c->wong) return ww_fail_nomem(error, "average latencies");
    m->path = WW_MICRO_TEXTURE;
    WW_TRY(saavedra(m, texture->c.size, error));
    WW_TRY(wong(m, texture->c.size, error));
    read_saavedra(c);
    read_wong(c);
    c->measured = true;
    return WW_OK;
}
