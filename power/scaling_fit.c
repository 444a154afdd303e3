/* scaling_fit.c: fits the laws of scaling.h to the table's points. */
#include "scaling.h"
#include "../estimator/base/lsq.h"
#include <stdlib.h>

static const char *const kind_name[] = {"ram", "cache", "cam"};
static const char *const quantity_name[] = {"read_pj", "write_pj", "leakage_mw", "area_mm2"};
static const char *const term_name[WW_SCALING_TERMS] = {"node_90", "node_65",   "node_45", "node_32",
                                                        "node_22", "bytes",     "bytes2",  "row",
                                                        "ports",   "bytes_row", "ways",    "ways2"};

static struct ww_structure_shape shape_of(const struct ww_scaling_point *p) {
    return (struct ww_structure_shape){
        (enum ww_structure_kind)p->kind, p->bytes, p->row_bytes, p->ways, p->ports, p->node_nm};
}

/* What the fit works on: a row of terms for each point, and which terms it has. */
struct fit {
    struct ww_lsq l;
    double term[1000][WW_SCALING_TERMS], log_y[1000];
    size_t points, used;
    int column[WW_SCALING_TERMS]; /* of the matrix, or -1 */
};

static void collect(struct fit *f, const struct ww_scaling *s, uint32_t kind, uint32_t quantity,
                    struct ww_scaling_law *law) {
    law->min_bytes = law->min_row = INFINITY;
    law->max_ways = 1;
    for (size_t i = 0; i < s->point_count && f->points < 1000; i++) {
        const struct ww_scaling_point *p = &s->point[i];
        if (p->kind != kind) continue;
        struct ww_structure_shape shape = shape_of(p);
        ww_scaling_terms(&shape, f->term[f->points]);
        f->log_y[f->points++] = log(p->value[quantity]);
        law->min_bytes = fmin(law->min_bytes, p->bytes);
        law->max_bytes = fmax(law->max_bytes, p->bytes);
        law->min_row = fmin(law->min_row, p->row_bytes);
        law->max_row = fmax(law->max_row, p->row_bytes);
        law->max_ways = fmax(law->max_ways, p->ways);
        law->source = p->source;
    }
}

/* Rows of how many lengths, 3 at most, the points have. */
static int row_lengths(const struct fit *f) {
    double seen[3];
    int n = 0;
    for (size_t i = 0; i < f->points && n < 3; i++) {
        double row = f->term[i][WW_SCALING_NODES + 2];
        bool known = false;
        for (int k = 0; k < n; k++) known |= seen[k] == row;
        if (!known) seen[n++] = row;
    }
    return n;
}

/* A slope whose term is the same at all points cannot be told from the constants. The product of size and row
 * needs several sizes at several rows; with two rows, one of which has a single size, it is not determined. */
static void choose_columns(struct fit *f) {
    int product = WW_SCALING_NODES + 4;
    for (int t = 0; t < WW_SCALING_TERMS; t++) {
        bool varies = false;
        for (size_t i = 0; i < f->points; i++) varies |= f->term[i][t] != f->term[0][t];
        bool own = t != product || row_lengths(f) >= 3;
        f->column[t] = varies && own ? (int)f->used++ : -1;
    }
}

static void release(struct fit *f) {
    ww_lsq_free(&f->l);
    free(f);
}

static void solve(struct fit *f, struct ww_scaling_law *law) {
    double chisq, squares = 0;
    for (size_t i = 0; i < f->points; i++) {
        gsl_vector_set(f->l.y, i, f->log_y[i]);
        for (int t = 0; t < WW_SCALING_TERMS; t++)
            if (f->column[t] >= 0) gsl_matrix_set(f->l.x, i, (size_t)f->column[t], f->term[i][t]);
    }
    gsl_multifit_linear(f->l.x, f->l.y, f->l.c, f->l.cov, &chisq, f->l.work);
    for (int t = 0; t < WW_SCALING_TERMS; t++)
        law->c[t] = f->column[t] >= 0 ? gsl_vector_get(f->l.c, (size_t)f->column[t]) : 0;
    for (size_t i = 0; i < f->points; i++) {
        double sum = 0;
        for (int t = 0; t < WW_SCALING_TERMS; t++) sum += law->c[t] * f->term[i][t];
        double relative = fabs(exp(sum - f->log_y[i]) - 1);
        squares += relative * relative;
        law->worst = fmax(law->worst, relative);
    }
    law->points = (uint32_t)f->points;
    law->rms = sqrt(squares / (double)f->points);
}

enum ww_code ww_scaling_fit(const struct ww_scaling *scaling, enum ww_structure_kind kind,
                            enum ww_structure_quantity quantity, struct ww_scaling_law *law,
                            struct ww_error *error) {
    struct fit *f = calloc(1, sizeof *f);
    if (!f) return ww_fail_nomem(error, "fit");
    *law = (struct ww_scaling_law){.kind = kind, .quantity = quantity};
    collect(f, scaling, kind, quantity, law);
    choose_columns(f);
    enum ww_code code = WW_OK;
    if (f->points < f->used)
        code = ww_fail(error, WW_INPUT, "$.points", "%zu points of kind %s; the law has %zu terms", f->points,
                       kind_name[kind], f->used);
    else if (!ww_lsq_new(&f->l, f->points, f->used))
        code = ww_fail_nomem(error, "fit");
    else
        solve(f, law);
    release(f);
    return code;
}

static void print_law(const struct ww_scaling_law *law, struct ww_buf *out) {
    const struct {
        const char *key;
        double value;
    } rest[] = {{"points", law->points},       {"rms", law->rms},
                {"worst", law->worst},         {"min_bytes", law->min_bytes},
                {"max_bytes", law->max_bytes}, {"min_row", law->min_row},
                {"max_row", law->max_row},     {"max_ways", law->max_ways}};
    ww_buf_printf(out, "    {\"kind\": \"%s\", \"quantity\": \"%s\"", kind_name[law->kind],
                  quantity_name[law->quantity]);
    for (int t = 0; t < WW_SCALING_TERMS; t++) ww_buf_printf(out, ", \"%s\": %.6g", term_name[t], law->c[t]);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        ww_buf_printf(out, ", \"%s\": %.4g", rest[i].key, rest[i].value);
    ww_buf_puts(out, ", \"source\": \"fit\"}");
}

enum ww_code ww_scaling_print_laws(const struct ww_scaling *scaling, struct ww_buf *out,
                                   struct ww_error *error) {
    ww_buf_puts(out, "  \"laws\": [\n");
    for (uint32_t k = 0; k < WW_STRUCTURE_KINDS; k++)
        for (uint32_t q = 0; q < WW_STRUCTURE_QUANTITIES; q++) {
            struct ww_scaling_law law;
            WW_TRY(
                ww_scaling_fit(scaling, (enum ww_structure_kind)k, (enum ww_structure_quantity)q, &law, error));
            if (k + q > 0) ww_buf_puts(out, ",\n");
            print_law(&law, out);
        }
    ww_buf_puts(out, "\n  ]\n");
    return out->failed ? ww_fail_nomem(error, "laws") : WW_OK;
}
