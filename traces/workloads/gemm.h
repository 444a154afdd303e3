/* gemm.h: what the matrix products have in common: inputs, reference, comparison.
 *
 * C = A B^T of m x n elements, A and B by rows of k elements. Inputs are whole numbers from -2 to 2, of a type
 * that holds them, so that sums are exact in any order and results are compared exactly; as halves they are
 * rounded once. Of a product of more than 2^28 multiplications every 16th row is compared element by element,
 * of all others the sum.
 */
#ifndef WW_TRACES_WORKLOADS_GEMM_H
#define WW_TRACES_WORKLOADS_GEMM_H

#include "half.h"

enum ww_gemm_type {
    WW_GEMM_HALF,
    WW_GEMM_INT8,
    WW_GEMM_FP8
}; /* of A and B; C: halves, 32-bit integers, halves */

struct ww_gemm {
    enum ww_gemm_type type;
    uint32_t m, n, k;
    int8_t *a, *b; /* the numbers */
    uint64_t d_a, d_b, d_c;
};

/* Bytes of an element of A and B. */
uint32_t ww_gemm_bytes(const struct ww_gemm *g);
/* Makes A and B of g's type and sizes, in device memory too, and place for C. Errors: WW_NOMEM, WW_USAGE (sizes
 * that are no multiples of 128, 128 and 128 bytes; more than 2^36 multiplications). */
enum ww_code ww_gemm_make(struct ww_host *h, struct ww_gemm *g);
/* A tensor map, in device memory, of g's matrix of `rows` rows there: boxes of `box` rows of 128 bytes. */
enum ww_code ww_gemm_map(struct ww_host *h, const struct ww_gemm *g, uint64_t matrix, uint32_t rows,
                         uint32_t box, uint64_t *address);
enum ww_code ww_gemm_check(struct ww_host *h, const struct ww_gemm *g);

#endif
