/* lower_matrix.c: mma, wmma and wgmma as matrix instructions of the architecture: its largest shape that fits,
 * as often as the PTX shape holds it. */
#include "lower.h"
#include "../front/mma.h"
#include <string.h>

static const struct lower_reg nowhere = {.group = -1};

struct native {
    uint8_t type; /* of A, PTX_T_COUNT: none */
    uint8_t sm;
    uint16_t m, n, k;
    const char *name;
};

/* Of a type the largest first. f16 stands for bf16 too, s8 for u8, s4 for u4, e4m3 for e5m2. */
static const struct native natives[] = {
    {PTX_T_F16, 80, 16, 8, 16, "HMMA.16816"},      {PTX_T_F16, 75, 16, 8, 8, "HMMA.1688"},
    {PTX_T_TF32, 80, 16, 8, 8, "HMMA.1688"},       {PTX_T_TF32, 80, 16, 8, 4, "HMMA.1684"},
    {PTX_T_F64, 80, 8, 8, 4, "DMMA.884"},          {PTX_T_S8, 80, 16, 8, 32, "IMMA.16832.S8.S8"},
    {PTX_T_S8, 80, 16, 8, 16, "IMMA.16816.S8.S8"}, {PTX_T_S8, 75, 8, 8, 16, "IMMA.8816.S8.S8"},
    {PTX_T_S4, 80, 16, 8, 64, "IMMA.16864.S4.S4"}, {PTX_T_S4, 80, 16, 8, 32, "IMMA.16832.S4.S4"},
    {PTX_T_S4, 75, 8, 8, 32, "IMMA.8832.S4.S4"},   {PTX_T_E4M3, 89, 16, 8, 32, "QMMA.16832"},
};

static uint8_t alike(uint8_t type) {
    switch (type) {
    case PTX_T_BF16:
        return PTX_T_F16;
    case PTX_T_U8:
        return PTX_T_S8;
    case PTX_T_U4:
        return PTX_T_S4;
    case PTX_T_E5M2:
        return PTX_T_E4M3;
    default:
        return type;
    }
}

static const struct native *native_of(const struct lower *l, uint8_t type, const struct ptx_shape *s) {
    uint32_t cells = (uint32_t)s->m * s->n;
    for (size_t k = 0; k < sizeof natives / sizeof natives[0]; k++) {
        const struct native *x = &natives[k];
        if (x->type == alike(type) && l->sm >= x->sm && x->k <= s->k && cells % ((uint32_t)x->m * x->n) == 0)
            return x;
    }
    return NULL;
}

/* The name with the types that the machine's has behind it. */
static const char *name_of(struct lower *l, const char *base, uint8_t d, uint8_t a) {
    bool of_float = base[0] == 'H' || base[0] == 'Q';
    const char *sum = !of_float ? "" : d == PTX_T_F16 ? ".F16" : ".F32";
    const char *type = a == PTX_T_BF16   ? ".BF16"
                       : a == PTX_T_TF32 ? ".TF32"
                       : base[0] == 'Q'  ? ".E4M3.E4M3"
                                         : "";
    return ww_arena_printf(l->arena, "%s%s%s", base, sum, type);
}

static void add_words(struct lower *l, const struct ptx_operand *o, uint32_t first, struct lower_src *s,
                      unsigned *n) {
    const struct ptx_operand *of = o->kind == PTX_O_VEC ? &o->vec[first < o->vec_count ? first : 0] : o;
    s[(*n)++] = ww_lower_source(l, of);
}

/* One machine instruction of `count`: its part of D and C, the whole of A and B (the first and last register).
 */
static void put_part(struct lower *l, const struct ptx_inst *i, const char *name, unsigned k, unsigned count) {
    const struct ptx_operand *d = &i->opnd[0], *b = &i->opnd[2];
    unsigned regs = d->kind == PTX_O_VEC ? d->vec_count : 1, n = 0;
    unsigned at = regs >= count ? k * (regs / count) : k % regs;
    struct lower_src s[LOWER_SRC_MAX];
    add_words(l, &i->opnd[1], 0, s, &n);
    if (i->opnd[1].kind == PTX_O_VEC) add_words(l, &i->opnd[1], i->opnd[1].vec_count - 1u, s, &n);
    add_words(l, b, b->kind == PTX_O_VEC && b->vec_count > 1 ? k % b->vec_count : 0, s, &n);
    add_words(l, &i->opnd[3], at, s, &n);
    struct lower_inst *m =
        ww_lower_put(l, WW_OP_TENSOR, name, ww_lower_dest(l, d->kind == PTX_O_VEC ? &d->vec[at] : d), s, n);
    if (!m || d->kind != PTX_O_VEC || at + 1 >= regs || regs / count < 2) return;
    struct lower_reg second = ww_lower_dest(l, &d->vec[at + 1]);
    if (second.group >= 0 && m->dst_count == 1) m->dst[m->dst_count++] = second;
}

