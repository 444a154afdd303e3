/* lower_value.c: what needs no instruction: names of other values, constants, folded producers. */
#include "lower.h"
#include <string.h>

static bool is_int_cvt(const struct ptx_inst *i) {
    return !ww_lower_is_float(i->type[0]) && !ww_lower_is_float(i->type[1]) && !(i->mods & PTX_M_SAT);
}

static bool is_signed(uint8_t type) {
    return type >= PTX_T_S8 && type <= PTX_T_S64;
}

/* A conversion that changes no bit that is read. */
static bool is_renaming(const struct lower *l, const struct ptx_inst *i) {
    if (i->opnd_count != 2 || i->guard >= 0 || i->opnd[0].kind != PTX_O_REG) return false;
    const struct ptx_operand *s = &i->opnd[1];
    if (s->kind != PTX_O_REG) return false;
    if (i->op == PTX_MOV) return true;
    if (i->op == PTX_CVTA) return true; /* generic and specific addresses are one number here */
    if (i->op != PTX_CVT || !is_int_cvt(i)) return false;
    uint32_t to = ww_ptx_type_bytes(i->type[0]), from = ww_ptx_type_bytes(i->type[1]);
    if (to <= from) return to >= 2; /* the low part of the register; reading it as 8 bits masks */
    if (to == 8 && from == 4) {     /* a zero high word costs nothing where words are read one by one */
        const struct lower_value *v = &l->value[i->opnd[0].reg];
        return !v->high || (!is_signed(i->type[1]) && !(v->kinds & (USE_ADDR_WIDE | USE_DATA)));
    }
    if (from >= 4) return false;
    uint32_t def = l->value[s->reg].def; /* a narrow load has extended its result already */
    const struct ptx_inst *d = def == UINT32_MAX ? NULL : &l->func->inst[def];
    return to <= 4 && d && d->op == PTX_LD && is_signed(d->type[0]) == is_signed(i->type[1]) &&
           ww_ptx_type_bytes(d->type[0]) <= from;
}

static void find_roots(struct lower *l) {
    const struct ptx_func *f = l->func;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->inst[i];
        if (!l->live[i] || !in->dst_count || in->opnd[0].kind != PTX_O_REG) continue;
        struct lower_value *v = &l->value[in->opnd[0].reg];
        if (v->def != i || !is_renaming(l, in)) continue;
        const struct lower_value *s = &l->value[in->opnd[1].reg];
        if (s->defs != 1 || s->def >= i) continue;
        v->root = s->root;
        if (v->high && ww_ptx_type_bytes((enum ptx_type)f->reg[in->opnd[0].reg].type) == 8)
            l->value[s->root].high = true;
        l->live[i] = false;
    }
}

static bool places_in_bank(const struct lower *l, const struct ptx_inst *i) {
    const struct ptx_operand *a = &i->opnd[1];
    if (i->op != PTX_LD || i->vec > 1 || a->kind != PTX_O_ADDR || a->reg >= 0) return false;
    return i->space == PTX_S_CONST ||
           (i->space == PTX_S_PARAM && l->func->is_entry && a->sym && a->sym->is_param);
}

static void set_const(struct lower_value *v, bool is_imm, int64_t imm) {
    v->is_const = true;
    v->is_imm = is_imm;
    v->imm = imm;
}

