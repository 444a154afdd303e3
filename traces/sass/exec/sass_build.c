/* sass_build.c: from decoded instructions to the form that is executed. */
#include "../code/sass_decode.h"
#include "grid.h"
#include "../../../estimator/base/hash.h"
#include <stdlib.h>

#define BUCKETS 4096u
#define DRIVER_REGISTERS 16u
#define CONSTANTS_MAX (1u << 18) /* rows */

struct sx_builder {
    struct sx_kernel *k;
    const struct ww_sass_insn *in; /* the current instruction */
    uint32_t registers, uniforms;  /* that the code needs */
    uint32_t capacity;             /* of constants */
    uint32_t *bucket;              /* BUCKETS lists of constants: number + 1 */
    enum ww_code code;
    const char *problem;
};

uint32_t ww_sx_arch(const struct sx_builder *b) {
    return b->k->cubin->arch;
}

struct sx_kernel *ww_sx_building(struct sx_builder *b) {
    return b->k;
}

void ww_sx_problem(struct sx_builder *b, enum ww_code code, const char *text) {
    if (b->code != WW_OK) return;
    b->code = code;
    b->problem = text;
}

/* ---- constants ---- */

static struct sx_constant *new_constant(struct sx_builder *b) {
    struct sx_kernel *k = b->k;
    if (k->constant_rows > CONSTANTS_MAX) {
        ww_sx_problem(b, WW_UNSUPPORTED, "more different constants than a kernel may have");
        return NULL;
    }
    if (k->constant_count == b->capacity) {
        uint32_t capacity = b->capacity ? 2 * b->capacity : 64;
        struct sx_constant *p = ww_arena_array(&k->arena, capacity, sizeof *p);
        if (!p) {
            ww_sx_problem(b, WW_NOMEM, "memory ran out");
            return NULL;
        }
        if (k->constant_count) memcpy(p, k->constant, k->constant_count * sizeof *p);
        k->constant = p;
        b->capacity = capacity;
    }
    return &k->constant[k->constant_count++];
}

static uint32_t constant_slot(struct sx_builder *b, struct sx_constant want) {
    struct sx_kernel *k = b->k;
    uint64_t key = (uint64_t)(uint32_t)want.bank << 40 ^ (uint64_t)want.rows << 32 ^ want.offset;
    uint32_t *head = &b->bucket[ww_hash_mix(key ^ ww_hash_mix(want.value)) % BUCKETS];
    for (uint32_t n = *head; n; n = k->constant[n - 1].next) {
        const struct sx_constant *c = &k->constant[n - 1];
        if (c->bank == want.bank && c->offset == want.offset && c->value == want.value && c->rows == want.rows)
            return SX_CONST | c->at;
    }
    struct sx_constant *c = new_constant(b);
    if (!c) return SX_ZERO;
    *c = want;
    c->next = *head;
    c->at = (SX_WIDE + 1 + k->constant_rows) * SX_ROW;
    *head = k->constant_count;
    k->constant_rows += want.rows;
    return SX_CONST | c->at;
}

uint32_t ww_sx_value(struct sx_builder *b, uint64_t value, uint32_t rows) {
    if (value == 0) return SX_ZERO;
    if (rows == 1) value = (uint32_t)value;
    return constant_slot(b, (struct sx_constant){.bank = -1, .value = value, .rows = rows});
}

/* ---- operands ---- */

/* `count` rows from number `reg` of the `have` rows at `first`; *used is what the code needs of them. */
static uint32_t row(struct sx_builder *b, uint32_t first, uint32_t reg, uint32_t count, uint32_t have,
                    uint32_t *used) {
    if (reg < have && count <= have - reg) {
        if (reg + count > *used) *used = reg + count;
        return first + reg * SX_ROW;
    }
    ww_sx_problem(b, WW_INPUT, "the operand goes beyond the last register");
    return SX_SINK;
}

static uint32_t general(struct sx_builder *b, uint32_t reg, uint32_t rows) {
    return row(b, b->k->register_at, reg, rows, b->k->registers, &b->registers);
}

