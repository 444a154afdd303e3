/* marching: triangles of the cells that a surface cuts. The table of triangles is made here: on each face of a
 * cell the cut edges are joined in pairs around the corners that are inside, which gives closed polygons, and
 * those are cut into triangles. Points and normals are compared with the same steps in double precision: the
 * field is a difference of terms below 90 and the position divides by its difference along the edge, so an
 * error of 90 u of the field moves a point by 90 u / slope; cells near a corner of the surface are steep enough
 * for 2^16 u. A normal is a difference of such fields over a small step: 4 x 90 u. */
#include "host.h"
#include <math.h>
#include <string.h>

struct settings {
    uint32_t size, side, variant;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(side, "side", "cell", 0, 64, 0, "cells on a side of the cube; 0: 8, 32, 64")                           \
    ENUM(variant, "variant", "plain|vtb|co_vtb", 0, "plain",                                                   \
         "as published; by hand two CTAs in one that take turns; with most of shared memory apart")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { THREADS = 32, DATA_BYTES = 24 * THREADS * 12, SHARED_BYTES = 9324 };

/* The edge between two corners of a cell, numbered as in kernels/marching.cu. */
static uint32_t edge_of(uint32_t a, uint32_t b) {
    uint32_t low = a < b ? a : b, step = a ^ b;
    if (step == 1) return low / 2;
    if (step == 2) return 4 + ((low & 1) | (low & 4) / 2);
    return 8 + low;
}

/* Joins the cut edges of a face whose corners, in a circle, are c: from where the outline comes inside to where
 * it leaves, so that opposite corners inside get one line each. */
static void join_face(const uint32_t c[4], uint32_t bits, uint32_t next[12]) {
    for (int i = 0; i < 4; i++) {
        uint32_t from = c[i], to = c[(i + 1) & 3];
        if ((bits >> from) & 1 || !((bits >> to) & 1)) continue;
        int k = (i + 1) & 3;
        while ((bits >> c[(k + 1) & 3]) & 1) k = (k + 1) & 3;
        next[edge_of(from, to)] = edge_of(c[k], c[(k + 1) & 3]);
    }
}

static uint32_t fill_row(uint32_t bits, uint32_t row[16]) {
    static const uint32_t face[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1},
                                        {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
    uint32_t next[12], count = 0;
    for (int e = 0; e < 12; e++) next[e] = UINT32_MAX;
    for (int f = 0; f < 6; f++) join_face(face[f], bits, next);
    for (uint32_t e = 0; e < 12; e++) {
        if (next[e] == UINT32_MAX) continue;
        uint32_t first = e, middle = next[e];
        next[e] = UINT32_MAX;
        while (middle != UINT32_MAX && next[middle] != UINT32_MAX) {
            uint32_t last = next[middle];
            next[middle] = UINT32_MAX;
            if (last == first) break;
            row[count++] = first;
            row[count++] = middle;
            row[count++] = last;
            middle = last;
        }
    }
    return count;
}

static double field(double x, double y, double z, double level) {
    double v = level, c[3] = {9 * x * x, 9 * y * y, 9 * z * z};
    for (int i = 0; i < 3; i++) v += c[i] * c[i] - 5 * c[i];
    return v;
}

static void corner(uint32_t cell, uint32_t side, uint32_t i, double c[3]) {
    uint32_t at[3] = {cell % side, cell / side % side, cell / (side * side)};
    for (int k = 0; k < 3; k++) c[k] = (double)(at[k] + ((i >> k) & 1)) * 2 / side - 1;
}

static uint32_t inside(uint32_t cell, uint32_t side, double level) {
    uint32_t bits = 0;
    double c[3];
    for (uint32_t i = 0; i < 8; i++) {
        corner(cell, side, i, c);
        bits |= (uint32_t)(field(c[0], c[1], c[2], level) < 0) << i;
    }
    return bits;
}

/* Point and normal on an edge: 3 + 3 numbers. */
static void on_edge(uint32_t cell, uint32_t side, double level, uint32_t e, double out[6]) {
    const double d = 0.001;
    uint32_t k = e % 4, a = e < 4 ? 2 * k : e < 8 ? (k & 1) + (k & 2) * 2 : k, b = a + (1u << e / 4);
    double c[2][3], v[2], slope[2][3];
    corner(cell, side, a, c[0]);
    corner(cell, side, b, c[1]);
    for (int i = 0; i < 2; i++) {
        double *p = c[i];
        v[i] = field(p[0], p[1], p[2], level);
        slope[i][0] = field(p[0] + d, p[1], p[2], level) - v[i];
        slope[i][1] = field(p[0], p[1] + d, p[2], level) - v[i];
        slope[i][2] = field(p[0], p[1], p[2] + d, level) - v[i];
    }
    double s = v[0] / (v[0] - v[1]);
    for (int i = 0; i < 3; i++) {
        out[i] = c[0][i] + s * (c[1][i] - c[0][i]);
        out[3 + i] = slope[0][i] + s * (slope[1][i] - slope[0][i]);
    }
}

struct surface {
    uint32_t *cell, *first; /* by place in the list of cut cells; by cell */
    uint32_t counts[256], table[256 * 16], cells, vertices;
    float level;
};

static enum ww_code classify(struct ww_host *h, uint32_t side, struct surface *s) {
    uint32_t all = side * side * side;
    memset(s, 0, sizeof *s);
    s->level = 10.0f + 4.0f * (float)ww_rng_below(&h->rng, 1024) / 1024;
    for (uint32_t i = 0; i < 256; i++) s->counts[i] = fill_row(i, s->table + 16 * i);
    WW_TRY(ww_host_array(h, &s->cell, all, sizeof *s->cell));
    WW_TRY(ww_host_array(h, &s->first, all, sizeof *s->first));
    for (uint32_t i = 0; i < all; i++) {
        uint32_t count = s->counts[inside(i, side, s->level)];
        if (!count) continue;
        s->cell[s->cells++] = i;
        s->first[i] = s->vertices;
        s->vertices += count;
    }
    return WW_OK;
}

static enum ww_code check(struct ww_host *h, const struct surface *s, uint32_t side, uint64_t d_point,
                          uint64_t d_normal) {
    size_t n = (size_t)s->vertices * 4;
    float *point, *normal;
    double *want[2], *scale;
    WW_TRY(ww_host_array(h, &point, n, sizeof *point));
    WW_TRY(ww_host_array(h, &normal, n, sizeof *normal));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_array(h, &want[i], n, sizeof **want));
    WW_TRY(ww_host_read(h, point, d_point, n, sizeof *point));
    WW_TRY(ww_host_read(h, normal, d_normal, n, sizeof *normal));
    for (uint32_t i = 0; i < s->cells; i++) {
        uint32_t bits = inside(s->cell[i], side, s->level);
        for (uint32_t k = 0; k < s->counts[bits]; k++) {
            double v[6];
            size_t at = 4 * (size_t)(s->first[s->cell[i]] + k);
            on_edge(s->cell[i], side, s->level, s->table[16 * bits + k], v);
            for (size_t c = 0; c < 3; c++) {
                want[0][at + c] = v[c];
                want[1][at + c] = v[3 + c];
            }
            want[0][at + 3] = 1;
        }
    }
    for (size_t i = 0; i < n; i++) scale[i] = 1;
    WW_TRY(ww_host_near_f32(h, "point", point, want[0], scale, n, 65536));
    return ww_host_near_f32(h, "normal", normal, want[1], scale, n, 65536);
}

/* As in kernels/marching.cu. */
struct argument {
    uint64_t cell, first, counts, table, point, normal;
    uint32_t cells, side, most;
    float level;
};

static enum ww_code upload(struct ww_host *h, const struct surface *s, uint32_t side, struct argument *a) {
    uint64_t counts, table;
    *a = (struct argument){.cells = s->cells, .side = side, .most = s->vertices, .level = s->level};
    WW_TRY(ww_host_upload(h, &a->cell, s->cell, s->cells, sizeof *s->cell));
    WW_TRY(ww_host_upload(h, &a->first, s->first, (size_t)side * side * side, sizeof *s->first));
    WW_TRY(ww_host_upload(h, &counts, s->counts, 256, sizeof *s->counts));
    WW_TRY(ww_host_upload(h, &table, s->table, 4096, sizeof *s->table));
    WW_TRY(ww_host_texture(h, &a->counts, counts, 256, 1));
    WW_TRY(ww_host_texture(h, &a->table, table, 4096, 1));
    WW_TRY(ww_host_buffer(h, &a->point, s->vertices, 16));
    return ww_host_buffer(h, &a->normal, s->vertices, 16);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    static const char *const kernel[] = {"marching_triangles", "marching_vtb", "marching_co_vtb"};
    const struct settings *o = settings;
    uint32_t side = ww_host_size(o->side, o->size, 8, 32, 64), joined = o->variant ? 2 : 1;
    struct surface s;
    struct argument a;
    WW_TRY(classify(h, side, &s));
    if (!s.cells) return ww_fail(h->error, WW_USAGE, h->name, "side=%u: the surface cuts no cell", side);
    WW_TRY(upload(h, &s, side, &a));
    const struct ww_arg args[] = {WW_ARG(a)};
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(s.cells, THREADS * joined), THREADS * joined);
    shape.shared = SHARED_BYTES - DATA_BYTES;
    WW_TRY(ww_host_launch(h, kernel[o->variant], &shape, WW_ARGS(args)));
    return check(h, &s, side, a.point, a.normal);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("marching", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_marching = {
    .name = "marching",
    .help = "marching cubes: points on the edges of a cell lie in shared memory, triangles pick from them",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "marching",
    .run = run,
};