/* Volta and earlier: HMMA.884 in steps of 256 multiply-adds, or of 512 with sums of f16 (Raihan et al.,
 * "Modeling deep learning accelerator enabled GPUs", ISPASS 2019). */
static void steps(struct lower *l, const struct ptx_inst *i, uint8_t d, uint32_t all) {
    uint32_t each = d == PTX_T_F16 ? 512 : 256, count = all / each ? all / each : 1,
             of_four = d == PTX_T_F16 ? 2 : 4;
    for (uint32_t k = 0; k < count; k++) {
        const char *name = ww_arena_printf(
            l->arena, d == PTX_T_F16 ? "HMMA.884.F16.F16.STEP%u" : "HMMA.884.F32.F32.STEP%u", k % of_four);
        if (!name) {
            l->failed = true;
            return;
        }
        put_part(l, i, name, k, count);
    }
}

static void tensor(struct lower *l, const struct ptx_inst *i) {
    const struct ptx_shape *s = &ww_ptx_shapes[i->geom];
    bool names_ab = i->type[2] && i->type[3];
    uint8_t a = names_ab ? i->type[1] : PTX_T_F16;
    uint32_t all = (uint32_t)s->m * s->n * s->k;
    if (i->opnd_count < 4) return;
    if (i->op == PTX_MMA && s->m == 8 && s->k == 4 && a == PTX_T_F16) all *= 4; /* of four groups of lanes */
    const struct native *x = native_of(l, a, s);
    if (!x || all < (uint32_t)x->m * x->n * x->k) {
        steps(l, i, i->type[0], all);
        return;
    }
    const char *name = name_of(l, x->name, i->type[0], a);
    uint32_t count = all / ((uint32_t)x->m * x->n * x->k);
    if (!name) l->failed = true;
    for (uint32_t k = 0; k < count && name; k++) put_part(l, i, name, k, count);
}

void ww_lower_op_mma(struct lower *l, const struct ptx_inst *i) {
    tensor(l, i);
}

void ww_lower_op_wmma(struct lower *l, const struct ptx_inst *i) {
    i->sub == PTX_SUB_WMMA_MMA ? tensor(l, i) : ww_lower_op_matrix(l, i);
}

/* ---- of a warpgroup ---- */

static const char *warpgroup_name(struct lower *l, const struct ptx_inst *i) {
    uint8_t a = i->type[1];
    uint32_t n = 8u * i->cp_bytes;
    const char *k = ww_ptx_shapes[i->geom].name + 1, *sum = i->type[0] == PTX_T_F16 ? "F16" : "F32";
    const char *sp = i->mods & PTX_M_SPARSE ? ".SP" : "";
    if (a == PTX_T_B1) return ww_arena_printf(l->arena, "BGMMA.64x%ux%s.AND.POPC", n, k);
    if (a == PTX_T_S8 || a == PTX_T_U8) return ww_arena_printf(l->arena, "IGMMA%s.64x%ux%s.S8.S8", sp, n, k);
    if (a == PTX_T_E4M3 || a == PTX_T_E5M2)
        return ww_arena_printf(l->arena, "QGMMA%s.64x%ux%s.%s.E4M3.E4M3", sp, n, k, sum);
    return ww_arena_printf(l->arena, "HGMMA%s.64x%ux%s.%s%s", sp, n, k, sum,
                           a == PTX_T_BF16   ? ".BF16"
                           : a == PTX_T_TF32 ? ".TF32"
                                             : "");
}

static void multiply(struct lower *l, const struct ptx_inst *i) {
    const char *name = warpgroup_name(l, i);
    struct lower_src s[LOWER_SRC_MAX];
    unsigned n = 0;
    if (!name) {
        l->failed = true;
        return;
    }
    add_words(l, &i->opnd[1], 0, s, &n);
    if (i->opnd[1].kind == PTX_O_VEC) add_words(l, &i->opnd[1], 3, s, &n);
    add_words(l, &i->opnd[2], 0, s, &n);
    if (i->opnd[3].kind == PTX_O_REG) add_words(l, &i->opnd[3], 0, s, &n);
    if (i->mods & PTX_M_SPARSE && i->opnd[5].kind == PTX_O_REG) add_words(l, &i->opnd[5], 0, s, &n);
    const struct ptx_operand *d = &i->opnd[0];
    ww_lower_put(l, WW_OP_TENSOR, name, ww_lower_dest(l, d->kind == PTX_O_VEC ? &d->vec[0] : d), s, n);
}

/* Tensor memory. Elements of a load or store have an instruction each. */
static void move_elements(struct lower *l, const struct ptx_inst *i, bool loads) {
    const struct ptx_operand *v = &i->opnd[loads ? 0 : 1], *a = &i->opnd[loads ? 1 : 0];
    uint32_t count = v->kind == PTX_O_VEC ? v->vec_count : 1;
    for (uint32_t k = 0; k < count; k++) {
        const struct ptx_operand *e = v->kind == PTX_O_VEC ? &v->vec[k] : v;
        struct lower_src s[2];
        unsigned n = 0;
        if (a->reg >= 0) s[n++] = ww_lower_source(l, a);
        if (!loads) s[n++] = ww_lower_source(l, e);
        if (loads)
            ww_lower_put(l, WW_OP_INT, "LDTM", ww_lower_dest(l, e), s, n);
        else
            ww_lower_put(l, WW_OP_INT, "STTM", nowhere, s, n);
    }
}

