/* cfd: Euler equations on an unstructured mesh by finite volumes, explicit in time with three Runge-Kutta
 * stages: A. Corrigan, F. Camelli, R. Lohner, J. Wallin, "Running Unstructured Grid Based CFD Solvers on Modern
 * Graphics Hardware" (AIAA 2009), which is Rodinia's cfd. The mesh: each cube of a grid in six tetrahedra
 * (Kuhn's subdivision: one for each order of the axes), numbered at random within windows of `window`
 * elements, as renumbering for locality leaves an unstructured mesh. The lowest layer stands on a wall, the
 * other sides see the undisturbed flow at Mach 1.2.
 * Each launch is compared by its own inputs as they were on the device. Tolerances, of the terms' absolute
 * values: pressure takes 8 roundings, the speeds 7 and their sum 4, a normal's length 4, the viscosity's
 * product and difference 4; eight terms are added: factor 32. Cancellation in the pressure is in the scale. */
#include "host.h"
#include <math.h>

#define FACES 4
enum { WALL = -1, FAR = -2 };

struct settings {
    uint32_t size, nx, ny, nz, window, iterations, block_flux, block;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(nx, "nx", "cube", 0, 512, 0, "cubes of six elements in x; 0: 4, 16, 25")                               \
    U32(ny, "ny", "cube", 0, 512, 0, "in y; 0: 4, 16, 25")                                                     \
    U32(nz, "nz", "cube", 0, 512, 0, "in z; 0: 3, 15, 26")                                                     \
    U32(window, "window", "element", 1, 1048576, 96, "elements numbered at random among themselves")           \
    U32(iterations, "iterations", "step", 1, 1000, 1, "time steps, seven launches each")                       \
    U32(block_flux, "block_flux", "thread", 1, 1024, 192, "threads of a CTA of the fluxes")                    \
    U32(block, "block", "thread", 1, 1024, 512, "threads of a CTA of the other kernels")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct state {
    float v[5];
};
/* The undisturbed flow: density 1.4, pressure 1, so that the speed of sound is 1. */
static const struct state far_field = {{1.4f, 1.68f, 0, 0, 3.508f}};

struct problem {
    const struct settings *s;
    uint32_t cube[3], n;
    uint32_t *number; /* an element's number by its place in the grid */
    int32_t *neighbour;
    float *normal, *variables, *old, *flux, *step, *area;
    uint64_t d_neighbour, d_normal, d_variables, d_old, d_flux, d_step, d_area;
};

/* ---- mesh ---- */

static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

static uint32_t order_of(uint32_t a, uint32_t b) {
    uint32_t o = 0;
    while (orders[o][0] != a || orders[o][1] != b) o++;
    return o;
}

/* The number of the element with axes in the order a, b, ... in a cube, or what lies outside. */
static int32_t element(const struct problem *p, const int64_t at[3], uint32_t a, uint32_t b) {
    if (at[2] < 0) return WALL;
    for (int d = 0; d < 3; d++)
        if (at[d] < 0 || at[d] >= p->cube[d]) return FAR;
    size_t cube = ((size_t)at[2] * p->cube[1] + (size_t)at[1]) * p->cube[0] + (size_t)at[0];
    return (int32_t)p->number[cube * 6 + order_of(a, b)];
}

static void set_face(struct problem *p, uint32_t i, uint32_t face, int32_t other, const float normal[3]) {
    p->neighbour[(size_t)face * p->n + i] = other;
    for (size_t d = 0; d < 3; d++) p->normal[(face * 3 + d) * p->n + i] = normal[d];
}

/* The tetrahedron 1 >= x_a >= x_b >= x_c >= 0 of a cube has faces on x_a = 1, x_a = x_b, x_b = x_c, x_c = 0. */
static void connect(struct problem *p, const int64_t at[3], uint32_t order) {
    const uint8_t *o = orders[order];
    uint32_t a = o[0], b = o[1], c = o[2];
    uint32_t i = (uint32_t)element(p, at, a, b);
    int64_t next[3] = {at[0], at[1], at[2]}, last[3] = {at[0], at[1], at[2]};
    float normal[FACES][3] = {{0}};
    next[a]++;
    last[c]--;
    normal[0][a] = 0.5f;
    normal[1][a] = -0.5f;
    normal[1][b] = 0.5f;
    normal[2][b] = -0.5f;
    normal[2][c] = 0.5f;
    normal[3][c] = -0.5f;
    set_face(p, i, 0, element(p, next, b, c), normal[0]);
    set_face(p, i, 1, element(p, at, b, a), normal[1]);
    set_face(p, i, 2, element(p, at, a, c), normal[2]);
    set_face(p, i, 3, element(p, last, c, a), normal[3]);
}

static void make_mesh(struct ww_host *h, struct problem *p) {
    for (uint32_t i = 0; i < p->n; i++) p->number[i] = i;
    for (uint32_t first = 0; first < p->n; first += p->s->window) {
        uint32_t count = p->n - first < p->s->window ? p->n - first : p->s->window;
        for (uint32_t i = count; i > 1; i--) { /* Fisher and Yates */
            uint32_t j = ww_rng_below(&h->rng, i), t = p->number[first + j];
            p->number[first + j] = p->number[first + i - 1];
            p->number[first + i - 1] = t;
        }
    }
    int64_t at[3];
    for (at[2] = 0; at[2] < p->cube[2]; at[2]++)
        for (at[1] = 0; at[1] < p->cube[1]; at[1]++)
            for (at[0] = 0; at[0] < p->cube[0]; at[0]++)
                for (uint32_t o = 0; o < 6; o++) connect(p, at, o);
}

static enum ww_code make(struct ww_host *h, struct problem *p) {
    size_t n = p->n;
    WW_TRY(ww_host_array(h, &p->number, n, sizeof *p->number));
    WW_TRY(ww_host_array(h, &p->neighbour, FACES * n, sizeof *p->neighbour));
    WW_TRY(ww_host_array(h, &p->normal, 3 * FACES * n, sizeof *p->normal));
    WW_TRY(ww_host_array(h, &p->old, 5 * n, sizeof *p->old));
    WW_TRY(ww_host_array(h, &p->flux, 5 * n, sizeof *p->flux));
    WW_TRY(ww_host_array(h, &p->step, n, sizeof *p->step));
    make_mesh(h, p);
    WW_TRY(ww_host_random(h, &p->area, n, 8, 16));
    WW_TRY(ww_host_random(h, &p->variables, 5 * n, 0.98, 1.02)); /* the undisturbed flow within 2 % */
    for (size_t i = 0; i < 5 * n; i++) p->variables[i] *= far_field.v[i / n];
    WW_TRY(ww_host_upload(h, &p->d_neighbour, p->neighbour, FACES * n, sizeof *p->neighbour));
    WW_TRY(ww_host_upload(h, &p->d_normal, p->normal, 3 * FACES * n, sizeof *p->normal));
    WW_TRY(ww_host_upload(h, &p->d_area, p->area, n, sizeof *p->area));
    WW_TRY(ww_host_upload(h, &p->d_variables, p->variables, 5 * n, sizeof *p->variables));
    WW_TRY(ww_host_upload(h, &p->d_old, p->variables, 5 * n, sizeof *p->old));
    WW_TRY(ww_host_buffer(h, &p->d_flux, 5 * n, sizeof *p->flux));
    return ww_host_buffer(h, &p->d_step, n, sizeof *p->step);
}

/* ---- reference ---- */

/* An element's values in double precision. `safe` is the pressure with its terms' absolute values. */
struct flow {
    double v[5], p, safe, speeds, fuzz; /* fuzz: safe / p, at least 1 */
};

static struct flow flow_of(const float *variables, size_t n, size_t i) {
    struct flow f;
    for (size_t v = 0; v < 5; v++) f.v[v] = (double)variables[v * n + i];
    double square = (f.v[1] * f.v[1] + f.v[2] * f.v[2] + f.v[3] * f.v[3]) / f.v[0];
    f.p = (double)(1.4f - 1.0f) * (f.v[4] - 0.5 * square);
    f.safe = (double)(1.4f - 1.0f) * (f.v[4] + 0.5 * square);
    f.speeds = sqrt(square / f.v[0]) + sqrt((double)1.4f * f.p / f.v[0]);
    f.fuzz = f.safe / f.p;
    return f;
}

static void take_flux(double r[5], double scale[5], const struct flow *f, const double normal[3], double part) {
    double mass = 0, rough = 0;
    for (int d = 0; d < 3; d++) {
        mass += f->v[1 + d] * normal[d];
        rough += fabs(f->v[1 + d] * normal[d]);
    }
    double speed = mass / f->v[0], fast = rough / f->v[0];
    r[0] -= part * mass;
    scale[0] += part * rough;
    for (int d = 0; d < 3; d++) {
        r[1 + d] -= part * (f->v[1 + d] * speed + f->p * normal[d]);
        scale[1 + d] += part * (fabs(f->v[1 + d]) * fast + f->safe * fabs(normal[d]));
    }
    r[4] -= part * speed * (f->v[4] + f->p);
    scale[4] += part * fast * (f->v[4] + f->safe);
}

static void add_face(const struct problem *p, const struct flow *u, size_t i, size_t face, double r[5],
                     double scale[5]) {
    double normal[3], square = 0;
    for (size_t d = 0; d < 3; d++) {
        normal[d] = (double)p->normal[(face * 3 + d) * p->n + i];
        square += normal[d] * normal[d];
    }
    int32_t other = p->neighbour[face * p->n + i];
    if (other == WALL) {
        for (int d = 0; d < 3; d++) r[1 + d] -= u->p * normal[d];
        for (int d = 0; d < 3; d++) scale[1 + d] += u->safe * fabs(normal[d]);
        return;
    }
    struct flow w = other >= 0 ? flow_of(p->variables, p->n, (size_t)other) : flow_of(far_field.v, 1, 0);
    double k = other >= 0 ? 0.5 * (double)0.2f * sqrt(square) * (u->speeds + w.speeds) : 0;
    double fuzz = fmax(1, fmax(u->fuzz, w.fuzz));
    for (int v = 0; v < 5; v++) {
        r[v] += k * (w.v[v] - u->v[v]);
        scale[v] += k * fuzz * (fabs(w.v[v]) + fabs(u->v[v]));
    }
    take_flux(r, scale, &w, normal, 0.5);
    take_flux(r, scale, u, normal, 0.5);
}

static enum ww_code check_flux(struct ww_host *h, struct problem *p, double *want, double *scale) {
    size_t n = p->n;
    for (size_t i = 0; i < n; i++) {
        struct flow u = flow_of(p->variables, n, i);
        double r[5] = {0}, terms[5] = {0};
        for (size_t face = 0; face < FACES; face++) add_face(p, &u, i, face, r, terms);
        for (size_t v = 0; v < 5; v++) {
            want[v * n + i] = r[v];
            scale[v * n + i] = terms[v];
        }
    }
    WW_TRY(ww_host_read(h, p->flux, p->d_flux, 5 * n, sizeof *p->flux));
    return ww_host_near_f32(h, "flux", p->flux, want, scale, 5 * n, 32);
}

static enum ww_code check_step(struct ww_host *h, struct problem *p, double *want, double *scale) {
    for (size_t i = 0; i < p->n; i++) {
        struct flow u = flow_of(p->variables, p->n, i);
        want[i] = 0.5 / (sqrt((double)p->area[i]) * u.speeds);
        scale[i] = want[i] * fmax(1, u.fuzz);
    }
    WW_TRY(ww_host_read(h, p->step, p->d_step, p->n, sizeof *p->step));
    return ww_host_near_f32(h, "step", p->step, want, scale, p->n, 16);
}

static enum ww_code check_variables(struct ww_host *h, struct problem *p, float part, double *want,
                                    double *scale) {
    for (size_t i = 0; i < 5 * (size_t)p->n; i++) {
        double change = (double)part * (double)p->step[i % p->n] * (double)p->flux[i];
        want[i] = (double)p->old[i] + change;
        scale[i] = fabs((double)p->old[i]) + fabs(change);
    }
    WW_TRY(ww_host_read(h, p->variables, p->d_variables, 5 * (size_t)p->n, sizeof *p->variables));
    return ww_host_near_f32(h, "variables", p->variables, want, scale, 5 * (size_t)p->n, 3);
}

/* ---- launches ---- */

static enum ww_code stage(struct ww_host *h, struct problem *p, float part, double *want, double *scale) {
    const struct settings *s = p->s;
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(p->n, s->block_flux), s->block_flux);
    const struct ww_arg flux[] = {WW_ARG(p->d_neighbour), WW_ARG(p->d_normal), WW_ARG(p->d_variables),
                                  WW_ARG(p->d_flux),      WW_ARG(p->n),        WW_ARG(far_field)};
    WW_TRY(ww_host_launch(h, "cfd_compute_flux", &shape, WW_ARGS(flux)));
    WW_TRY(check_flux(h, p, want, scale));
    const struct ww_host_shape wide = ww_host_line(ww_host_ceil(p->n, s->block), s->block);
    const struct ww_arg step[] = {WW_ARG(p->d_old),       WW_ARG(p->d_step), WW_ARG(p->d_flux),
                                  WW_ARG(p->d_variables), WW_ARG(p->n),      WW_ARG(part)};
    WW_TRY(ww_host_launch(h, "cfd_time_step", &wide, WW_ARGS(step)));
    return check_variables(h, p, part, want, scale);
}

