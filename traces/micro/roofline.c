/* Words that are read and multiplied. */
#include "internal.h"

#define START ((uint64_t)1 << 36)
#define BOARD_WORDS 4000u /* of a thread on the board: the arrays are so far apart, in whole pages */
#define PAGE ((uint64_t)2 << 20)

enum { AT_ONCE = 4 };
/* Registers: address, sum, values of both arrays, chains. */
enum { ADDRESS = 4, SUM = 6, VALUE = 8, CHAIN = VALUE + 2 * AT_ONCE, REGISTERS = CHAIN + AT_ONCE };
/* Instructions; those of chain k follow the first of their kind. */
enum {
    ADD,
    LOAD,
    SUBTRACT = LOAD + 2 * AT_ONCE,
    FMA = SUBTRACT + AT_ONCE,
    LAST = FMA + AT_ONCE, /* the same, whose operands are not kept */
    COLLECT = LAST + AT_ONCE,
    EXIT = COLLECT + AT_ONCE,
    INST_COUNT
};

static struct ww_operand word(uint32_t reg) {
    return (struct ww_operand){(uint16_t)reg, 1};
}

static void addresses(const struct ww_micro *m, uint64_t cta, uint32_t warp, struct ww_access *out) {
    const struct ww_micro_roofline *r = &m->roofline;
    uint64_t at = (cta * r->cta_size + warp * 32u) * 4, row = (uint64_t)r->ctas * r->cta_size * 4;
    uint64_t apart = (row * BOARD_WORDS + PAGE - 1) / PAGE * PAGE;
    for (uint32_t i = 0; i < r->words; i += AT_ONCE)
        for (uint32_t k = 0; k < 2 * AT_ONCE; k++)
            *out++ = (struct ww_access){START + k % 2 * apart + at + (i + k / 2) * row, 4, WW_AFFINE};
}

static void set(struct ww_inst *inst, enum ww_op op, uint32_t to, uint32_t a, uint32_t b, uint32_t c) {
    inst->op = (uint8_t)op;
    inst->mnemonic = op == WW_OP_INT ? WW_MICRO_USE : c ? WW_MICRO_FFMA : WW_MICRO_FADD;
    inst->dst_count = 1;
    inst->dst[0] = word(to);
    inst->src_count = c ? 3 : 2;
    inst->src[0] = word(a);
    inst->src[1] = word(b);
    if (c) inst->src[2] = word(c);
}

/* As ptxas marks them for the operand cache, at the places of factor and addend: both chains of a pass have the
 * same two. Of six in a row the last is not marked: of 160 that ptxas 13 writes for sm_80, 133 are. */
enum { MARKED_OF = 6 };

static void set_chain(struct ww_inst *inst, uint32_t v, uint32_t a, uint32_t b, bool kept) {
    set(inst, WW_OP_FP32, v, v, a, b);
    inst->flags |= WW_INST_CONTROL;
    inst->control = (struct ww_control){.stall = 1,
                                        .write_barrier = WW_CONTROL_NO_BARRIER,
                                        .read_barrier = WW_CONTROL_NO_BARRIER,
                                        .reuse = kept ? 6 : 0};
    inst->src_slot[0] = WW_SLOT_A;
    inst->src_slot[1] = (uint8_t)(WW_SLOT_B | (kept ? WW_SLOT_REUSE : 0));
    inst->src_slot[2] = (uint8_t)(WW_SLOT_C | (kept ? WW_SLOT_REUSE : 0));
}

static void set_instructions(struct ww_micro *m) {
    set(&m->inst[ADD], WW_OP_INT, ADDRESS, ADDRESS, ADDRESS, 0);
    for (uint32_t k = 0; k < 2 * AT_ONCE; k++) {
        struct ww_inst *load = &m->inst[LOAD + k];
        ww_micro_set_path(load, WW_MICRO_GLOBAL);
        load->width = 4;
        load->dst_count = load->src_count = 1;
        load->dst[0] = word(VALUE + k);
        load->src[0] = word(ADDRESS);
    }
    for (uint32_t k = 0; k < AT_ONCE; k++) {
        uint32_t a = VALUE + 2 * k, b = a + 1, v = CHAIN + k;
        set(&m->inst[SUBTRACT + k], WW_OP_FP32, v, a, b, 0);
        set_chain(&m->inst[FMA + k], v, a - k % 2 * 2, b - k % 2 * 2, true);
        set_chain(&m->inst[LAST + k], v, a - k % 2 * 2, b - k % 2 * 2, false);
        set(&m->inst[COLLECT + k], WW_OP_FP32, SUM, SUM, v, 0);
    }
    m->inst[EXIT].op = WW_OP_EXIT;
    m->inst[EXIT].mnemonic = WW_MICRO_EXIT;
}

/* One pass over four pairs. */
static uint32_t pass(const struct ww_micro_roofline *r, struct ww_step *s) {
    uint32_t n = 0;
    for (uint32_t i = ADD; i < SUBTRACT; i++) s[n++] = (struct ww_step){i, UINT32_MAX};
    for (uint32_t k = 0; k < AT_ONCE; k += 2) {
        for (uint32_t i = 0; i < 2; i++) s[n++] = (struct ww_step){SUBTRACT + k + i, UINT32_MAX};
        for (uint32_t i = 0; i < 2 * r->rounds; i++) s[n++] = (struct ww_step){FMA + k + i % 2, UINT32_MAX};
        for (uint32_t i = 0; i < 2; i++) s[n++] = (struct ww_step){COLLECT + k + i, UINT32_MAX};
    }
    return n;
}

enum ww_code ww_micro_roofline(const struct ww_micro_roofline *what, struct ww_micro **out,
                               struct ww_error *error) {
    *out = NULL;
    if (what->ctas == 0 || what->cta_size == 0 || what->cta_size > 1024 || what->cta_size % 32 ||
        what->words == 0 || what->words % AT_ONCE || what->words > 100000 || what->rounds > 100000)
        return ww_fail(error, WW_USAGE, "roofline", "%u CTAs of %u threads, %u words, %u rounds", what->ctas,
                       what->cta_size, what->words, what->rounds);
    size_t one = SUBTRACT + 2 * AT_ONCE + (size_t)AT_ONCE * what->rounds;
    WW_TRY(ww_micro_new("roofline", what->ctas, what->cta_size, INST_COUNT, one * (what->words / AT_ONCE) + 1,
                        out, error));
    struct ww_micro *m = *out;
    uint32_t n = 0;
    m->roofline = *what;
    m->addresses = addresses;
    m->launch.registers_per_thread = REGISTERS;
    set_instructions(m);
    for (uint32_t i = 0; i < what->words; i += AT_ONCE) n += pass(what, m->step + n);
    m->step[n++] = (struct ww_step){EXIT, UINT32_MAX};
    m->step_count = n;
    m->access_count = 2 * what->words;
    return WW_OK;
}
