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

enum ww_code ww_micro_stream(uint32_t ctas, uint32_t cta_size, uint32_t loads, uint32_t stores,
                             uint32_t shared_bytes, struct ww_micro **out, struct ww_error *error) {
    struct ww_micro_bulk b = {.path = WW_MICRO_GLOBAL,
                              .ctas = ctas,
                              .cta_size = cta_size,
                              .loads = loads,
                              .stores = stores,
                              .width = 8,
                              .repeats = 1,
                              .shared_bytes = shared_bytes,
                              .cta_bytes = (uint64_t)cta_size * 8};
    *out = NULL;
    for (uint32_t k = 0; k < loads + stores && k < WW_MICRO_OPERANDS; k++) b.base[k] = (k + 1) * ARRAY_APART;
    WW_TRY(ww_micro_bulk(&b, out, error));
    (*out)->launch.kernel = "stream";
    return WW_OK;
}

enum ww_code ww_micro_cache_read(uint32_t ctas, uint32_t cta_size, uint64_t bytes, uint32_t passes, bool own,
                                 struct ww_micro **out, struct ww_error *error) {
    uint64_t row = (uint64_t)cta_size * 8;
    *out = NULL;
    if (row == 0 || bytes == 0 || bytes % row || bytes / row * passes > UINT32_MAX)
        return ww_fail(error, WW_USAGE, "cache_read", "%llu bytes are no multiple of 8 for each of %u threads",
                       (unsigned long long)bytes, cta_size);
    uint64_t rows = bytes / row * passes;
    uint32_t ilp = rows % 8 == 0 ? 8 : rows % 4 == 0 ? 4 : rows % 2 == 0 ? 2 : 1;
    struct ww_micro_bulk b = {.path = WW_MICRO_GLOBAL,
                              .ctas = ctas,
                              .cta_size = cta_size,
                              .loads = ilp,
                              .width = 8,
                              .repeats = (uint32_t)(rows / ilp),
                              .cta_bytes = own ? bytes : 0,
                              .repeat_bytes = row * ilp,
                              .wrap_bytes = bytes};
    for (uint32_t k = 0; k < ilp; k++) b.base[k] = ARRAY_APART + k * row % bytes;
    WW_TRY(ww_micro_bulk(&b, out, error));
    (*out)->launch.kernel = "cache_read";
    return WW_OK;
}
