/* What the attention workloads over whole sequences have in common: inputs, reference, comparison. */
#include "attention.h"
#include <math.h>

enum { BLOCK = 128, KEYS = 64, LONE = 16 /* of so many queries one is compared */ };

enum ww_code ww_attention_make(struct ww_host *h, struct ww_attention *a) {
    size_t n = (size_t)a->heads * a->count * a->dim;
    if (a->count % BLOCK || n > 1u << 27 || (uint64_t)n * a->count > (uint64_t)1 << 36)
        return ww_fail(
            h->error, WW_USAGE, h->name,
            "heads=%u, count=%u: expected a count of a multiple of %d, at most 2^27 elements and 2^36 "
            "multiplications",
            a->heads, a->count, BLOCK);
    WW_TRY(ww_host_upload_halves(h, &a->queries, &a->d_queries, n, 16, 0x1p-4));
    WW_TRY(ww_host_upload_halves(h, &a->keys, &a->d_keys, n, 16, 0x1p-4));
    WW_TRY(ww_host_upload_halves(h, &a->values, &a->d_values, n, 16, 0x1p-4));
    return ww_host_buffer(h, &a->d_out, n, sizeof *a->queries);
}

float ww_attention_scale(const struct ww_attention *a) {
    return (float)(1.4426950408889634 / sqrt(a->dim));
}

/* Halves as floats, once. */
static enum ww_code floats(struct ww_host *h, float **out, const uint16_t *in, size_t n) {
    WW_TRY(ww_host_array(h, out, n, sizeof **out));
    for (size_t i = 0; i < n; i++) (*out)[i] = (float)ww_half_value(in[i]);
    return WW_OK;
}

struct reference {
    float *queries, *keys, *values;
    double *want, *size; /* of a row */
};

/* Of the query at `row`, whose head begins at row `first`. Products of halves and their sums are exact in
 * floats. */
static void attend(const struct ww_attention *a, const struct reference *r, size_t first, size_t row) {
    size_t end = a->causal ? row + 1 : first + a->count;
    double sum = 0, scale = 1 / sqrt(a->dim);
    for (size_t i = 0; i < a->dim; i++) r->want[i] = r->size[i] = 0;
    for (size_t key = first; key < end; key++) {
        const float *q = r->queries + row * a->dim, *k = r->keys + key * a->dim, *v = r->values + key * a->dim;
        float dot = 0;
        for (size_t i = 0; i < a->dim; i++) dot += q[i] * k[i];
        double weight = exp((double)dot * scale);
        sum += weight;
        for (size_t i = 0; i < a->dim; i++) {
            r->want[i] += weight * (double)v[i];
            r->size[i] += weight * fabs((double)v[i]);
        }
    }
    for (size_t i = 0; i < a->dim; i++) {
        r->want[i] /= sum;
        r->size[i] /= sum;
    }
}

enum ww_code ww_attention_check(struct ww_host *h, const struct ww_attention *a) {
    size_t rows = (size_t)a->heads * a->count, n = rows * a->dim;
    size_t every = (uint64_t)n * a->count > 1u << 26 ? LONE : 1;
    struct reference r;
    uint16_t *got;
    WW_TRY(floats(h, &r.queries, a->queries, n));
    WW_TRY(floats(h, &r.keys, a->keys, n));
    WW_TRY(floats(h, &r.values, a->values, n));
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &r.want, a->dim, sizeof *r.want));
    WW_TRY(ww_host_array(h, &r.size, a->dim, sizeof *r.size));
    WW_TRY(ww_host_read(h, got, a->d_out, n, sizeof *got));
    for (size_t i = 0; i < n; i++)
        if ((got[i] & 0x7c00) == 0x7c00)
            return ww_fail(h->error, WW_MISMATCH, h->name, "out[%zu] is not a finite number", i);
    for (size_t row = every - 1; row < rows; row += every) {
        char name[40];
        attend(a, &r, row / a->count * a->count, row);
        snprintf(name, sizeof name, "out[%zu]", row);
        WW_TRY(ww_host_near_f16(h, name, got + row * a->dim, r.want, r.size, a->dim,
                                3 * 8192 + 32.0 * a->count / KEYS));
    }
    return WW_OK;
}
