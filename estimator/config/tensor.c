/* Matrix instructions: shapes and types by mnemonic, and times by generation of tensor cores (tensor.def). */
#include "tensor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- mnemonics ---- */

static const uint8_t bits_of[WW_MATRIX_TYPES] = {16, 32, 64, 8, 8, 4, 1, 4};

static bool is(const char *word, size_t n, const char *what) {
    return strlen(what) == n && memcmp(word, what, n) == 0;
}

static bool operation(const char *word, size_t n, struct ww_matrix *out) {
    static const struct {
        const char *name;
        uint8_t type;
        bool async;
    } all[] = {
        {"HMMA", WW_MATRIX_FP16, false},  {"IMMA", WW_MATRIX_INT8, false},   {"DMMA", WW_MATRIX_FP64, false},
        {"BMMA", WW_MATRIX_B1, false},    {"QMMA", WW_MATRIX_FP8, false},    {"OMMA", WW_MATRIX_FP4, false},
        {"HGMMA", WW_MATRIX_FP16, true},  {"IGMMA", WW_MATRIX_INT8, true},   {"BGMMA", WW_MATRIX_B1, true},
        {"QGMMA", WW_MATRIX_FP8, true},   {"UTCHMMA", WW_MATRIX_FP16, true}, {"UTCIMMA", WW_MATRIX_INT8, true},
        {"UTCQMMA", WW_MATRIX_FP8, true}, {"UTCOMMA", WW_MATRIX_FP4, true}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!is(word, n, all[i].name)) continue;
        out->type = all[i].type;
        out->async = all[i].async;
        out->whole = all[i].name[0] == 'U';
        return true;
    }
    return false;
}

/* "16816": the parts of such numbers are not told apart by rule. */
static bool shape(const char *word, size_t n, struct ww_matrix *out) {
    static const struct {
        const char *name;
        uint16_t m, n, k;
    } all[] = {{"884", 8, 8, 4},     {"1684", 16, 8, 4},     {"1688", 16, 8, 8},    {"16816", 16, 8, 16},
               {"16832", 16, 8, 32}, {"16864", 16, 8, 64},   {"8816", 8, 8, 16},    {"8832", 8, 8, 32},
               {"88128", 8, 8, 128}, {"168128", 16, 8, 128}, {"168256", 16, 8, 256}};
    unsigned long m, columns, k;
    char *end;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!is(word, n, all[i].name)) continue;
        out->m = all[i].m, out->n = all[i].n, out->k = all[i].k;
        return true;
    }
    m = strtoul(word, &end, 10);
    if (*end != 'x' || end[1] < '1' || end[1] > '9') return false;
    columns = strtoul(end + 1, &end, 10);
    if (*end != 'x' || end[1] < '1' || end[1] > '9') return false;
    k = strtoul(end + 1, &end, 10);
    if (end != word + n || !m || m > 256 || !columns || columns > 256 || k > 1024) return false;
    out->m = (uint16_t)m, out->n = (uint16_t)columns, out->k = (uint16_t)k;
    return true;
}