static uint32_t uniform(struct sx_builder *b, uint32_t reg, uint32_t rows) {
    return row(b, b->k->uniform_at, reg, rows, b->k->uniforms, &b->uniforms);
}

uint32_t ww_sx_uniform(struct sx_builder *b, uint32_t reg, uint32_t rows) {
    return reg == SASS_URZ ? SX_ZERO : uniform(b, reg, rows);
}

uint32_t ww_sx_src(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot, uint32_t rows) {
    const struct ww_sass_operand *o = &in->opd[slot];
    switch (o->kind) {
    case SASS_K_REG:
        return o->reg == SASS_RZ ? SX_ZERO : general(b, o->reg, rows);
    case SASS_K_UREG:
        return o->reg == SASS_URZ ? SX_ZERO : uniform(b, o->reg, rows);
    case SASS_K_IMM:
        return ww_sx_value(b, rows == 2 ? (uint64_t)o->imm << 32 : (uint64_t)o->imm, rows);
    case SASS_K_CONST:
        if (o->reg != SASS_RZ || o->bank >= WW_CUBIN_BANKS || rows > 4) {
            ww_sx_problem(b, WW_UNSUPPORTED, "a constant bank of that number, or with an index, as an operand");
            return SX_ZERO;
        }
        /* 16 bits: the disassembler shows the upper half of a bank, where large parameters lie, as negative */
        return constant_slot(b,
                             (struct sx_constant){.bank = o->bank, .offset = (uint16_t)o->imm, .rows = rows});
    case SASS_K_NONE:
        return SX_ZERO;
    default:
        ww_sx_problem(b, WW_UNSUPPORTED, "an operand of this kind");
        return SX_ZERO;
    }
}

uint32_t ww_sx_dst(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot, uint32_t rows) {
    const struct ww_sass_operand *o = &in->opd[slot];
    if (o->kind == SASS_K_NONE) return SX_SINK;
    if (o->kind == SASS_K_REG) return o->reg == SASS_RZ ? SX_SINK : general(b, o->reg, rows);
    if (o->kind == SASS_K_UREG) return o->reg == SASS_URZ ? SX_SINK : uniform(b, o->reg, rows);
    ww_sx_problem(b, WW_UNSUPPORTED, "a destination of this kind");
    return SX_SINK;
}

/* Word of a predicate: P0 to P6, the sink, UP0 to UP6. */
static uint32_t predicate(const struct sx_kernel *k, bool uniform, uint32_t n) {
    return k->predicate_at + 4 * ((uniform ? 8 : 0) + (n & 7));
}

uint32_t ww_sx_pred_src(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot, unsigned n,
                        struct sx_inst *i) {
    const struct ww_sass_operand *o = &in->opd[slot];
    if (o->kind == SASS_K_NONE) return SX_ONES;
    if (o->kind != SASS_K_PRED && o->kind != SASS_K_UPRED) {
        ww_sx_problem(b, WW_UNSUPPORTED, "a predicate of this kind");
        return SX_ONES;
    }
    if (o->flags & SASS_F_NOT) i->pneg |= (uint8_t)(1u << n);
    return o->reg == SASS_PT ? SX_ONES : predicate(b->k, o->kind == SASS_K_UPRED, o->reg);
}

uint32_t ww_sx_pred_dst(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot) {
    const struct ww_sass_operand *o = &in->opd[slot];
    if (o->kind == SASS_K_NONE || o->reg == SASS_PT) return SX_SINK;
    if (o->kind != SASS_K_PRED && o->kind != SASS_K_UPRED) {
        ww_sx_problem(b, WW_UNSUPPORTED, "a predicate of this kind");
        return SX_SINK;
    }
    return predicate(b->k, o->kind == SASS_K_UPRED, o->reg);
}

/* ---- code ---- */

