/* SASS opcodes: class, width and operand sizes by name and suffixes. */
#include "opcode.h"
#include <stdlib.h>
#include <string.h>

#define WW_SASS_SPACE_NONE WW_SPACE_NONE
#define WW_SASS_SPACE_GLOBAL WW_SPACE_GLOBAL
#define WW_SASS_SPACE_SHARED WW_SPACE_SHARED
#define WW_SASS_SPACE_LOCAL WW_SPACE_LOCAL
#define WW_SASS_SPACE_CONST WW_SPACE_CONST
#define WW_SASS_SPACE_TEX WW_SPACE_TEX
#define WW_SASS_SPACE_GENERIC WW_SASS_GENERIC

static const struct ww_sass_row rows[] = {
#define X(mnemonic, op, space, shape) {#mnemonic, WW_OP_##op, WW_SASS_SPACE_##space, WW_SASS_##shape},
#include "opcode.def"
#undef X
};

const struct ww_sass_row *ww_sass_find(const char *opcode, size_t n) {
    const char *dot = memchr(opcode, '.', n);
    size_t base = dot ? (size_t)(dot - opcode) : n;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(rows[i].mnemonic, opcode, base) == 0 && !rows[i].mnemonic[base]) return &rows[i];
    return NULL;
}

/* The suffix after *at, without its dot; *length is 0 at the end. */
static const char *next_suffix(const char **at, const char *end, size_t *length) {
    const char *dot = memchr(*at, '.', (size_t)(end - *at));
    *length = 0;
    if (!dot) return NULL;
    const char *next = memchr(dot + 1, '.', (size_t)(end - dot - 1));
    *at = next ? next : end;
    *length = (size_t)(*at - dot - 1);
    return dot + 1;
}

bool ww_sass_has(const char *opcode, size_t n, const char *suffix) {
    const char *end = opcode + n, *s;
    size_t length, wanted = strlen(suffix);
    while ((s = next_suffix(&opcode, end, &length)))
        if (length == wanted && memcmp(s, suffix, wanted) == 0) return true;
    return false;
}

/* Bytes of a suffix such as "64", "U8", "S16", "F64"; 0: it names no width. */
static unsigned suffix_bytes(const char *s, size_t n) {
    if (n && strchr("USFB", *s)) s++, n--;
    if (n == 1 && *s == '8') return 1;
    if (n == 2 && memcmp(s, "16", 2) == 0) return 2;
    if (n == 2 && memcmp(s, "32", 2) == 0) return 4;
    if (n == 2 && memcmp(s, "64", 2) == 0) return 8;
    return n == 3 && memcmp(s, "128", 3) == 0 ? 16 : 0;
}

uint8_t ww_sass_width(const struct ww_sass_row *row, const char *opcode, size_t n) {
    const char *end = opcode + n, *s;
    size_t length;
    if (row->shape == WW_SASS_ROWS || row->shape == WW_SASS_BULK) return 16;
    while ((s = next_suffix(&opcode, end, &length))) {
        unsigned bytes = suffix_bytes(s, length);
        if (bytes) return (uint8_t)bytes;
    }
    return 4;
}

static void set_all(struct ww_operand *o, unsigned count, uint16_t n) {
    for (unsigned i = 0; i < count; i++) o[i].n = n;
}

/* F2F.F64.F32: the first type is the result's, the second the source's. I2F.F64 has an integer source of 32
 * bits, F2I.F64 a result of 32 bits, unless their suffix says more. */
static void size_convert(const char *opcode, size_t n, struct ww_inst *inst) {
    const char *at = opcode, *end = opcode + n, *s;
    size_t length;
    unsigned wide[2] = {0, 0}, types = 0;
    while ((s = next_suffix(&at, end, &length)) && types < 2) {
        unsigned bytes = strchr("FSU", *s) ? suffix_bytes(s, length) : 0;
        if (bytes) wide[types++] = bytes == 8;
    }
    if (types == 1 && *opcode == 'F' && opcode[2] == 'I') { /* F2I.F64: of its source; F2I.S64: its result */
        if (ww_sass_has(opcode, n, "F64")) wide[1] = wide[0], wide[0] = 0;
    } else if (types == 1 && *opcode == 'I' && opcode[2] == 'F') {
        if (!ww_sass_has(opcode, n, "F64")) wide[1] = wide[0], wide[0] = 0;
    } else if (types == 1) {
        wide[1] = wide[0];
    }
    set_all(inst->dst, inst->dst_count, wide[0] ? 2 : 1);
    set_all(inst->src, inst->src_count, wide[1] ? 2 : 1);
}

/* Registers of a warp's fragments: result and C, A, B. The first suffix of digits is m, n, k run together. */
static const struct {
    const char *mnemonic, *shape;
    uint8_t c, a, b;
} fragments[] = {
    {"HMMA", "884", 2, 2, 2},   {"HMMA", "1688", 4, 2, 1},   {"HMMA", "16816", 4, 4, 2},
    {"HMMA", "1684", 4, 2, 1},  {"IMMA", "8816", 2, 1, 1},   {"IMMA", "8832", 2, 1, 1},
    {"IMMA", "16816", 4, 2, 1}, {"IMMA", "16832", 4, 4, 2},  {"IMMA", "16864", 4, 4, 2},
    {"BMMA", "88128", 2, 1, 1}, {"BMMA", "168128", 4, 2, 1}, {"BMMA", "168256", 4, 4, 2},
    {"DMMA", "884", 4, 2, 2},   {"DMMA", "1684", 8, 4, 2},   {"DMMA", "1688", 8, 8, 4},
    {"QMMA", "16816", 4, 2, 1}, {"QMMA", "16832", 4, 4, 2},
};

