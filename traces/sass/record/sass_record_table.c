/* sass_record_table.c: the recorder's instruction table of a kernel of machine code. */
#include "../../../estimator/result/result.h"
#include "../../../estimator/base/hash.h"
#include "../code/sass_decode.h"
#include "../../ptx/exec/spin.h"
#include "../exec/access.h"
#include "module.h"
#include "../code/sass_print.h"
#include <string.h>

#define TEXT_ROOM 256        /* of an instruction as text */
#define OPERAND_REGISTERS 8u /* that the trace's operands take in a row */
#define BUCKETS 1024u

/* The table while it is built. Strings are found by hash: `next` chains those of a bucket. */
struct table {
    struct recorder *r;
    const struct sx_kernel *k;
    uint32_t limit; /* of strings */
    uint32_t bucket[BUCKETS], *next;
};

/* ---- operands ---- */

static void add(struct ww_operand *list, uint8_t *count, unsigned max, uint16_t reg, unsigned n, uint16_t end) {
    if (n == 0 || *count == max) return;
    if (n > OPERAND_REGISTERS) n = OPERAND_REGISTERS;
    if (reg + n > end) n = end - reg;
    list[(*count)++] = (struct ww_operand){.reg = reg, .n = (uint16_t)n};
}

static void add_source(struct ww_inst *inst, uint16_t reg, unsigned n, uint16_t end, uint8_t slot) {
    uint8_t before = inst->src_count;
    add(inst->src, &inst->src_count, WW_INST_SRC_MAX, reg, n, end);
    if (inst->src_count > before) inst->src_slot[before] = slot;
}

static void general(struct ww_inst *inst, unsigned reg, unsigned n, uint8_t slot) {
    if (reg != SASS_RZ) add_source(inst, (uint16_t)reg, n, SASS_RZ, slot);
}

static void uniform(struct ww_inst *inst, unsigned reg, unsigned n) {
    if (reg != SASS_URZ) add_source(inst, (uint16_t)(WW_REG_UNIFORM + reg), n, WW_REG_UPRED, 0);
}

static void predicate(struct ww_inst *inst, bool is_uniform, unsigned reg) {
    uint16_t base = is_uniform ? WW_REG_UPRED : WW_REG_PRED;
    if (reg != SASS_PT) add_source(inst, (uint16_t)(base + reg), 1, (uint16_t)(base + 8), 0);
}

static void add_slot(struct ww_inst *inst, const struct ww_sass_operand *o, uint8_t place) {
    uint8_t slot = (uint8_t)(place | (o->flags & SASS_F_REUSE ? WW_SLOT_REUSE : 0));
    switch (o->kind) {
    case SASS_K_REG:
        general(inst, o->reg, o->count ? o->count : 1, slot);
        break;
    case SASS_K_UREG:
        uniform(inst, o->reg, o->count ? o->count : 1);
        break;
    case SASS_K_PRED:
        predicate(inst, false, o->reg);
        break;
    case SASS_K_UPRED:
        predicate(inst, true, o->reg);
        break;
    case SASS_K_CONST:
        general(inst, o->reg, 1, slot);
        break;
    case SASS_K_CBIND:
        general(inst, o->reg, 1, slot);
        uniform(inst, o->ureg, 2);
        break;
    case SASS_K_MEM:
        general(inst, o->reg, o->flags & SASS_F_A64 ? 2 : 1, slot);
        uniform(inst, o->ureg, o->flags & SASS_F_UA64 ? 2 : 1);
        if (o->flags & SASS_F_DESC) uniform(inst, o->count, 2);
        break;
    case SASS_K_GDESC:
        uniform(inst, o->ureg, 4);
        break;
    case SASS_K_TDESC:
        uniform(inst, o->ureg, 2);
        break;
    default:
        break;
    }
}

static void add_sources(struct ww_inst *inst, const struct ww_sass_insn *in) {
    static const struct {
        uint8_t slot, place;
    } order[] = {{SASS_A, WW_SLOT_A}, {SASS_B, WW_SLOT_B}, {SASS_C, WW_SLOT_C}, {SASS_E, 0},
                 {SASS_PS, 0},        {SASS_PS2, 0},       {SASS_PS3, 0}};
    predicate(inst, in->guard_uniform, in->guard);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        add_slot(inst, &in->opd[order[i].slot], order[i].place);
}