uint32_t ww_sx_find(const struct sx_kernel *k, uint64_t address) {
    if (address % SASS_INSN_BYTES) return SX_NOWHERE;
    for (uint32_t n = 0; n < k->segment_count; n++) {
        const struct sx_segment *s = &k->segment[n];
        uint64_t at = (address - s->address) / SASS_INSN_BYTES;
        if (address >= s->address && at < s->count) return s->first + (uint32_t)at;
    }
    return SX_NOWHERE;
}

uint64_t ww_sx_address(const struct sx_kernel *k, uint32_t index) {
    for (uint32_t n = 0; n < k->segment_count; n++) {
        const struct sx_segment *s = &k->segment[n];
        if (index >= s->first && index - s->first < s->count)
            return s->address + (uint64_t)(index - s->first) * SASS_INSN_BYTES;
    }
    return 0;
}

static enum ww_code decode_segment(struct sx_kernel *k, const struct ww_cubin_kernel *text,
                                   struct ww_error *error) {
    uint32_t count = (uint32_t)(text->code_bytes / SASS_INSN_BYTES);
    struct sx_segment *s = &k->segment[k->segment_count];
    *s = (struct sx_segment){WW_CUBIN_CODE + text->code, k->count, count};
    WW_TRY(ww_sass_decode_all(k->cubin->arch, k->cubin->code.data + text->code, count * SASS_INSN_BYTES,
                              text->name, k->insn + k->count, error));
    k->segment_count++;
    k->count += count;
    return WW_OK;
}

/* The kernel's section first, then what it may call. */
static enum ww_code decode(struct sx_kernel *k, struct ww_error *error) {
    const struct ww_cubin *c = k->cubin;
    uint64_t count = k->entry->code_bytes / SASS_INSN_BYTES;
    uint32_t segments = 1;
    for (size_t n = 0; n < c->kernel_count; n++)
        if (!c->kernels[n].entry) {
            count += c->kernels[n].code_bytes / SASS_INSN_BYTES;
            segments++;
        }
    if (count > SX_CODE_LIMIT)
        return ww_fail(error, WW_UNSUPPORTED, k->entry->name, "%llu instructions: expected at most %u",
                       (unsigned long long)count, SX_CODE_LIMIT);
    k->segment = ww_arena_array(&k->arena, segments, sizeof *k->segment);
    k->insn = ww_arena_array(&k->arena, count, sizeof *k->insn);
    k->inst = ww_arena_array(&k->arena, count, sizeof *k->inst);
    if (!k->segment || !k->insn || !k->inst) return ww_fail_nomem(error, "decoding a kernel");
    WW_TRY(decode_segment(k, k->entry, error));
    for (size_t n = 0; n < c->kernel_count; n++)
        if (!c->kernels[n].entry) WW_TRY(decode_segment(k, &c->kernels[n], error));
    return WW_OK;
}

/* The file has as many rows as the code asks for, whatever the cubin says of registers. */
static void lay_out(struct sx_kernel *k, uint32_t registers, uint32_t uniforms) {
    k->registers = registers;
    k->uniforms = uniforms;
    k->uniform_at = SX_SINK + SX_WIDE * SX_ROW;
    k->barrier_at = k->uniform_at + k->uniforms * SX_ROW;
    k->return_at = k->barrier_at + k->barriers * SX_ROW;
    k->register_at = k->return_at + 2 * SX_ROW;
    k->predicate_at = k->register_at + k->registers * SX_ROW;
    k->file_bytes = k->predicate_at + SX_ROW;
}

/* What the kernel needs in addition to registers. */
static void look_over(struct sx_kernel *k) {
    for (uint32_t n = 0; n < k->count; n++) {
        if (k->insn[n].op == SASS_CALL) k->calls = true;
        for (unsigned s = 0; s < SASS_SLOTS; s++) {
            const struct ww_sass_operand *o = &k->insn[n].opd[s];
            bool is_barrier = (o->kind == SASS_K_BAR || o->kind == SASS_K_BREG) && o->reg < SX_CONVERGENCE;
            if (is_barrier && o->reg >= k->barriers) k->barriers = o->reg + 1u;
        }
    }
}

