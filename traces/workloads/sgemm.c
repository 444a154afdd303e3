/* sgemm: C = alpha A B + beta C. Tolerance: factor k + 4 on |alpha| sum |a b| + |beta c|: k products summed one
 * after the other, then two products and a sum. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, m, n, k, variant, reserved;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(m, "m", "row", 0, 16384, 0, "rows of A and C; 0: 44, 640, 1024")                                       \
    U32(n, "n", "column", 0, 16384, 0, "columns of B and C; 0: 40, 512, 1024")                                 \
    U32(k, "k", "element", 0, 16384, 0, "columns of A, rows of B; 0: 24, 64, 128")                             \
    U32(reserved, "reserved", "byte", 0, 16384, 0, "shared memory that the system adds to a CTA's")            \
    ENUM(variant, "variant", "tiled|register|rows", 0, "tiled", "elements of C per thread: 1, 4 x 4 or 1 x 16")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { TILED, REGISTER, ROWS };

struct problem {
    uint32_t m, n, k, variant; /* ROWS: on the device A and C lie by columns */
    float alpha, beta;
    float *a, *b, *c;
};

static enum ww_code make(struct ww_host *h, const struct settings *s, struct problem *p) {
    p->m = ww_host_size(s->m, s->size, 44, 640, 1024);
    p->n = ww_host_size(s->n, s->size, 40, 512, 1024);
    p->variant = s->variant;
    p->k = ww_host_size(s->k, s->size, 24, 64, 128);
    p->alpha = (float)(1 + ww_rng_unit(&h->rng));
    p->beta = (float)ww_rng_unit(&h->rng);
    WW_TRY(ww_host_random(h, &p->a, (size_t)p->m * p->k, -1, 1));
    WW_TRY(ww_host_random(h, &p->b, (size_t)p->k * p->n, -1, 1));
    return ww_host_random(h, &p->c, (size_t)p->m * p->n, -1, 1);
}

static void transpose(const float *from, float *to, size_t rows, size_t cols) {
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) to[c * rows + r] = from[r * cols + c];
}

/* A or C, in the variant's layout. */
static enum ww_code upload(struct ww_host *h, const struct problem *p, uint64_t *address, const float *matrix,
                           uint32_t cols) {
    size_t count = (size_t)p->m * cols;
    float *columns;
    if (p->variant != ROWS) return ww_host_upload(h, address, matrix, count, sizeof *matrix);
    WW_TRY(ww_host_array(h, &columns, count, sizeof *columns));
    transpose(matrix, columns, p->m, cols);
    return ww_host_upload(h, address, columns, count, sizeof *columns);
}

/* Row r of the product and of its terms' absolute values, over B's rows, so that B is read in order. */
static void reference_row(const struct problem *p, size_t r, double *want, double *scale) {
    for (size_t j = 0; j < p->n; j++) want[j] = scale[j] = 0;
    for (size_t i = 0; i < p->k; i++) {
        double a = (double)p->a[r * p->k + i];
        const float *b = p->b + i * p->n;
        for (size_t j = 0; j < p->n; j++) {
            want[j] += a * (double)b[j];
            scale[j] += fabs(a * (double)b[j]);
        }
    }
    for (size_t j = 0; j < p->n; j++) {
        double c = (double)p->beta * (double)p->c[r * p->n + j];
        want[j] = (double)p->alpha * want[j] + c;
        scale[j] = (double)p->alpha * scale[j] + fabs(c);
    }
}

static enum ww_code check(struct ww_host *h, const struct problem *p, uint64_t dc) {
    size_t count = (size_t)p->m * p->n;
    float *got, *columns;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &got, count, sizeof *got));
    WW_TRY(ww_host_array(h, &columns, count, sizeof *columns));
    WW_TRY(ww_host_array(h, &want, count, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, count, sizeof *scale));
    WW_TRY(ww_host_read(h, p->variant == ROWS ? columns : got, dc, count, sizeof *got));
    if (p->variant == ROWS) transpose(columns, got, p->n, p->m);
    for (size_t r = 0; r < p->m; r++) reference_row(p, r, want + r * p->n, scale + r * p->n);
    return ww_host_near_f32(h, "c", got, want, scale, count, p->k + 4.0);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p;
    uint64_t da, db, dc;
    WW_TRY(make(h, s, &p));
    WW_TRY(upload(h, &p, &da, p.a, p.k));
    WW_TRY(ww_host_upload(h, &db, p.b, (size_t)p.k * p.n, sizeof(float)));
    WW_TRY(upload(h, &p, &dc, p.c, p.n));
    const struct ww_arg args[] = {WW_ARG(da),  WW_ARG(db),  WW_ARG(dc),      WW_ARG(p.m),
                                  WW_ARG(p.n), WW_ARG(p.k), WW_ARG(p.alpha), WW_ARG(p.beta)};
    static const struct {
        const char *kernel;
        uint32_t wide, tall, block_y; /* elements of C per CTA; threads are 16 x block_y */
    } kernels[] = {{"sgemm_tiled", 16, 16, 16}, {"sgemm_register", 64, 64, 16}, {"sgemm_rows", 16, 128, 8}};
    uint32_t v = s->variant;
    const struct ww_host_shape shape = {
        .grid = {ww_host_ceil(p.n, kernels[v].wide), ww_host_ceil(p.m, kernels[v].tall), 1},
        .block = {16, kernels[v].block_y, 1},
        .shared = s->reserved};
    WW_TRY(ww_host_launch(h, kernels[v].kernel, &shape, WW_ARGS(args)));
    return check(h, &p, dc);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("sgemm", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_sgemm = {
    .name = "sgemm",
    .help = "dense matrix product with tiles in shared memory: arithmetic, reuse, barriers",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "sgemm",
    .run = run,
};
