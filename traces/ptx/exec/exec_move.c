/* exec_move.c: mov with packing and unpacking, special registers, address space conversions. */
#include "simt.h"

static void mov32(EX_ARGS) {
    const uint32_t *a = ex_src(w, i->a);
    uint32_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = a[l];);
}
static void mov64(EX_ARGS) {
    const uint64_t *a = ex_src(w, i->a);
    uint64_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = a[l];);
}
static void mov128(EX_ARGS) {
    const uint64_t *a = ex_src(w, i->a);
    uint64_t *d = ex_dst(w, i->d);
    EX_EACH(mask, d[l] = a[l]; d[l + EX_LANES] = a[l + EX_LANES];);
}
static void mov_pred(EX_ARGS) {
    ex_set_pred(w, i->d, ex_pred(w, i, i->a, 0), mask);
}

/* Address of a local variable: the activation's frame begins where its callers' end. */
static void mov_local(EX_ARGS) {
    for (uint32_t m = mask; m; m &= m - 1)
        ex_set_lane(w, i->d, i->dw, (unsigned)__builtin_ctz(m), w->frame->local_base + (uint64_t)i->imm);
}

/* mov.b64 d, {a, b}: the first element is the lowest. imm: bits of one element. */
static void pack(EX_ARGS) {
    uint32_t bits = (uint32_t)i->imm;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v = 0;
        for (uint32_t n = 0; n < i->elem_count; n++) {
            uint64_t part = ex_lane(w, i->elem[n].slot, i->elem[n].width, l);
            v |= (bits == 64 ? part : part & (((uint64_t)1 << bits) - 1)) << (n * bits);
        }
        ex_set_lane(w, i->d, i->dw, l, v);
    }
}

static void unpack(EX_ARGS) {
    uint32_t bits = (uint32_t)i->imm;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v = ex_lane(w, i->a, i->aw, l);
        for (uint32_t n = 0; n < i->elem_count; n++) {
            if (i->elem[n].slot == EX_NO_SLOT) continue;
            uint64_t part = v >> (n * bits);
            ex_set_lane(w, i->elem[n].slot, i->elem[n].width, l, part & (((uint64_t)1 << bits) - 1));
        }
    }
}

static void pack128(EX_ARGS) {
    const uint64_t *lo = ex_src(w, i->elem[0].slot), *hi = ex_src(w, i->elem[1].slot);
    uint64_t *d = ex_dst(w, i->d);
    EX_EACH(mask, uint64_t x = lo[l]; uint64_t y = hi[l]; d[l] = x; d[l + EX_LANES] = y;);
}

static void unpack128(EX_ARGS) {
    const uint64_t *a = ex_src(w, i->a);
    for (uint32_t n = 0; n < 2; n++) {
        if (i->elem[n].slot == EX_NO_SLOT) continue;
        uint64_t *d = ex_dst(w, i->elem[n].slot);
        EX_EACH(mask, d[l] = a[l + n * EX_LANES];);
    }
}

static uint64_t window_base(uint8_t space) {
    switch (space) {
    case PTX_S_SHARED:
        return EX_SHARED_WINDOW;
    case PTX_S_LOCAL:
        return EX_LOCAL_WINDOW;
    case PTX_S_CONST:
        return EX_CONST_WINDOW;
    case PTX_S_PARAM:
        return EX_PARAM_WINDOW;
    default:
        return 0;
    }
}

static void cvta(EX_ARGS) {
    uint64_t base = window_base(i->space);
    if (i->mods & PTX_M_TO) base = 0 - base;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        ex_set_lane(w, i->d, i->dw, l, ex_lane(w, i->a, i->aw, l) + base);
    }
}

static bool in_space(uint64_t a, uint8_t space) {
    uint64_t base = window_base(space);
    if (base) return a - base < EX_WINDOW_BYTES;
    return a >= MEM_BASE;
}

static void isspacep(EX_ARGS) {
    uint32_t r = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        r |= (uint32_t)in_space(ex_lane(w, i->a, i->aw, l), i->space) << l;
    }
    ex_set_pred(w, i->d, r, mask);
}

static void nothing(EX_ARGS) {
    (void)w;
    (void)i;
    (void)mask;
}

static uint32_t lane_mask(uint32_t sreg, unsigned l) {
    uint32_t eq = 1u << l, lt = eq - 1;
    switch (sreg) {
    case PTX_SR_LANEMASK_EQ:
        return eq;
    case PTX_SR_LANEMASK_LE:
        return lt | eq;
    case PTX_SR_LANEMASK_LT:
        return lt;
    case PTX_SR_LANEMASK_GE:
        return ~lt;
    default:
        return ~(lt | eq);
    }
}

