/* lower_analyse.c: which instructions of a function, and which halves of 64-bit values, have an effect. */
#include "lower.h"
#include <string.h>

bool ww_lower_is_float(uint8_t type) {
    return type >= PTX_T_F16 && type <= PTX_T_F64;
}

int ww_lower_log2(const struct ptx_operand *o) {
    if (o->kind != PTX_O_IMM || o->imm <= 0 || (o->imm & (o->imm - 1))) return -1;
    return __builtin_ctzll((unsigned long long)o->imm);
}

static uint32_t add_operand(const struct ptx_operand *o, uint32_t k, struct lower_use *use, uint32_t n) {
    if ((o->kind == PTX_O_REG || o->kind == PTX_O_ADDR) && o->reg >= 0 && n < LOWER_USES_MAX)
        use[n++] = (struct lower_use){o->reg, k};
    for (uint32_t v = 0; v < o->vec_count && n < LOWER_USES_MAX; v++)
        if (o->vec[v].kind == PTX_O_REG) use[n++] = (struct lower_use){o->vec[v].reg, k};
    return n;
}

uint32_t ww_lower_uses(const struct ptx_inst *i, struct lower_use *use) {
    uint32_t n = 0;
    if (i->guard >= 0) use[n++] = (struct lower_use){i->guard, UINT32_MAX};
    uint32_t first = i->op == PTX_WGMMA ? 0 : i->dst_count; /* its results are sums */
    for (uint32_t k = first; k < i->opnd_count; k++) n = add_operand(&i->opnd[k], k, use, n);
    return n;
}

uint32_t ww_lower_defs(const struct ptx_inst *i, int32_t *reg, uint32_t max) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < i->dst_count; k++) {
        const struct ptx_operand *o = &i->opnd[k];
        if (o->kind == PTX_O_REG && n < max) reg[n++] = o->reg;
        for (uint32_t v = 0; o->kind == PTX_O_VEC && v < o->vec_count && n < max; v++)
            if (o->vec[v].kind == PTX_O_REG) reg[n++] = o->vec[v].reg;
    }
    return n;
}

bool ww_lower_has_effect(const struct ptx_inst *i) {
    if (i->op == PTX_LD) return (i->mods & PTX_M_VOLATILE) != 0;
    return i->op != PTX_LDU && !ww_ptx_is_pure(i);
}

/* Definitions of each register as one list. */
static bool list_definitions(struct lower *l) {
    struct ptx_func *f = l->func;
    int32_t reg[512];
    uint32_t total = 0;
    l->def_first = ww_arena_array(l->arena, f->reg_count + 1, sizeof *l->def_first);
    if (!l->def_first) return false;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        uint32_t n = l->reachable[f->inst[i].block] ? ww_lower_defs(&f->inst[i], reg, 512) : 0;
        total += n;
        for (uint32_t k = 0; k < n; k++) {
            struct lower_value *v = &l->value[reg[k]];
            v->def = v->defs++ ? UINT32_MAX : i;
        }
    }
    l->def_list = ww_arena_array(l->arena, total, sizeof *l->def_list);
    if (!l->def_list) return false;
    for (uint32_t r = 0, at = 0; r <= f->reg_count; r++) {
        l->def_first[r] = at;
        if (r < f->reg_count) at += l->value[r].defs;
    }
    uint32_t *fill = ww_arena_array(l->arena, f->reg_count, sizeof *fill);
    if (!fill) return false;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        uint32_t n = l->reachable[f->inst[i].block] ? ww_lower_defs(&f->inst[i], reg, 512) : 0;
        for (uint32_t k = 0; k < n; k++) l->def_list[l->def_first[reg[k]] + fill[reg[k]]++] = i;
    }
    return true;
}

static bool mark_reachable(struct lower *l) {
    uint32_t *stack = ww_arena_array(l->arena, l->cfg.count + 1, sizeof *stack), depth = 0;
    l->reachable = ww_arena_array(l->arena, l->cfg.count + 1, sizeof *l->reachable);
    if (!stack || !l->reachable) return false;
    stack[depth++] = 0;
    l->reachable[0] = true;
    while (depth) {
        const struct ptx_block *b = &l->cfg.block[stack[--depth]];
        for (uint32_t k = 0; k < b->succ_count; k++) {
            uint32_t s = l->cfg.succ[b->succ + k];
            if (l->reachable[s]) continue;
            l->reachable[s] = true;
            if (s < l->cfg.count) stack[depth++] = s;
        }
    }
    return true;
}