static enum ww_code iterate(struct ww_host *h, struct problem *p, double *want, double *scale) {
    size_t bytes = 5 * (size_t)p->n * sizeof *p->old;
    for (size_t i = 0; i < 5 * (size_t)p->n; i++) p->old[i] = p->variables[i];
    WW_TRY(ww_device_write(h->device, p->d_old, p->old, bytes, h->error));
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(p->n, p->s->block), p->s->block);
    const struct ww_arg args[] = {WW_ARG(p->d_variables), WW_ARG(p->d_area), WW_ARG(p->d_step), WW_ARG(p->n)};
    WW_TRY(ww_host_launch(h, "cfd_step_factor", &shape, WW_ARGS(args)));
    WW_TRY(check_step(h, p, want, scale));
    for (int left = 3; left > 0; left--) WW_TRY(stage(h, p, 1.0f / (float)left, want, scale));
    return WW_OK;
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.s = s,
                        .cube = {ww_host_size(s->nx, s->size, 4, 16, 25),
                                 ww_host_size(s->ny, s->size, 4, 16, 25),
                                 ww_host_size(s->nz, s->size, 3, 15, 26)}};
    uint64_t n = (uint64_t)6 * p.cube[0] * p.cube[1] * p.cube[2];
    if (n > 1u << 24)
        return ww_fail(h->error, WW_USAGE, h->name, "%llu elements, expected at most 2^24",
                       (unsigned long long)n);
    p.n = (uint32_t)n;
    double *want, *scale;
    WW_TRY(make(h, &p));
    WW_TRY(ww_host_array(h, &want, 5 * (size_t)p.n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, 5 * (size_t)p.n, sizeof *scale));
    for (uint32_t t = 0; t < s->iterations; t++) WW_TRY(iterate(h, &p, want, scale));
    return WW_OK;
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("cfd", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_cfd = {
    .name = "cfd",
    .help = "Euler equations on an unstructured mesh: gathers from neighbouring elements, streaming updates",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "cfd",
    .run = run,
};
