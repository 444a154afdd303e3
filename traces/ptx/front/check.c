/* check.c: what the executor may rely on: modifiers and operands fit the operation. */
#include "front.h"
#include "mma.h"
#include <string.h>

static bool in(uint8_t v, uint8_t lo, uint8_t hi) {
    return v >= lo && v <= hi;
}

static bool is_integer(uint8_t type) {
    return in(type, PTX_T_B8, PTX_T_S64);
}

static bool takes_pred_type(const struct ptx_inst *i) {
    switch (i->op) {
    case PTX_VOTE:
        return i->sub != PTX_SUB_BALLOT;
    case PTX_BAR:
    case PTX_BARRIER:
        return i->sub == PTX_SUB_RED_AND || i->sub == PTX_SUB_RED_OR;
    default:
        return ptx_op_is(i, OP_PRED);
    }
}

static bool good_word(const struct ptx_inst *i) {
    return ww_ptx_op_takes(i, i->sub) && (!ptx_op_is(i, OP_COMPARES) || i->cmp != PTX_C_NONE);
}

static bool good_half(const struct ptx_inst *i) {
    uint32_t half = i->mods & (PTX_M_LO | PTX_M_HI | PTX_M_WIDE);
    bool one = half && !(half & (half - 1));
    if (ptx_op_is(i, OP_HALF)) return half == PTX_M_LO || half == PTX_M_HI;
    if (!ptx_op_is(i, OP_WIDE)) return true;
    if (half == PTX_M_WIDE) return in((uint8_t)ww_ptx_type_bytes(i->type[0]), 2, 4) && is_integer(i->type[0]);
    return is_integer(i->type[0]) ? one : !half;
}

static bool good_space(const struct ptx_inst *i) {
    bool generic = i->space == PTX_S_GENERIC, shared = i->space == PTX_S_SHARED;
    if (ptx_op_is(i, OP_SPACE_ATOMIC)) return generic || shared || i->space == PTX_S_GLOBAL;
    if (ptx_op_is(i, OP_SPACE_SHARED)) return generic || shared;
    if (ptx_op_is(i, OP_SPACE_WRITTEN)) return i->space != PTX_S_CONST;
    return !ptx_op_is(i, OP_SPACE_NAMED) || !generic;
}

/* Which way a bulk copy goes, and what tells of its end. */
static bool good_bulk(const struct ptx_inst *i) {
    bool to_shared = i->dst_space == PTX_S_SHARED, from_shared = i->space == PTX_S_SHARED;
    bool tensor = i->bulk & PTX_BULK_TENSOR, reduces = i->bulk & PTX_BULK_REDUCE, tx = i->bulk & PTX_BULK_TX;
    if (tensor != (i->rank != 0) || (i->bulk & PTX_BULK_IM2COL && i->rank < 3)) return false;
    if (reduces != (i->redop != 0) || (reduces && !tensor && !i->type[0])) return false;
    if (i->bulk & PTX_BULK_MULTICAST && !(to_shared && i->space == PTX_S_GLOBAL)) return false;
    if (i->bulk & PTX_BULK_PREFETCH) return i->space == PTX_S_GLOBAL && !to_shared && !reduces && !tx;
    if (to_shared && from_shared) return tx && !tensor;
    if (to_shared) return tx && i->space == PTX_S_GLOBAL && !reduces;
    return from_shared && !tx;
}

enum ww_code ww_ptx_check_modifiers(struct ptx_parser *p, const struct ptx_inst *i,
                                    const struct ptx_token *at) {
    uint8_t types = 0;
    while (types < 4 && i->type[types]) types++;
    uint8_t least = ww_ptx_ops[i->op].types;
    if (types < least) return ww_ptx_unsupported(p, at, "expected %u type(s)", least);
    for (uint8_t k = 0; k < types; k++)
        if (i->type[k] == PTX_T_PRED && !takes_pred_type(i)) return ww_ptx_unsupported(p, at, "type .pred");
    if (i->op == PTX_CP && i->sub == PTX_SUB_CP_BULK && !good_bulk(i))
        return ww_ptx_unsupported(p, at, "this form of a bulk copy is not supported");
    if (i->bulk & PTX_BULK_ASYNC && (!(i->bulk & PTX_BULK_TX) || i->space != PTX_S_SHARED))
        return ww_ptx_unsupported(p, at, "expected .shared::cluster.mbarrier::complete_tx::bytes");
    if (i->op == PTX_CP && i->sub == PTX_SUB_CP_ASYNC &&
        (i->space != PTX_S_GLOBAL || i->dst_space != PTX_S_SHARED))
        return ww_ptx_unsupported(p, at, "expected .shared.global");
    if (!good_word(i)) return ww_ptx_unsupported(p, at, "operation word missing or not supported");
    if (!good_half(i)) return ww_ptx_unsupported(p, at, "expected .lo, .hi or .wide as the type asks");
    if (!good_space(i)) return ww_ptx_unsupported(p, at, "state space not supported here");
    bool long_vec = i->vec >= 8 && i->op != PTX_TCGEN05;
    if (long_vec || (i->vec > 1 && !ptx_op_is(i, OP_VEC)))
        return ww_ptx_unsupported(p, at, "vector width not supported");
    if (ptx_op_is(i, OP_SHAPE) && !ww_ptx_shapes[i->geom].k)
        return ww_ptx_unsupported(p, at, "expected a shape such as .m16n8k16");
    return WW_OK;
}

