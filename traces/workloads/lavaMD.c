/* lavaMD: the short-range part of a molecular dynamics code: particles in boxes whose edge is the cutoff, so
 * that only the 26 boxes around count (L. G. Szafaryn et al., "Experiences with Achieving Portability across
 * Heterogeneous Architectures", WOLFHPC 2011; Rodinia's lavaMD). Potential q e^(-a2 r^2 / 2) and its gradient.
 * Tolerance, in units 2^-53 of the terms' absolute values: a sum of n terms n, a term 20, and of the exponent,
 * which is a difference, 8 for each of its own terms' absolute values. */
#include "host.h"
#include <math.h>

enum { THREADS = 128 }; /* of a CTA; as the kernel has it */
static const double a2 = 0.5;

struct settings {
    uint32_t size, nx, ny, nz, particles;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(nx, "nx", "box", 0, 32, 0, "boxes in x; 0: 2, 4, 5 (the paper: 10)")                                   \
    U32(ny, "ny", "box", 0, 32, 0, "in y; 0: 1, 4, 5")                                                         \
    U32(nz, "nz", "box", 0, 32, 0, "in z; 0: 1, 1, 5")                                                         \
    U32(particles, "particles", "particle", 0, 128, 0, "of a box; 0: 40, 100, 100")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct vec4 {
    double v, x, y, z;
};

struct problem {
    uint32_t box[3], boxes, particles;
    size_t n;
    struct vec4 *position, *force;
    double *charge;
    int32_t *neighbour; /* 28 for each box: count, itself, the others */
    uint64_t d_position, d_charge, d_neighbour, d_force;
};

static void find_neighbours(const struct problem *p, uint32_t box, int32_t *list) {
    int64_t at[3] = {box % p->box[0], box / p->box[0] % p->box[1], box / p->box[0] / p->box[1]};
    int32_t count = 0;
    list[++count] = (int32_t)box;
    for (int64_t d = 0; d < 27; d++) {
        int64_t x = at[0] + d % 3 - 1, y = at[1] + d / 3 % 3 - 1, z = at[2] + d / 9 - 1;
        if (x < 0 || y < 0 || z < 0 || x >= p->box[0] || y >= p->box[1] || z >= p->box[2]) continue;
        if (d != 13) list[++count] = (int32_t)((z * p->box[1] + y) * p->box[0] + x);
    }
    list[0] = count;
}

static enum ww_code make(struct ww_host *h, struct problem *p) {
    WW_TRY(ww_host_array(h, &p->position, p->n, sizeof *p->position));
    WW_TRY(ww_host_array(h, &p->force, p->n, sizeof *p->force));
    WW_TRY(ww_host_array(h, &p->charge, p->n, sizeof *p->charge));
    WW_TRY(ww_host_array(h, &p->neighbour, (size_t)p->boxes * 28, sizeof *p->neighbour));
    for (size_t i = 0; i < p->n; i++) {
        uint32_t box = (uint32_t)(i / p->particles);
        struct vec4 *a = &p->position[i];
        a->x = box % p->box[0] + ww_rng_unit(&h->rng);
        a->y = box / p->box[0] % p->box[1] + ww_rng_unit(&h->rng);
        a->z = box / p->box[0] / p->box[1] + ww_rng_unit(&h->rng);
        a->v = 0.5 * (a->x * a->x + a->y * a->y + a->z * a->z);
        p->charge[i] = 0.1 + ww_rng_unit(&h->rng);
    }
    for (uint32_t b = 0; b < p->boxes; b++) find_neighbours(p, b, p->neighbour + (size_t)b * 28);
    WW_TRY(ww_host_upload(h, &p->d_position, p->position, p->n, sizeof *p->position));
    WW_TRY(ww_host_upload(h, &p->d_charge, p->charge, p->n, sizeof *p->charge));
    WW_TRY(ww_host_upload(h, &p->d_neighbour, p->neighbour, (size_t)p->boxes * 28, sizeof *p->neighbour));
    return ww_host_buffer(h, &p->d_force, p->n, sizeof *p->force);
}

/* Adds what particle j does to i: value and scale of the four components. */
static void interact(const struct problem *p, size_t i, size_t j, double want[4], double scale[4]) {
    const struct vec4 *a = &p->position[i], *b = &p->position[j];
    double dot = a->x * b->x + a->y * b->y + a->z * b->z;
    double d[4] = {0.5, a->x - b->x, a->y - b->y, a->z - b->z};
    double e = 2 * p->charge[j] * exp(-a2 * (a->v + b->v - dot));
    double rough = 20 + 8 * a2 * (a->v + b->v + fabs(dot));
    for (int c = 0; c < 4; c++) {
        want[c] += e * d[c];
        scale[c] += fabs(e * d[c]) * rough;
    }
}

static enum ww_code check_particle(struct ww_host *h, const struct problem *p, size_t i) {
    const int32_t *list = p->neighbour + i / p->particles * 28;
    double want[4] = {0}, scale[4] = {0};
    for (int32_t k = 1; k <= list[0]; k++)
        for (size_t j = 0; j < p->particles; j++)
            interact(p, i, (size_t)list[k] * p->particles + j, want, scale);
    const double got[4] = {p->force[i].v, p->force[i].x, p->force[i].y, p->force[i].z};
    for (int c = 0; c < 4; c++) {
        double tolerance = 0x1p-53 * scale[c] * (1 + list[0] * (double)p->particles / 20);
        if (!(fabs(got[c] - want[c]) <= tolerance))
            return ww_fail(h->error, WW_MISMATCH, h->name,
                           "force[%zu] component %d is %.17g, expected %.17g within %.3g", i, c, got[c],
                           want[c], tolerance);
    }
    return WW_OK;
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.box = {ww_host_size(s->nx, s->size, 2, 4, 5), ww_host_size(s->ny, s->size, 1, 4, 5),
                                ww_host_size(s->nz, s->size, 1, 1, 5)},
                        .particles = ww_host_size(s->particles, s->size, 40, 100, 100)};
    p.boxes = p.box[0] * p.box[1] * p.box[2];
    p.n = (size_t)p.boxes * p.particles;
    WW_TRY(make(h, &p));
    const struct ww_host_shape shape = ww_host_line(p.boxes, THREADS);
    const struct ww_arg args[] = {WW_ARG(p.d_position), WW_ARG(p.d_charge),  WW_ARG(p.d_neighbour),
                                  WW_ARG(p.d_force),    WW_ARG(p.particles), WW_ARG(a2)};
    WW_TRY(ww_host_launch(h, "lavaMD_forces", &shape, WW_ARGS(args)));
    WW_TRY(ww_host_read(h, p.force, p.d_force, p.n, sizeof *p.force));
    for (size_t i = 0; i < p.n; i++) WW_TRY(check_particle(h, &p, i));
    return WW_OK;
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("lavaMD", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_lavaMD = {
    .name = "lavaMD",
    .help = "molecular dynamics in boxes: double precision, particles of neighbouring boxes in shared memory",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "lavaMD",
    .run = run,
};