static void multiply_in_tensor_memory(struct lower *l, const struct ptx_inst *i) {
    struct lower_src s[LOWER_SRC_MAX];
    unsigned n = 0;
    static const char *const names[][2] = {{"UTCHMMA", "UTCHMMA.2CTA"},
                                           {"UTCIMMA", "UTCIMMA.2CTA"},
                                           {"UTCQMMA", "UTCQMMA.2CTA"},
                                           {"UTCOMMA", "UTCOMMA.2CTA"}};
    uint8_t type = i->type[0];
    unsigned of = type == PTX_T_S8                               ? 1
                  : type == PTX_T_E4M3 || type == PTX_T_MXF8F6F4 ? 2
                  : type == PTX_T_MXF4 || type == PTX_T_MXF4NVF4 ? 3
                                                                 : 0;
    const char *name = names[of][i->rank == 2];
    for (uint8_t k = 0; k < (type >= PTX_T_MXF8F6F4 ? 6 : 4); k++) {
        const struct ptx_operand *o = &i->opnd[k];
        if (o->kind == PTX_O_REG || (o->kind == PTX_O_ADDR && o->reg >= 0)) add_words(l, o, 0, s, &n);
    }
    ww_lower_put(l, WW_OP_TENSOR, name, nowhere, s, n);
}

static void copy_to_tensor_memory(struct lower *l, const struct ptx_inst *i) {
    struct lower_src s[2];
    unsigned n = 0;
    for (uint8_t k = 0; k < 2; k++)
        if (i->opnd[k].reg >= 0) s[n++] = ww_lower_source(l, &i->opnd[k]);
    ww_lower_put(l, WW_OP_INT, "UTCCP", nowhere, s, n);
}

void ww_lower_op_tcgen05(struct lower *l, const struct ptx_inst *i) {
    struct lower_inst *m;
    switch (i->sub) {
    case PTX_SUB_TC_LD:
    case PTX_SUB_TC_ST:
        move_elements(l, i, i->sub == PTX_SUB_TC_LD);
        return;
    case PTX_SUB_TC_MMA:
        multiply_in_tensor_memory(l, i);
        return;
    case PTX_SUB_TC_CP:
        copy_to_tensor_memory(l, i);
        return;
    case PTX_SUB_TC_COMMIT:
        m = ww_lower_put(l, WW_OP_NOP, "NOP", nowhere, NULL, 0);
        if (m) m->flags |= WW_INST_GROUP_END;
        ww_lower_mbarrier(ww_lower_put(l, WW_OP_BARRIER, "UTCBAR", nowhere, NULL, 0), false);
        return;
    case PTX_SUB_TC_ALLOC:
        m = ww_lower_put(l, WW_OP_STORE, "STS", nowhere, NULL, 0);
        if (!m) return;
        m->space = WW_SPACE_SHARED;
        m->width = 4;
        m->flags |= WW_INST_ACCESS;
        m->access_part = 0;
        return;
    default:
        ww_lower_put(l, WW_OP_NOP, "NOP", nowhere, NULL, 0);
        return;
    }
}

/* The end of a group is a property of its last instruction, where that stands right before. */
static void commit(struct lower *l) {
    struct lower_inst *last = l->inst_count ? &l->inst[l->inst_count - 1] : NULL;
    const struct ptx_func *f = l->func;
    bool own = last && last->op == WW_OP_TENSOR && strstr(last->name, "GMMA.") &&
               f->inst[last->ptx].block == f->inst[l->cur].block;
    if (!own) last = ww_lower_put(l, WW_OP_NOP, "NOP", nowhere, NULL, 0);
    if (last) last->flags |= WW_INST_GROUP_END;
}

void ww_lower_op_wgmma(struct lower *l, const struct ptx_inst *i) {
    struct lower_inst *m;
    switch (i->sub) {
    case PTX_SUB_WGMMA_MMA:
        multiply(l, i);
        return;
    case PTX_SUB_CP_COMMIT:
        commit(l);
        return;
    case PTX_SUB_CP_WAIT_GROUP:
        m = ww_lower_put(l, WW_OP_WARP_SYNC, "WARPGROUP.DEPBAR.LE", nowhere, NULL, 0);
        if (!m) return;
        m->flags |= WW_INST_GROUP_WAIT;
        m->barrier_threads = (uint16_t)(i->opnd[0].imm & 63);
        return;
    default:
        ww_lower_put(l, WW_OP_WARP_SYNC, "WARPGROUP.ARRIVE", nowhere, NULL, 0);
        return;
    }
}