static bool is_pred(const struct ptx_parser *p, const struct ptx_operand *o) {
    return p->func->reg[o->reg].type == PTX_T_PRED;
}

static bool good_vec(const struct ptx_parser *p, const struct ptx_operand *o, bool dst) {
    for (uint8_t k = 0; k < o->vec_count; k++) {
        const struct ptx_operand *e = &o->vec[k];
        if (e->neg) return false;
        if (e->kind == PTX_O_REG) {
            if (is_pred(p, e)) return false;
        } else if (dst ? e->kind != PTX_O_NONE : e->kind != PTX_O_IMM) {
            return false;
        }
    }
    return true;
}

/* A vector at a place of letter D or v. */
static bool good_data_vec(const struct ptx_parser *p, const struct ptx_inst *i, const struct ptx_operand *o,
                          bool dst) {
    if (!good_vec(p, o, dst)) return false;
    if (i->op == PTX_LDMATRIX) return o->vec_count == i->vec;
    if (i->op != PTX_MOV) return o->vec_count == i->vec && i->vec > 1;
    uint32_t bytes = ww_ptx_type_bytes(i->type[0]);
    return i->opnd_count == 2 && (o->vec_count == 2 || o->vec_count == 4) && bytes >= o->vec_count &&
           i->opnd[dst].kind != PTX_O_VEC && i->opnd[dst].kind != PTX_O_SREG;
}

static bool good_address(const struct ptx_parser *p, const struct ptx_inst *i, const struct ptx_operand *o) {
    if (o->kind != PTX_O_ADDR) return false;
    if (o->reg >= 0) return !is_pred(p, o);
    if (!o->sym || i->op == PTX_CP || i->op == PTX_MBARRIER || i->bulk) return true;
    if (o->sym->space == PTX_S_PARAM || i->space == PTX_S_PARAM) return o->sym->space == i->space;
    return i->space == PTX_S_GENERIC || o->sym->space == i->space;
}

static bool good_operand(const struct ptx_parser *p, const struct ptx_inst *i, uint32_t n, char letter) {
    const struct ptx_operand *o = &i->opnd[n];
    bool want_pred = i->type[0] == PTX_T_PRED;
    if (o->neg && letter != 'P') return false;
    switch (letter) {
    case 'a':
        return good_address(p, i, o);
    case 'l':
        return o->kind == PTX_O_LABEL;
    case 'L':
        return o->kind == PTX_O_LIST;
    case 'p':
    case 'q':
        return o->kind == PTX_O_NONE || (o->kind == PTX_O_REG && is_pred(p, o));
    case 'P':
        return o->kind == PTX_O_IMM || (o->kind == PTX_O_REG && is_pred(p, o));
    case 'd':
    case 'e':
        return o->kind == PTX_O_NONE || (o->kind == PTX_O_REG && is_pred(p, o) == want_pred);
    case 'D':
    case 'v':
        if (o->kind == PTX_O_VEC) return !want_pred && good_data_vec(p, i, o, letter == 'D');
        if (i->vec > 1) return false;
        if (letter == 'D') return o->kind == PTX_O_NONE || (o->kind == PTX_O_REG && is_pred(p, o) == want_pred);
        break;
    case 'V':
    case 'T':
        if (o->kind == PTX_O_VEC) return good_vec(p, o, n < i->dst_count);
        return o->kind == PTX_O_REG && !is_pred(p, o);
    default:
        break;
    }
    if (o->kind == PTX_O_REG) return is_pred(p, o) == want_pred;
    return o->kind == PTX_O_IMM || o->kind == PTX_O_SYM || (o->kind == PTX_O_SREG && i->op == PTX_MOV);
}

