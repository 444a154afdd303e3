/* bulk_copy.c: bulk copies and reductions, linear ones and boxes of tensors. */
#include "bulk_copy.h"
#include "../../trace.h"
#include "exec.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool ww_bulk_note(struct bulk_touched *t, uint64_t address, uint32_t bytes) {
    struct bulk_extent *last = t->count ? &t->extent[t->count - 1] : NULL;
    if (last && last->address + last->bytes == address) {
        last->bytes += bytes;
        return true;
    }
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 64;
        struct bulk_extent *p = realloc(t->extent, capacity * sizeof *p);
        if (!p) return false;
        t->extent = p;
        t->capacity = capacity;
    }
    t->extent[t->count++] = (struct bulk_extent){address, bytes};
    return true;
}

#define CHUNK 16u /* bytes for which a lane of a recorded step stands */

uint32_t ww_bulk_lanes(struct bulk_lanes *l, uint64_t addr[32]) {
    uint32_t n = 0;
    while (n < 32 && l->extent < l->of->count) {
        const struct bulk_extent *e = &l->of->extent[l->extent];
        addr[n++] = (e->address & ~(uint64_t)(CHUNK - 1)) + l->at;
        l->at += CHUNK;
        if (l->at < e->bytes + e->address % CHUNK) continue;
        l->at = 0;
        l->extent++;
    }
    return n;
}

/* ---- elements ---- */

