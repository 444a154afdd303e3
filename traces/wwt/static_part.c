/* The static part of a launch: names, strings and the instruction table. */
#include "../../estimator/result/result.h"
#include "format.h"
#include "index.h"
#include <string.h>

void ww_wwt_put_string(struct ww_buf *b, const char *s) {
    size_t n = s ? strlen(s) : 0;
    ww_buf_varint(b, s ? n + 1 : 0);
    ww_buf_append(b, s, n);
}

const char *ww_wwt_get_string(struct ww_cursor *c, struct ww_arena *arena) {
    uint64_t n = ww_cursor_varint(c);
    if (n == 0) return NULL;
    const char *p = n - 1 <= (uint64_t)(c->end - c->p) ? ww_cursor_bytes(c, (size_t)(n - 1)) : NULL;
    char *s = p && !memchr(p, 0, (size_t)(n - 1)) ? ww_arena_strndup(arena, p, (size_t)(n - 1)) : NULL;
    if (!s) c->failed = true;
    return s;
}

/* Stall 4 bits, yield 1, barriers 3 each, wait 6, reuse 4; then the places of the sources. */
static void put_control(struct ww_buf *b, const struct ww_inst *i) {
    const struct ww_control *c = &i->control;
    ww_buf_varint(b, (uint32_t)c->stall | (uint32_t)c->yield << 4 | (uint32_t)c->write_barrier << 5 |
                         (uint32_t)c->read_barrier << 8 | (uint32_t)c->wait << 11 | (uint32_t)c->reuse << 17);
    ww_buf_append(b, i->src_slot, i->src_count);
}

static void put_inst(struct ww_buf *b, const struct ww_inst *i, const struct ww_inst *before) {
    ww_buf_svarint(b, (int64_t)i->pc - before->pc);
    unsigned char bytes[] = {i->op, i->space, i->width, i->dst_count, i->src_count, i->barrier};
    ww_buf_append(b, bytes, sizeof bytes);
    ww_buf_varint(b, i->barrier_threads);
    ww_buf_varint(b, i->flags);
    for (int k = 0; k < i->dst_count + i->src_count; k++) {
        const struct ww_operand *o = k < i->dst_count ? &i->dst[k] : &i->src[k - i->dst_count];
        ww_buf_varint(b, o->reg);
        ww_buf_varint(b, o->n);
    }
    ww_buf_varint(b, i->mnemonic);
    ww_buf_varint(b, i->file);
    ww_buf_svarint(b, (int64_t)i->line - before->line);
    if (i->flags & (WW_INST_SMEM_ALLOC | WW_INST_SMEM_FREE)) ww_buf_varint(b, i->bytes);
    if (i->flags & WW_INST_CONTROL) put_control(b, i);
    if (i->flags & WW_INST_CONST) ww_buf_varint(b, i->constant);
}

void ww_wwt_put_code(struct ww_buf *b, const struct ww_launch *launch) {
    static const struct ww_inst zero;
    ww_wwt_put_string(b, launch->kernel);
    ww_wwt_put_string(b, launch->arch);
    ww_buf_varint(b, launch->string_count);
    for (uint32_t i = 0; i < launch->string_count; i++) ww_wwt_put_string(b, launch->string[i]);
    ww_buf_varint(b, launch->inst_count);
    for (uint32_t i = 0; i < launch->inst_count; i++)
        put_inst(b, &launch->inst[i], i ? &launch->inst[i - 1] : &zero);
}

/* A number that must fit in `bits`; marks the cursor failed if it does not. */
static uint32_t get_small(struct ww_cursor *c, unsigned bits) {
    uint64_t v = ww_cursor_varint(c);
    if (v >> bits) c->failed = true;
    return (uint32_t)v;
}

static uint32_t get_delta(struct ww_cursor *c, uint32_t before) {
    int64_t d = ww_cursor_svarint(c);
    if (d < -(int64_t)before || d > (int64_t)UINT32_MAX - (int64_t)before) c->failed = true;
    return c->failed ? 0 : (uint32_t)((int64_t)before + d);
}

static void get_control(struct ww_cursor *c, struct ww_inst *i) {
    uint32_t v = get_small(c, 21);
    const void *slots = ww_cursor_bytes(c, i->src_count);
    i->control = (struct ww_control){.stall = v & 15,
                                     .yield = v >> 4 & 1,
                                     .write_barrier = v >> 5 & 7,
                                     .read_barrier = v >> 8 & 7,
                                     .wait = v >> 11 & 63,
                                     .reuse = (uint8_t)(v >> 17)};
    if (slots) memcpy(i->src_slot, slots, i->src_count);
}

