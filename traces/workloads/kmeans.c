/* kmeans: iterations of Lloyd's algorithm on points around hidden centres. Features are whole numbers below
 * 256. Labels: a point may take another cluster than the reference only where its distances to both differ by
 * no more than the tolerance, factor 2 (features + 2) on each distance (a difference, a product and a sum for
 * each feature, and the same of the rival). Sums and counts are whole numbers in 32 bits: compared exactly, for
 * the labels that the kernel chose. The next centroids are computed from them on the host.
 * The variant rodinia is the pair of kernels of Rodinia's kmeans (S. Che et al., IISWC 2009), with 34 features
 * as its data, the network connections of the KDD Cup 1999, and as many clusters as those have classes; the
 * host adds up the clusters there. */
#include "host.h"
#include <string.h>

struct settings {
    uint32_t size, n, features, clusters, iterations, block, variant;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(n, "n", "point", 0, 16777216, 0, "points; 0: 900, 330000, 1000000; rodinia 250, 16384, 494020")        \
    U32(features, "features", "feature", 0, 64, 0, "features of a point; 0: 4; rodinia 34")                    \
    U32(clusters, "clusters", "cluster", 0, 64, 0, "clusters; 0: 5; rodinia 23")                               \
    U32(iterations, "iterations", "iteration", 1, 100, 1, "iterations, two launches each")                     \
    U32(block, "block", "thread", 1, 1024, 256, "threads of a CTA")                                            \
    ENUM(variant, "variant", "soa|aos|rodinia", 0, "soa",                                                      \
         "layout: by feature (coalesced), by point (strided), or turned from by point to by feature first")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { RODINIA = 2 };
enum { TILE = 24 }; /* clusters that kmeans_point takes at a time */

struct problem {
    const struct settings *s;
    uint32_t n, features, clusters, cells; /* cells: of centroids */
    float *point, *centroid;
    uint32_t *label, *total, *want_total; /* totals: sums by cluster and feature, then counts */
    uint64_t d_point, d_inverted, d_centroid, d_label, d_total;
};

static size_t place(const struct problem *p, size_t i, size_t f) {
    return p->s->variant ? i * p->features + f : f * p->n + i;
}

/* Points: a centre in 32 .. 223 plus the sum of two uniform numbers in -16 .. 15. */
static enum ww_code make(struct ww_host *h, struct problem *p) {
    const struct settings *s = p->s;
    uint32_t *centre;
    bool rodinia = s->variant == RODINIA;
    p->n = rodinia ? ww_host_size(s->n, s->size, 250, 16384, 494020)
                   : ww_host_size(s->n, s->size, 900, 330000, 1000000);
    p->features = s->features ? s->features : rodinia ? 34 : 4;
    p->clusters = s->clusters ? s->clusters : rodinia ? 23 : 5;
    p->cells = p->clusters * p->features;
    WW_TRY(ww_host_array(h, &p->point, (size_t)p->n * p->features, sizeof *p->point));
    WW_TRY(ww_host_array(h, &p->centroid, p->cells, sizeof *p->centroid));
    WW_TRY(ww_host_array(h, &p->label, p->n, sizeof *p->label));
    WW_TRY(ww_host_array(h, &p->total, p->cells + p->clusters, sizeof *p->total));
    WW_TRY(ww_host_array(h, &p->want_total, p->cells + p->clusters, sizeof *p->want_total));
    WW_TRY(ww_host_array(h, &centre, p->cells, sizeof *centre));
    for (uint32_t i = 0; i < p->cells; i++) centre[i] = 32 + ww_rng_below(&h->rng, 192);
    for (uint32_t i = 0; i < p->n; i++) {
        const uint32_t *c = centre + (size_t)ww_rng_below(&h->rng, p->clusters) * p->features;
        for (uint32_t f = 0; f < p->features; f++)
            p->point[place(p, i, f)] =
                (float)(c[f] + ww_rng_below(&h->rng, 32) + ww_rng_below(&h->rng, 32) - 32);
    }
    for (uint32_t c = 0; c < p->clusters; c++) /* the first points are the first centroids */
        for (uint32_t f = 0; f < p->features; f++)
            p->centroid[c * p->features + f] = p->point[place(p, c % p->n, f)];
    return WW_OK;
}

static enum ww_code upload(struct ww_host *h, struct problem *p) {
    WW_TRY(ww_host_upload(h, &p->d_point, p->point, (size_t)p->n * p->features, sizeof *p->point));
    WW_TRY(ww_host_buffer(h, &p->d_centroid, p->cells, sizeof *p->centroid));
    WW_TRY(ww_host_buffer(h, &p->d_label, p->n, sizeof *p->label));
    if (p->s->variant == RODINIA)
        return ww_host_buffer(h, &p->d_inverted, (size_t)p->n * p->features, sizeof *p->point);
    return ww_host_buffer(h, &p->d_total, p->cells + p->clusters, sizeof *p->total);
}

static double distance(const struct problem *p, size_t i, uint32_t c) {
    double sum = 0;
    for (uint32_t f = 0; f < p->features; f++) {
        double d = (double)p->point[place(p, i, f)] - (double)p->centroid[c * p->features + f];
        sum += d * d;
    }
    return sum;
}

static enum ww_code check_label(struct ww_host *h, const struct problem *p, size_t i) {
    if (p->label[i] >= p->clusters)
        return ww_fail(h->error, WW_MISMATCH, h->name, "label[%zu] is %u, expected less than %u", i,
                       p->label[i], p->clusters);
    double chosen = distance(p, i, p->label[i]), best = chosen;
    uint32_t nearest = p->label[i];
    for (uint32_t c = 0; c < p->clusters; c++) {
        double d = distance(p, i, c);
        if (d < best) {
            best = d;
            nearest = c;
        }
    }
    double tolerance = 2.0 * (p->features + 2.0) * WW_UNIT_ROUNDOFF * (chosen + best);
    if (chosen - best <= tolerance) return WW_OK;
    return ww_fail(h->error, WW_MISMATCH, h->name,
                   "label[%zu] is %u at distance %.9g, expected %u at %.9g (tolerance %.3g)", i, p->label[i],
                   chosen, nearest, best, tolerance);
}

static enum ww_code check(struct ww_host *h, struct problem *p) {
    size_t totals = p->cells + p->clusters;
    WW_TRY(ww_host_read(h, p->label, p->d_label, p->n, sizeof *p->label));
    memset(p->want_total, 0, totals * sizeof *p->want_total);
    for (size_t i = 0; i < p->n; i++) {
        WW_TRY(check_label(h, p, i));
        for (uint32_t f = 0; f < p->features; f++)
            p->want_total[p->label[i] * p->features + f] += (uint32_t)p->point[place(p, i, f)];
        p->want_total[p->cells + p->label[i]]++;
    }
    if (p->s->variant == RODINIA) { /* no kernel adds them up */
        memcpy(p->total, p->want_total, totals * sizeof *p->total);
        return WW_OK;
    }
    WW_TRY(ww_host_read(h, p->total, p->d_total, totals, sizeof *p->total));
    return ww_host_same_u32(h, "total", p->total, p->want_total, totals);
}

/* The mean of each cluster; an empty one keeps its centroid. */
static void move_centroids(struct problem *p) {
    for (uint32_t i = 0; i < p->cells; i++) {
        uint32_t count = p->total[p->cells + i / p->features];
        if (count) p->centroid[i] = (float)((double)p->total[i] / count);
    }
}

static enum ww_code iterate(struct ww_host *h, struct problem *p) {
    const struct settings *s = p->s;
    size_t total_bytes = (p->cells + p->clusters) * sizeof *p->total;
    WW_TRY(ww_device_write(h->device, p->d_centroid, p->centroid, p->cells * sizeof(float), h->error));
    WW_TRY(ww_device_memset(h->device, p->d_total, 0, total_bytes, h->error));
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(p->n, s->block), s->block);
    shape.shared = p->cells * (uint32_t)sizeof(float);
    const struct ww_arg assign[] = {WW_ARG(p->d_point), WW_ARG(p->d_centroid), WW_ARG(p->d_label),
                                    WW_ARG(p->n),       WW_ARG(p->features),   WW_ARG(p->clusters)};
    WW_TRY(ww_host_launch(h, s->variant ? "kmeans_assign_aos" : "kmeans_assign_soa", &shape, WW_ARGS(assign)));
    shape.shared = (uint32_t)total_bytes;
    const struct ww_arg update[] = {WW_ARG(p->d_point), WW_ARG(p->d_label),  WW_ARG(p->d_total),
                                    WW_ARG(p->n),       WW_ARG(p->features), WW_ARG(p->clusters)};
    return ww_host_launch(h, s->variant ? "kmeans_update_aos" : "kmeans_update_soa", &shape, WW_ARGS(update));
}

