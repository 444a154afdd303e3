/* spmv: y = A x for a sparse matrix in compressed rows. Tolerance: factor (entries of the longest row + 1) on
 * sum |a x| of the row. The matrix: a row has 1 to 2 nnz - 1 entries, every 64th row nnz times 8; half of the
 * entries lie within 64 columns of the diagonal, half anywhere; within a row columns ascend. */
#include "host.h"
#include <math.h>

struct settings {
    uint32_t size, rows, nnz, block, variant;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(rows, "rows", "row", 0, 16777216, 0,                                                                   \
        "rows and columns; 0: 1000, 330000, 1000000 for scalar, a sixteenth of it for vector")                 \
    U32(nnz, "nnz", "entry", 1, 1024, 8, "average entries of an ordinary row")                                 \
    U32(block, "block", "thread", 1, 1024, 256, "threads of a CTA (vector: a multiple of 32)")                 \
    ENUM(variant, "variant", "scalar|vector", 0, "scalar", "a row per thread or per warp")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct matrix {
    uint32_t rows, longest;
    uint32_t *start, *column;
    float *value, *x;
};

static void insert_sorted(uint32_t *column, uint32_t n, uint32_t c) {
    for (; n > 0 && column[n - 1] > c; n--) column[n] = column[n - 1];
    column[n] = c;
}

static void fill_row(struct ww_rng *rng, struct matrix *m, uint32_t r) {
    uint32_t n = m->start[r + 1] - m->start[r], *column = m->column + m->start[r];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = ww_rng_below(rng, m->rows);
        if (i % 2 == 0) c = (r + m->rows - c % 64) % m->rows;
        insert_sorted(column, i, c);
    }
}

static enum ww_code make(struct ww_host *h, const struct settings *s, struct matrix *m) {
    uint32_t divide = s->variant ? 16 : 1;
    m->rows = ww_host_size(s->rows, s->size, 1000 / divide, 330000 / divide, 1000000 / divide);
    m->longest = 0;
    WW_TRY(ww_host_array(h, &m->start, (size_t)m->rows + 1, sizeof *m->start));
    uint64_t entries = 0;
    for (uint32_t r = 0; r < m->rows; r++) {
        uint32_t n = r % 64 == 63 ? 8 * s->nnz : 1 + ww_rng_below(&h->rng, 2 * s->nnz - 1);
        if (n > m->longest) m->longest = n;
        entries += n;
        if (entries > 1u << 30)
            return ww_fail(h->error, WW_USAGE, h->name, "rows=%u and nnz=%u: at most 2^30 entries", m->rows,
                           s->nnz);
        m->start[r + 1] = (uint32_t)entries;
    }
    WW_TRY(ww_host_array(h, &m->column, entries, sizeof *m->column));
    for (uint32_t r = 0; r < m->rows; r++) fill_row(&h->rng, m, r);
    WW_TRY(ww_host_random(h, &m->value, entries, -1, 1));
    return ww_host_random(h, &m->x, m->rows, -1, 1);
}

static enum ww_code check(struct ww_host *h, const struct matrix *m, uint64_t dy) {
    float *got;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &got, m->rows, sizeof *got));
    WW_TRY(ww_host_array(h, &want, m->rows, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, m->rows, sizeof *scale));
    WW_TRY(ww_host_read(h, got, dy, m->rows, sizeof *got));
    for (uint32_t r = 0; r < m->rows; r++)
        for (uint32_t e = m->start[r]; e < m->start[r + 1]; e++) {
            double term = (double)m->value[e] * (double)m->x[m->column[e]];
            want[r] += term;
            scale[r] += fabs(term);
        }
    return ww_host_near_f32(h, "y", got, want, scale, m->rows, m->longest + 1.0);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    if (s->variant && s->block % 32)
        return ww_fail(h->error, WW_USAGE, h->name, "block=%u: variant=vector needs a multiple of 32",
                       s->block);
    struct matrix m;
    uint64_t d_start, d_column, d_value, dx, dy;
    WW_TRY(make(h, s, &m));
    uint32_t entries = m.start[m.rows];
    WW_TRY(ww_host_upload(h, &d_start, m.start, (size_t)m.rows + 1, sizeof *m.start));
    WW_TRY(ww_host_upload(h, &d_column, m.column, entries, sizeof *m.column));
    WW_TRY(ww_host_upload(h, &d_value, m.value, entries, sizeof *m.value));
    WW_TRY(ww_host_upload(h, &dx, m.x, m.rows, sizeof *m.x));
    WW_TRY(ww_host_buffer(h, &dy, m.rows, sizeof(float)));
    const struct ww_arg args[] = {WW_ARG(m.rows),  WW_ARG(d_start), WW_ARG(d_column),
                                  WW_ARG(d_value), WW_ARG(dx),      WW_ARG(dy)};
    uint64_t threads = (uint64_t)m.rows * (s->variant ? 32 : 1);
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(threads, s->block), s->block);
    WW_TRY(ww_host_launch(h, s->variant ? "spmv_vector" : "spmv_scalar", &shape, WW_ARGS(args)));
    return check(h, &m, dy);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("spmv", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_spmv = {
    .name = "spmv",
    .help = "sparse matrix times vector (CSR): gathers, rows of unequal length",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "spmv",
    .run = run,
};
