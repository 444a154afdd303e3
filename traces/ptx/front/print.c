/* print.c: instructions as PTX text. */
#include "../../../estimator/base/buf.h"
#include "front.h"
#include "mma.h"
#include "modifier.h"

static const char *word(uint8_t kind, uint32_t value) {
    for (size_t i = 0; i < ww_ptx_modifier_count; i++)
        if (ww_ptx_modifiers[i].kind == kind && ww_ptx_modifiers[i].value == value)
            return ww_ptx_modifiers[i].word;
    return NULL;
}

static void put_word(struct ww_buf *out, const char *s) {
    if (s && *s) ww_buf_printf(out, ".%s", s);
}

/* Operations whose word has more than one meaning in modifier.def. */
static const char *sub_text(const struct ptx_inst *i) {
    switch (i->sub) {
    case PTX_SUB_AND:
        return "and";
    case PTX_SUB_OR:
        return "or";
    case PTX_SUB_XOR:
        return "xor";
    case PTX_SUB_ALL:
        return "all";
    case PTX_SUB_ANY:
        return "any";
    case PTX_SUB_UNI:
        return "uni";
    case PTX_SUB_SYNC:
        return "sync";
    case PTX_SUB_ARRIVE:
    case PTX_SUB_MB_ARRIVE:
        return "arrive";
    case PTX_SUB_WARP_SYNC:
        return "warp.sync";
    case PTX_SUB_RED_POPC:
        return "red.popc";
    case PTX_SUB_RED_AND:
        return "red.and";
    case PTX_SUB_RED_OR:
        return "red.or";
    case PTX_SUB_CP_ASYNC:
        return "async";
    case PTX_SUB_CP_COMMIT:
        if (i->op == PTX_WGMMA) return "commit_group";
        return "async.commit_group";
    case PTX_SUB_CP_WAIT_GROUP:
        if (i->op == PTX_WGMMA) return "wait_group";
        return "async.wait_group";
    case PTX_SUB_CP_WAIT_ALL:
        return "async.wait_all";
    case PTX_SUB_CP_MBARRIER_ARRIVE:
        return "async.mbarrier.arrive";
    case PTX_SUB_MEMBAR_CTA:
        return "cta";
    case PTX_SUB_MEMBAR_GL:
        return i->op == PTX_FENCE ? "gpu" : "gl";
    case PTX_SUB_MEMBAR_SYS:
        return "sys";
    case PTX_SUB_WMMA_LOAD_A:
        return "load.a";
    case PTX_SUB_WMMA_LOAD_B:
        return "load.b";
    case PTX_SUB_WMMA_LOAD_C:
        return "load.c";
    case PTX_SUB_WMMA_STORE_D:
        return "store.d";
    case PTX_SUB_WMMA_MMA:
        return "mma";
    default:
        return i->sub ? word(MOD_SUB, i->sub) : NULL;
    }
}

static void put_bulk(const struct ptx_inst *i, struct ww_buf *out) {
    if (i->bulk & PTX_BULK_EXPECT) ww_buf_puts(out, ".expect_tx");
    if (i->bulk & PTX_BULK_ASYNC) ww_buf_puts(out, ".async");
    if (i->bulk & PTX_BULK_GROUP) ww_buf_puts(out, ".bulk");
    for (uint32_t bit = 1; bit <= PTX_BULK_MAP; bit <<= 1)
        if (i->bulk & bit && word(MOD_BULK, bit)) put_word(out, word(MOD_BULK, bit));
    if (i->redop) put_word(out, word(MOD_SUB, i->redop));
    if (i->rank) ww_buf_printf(out, ".%ud", i->rank);
}

static void put_modifiers(const struct ptx_inst *i, struct ww_buf *out) {
    static const char *const boolop[] = {NULL, "and", "or", "xor"};
    if (i->op == PTX_CVTA && (i->mods & PTX_M_TO)) ww_buf_puts(out, ".to");
    if (i->mods & PTX_M_UNI) ww_buf_puts(out, ".uni");
    put_word(out, sub_text(i));
    if (i->cmp == PTX_C_LO || i->cmp == PTX_C_HI)
        ww_buf_puts(out, i->cmp == PTX_C_LO ? ".lo" : ".hi");
    else if (i->cmp)
        put_word(out, word(MOD_CMP, i->cmp));
    if (i->boolop) put_word(out, boolop[i->boolop & 3]);
    if (i->round) put_word(out, word(MOD_ROUND, i->round));
    if (i->mods & PTX_M_LO) ww_buf_puts(out, ".lo");
    if (i->mods & PTX_M_HI) ww_buf_puts(out, ".hi");
    if (i->mods & PTX_M_SYNC) ww_buf_puts(out, ".sync");
    for (uint32_t bit = 1; bit && bit <= PTX_M_CACHE_HINT; bit <<= 1)
        if ((i->mods & bit) && bit != PTX_M_TO) put_word(out, word(MOD_FLAG, bit));
    put_bulk(i, out);
    if (i->dst_space) put_word(out, word(MOD_SPACE, i->dst_space));
    if (i->space) put_word(out, word(MOD_SPACE, i->space));
    if (i->op == PTX_WGMMA && i->geom)
        ww_buf_printf(out, ".m64n%u%s", 8u * i->cp_bytes, ww_ptx_shapes[i->geom].name);
    else if (i->geom)
        put_word(out, ww_ptx_shapes[i->geom].name);
    if (i->vec > 1) ww_buf_printf(out, ".v%u", i->vec);
    for (int t = 0; t < 4 && i->type[t]; t++) put_word(out, ww_ptx_type_name(i->type[t]));
}

