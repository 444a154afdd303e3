/* stencil: sweeps of a 3D 7-point stencil, out = 0.4 centre + 0.1 (sum of 6 neighbours) inside the box. Inputs
 * lie in [0, 1) and the weights add up to 1, so that values stay there and errors do not grow from sweep to
 * sweep. Tolerance: factor 10 per sweep on 1: six sums, two products, and both weights' own rounding. */
#include "host.h"

struct settings {
    uint32_t size, nx, ny, nz, iterations, block_x, block_y, variant;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(nx, "nx", "point", 0, 4096, 0, "points in x; 0: 20, 128, 256")                                         \
    U32(ny, "ny", "point", 0, 4096, 0, "points in y; 0: 10, 64, 128")                                          \
    U32(nz, "nz", "point", 0, 4096, 0, "points in z; 0: 6, 48, 96")                                            \
    U32(iterations, "iterations", "sweep", 1, 1000, 2, "sweeps, a launch each")                                \
    U32(block_x, "block_x", "thread", 1, 1024, 32, "threads of a CTA in x")                                    \
    U32(block_y, "block_y", "thread", 1, 1024, 8, "threads of a CTA in y")                                     \
    ENUM(variant, "variant", "point|march|shared", 0, "point",                                                 \
         "a thread per point, per column along z, or per two columns with planes in shared memory")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { POINT, MARCH, SHARED };
enum { TILE_X = 64, TILE_Y = 4 }; /* points of a CTA of stencil_shared, with two points for a thread */

struct box {
    size_t nx, ny, nz;
};

static void sweep(const struct box *b, const double *in, double *out) {
    const double c0 = (double)0.4f, c1 = (double)0.1f;
    size_t plane = b->nx * b->ny;
    for (size_t z = 0; z < b->nz; z++)
        for (size_t y = 0; y < b->ny; y++)
            for (size_t x = 0; x < b->nx; x++) {
                size_t i = z * plane + y * b->nx + x;
                bool edge = x == 0 || x + 1 == b->nx || y == 0 || y + 1 == b->ny || z == 0 || z + 1 == b->nz;
                out[i] = edge ? in[i]
                              : c0 * in[i] + c1 * (in[i - 1] + in[i + 1] + in[i - b->nx] + in[i + b->nx] +
                                                   in[i - plane] + in[i + plane]);
            }
}

static enum ww_code check(struct ww_host *h, const struct box *b, const float *in, uint32_t iterations,
                          uint64_t d_out) {
    size_t n = b->nx * b->ny * b->nz;
    double *field[2], *scale;
    float *got;
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_array(h, &field[i], n, sizeof(double)));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    for (size_t i = 0; i < n; i++) {
        field[0][i] = (double)in[i];
        scale[i] = 1;
    }
    for (uint32_t t = 0; t < iterations; t++) sweep(b, field[t & 1], field[~t & 1]);
    WW_TRY(ww_host_read(h, got, d_out, n, sizeof *got));
    return ww_host_near_f32(h, "out", got, field[iterations & 1], scale, n, 10.0 * iterations);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    uint32_t nx = ww_host_size(s->nx, s->size, 20, 128, 256), ny = ww_host_size(s->ny, s->size, 10, 64, 128);
    uint32_t nz = ww_host_size(s->nz, s->size, 6, 48, 96);
    const struct box b = {nx, ny, nz};
    size_t n = b.nx * b.ny * b.nz;
    if (n > 1u << 28)
        return ww_fail(h->error, WW_USAGE, h->name, "nx=%u, ny=%u, nz=%u: at most 2^28 points", nx, ny, nz);
    if (s->block_x * s->block_y > 1024)
        return ww_fail(h->error, WW_USAGE, h->name, "block_x=%u and block_y=%u: at most 1024 threads",
                       s->block_x, s->block_y);
    if (s->variant == SHARED && (s->block_x != TILE_X / 2 || s->block_y != TILE_Y))
        return ww_fail(h->error, WW_USAGE, h->name,
                       "block_x=%u and block_y=%u: variant=shared expects %d and %d", s->block_x, s->block_y,
                       TILE_X / 2, TILE_Y);
    static const char *const kernels[] = {"stencil_point", "stencil_march", "stencil_shared"};
    float *in;
    const float c0 = 0.4f, c1 = 0.1f;
    uint64_t d[2];
    WW_TRY(ww_host_random(h, &in, n, 0, 1));
    WW_TRY(ww_host_upload(h, &d[0], in, n, sizeof *in));
    WW_TRY(ww_host_buffer(h, &d[1], n, sizeof *in));
    const struct ww_host_shape shape = {.grid = {ww_host_ceil(nx, s->variant == SHARED ? TILE_X : s->block_x),
                                                 ww_host_ceil(ny, s->block_y), s->variant == POINT ? nz : 1},
                                        .block = {s->block_x, s->block_y, 1}};
    for (uint32_t t = 0; t < s->iterations; t++) {
        const struct ww_arg args[] = {WW_ARG(d[t & 1]), WW_ARG(d[~t & 1]), WW_ARG(nx), WW_ARG(ny),
                                      WW_ARG(nz),       WW_ARG(c0),        WW_ARG(c1)};
        WW_TRY(ww_host_launch(h, kernels[s->variant], &shape, WW_ARGS(args)));
    }
    return check(h, &b, in, s->iterations, d[s->iterations & 1]);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("stencil", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_stencil = {
    .name = "stencil",
    .help = "3D 7-point stencil: neighbouring loads with reuse in the caches, boundary divergence",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "stencil",
    .run = run,
};