/* A constant operand without an index; those of loads are addresses of their steps. */
static void add_constant(struct ww_inst *inst, const struct ww_sass_insn *in) {
    static const uint8_t place[] = {SASS_A, SASS_B, SASS_C};
    if (inst->space == WW_SPACE_CONST) return;
    for (size_t i = 0; i < sizeof place; i++) {
        const struct ww_sass_operand *o = &in->opd[place[i]];
        if (o->kind != SASS_K_CONST || o->imm < 0 || o->imm >> 24) continue;
        inst->flags |= WW_INST_CONST;
        inst->constant = (uint32_t)o->bank << 24 | (uint32_t)o->imm;
    }
}

static void add_results(struct ww_inst *inst, const struct ww_sass_insn *in) {
    static const uint8_t order[] = {SASS_D, SASS_D2, SASS_PD, SASS_PD2};
    if (inst->op == WW_OP_STORE || inst->op == WW_OP_REDUCE || inst->op == WW_OP_DMA) return;
    for (size_t i = 0; i < sizeof order; i++) {
        const struct ww_sass_operand *o = &in->opd[order[i]];
        unsigned n = o->count ? o->count : 1;
        if (o->kind == SASS_K_REG && o->reg != SASS_RZ)
            add(inst->dst, &inst->dst_count, WW_INST_DST_MAX, o->reg, n, SASS_RZ);
        if (o->kind == SASS_K_UREG && o->reg != SASS_URZ)
            add(inst->dst, &inst->dst_count, WW_INST_DST_MAX, (uint16_t)(WW_REG_UNIFORM + o->reg), n,
                WW_REG_UPRED);
        if ((o->kind == SASS_K_PRED || o->kind == SASS_K_UPRED) && o->reg != SASS_PT) {
            uint16_t base = o->kind == SASS_K_PRED ? WW_REG_PRED : WW_REG_UPRED;
            add(inst->dst, &inst->dst_count, WW_INST_DST_MAX, (uint16_t)(base + o->reg), 1,
                (uint16_t)(base + 8));
        }
    }
}

/* ---- memory, barriers ---- */

/* As the executor's; 16 is the trace's widest access. */
static uint8_t type_bytes(uint8_t type) {
    return type == SASS_T_B256 ? 16 : (uint8_t)ww_sx_type_bytes(type);
}

static bool has_addresses(const struct ww_sass_insn *in, uint8_t op) {
    if (op < WW_OP_LOAD || op > WW_OP_ASYNC_COPY) return false;
    return in->op != SASS_TXQ && in->op != SASS_SUQUERY && in->op != SASS_SYNCS && in->op != SASS_TMML;
}

static bool is_generic(const struct ww_sass_insn *in) {
    return in->op == SASS_LD || in->op == SASS_ST || in->op == SASS_ATOM || in->op == SASS_RED;
}

static bool is_bulk(const struct ww_sass_insn *in) {
    return in->op >= SASS_UBLKCP && in->op <= SASS_UTMAPF;
}

/* A bulk copy: its steps are copies, or stores, of 16 bytes a lane; within a cluster they are stores to shared
 * memory.
 */
static void describe_bulk(struct ww_inst *inst, const struct ww_sass_insn *in) {
    bool linear = in->op == SASS_UBLKCP || in->op == SASS_UBLKRED;
    if (linear && !in->mod[SASS_M_DST]) inst->op = WW_OP_STORE;
    if (linear && in->mod[SASS_M_DST] && in->mod[SASS_M_SRC]) {
        inst->op = WW_OP_STORE;
        inst->space = WW_SPACE_SHARED;
    }
    inst->flags |= WW_INST_ACCESS;
    if (inst->op == WW_OP_ASYNC_COPY) inst->flags |= WW_INST_BYPASS_L1;
    inst->width = 16;
}

/* Arrivals and waits at mbarriers; of SYNCS the other operations are so, too, and tell of nothing. */
static bool is_mbarrier(const struct ww_sass_insn *in) {
    bool arrives = in->op == SASS_ATOMS && in->mod[SASS_M_ATOM] == SASS_ATOM_ARRIVE;
    return in->op == SASS_ARRIVES || arrives || (in->op == SASS_SYNCS && in->mod[SASS_M_VARIANT] != 4);
}

