/* exec_tcgen05.c: PTX's tcgen05: tensor memory, what moves data to and from it, and the matrix instructions of
 * one thread. Each is done when it is asked for, so that waits and fences have nothing to do, and a commit
 * arrives at once. */
#include "exec_decode.h"
#include "../front/mma.h"
#include "simt.h"
#include "tmem.h"
#include <stdlib.h>
#include <string.h>

#define COLUMNS_STEP 32u

static uint32_t address_of(const struct ex_warp *w, const struct ex_inst *i, unsigned l) {
    uint64_t v = i->a == EX_NO_SLOT ? 0 : ex_lane(w, i->a, i->aw, l);
    return (uint32_t)(v + (uint64_t)i->imm);
}

/* In shared memory, where a generic address may stand too. */
static uint64_t shared_of(const struct ex_warp *w, const struct ex_inst *i, unsigned l) {
    uint64_t v = i->a == EX_NO_SLOT ? 0 : ex_lane(w, i->a, i->aw, l);
    v += (uint64_t)i->imm;
    return v - EX_SHARED_WINDOW < EX_WINDOW_BYTES ? v - EX_SHARED_WINDOW : (uint32_t)v;
}

static bool whole_warp(struct ex_warp *w, uint32_t mask) {
    if (mask == EX_ALL) return true;
    ww_ex_fail(w, EX_LANES, WW_EXEC, "tcgen05 needs all 32 lanes here, active are 0x%08x", mask);
    return false;
}

/* ---- allocation ---- */

/* Columns of an allocation: 32 to 512, a power of two. */
static uint32_t columns_of(struct ex_warp *w, uint64_t n) {
    if (n >= COLUMNS_STEP && n <= TMEM_COLUMNS && !(n & (n - 1))) return (uint32_t)n;
    ww_ex_fail(w, EX_LANES, WW_EXEC, "tensor memory: %llu columns; expected a power of two from 32 to 512",
               (unsigned long long)n);
    return 0;
}

static uint32_t bits_of(uint32_t columns, uint32_t first) {
    return ((1u << columns / COLUMNS_STEP) - 1) << first / COLUMNS_STEP;
}

static void allocate(EX_ARGS) {
    struct ex_cta *c = w->cta;
    if (!whole_warp(w, mask)) return;
    uint32_t columns = columns_of(w, ex_lane(w, i->b, i->bw, 0)), at = 0;
    uint64_t shared = shared_of(w, i, 0);
    unsigned char *to = shared % 4 ? NULL : ww_ex_shared(w, shared, 4);
    if (!columns) return;
    if (c->tmem_over) {
        ww_ex_fail(w, EX_LANES, WW_EXEC, "tcgen05.alloc after the CTA's tcgen05.relinquish_alloc_permit");
        return;
    }
    if (!to) {
        ww_ex_fail_shared(w, 0, shared, 4, "store");
        return;
    }
    if (!c->tmem && !(c->tmem = calloc((size_t)TMEM_LANES * TMEM_COLUMNS, sizeof *c->tmem))) {
        ww_ex_fail(w, EX_LANES, WW_NOMEM, "memory ran out for tensor memory");
        return;
    }
    while (at < TMEM_COLUMNS && c->tmem_held & bits_of(columns, at)) at += columns;
    if (at >= TMEM_COLUMNS) {
        ww_ex_fail(w, EX_LANES, WW_EXEC, "tensor memory: the CTA has no %u columns left", columns);
        return;
    }
    c->tmem_held |= (uint16_t)bits_of(columns, at);
    memcpy(to, &at, 4);
    w->addr[0] = shared;
    w->group[0] = (struct access_group){PTX_S_SHARED, 1};
    w->group_count = 1;
}

