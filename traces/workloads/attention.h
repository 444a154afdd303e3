/* attention.h: what the attention workloads over whole sequences have in common: inputs, reference, comparison.
 *
 * Heads of `count` rows of `dim` halves follow one another. Inputs are 16ths of magnitude below 1. The powers
 * are rounded to halves before they are multiplied with the values, so that a term is off by 2^-11 of itself,
 * 8192 u; a score and its power are off by less than 8192 u, too, up to dim = 128 (see paged_attention.c: 2 (21
 * A + 2) u is 700), and scaling down by less than 32 u for each of the blocks of keys. Of more than 2^26
 * multiplications every 16th query is compared.
 */
#ifndef WW_TRACES_WORKLOADS_ATTENTION_H
#define WW_TRACES_WORKLOADS_ATTENTION_H

#include "half.h"

struct ww_attention {
    uint32_t heads, count, dim;
    bool causal;
    uint16_t *queries, *keys, *values;
    uint64_t d_queries, d_keys, d_values, d_out;
};

/* Inputs in device memory, and place for the output. Errors: WW_NOMEM, WW_USAGE (count is no multiple of 128,
 * too much). */
enum ww_code ww_attention_make(struct ww_host *h, struct ww_attention *a);
/* What exponents of two the scores are multiplied by: log2 e / sqrt(dim). */
float ww_attention_scale(const struct ww_attention *a);
enum ww_code ww_attention_check(struct ww_host *h, const struct ww_attention *a);

#endif