static void get_inst(struct ww_cursor *c, uint32_t version, struct ww_inst *i, const struct ww_inst *before) {
    i->pc = get_delta(c, before->pc);
    const unsigned char *bytes = ww_cursor_bytes(c, 6);
    if (!bytes || bytes[3] > WW_INST_DST_MAX || bytes[4] > WW_INST_SRC_MAX) {
        c->failed = true;
        return;
    }
    i->op = bytes[0];
    i->space = bytes[1];
    i->width = bytes[2];
    i->dst_count = bytes[3];
    i->src_count = bytes[4];
    i->barrier = bytes[5];
    i->barrier_threads = (uint16_t)get_small(c, 16);
    i->flags = get_small(c, 32);
    for (int k = 0; k < i->dst_count + i->src_count; k++) {
        struct ww_operand *o = k < i->dst_count ? &i->dst[k] : &i->src[k - i->dst_count];
        o->reg = (uint16_t)get_small(c, 16);
        o->n = (uint16_t)get_small(c, 16);
    }
    i->mnemonic = get_small(c, 32);
    i->file = get_small(c, 32);
    i->line = get_delta(c, before->line);
    if (i->flags & (WW_INST_SMEM_ALLOC | WW_INST_SMEM_FREE)) i->bytes = get_small(c, 32);
    if (i->flags & WW_INST_CONTROL) {
        if (version < WW_WWT_VERSION_MACHINE) c->failed = true;
        get_control(c, i);
    }
    if (i->flags & WW_INST_CONST) {
        if (version < WW_WWT_VERSION_MACHINE) c->failed = true;
        i->constant = get_small(c, 32);
    }
}

static bool get_strings(struct ww_cursor *c, struct ww_arena *arena, struct ww_launch *launch) {
    uint64_t n = ww_cursor_varint(c);
    if (n > (uint64_t)(c->end - c->p)) return false;
    const char **string = ww_arena_array(arena, (size_t)n, sizeof *string);
    if (!string) return false;
    for (uint64_t i = 0; i < n; i++)
        if (!(string[i] = ww_wwt_get_string(c, arena))) return false;
    launch->string = string;
    launch->string_count = (uint32_t)n;
    return true;
}

bool ww_wwt_get_code(struct ww_cursor *c, uint32_t version, struct ww_arena *arena, struct ww_launch *launch,
                     const char **why) {
    static const struct ww_inst zero;
    *why = "its code table is malformed";
    launch->kernel = ww_wwt_get_string(c, arena);
    launch->arch = ww_wwt_get_string(c, arena);
    if (!get_strings(c, arena, launch)) return false;
    uint64_t n = ww_cursor_varint(c);
    if (c->failed || n > WW_WWT_INST_MAX || n > (uint64_t)(c->end - c->p)) return false;
    struct ww_inst *inst = ww_arena_array(arena, (size_t)n, sizeof *inst);
    if (!inst) return false;
    for (uint64_t i = 0; i < n && !c->failed; i++) get_inst(c, version, &inst[i], i ? &inst[i - 1] : &zero);
    launch->inst = inst;
    launch->inst_count = (uint32_t)n;
    if (c->failed) return false;
    *why = ww_wwt_check_code(launch);
    return *why == NULL;
}

/* An allocation is a barrier of all threads that waits. */
static const char *check_smem(const struct ww_inst *i) {
    uint32_t smem = i->flags & (WW_INST_SMEM_ALLOC | WW_INST_SMEM_FREE);
    if (!smem) return NULL;
    if (i->op != WW_OP_BARRIER || i->barrier_threads || (i->flags & (WW_INST_ACCESS | WW_INST_BAR_ARRIVE)))
        return "shared memory is allocated or freed (flags 128, 256) elsewhere than at a barrier of all "
               "threads";
    if (smem == (WW_INST_SMEM_ALLOC | WW_INST_SMEM_FREE) || i->bytes == 0)
        return "a barrier allocates and frees shared memory, or none of it";
    return NULL;
}

