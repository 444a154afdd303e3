/* cutcp: the potential of point charges on a lattice, cut off smoothly at a radius: charge / r times
 * (1 - r^2 / cutoff^2)^2 (C. I. Rodrigues, D. J. Hardy, J. E. Stone, K. Schulten, W. W. Hwu, "GPU Acceleration
 * of Cutoff Pair Potentials for Molecular Modeling Applications", CF 2008, which is Parboil's cutcp). Atoms are
 * as dense as in water, 0.1 in a cubic angstrom, none closer than 0.05 angstroms to a lattice point.
 * Tolerance, in units of u: the sum of n terms n; of a term charge / r, 16 of (1 + s) s, where s is the factor
 * that cancels at the cutoff: 4 for rsqrt, 7 for r^2 in both factors, the products. */
#include "host.h"
#include <math.h>

enum { DEPTH = 8 };
static const double spacing = 0.5, bin_edge = 4;

struct settings {
    uint32_t size, nx, ny, nz, cutoff;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(nx, "nx", "CTA", 0, 64, 0, "regions of 8 x 8 x 6 lattice points in x; 0: 1, 4, 6")                     \
    U32(ny, "ny", "CTA", 0, 64, 0, "in y; 0: 1, 4, 6")                                                         \
    U32(nz, "nz", "CTA", 0, 64, 0, "in z; 0: 1, 3, 8")                                                         \
    U32(cutoff, "cutoff", "A", 1, 24, 4, "radius beyond which atoms do not count (Parboil: 12)")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct vec4 {
    float x, y, z, charge;
};

struct problem {
    uint32_t region[3], bin[3], margin;
    double cutoff2;
    size_t atoms, points;
    struct vec4 *atom;
    float *potential;
    uint64_t d_atom, d_offset, d_potential;
};

static float coordinate(struct ww_host *h, double from) {
    double v = from + bin_edge * ww_rng_unit(&h->rng);
    double off = v - spacing * rint(v / spacing);
    if (fabs(off) >= 0.05) return (float)v;
    return (float)(v + 0.1 < from + bin_edge ? v + 0.1 : v - 0.1); /* within the bin */
}

/* Five to eight atoms in a bin, 6.4 on average; a bin begins with its atoms. */
static void fill_bin(struct ww_host *h, struct vec4 *bin, double x, double y, double z) {
    uint32_t draw = ww_rng_below(&h->rng, 100), count = draw < 20 ? 5 : draw < 55 ? 6 : draw < 90 ? 7 : 8;
    for (uint32_t i = 0; i < DEPTH; i++) bin[i] = (struct vec4){.x = 1e9f};
    for (uint32_t i = 0; i < count; i++) {
        bin[i].x = coordinate(h, x);
        bin[i].y = coordinate(h, y);
        bin[i].z = coordinate(h, z);
        bin[i].charge = (float)(ww_rng_unit(&h->rng) < 0.5 ? -0.8 : 0.4);
    }
}

/* Of the bins around from the first of them, in places; one layer more for points that lie in two layers. */
static enum ww_code make_offsets(struct ww_host *h, struct problem *p) {
    uint32_t wide = 2 * p->margin + 1, count = 0, *offset;
    WW_TRY(ww_host_array(h, &offset, (size_t)wide * wide * (wide + 1), sizeof *offset));
    for (uint32_t z = 0; z <= wide; z++)
        for (uint32_t y = 0; y < wide; y++)
            for (uint32_t x = 0; x < wide; x++) offset[count++] = ((z * p->bin[1] + y) * p->bin[0] + x) * DEPTH;
    return ww_host_upload(h, &p->d_offset, offset, count, sizeof *offset);
}

static enum ww_code make(struct ww_host *h, struct problem *p) {
    for (int d = 0; d < 3; d++) p->bin[d] = p->region[d] + 2 * p->margin;
    p->atoms = (size_t)p->bin[0] * p->bin[1] * p->bin[2] * DEPTH;
    p->points = (size_t)p->region[0] * p->region[1] * p->region[2] * 384;
    WW_TRY(ww_host_array(h, &p->atom, p->atoms, sizeof *p->atom));
    WW_TRY(ww_host_array(h, &p->potential, p->points, sizeof *p->potential));
    struct vec4 *bin = p->atom;
    for (uint32_t z = 0; z < p->bin[2]; z++)
        for (uint32_t y = 0; y < p->bin[1]; y++)
            for (uint32_t x = 0; x < p->bin[0]; x++, bin += DEPTH)
                fill_bin(h, bin, bin_edge * ((double)x - p->margin), bin_edge * ((double)y - p->margin),
                         bin_edge * ((double)z - p->margin));
    WW_TRY(make_offsets(h, p));
    WW_TRY(ww_host_upload(h, &p->d_atom, p->atom, p->atoms, sizeof *p->atom));
    return ww_host_buffer(h, &p->d_potential, p->points, sizeof *p->potential);
}

/* Adds the atoms of a bin to a point's value and scale; returns how many were near. */
static uint32_t add_bin(const struct problem *p, const struct vec4 *bin, const double at[3], double *want,
                        double *scale) {
    uint32_t near = 0;
    for (int i = 0; i < DEPTH; i++) {
        double dx = (double)bin[i].x - at[0], dy = (double)bin[i].y - at[1], dz = (double)bin[i].z - at[2];
        double r2 = dx * dx + dy * dy + dz * dz, s = 1 - r2 / p->cutoff2;
        if (r2 > p->cutoff2 * 1.00001) continue;
        near++;
        if (r2 < p->cutoff2) *want += (double)bin[i].charge / sqrt(r2) * s * s;
        s = fmax(s, 1e-6);
        *scale += fabs((double)bin[i].charge) / sqrt(r2) * (1 + s) * s;
    }
    return near;
}

static enum ww_code check_point(struct ww_host *h, const struct problem *p, const uint32_t point[3]) {
    const double at[3] = {spacing * point[0], spacing * point[1], spacing * point[2]};
    size_t nx = (size_t)p->region[0] * 8, ny = (size_t)p->region[1] * 8;
    size_t i = (point[2] * ny + point[1]) * nx + point[0];
    uint32_t middle[3], near = 0; /* the point's own bin, of those with margin */
    double want = 0, scale = 0;
    for (int d = 0; d < 3; d++) middle[d] = point[d] / 8 + p->margin;
    for (uint32_t z = middle[2] - p->margin; z <= middle[2] + p->margin && z < p->bin[2]; z++)
        for (uint32_t y = middle[1] - p->margin; y <= middle[1] + p->margin; y++)
            for (uint32_t x = middle[0] - p->margin; x <= middle[0] + p->margin; x++)
                near += add_bin(p, p->atom + ((size_t)(z * p->bin[1] + y) * p->bin[0] + x) * DEPTH, at, &want,
                                &scale);
    double tolerance = WW_UNIT_ROUNDOFF * scale * (near + 16);
    if (fabs((double)p->potential[i] - want) <= tolerance) return WW_OK;
    return ww_fail(h->error, WW_MISMATCH, h->name, "potential[%zu] is %.9g, expected %.9g within %.3g", i,
                   (double)p->potential[i], want, tolerance);
}

static enum ww_code check(struct ww_host *h, const struct problem *p) {
    uint32_t point[3];
    for (point[2] = 0; point[2] < p->region[2] * 6; point[2]++)
        for (point[1] = 0; point[1] < p->region[1] * 8; point[1]++)
            for (point[0] = 0; point[0] < p->region[0] * 8; point[0]++) WW_TRY(check_point(h, p, point));
    return WW_OK;
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.region = {ww_host_size(s->nx, s->size, 1, 4, 6), ww_host_size(s->ny, s->size, 1, 4, 6),
                                   ww_host_size(s->nz, s->size, 1, 3, 8)},
                        .margin = (s->cutoff + 3) / 4,
                        .cutoff2 = (double)(float)(s->cutoff * s->cutoff)};
    const float cutoff2 = (float)p.cutoff2, inverse = 1.0f / cutoff2;
    WW_TRY(make(h, &p));
    const struct ww_host_shape shape = {.grid = {p.region[0], p.region[1], p.region[2]}, .block = {8, 8, 3}};
    const uint32_t layers = 2 * p.margin + 1, layer = layers * layers;
    const struct ww_arg args[] = {WW_ARG(p.d_atom), WW_ARG(p.d_offset), WW_ARG(p.d_potential),
                                  WW_ARG(p.bin[0]), WW_ARG(p.bin[1]),   WW_ARG(layer),
                                  WW_ARG(layers),   WW_ARG(cutoff2),    WW_ARG(inverse)};
    WW_TRY(ww_host_launch(h, "cutcp_lattice", &shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, p.potential, p.d_potential, p.points, sizeof *p.potential));
    return check(h, &p);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("cutcp", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_cutcp = {
    .name = "cutcp",
    .help = "cutoff Coulomb potential on a lattice: binned atoms through shared memory, reciprocal roots",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "cutcp",
    .run = run,
};