static void size_matrix(const char *opcode, size_t n, struct ww_inst *inst) {
    uint8_t c = 2, a = 2, b = 2;
    for (size_t i = 0; i < sizeof fragments / sizeof fragments[0]; i++)
        if (strncmp(opcode, fragments[i].mnemonic, 4) == 0 && ww_sass_has(opcode, n, fragments[i].shape)) {
            c = fragments[i].c;
            a = fragments[i].a;
            b = fragments[i].b;
        }
    if (a == 2 && b == 1 && ww_sass_has(opcode, n, "1688") && ww_sass_has(opcode, n, "TF32")) a = 4, b = 2;
    bool half = *opcode == 'H' && c == 4 && !ww_sass_has(opcode, n, "F32");
    if (half) c = 2; /* accumulates in half precision */
    set_all(inst->dst, inst->dst_count, c);
    set_all(inst->src, inst->src_count, 1);
    if (inst->src_count > 0) inst->src[0].n = a;
    if (inst->src_count > 1) inst->src[1].n = b;
    if (inst->src_count > 2) inst->src[2].n = c;
}

static uint16_t words(uint8_t width) {
    return width > 4 ? width / 4 : 1;
}

/* The address is the first source, data the last. */
static void size_memory(const struct ww_sass_row *row, const char *opcode, size_t n, struct ww_inst *inst) {
    bool load = row->shape == WW_SASS_LOAD || row->shape == WW_SASS_ATOMIC;
    bool store = row->shape == WW_SASS_STORE || row->shape == WW_SASS_ATOMIC;
    bool wide = row->space == WW_SPACE_GLOBAL || row->space == WW_SASS_GENERIC;
    uint16_t data = words(inst->width);
    if (row->shape == WW_SASS_ROWS) {
        data = ww_sass_has(opcode, n, "4") ? 4 : ww_sass_has(opcode, n, "2") ? 2 : 1;
        load = row->op == WW_OP_LOAD;
        store = !load;
    }
    if (row->op == WW_OP_TEXTURE) data = load ? 2 : data; /* two registers each of up to two results */
    if (load) set_all(inst->dst, inst->dst_count, data);
    if (store && inst->src_count > 1) inst->src[inst->src_count - 1].n = data;
    if (wide && inst->src_count) inst->src[row->shape == WW_SASS_COPY ? inst->src_count - 1u : 0].n = 2;
}

static void set_flags(const struct ww_sass_row *row, const char *opcode, size_t n, struct ww_inst *inst) {
    bool strong =
        ww_sass_has(opcode, n, "STRONG") && !ww_sass_has(opcode, n, "CTA") && !ww_sass_has(opcode, n, "SM");
    if (row->op == WW_OP_LOAD && (strong || ww_sass_has(opcode, n, "CG"))) inst->flags |= WW_INST_BYPASS_L1;
    if (row->op == WW_OP_ASYNC_COPY && (row->shape == WW_SASS_BULK || ww_sass_has(opcode, n, "BYPASS")))
        inst->flags |= WW_INST_BYPASS_L1;
    if (row->op == WW_OP_LOAD && (ww_sass_has(opcode, n, "CONSTANT") || ww_sass_has(opcode, n, "CI")))
        inst->flags |= WW_INST_READ_ONLY;
    if (ww_sass_has(opcode, n, "EF")) inst->flags |= WW_INST_STREAM;
    if (row->op == WW_OP_BARRIER && ww_sass_has(opcode, n, "ARV")) inst->flags |= WW_INST_BAR_ARRIVE;
}

void ww_sass_describe(const struct ww_sass_row *row, const char *opcode, size_t n, struct ww_inst *inst) {
    bool wide = row->shape == WW_SASS_WIDE && (ww_sass_has(opcode, n, "WIDE"));
    inst->op = row->op;
    inst->space = row->space == WW_SASS_GENERIC ? WW_SPACE_GLOBAL : row->space;
    inst->width = row->space == WW_SPACE_NONE ? 0 : ww_sass_width(row, opcode, n);
    set_flags(row, opcode, n, inst);
    set_all(inst->dst, inst->dst_count, 1);
    set_all(inst->src, inst->src_count, 1);
    if (row->shape == WW_SASS_TRAP && !ww_sass_has(opcode, n, "TRAP")) inst->op = WW_OP_NOP;
    if (row->shape == WW_SASS_PAIRS || (row->shape == WW_SASS_CLOCK && !ww_sass_has(opcode, n, "32")) || wide)
        set_all(inst->dst, inst->dst_count, 2);
    if (row->shape == WW_SASS_PAIRS || row->shape == WW_SASS_PAIR_SOURCES)
        set_all(inst->src, inst->src_count, 2);
    if (wide && inst->src_count > 1) inst->src[inst->src_count - 1].n = 2;
    if (row->shape == WW_SASS_CONVERT) size_convert(opcode, n, inst);
    if (row->shape == WW_SASS_MATRIX) size_matrix(opcode, n, inst);
    if (row->shape >= WW_SASS_LOAD && row->shape <= WW_SASS_COPY) size_memory(row, opcode, n, inst);
}