/* Of bulk copies. What may be left out: the mask of CTAs, the cache policy. */
static const char *bulk_shape(const struct ptx_inst *i) {
    bool tensor = i->bulk & PTX_BULK_TENSOR,
         offsets = i->bulk & PTX_BULK_IM2COL && !(i->bulk & PTX_BULK_NO_OFFS);
    if (i->bulk & PTX_BULK_PREFETCH) return !tensor ? "/as?s" : offsets ? "/TV?s" : "/T?s";
    if (!(i->bulk & PTX_BULK_TX)) return tensor ? "/Ta?s" : "/aas?s";
    bool mask = i->bulk & PTX_BULK_MULTICAST;
    if (!tensor) return mask ? "/aasas?s" : "/aasa?s";
    if (offsets) return mask ? "/aTaVs?s" : "/aTaV?s";
    return mask ? "/aTas?s" : "/aTa?s";
}

/* Of tensor memory, whose addresses are 32 bits of their own. */
static const char *tensor_memory_shape(const struct ptx_inst *i) {
    switch (i->sub) {
    case PTX_SUB_TC_ALLOC:
        return "/as";
    case PTX_SUB_TC_CP:
        return "/as";
    case PTX_SUB_TC_DEALLOC:
        return "/ss";
    case PTX_SUB_TC_LD:
        return i->geom == PTX_SHAPE_16X32BX2 ? "V/as" : "V/a";
    case PTX_SUB_TC_ST:
        return i->geom == PTX_SHAPE_16X32BX2 ? "/asV" : "/aV";
    case PTX_SUB_TC_MMA: {
        bool in_tensor_memory = i->opnd_count > 1 && i->opnd[1].kind == PTX_O_ADDR;
        if (i->type[0] >= PTX_T_MXF8F6F4) return in_tensor_memory ? "/aassaaP" : "/asssaaP";
        if (i->opnd_count > 4 && i->opnd[4].kind == PTX_O_VEC)
            return in_tensor_memory ? "/aassVP?s" : "/asssVP?s";
        return in_tensor_memory ? "/aassP?s" : "/asssP?s";
    }
    case PTX_SUB_TC_COMMIT:
        return i->bulk & PTX_BULK_MULTICAST ? "/as" : "/a";
    default:
        return "/";
    }
}

/* Signatures that depend on more than the op. */
static const char *shape_of(struct ptx_inst *i) {
    uint8_t n = i->opnd_count;
    switch (i->op) {
    case PTX_BAR:
    case PTX_BARRIER:
        if (i->sub == PTX_SUB_WARP_SYNC) return "/s";
        if (i->sub == PTX_SUB_CLUSTER_ARRIVE || i->sub == PTX_SUB_CLUSTER_WAIT) return "/";
        if (i->sub == PTX_SUB_SYNC) return "/s?s";
        if (i->sub == PTX_SUB_ARRIVE) return "/ss";
        return n == 4 ? "d/nnP" : "d/nP";
    case PTX_ATOM:
        return i->sub == PTX_SUB_CAS ? "D/avs?s" : "D/av?s";
    case PTX_CP:
        if (i->sub == PTX_SUB_CP_BULK) return bulk_shape(i);
        if (i->sub == PTX_SUB_CP_ASYNC) return "/aas?sss";
        if (i->sub == PTX_SUB_CP_MBARRIER_ARRIVE) return "/a";
        return i->sub == PTX_SUB_CP_WAIT_GROUP ? "/s" : "/";
    case PTX_MBARRIER:
        switch (i->sub) {
        case PTX_SUB_MB_INIT:
            return "/as";
        case PTX_SUB_MB_INVAL:
            return "/a";
        case PTX_SUB_MB_EXPECT_TX:
        case PTX_SUB_MB_COMPLETE_TX:
            return "/as";
        case PTX_SUB_MB_PENDING_COUNT:
            i->dst_count = 1;
            return "d/s";
        case PTX_SUB_MB_TEST_WAIT:
        case PTX_SUB_MB_TRY_WAIT:
            i->dst_count = 1;
            return "p/as?s";
        default:
            i->dst_count = n > 0 && i->opnd[0].kind != PTX_O_ADDR;
            return i->dst_count ? "d/a?s" : "/a?s";
        }
    case PTX_WGMMA:
        if (i->sub == PTX_SUB_WGMMA_MMA) return i->mods & PTX_M_SPARSE ? "V/VVssP?ssss" : "V/VVP?ssss";
        return i->sub == PTX_SUB_CP_WAIT_GROUP ? "/s" : "/";
    case PTX_TCGEN05:
        return tensor_memory_shape(i);
    case PTX_FENCE:
        return i->bulk & PTX_BULK_MAP && n ? "/as" : "/";
    case PTX_ST:
    case PTX_RED:
        return i->bulk & PTX_BULK_ASYNC ? "/ava" : ww_ptx_ops[i->op].signature;
    case PTX_WMMA:
        if (i->sub == PTX_SUB_WMMA_MMA) return "V/VVV";
        return i->sub == PTX_SUB_WMMA_STORE_D ? "/aV?s" : "V/a?s";
    default:
        return ww_ptx_ops[i->op].signature;
    }
}