static double real(uint8_t type, uint64_t v) {
    if (type == WW_TENSOR_F16) return ww_ex_f16_to_double((uint16_t)v);
    if (type == WW_TENSOR_BF16) return ww_ex_bf16_to_double((uint16_t)v);
    if (type == WW_TENSOR_F64) {
        double d;
        memcpy(&d, &v, sizeof d);
        return d;
    }
    float f;
    uint32_t bits = (uint32_t)v;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static uint64_t bits_of(uint8_t type, double d) {
    if (type == WW_TENSOR_F16) return ww_ex_double_to_f16(d, PTX_R_RN, false);
    if (type == WW_TENSOR_BF16) return ww_ex_double_to_bf16(d, PTX_R_RN);
    uint64_t v = 0;
    if (type == WW_TENSOR_F64) {
        memcpy(&v, &d, sizeof d);
        return v;
    }
    float f = (float)d; /* of a sum of two floats: rounded once, as a double holds it well enough */
    memcpy(&v, &f, sizeof f);
    return v;
}

static uint64_t reduce_real(uint8_t op, uint8_t type, uint64_t old, uint64_t v) {
    double x = real(type, old), y = real(type, v);
    if (op == BULK_ADD) return bits_of(type, x + y);
    if (isnan(x) || isnan(y)) return isnan(x) ? v : old;
    return (x < y) == (op == BULK_MIN) ? old : v;
}

uint64_t ww_bulk_reduce(uint8_t op, uint8_t type, uint64_t old, uint64_t v) {
    bool is_signed = type == WW_TENSOR_S32 || type == WW_TENSOR_S64, less;
    if (type >= WW_TENSOR_F16 && op <= BULK_MAX) return reduce_real(op, type, old, v);
    if (is_signed && type == WW_TENSOR_S32)
        less = (int32_t)old < (int32_t)v;
    else
        less = is_signed ? (int64_t)old < (int64_t)v : old < v;
    switch (op) {
    case BULK_ADD:
        return old + v;
    case BULK_MIN:
        return less ? old : v;
    case BULK_MAX:
        return less ? v : old;
    case BULK_INC:
        return old >= v ? 0 : old + 1;
    case BULK_DEC:
        return old == 0 || old > v ? v : old - 1;
    case BULK_AND:
        return old & v;
    case BULK_OR:
        return old | v;
    case BULK_XOR:
        return old ^ v;
    default:
        return v;
    }
}

/* Copies or reduces `bytes` of elements. */
static void apply(uint8_t op, uint8_t type, unsigned char *to, const unsigned char *from, uint32_t bytes) {
    uint32_t size = ww_tensor_element(type);
    if (op == BULK_COPY) {
        memmove(to, from, bytes);
        return;
    }
    for (uint32_t n = 0; n + size <= bytes; n += size) {
        uint64_t old = 0, v = 0;
        memcpy(&old, to + n, size);
        memcpy(&v, from + n, size);
        v = ww_bulk_reduce(op, type, old, v);
        memcpy(to + n, &v, size);
    }
}

/* What becomes of elements on their way to shared memory: subnormal floats, bits below TF32. */
static void convert(uint8_t type, unsigned char *p, uint32_t bytes) {
    bool flush = type == WW_TENSOR_F32_FTZ || type == WW_TENSOR_TF32_FTZ;
    bool cut = type == WW_TENSOR_TF32 || type == WW_TENSOR_TF32_FTZ;
    if (!flush && !cut) return;
    for (uint32_t n = 0; n + 4 <= bytes; n += 4) {
        uint32_t v;
        float f;
        memcpy(&v, p + n, 4);
        if (flush && !(v & 0x7f800000u)) v &= 0x80000000u;
        memcpy(&f, &v, 4);
        if (cut && (v & 0x7f800000u) != 0x7f800000u) v = ww_ex_float_to_tf32(f, PTX_R_RN);
        memcpy(p + n, &v, 4);
    }
}

/* ---- checks ---- */

#define PREFETCH_MOST (1u << 20)

static bool can_reduce(uint8_t op, uint8_t type) {
    bool real_type = type >= WW_TENSOR_F16, wide = type == WW_TENSOR_U64 || type == WW_TENSOR_S64;
    if (op == BULK_COPY) return true;
    if (type == WW_TENSOR_U8 || type == WW_TENSOR_U16 || type >= WW_TENSOR_TF32) return false;
    if (real_type) return op == BULK_ADD || (op <= BULK_MAX && ww_tensor_element(type) == 2);
    if (op == BULK_INC || op == BULK_DEC) return !wide;
    return true;
}

const char *ww_bulk_check(const struct bulk_request *r) {
    bool touches_shared = r->way != BULK_PREFETCH;
    if (!can_reduce(r->op, r->tensor ? r->map.type : r->type))
        return "this reduction of this type is not supported";
    if ((r->way == BULK_TO_SHARED || r->way == BULK_BETWEEN) && !r->ctas)
        return "the mask of CTAs that get it is 0";
    if (!r->tensor) {
        if (r->bytes % 16) return "its size is a multiple of 16 bytes";
        if (r->way != BULK_BETWEEN && r->global % 16) return "its global address is a multiple of 16";
        if ((touches_shared && r->shared % 16) || (r->way == BULK_BETWEEN && r->from % 16))
            return "its shared address is a multiple of 16";
        if (r->way == BULK_PREFETCH) return r->bytes > PREFETCH_MOST ? "a prefetch is of at most 1 MB" : NULL;
        return r->bytes > WW_TENSOR_BOX_BYTES ? "it is larger than shared memory" : NULL;
    }
    if (touches_shared && r->shared % 128) return "its shared address is a multiple of 128";
    return ww_tensor_at_check(&r->map, &r->at);
}

/* ---- linear copies ---- */

static bool linear_to(const struct bulk_request *r, const struct bulk_memory *m, const unsigned char *from) {
    for (unsigned rank = 0; rank < WW_CLUSTER_MOST; rank++) {
        if (!(r->ctas >> rank & 1u)) continue;
        unsigned char *to = m->shared(m->context, rank, r->shared, r->bytes, true);
        if (!to) return false;
        apply(r->op, r->type, to, from, r->bytes);
    }
    return true;
}

static bool linear(const struct bulk_request *r, const struct bulk_memory *m) {
    if (r->bytes == 0) return true;
    if (r->way == BULK_PREFETCH) {
        m->touch(m->context, r->global, r->bytes);
        return true;
    }
    if (r->way == BULK_BETWEEN) {
        const unsigned char *from = m->shared(m->context, r->own, r->from, r->bytes, false);
        unsigned rank = (unsigned)__builtin_ctz(r->ctas);
        uint64_t place = rank == r->own ? 0 : (uint64_t)(rank + 1) << WW_SHARED_RANK_SHIFT;
        m->touch(m->context, place | r->shared, r->bytes);
        return from && linear_to(r, m, from);
    }
    bool stores = r->way == BULK_TO_GLOBAL;
    unsigned char *global = m->global(m->context, r->global, r->bytes, stores);
    if (!global) return false;
    m->touch(m->context, r->global, r->bytes);
    if (!stores) return linear_to(r, m, global);
    const unsigned char *from = m->shared(m->context, r->own, r->shared, r->bytes, false);
    if (!from) return false;
    apply(r->op, r->type, global, from, r->bytes);
    return true;
}

/* ---- boxes of tensors ---- */

#define ROW_BYTES 2048u /* 256 elements of 8 bytes */

static void fill(const struct ww_tensor_map *m, unsigned char *row, uint32_t bytes) {
    uint32_t size = ww_tensor_element(m->type);
    memset(row, 0, bytes);
    for (uint32_t n = 0; m->fill_nan && n < bytes; n++) row[n] = (n + 1) % size ? 0xff : 0x7f;
}

/* Where byte `at` of the dense box lies in shared memory. */
static uint32_t place(const struct bulk_request *r, uint32_t at) {
    return ww_tensor_swizzled(r->map.swizzle, r->shared + at);
}

/* A row between a buffer and shared memory, in pieces of 16 bytes. */
static bool put_row(const struct bulk_request *r, const struct bulk_memory *m, unsigned rank, uint32_t at,
                    const unsigned char *row, uint32_t bytes) {
    for (uint32_t n = 0; n < bytes; n += 16) {
        unsigned char *to = m->shared(m->context, rank, place(r, at + n), 16, true);
        if (!to) return false;
        memcpy(to, row + n, 16);
    }
    return true;
}

static bool get_row(const struct bulk_request *r, const struct bulk_memory *m, uint32_t at, unsigned char *row,
                    uint32_t bytes) {
    for (uint32_t n = 0; n < bytes; n += 16) {
        const unsigned char *from = m->shared(m->context, r->own, place(r, at + n), 16, false);
        if (!from) return false;
        memcpy(row + n, from, 16);
    }
    return true;
}

static bool load_row(const struct bulk_request *r, const struct bulk_memory *m, uint32_t at,
                     const struct ww_tensor_row *in, uint32_t bytes) {
    unsigned char row[ROW_BYTES];
    uint32_t size = ww_tensor_element(r->map.type);
    fill(&r->map, row, bytes);
    if (in->count) {
        const unsigned char *from = m->global(m->context, in->global, in->count * size, false);
        if (!from) return false;
        m->touch(m->context, in->global, in->count * size);
        memcpy(row + in->first * size, from, in->count * size);
        convert(r->map.type, row, bytes);
    }
    for (unsigned rank = 0; rank < WW_CLUSTER_MOST; rank++)
        if (r->ctas >> rank & 1u && !put_row(r, m, rank, at, row, bytes)) return false;
    return true;
}

static bool store_row(const struct bulk_request *r, const struct bulk_memory *m, uint32_t at,
                      const struct ww_tensor_row *in, uint32_t bytes) {
    unsigned char row[ROW_BYTES];
    uint32_t size = ww_tensor_element(r->map.type);
    if (!get_row(r, m, at, row, bytes)) return false;
    if (!in->count) return true;
    unsigned char *to = m->global(m->context, in->global, in->count * size, true);
    if (!to) return false;
    m->touch(m->context, in->global, in->count * size);
    apply(r->op, r->map.type, to, row + in->first * size, in->count * size);
    return true;
}

static bool box(const struct bulk_request *r, const struct bulk_memory *m) {
    uint32_t size = ww_tensor_element(r->map.type), bytes = ww_tensor_row_elements(&r->map) * size;
    uint32_t rows = ww_tensor_rows(&r->map);
    for (uint32_t n = 0; n < rows; n++) {
        struct ww_tensor_row in = ww_tensor_row(&r->map, &r->at, n);
        bool good = true;
        if (r->way == BULK_PREFETCH && in.count)
            m->touch(m->context, in.global, in.count * size);
        else if (r->way == BULK_TO_SHARED)
            good = load_row(r, m, n * bytes, &in, bytes);
        else if (r->way == BULK_TO_GLOBAL)
            good = store_row(r, m, n * bytes, &in, bytes);
        if (!good) return false;
    }
    return true;
}

bool ww_bulk_run(const struct bulk_request *r, const struct bulk_memory *m) {
    return r->tensor ? box(r, m) : linear(r, m);
}
