/* lbm: a fluid in a box by the lattice Boltzmann method (Y. H. Qian, D. d'Humieres, P. Lallemand, "Lattice BGK
 * Models for Navier-Stokes Equation", Europhys. Lett. 1992) with 19 velocities, as Parboil's lbm: walls on all
 * sides and some obstacles throw distributions back, cells of one layer have a given velocity.
 * Each step is compared by its own inputs as they were on the device. Tolerance: speeds stay below 0.3; the
 * density's sum of 19 has relative error 18 u, a velocity component absolute error 12 u, the equilibrium then
 * 18 + 3 (2 * 12 + 2) + 9 * 0.3 * 26 + 3 * 0.3 * 12 + 8 < 190 units of weight * density: factor 200. */
#include "host.h"
#include <math.h>

enum { OBSTACLE = 1, ACCEL = 2, VELOCITIES = 19, PITCH = 128 }; /* as the kernel has them */
static const double omega = (double)1.95f;
static const int8_t velocity[VELOCITIES][3] = {{0, 0, 0},   {0, 1, 0},  {0, -1, 0}, {1, 0, 0},  {-1, 0, 0},
                                               {0, 0, 1},   {0, 0, -1}, {1, 1, 0},  {-1, 1, 0}, {1, -1, 0},
                                               {-1, -1, 0}, {0, 1, 1},  {0, 1, -1}, {0, -1, 1}, {0, -1, -1},
                                               {1, 0, 1},   {1, 0, -1}, {-1, 0, 1}, {-1, 0, -1}};

struct settings {
    uint32_t size, nx, ny, nz, iterations, obstacles;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(nx, "nx", "cell", 0, 126, 0, "cells of a row, the threads of a CTA; 0: 20, 120, 120")                  \
    U32(ny, "ny", "cell", 0, 4096, 0, "rows of a plane; 0: 8, 32, 120")                                        \
    U32(nz, "nz", "cell", 0, 4096, 0, "planes; 0: 6, 32, 150")                                                 \
    U32(iterations, "iterations", "step", 1, 1000, 1, "time steps, a launch each")                             \
    U32(obstacles, "obstacles", "percent", 0, 100, 5, "of the inner cells")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct problem {
    uint32_t nx, ny, nz, rows, margin; /* margin: rows on either side of the lattice */
    size_t n;                          /* words of a lattice */
    uint32_t *flag;
    float *f, *got;
    double *want, *scale;
    uint64_t d_flag, d_f[2];
};

static double weight_of(int q) {
    return (double)(q == 0 ? 1.0f / 3.0f : q < 7 ? 1.0f / 18.0f : 1.0f / 36.0f);
}

static int opposite_of(int q) {
    int o = 0;
    while (velocity[o][0] != -velocity[q][0] || velocity[o][1] != -velocity[q][1] ||
           velocity[o][2] != -velocity[q][2])
        o++;
    return o;
}

static void make_flags(struct ww_host *h, const struct problem *p, uint32_t obstacles) {
    for (uint32_t z = 0; z < p->nz; z++)
        for (uint32_t y = 0; y < p->ny; y++)
            for (uint32_t x = 0; x < p->nx; x++) {
                size_t i = ((size_t)z * p->ny + y) * PITCH + x;
                bool wall = x == 0 || x + 1 == p->nx || y == 0 || y + 1 == p->ny || z == 0 || z + 1 == p->nz;
                bool stone = ww_rng_below(&h->rng, 100) < obstacles;
                p->flag[i] = wall || stone ? OBSTACLE : z == 1 ? ACCEL : 0;
            }
}

/* Both lattices begin alike, so that what nothing streams into is known. The margin keeps its values. */
static enum ww_code make(struct ww_host *h, struct problem *p, uint32_t obstacles) {
    size_t cells = (size_t)p->rows * PITCH, n = p->n;
    WW_TRY(ww_host_array(h, &p->flag, cells, sizeof *p->flag));
    WW_TRY(ww_host_random(h, &p->f, n, 0.98, 1.02));
    WW_TRY(ww_host_array(h, &p->got, n, sizeof *p->got));
    WW_TRY(ww_host_array(h, &p->want, n, sizeof *p->want));
    WW_TRY(ww_host_array(h, &p->scale, n, sizeof *p->scale));
    for (size_t i = 0; i < n; i++) p->f[i] *= (float)weight_of((int)(i / PITCH % VELOCITIES));
    make_flags(h, p, obstacles);
    WW_TRY(ww_host_upload(h, &p->d_flag, p->flag, cells, sizeof *p->flag));
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_upload(h, &p->d_f[i], p->f, n, sizeof *p->f));
    return WW_OK;
}