/* Constants: immediates, addresses of variables, parameters and constant variables in their bank. */
static bool find_constant(struct lower *l, const struct ptx_inst *i, struct lower_value *v) {
    const struct ptx_operand *s = &i->opnd[i->opnd_count - 1];
    if (places_in_bank(l, i)) {
        int64_t at = s->imm + (s->sym ? (int64_t)s->sym->offset : 0);
        set_const(v, false, at + (i->space == PTX_S_CONST ? 0x30000000 : 0x1000));
        return true;
    }
    if (i->op != PTX_MOV && i->op != PTX_CVTA) return false;
    if (i->op == PTX_MOV && i->opnd[0].kind != PTX_O_REG) return false;
    if (l->func->reg[i->opnd[0].reg].type == PTX_T_PRED) return false;
    if (s->kind == PTX_O_IMM) {
        set_const(v, true, s->imm);
        return true;
    }
    if (s->kind == PTX_O_SYM) {
        bool narrow = s->sym->kind == PTX_SYM_VAR && s->sym->space != PTX_S_GLOBAL;
        if (narrow)
            set_const(v, true, (int64_t)s->sym->offset + s->imm);
        else
            set_const(v, false, (int64_t)(0x40000000 + (uint64_t)s->sym->id * 4096) + s->imm);
        v->space = s->sym->space;
        return true;
    }
    if (s->kind != PTX_O_SREG) return false;
    if (s->sreg == PTX_SR_WARPSZ)
        set_const(v, true, 32);
    else if (s->sreg == PTX_SR_NTID || s->sreg == PTX_SR_NCTAID)
        set_const(v, false, (s->sreg == PTX_SR_NTID ? 0 : 12) + 4 * s->imm);
    else
        return false;
    return true;
}

static void find_constants(struct lower *l) {
    const struct ptx_func *f = l->func;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->inst[i];
        if (!l->live[i] || in->dst_count != 1 || in->opnd[0].kind != PTX_O_REG || in->guard >= 0) continue;
        struct lower_value *v = &l->value[in->opnd[0].reg];
        if (v->def == i) (void)find_constant(l, in, v);
    }
}

static bool is_int_add(const struct ptx_inst *i) {
    return (i->op == PTX_ADD || i->op == PTX_SUB) && !ww_lower_is_float(i->type[0]) &&
           !(i->mods & (PTX_M_CC | PTX_M_SAT)) && ww_ptx_type_bytes(i->type[0]) >= 4;
}

static bool contracts(const struct ptx_inst *i) {
    return i->round == PTX_R_NONE && !(i->mods & PTX_M_SAT) &&
           (i->type[0] == PTX_T_F32 || i->type[0] == PTX_T_F64 || i->type[0] == PTX_T_F16X2 ||
            i->type[0] == PTX_T_F16);
}

static bool is_logic(const struct ptx_inst *i) {
    return (i->op == PTX_AND || i->op == PTX_OR || i->op == PTX_XOR) && ww_ptx_type_bytes(i->type[0]) >= 2;
}

static uint32_t use_kind(const struct ptx_inst *i, uint32_t k) {
    if (k == UINT32_MAX) return USE_OTHER;
    const struct ptx_operand *o = &i->opnd[k];
    if (o->kind == PTX_O_ADDR)
        return i->space == PTX_S_GENERIC || i->space == PTX_S_GLOBAL ? USE_ADDR_WIDE : USE_ADDR_NARROW;
    switch (i->op) {
    case PTX_ADD:
    case PTX_SUB:
        if (ww_lower_is_float(i->type[0])) return contracts(i) ? USE_FADD | USE_FLOAT : USE_FLOAT;
        return i->op == PTX_ADD && is_int_add(i) ? USE_ADD : USE_OTHER;
    case PTX_AND:
    case PTX_OR:
    case PTX_XOR:
        return i->type[0] == PTX_T_PRED                            ? USE_PRED_LOGIC
               : is_logic(i) && ww_ptx_type_bytes(i->type[0]) == 4 ? USE_LOGIC
                                                                   : USE_OTHER;
    case PTX_MUL:
    case PTX_FMA:
        return ww_lower_is_float(i->type[0]) ? USE_FLOAT : USE_OTHER;
    default:
        return ptx_op_is(i, OP_DATA) ? USE_DATA : USE_OTHER;
    }
}