static void guard(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    i->guard_neg = in->guard_not;
    i->guard = in->guard == SASS_PT ? SX_ONES : predicate(b->k, in->guard_uniform, in->guard);
}

static bool pick(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    return ww_sx_pick_flow(b, in, i) || ww_sx_pick_memory(b, in, i) || ww_sx_pick_async(b, in, i) ||
           ww_sx_pick_bulk(b, in, i) || ww_sx_pick_atomic(b, in, i) || ww_sx_pick_warp(b, in, i) ||
           ww_sx_pick_special(b, in, i) || ww_sx_pick_texture(b, in, i) || ww_sx_pick_alu(b, in, i);
}

static enum ww_code fail_inst(const struct sx_builder *b, struct ww_error *error) {
    const struct ww_sass_insn *in = b->in;
    const struct ww_sass_opinfo *info = ww_sass_opinfo(in->op);
    char where[300];
    snprintf(where, sizeof where, "%.200s+0x%x", b->k->entry->name, in->offset);
    return ww_fail(error, b->code, where, "%s, instruction 0x%016llx%016llx of sm_%u: %s",
                   info ? info->name : "", (unsigned long long)in->raw[1], (unsigned long long)in->raw[0],
                   b->k->cubin->arch, b->problem);
}

static enum ww_code pick_all(struct sx_builder *b, struct ww_error *error) {
    struct sx_kernel *k = b->k;
    for (uint32_t n = 0; n < k->count; n++) {
        struct sx_inst *i = &k->inst[n];
        *i = (struct sx_inst){.src = &k->insn[n], .target = SX_NOWHERE};
        b->in = i->src;
        guard(b, b->in, i);
        bool never = i->guard == SX_ONES && i->guard_neg; /* @!PT: a no-op that fills a slot */
        if (never)
            ww_sx_pick_nop(i);
        else if (!pick(b, b->in, i))
            ww_sx_problem(b, WW_UNSUPPORTED, "the executor does not know this form");
        if (b->code != WW_OK) return fail_inst(b, error);
    }
    return WW_OK;
}

/* Twice: with all registers there are, to see how many are needed, then with those. The driver's functions get
 * and return values in R4 to R13. */
static enum ww_code build(struct sx_kernel *k, struct ww_error *error) {
    struct sx_builder b = {.k = k, .registers = DRIVER_REGISTERS};
    b.bucket = ww_arena_array(&k->arena, BUCKETS, sizeof *b.bucket);
    if (!b.bucket) return ww_fail_nomem(error, "decoding a kernel");
    look_over(k);
    lay_out(k, SX_MAX_REGISTERS, SASS_URZ);
    WW_TRY(pick_all(&b, error));
    lay_out(k, b.registers, b.uniforms);
    return pick_all(&b, error);
}

enum ww_code ww_sx_kernel_new(const struct ww_cubin *cubin, const struct ww_cubin_kernel *entry,
                              struct sx_kernel **out, struct ww_error *error) {
    struct sx_kernel *k = calloc(1, sizeof *k);
    if (!k) return ww_fail_nomem(error, "a kernel");
    ww_arena_init(&k->arena, (size_t)4 << 30);
    k->cubin = cubin;
    k->entry = entry;
    k->arch = ww_sx_arch_of(cubin->arch);
    enum ww_code code = WW_OK;
    if (!k->arch) code = ww_fail(error, WW_UNSUPPORTED, entry->name, "machine code of sm_%u", cubin->arch);
    if (code == WW_OK) code = decode(k, error);
    if (code == WW_OK) code = build(k, error);
    if (code != WW_OK) {
        ww_sx_kernel_free(k);
        return code;
    }
    *out = k;
    return WW_OK;
}

void ww_sx_kernel_free(struct sx_kernel *k) {
    if (!k) return;
    ww_arena_free(&k->arena);
    free(k);
}
