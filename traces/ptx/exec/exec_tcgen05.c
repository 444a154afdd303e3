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

static uint32_t ctas_of(struct ex_warp *w, const struct ex_inst *i, struct ex_cta *cta[2]);

/* Each CTA of a pair allocates for itself: both do the same. */
static void allocate(EX_ARGS) {
    struct ex_cta *c = w->cta;
    struct ex_cta *pair[2];
    if (!whole_warp(w, mask) || !ctas_of(w, i, pair)) return;
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

/* Whether all columns of a range are allocated in a CTA. */
static bool is_held_by(struct ex_warp *w, const struct ex_cta *c, uint32_t first, uint32_t count) {
    bool held = c->tmem && count && first + count <= TMEM_COLUMNS;
    for (uint32_t n = first / COLUMNS_STEP; held && n <= (first + count - 1) / COLUMNS_STEP; n++)
        held = ((uint32_t)c->tmem_held >> n & 1u) != 0;
    if (!held)
        ww_ex_fail(w, EX_LANES, WW_EXEC, "tensor memory: columns %u to %u are not all allocated in %s", first,
                   first + count - 1, c == w->cta ? "the CTA" : "the pair's other CTA");
    return held;
}

static bool is_held(struct ex_warp *w, uint32_t first, uint32_t count) {
    return is_held_by(w, w->cta, first, count);
}

/* CTAs of the instruction, the one of even rank first. 0: there is no pair, and the run has failed. */
static uint32_t ctas_of(struct ex_warp *w, const struct ex_inst *i, struct ex_cta *cta[2]) {
    const struct ex_cluster *c = w->cta->cluster;
    cta[0] = w->cta;
    if (i->src->rank != 2) return 1;
    if ((w->cta->rank | 1u) >= c->count) {
        ww_ex_fail(w, EX_LANES, WW_EXEC,
                   ".cta_group::2 needs a pair of CTAs; CTA %u of a cluster of %u has none", w->cta->rank,
                   c->count);
        return 0;
    }
    cta[0] = c->cta[w->cta->rank & ~1u];
    cta[1] = c->cta[w->cta->rank | 1u];
    return 2;
}

/* An address of shared memory has the CTA's rank + 1 in bits 24 on. */
#define FROM_SHIFT 24u

/* ---- loads and stores ---- */

/* Where register r of a lane lies: rows from the address's lane on. */
static uint32_t place(uint8_t geom, unsigned l, uint32_t r, uint32_t *column) {
    switch (geom) {
    case PTX_SHAPE_16X128B: /* four columns for each two registers */
        *column = r / 2 * 4 + l % 4;
        return l / 4 + 8 * (r % 2);
    case PTX_SHAPE_16X64B: /* two for each */
        *column = r * 2 + l / 2 % 2;
        return l / 4 + 8 * (l % 2);
    case PTX_SHAPE_16X256B: /* eight columns for each four */
        *column = r / 4 * 8 + l % 4 * 2 + r % 2;
        return l / 4 + 8 * (r / 2 % 2);
    default:
        *column = r;
        return l;
    }
}

static uint32_t rows_of(uint8_t geom) {
    return geom == PTX_SHAPE_32X32B ? 32 : 16;
}

/* Columns of so many registers: 32 words are a column of 32 rows, or two of 16. */
static uint32_t columns_moved(const struct ex_inst *i) {
    uint32_t columns =
        i->src->geom == PTX_SHAPE_16X32BX2 ? i->elem_count : i->elem_count * 32 / rows_of(i->src->geom);
    return i->src->cp_bytes == 2 ? 2 * columns : columns;
}

/* A register: a word, or the lower halves of two that lie side by side. */
static void move_word(struct ex_warp *w, const struct ex_inst *i, unsigned l, const struct ex_elem *e,
                      uint32_t *word) {
    bool loads = i->sub == PTX_SUB_TC_LD, halves = i->src->cp_bytes == 2;
    if (loads) {
        ex_set_lane(w, e->slot, e->width, l, halves ? (word[0] & 0xffff) | word[1] << 16 : word[0]);
        return;
    }
    uint32_t v = (uint32_t)ex_lane(w, e->slot, e->width, l);
    word[0] = halves ? v & 0xffff : v;
    if (halves) word[1] = v >> 16;
}

static void move(EX_ARGS) {
    uint32_t at = address_of(w, i, 0), lane = at >> 16, first = at & 0xffff, own = w->index % 4 * 32;
    uint8_t geom = i->src->geom;
    bool apart = geom == PTX_SHAPE_16X32BX2; /* the upper half of the lanes has columns further on */
    uint32_t rows = rows_of(geom), columns = columns_moved(i), second = apart ? i->list_count : 0;
    if (!whole_warp(w, mask) || !is_held(w, first, columns)) return;
    if (apart && !is_held(w, first + second, columns)) return;
    if (lane != own && (rows == 32 || lane != own + 16)) {
        ww_ex_fail(w, EX_LANES, WW_EXEC, "tensor memory: a warp's lanes begin at %u, not at %u", own, lane);
        return;
    }
    for (uint32_t r = 0; r < i->elem_count; r++)
        for (unsigned l = 0; l < EX_LANES; l++) {
            uint32_t column = r, row = apart ? l % 16 : place(geom, l, r, &column);
            if (i->src->cp_bytes == 2) column *= 2;
            if (apart && l >= 16) column += second;
            move_word(w, i, l, &i->elem[r], &w->cta->tmem[(lane + row) * TMEM_COLUMNS + first + column]);
        }
}

/* ---- matrix instructions ---- */

static const unsigned char *read_shared(void *context, uint32_t address) {
    uint64_t rank = address >> FROM_SHIFT, at = address & ((1u << FROM_SHIFT) - 1);
    if (!(at >> EX_CLUSTER_SHIFT)) at += rank << EX_CLUSTER_SHIFT;
    return ww_ex_generic(context, 0, EX_SHARED_WINDOW + at, 16);
}

static void places_of(struct ex_cta *cta[2], uint32_t count, struct tmem_cta out[2]) {
    for (uint32_t n = 0; n < count; n++)
        out[n] = (struct tmem_cta){cta[n]->tmem, (cta[n]->rank + 1) << FROM_SHIFT};
}

/* Operands by place: 0 A, 1 B, 2 instruction descriptor, 3 and 4 scale factors of A and B, 5 on lanes that are
 * not written. */
enum { OF_A, OF_B, OF_DESCRIPTOR, OF_SCALE_A, OF_SCALE_B, OF_OFF, OF_COUNT = OF_OFF + 8 };

static uint32_t word_of(const struct ex_warp *w, const struct ex_inst *i, unsigned place, unsigned l) {
    return (uint32_t)ex_lane(w, i->elem[place].slot, 4, l);
}

/* What the registers of a lane ask for. NULL, or what is wrong. */
static const char *fill(const struct ex_warp *w, const struct ex_inst *i, unsigned l, uint32_t ctas,
                        struct tmem_mma *m) {
    const char *why = ww_tmem_describe(word_of(w, i, OF_DESCRIPTOR, l), i->src->type[0], i->src->vec, ctas, m);
    if (why) return why;
    m->to = address_of(w, i, l);
    m->shrink = (uint8_t)i->bytes;
    m->g.in_registers = i->elem[OF_A].width == 4;
    if (m->g.in_registers && m->g.trans_a) return "an A in tensor memory is not transposed";
    if (m->g.in_registers) m->a_at = word_of(w, i, OF_A, l);
    if (m->scales) {
        m->scale_a_at = word_of(w, i, OF_SCALE_A, l);
        m->scale_b_at = word_of(w, i, OF_SCALE_B, l);
    }
    for (uint32_t n = 0; n + OF_OFF < i->elem_count; n++) m->off[n] = word_of(w, i, OF_OFF + n, l);
    m->g.keeps = i->c == EX_NO_SLOT ? i->list_count != 0 : ex_pred(w, i, i->c, 2) >> l & 1u;
    bool good = (m->g.in_registers || ww_tmem_operand(ex_lane(w, i->elem[OF_A].slot, 8, l), &m->g.desc_a)) &&
                ww_tmem_operand(ex_lane(w, i->elem[OF_B].slot, 8, l), &m->g.desc_b);
    return good ? NULL : "a descriptor of shared memory has a swizzle that is not supported";
}

static bool all_held(struct ex_warp *w, const struct ex_cta *c, const struct tmem_mma *m) {
    uint32_t sums = m->rows == 64 && m->ctas == 2 ? m->g.n : m->n;
    if (!is_held_by(w, c, m->to & 0xffff, sums)) return false;
    if (m->g.in_registers && !is_held_by(w, c, m->a_at & 0xffff, 8)) return false;
    return !m->scales || (is_held_by(w, c, m->scale_a_at & 0xffff, tmem_scale_columns(m->rows)) &&
                          is_held_by(w, c, m->scale_b_at & 0xffff, tmem_scale_columns(m->n)));
}

static void multiply(EX_ARGS) {
    for (uint32_t left = mask; left && !w->run->failed; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        struct tmem_mma m;
        struct ex_cta *cta[2];
        struct tmem_cta places[2];
        uint32_t count = ctas_of(w, i, cta);
        if (!count) return;
        const char *why = fill(w, i, l, count, &m);
        if (!why) {
            for (uint32_t n = 0; n < count; n++)
                if (!all_held(w, cta[n], &m)) return;
            places_of(cta, count, places);
            w->value = tmem_shape(&m);
            why = ww_tmem_multiply(&m, places, read_shared, w);
        }
        if (why && *why) ww_ex_fail(w, l, WW_EXEC, "tcgen05.mma: %s", why);
    }
}

static void copy(EX_ARGS) {
    for (uint32_t left = mask; left && !w->run->failed; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t to = address_of(w, i, l);
        struct ex_cta *cta[2];
        struct tmem_cta places[2];
        uint32_t count = ctas_of(w, i, cta);
        uint64_t from;
        const char *why = NULL;
        for (uint32_t n = 0; n < count; n++)
            if (!is_held_by(w, cta[n], to & 0xffff, ww_tmem_copy_columns(i->src->geom))) return;
        places_of(cta, count, places);
        if (!ww_tmem_operand(ex_lane(w, i->b, 8, l), &from))
            why = "a descriptor of shared memory has a swizzle that is not supported";
        for (uint32_t n = 0; n < count && !why; n++)
            why = ww_tmem_copy(i->src->geom, from, &places[n], to, read_shared, w);
        if (why && *why) ww_ex_fail(w, l, WW_EXEC, "tcgen05.cp: %s", why);
    }
}

/* At the mbarrier, or at that place in each CTA of the mask. */
static void commit(EX_ARGS) {
    ww_mbarrier_clear(&w->mbar);
    for (uint32_t m = mask; m && !w->run->failed; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t bar = shared_of(w, i, l), offset = bar & ((1u << EX_CLUSTER_SHIFT) - 1);
        if (i->b == EX_NO_SLOT) {
            if (!ww_ex_mbarrier_commit(w, l, bar)) return;
            continue;
        }
        uint32_t ctas = (uint32_t)ex_lane(w, i->b, i->bw, l) & 0xffff;
        if (!ctas || ctas >> w->cta->cluster->count) {
            ww_ex_fail(w, l, WW_EXEC, "tcgen05.commit to CTAs 0x%x of a cluster of %u", ctas,
                       w->cta->cluster->count);
            return;
        }
        for (uint64_t rank = 0; rank < WW_CLUSTER_MOST; rank++)
            if (ctas >> rank & 1u && !ww_ex_mbarrier_commit(w, l, offset + ((rank + 1) << EX_CLUSTER_SHIFT)))
                return;
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
    bool apart = p->geom == PTX_SHAPE_16X32BX2;
    uint32_t of = p->geom == PTX_SHAPE_16X256B ? 4 : p->geom == PTX_SHAPE_16X128B ? 2 : 1, count = of * p->vec;
    bool known =
        (p->geom >= PTX_SHAPE_32X32B && p->geom <= PTX_SHAPE_16X256B) || p->geom == PTX_SHAPE_16X64B || apart;
    if (!loads) o = &p->opnd[apart ? 2 : 1];
    d->out->list_count = 0;
    if (apart) {
        const struct ptx_operand *offset = &p->opnd[loads ? 2 : 1];
        if (offset->kind != PTX_O_IMM || offset->imm > TMEM_COLUMNS)
            return ww_ex_decode_fail(d, WW_INPUT, "expected a number of columns");
        d->out->list_count = (uint32_t)offset->imm;
    }
    if (!known || count > TMEM_LANES)
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

static enum ww_code tensor_address(struct ex_decoder *d, const struct ptx_operand *o, struct ex_elem *e) {
    uint8_t space = PTX_S_GENERIC;
    int64_t offset = 0;
    WW_TRY(ww_ex_address_operand(d, o, &e->slot, &e->width, &offset, &space));
    bool good = e->slot != EX_NO_SLOT && e->width == 4 && !offset;
    return good ? WW_OK
                : ww_ex_decode_fail(d, WW_INPUT, "expected a register with an address of tensor memory");
}

/* {lanes that are not written}: four words for each CTA. */
static enum ww_code decode_off(struct ex_decoder *d, const struct ptx_operand *o) {
    uint32_t count = d->inst->rank == 2 ? 8 : 4;
    if (o->vec_count != count)
        return ww_ex_decode_fail(d, WW_INPUT, "expected four words of lanes for each CTA");
    for (uint32_t n = 0; n < count; n++) WW_TRY(scalar(d, &o->vec[n], 4, &d->out->elem[OF_OFF + n]));
    d->out->elem_count = OF_OFF + count;
    return WW_OK;
}

static enum ww_code decode_shrink(struct ex_decoder *d, const struct ptx_operand *o) {
    uint8_t type = d->inst->type[0];
    if (o->kind != PTX_O_IMM || o->imm > 15 || (type != PTX_T_F16 && type != PTX_T_TF32))
        return ww_ex_decode_fail(d, WW_INPUT,
                                 "expected a scale of the sums from 0 to 15, of .kind::f16 or .kind::tf32");
    d->out->bytes = (uint8_t)o->imm;
    return WW_OK;
}

static enum ww_code decode_multiply(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    uint8_t type = p->type[0], width, at = 4;
    bool scaled = type >= PTX_T_MXF8F6F4;
    if (type != PTX_T_F16 && type != PTX_T_TF32 && type != PTX_T_E4M3 && type != PTX_T_S8 && !scaled)
        return ww_ex_decode_fail(d, WW_UNSUPPORTED, "expected a kind of tcgen05.mma such as .kind::f16");
    WW_TRY(elements(d, OF_COUNT));
    WW_TRY(address(d, &p->opnd[0]));
    if (p->opnd[1].kind == PTX_O_ADDR)
        WW_TRY(tensor_address(d, &p->opnd[1], &i->elem[OF_A]));
    else
        WW_TRY(scalar(d, &p->opnd[1], 8, &i->elem[OF_A]));
    WW_TRY(scalar(d, &p->opnd[2], 8, &i->elem[OF_B]));
    WW_TRY(scalar(d, &p->opnd[3], 4, &i->elem[OF_DESCRIPTOR]));
    if (scaled) {
        WW_TRY(tensor_address(d, &p->opnd[4], &i->elem[OF_SCALE_A]));
        WW_TRY(tensor_address(d, &p->opnd[5], &i->elem[OF_SCALE_B]));
        at = 6;
    } else if (p->opnd[4].kind == PTX_O_VEC) {
        WW_TRY(decode_off(d, &p->opnd[at++]));
    }
    i->c = EX_NO_SLOT;
    i->list_count = p->opnd[at].kind == PTX_O_IMM && p->opnd[at].imm;
    if (p->opnd[at].kind != PTX_O_IMM) WW_TRY(ww_ex_operand_slot(d, &p->opnd[at], 0, &i->c, &width));
    if (p->opnd[at].neg) i->neg |= 4u;
    i->bytes = 0;
    if (at + 1 < p->opnd_count) WW_TRY(decode_shrink(d, &p->opnd[at + 1]));
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
        if (p->geom < PTX_SHAPE_128X256B || p->geom > PTX_SHAPE_32X128B)
            return ww_ex_decode_fail(d, WW_UNSUPPORTED, "this shape is not supported");
        WW_TRY(address(d, &p->opnd[0]));
        WW_TRY(scalar(d, &p->opnd[1], 8, &e));
        i->b = e.slot, i->bw = e.width;
        i->fn = copy;
        return WW_OK;
    case PTX_SUB_TC_COMMIT:
        i->kind = EX_MEM;
        i->fn = commit;
        i->b = EX_NO_SLOT;
        if (p->bulk & PTX_BULK_MULTICAST) WW_TRY(ww_ex_operand_slot(d, &p->opnd[1], 4, &i->b, &i->bw));
        return address(d, &p->opnd[0]);
    case PTX_SUB_TC_RELINQUISH:
        i->fn = relinquish;
        return WW_OK;
    default:
        i->fn = nothing;
        return WW_OK;
    }
}