static void give_back(EX_ARGS) {
    struct ex_cta *c = w->cta;
    if (!whole_warp(w, mask)) return;
    uint64_t at = ex_lane(w, i->a, i->aw, 0);
    uint32_t columns = columns_of(w, ex_lane(w, i->b, i->bw, 0));
    if (!columns) return;
    bool held = at < TMEM_COLUMNS && at % columns == 0 &&
                (c->tmem_held & bits_of(columns, (uint32_t)at)) == bits_of(columns, (uint32_t)at);
    if (!held) {
        ww_ex_fail(w, EX_LANES, WW_EXEC, "tensor memory: %u columns at 0x%llx are not allocated", columns,
                   (unsigned long long)at);
        return;
    }
    c->tmem_held &= (uint16_t)~bits_of(columns, (uint32_t)at);
}

static void relinquish(EX_ARGS) {
    (void)i;
    if (whole_warp(w, mask)) w->cta->tmem_over = true;
}

/* Whether all columns of a range are allocated. */
static bool is_held(struct ex_warp *w, uint32_t first, uint32_t count) {
    bool held = w->cta->tmem && count && first + count <= TMEM_COLUMNS;
    for (uint32_t n = first / COLUMNS_STEP; held && n <= (first + count - 1) / COLUMNS_STEP; n++)
        held = ((uint32_t)w->cta->tmem_held >> n & 1u) != 0;
    if (!held)
        ww_ex_fail(w, EX_LANES, WW_EXEC, "tensor memory: columns %u to %u are not all allocated", first,
                   first + count - 1);
    return held;
}

/* ---- loads and stores ---- */

/* Where register r of a lane lies: rows from the address's lane on. */
static uint32_t place(uint8_t geom, unsigned l, uint32_t r, uint32_t *column) {
    switch (geom) {
    case PTX_SHAPE_16X128B: /* four columns for each two registers */
        *column = r / 2 * 4 + l % 4;
        return l / 4 + 8 * (r % 2);
    case PTX_SHAPE_16X256B: /* eight columns for each four */
        *column = r / 4 * 8 + l % 4 * 2 + r % 2;
        return l / 4 + 8 * (r / 2 % 2);
    default:
        *column = r;
        return l;
    }
}

static void move(EX_ARGS) {
    uint32_t at = address_of(w, i, 0), lane = at >> 16, first = at & 0xffff, own = w->index % 4 * 32;
    uint8_t geom = i->src->geom;
    uint32_t rows = geom == PTX_SHAPE_32X32B ? 32 : 16,
             columns = rows == 32 ? i->elem_count : 2 * i->elem_count;
    if (!whole_warp(w, mask) || !is_held(w, first, columns)) return;
    if (lane != own && (rows == 32 || lane != own + 16)) {
        ww_ex_fail(w, EX_LANES, WW_EXEC, "tensor memory: a warp's lanes begin at %u, not at %u", own, lane);
        return;
    }
    for (uint32_t r = 0; r < i->elem_count; r++)
        for (unsigned l = 0; l < EX_LANES; l++) {
            uint32_t column, row = place(geom, l, r, &column);
            uint32_t *word = &w->cta->tmem[(lane + row) * TMEM_COLUMNS + first + column];
            if (i->sub == PTX_SUB_TC_LD)
                ex_set_lane(w, i->elem[r].slot, i->elem[r].width, l, *word);
            else
                *word = (uint32_t)ex_lane(w, i->elem[r].slot, i->elem[r].width, l);
        }
}

/* ---- matrix instructions ---- */

static const unsigned char *read_shared(void *context, uint32_t address) {
    return ww_ex_generic(context, 0, EX_SHARED_WINDOW + (uint64_t)address, 16);
}

