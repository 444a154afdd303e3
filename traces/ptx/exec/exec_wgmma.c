/* exec_wgmma.c: PTX's wgmma: the matrix instructions of a warpgroup.
 *
 * Each warp computes its own 16 rows when it comes to the instruction: what a program may observe is the same,
 * since no thread may access operands and sums before wgmma.wait_group. That waits for the groups of the whole
 * warpgroup: a tile may be overwritten after it. */
#include "exec_decode.h"
#include "../front/mma.h"
#include "gmma.h"
#include "simt.h"
#include <string.h>

struct reader {
    struct ex_warp *w;
};

static const unsigned char *read_shared(void *context, uint32_t address) {
    struct reader *r = context;
    return ww_ex_generic(r->w, 0, EX_SHARED_WINDOW + (uint64_t)address, 16);
}

static void multiply(EX_ARGS) {
    uint32_t a[4][EX_LANES], sums[GMMA_SUMS][EX_LANES];
    struct gmma g = *(const struct gmma *)(const void *)i->list;
    struct reader r = {w};
    uint32_t n = gmma_registers(&g);
    if (mask != EX_ALL) {
        ww_ex_fail(w, EX_LANES, WW_EXEC, "a matrix instruction needs all 32 lanes, active are 0x%08x", mask);
        return;
    }
    g.warp = w->index % 4;
    if (!g.in_registers) g.desc_a = ex_lane(w, i->a, 8, 0);
    g.desc_b = ex_lane(w, i->b, 8, 0);
    for (uint32_t l = 0; l < EX_LANES && g.sparse; l++) g.meta[l] = (uint32_t)ex_lane(w, i->d, 4, l);
    const char *why = gmma_refuses(&g);
    if (why) {
        ww_ex_fail(w, EX_LANES, WW_EXEC, "wgmma: %s", why);
        return;
    }
    if (i->c != EX_NO_SLOT) g.keeps = (ex_pred(w, i, i->c, 2) & 1u) != 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t l = 0; l < EX_LANES; l++)
            sums[k][l] = (uint32_t)ex_lane(w, i->elem[k].slot, i->elem[k].width, l);
    for (uint32_t k = 0; k < 4 && g.in_registers; k++)
        for (uint32_t l = 0; l < EX_LANES; l++)
            a[k][l] = (uint32_t)ex_lane(w, i->elem[n + k].slot, i->elem[n + k].width, l);
    if (!ww_gmma(&g, read_shared, &r, a, sums)) return;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t l = 0; l < EX_LANES; l++)
            ex_set_lane(w, i->elem[k].slot, i->elem[k].width, l, sums[k][l]);
}

static void commit(EX_ARGS) {
    (void)i;
    (void)mask;
    w->matrix_groups++;
}

/* Waits, however long, until the other warps of the warpgroup have ended the groups that this one waits for. */
static void wait_group(EX_ARGS) {
    const struct ex_cta *c = w->cta;
    uint32_t first = w->index & ~3u;
    (void)mask;
    for (uint32_t n = first; n < first + 4 && n < c->warp_count; n++) {
        const struct ex_warp *other = &c->warp[n];
        if (other->live == 0 || other->matrix_groups + (uint64_t)i->imm >= w->matrix_groups) continue;
        w->split[w->current].waits = 0;
        w->unmet = true;
    }
}

/* ---- decoding ---- */