static void describe_mbarrier(struct ww_inst *inst, const struct ww_sass_insn *in) {
    bool waits = in->op == SASS_SYNCS && in->opd[SASS_PD].kind != SASS_K_NONE;
    inst->op = WW_OP_BARRIER;
    inst->space = WW_SPACE_NONE;
    inst->barrier = WW_MBARRIER;
    inst->flags |= WW_INST_ACCESS | (waits ? 0 : WW_INST_BAR_ARRIVE);
}

static void describe_memory(struct ww_inst *inst, const struct ww_sass_insn *in) {
    bool rows = in->op == SASS_LDSM || in->op == SASS_STSM;
    bool far = in->mod[SASS_M_ORDER] >= SASS_STRONG &&
               (in->mod[SASS_M_SCOPE] == SASS_SCOPE_GPU || in->mod[SASS_M_SCOPE] == SASS_SCOPE_SYS);
    inst->flags |= WW_INST_ACCESS;
    inst->width = rows ? 16 : inst->op == WW_OP_TEXTURE ? 4 : type_bytes(in->mod[SASS_M_TYPE]);
    if (is_generic(in)) inst->space = WW_SPACE_GLOBAL;
    if (inst->op == WW_OP_LOAD && far) inst->flags |= WW_INST_BYPASS_L1;
    if (inst->op == WW_OP_ASYNC_COPY && in->mod[SASS_M_BYPASS]) inst->flags |= WW_INST_BYPASS_L1;
    if (inst->op == WW_OP_LOAD && in->mod[SASS_M_ORDER] == SASS_CONSTANT) inst->flags |= WW_INST_READ_ONLY;
    if (in->mod[SASS_M_EVICT] == SASS_EV_FIRST) inst->flags |= WW_INST_STREAM;
}

/* BAR: number in A, threads in B, as numbers or registers. */
static void describe_barrier(struct ww_inst *inst, const struct ww_sass_insn *in) {
    const struct ww_sass_operand *number = &in->opd[SASS_A], *threads = &in->opd[SASS_B];
    if (in->op != SASS_BAR) return;
    if (in->mod[SASS_M_BAR] == SASS_BAR_ARV) inst->flags |= WW_INST_BAR_ARRIVE;
    if (number->kind == SASS_K_REG || threads->kind == SASS_K_REG) {
        inst->flags |= WW_INST_ACCESS;
        return;
    }
    if (number->kind == SASS_K_IMM) inst->barrier = (uint8_t)(number->imm & 15);
    if (threads->kind == SASS_K_IMM) inst->barrier_threads = (uint16_t)(threads->imm & 0xfff);
}

/* DEPBAR: scoreboard in A, level in B, others in E. */
static void describe_depbar(struct ww_inst *inst, const struct ww_sass_insn *in) {
    const struct ww_sass_operand *one = &in->opd[SASS_A], *level = &in->opd[SASS_B], *set = &in->opd[SASS_E];
    inst->barrier = one->kind == SASS_K_SB ? (uint8_t)(one->reg & 7) : (uint8_t)WW_CONTROL_NO_BARRIER;
    inst->barrier_threads = (uint16_t)((level->kind == SASS_K_IMM ? level->imm & 63 : 0) |
                                       (set->kind == SASS_K_SBSET ? (set->imm & 63) << 6 : 0));
}

/* Matrix instructions of a warpgroup are waited for by groups; three bits say whether one ends a group. */
static void describe_group(struct ww_inst *inst, const struct ww_sass_insn *in) {
    bool one = in->op == SASS_HGMMA || in->op == SASS_IGMMA || in->op == SASS_QGMMA || in->op == SASS_BGMMA;
    if (one && !(in->raw[1] >> 20 & 7u)) inst->flags |= WW_INST_GROUP_END;
    if (in->op != SASS_WARPGROUP || !in->mod[SASS_M_EXTRA]) return;
    inst->flags |= WW_INST_GROUP_WAIT;
    inst->barrier_threads = (uint16_t)(in->opd[SASS_B].imm & 63);
}

