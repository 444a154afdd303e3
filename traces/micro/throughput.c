/* The throughput benchmarks of the paper and of gpu-benches, as shapes of the bulk kernel. */
#include "internal.h"

#define ARRAY_APART ((uint64_t)1 << 32) /* between arrays, which so never share a line */

enum ww_code ww_micro_gcopy(uint32_t ctas, uint32_t cta_size, uint32_t ilp, uint64_t bytes, uint64_t *copied,
                            struct ww_micro **out, struct ww_error *error) {
    uint64_t row = (uint64_t)ctas * cta_size * 4, repeat = row * ilp;
    *out = NULL;
    if (repeat == 0 || ilp > WW_MICRO_OPERANDS / 2)
        return ww_fail(error, WW_USAGE, "gcopy", "%u CTAs of %u threads with %u words", ctas, cta_size, ilp);
    struct ww_micro_bulk b = {.path = WW_MICRO_GLOBAL,
                              .ctas = ctas,
                              .cta_size = cta_size,
                              .loads = ilp,
                              .stores = ilp,
                              .width = 4,
                              .repeats = (uint32_t)((bytes + repeat - 1) / repeat),
                              .cta_bytes = (uint64_t)cta_size * 4,
                              .repeat_bytes = repeat};
    for (uint32_t k = 0; k < ilp; k++) {
        b.base[k] = ARRAY_APART + k * row;
        b.base[ilp + k] = 2 * ARRAY_APART + k * row;
    }
    WW_TRY(ww_micro_bulk(&b, out, error));
    (*out)->launch.kernel = "gcopy";
    if (copied) *copied = b.repeats * repeat;
    return WW_OK;
}

enum ww_code ww_micro_scopy(uint32_t ctas, uint32_t cta_size, uint32_t ilp, uint32_t repeats,
                            struct ww_micro **out, struct ww_error *error) {
    uint32_t row = cta_size * 4;
    *out = NULL;
    if (ilp > WW_MICRO_OPERANDS / 2) return ww_fail(error, WW_USAGE, "scopy", "%u words a thread", ilp);
    struct ww_micro_bulk b = {.path = WW_MICRO_SHARED,
                              .ctas = ctas,
                              .cta_size = cta_size,
                              .loads = ilp,
                              .stores = ilp,
                              .width = 4,
                              .repeats = repeats,
                              .shared_bytes = 2 * row * ilp,
                              .clocked = true};
    for (uint32_t k = 0; k < ilp; k++) {
        b.base[k] = k * row;
        b.base[ilp + k] = (ilp + k) * row;
    }
    WW_TRY(ww_micro_bulk(&b, out, error));
    (*out)->launch.kernel = "scopy";
    return WW_OK;
}

enum ww_code ww_micro_cache_read(uint32_t ctas, uint32_t cta_size, uint64_t bytes, uint32_t passes,
                                 struct ww_micro **out, struct ww_error *error) {
    enum { AT_ONCE = 8 };
    uint64_t row = (uint64_t)cta_size * 4, rows = row ? bytes / row * passes : 0;
    *out = NULL;
    if (row == 0 || bytes == 0 || bytes % row || rows > UINT32_MAX || rows % AT_ONCE)
        return ww_fail(error, WW_USAGE, "cache_read", "%llu bytes by %u threads %u times",
                       (unsigned long long)bytes, cta_size, passes);
    struct ww_micro_bulk b = {.path = WW_MICRO_GLOBAL,
                              .ctas = ctas,
                              .cta_size = cta_size,
                              .loads = AT_ONCE,
                              .width = 4,
                              .repeats = (uint32_t)(rows / AT_ONCE),
                              .used = true,
                              .operand_bytes = row,
                              .repeat_bytes = row * AT_ONCE,
                              .wrap_bytes = bytes};
    for (uint32_t k = 0; k < AT_ONCE; k++) b.base[k] = ARRAY_APART;
    WW_TRY(ww_micro_bulk(&b, out, error));
    (*out)->launch.kernel = "cache_read";
    return WW_OK;
}

enum ww_code ww_micro_parts_read(const struct ww_micro_parts *p, uint64_t *read, struct ww_micro **out,
                                 struct ww_error *error) {
    uint32_t pair = p->row_loads, at_once = pair == 2 ? 4 : 8, rows = pair ? at_once / pair : 1;
    uint64_t load = (uint64_t)p->cta_size * 8, row = load * pair, apart = row * p->parts;
    *out = NULL;
    if (p->parts == 0 || p->rows == 0 || (pair != 1 && pair != 2) || p->rows % rows)
        return ww_fail(error, WW_USAGE, "parts_read", "%u parts of %u rows of %u loads", p->parts, p->rows,
                       pair);
    struct ww_micro_bulk b = {.path = WW_MICRO_GLOBAL,
                              .ctas = p->ctas,
                              .cta_size = p->cta_size,
                              .loads = at_once,
                              .width = 8,
                              .repeats = p->rows / rows,
                              .used = true,
                              .wrap_ctas = p->parts,
                              .cta_bytes = row,
                              .repeat_bytes = rows * apart,
                              .wave = p->wave};
    for (uint32_t k = 0; k < at_once; k++) b.base[k] = ARRAY_APART + k / pair * apart + k % pair * load;
    WW_TRY(ww_micro_bulk(&b, out, error));
    (*out)->launch.kernel = "parts_read";
    if (read) {
        *read = (uint64_t)p->ctas * p->rows;
        for (uint32_t c = 0; c < p->wave && c < p->ctas; c++) *read -= ww_micro_left_out(&b, c) * rows;
    }
    return WW_OK;
}