static void type_word(const char *word, size_t n, struct ww_matrix *out) {
    static const struct {
        const char *name;
        uint8_t type;
    } all[] = {{"TF32", WW_MATRIX_TF32}, {"S4", WW_MATRIX_INT4},  {"U4", WW_MATRIX_INT4},
               {"E4M3", WW_MATRIX_FP8},  {"E5M2", WW_MATRIX_FP8}, {"E2M1", WW_MATRIX_FP4},
               {"BF16", WW_MATRIX_FP16}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (is(word, n, all[i].name)) out->type = all[i].type;
}

/* Multiply-adds of a warp: HMMA.884 is four products of 8 x 8 x 4 in four steps (sums of fp32) or two. */
static uint32_t multiply_adds(const struct ww_matrix *x) {
    uint32_t all = (uint32_t)x->m * x->n * x->k;
    if (x->async) all /= 4;
    if (x->type == WW_MATRIX_FP16 && x->m == 8 && x->k == 4) return x->fp32 ? all : 2 * all;
    return x->sparse ? all / 2 : all;
}

bool ww_matrix_of(const char *mnemonic, struct ww_matrix *out) {
    bool first = true, sums = false, has_shape = false;
    *out = (struct ww_matrix){.fp32 = true};
    for (const char *p = mnemonic; *p;) {
        size_t n = strcspn(p, ".");
        if (first && !operation(p, n, out)) return false;
        first = false;
        has_shape |= shape(p, n, out);
        if (is(p, n, "SP")) out->sparse = true;
        if (is(p, n, "2CTA")) out->pair = true;
        if (!sums && (is(p, n, "F16") || is(p, n, "F32"))) {
            out->fp32 = is(p, n, "F32");
            sums = true;
        }
        type_word(p, n, out);
        p += n + (p[n] == '.');
    }
    if (out->type == WW_MATRIX_FP64 || out->type == WW_MATRIX_INT8 || out->type == WW_MATRIX_INT4 ||
        out->type == WW_MATRIX_B1)
        out->fp32 = false;
    out->fma = has_shape ? multiply_adds(out) : 0;
    bool half = out->type == WW_MATRIX_FP16 || out->type == WW_MATRIX_FP8 || out->type == WW_MATRIX_FP4;
    out->registers = out->async && !out->whole ? (half && !out->fp32 ? out->n / 4u : out->n / 2u) : 0;
    return has_shape;
}

/* ---- times ---- */

struct unit {
    uint32_t rate[WW_MATRIX_TYPES], latency;
};

struct row {
    uint8_t unit;
    const char *shape;
    uint32_t eighths, latency;
};

static const struct unit units[] = {
    [WW_TENSOR_LANES] = {{0}, 0},
#define UNIT(id, name, fp16, tf32, fp64, fp8, int8, int4, b1, fp4, latency, source)                            \
    [WW_TENSOR_##id] = {{fp16, tf32, fp64, fp8, int8, int4, b1, fp4}, latency},
#define ROW(id, shape, eighths, latency, source)
#include "tensor.def"
#undef UNIT
#undef ROW
};

static const struct row rows[] = {
#define UNIT(id, name, fp16, tf32, fp64, fp8, int8, int4, b1, fp4, latency, source)
#define ROW(id, shape, eighths, latency, source) {WW_TENSOR_##id, shape, eighths, latency},
#include "tensor.def"
#undef UNIT
#undef ROW
};

static const struct row *find_row(uint32_t unit, const char *mnemonic) {
    const struct row *best = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n = strlen(rows[i].shape);
        if (rows[i].unit == unit && strncmp(mnemonic, rows[i].shape, n) == 0 &&
            (!best || n > strlen(best->shape)))
            best = &rows[i];
    }
    return best;
}

/* Multiply-adds a cycle; of a type that the unit does not have, by its bits. */
static double rate_of(const struct unit *u, const struct ww_matrix *x) {
    if (u->rate[x->type]) return u->rate[x->type];
    return (double)u->rate[WW_MATRIX_FP16] * 16 / bits_of[x->type];
}

/* Bytes of a row of A as it is stored. */
static double row_bytes(const struct ww_matrix *x) {
    double row = (double)x->k * bits_of[x->type] / 8;
    return x->sparse ? row / 2 : row;
}

/* Bytes that a warpgroup's instruction reads from shared memory: A, too, if it is in registers, since the rate
 * was measured to be no higher then. */
static double operand_bytes(const struct ww_matrix *x) {
    return x->m * row_bytes(x) + x->n * (double)x->k * bits_of[x->type] / 8;
}

bool ww_tensor_time(const struct ww_gpu_spec *gpu, const char *mnemonic, bool from_registers,
                    struct ww_tensor_time *out) {
    struct ww_matrix x;
    if (gpu->pipe_tensor_unit == WW_TENSOR_LANES || !ww_matrix_of(mnemonic, &x)) return false;
    const struct unit *u = &units[gpu->pipe_tensor_unit];
    const struct row *row = x.async ? NULL : find_row(gpu->pipe_tensor_unit, mnemonic);
    double slow = gpu->pipe_tensor_half_fp32 && x.fp32 ? 2 : 1;
    double cycles = row && row->eighths ? row->eighths / 8.0 : x.fma / rate_of(u, &x);
    double ctas = x.pair ? 2 : 1; /* each multiplies its rows, and reads half of B */
    cycles *= slow / gpu->pipe_tensor_speed / ctas;
    out->latency = row && row->latency ? row->latency : u->latency;
    out->read = 0;
    if (x.async) {
        double bytes = operand_bytes(&x) / gpu->pipe_tensor_async_bytes / ctas;
        if (cycles < bytes) cycles = bytes;
        out->read = bytes - (from_registers ? x.m * row_bytes(&x) / gpu->pipe_tensor_async_bytes : 0);
        out->latency = gpu->pipe_tensor_async_cycles + (x.whole ? (uint32_t)cycles : x.registers);
        if (from_registers && !x.whole && out->latency > gpu->pipe_tensor_async_a_cycles)
            out->latency -= gpu->pipe_tensor_async_a_cycles;
    }
    out->eighths = cycles < 1 ? 8 : cycles > 4096 ? 8 * 4096 : (uint32_t)(cycles * 8 + 0.5);
    return true;
}