static uint32_t thread_index(const struct ex_warp *w, unsigned l, int64_t component) {
    const uint32_t *b = w->run->block;
    uint32_t t = w->index * EX_LANES + l;
    return component == 0 ? t % b[0] : component == 1 ? t / b[0] % b[1] : component == 2 ? t / b[0] / b[1] : 0;
}

static uint64_t of_dims(const uint32_t v[3], int64_t component, uint32_t other) {
    return component >= 0 && component < 3 ? v[component] : other;
}

/* CTAs of a cluster along a dimension. */
static uint32_t cluster_dim(const struct ex_run *r, int64_t component) {
    return r->cluster[component] ? r->cluster[component] : 1;
}

/* The same for all lanes. Time is the number of warp instructions that the launch has executed. */
static uint64_t uniform_sreg(const struct ex_warp *w, const struct ex_inst *i) {
    const struct ex_run *r = w->run;
    switch (i->type2) {
    case PTX_SR_NTID:
        return of_dims(r->block, i->imm, 1);
    case PTX_SR_CTAID:
        return of_dims(w->cta->ctaid, i->imm, 0);
    case PTX_SR_NCTAID:
        return of_dims(r->grid, i->imm, 1);
    case PTX_SR_CLUSTERID:
        return i->imm < 3 ? w->cta->ctaid[i->imm] / cluster_dim(r, i->imm) : 0;
    case PTX_SR_NCLUSTERID:
        return i->imm < 3 ? r->grid[i->imm] / cluster_dim(r, i->imm) : 1;
    case PTX_SR_CLUSTER_CTAID:
        return i->imm < 3 ? w->cta->ctaid[i->imm] % cluster_dim(r, i->imm) : 0;
    case PTX_SR_CLUSTER_NCTAID:
        return i->imm < 3 ? cluster_dim(r, i->imm) : 1;
    case PTX_SR_CLUSTER_CTARANK:
        return w->cta->rank;
    case PTX_SR_CLUSTER_NCTARANK:
        return w->cta->cluster->count;
    case PTX_SR_IS_EXPLICIT_CLUSTER:
        return r->cluster[0] != 0;
    case PTX_SR_WARPID:
        return w->index;
    case PTX_SR_NWARPID:
        return 64;
    case PTX_SR_SMID:
        return w->cta->index % 80;
    case PTX_SR_NSMID:
        return 80;
    case PTX_SR_GRIDID:
        return r->grid_id;
    case PTX_SR_CLOCK:
    case PTX_SR_GLOBALTIMER_LO:
        return (uint32_t)r->clock;
    case PTX_SR_CLOCK64:
    case PTX_SR_GLOBALTIMER:
        return r->clock;
    case PTX_SR_CLOCK_HI:
    case PTX_SR_GLOBALTIMER_HI:
        return r->clock >> 32;
    case PTX_SR_DYNAMIC_SMEM_SIZE:
        return r->dynamic_shared;
    case PTX_SR_TOTAL_SMEM_SIZE:
        return r->shared_bytes;
    case PTX_SR_WARPSZ:
        return EX_LANES;
    case PTX_SR_ENVREG: /* 1 and 2: upper and lower half of the cooperative grid's workspace */
        return i->imm == 1 ? r->workspace >> 32 : i->imm == 2 ? (uint32_t)r->workspace : 0;
    default:
        return 0;
    }
}

void ww_ex_read_sreg(EX_ARGS) {
    uint64_t uniform = uniform_sreg(w, i);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v = uniform;
        if (i->type2 == PTX_SR_TID)
            v = thread_index(w, l, i->imm);
        else if (i->type2 == PTX_SR_LANEID)
            v = l;
        else if (i->type2 >= PTX_SR_LANEMASK_EQ && i->type2 <= PTX_SR_LANEMASK_GT)
            v = lane_mask(i->type2, l);
        if (i->dw == 0)
            ex_set_pred(w, i->d, v ? EX_ALL : 0, 1u << l);
        else
            ex_set_lane(w, i->d, i->dw, l, v);
    }
}

ex_fn ww_ex_pick_mov(struct ex_inst *i) {
    const struct ptx_inst *src = i->src;
    if (src->opnd_count != 2) return NULL;
    if (i->elem_count && src->opnd[0].kind == PTX_O_VEC) return i->aw == 16 ? unpack128 : unpack;
    if (i->elem_count) return i->dw == 16 ? pack128 : pack;
    bool is_variable = src->opnd[1].kind == PTX_O_SYM && src->opnd[1].sym->kind == PTX_SYM_VAR;
    if (is_variable && src->opnd[1].sym->space == PTX_S_LOCAL)
        return i->dw == 4 || i->dw == 8 ? mov_local : NULL;
    if (i->dw == 0) return mov_pred;
    return i->dw == 4 ? mov32 : i->dw == 8 ? mov64 : mov128;
}

EX_PICK(cvta, cvta)
EX_PICK(isspacep, isspacep)
EX_PICK(nothing, nothing)
