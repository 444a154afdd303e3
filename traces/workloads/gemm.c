/* What the matrix products have in common: inputs, reference, comparison. */
#include "gemm.h"

enum { TILE = 128, SLICE = 128, LONE = 16 /* of so many rows one is compared by elements */ };

uint32_t ww_gemm_bytes(const struct ww_gemm *g) {
    return g->type == WW_GEMM_HALF ? 2 : 1;
}

/* Codes of -2 to 2. */
static uint16_t code_of(enum ww_gemm_type type, int v) {
    static const uint8_t fp8[] = {0xc0, 0xb8, 0, 0x38, 0x40}; /* 4 bits of exponent, 3 of mantissa */
    return type == WW_GEMM_HALF ? ww_half(v) : type == WW_GEMM_INT8 ? (uint8_t)(int8_t)v : fp8[v + 2];
}

static enum ww_code make_matrix(struct ww_host *h, const struct ww_gemm *g, uint32_t rows, int8_t **numbers,
                                uint64_t *address) {
    size_t count = (size_t)rows * g->k, bytes = ww_gemm_bytes(g);
    unsigned char *codes;
    WW_TRY(ww_host_array(h, numbers, count, 1));
    WW_TRY(ww_host_array(h, &codes, count, bytes));
    for (size_t i = 0; i < count; i++) {
        (*numbers)[i] = (int8_t)((int)ww_rng_below(&h->rng, 5) - 2);
        uint16_t code = code_of(g->type, (*numbers)[i]);
        for (size_t b = 0; b < bytes; b++) codes[i * bytes + b] = (unsigned char)(code >> 8 * b);
    }
    return ww_host_upload(h, address, codes, count, bytes);
}

enum ww_code ww_gemm_make(struct ww_host *h, struct ww_gemm *g) {
    if (g->m % TILE || g->n % TILE || g->k * ww_gemm_bytes(g) % SLICE || (uint64_t)g->m * g->n > 1u << 27 ||
        (uint64_t)g->m * g->n * g->k > (uint64_t)1 << 36)
        return ww_fail(h->error, WW_USAGE, h->name,
                       "m=%u, n=%u, k=%u: expected multiples of %d, %d and %u, at most 2^36 multiplications",
                       g->m, g->n, g->k, TILE, TILE, SLICE / ww_gemm_bytes(g));
    WW_TRY(make_matrix(h, g, g->m, &g->a, &g->d_a));
    WW_TRY(make_matrix(h, g, g->n, &g->b, &g->d_b));
    return ww_host_buffer(h, &g->d_c, (size_t)g->m * g->n, g->type == WW_GEMM_INT8 ? 4 : 2);
}

enum ww_code ww_gemm_map(struct ww_host *h, const struct ww_gemm *g, uint64_t matrix, uint32_t rows,
                         uint32_t box, uint64_t *address) {
    const struct ww_device_matrix m = {
        .address = matrix, .element = ww_gemm_bytes(g), .rows = rows, .columns = g->k, .box_rows = box};
    unsigned char map[WW_DEVICE_MAP_BYTES];
    WW_TRY(ww_device_map(h->device, &m, map, h->error));
    return ww_host_upload(h, address, map, sizeof map, 1);
}

static int32_t dot(const int8_t *a, const int8_t *b, size_t k) {
    int32_t sum = 0;
    for (size_t i = 0; i < k; i++) sum += a[i] * b[i];
    return sum;
}

/* Of a row; got and want have n elements. */
static enum ww_code check_row(struct ww_host *h, const struct ww_gemm *g, const int32_t *got, uint32_t y) {
    for (uint32_t x = 0; x < g->n; x++) {
        int32_t sum = dot(g->a + (size_t)y * g->k, g->b + (size_t)x * g->k, g->k);
        int32_t want = g->type == WW_GEMM_INT8 ? sum : (int32_t)ww_half_value(ww_half(sum));
        if (got[x] != want)
            return ww_fail(h->error, WW_MISMATCH, h->name, "c[%u][%u] is %d, expected %d exactly", y, x, got[x],
                           want);
    }
    return WW_OK;
}

/* C's rows times ones: A's rows times the sum of B's rows. Exact where no element was rounded: below 2048. */
static enum ww_code check_sum(struct ww_host *h, const struct ww_gemm *g, const int32_t *got,
                              const int32_t *all, uint32_t y) {
    int64_t sum = 0, want = 0;
    bool rounded = false;
    for (uint32_t x = 0; x < g->n; x++) {
        sum += got[x];
        rounded |= g->type != WW_GEMM_INT8 && (got[x] >= 2048 || got[x] <= -2048);
    }
    for (size_t i = 0; i < g->k; i++) want += (int64_t)g->a[(size_t)y * g->k + i] * all[i];
    if (sum == want || rounded) return WW_OK;
    return ww_fail(h->error, WW_MISMATCH, h->name, "the sum of row %u of c is %lld, expected %lld exactly", y,
                   (long long)sum, (long long)want);
}

static enum ww_code read_row(struct ww_host *h, const struct ww_gemm *g, void *raw, int32_t *row, uint32_t y) {
    size_t bytes = g->type == WW_GEMM_INT8 ? 4 : 2;
    WW_TRY(ww_host_read(h, raw, g->d_c + (uint64_t)y * g->n * bytes, g->n, bytes));
    for (uint32_t x = 0; x < g->n; x++) {
        double v = g->type == WW_GEMM_INT8 ? ((int32_t *)raw)[x] : ww_half_value(((uint16_t *)raw)[x]);
        if (!(v > -2e9 && v < 2e9))
            return ww_fail(h->error, WW_MISMATCH, h->name, "c[%u][%u] is not a number", y, x);
        row[x] = (int32_t)v;
    }
    return WW_OK;
}

enum ww_code ww_gemm_check(struct ww_host *h, const struct ww_gemm *g) {
    bool large = (uint64_t)g->m * g->n * g->k > 1u << 28;
    int32_t *row, *all;
    void *raw;
    WW_TRY(ww_host_array(h, &row, g->n, sizeof *row));
    WW_TRY(ww_host_array(h, &raw, g->n, sizeof(int32_t)));
    WW_TRY(ww_host_array(h, &all, g->k, sizeof *all));
    for (size_t x = 0; x < g->n; x++)
        for (size_t i = 0; i < g->k; i++) all[i] += g->b[x * g->k + i];
    for (uint32_t y = 0; y < g->m; y++) {
        WW_TRY(read_row(h, g, raw, row, y));
        if (large && y % LONE)
            WW_TRY(check_sum(h, g, row, all, y));
        else
            WW_TRY(check_row(h, g, row, y));
    }
    return WW_OK;
}