/* The word of distribution q of cell x of a row. */
static size_t word(const struct problem *p, size_t row, size_t x, int q) {
    return ((row + p->margin) * VELOCITIES + (size_t)q) * PITCH + x;
}

/* Where it goes to: a wall's cells push into the margin and into the ends of rows. */
static size_t target(const struct problem *p, size_t row, size_t x, int q) {
    int64_t rows = velocity[q][1] + (int64_t)velocity[q][2] * p->ny;
    return (size_t)((int64_t)word(p, row, x, q) + rows * VELOCITIES * PITCH + velocity[q][0]);
}

static void bounce(struct problem *p, size_t row, size_t x) {
    for (int q = 0; q < VELOCITIES; q++) {
        size_t to = target(p, row, x, opposite_of(q));
        p->want[to] = (double)p->f[word(p, row, x, q)];
        p->scale[to] = 0;
    }
}

static void collide(struct problem *p, size_t row, size_t x) {
    double density = 0, u[3] = {0}, square = 0;
    const float *f = p->f + word(p, row, x, 0);
    for (int q = 0; q < VELOCITIES; q++) {
        double v = (double)f[q * PITCH];
        density += v;
        for (int d = 0; d < 3; d++) u[d] += velocity[q][d] * v;
    }
    for (int d = 0; d < 3; d++) u[d] /= density;
    if (p->flag[row * PITCH + x] & ACCEL) {
        u[0] = (double)0.005f;
        u[1] = (double)0.002f;
        u[2] = 0;
    }
    for (int d = 0; d < 3; d++) square += u[d] * u[d];
    for (int q = 0; q < VELOCITIES; q++) {
        double v = (double)f[q * PITCH], a = 0;
        for (int d = 0; d < 3; d++) a += velocity[q][d] * u[d];
        double rest = weight_of(q) * density * (1 - 1.5 * square + a * (4.5 * a + 3));
        size_t to = target(p, row, x, q);
        p->want[to] = (1 - omega) * v + omega * rest;
        p->scale[to] = fabs(v) + omega * weight_of(q) * density;
    }
}

/* `last` holds what the target lattice held before the step. */
static enum ww_code check(struct ww_host *h, struct problem *p, const float *last, uint64_t d_out) {
    for (size_t i = 0; i < p->n; i++) {
        p->want[i] = (double)last[i];
        p->scale[i] = 0;
    }
    for (size_t row = 0; row < p->rows; row++)
        for (size_t x = 0; x < p->nx; x++) {
            if (p->flag[row * PITCH + x] & OBSTACLE)
                bounce(p, row, x);
            else
                collide(p, row, x);
        }
    WW_TRY(ww_host_read(h, p->got, d_out, p->n, sizeof *p->got));
    return ww_host_near_f32(h, "distribution", p->got, p->want, p->scale, p->n, 200);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.nx = ww_host_size(s->nx, s->size, 20, 120, 120),
                        .ny = ww_host_size(s->ny, s->size, 8, 32, 120),
                        .nz = ww_host_size(s->nz, s->size, 6, 32, 150)};
    if ((uint64_t)p.ny * p.nz > 1u << 16)
        return ww_fail(h->error, WW_USAGE, h->name, "ny=%u, nz=%u: expected at most 2^16 rows", p.ny, p.nz);
    p.rows = p.ny * p.nz;
    p.margin = p.ny + 2; /* a wall's cells push one plane, one row and one word farther at most */
    p.n = ((size_t)p.rows + 2 * p.margin) * VELOCITIES * PITCH;
    WW_TRY(make(h, &p, s->obstacles));
    float *last;
    WW_TRY(ww_host_array(h, &last, p.n, sizeof *last));
    for (size_t i = 0; i < p.n; i++) last[i] = p.f[i];
    const struct ww_host_shape shape = {.grid = {p.ny, p.nz, 1}, .block = {p.nx, 1, 1}};
    for (uint32_t t = 0; t < s->iterations; t++) {
        const struct ww_arg args[] = {WW_ARG(p.d_f[t & 1]), WW_ARG(p.d_f[~t & 1]), WW_ARG(p.d_flag),
                                      WW_ARG(p.margin)};
        WW_TRY(ww_host_launch(h, "lbm_stream_collide", &shape, WW_ARGS(args)));
        WW_TRY(check(h, &p, last, p.d_f[~t & 1]));
        float *swap = last; /* next: this step's input is overwritten */
        last = p.f;
        p.f = p.got;
        p.got = swap;
    }
    return WW_OK;
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("lbm", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_lbm = {
    .name = "lbm",
    .help = "lattice Boltzmann fluid, 19 velocities: streams of loads, stores to shifted places",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "lbm",
    .run = run,
};
