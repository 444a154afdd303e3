/* alu_matrix_group.c: HGMMA, IGMMA, QGMMA, BGMMA: a warp's rows of a warpgroup's product
 * (traces/ptx/exec/gmma.h). They are done when the warp comes to them: what a program may observe is the same,
 * since a wait (WARPGROUP.DEPBAR) is for the groups of the whole warpgroup. */
#include "../../ptx/exec/gmma.h"
#include "access.h"
#include "alu_matrix.h"

#define ENDS_GROUP 16u
#define SPARSE 32u

struct reader {
    struct sx_warp *w;
};

static const unsigned char *read_shared(void *context, uint32_t address) {
    struct sx_warp *w = ((struct reader *)context)->w;
    uint32_t size = w->run->shared_bytes;
    if (address <= size && size - address >= 16) return w->cta->shared + address;
    ww_sx_fail(w, SX_LANES, WW_EXEC, "a matrix lies at 0x%x of shared memory, which has %u bytes", address,
               size);
    return NULL;
}

/* Descriptors are of the warp: their registers are uniform. */
static uint64_t descriptor(const struct sx_warp *w, uint32_t slot, uint32_t row) {
    const uint32_t *rows = sx_src(w, slot);
    return sx_get64(rows + row * SX_LANES, 0);
}

static void multiply_group(SX_ARGS) {
    uint32_t a[4][SX_LANES], sums[GMMA_SUMS][SX_LANES];
    struct gmma g = {.type_a = i->type,
                     .type_b = i->type2,
                     .sum = i->type3,
                     .n = (uint16_t)(8u * i->sub),
                     .neg_a = i->neg & 1u,
                     .neg_b = (i->neg & 2u) != 0,
                     .trans_a = i->mods & 1u,
                     .trans_b = (i->mods & 2u) != 0,
                     .saturate = (i->mods & 4u) != 0,
                     .in_registers = (i->mods & 8u) != 0,
                     .keeps = (sx_ps(w, i, 0) & 1u) != 0 && i->c != SX_ZERO,
                     .sparse = (i->mods & SPARSE) != 0,
                     .selector = (uint8_t)i->imm,
                     .warp = w->index % 4};
    struct reader r = {w};
    uint32_t n = gmma_registers(&g);
    if (mask != SX_ALL) {
        ww_sx_fail(w, SX_LANES, WW_EXEC, "a matrix instruction needs all 32 lanes, active are 0x%08x", mask);
        return;
    }
    g.desc_b = descriptor(w, i->b, 2); /* behind the place of A's, which is there in any case */
    if (g.in_registers)
        memcpy(a, sx_src(w, i->a), sizeof a);
    else
        g.desc_a = descriptor(w, i->b, 0);
    if (g.sparse) memcpy(g.meta, sx_src(w, i->d2), sizeof g.meta);
    const char *why = gmma_refuses(&g);
    if (why) {
        ww_sx_fail(w, SX_LANES, WW_EXEC, "wgmma: %s", why);
        return;
    }
    if (g.keeps) memcpy(sums, sx_src(w, i->c), n * sizeof sums[0]);
    if (ww_gmma(&g, read_shared, &r, a, sums)) memcpy(sx_dst(w, i->d), sums, n * sizeof sums[0]);
    if (i->mods & ENDS_GROUP) w->matrix_groups++;
}

/* Waits, however long, until the other warps of the warpgroup have ended the groups that this one waits for. */
static void wait_group(SX_ARGS) {
    const struct sx_cta *c = w->cta;
    uint32_t first = w->index & ~3u;
    (void)mask;
    for (uint32_t n = first; n < first + 4 && n < c->warp_count; n++) {
        const struct sx_warp *other = &c->warp[n];
        if (other->live == 0 || other->matrix_groups + (uint64_t)i->imm >= w->matrix_groups) continue;
        w->group[w->current].waits = 0;
        w->unmet = true;
    }
}

/* ---- building ---- */

static uint8_t type_of(uint8_t type, uint8_t other) {
    switch (type) {
    case SASS_T_F16:
        return GMMA_F16;
    case SASS_T_BF16:
        return GMMA_BF16;
    case SASS_T_TF32:
        return GMMA_TF32;
    case SASS_T_E4M3:
        return GMMA_E4M3;
    case SASS_T_E5M2:
        return GMMA_E5M2;
    case SASS_T_S8:
        return GMMA_S8;
    case SASS_T_U8:
        return GMMA_U8;
    default:
        return other;
    }
}

bool ww_sx_pick_group_wait(const struct ww_sass_insn *in, struct sx_inst *i) {
    if (!in->mod[SASS_M_EXTRA]) return false;
    i->imm = in->opd[SASS_B].imm & 63;
    i->fn = wait_group;
    return true;
}

bool ww_sx_alu_matrix_group(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    bool bits = in->op == SASS_BGMMA, whole = bits || in->op == SASS_IGMMA;
    if (in->op != SASS_HGMMA && in->op != SASS_QGMMA && !whole) return false;
    bool both = in->opd[SASS_A].kind == SASS_K_GDESC;
    enum ww_sass_slot slot = both ? SASS_A : SASS_B;
    uint8_t sum = in->mod[SASS_M_DTYPE] == SASS_T_F16 ? GMMA_SUM_F16 : GMMA_SUM_F32;
    uint32_t n8 = in->mod[SASS_M_N8], rows = whole || sum == GMMA_SUM_F32 ? 4 * n8 : 2 * n8;
    if ((in->mod[SASS_M_SPARSE] && bits) || !n8 || n8 > 32 || in->opd[slot].kind != SASS_K_GDESC) return false;
    i->type = bits ? GMMA_B1 : type_of(in->mod[SASS_M_STYPE], GMMA_F16);
    i->type2 = bits ? GMMA_B1 : in->op == SASS_HGMMA ? i->type : type_of(in->mod[SASS_M_BTYPE], i->type);
    i->type3 = whole ? GMMA_SUM_S32 : sum;
    i->sub = (uint8_t)n8;
    i->neg = (uint8_t)((in->mod[SASS_M_NEG_A] ? 1u : 0u) | (in->mod[SASS_M_NEG_B] ? 2u : 0u));
    if (!both && in->opd[SASS_A].flags & SASS_F_NEG) i->neg |= 1u;
    i->mods = (in->mod[SASS_M_LAYOUT] ? 1u : 0u) | (in->mod[SASS_M_LAYOUT_B] ? 2u : 0u) |
              (in->mod[SASS_M_SAT] ? 4u : 0u) | (both ? 0 : 8u) | (in->raw[1] >> 20 & 7u ? 0 : ENDS_GROUP) |
              (in->mod[SASS_M_SPARSE] ? SPARSE : 0);
    if (in->mod[SASS_M_SPARSE]) {
        i->d2 = ww_sx_src(b, in, SASS_E, 1);
        i->imm = in->mod[SASS_M_SELECT];
        if (i->imm > (in->op == SASS_HGMMA ? 1 : 0)) return false;
    }
    i->d = ww_sx_dst(b, in, SASS_D, rows);
    i->c = ww_sx_src(b, in, SASS_C, rows);
    i->a = both ? SX_ZERO : ww_sx_src(b, in, SASS_A, 4);
    i->b = ww_sx_uniform(b, in->opd[slot].ureg, 4);
    i->ps[0] = ww_sx_pred_src(b, in, SASS_PS, 0, i);
    i->fn = multiply_group;
    return in->opd[SASS_D].reg != SASS_RZ;
}