static bool type_of(uint8_t type, uint8_t *out) {
    static const struct {
        uint8_t ptx, gmma;
    } all[] = {{PTX_T_F16, GMMA_F16},   {PTX_T_BF16, GMMA_BF16}, {PTX_T_TF32, GMMA_TF32},
               {PTX_T_E4M3, GMMA_E4M3}, {PTX_T_E5M2, GMMA_E5M2}, {PTX_T_S8, GMMA_S8},
               {PTX_T_U8, GMMA_U8},     {PTX_T_B1, GMMA_B1}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (all[k].ptx == type) {
            *out = all[k].gmma;
            return true;
        }
    return false;
}

/* k of a shape by the type of A: 32 bytes, or 64 of which half are stored. */
static bool depth_fits(const struct gmma *g, uint8_t geom) {
    static const uint8_t sparse[] = {PTX_SHAPE_K32, PTX_SHAPE_K32, PTX_SHAPE_K16, PTX_SHAPE_K64,
                                     PTX_SHAPE_K64, PTX_SHAPE_K64, PTX_SHAPE_K64, 0};
    static const uint8_t want[] = {PTX_SHAPE_K16, PTX_SHAPE_K16, PTX_SHAPE_K8,  PTX_SHAPE_K32,
                                   PTX_SHAPE_K32, PTX_SHAPE_K32, PTX_SHAPE_K32, PTX_SHAPE_K256};
    return geom == (g->sparse ? sparse : want)[g->type_a];
}

static bool types_fit(const struct gmma *g, uint8_t d) {
    bool f8 = g->type_a == GMMA_E4M3 || g->type_a == GMMA_E5M2,
         f8_b = g->type_b == GMMA_E4M3 || g->type_b == GMMA_E5M2;
    bool whole = g->type_a >= GMMA_S8, whole_b = g->type_b >= GMMA_S8;
    if (whole != whole_b || f8 != f8_b || (g->type_a == GMMA_B1) != (g->type_b == GMMA_B1)) return false;
    if (whole) return d == PTX_T_S32;
    if (!f8 && g->type_a != g->type_b) return false;
    return d == PTX_T_F32 || (d == PTX_T_F16 && (f8 || g->type_a == GMMA_F16));
}

static enum ww_code add_registers(struct ex_decoder *d, const struct ptx_operand *o, uint32_t count) {
    struct ex_inst *i = d->out;
    if (o->kind != PTX_O_VEC || o->vec_count != count)
        return ww_ex_decode_fail(d, WW_INPUT, "shape and registers do not fit");
    for (uint32_t k = 0; k < count; k++) {
        struct ex_elem *e = &i->elem[i->elem_count++];
        WW_TRY(ww_ex_operand_slot(d, &o->vec[k], 4, &e->slot, &e->width));
        if (e->slot == EX_NO_SLOT || e->width != 4)
            return ww_ex_decode_fail(d, WW_INPUT, "expected 32-bit registers");
    }
    return WW_OK;
}

static enum ww_code descriptor(struct ex_decoder *d, const struct ptx_operand *o, uint32_t *slot) {
    uint8_t width;
    WW_TRY(ww_ex_operand_slot(d, o, 8, slot, &width));
    return *slot != EX_NO_SLOT && width == 8
               ? WW_OK
               : ww_ex_decode_fail(d, WW_INPUT, "expected a descriptor of 64 bits");
}

/* Behind the predicate: signs of A and B, then whether A (unless in registers) and B are transposed. */
static enum ww_code immediates(struct ex_decoder *d, struct gmma *g, uint32_t first) {
    const struct ptx_inst *p = d->inst;
    uint32_t n = p->opnd_count - first, of_types = g->type_a >= GMMA_S8 ? 0 : g->type_a <= GMMA_BF16 ? 4 : 2;
    if (of_types == 4 && g->in_registers) of_types = 3;
    if (n != of_types) return ww_ex_decode_fail(d, WW_INPUT, "these types take other immediates");
    for (uint32_t k = 0; k < n; k++) {
        const struct ptx_operand *o = &p->opnd[first + k];
        bool good =
            o->kind == PTX_O_IMM && (k < 2 ? o->imm == 1 || (int32_t)o->imm == -1 : o->imm == 0 || o->imm == 1);
        if (!good)
            return ww_ex_decode_fail(d, WW_INPUT, "an immediate is neither 1 nor -1 (a sign), nor 0 or 1");
    }
    if (n == 0) return WW_OK;
    g->neg_a = p->opnd[first].imm != 1;
    g->neg_b = p->opnd[first + 1].imm != 1;
    if (n == 4) g->trans_a = p->opnd[first + 2].imm != 0;
    if (n >= 3) g->trans_b = p->opnd[first + n - 1].imm != 0;
    return WW_OK;
}

/* The register of metadata, and which pair of lanes holds it. */
static enum ww_code metadata(struct ex_decoder *d, struct gmma *g) {
    const struct ptx_operand *select = &d->inst->opnd[4];
    uint8_t width;
    WW_TRY(ww_ex_operand_slot(d, &d->inst->opnd[3], 4, &d->out->d, &width));
    if (d->out->d == EX_NO_SLOT || width != 4)
        return ww_ex_decode_fail(d, WW_INPUT, "expected a 32-bit register with metadata");
    if (select->kind != PTX_O_IMM || select->imm < 0 || select->imm > (g->type_a > GMMA_TF32 ? 0 : 1))
        return ww_ex_decode_fail(d, WW_INPUT, "a selector is 0, or of 16 and 32 bits 0 or 1");
    g->selector = (uint8_t)select->imm;
    return WW_OK;
}

enum ww_code ww_ex_decode_wgmma(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    uint8_t width;
    if (p->sub == PTX_SUB_CP_COMMIT) i->fn = commit;
    if (p->sub == PTX_SUB_CP_WAIT_GROUP) {
        i->imm = p->opnd[0].imm;
        i->fn = wait_group;
    }
    if (i->fn) return WW_OK;
    if (p->sub != PTX_SUB_WGMMA_MMA) return ww_ex_choose(d);
    struct gmma *g = ww_arena_alloc(&d->kernel->arena, sizeof *g);
    i->elem = ww_arena_array(&d->kernel->arena, GMMA_SUMS + 4, sizeof *i->elem);
    if (!g || !i->elem) return ww_fail_nomem(d->error, "decoding a kernel");
    *g = (struct gmma){.n = (uint16_t)(8 * p->cp_bytes), .keeps = true, .saturate = (p->mods & PTX_M_SAT) != 0};
    g->sum = p->type[0] == PTX_T_F16 ? GMMA_SUM_F16 : p->type[0] == PTX_T_F32 ? GMMA_SUM_F32 : GMMA_SUM_S32;
    g->sparse = (p->mods & PTX_M_SPARSE) != 0;
    uint32_t scale = g->sparse ? 5 : 3;
    g->in_registers = p->opnd_count > 1 && p->opnd[1].kind == PTX_O_VEC;
    if (p->opnd_count <= scale || !type_of(p->type[1], &g->type_a) || !type_of(p->type[2], &g->type_b) ||
        !types_fit(g, p->type[0]) || !depth_fits(g, p->geom) ||
        (g->type_a == GMMA_B1 && p->boolop != PTX_B_AND))
        return ww_ex_decode_fail(d, WW_UNSUPPORTED, "these types or this shape are not supported");
    WW_TRY(add_registers(d, &p->opnd[0], gmma_registers(g)));
    if (g->in_registers)
        WW_TRY(add_registers(d, &p->opnd[1], 4));
    else
        WW_TRY(descriptor(d, &p->opnd[1], &i->a));
    WW_TRY(descriptor(d, &p->opnd[2], &i->b));
    if (g->sparse) WW_TRY(metadata(d, g));
    if (p->opnd[scale].kind == PTX_O_IMM) {
        i->c = EX_NO_SLOT;
        g->keeps = p->opnd[scale].imm != 0;
    } else {
        WW_TRY(ww_ex_operand_slot(d, &p->opnd[scale], 0, &i->c, &width));
        if (p->opnd[scale].neg) i->neg |= 4u;
    }
    WW_TRY(immediates(d, g, scale + 1));
    i->list = (const void *)g;
    i->fn = multiply;
    return WW_OK;
}