static enum ww_code iterate_rodinia(struct ww_host *h, struct problem *p) {
    WW_TRY(ww_device_write(h->device, p->d_centroid, p->centroid, p->cells * sizeof(float), h->error));
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(p->n, p->s->block), p->s->block);
    shape.shared = (p->clusters + TILE - 1) / TILE * TILE * p->features * (uint32_t)sizeof(float);
    const struct ww_arg args[] = {WW_ARG(p->d_inverted), WW_ARG(p->d_centroid), WW_ARG(p->d_label),
                                  WW_ARG(p->n),          WW_ARG(p->features),   WW_ARG(p->clusters)};
    return ww_host_launch(h, "kmeans_point", &shape, WW_ARGS(args));
}

static enum ww_code invert(struct ww_host *h, struct problem *p) {
    float *got;
    size_t words = (size_t)p->n * p->features;
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(p->n, p->s->block), p->s->block);
    const struct ww_arg args[] = {WW_ARG(p->d_point), WW_ARG(p->d_inverted), WW_ARG(p->n), WW_ARG(p->features)};
    WW_TRY(ww_host_launch(h, "kmeans_invert", &shape, WW_ARGS(args)));
    WW_TRY(ww_host_array(h, &got, words, sizeof *got));
    WW_TRY(ww_host_read(h, got, p->d_inverted, words, sizeof *got));
    for (size_t i = 0; i < words; i++) {
        float want = p->point[place(p, i % p->n, i / p->n)];
        if (got[i] != want)
            return ww_fail(h->error, WW_MISMATCH, h->name, "inverted[%zu] is %.9g, expected %.9g exactly", i,
                           (double)got[i], (double)want);
    }
    return WW_OK;
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    struct problem p = {.s = settings};
    WW_TRY(make(h, &p));
    WW_TRY(upload(h, &p));
    bool rodinia = p.s->variant == RODINIA;
    if (rodinia) WW_TRY(invert(h, &p));
    for (uint32_t i = 0; i < p.s->iterations; i++) {
        WW_TRY(rodinia ? iterate_rodinia(h, &p) : iterate(h, &p));
        WW_TRY(check(h, &p));
        move_centroids(&p);
    }
    return WW_OK;
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("kmeans", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_kmeans = {
    .name = "kmeans",
    .help = "k-means clustering: nearest centroid, then sums by cluster with shared-memory atomics",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "kmeans",
    .run = run,
};