static void count_uses(struct lower *l) {
    const struct ptx_func *f = l->func;
    struct lower_use use[LOWER_USES_MAX];
    for (uint32_t r = 0; r < f->reg_count; r++) l->value[r].uses = l->value[r].kinds = 0;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        if (!l->live[i]) continue;
        uint32_t n = ww_lower_uses(&f->inst[i], use);
        for (uint32_t k = 0; k < n; k++) {
            const struct lower_value *named = &l->value[use[k].reg];
            struct lower_value *v = &l->value[named->root];
            v->uses++;
            v->kinds |= use_kind(&f->inst[i], use[k].opnd);
            if (named->is_address && !(use_kind(&f->inst[i], use[k].opnd) & (USE_ADDR_WIDE | USE_ADDR_NARROW)))
                v->kinds |= USE_OTHER;
            v->last_use = i;
        }
    }
}

/* add base, constant where the sum only serves as an address: folds into the offset. */
static void find_addresses(struct lower *l) {
    const struct ptx_func *f = l->func;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->inst[i];
        if (!l->live[i] || in->op != PTX_ADD || !is_int_add(in) || in->guard >= 0) continue;
        if (in->opnd[0].kind != PTX_O_REG) continue;
        struct lower_value *v = &l->value[in->opnd[0].reg];
        uint32_t address = USE_ADDR_WIDE | USE_ADDR_NARROW;
        if (v->def != i || !v->kinds || (v->kinds & ~address)) continue;
        for (uint32_t k = 1; k < 3; k++) {
            const struct ptx_operand *c = &in->opnd[k], *b = &in->opnd[3 - k];
            const struct lower_value *cv = c->kind == PTX_O_REG ? &l->value[l->value[c->reg].root] : NULL;
            bool imm = c->kind == PTX_O_IMM || (cv && cv->is_const && cv->is_imm);
            int64_t add = c->kind == PTX_O_IMM ? c->imm : imm ? cv->imm : 0;
            if (!imm || b->kind != PTX_O_REG || l->value[l->value[b->reg].root].defs != 1) continue;
            if (v->high && ww_ptx_type_bytes((enum ptx_type)f->reg[l->value[b->reg].root].type) < 8) continue;
            if (add > 0x7fffff || add < -0x800000) continue; /* 24-bit offsets */
            v->root = l->value[b->reg].root;
            v->is_address = true;
            v->address = add;
            if (v->high) l->value[v->root].high = true;
            l->live[i] = false;
            break;
        }
    }
}

#define REDEFINITION_SPAN 400 /* instructions looked at for a source that is written again */

/* The register keeps its value from its use at `i` to the folded one at `use`. */
static bool keeps(const struct lower *l, int32_t reg, uint32_t i, uint32_t use) {
    const struct ptx_func *f = l->func;
    const struct lower_value *v = &l->value[l->value[reg].root];
    if (v->deferred) return false;
    if (v->defs <= 1) return true;
    if (f->inst[use].block != f->inst[i].block || use < i || use - i > REDEFINITION_SPAN) return false;
    for (uint32_t k = i; k < use; k++) {
        int32_t d[8];
        uint32_t n = ww_lower_defs(&f->inst[k], d, 8);
        if (n == 8) return false;
        for (uint32_t j = 0; j < n; j++)
            if (d[j] == reg || d[j] == l->value[reg].root) return false;
    }
    return true;
}

/* The sources of a producer keep their values until its last consumer. */
static bool stable(const struct lower *l, const struct ptx_inst *i, uint32_t at, uint32_t use) {
    for (uint32_t k = i->dst_count; k < i->opnd_count; k++) {
        const struct ptx_operand *o = &i->opnd[k];
        if (o->kind == PTX_O_REG && !keeps(l, o->reg, at, use)) return false;
        if (o->kind != PTX_O_REG && o->kind != PTX_O_IMM) return false;
    }
    return true;
}

static bool near(const struct lower *l, const struct lower_value *v, uint32_t i) {
    return l->func->inst[v->last_use].block == l->func->inst[i].block;
}