static void describe_branch(struct ww_inst *inst, const struct ww_sass_insn *in) {
    const struct ww_sass_operand *to = &in->opd[SASS_E];
    bool jumps = in->op == SASS_BRA || in->op == SASS_BRX || in->op == SASS_JMP || in->op == SASS_BRXU;
    bool chosen =
        in->guard != SASS_PT || (in->opd[SASS_PS].kind != SASS_K_NONE && in->opd[SASS_PS].reg != SASS_PT);
    if (jumps && chosen) inst->flags |= WW_INST_BRANCH_COND;
    if (in->op == SASS_BRA && to->kind == SASS_K_LABEL && to->imm >= 0 && (uint64_t)to->imm <= in->offset)
        inst->flags |= WW_INST_BACK_EDGE;
}

void ww_sx_describe(struct ww_inst *inst, const struct ww_sass_insn *in, uint32_t pc) {
    const struct ww_sass_opinfo *info = ww_sass_opinfo(in->op);
    *inst = (struct ww_inst){.pc = pc,
                             .op = (uint8_t)info->class,
                             .flags = WW_INST_CONTROL,
                             .control = {.stall = in->ctl.stall,
                                         .yield = in->ctl.yield,
                                         .write_barrier = in->ctl.wr_bar,
                                         .read_barrier = in->ctl.rd_bar,
                                         .wait = in->ctl.wait,
                                         .reuse = in->ctl.reuse}};
    if (inst->op >= WW_OP_LOAD && inst->op <= WW_OP_ASYNC_COPY) inst->space = (uint8_t)info->space;
    if (is_mbarrier(in)) describe_mbarrier(inst, in);
    if (inst->op == WW_OP_BARRIER) describe_barrier(inst, in);
    if (in->op == SASS_DEPBAR) describe_depbar(inst, in);
    describe_group(inst, in);
    if (inst->op == WW_OP_SLEEP) inst->flags |= WW_INST_ACCESS;
    if (inst->op == WW_OP_BRANCH) describe_branch(inst, in);
    if (is_bulk(in))
        describe_bulk(inst, in);
    else if (has_addresses(in, inst->op))
        describe_memory(inst, in);
    add_results(inst, in);
    add_sources(inst, in);
    add_constant(inst, in);
}

/* ---- strings ---- */

static enum ww_code intern(struct table *t, const char *s, bool copy, uint32_t *index, struct ww_error *error) {
    struct recorder *r = t->r;
    uint32_t *head = &t->bucket[ww_hash_bytes(s, strlen(s), 0) % BUCKETS];
    *index = 0;
    if (!*s) return WW_OK;
    for (uint32_t n = *head; n; n = t->next[n]) {
        if (strcmp(r->string[n], s) != 0) continue;
        *index = n;
        return WW_OK;
    }
    if (r->string_count == t->limit)
        return ww_fail(error, WW_INTERNAL, "instruction table", "too many strings");
    r->string[r->string_count] = copy ? ww_arena_strdup(&r->arena, s) : s;
    if (!r->string[r->string_count]) return ww_fail_nomem(error, "instruction table");
    t->next[r->string_count] = *head;
    *head = *index = r->string_count++;
    return WW_OK;
}

static enum ww_code name(struct table *t, const struct ww_sass_insn *in, uint32_t index, struct ww_inst *inst,
                         struct ww_error *error) {
    char text[TEXT_ROOM];
    const char *file;
    ww_sass_print(in, text, sizeof text);
    char *mnemonic = text; /* between the guard and the operands */
    if (*mnemonic == '@') mnemonic += strcspn(mnemonic, " ");
    mnemonic += strspn(mnemonic, " ");
    mnemonic[strcspn(mnemonic, " ")] = 0;
    WW_TRY(intern(t, mnemonic, true, &inst->mnemonic, error));
    uint64_t address = ww_sx_address(t->k, index) - WW_CUBIN_CODE;
    const struct ww_cubin_kernel *section = ww_cubin_section_at(t->k->cubin, address);
    if (section && ww_cubin_line(t->k->cubin, section, address - section->code, &file, &inst->line))
        return intern(t, file, false, &inst->file, error);
    return WW_OK;
}

/* ---- the table ---- */