const char *ww_wwt_check_class(const struct ww_inst *i) {
    bool value = i->op == WW_OP_BARRIER || i->op == WW_OP_SLEEP || i->op == WW_OP_DMA;
    bool memory = i->op >= WW_OP_LOAD && i->op <= WW_OP_ASYNC_COPY;
    if ((i->op == WW_OP_STORE || i->op == WW_OP_REDUCE) && i->dst_count)
        return "a store or reduce has a destination; expected none, for it returns no result";
    if ((i->flags & WW_INST_ACCESS) && !memory && !value)
        return "an instruction has accesses (flag 1), but its class has none";
    if (i->op == WW_OP_DMA && (i->dst_count || i->space != WW_SPACE_NONE))
        return "a bulk transfer has a destination or a memory space; expected neither";
    if (memory && (i->flags & WW_INST_ACCESS) && i->space == WW_SPACE_NONE)
        return "an instruction has addresses (flag 1), but no memory space";
    if ((i->flags & WW_INST_WAIT) &&
        (i->op != WW_OP_LOAD || i->space != WW_SPACE_GLOBAL || !(i->flags & WW_INST_ACCESS)))
        return "an instruction waits for a write (flag 8192) that is not a global load with addresses";
    return check_smem(i);
}

static const char *check_operand(const struct ww_operand *o) {
    if (o->n > WW_WWT_OPERAND_MAX) return "an operand has more than 8 registers in a row";
    if ((uint32_t)o->reg + o->n > WW_REG_COUNT) return "an operand names registers that do not exist";
    return NULL;
}

static const char *check_control(const struct ww_inst *i) {
    const struct ww_control *c = &i->control;
    if (!(i->flags & WW_INST_CONTROL)) return NULL;
    if (c->stall > 15 || c->yield > 1 || c->write_barrier > 7 || c->read_barrier > 7 || c->wait > 63 ||
        c->reuse > 15)
        return "a control field is larger than its bits";
    for (int k = 0; k < i->src_count; k++)
        if (i->src_slot[k] > (WW_SLOT_PLACE | WW_SLOT_REUSE)) return "a source's place is unknown";
    return NULL;
}

static const char *check_inst(const struct ww_launch *launch, const struct ww_inst *i) {
    if (i->op >= WW_OP_COUNT) return "an instruction's class is unknown";
    if (i->space >= WW_SPACE_COUNT) return "an instruction's memory space is unknown";
    if (i->width > 16 || (i->width & (i->width - 1))) return "an access width is not 0, 1, 2, 4, 8 or 16";
    if (i->dst_count > WW_INST_DST_MAX || i->src_count > WW_INST_SRC_MAX)
        return "an instruction has too many operands";
    for (int k = 0; k < i->dst_count + i->src_count; k++) {
        const char *why = check_operand(k < i->dst_count ? &i->dst[k] : &i->src[k - i->dst_count]);
        if (why) return why;
    }
    if (i->mnemonic >= launch->string_count || i->file >= launch->string_count)
        return "an instruction names a string that does not exist";
    const char *why = check_control(i);
    return why ? why : ww_wwt_check_class(i);
}

const char *ww_wwt_check_code(const struct ww_launch *launch) {
    if (!launch->kernel || !launch->arch) return "a launch has no kernel name or architecture";
    if (launch->string_count == 0 || !launch->string[0] || launch->string[0][0])
        return "string 0 of a launch is not \"\"";
    if (launch->inst_count > WW_WWT_INST_MAX) return "a launch has more than 1048576 static instructions";
    for (uint32_t i = 0; i < launch->string_count; i++)
        if (!launch->string[i]) return "a string of a launch is NULL";
    for (uint32_t i = 0; i < launch->inst_count; i++) {
        const char *why = check_inst(launch, &launch->inst[i]);
        if (why) return why;
    }
    return NULL;
}

const char *ww_wwt_check_shape(struct ww_launch *launch) {
    uint64_t ctas, threads;
    const uint32_t *g = launch->grid, *b = launch->block;
    if (!g[0] || !g[1] || !g[2] || !b[0] || !b[1] || !b[2]) return "a grid or block dimension is 0";
    if (__builtin_mul_overflow((uint64_t)g[0] * g[1], g[2], &ctas) || ctas == UINT64_MAX)
        return "the grid has more than 2^64 - 2 CTAs";
    if (__builtin_mul_overflow((uint64_t)b[0] * b[1], b[2], &threads) || threads > 32 * WW_WWT_WARPS_MAX)
        return "a CTA has more than 2048 threads";
    launch->cta_count = ctas;
    launch->warps_per_cta = (uint32_t)((threads + 31) / 32);
    return NULL;
}