static enum ww_code bad_operand(struct ptx_parser *p, const struct ptx_inst *i, const struct ptx_token *at,
                                unsigned n) {
    return ww_ptx_unsupported(p, at, "operand %u does not fit '%s'", n, ww_ptx_op_name(i->op));
}

/* setp, set and lop3 take a predicate at their end if and only if they combine with one. */
static enum ww_code check_combination(struct ptx_parser *p, const struct ptx_inst *i,
                                      const struct ptx_token *at) {
    bool lop3 = i->op == PTX_LOP3, combines = i->boolop != PTX_B_NONE;
    unsigned own = i->dst_count + (lop3 ? 4u : 2u);
    bool good = i->opnd_count == own + combines && (!lop3 || (i->dst_count == 2) == combines);
    if (good) return WW_OK;
    if (combines)
        return ww_ptx_fail_at(p, at, WW_INPUT,
                              "%s with .and, .or or .xor: expected %sa predicate as last operand",
                              ww_ptx_op_name(i->op), lop3 ? "d|p and " : "");
    return ww_ptx_fail_at(p, at, WW_INPUT, "%s: expected .and%s to combine with a predicate",
                          ww_ptx_op_name(i->op), lop3 ? " or .or" : ", .or or .xor");
}

/* cp.async and mmas: sizes and element counts that are part of the instruction. */
static enum ww_code check_special(struct ptx_parser *p, struct ptx_inst *i, const struct ptx_token *at) {
    if (i->op == PTX_CP && i->sub == PTX_SUB_CP_ASYNC) {
        int64_t n = i->opnd[2].imm;
        if (i->opnd[2].kind != PTX_O_IMM || (n != 4 && n != 8 && n != 16)) return bad_operand(p, i, at, 3);
        i->cp_bytes = (uint8_t)n;
    }
    if (i->op == PTX_SETMAXNREG) {
        int64_t n = i->opnd[0].imm;
        if (i->opnd[0].kind != PTX_O_IMM || n < 24 || n > 256 || n % 8) return bad_operand(p, i, at, 1);
    }
    if ((i->op == PTX_CP || i->op == PTX_WGMMA) && i->sub == PTX_SUB_CP_WAIT_GROUP &&
        i->opnd[0].kind != PTX_O_IMM)
        return bad_operand(p, i, at, 1);
    if (ptx_op_is(i, OP_COMPARES) || i->op == PTX_LOP3) WW_TRY(check_combination(p, i, at));
    if (i->op == PTX_LOP3 && i->opnd[i->dst_count + 3].kind != PTX_O_IMM)
        return bad_operand(p, i, at, i->dst_count + 4u);
    if (i->op == PTX_STMATRIX || i->op == PTX_LDMATRIX) {
        const struct ptx_operand *o = &i->opnd[i->op == PTX_STMATRIX];
        if (i->vec > 1 ? o->kind != PTX_O_VEC || o->vec_count != i->vec
                       : o->kind == PTX_O_VEC && o->vec_count != 1)
            return bad_operand(p, i, at, 1);
    }
    if (ptx_op_is(i, OP_SHAPE)) i->cp_bytes = 0; /* counted layouts while parsing */
    return WW_OK;
}

enum ww_code ww_ptx_check_inst(struct ptx_parser *p, struct ptx_inst *i, const struct ptx_token *at) {
    const char *s = shape_of(i);
    uint32_t n = 0;
    bool optional = false;
    for (; *s; s++) {
        if (*s == '/') continue;
        if (*s == '?') {
            optional = true;
            continue;
        }
        if (n == i->opnd_count) {
            if (optional) break;
            return bad_operand(p, i, at, n + 1);
        }
        char letter = *s == 'n' ? 's' : *s;
        bool good;
        if (*s == 'n')
            good = i->opnd[n].kind == PTX_O_IMM || (i->opnd[n].kind == PTX_O_REG && !is_pred(p, &i->opnd[n]));
        else
            good = good_operand(p, i, n, letter);
        if (!good) return bad_operand(p, i, at, n + 1);
        n++;
        if (n == 1 && i->dst_count == 2) {
            if (*s != 'e' && *s != 'q') return bad_operand(p, i, at, 2);
            if (!good_operand(p, i, 1, 'p')) return bad_operand(p, i, at, 2);
            n++;
        }
    }
    if (n != i->opnd_count) return bad_operand(p, i, at, n + 1);
    return check_special(p, i, at);
}