static void put_reg(const struct ptx_func *f, int32_t reg, struct ww_buf *out) {
    if (reg >= 0 && (uint32_t)reg < f->reg_count)
        ww_buf_puts(out, f->reg[reg].name);
    else
        ww_buf_puts(out, "?");
}

static void put_offset(int64_t imm, struct ww_buf *out) {
    if (imm) ww_buf_printf(out, "+%lld", (long long)imm);
}

static void put_scalar(const struct ptx_func *f, const struct ptx_operand *o, struct ww_buf *out) {
    static const char *const sreg[] = {
#define X(id, text) text,
#include "sreg.def"
#undef X
    };
    switch (o->kind) {
    case PTX_O_REG:
        if (o->neg) ww_buf_puts(out, "!");
        put_reg(f, o->reg, out);
        break;
    case PTX_O_IMM:
        ww_buf_printf(out, "%lld", (long long)o->imm);
        break;
    case PTX_O_SREG:
        ww_buf_puts(out, o->sreg < PTX_SR_COUNT ? sreg[o->sreg] : "?");
        if (o->sreg <= PTX_SR_NCTAID) ww_buf_printf(out, ".%c", "xyz"[o->imm % 3]);
        break;
    case PTX_O_SYM:
        ww_buf_puts(out, o->sym->name);
        put_offset(o->imm, out);
        break;
    case PTX_O_LABEL:
        ww_buf_printf(out, "L%lld", (long long)o->imm);
        break;
    case PTX_O_LIST:
        ww_buf_printf(out, "list%lld", (long long)o->imm);
        break;
    default:
        ww_buf_puts(out, "_");
    }
}

static void put_operand(const struct ptx_func *f, const struct ptx_operand *o, struct ww_buf *out) {
    if (o->kind == PTX_O_VEC) {
        ww_buf_puts(out, "{");
        for (uint32_t k = 0; k < o->vec_count; k++) {
            if (k) ww_buf_puts(out, ", ");
            put_scalar(f, &o->vec[k], out);
        }
        ww_buf_puts(out, "}");
    } else if (o->kind == PTX_O_ADDR) {
        ww_buf_puts(out, "[");
        if (o->reg >= 0)
            put_reg(f, o->reg, out);
        else if (o->sym)
            ww_buf_puts(out, o->sym->name);
        if (o->reg >= 0 || o->sym)
            put_offset(o->imm, out);
        else
            ww_buf_printf(out, "%lld", (long long)o->imm);
        ww_buf_puts(out, "]");
    } else {
        put_scalar(f, o, out);
    }
}

static void put_call(const struct ptx_func *f, const struct ptx_inst *i, struct ww_buf *out) {
    uint32_t k = 0;
    ww_buf_puts(out, " (");
    for (; k < i->call_ret; k++) {
        if (k) ww_buf_puts(out, ", ");
        put_operand(f, &i->opnd[k], out);
    }
    ww_buf_puts(out, "), ");
    if (i->callee)
        ww_buf_puts(out, i->callee->name);
    else
        put_operand(f, &i->opnd[k++], out);
    ww_buf_puts(out, ", (");
    for (uint32_t first = k; k < i->opnd_count; k++) {
        if (k > first) ww_buf_puts(out, ", ");
        put_operand(f, &i->opnd[k], out);
    }
    ww_buf_puts(out, ");");
}

void ww_ptx_print_inst(const struct ptx_func *f, const struct ptx_inst *i, struct ww_buf *out) {
    if (i->guard >= 0) {
        ww_buf_puts(out, i->guard_neg ? "@!" : "@");
        put_reg(f, i->guard, out);
        ww_buf_puts(out, " ");
    }
    ww_buf_puts(out, ww_ptx_op_name((enum ptx_op)i->op));
    put_modifiers(i, out);
    if (i->op == PTX_CALL) {
        put_call(f, i, out);
        return;
    }
    for (uint32_t k = 0; k < i->opnd_count; k++) {
        ww_buf_puts(out, k == 0 ? " " : k == 1 && i->dst_count == 2 ? "|" : ", ");
        put_operand(f, &i->opnd[k], out);
    }
    ww_buf_puts(out, ";");
}