/* Dead code: what no effect depends on. */
static bool mark_live(struct lower *l) {
    struct ptx_func *f = l->func;
    struct lower_use use[LOWER_USES_MAX];
    uint32_t *work = ww_arena_array(l->arena, f->inst_count, sizeof *work), depth = 0;
    l->live = ww_arena_array(l->arena, f->inst_count, sizeof *l->live);
    if (!work || !l->live) return false;
    for (uint32_t i = 0; i < f->inst_count; i++)
        if (l->reachable[f->inst[i].block] && ww_lower_has_effect(&f->inst[i])) {
            l->live[i] = true;
            work[depth++] = i;
        }
    while (depth) {
        uint32_t n = ww_lower_uses(&f->inst[work[--depth]], use);
        for (uint32_t k = 0; k < n; k++) {
            struct lower_value *v = &l->value[use[k].reg];
            if (v->live) continue;
            v->live = true;
            for (uint32_t d = l->def_first[use[k].reg]; d < l->def_first[use[k].reg + 1]; d++)
                if (!l->live[l->def_list[d]]) {
                    l->live[l->def_list[d]] = true;
                    work[depth++] = l->def_list[d];
                }
        }
    }
    return true;
}

enum demand { DEMAND_NEVER, DEMAND_IF_RESULT, DEMAND_ALWAYS };

static bool narrow_space(uint8_t space) {
    return space == PTX_S_SHARED || space == PTX_S_LOCAL || space == PTX_S_CONST || space == PTX_S_PARAM;
}

/* Whether operand k's high word matters. */
static enum demand high_demand(const struct ptx_inst *i, uint32_t k) {
    if (k != UINT32_MAX && i->opnd[k].kind == PTX_O_ADDR)
        return narrow_space(i->space) && i->op != PTX_CP ? DEMAND_NEVER : DEMAND_ALWAYS;
    if (ptx_op_is(i, OP_LOW)) {
        bool whole = ww_lower_is_float(i->type[0]) || (i->mods & (PTX_M_HI | PTX_M_CC));
        return whole ? DEMAND_ALWAYS : DEMAND_IF_RESULT;
    }
    switch (i->op) {
    case PTX_MOV:
        return i->opnd[0].kind == PTX_O_VEC ? DEMAND_ALWAYS : DEMAND_IF_RESULT;
    case PTX_SELP:
        return DEMAND_IF_RESULT;
    case PTX_SHL:
        return k == 1 ? DEMAND_IF_RESULT : DEMAND_ALWAYS;
    case PTX_CVTA:
        return narrow_space(i->space) && !(i->mods & PTX_M_TO) ? DEMAND_NEVER : DEMAND_IF_RESULT;
    case PTX_CVT:
        if (ww_lower_is_float(i->type[0]) || ww_lower_is_float(i->type[1]) || (i->mods & PTX_M_SAT))
            return DEMAND_ALWAYS;
        return ww_ptx_type_bytes(i->type[0]) < 8 ? DEMAND_NEVER : DEMAND_IF_RESULT;
    default:
        return DEMAND_ALWAYS;
    }
}

/* Whether the instruction asks for the high words of its sources because of destination `dst`. */
static bool demands(struct lower *l, const struct ptx_inst *i, uint32_t k, bool dst_high) {
    (void)l;
    enum demand d = high_demand(i, k);
    return d == DEMAND_ALWAYS || (d == DEMAND_IF_RESULT && dst_high);
}

static bool mark_high(struct lower *l) {
    struct ptx_func *f = l->func;
    struct lower_use use[LOWER_USES_MAX];
    int32_t *work = ww_arena_array(l->arena, f->reg_count, sizeof *work);
    uint32_t depth = 0;
    if (!work) return false;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        if (!l->live[i]) continue;
        uint32_t n = ww_lower_uses(&f->inst[i], use);
        for (uint32_t k = 0; k < n; k++)
            if (use[k].opnd != UINT32_MAX && !l->value[use[k].reg].high &&
                demands(l, &f->inst[i], use[k].opnd, false)) {
                l->value[use[k].reg].high = true;
                work[depth++] = use[k].reg;
            }
    }
    while (depth) {
        int32_t r = work[--depth];
        for (uint32_t d = l->def_first[r]; d < l->def_first[r + 1]; d++) {
            const struct ptx_inst *i = &f->inst[l->def_list[d]];
            uint32_t n = ww_lower_uses(i, use);
            for (uint32_t k = 0; k < n; k++)
                if (use[k].opnd != UINT32_MAX && !l->value[use[k].reg].high &&
                    demands(l, i, use[k].opnd, true)) {
                    l->value[use[k].reg].high = true;
                    work[depth++] = use[k].reg;
                }
        }
    }
    return true;
}

bool ww_lower_analyse(struct lower *l) {
    struct ptx_func *f = l->func;
    l->value = ww_arena_array(l->arena, f->reg_count + 1, sizeof *l->value);
    if (!l->value || !ww_ptx_cfg_build(l->arena, f, &l->cfg)) return false;
    for (uint32_t r = 0; r < f->reg_count; r++) {
        l->value[r].def = UINT32_MAX;
        l->value[r].root = (int32_t)r;
        l->value[r].reg.group = -1;
    }
    return mark_reachable(l) && list_definitions(l) && mark_live(l) && mark_high(l);
}