static void multiply(EX_ARGS) {
    for (uint32_t left = mask; left && !w->run->failed; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t to = address_of(w, i, l), a_at = 0;
        struct tmem_mma m;
        const char *why = ww_tmem_describe((uint32_t)ex_lane(w, i->elem[2].slot, 4, l), i->src->type[0], &m);
        m.g.in_registers = i->elem[0].width == 4;
        if (!why && m.g.in_registers) a_at = (uint32_t)ex_lane(w, i->elem[0].slot, 4, l);
        if (!why && m.g.in_registers && m.g.trans_a) why = "an A in tensor memory is not transposed";
        bool good =
            why || ((m.g.in_registers || ww_tmem_operand(ex_lane(w, i->elem[0].slot, 8, l), &m.g.desc_a)) &&
                    ww_tmem_operand(ex_lane(w, i->elem[1].slot, 8, l), &m.g.desc_b));
        if (!good) why = "a descriptor of shared memory has a swizzle that is not supported";
        if (!why) {
            m.g.keeps = i->c == EX_NO_SLOT ? i->list_count != 0 : ex_pred(w, i, i->c, 2) >> l & 1u;
            if (!is_held(w, to & 0xffff, m.g.n)) return;
            if (m.g.in_registers && !is_held(w, a_at & 0xffff, 8)) return;
            w->value = tmem_shape(&m);
            why = ww_tmem_multiply(&m, w->cta->tmem, to, a_at, read_shared, w);
        }
        if (why && *why) ww_ex_fail(w, l, WW_EXEC, "tcgen05.mma: %s", why);
    }
}

static void copy(EX_ARGS) {
    for (uint32_t left = mask; left && !w->run->failed; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t to = address_of(w, i, l);
        uint64_t from;
        const char *why = "a descriptor of shared memory has a swizzle that is not supported";
        if (!is_held(w, to & 0xffff, ww_tmem_copy_columns(i->src->geom))) return;
        if (ww_tmem_operand(ex_lane(w, i->b, 8, l), &from))
            why = ww_tmem_copy(i->src->geom, from, w->cta->tmem, to, read_shared, w);
        if (why && *why) ww_ex_fail(w, l, WW_EXEC, "tcgen05.cp: %s", why);
    }
}

static void commit(EX_ARGS) {
    ww_mbarrier_clear(&w->mbar);
    for (uint32_t m = mask; m && !w->run->failed; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (!ww_ex_mbarrier_commit(w, l, shared_of(w, i, l))) return;
    }
}

static void nothing(EX_ARGS) {
    (void)w;
    (void)i;
    (void)mask;
}

/* ---- decoding ---- */

static enum ww_code address(struct ex_decoder *d, const struct ptx_operand *o) {
    uint8_t space = PTX_S_GENERIC;
    return ww_ex_address_operand(d, o, &d->out->a, &d->out->aw, &d->out->imm, &space);
}

static enum ww_code scalar(struct ex_decoder *d, const struct ptx_operand *o, uint8_t width,
                           struct ex_elem *e) {
    WW_TRY(ww_ex_operand_slot(d, o, width, &e->slot, &e->width));
    bool good = e->slot != EX_NO_SLOT && e->width == width;
    return good ? WW_OK
                : ww_ex_decode_fail(d, WW_INPUT, "a register's size does not fit the instruction's operand");
}

static enum ww_code elements(struct ex_decoder *d, uint32_t room) {
    d->out->elem = ww_arena_array(&d->kernel->arena, room, sizeof *d->out->elem);
    return d->out->elem ? WW_OK : ww_fail_nomem(d->error, "decoding a kernel");
}

/* 32x32b: a register for each column; 16x128b: two for four; 16x256b: four for eight. */
static enum ww_code decode_move(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    bool loads = p->sub == PTX_SUB_TC_LD;
    const struct ptx_operand *o = &p->opnd[loads ? 0 : 1];
    uint32_t of = p->geom == PTX_SHAPE_16X256B ? 4 : p->geom == PTX_SHAPE_16X128B ? 2 : 1, count = of * p->vec;
    if (p->geom < PTX_SHAPE_32X32B || p->geom > PTX_SHAPE_16X256B || count > TMEM_LANES)
        return ww_ex_decode_fail(d, WW_UNSUPPORTED, "this shape is not supported");
    if (o->kind == PTX_O_VEC ? o->vec_count != count : count != 1)
        return ww_ex_decode_fail(d, WW_INPUT, "shape and registers do not fit");
    WW_TRY(address(d, &p->opnd[loads ? 1 : 0]));
    WW_TRY(elements(d, count));
    for (uint32_t n = 0; n < count; n++)
        WW_TRY(scalar(d, o->kind == PTX_O_VEC ? &o->vec[n] : o, 4, &d->out->elem[n]));
    d->out->elem_count = count;
    d->out->fn = move;
    return WW_OK;
}

