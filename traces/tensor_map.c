/* tensor_map.c: tensor maps: packing, checks, and the rows of a box. */
#include "tensor_map.h"
#include "../estimator/base/hash.h"
#include <string.h>

#define MARK 0x4d545757u /* "WWTM" */
#define HASH_AT 120u

uint32_t ww_tensor_element(uint8_t type) {
    static const uint8_t bytes[WW_TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < WW_TENSOR_TYPES ? bytes[type] : 1;
}

static bool is_float(uint8_t type) {
    return type >= WW_TENSOR_F16;
}

uint32_t ww_tensor_row_elements(const struct ww_tensor_map *m) {
    return m->im2col ? m->channels : m->box[0];
}

static uint32_t steps(const struct ww_tensor_map *m, unsigned n) {
    return (m->box[n] + m->step[n] - 1) / m->step[n];
}

uint32_t ww_tensor_rows(const struct ww_tensor_map *m) {
    uint64_t rows = 1;
    if (m->im2col) return m->pixels;
    for (unsigned n = 1; n < m->rank; n++) rows *= steps(m, n);
    return rows > UINT32_MAX ? UINT32_MAX : (uint32_t)rows;
}

static uint64_t box_bytes(const struct ww_tensor_map *m) {
    return (uint64_t)ww_tensor_rows(m) * ww_tensor_row_elements(m) * ww_tensor_element(m->type);
}

uint32_t ww_tensor_box_bytes(const struct ww_tensor_map *m) {
    return (uint32_t)box_bytes(m);
}

/* ---- checks (CUDA driver API reference, tensor map object management) ---- */

static const char *check_kind(const struct ww_tensor_map *m) {
    if (m->type >= WW_TENSOR_TYPES) return "the data type is not supported";
    if (m->rank < 1 || m->rank > WW_TENSOR_DIMS) return "the rank is 1 to 5";
    if (m->im2col && m->rank < 3) return "im2col takes 3 to 5 dimensions";
    if (m->interleave) return "interleaved layouts are not supported";
    if (m->swizzle > WW_SWIZZLE_128) return "this swizzle mode is not supported";
    if (m->fill_nan && !is_float(m->type)) return "integers cannot be filled with NaN";
    if (m->global % 16) return "the global address is a multiple of 16";
    return NULL;
}

static const char *check_dims(const struct ww_tensor_map *m) {
    for (unsigned n = 0; n < m->rank; n++) {
        if (m->dim[n] < 1 || m->dim[n] > (uint64_t)1 << 32) return "a dimension has 1 to 2^32 elements";
        if (n && (m->stride[n] % 16 || m->stride[n] >= (uint64_t)1 << 40)) /* 0: the same row again */
            return "a stride is a multiple of 16 below 2^40";
        if (m->step[n] < 1 || m->step[n] > 8) return "an element stride is 1 to 8";
    }
    return NULL;
}

/* The last byte of the tensor has an address of 64 bits. */
static const char *check_extent(const struct ww_tensor_map *m) {
    uint64_t end, rest;
    bool over = __builtin_add_overflow(m->global, m->dim[0] * ww_tensor_element(m->type), &end);
    for (unsigned n = 1; n < m->rank; n++)
        over = over || __builtin_mul_overflow(m->dim[n] - 1, m->stride[n], &rest) ||
               __builtin_add_overflow(end, rest, &end);
    return over ? "the tensor ends behind the address space" : NULL;
}

static const char *check_tile(const struct ww_tensor_map *m) {
    for (unsigned n = 0; n < m->rank; n++)
        if (m->box[n] < 1 || m->box[n] > 256) return "a box has 1 to 256 elements in each dimension";
    return NULL;
}

static const char *check_pixels(const struct ww_tensor_map *m) {
    static const int32_t limit[] = {32768, 128, 16};
    int32_t most = limit[m->rank - 3];
    for (unsigned n = 0; n + 2 < m->rank; n++) {
        if (m->lower[n] < -most || m->lower[n] >= most || m->upper[n] < -most || m->upper[n] >= most)
            return "a corner of the box of pixels lies outside of its range";
        if ((int64_t)m->dim[n + 1] + m->upper[n] - m->lower[n] < 1) return "the box of pixels is empty";
    }
    if (m->channels < 1 || m->channels > 256) return "a pixel has 1 to 256 channels";
    if (m->pixels < 1 || m->pixels > 1024) return "a column has 1 to 1024 pixels";
    return NULL;
}

const char *ww_tensor_map_check(const struct ww_tensor_map *m) {
    const char *why = check_kind(m);
    if (!why) why = check_dims(m);
    if (!why) why = check_extent(m);
    if (!why) why = m->im2col ? check_pixels(m) : check_tile(m);
    if (why) return why;
    uint64_t row = (uint64_t)ww_tensor_row_elements(m) * ww_tensor_element(m->type);
    if (row % 16) return "a row of the box is a multiple of 16 bytes";
    if (m->swizzle && row > 16u << m->swizzle) return "a row of the box is longer than the swizzle";
    if (box_bytes(m) > WW_TENSOR_BOX_BYTES) return "the box is larger than shared memory";
    return NULL;
}

/* ---- packing: mark 0, kinds 4, address 16, dimensions - 1 24, strides / 16 44 (5 bytes each), box 69, steps
 * 74, corners 79, channels 91, pixels 93 ---- */

struct cursor {
    unsigned char *out;
    const unsigned char *in;
    unsigned at;
};

static void field(struct cursor *c, uint64_t *value, unsigned bytes) {
    uint64_t v = 0;
    for (unsigned n = 0; n < bytes; n++) {
        if (c->out)
            c->out[c->at + n] = (unsigned char)(*value >> 8 * n);
        else
            v |= (uint64_t)c->in[c->at + n] << 8 * n;
    }
    if (!c->out) *value = v;
    c->at += bytes;
}

#define FIELD(member, bytes, bias)                                                                             \
    do {                                                                                                       \
        uint64_t v_ = (uint64_t)(member) - (uint64_t)(bias);                                                   \
        field(c, &v_, bytes);                                                                                  \
        (member) = (__typeof__(member))(v_ + (uint64_t)(bias));                                                \
    } while (0)

/* Both ways, so that they cannot differ. */
static void fields(struct cursor *c, struct ww_tensor_map *m) {
    uint64_t flags = (uint64_t)m->im2col | (uint64_t)m->fill_nan << 1;
    c->at = 4;
    FIELD(m->type, 1, 0);
    FIELD(m->rank, 1, 0);
    FIELD(m->swizzle, 1, 0);
    FIELD(m->interleave, 1, 0);
    FIELD(m->promotion, 1, 0);
    field(c, &flags, 1);
    m->im2col = flags & 1;
    m->fill_nan = (flags & 2) != 0;
    c->at = 16;
    FIELD(m->global, 8, 0);
    for (unsigned n = 0; n < WW_TENSOR_DIMS; n++) FIELD(m->dim[n], 4, 1);
    for (unsigned n = 1; n < WW_TENSOR_DIMS; n++) {
        uint64_t v = m->stride[n] / 16;
        field(c, &v, 5);
        m->stride[n] = v * 16;
    }
    for (unsigned n = 0; n < WW_TENSOR_DIMS; n++) FIELD(m->box[n], 1, 1);
    for (unsigned n = 0; n < WW_TENSOR_DIMS; n++) FIELD(m->step[n], 1, 0);
    for (unsigned n = 0; n < 3; n++) FIELD(m->lower[n], 3, -32768);
    for (unsigned n = 0; n < 3; n++) FIELD(m->upper[n], 3, -32768);
    FIELD(m->channels, 2, 0);
    FIELD(m->pixels, 2, 0);
}

void ww_tensor_map_encode(const struct ww_tensor_map *m, unsigned char out[WW_TENSOR_MAP_BYTES]) {
    struct ww_tensor_map copy = *m;
    struct cursor c = {.out = out};
    uint64_t mark = MARK;
    memset(out, 0, WW_TENSOR_MAP_BYTES);
    field(&c, &mark, 4);
    fields(&c, &copy);
    uint64_t hash = ww_hash_bytes(out, HASH_AT, 0);
    c.at = HASH_AT;
    field(&c, &hash, 8);
}

const char *ww_tensor_map_decode(const unsigned char in[WW_TENSOR_MAP_BYTES], struct ww_tensor_map *m) {
    struct cursor c = {.in = in};
    uint64_t mark, hash;
    memset(m, 0, sizeof *m);
    field(&c, &mark, 4);
    c.at = HASH_AT;
    field(&c, &hash, 8);
    if (mark != MARK) return "not written by cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col";
    if (hash != ww_hash_bytes(in, HASH_AT, 0)) return "its bytes have been changed";
    fields(&c, m);
    m->stride[0] = ww_tensor_element(m->type);
    return ww_tensor_map_check(m);
}

/* ---- rows ---- */

/* Pixels of the box along a dimension. */
static int64_t pixels_along(const struct ww_tensor_map *m, unsigned n) {
    int64_t span = (int64_t)m->dim[n + 1] + m->upper[n] - m->lower[n];
    return (span + m->step[n + 1] - 1) / m->step[n + 1];
}

const char *ww_tensor_at_check(const struct ww_tensor_map *m, const struct ww_tensor_at *at) {
    if (!m->im2col) return NULL;
    for (unsigned n = 0; n + 2 < m->rank; n++) {
        int64_t from = (int64_t)at->coordinate[n + 1] - m->lower[n];
        if (from < 0 || from / m->step[n + 1] >= pixels_along(m, n))
            return "the first pixel lies outside of the box of pixels";
    }
    return NULL;
}

/* Coordinates of a row in a tile. */
static void tile_row(const struct ww_tensor_map *m, const struct ww_tensor_at *at, uint32_t row, int64_t *c) {
    for (unsigned n = 1; n < m->rank; n++) {
        c[n] = (int64_t)at->coordinate[n] + (int64_t)(row % steps(m, n)) * m->step[n];
        row /= steps(m, n);
    }
}

/* Coordinates of a pixel: they count on within the box of pixels, its last dimension is the image. */
static void pixel_row(const struct ww_tensor_map *m, const struct ww_tensor_at *at, uint32_t row, int64_t *c) {
    int64_t carry = row;
    for (unsigned n = 0; n + 2 < m->rank; n++) {
        int64_t step = m->step[n + 1], along = pixels_along(m, n), from = at->coordinate[n + 1] - m->lower[n];
        int64_t p = from / step + carry;
        carry = p / along;
        c[n + 1] = m->lower[n] + from % step + p % along * step + at->offset[n];
    }
    c[m->rank - 1] = at->coordinate[m->rank - 1] + carry;
}

struct ww_tensor_row ww_tensor_row(const struct ww_tensor_map *m, const struct ww_tensor_at *at, uint32_t row) {
    int64_t c[WW_TENSOR_DIMS] = {at->coordinate[0]}, size = (int64_t)ww_tensor_row_elements(m);
    struct ww_tensor_row r = {.global = m->global};
    if (m->im2col)
        pixel_row(m, at, row, c);
    else
        tile_row(m, at, row, c);
    for (unsigned n = 1; n < m->rank; n++) {
        if (c[n] < 0 || (uint64_t)c[n] >= m->dim[n]) return r;
        r.global += (uint64_t)c[n] * m->stride[n];
    }
    int64_t first = c[0] < 0 ? -c[0] : 0, end = (int64_t)m->dim[0] - c[0];
    if (end > size) end = size;
    if (first >= end) return r;
    r.first = (uint32_t)first;
    r.count = (uint32_t)(end - first);
    r.global += (uint64_t)(c[0] + first) * m->stride[0];
    return r;
}