static enum ww_code start(struct table *t, struct ww_error *error) {
    struct recorder *r = t->r;
    uint64_t count = 4 * (uint64_t)t->k->count, strings = 1 + t->k->cubin->file_count + (uint64_t)t->k->count;
    ww_spin_free(r);
    ww_arena_free(&r->arena);
    ww_arena_init(&r->arena, (size_t)2 << 30);
    r->entry_count = 0;
    r->entry = ww_arena_array(&r->arena, count, sizeof *r->entry);
    r->inst = ww_arena_array(&r->arena, count, sizeof *r->inst);
    r->string = ww_arena_array(&r->arena, strings, sizeof *r->string);
    t->next = ww_arena_array(&r->arena, strings, sizeof *t->next);
    if (!r->entry || !r->inst || !r->string || !t->next || count > UINT32_MAX / 2)
        return ww_fail_nomem(error, "instruction table");
    r->string[0] = "";
    r->string_count = 1;
    t->limit = (uint32_t)strings;
    return WW_OK;
}

static bool completes(const struct ww_sass_insn *in) {
    return is_bulk(in) || in->op == SASS_STAS || in->op == SASS_REDAS;
}

/* What a bulk copy, or an asynchronous store, completes at an mbarrier is a step of its own. */
static void add_transaction(struct recorder *r, uint32_t of) {
    ww_recorder_add_twin(r, of, WW_SPACE_NONE);
    struct ww_inst *inst = &r->inst[r->entry_count - 1];
    struct record_entry *e = &r->entry[r->entry_count - 1];
    inst->op = e->op = WW_OP_BARRIER;
    inst->space = e->space = WW_SPACE_NONE;
    inst->barrier = WW_MBARRIER;
    inst->flags = WW_INST_ACCESS | WW_INST_BAR_ARRIVE;
    inst->width = inst->dst_count = inst->src_count = 0;
    e->access = true;
    memset(e->twin, 0, sizeof e->twin);
}

/* What of a loop may branch: out of it, or to where lanes meet again. */
static bool leaves(const struct ww_sass_insn *in, const struct sx_inst *i, const struct spin_loop *loop) {
    if (in->op == SASS_BRA)
        return i->target != SX_NOWHERE && (i->target < loop->first || i->target > loop->last);
    return in->op == SASS_BSSY || in->op == SASS_BSYNC || in->op == SASS_BREAK || in->op == SASS_YIELD;
}

/* The loop that ends with the branch. */
static enum ww_code add_loop(struct recorder *r, const struct sx_kernel *k, uint32_t branch,
                             struct ww_error *error) {
    struct spin_loop loop = {.first = k->inst[branch].target, .last = branch};
    if (branch - loop.first >= SPIN_LENGTH) return WW_OK;
    for (uint32_t n = loop.first; n < branch; n++) {
        bool never = k->insn[n].guard == SASS_PT && k->insn[n].guard_not && !k->insn[n].guard_uniform;
        if (never) loop.never |= 1ull << (n - loop.first);
        if (never) continue;
        if (r->inst[n].op == WW_OP_BRANCH && !leaves(&k->insn[n], &k->inst[n], &loop)) return WW_OK;
        if (k->insn[n].guard != SASS_PT || k->insn[n].guard_not) loop.guarded |= 1ull << (n - loop.first);
    }
    return ww_spin_add(r, &loop, error);
}

enum ww_code ww_sx_table(struct recorder *r, const struct sx_kernel *k, struct ww_error *error) {
    struct table t = {.r = r, .k = k};
    WW_TRY(start(&t, error));
    for (uint32_t n = 0; n < k->count; n++) {
        struct ww_inst *inst = &r->inst[n];
        ww_sx_describe(inst, &k->insn[n], n * SASS_INSN_BYTES);
        WW_TRY(name(&t, &k->insn[n], n, inst, error));
        r->entry[n] = (struct record_entry){.space = inst->space,
                                            .op = inst->op,
                                            .access = (inst->flags & WW_INST_ACCESS) != 0,
                                            .conditional = (inst->flags & WW_INST_BRANCH_COND) != 0};
    }
    r->entry_count = k->count;
    for (uint32_t n = 0; n < k->count; n++) {
        if (completes(&k->insn[n])) add_transaction(r, n);
        if (!is_generic(&k->insn[n])) continue;
        ww_recorder_add_twin(r, n, WW_SPACE_SHARED);
        ww_recorder_add_twin(r, n, WW_SPACE_LOCAL);
    }
    for (uint32_t n = 0; n < k->count; n++)
        if (k->insn[n].op == SASS_BRA && k->inst[n].target <= n) WW_TRY(add_loop(r, k, n, error));
    return WW_OK;
}