static enum ww_code decode_multiply(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    bool in_tensor_memory = p->opnd[1].kind == PTX_O_ADDR;
    uint8_t type = p->type[0], width, space = PTX_S_GENERIC;
    int64_t offset = 0;
    if (type != PTX_T_F16 && type != PTX_T_TF32 && type != PTX_T_E4M3 && type != PTX_T_S8)
        return ww_ex_decode_fail(d, WW_UNSUPPORTED,
                                 "expected .kind::f16, .kind::tf32, .kind::f8f6f4 or .kind::i8");
    WW_TRY(elements(d, 3));
    WW_TRY(address(d, &p->opnd[0]));
    if (in_tensor_memory)
        WW_TRY(ww_ex_address_operand(d, &p->opnd[1], &i->elem[0].slot, &i->elem[0].width, &offset, &space));
    else
        WW_TRY(scalar(d, &p->opnd[1], 8, &i->elem[0]));
    if (in_tensor_memory && (i->elem[0].slot == EX_NO_SLOT || i->elem[0].width != 4 || offset))
        return ww_ex_decode_fail(d, WW_INPUT, "expected a register with an address of tensor memory");
    WW_TRY(scalar(d, &p->opnd[2], 8, &i->elem[1]));
    WW_TRY(scalar(d, &p->opnd[3], 4, &i->elem[2]));
    i->c = EX_NO_SLOT;
    i->list_count = p->opnd[4].kind == PTX_O_IMM && p->opnd[4].imm;
    if (p->opnd[4].kind != PTX_O_IMM) WW_TRY(ww_ex_operand_slot(d, &p->opnd[4], 0, &i->c, &width));
    if (p->opnd[4].neg) i->neg |= 4u;
    i->fn = multiply;
    return WW_OK;
}

enum ww_code ww_ex_decode_tcgen05(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    struct ex_elem e;
    i->sub = p->sub;
    switch (p->sub) {
    case PTX_SUB_TC_ALLOC:
    case PTX_SUB_TC_DEALLOC:
        i->kind = p->sub == PTX_SUB_TC_ALLOC ? EX_MEM : i->kind;
        if (p->sub == PTX_SUB_TC_ALLOC) {
            WW_TRY(address(d, &p->opnd[0]));
        } else {
            WW_TRY(scalar(d, &p->opnd[0], 4, &e));
            i->a = e.slot, i->aw = e.width;
        }
        WW_TRY(scalar(d, &p->opnd[1], 4, &e));
        i->b = e.slot, i->bw = e.width;
        i->fn = p->sub == PTX_SUB_TC_ALLOC ? allocate : give_back;
        return WW_OK;
    case PTX_SUB_TC_LD:
    case PTX_SUB_TC_ST:
        return decode_move(d);
    case PTX_SUB_TC_MMA:
        return decode_multiply(d);
    case PTX_SUB_TC_CP:
        if (p->geom < PTX_SHAPE_128X256B)
            return ww_ex_decode_fail(d, WW_UNSUPPORTED, "this shape is not supported");
        WW_TRY(address(d, &p->opnd[0]));
        WW_TRY(scalar(d, &p->opnd[1], 8, &e));
        i->b = e.slot, i->bw = e.width;
        i->fn = copy;
        return WW_OK;
    case PTX_SUB_TC_COMMIT:
        i->kind = EX_MEM;
        i->fn = commit;
        return address(d, &p->opnd[0]);
    case PTX_SUB_TC_RELINQUISH:
        i->fn = relinquish;
        return WW_OK;
    default:
        i->fn = nothing;
        return WW_OK;
    }
}
