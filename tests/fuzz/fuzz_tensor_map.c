/* Fuzzes tensor maps: the input is a map's fields and where a box begins. A map that passes the checks must
 * come back from its bytes, and every row of its box must lie within the row and the tensor; one whose bytes
 * are changed must not. */
#include "../../traces/tensor_map.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROWS 4096u

struct input {
    const uint8_t *data;
    size_t left;
};

static uint64_t take(struct input *in, size_t bytes) {
    uint64_t v = 0;
    for (; bytes && in->left; bytes--, in->left--) v = v << 8 | *in->data++;
    return v;
}

static struct ww_tensor_map read_map(struct input *in) {
    uint64_t kinds = take(in, 2);
    struct ww_tensor_map m = {.type = (uint8_t)(kinds & 15),
                              .rank = (uint8_t)(kinds >> 4 & 7),
                              .swizzle = (uint8_t)(kinds >> 7 & 3),
                              .interleave = (kinds >> 9 & 63) == 63,
                              .im2col = kinds >> 15 & 1};
    m.fill_nan = m.type >= WW_TENSOR_F16 && kinds >> 8 & 1;
    m.global = take(in, 4) << 4;
    for (unsigned n = 0; n < WW_TENSOR_DIMS; n++) {
        m.dim[n] = take(in, 2) + 1;
        m.stride[n] = n ? take(in, 3) << 4 : ww_tensor_element(m.type);
        m.box[n] = (uint32_t)take(in, 1) + 1;
        m.step[n] = (uint32_t)(take(in, 1) & 15);
    }
    for (unsigned n = 0; n < 3; n++) {
        m.lower[n] = (int16_t)take(in, 2);
        m.upper[n] = (int16_t)take(in, 2);
    }
    m.channels = (uint32_t)take(in, 2);
    m.pixels = (uint32_t)take(in, 2);
    for (unsigned n = 0; n < WW_TENSOR_DIMS; n++) { /* up to the limits, and beyond */
        uint64_t shifts = take(in, 1);
        m.dim[n] <<= shifts & 31;
        if (n) m.stride[n] <<= shifts >> 5 << 1;
    }
    return m;
}

static void check_row(const struct ww_tensor_map *m, struct ww_tensor_row r) {
    uint64_t end = m->dim[0] * m->stride[0];
    if (r.count > ww_tensor_row_elements(m) || r.first > ww_tensor_row_elements(m) - r.count) abort();
    for (unsigned n = 1; n < m->rank; n++)
        end += (m->dim[n] - 1) * m->stride[n]; /* does not overflow: checked */
    if (m->global + end < m->global) abort();
    if (r.count && (r.global < m->global || r.global - m->global > end - r.count * m->stride[0])) abort();
}

static void check_box(const struct ww_tensor_map *m, struct input *in) {
    struct ww_tensor_at at;
    for (unsigned n = 0; n < WW_TENSOR_DIMS; n++) at.coordinate[n] = (int32_t)take(in, n & 1 ? 2 : 4);
    for (unsigned n = 0; n < 3; n++) at.offset[n] = (uint16_t)take(in, 2);
    if (ww_tensor_box_bytes(m) > WW_TENSOR_BOX_BYTES) abort();
    if (ww_tensor_at_check(m, &at)) return;
    uint32_t rows = ww_tensor_rows(m);
    for (uint32_t n = 0; n < rows && n < ROWS; n++) check_row(m, ww_tensor_row(m, &at, n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, size};
    struct ww_tensor_map m = read_map(&in), back;
    unsigned char bytes[WW_TENSOR_MAP_BYTES], again[WW_TENSOR_MAP_BYTES];
    size_t at = (size_t)take(&in, 1) % WW_TENSOR_MAP_BYTES;
    if (ww_tensor_map_check(&m)) return 0;
    ww_tensor_map_encode(&m, bytes);
    if (ww_tensor_map_decode(bytes, &back)) abort();
    ww_tensor_map_encode(&back, again);
    if (memcmp(bytes, again, sizeof bytes) != 0) abort();
    check_box(&back, &in);
    bytes[at] ^= 1;
    if (!ww_tensor_map_decode(bytes, &back)) abort();
    return 0;
}