static bool defers(const struct lower *l, const struct ptx_inst *in, const struct lower_value *v, uint32_t i) {
    bool once = v->uses == 1;
    const struct ptx_inst *consumer = &l->func->inst[v->last_use];
    switch (in->op) {
    case PTX_MUL:
        if (ww_lower_is_float(in->type[0]))
            return once && v->kinds == (USE_FADD | USE_FLOAT) && contracts(in) &&
                   consumer->type[0] == in->type[0] && near(l, v, i);
        if (v->kinds != USE_ADD) return false;
        if (in->mods & PTX_M_WIDE)
            return ww_ptx_type_bytes(in->type[0]) == 4 &&
                   (l->arch != MAXWELL || (once && ww_lower_log2(&in->opnd[2]) >= 0));
        if (!(in->mods & PTX_M_LO) || ww_ptx_type_bytes(in->type[0]) != 4) return false;
        return ww_lower_log2(&in->opnd[2]) > 0 || (once && l->arch == VOLTA && near(l, v, i));
    case PTX_SHL:
        if (v->kinds != USE_ADD || in->opnd[2].kind != PTX_O_IMM || in->opnd[2].imm <= 0 ||
            in->opnd[2].imm > 31)
            return false;
        if (ww_ptx_type_bytes(in->type[0]) == 8 && v->high) return l->arch == VOLTA;
        return true;
    case PTX_ADD:
        return once && v->kinds == USE_ADD && is_int_add(in) && l->arch == VOLTA &&
               ww_ptx_type_bytes(in->type[0]) == 4 && near(l, v, i);
    case PTX_AND:
    case PTX_OR:
    case PTX_XOR:
        return once && v->kinds == USE_LOGIC && l->arch != FERMI && is_logic(in) && near(l, v, i);
    case PTX_SETP:
        return once && v->kinds == USE_PRED_LOGIC && in->dst_count == 1 && !in->boolop && near(l, v, i) &&
               consumer->op != PTX_XOR;
    case PTX_NEG:
        return ww_lower_is_float(in->type[0]) && !(v->kinds & ~(USE_FLOAT | USE_FADD));
    case PTX_CVT: /* sign extension of an index that is then shifted and added */
        return false;
    default:
        return false;
    }
}

static bool defer_all(struct lower *l) {
    const struct ptx_func *f = l->func;
    bool *taken = ww_arena_array(l->arena, f->inst_count, sizeof *taken);
    if (!taken) return false;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->inst[i];
        if (!l->live[i] || in->guard >= 0 || in->dst_count != 1 || in->opnd[0].kind != PTX_O_REG) continue;
        struct lower_value *v = &l->value[in->opnd[0].reg];
        if (v->def != i || v->is_const || !stable(l, in, i, v->last_use) || !defers(l, in, v, i)) continue;
        if (v->uses == 1 && (taken[v->last_use] || f->inst[v->last_use].guard >= 0)) continue;
        taken[v->last_use] = true;
        v->deferred = true;
    }
    return true;
}

/* Constants that some use wants in registers get them where they are defined. */
static void find_needed(struct lower *l) {
    const struct ptx_func *f = l->func;
    for (uint32_t r = 0; r < f->reg_count; r++) {
        struct lower_value *v = &l->value[r];
        if (!v->is_const) continue;
        v->needs_reg = (v->kinds & USE_ADDR_WIDE) || (!v->is_imm && (v->kinds & (USE_DATA | USE_ADDR_NARROW)));
    }
}

static void find_spaces(struct lower *l) {
    const struct ptx_func *f = l->func;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->inst[i];
        if (in->dst_count != 1 || in->opnd[0].kind != PTX_O_REG) continue;
        struct lower_value *v = &l->value[in->opnd[0].reg];
        if (v->def != i) continue;
        if (in->op == PTX_CVTA) v->space = in->space;
        if (in->op != PTX_ADD && in->op != PTX_MOV && in->op != PTX_SUB) continue;
        for (uint32_t k = 1; k < in->opnd_count && !v->space; k++)
            if (in->opnd[k].kind == PTX_O_REG) v->space = l->value[in->opnd[k].reg].space;
    }
}

bool ww_lower_values(struct lower *l) {
    find_spaces(l);
    count_uses(l);
    find_roots(l);
    find_constants(l);
    count_uses(l);
    find_addresses(l);
    count_uses(l);
    if (!defer_all(l)) return false;
    find_needed(l);
    return true;
}
