/* spmv: y = A x for a sparse matrix in compressed rows. Tolerance: factor (entries of the longest row + 1) on
 * sum |a x| of the row. The matrix: a row has 1 to 2 nnz - 1 entries, every 64th row nnz times 8; half of the
 * entries lie within 64 columns of the diagonal, half anywhere; within a row columns ascend. A mesh: rows are
 * nodes of a square grid, numbered row by row, each with entries for the nodes at most two steps away in either
 * direction. */
#include "host.h"
#include <math.h>
#include <string.h>

struct settings {
    uint32_t size, rows, nnz, block, variant, matrix;
};
enum { SCALAR, VECTOR, JDS, AHEAD, CONSTANT };
enum {
    STARTS = 64,
    MOST = 5000
}; /* of diagonals in an argument of spmv_jds_ahead; words of an array in constant memory */
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(rows, "rows", "row", 0, 16777216, 0,                                                                   \
        "rows and columns; 0: 1000, 330000, 1000000 for scalar, a sixteenth of it for vector")                 \
    U32(nnz, "nnz", "entry", 1, 1024, 8, "average entries of an ordinary row of a random matrix")              \
    U32(block, "block", "thread", 1, 1024, 256, "threads of a CTA (vector: a multiple of 32)")                 \
    ENUM(variant, "variant", "scalar|vector|jds|ahead|constant", 0, "scalar",                                  \
         "a row per thread or per warp, or per thread by jagged diagonals (ahead: loads of the next two "      \
         "steps; constant: these, and lengths and starts in constant memory)")                                 \
    ENUM(matrix, "matrix", "random|mesh", 0, "random", "rows of random length, or 25 neighbours on a grid")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct matrix {
    uint32_t rows, longest, side; /* side: of a mesh's grid */
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

/* Entries of a mesh's row; column: NULL to count only. */
static uint32_t mesh_row(const struct matrix *m, int64_t r, uint32_t *column) {
    int64_t side = m->side;
    uint32_t n = 0;
    for (int64_t y = r / side - 2; y <= r / side + 2; y++)
        for (int64_t x = r % side - 2; x <= r % side + 2; x++) {
            if (y < 0 || x < 0 || x >= side || y * side + x >= (int64_t)m->rows) continue;
            if (column) column[n] = (uint32_t)(y * side + x);
            n++;
        }
    return n;
}

static uint32_t random_length(struct ww_host *h, const struct settings *s, uint32_t r) {
    return r % 64 == 63 ? 8 * s->nnz : 1 + ww_rng_below(&h->rng, 2 * s->nnz - 1);
}

static enum ww_code make(struct ww_host *h, const struct settings *s, struct matrix *m) {
    uint32_t divide = s->variant == VECTOR ? 16 : 1;
    m->rows = ww_host_size(s->rows, s->size, 1000 / divide, 330000 / divide, 1000000 / divide);
    m->longest = 0;
    m->side = 1;
    while ((uint64_t)m->side * m->side < m->rows) m->side++;
    WW_TRY(ww_host_array(h, &m->start, (size_t)m->rows + 1, sizeof *m->start));
    uint64_t entries = 0;
    for (uint32_t r = 0; r < m->rows; r++) {
        uint32_t n = s->matrix ? mesh_row(m, r, NULL) : random_length(h, s, r);
        if (n > m->longest) m->longest = n;
        entries += n;
        if (entries > 1u << 30)
            return ww_fail(h->error, WW_USAGE, h->name, "rows=%u and nnz=%u: at most 2^30 entries", m->rows,
                           s->nnz);
        m->start[r + 1] = (uint32_t)entries;
    }
    WW_TRY(ww_host_array(h, &m->column, entries, sizeof *m->column));
    for (uint32_t r = 0; r < m->rows; r++)
        if (s->matrix)
            mesh_row(m, r, m->column + m->start[r]);
        else
            fill_row(&h->rng, m, r);
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

static uint32_t length_of(const struct matrix *m, uint32_t r) {
    return m->start[r + 1] - m->start[r];
}

/* The matrix by jagged diagonals. */
struct jagged {
    uint32_t entries, groups;
    uint32_t *order, *count, *start, *column;
    float *value;
};

/* Rows by length, the longest first, of equal ones in their order. */
static enum ww_code order_rows(struct ww_host *h, const struct matrix *m, struct jagged *j) {
    uint32_t *place;
    WW_TRY(ww_host_array(h, &place, (size_t)m->longest + 2, sizeof *place));
    WW_TRY(ww_host_array(h, &j->order, m->rows, sizeof *j->order));
    for (uint32_t r = 0; r < m->rows; r++) place[m->longest - length_of(m, r) + 1]++;
    for (uint32_t i = 0; i < m->longest; i++) place[i + 1] += place[i];
    for (uint32_t r = 0; r < m->rows; r++) j->order[place[m->longest - length_of(m, r)]++] = r;
    return WW_OK;
}

/* 32 rows are as long as the first of them; what a row lacks is zeros in column 0. */
static enum ww_code make_jagged(struct ww_host *h, const struct matrix *m, struct jagged *j) {
    j->groups = ww_host_ceil(m->rows, 32);
    j->entries = 0;
    WW_TRY(order_rows(h, m, j));
    WW_TRY(ww_host_array(h, &j->count, j->groups, sizeof *j->count));
    WW_TRY(ww_host_array(h, &j->start, (size_t)m->longest + 1, sizeof *j->start));
    for (uint32_t g = 0; g < j->groups; g++) {
        j->count[g] = length_of(m, j->order[32 * g]);
        j->entries += 32 * j->count[g];
        for (uint32_t k = 0; k < j->count[g]; k++) j->start[k + 1] += 32;
    }
    for (uint32_t k = 0; k < m->longest; k++) j->start[k + 1] += j->start[k];
    WW_TRY(ww_host_array(h, &j->column, j->entries, sizeof *j->column));
    WW_TRY(ww_host_array(h, &j->value, j->entries, sizeof *j->value));
    for (uint32_t i = 0; i < m->rows; i++)
        for (uint32_t k = 0, from = m->start[j->order[i]]; k < length_of(m, j->order[i]); k++) {
            j->column[j->start[k] + i] = m->column[from + k];
            j->value[j->start[k] + i] = m->value[from + k];
        }
    return WW_OK;
}

static enum ww_code launch_constant(struct ww_host *h, const struct matrix *m, const struct jagged *j,
                                    const struct ww_host_shape *shape, const uint64_t at[5]) {
    if (j->groups > MOST || m->longest > MOST)
        return ww_fail(h->error, WW_USAGE, h->name,
                       "variant=constant: %u rows, the longest of %u entries; expected at most %u rows of %u",
                       m->rows, m->longest, 32 * MOST, MOST);
    WW_TRY(ww_host_constant(h, "spmv_length", j->count, j->groups, sizeof *j->count));
    WW_TRY(ww_host_constant(h, "spmv_start", j->start, m->longest, sizeof *j->start));
    const struct ww_arg args[] = {WW_ARG(m->rows), WW_ARG(at[0]), WW_ARG(at[1]),
                                  WW_ARG(at[2]),   WW_ARG(at[3]), WW_ARG(at[4])};
    return ww_host_launch(h, "spmv_jds_constant", shape, WW_ARGS(args));
}

static enum ww_code launch_jagged(struct ww_host *h, const struct settings *s, const struct matrix *m) {
    struct jagged j;
    uint64_t d_count, d_start, d_column, d_value, d_order, dx, dy;
    WW_TRY(make_jagged(h, m, &j));
    WW_TRY(ww_host_upload(h, &d_count, j.count, j.groups, sizeof *j.count));
    WW_TRY(ww_host_upload(h, &d_start, j.start, m->longest, sizeof *j.start));
    WW_TRY(ww_host_upload(h, &d_column, j.column, j.entries, sizeof *j.column));
    WW_TRY(ww_host_upload(h, &d_value, j.value, j.entries, sizeof *j.value));
    WW_TRY(ww_host_upload(h, &d_order, j.order, m->rows, sizeof *j.order));
    WW_TRY(ww_host_upload(h, &dx, m->x, m->rows, sizeof *m->x));
    WW_TRY(ww_host_buffer(h, &dy, m->rows, sizeof(float)));
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(m->rows, s->block), s->block);
    if (s->variant == CONSTANT) {
        const uint64_t at[] = {d_column, d_value, d_order, dx, dy};
        WW_TRY(launch_constant(h, m, &j, &shape, at));
        return check(h, m, dy);
    }
    if (s->variant == AHEAD) {
        uint32_t starts[STARTS] = {0};
        if (m->longest > STARTS)
            return ww_fail(h->error, WW_USAGE, h->name,
                           "variant=ahead: a row has %u entries, expected %u at most", m->longest, STARTS);
        memcpy(starts, j.start, m->longest * sizeof *starts);
        const struct ww_arg args[] = {WW_ARG(m->rows), WW_ARG(d_count), WW_ARG(starts), WW_ARG(d_column),
                                      WW_ARG(d_value), WW_ARG(d_order), WW_ARG(dx),     WW_ARG(dy)};
        WW_TRY(ww_host_launch(h, "spmv_jds_ahead", &shape, WW_ARGS(args)));
        return check(h, m, dy);
    }
    const struct ww_arg args[] = {WW_ARG(m->rows), WW_ARG(d_count), WW_ARG(d_start), WW_ARG(d_column),
                                  WW_ARG(d_value), WW_ARG(d_order), WW_ARG(dx),      WW_ARG(dy)};
    WW_TRY(ww_host_launch(h, "spmv_jds", &shape, WW_ARGS(args)));
    return check(h, m, dy);
}

static enum ww_code launch_rows(struct ww_host *h, const struct settings *s, const struct matrix *m) {
    uint64_t d_start, d_column, d_value, dx, dy;
    uint32_t entries = m->start[m->rows];
    WW_TRY(ww_host_upload(h, &d_start, m->start, (size_t)m->rows + 1, sizeof *m->start));
    WW_TRY(ww_host_upload(h, &d_column, m->column, entries, sizeof *m->column));
    WW_TRY(ww_host_upload(h, &d_value, m->value, entries, sizeof *m->value));
    WW_TRY(ww_host_upload(h, &dx, m->x, m->rows, sizeof *m->x));
    WW_TRY(ww_host_buffer(h, &dy, m->rows, sizeof(float)));
    const struct ww_arg args[] = {WW_ARG(m->rows), WW_ARG(d_start), WW_ARG(d_column),
                                  WW_ARG(d_value), WW_ARG(dx),      WW_ARG(dy)};
    bool vector = s->variant == VECTOR;
    uint64_t threads = (uint64_t)m->rows * (vector ? 32 : 1);
    struct ww_host_shape shape = ww_host_line(ww_host_ceil(threads, s->block), s->block);
    WW_TRY(ww_host_launch(h, vector ? "spmv_vector" : "spmv_scalar", &shape, WW_ARGS(args)));
    return check(h, m, dy);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    if (s->variant == VECTOR && s->block % 32)
        return ww_fail(h->error, WW_USAGE, h->name, "block=%u: variant=vector needs a multiple of 32",
                       s->block);
    struct matrix m;
    WW_TRY(make(h, s, &m));
    return s->variant >= JDS ? launch_jagged(h, s, &m) : launch_rows(h, s, &m);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("spmv", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_spmv = {
    .name = "spmv",
    .help = "sparse matrix times vector (CSR, JDS): gathers, rows of unequal length",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "spmv",
    .run = run,
};
