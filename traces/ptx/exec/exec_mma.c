/* exec_mma.c: matrix instructions of a warp: wmma, mma, ldmatrix, stmatrix, movmatrix.
 *
 * All of them gather a matrix from registers of the 32 lanes or scatter one to them, by a rule that gives row
 * and column of each element of a lane's fragment. For mma and ldmatrix the rules are those of the PTX ISA. A
 * fragment of wmma is opaque to programs: they may pass it on or treat all its elements alike, so that one rule
 * serves all shapes. Products and sums are computed in double and rounded once to the accumulator's type: the
 * order and rounding of a tensor core's own partial sums are not published.
 */
#include "exec_decode.h"
#include "../front/mma.h"
#include "simt.h"
#include <math.h>
#include <string.h>

#define CELLS_MAX (32u * 64u)

/* How the lanes hold a matrix. */
enum part { PART_A, PART_B, PART_C };
struct fragment {
    const struct ex_elem *reg;
    uint32_t regs, rows, cols;
    uint8_t type, bits;
    enum part part;
    bool opaque; /* of wmma */
};

static uint8_t element_bits(uint8_t type) {
    switch (type) {
    case PTX_T_B1:
        return 1;
    case PTX_T_U4:
    case PTX_T_S4:
        return 4;
    default:
        return (uint8_t)(8 * ww_ptx_type_bytes((enum ptx_type)type));
    }
}

static double to_double(uint64_t raw, uint8_t type) {
    float f;
    double v;
    uint32_t low = (uint32_t)raw;
    switch (type) {
    case PTX_T_F16:
        return ww_ex_f16_to_double((uint16_t)raw);
    case PTX_T_BF16:
        return ww_ex_bf16_to_double((uint16_t)raw);
    case PTX_T_TF32:
        low &= 0xffffe000u;
        memcpy(&f, &low, sizeof f);
        return f;
    case PTX_T_F32:
        memcpy(&f, &low, sizeof f);
        return f;
    case PTX_T_F64:
        memcpy(&v, &raw, sizeof v);
        return v;
    case PTX_T_E4M3:
    case PTX_T_E5M2:
        return ww_ex_f8_to_double((uint8_t)raw, type == PTX_T_E5M2);
    case PTX_T_S32:
        return (int32_t)low;
    case PTX_T_S8:
        return (int8_t)raw;
    case PTX_T_S4:
        return (int)(raw & 7u) - (int)(raw & 8u);
    default:
        return (double)raw;
    }
}

static uint64_t from_double(double v, uint8_t type, bool saturate) {
    float f = (float)v;
    uint32_t low;
    uint64_t all;
    switch (type) {
    case PTX_T_F16:
        return ww_ex_double_to_f16(v, PTX_R_RN, false);
    case PTX_T_F32:
        memcpy(&low, &f, sizeof low);
        return low;
    case PTX_T_F64:
        memcpy(&all, &v, sizeof all);
        return all;
    default: /* s32: sums of integers are exact in double */
        if (saturate) v = v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v;
        return (uint32_t)(int64_t)v;
    }
}

/* Where element e of register r of lane l belongs; false: it holds nothing. */
static bool cell(const struct fragment *f, unsigned l, uint32_t r, uint32_t e, uint32_t *row, uint32_t *col) {
    uint32_t per_reg = (f->bits == 64 ? 64u : 32u) / f->bits, group = l >> 2, tig = l & 3u, n = r * per_reg + e;
    if (f->opaque) {
        uint32_t each = f->rows * f->cols / EX_LANES, at = l * each + n;
        *row = at / f->cols;
        *col = at % f->cols;
        return n < each;
    }
    switch (f->part) {
    case PART_A:
        *row = group + (f->rows > 8 && (r & 1u) ? 8 : 0);
        *col = tig * per_reg + e + (f->rows > 8 ? r >> 1 : r) * 4 * per_reg;
        break;
    case PART_B:
        *row = tig * per_reg + e + r * 4 * per_reg;
        *col = group;
        break;
    default:
        *row = group + (n >= 2 ? 8 : 0);
        *col = tig * 2 + (n & 1u);
        break;
    }
    return *row < f->rows && *col < f->cols;
}

typedef void (*each_cell)(void *context, unsigned l, uint32_t r, uint32_t shift, uint32_t at);

static void for_each_cell(const struct fragment *f, each_cell fn, void *context) {
    uint32_t per_reg = (f->bits == 64 ? 64u : 32u) / f->bits, row, col;
    for (unsigned l = 0; l < EX_LANES; l++)
        for (uint32_t r = 0; r < f->regs; r++)
            for (uint32_t e = 0; e < per_reg; e++)
                if (cell(f, l, r, e, &row, &col)) fn(context, l, r, e * f->bits, row * f->cols + col);
}

/* ---- registers and matrices ---- */

struct transfer {
    struct ex_warp *w;
    const struct fragment *f;
    double *v;
    bool saturate;
    uint64_t mask;
};

static void take(void *context, unsigned l, uint32_t r, uint32_t shift, uint32_t at) {
    struct transfer *t = context;
    uint64_t raw = ex_lane(t->w, t->f->reg[r].slot, t->f->reg[r].width, l) >> shift & t->mask;
    t->v[at] = to_double(raw, t->f->type);
}

static void give(void *context, unsigned l, uint32_t r, uint32_t shift, uint32_t at) {
    struct transfer *t = context;
    const struct ex_elem *reg = &t->f->reg[r];
    uint64_t old = ex_lane(t->w, reg->slot, reg->width, l) & ~(t->mask << shift);
    ex_set_lane(t->w, reg->slot, reg->width, l, old | from_double(t->v[at], t->f->type, t->saturate) << shift);
}

static uint64_t mask_of(uint8_t bits) {
    return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static void gather(struct ex_warp *w, const struct fragment *f, double *v) {
    struct transfer t = {.w = w, .f = f, .v = v, .mask = mask_of(f->bits)};
    for_each_cell(f, take, &t);
}

static bool whole_warp(struct ex_warp *w, uint32_t mask) {
    if (mask == EX_ALL) return true;
    ww_ex_fail(w, EX_LANES, WW_EXEC, "a matrix instruction needs all 32 lanes, active are 0x%08x", mask);
    return false;
}

/* What the decoder leaves in list: registers of d, a, b, c; types of a and b. */
struct plan {
    uint32_t regs[4];
    uint8_t type[4];
};

static struct fragment fragment_of(const struct ex_inst *i, unsigned which) {
    const struct plan *p = (const void *)i->list;
    const struct ptx_shape *s = &ww_ptx_shapes[i->src->geom];
    struct fragment f = {
        .reg = i->elem, .regs = p->regs[which], .type = p->type[which], .opaque = i->op == PTX_WMMA};
    for (unsigned n = 0; n < which; n++) f.reg += p->regs[n];
    f.part = which == 1 ? PART_A : which == 2 ? PART_B : PART_C;
    f.rows = which == 2 ? s->k : s->m;
    f.cols = which == 1 ? s->k : s->n;
    f.bits = element_bits(f.type);
    return f;
}

static void multiply(EX_ARGS) {
    static _Thread_local double a[CELLS_MAX], b[CELLS_MAX], c[CELLS_MAX];
    if (!whole_warp(w, mask)) return;
    struct fragment fd = fragment_of(i, 0), fa = fragment_of(i, 1), fb = fragment_of(i, 2),
                    fc = fragment_of(i, 3);
    gather(w, &fa, a);
    gather(w, &fb, b);
    gather(w, &fc, c);
    for (uint32_t row = 0; row < fa.rows; row++)
        for (uint32_t col = 0; col < fb.cols; col++) {
            double sum = c[row * fc.cols + col];
            for (uint32_t k = 0; k < fa.cols; k++) sum += a[row * fa.cols + k] * b[k * fb.cols + col];
            c[row * fc.cols + col] = sum;
        }
    struct transfer t = {
        .w = w, .f = &fd, .v = c, .saturate = (i->mods & PTX_M_SAT) != 0, .mask = mask_of(fd.bits)};
    for_each_cell(&fd, give, &t);
}

/* ---- memory ---- */

/* Addresses in the space of the instruction become generic ones; what is recorded is the address of each lane's
 * first element in its space. */
static bool lane_base(struct ex_warp *w, const struct ex_inst *i, unsigned l, uint64_t *address) {
    uint64_t base = i->a == EX_NO_SLOT ? 0 : ex_lane(w, i->a, i->aw, l);
    *address = base + (uint64_t)i->imm;
    if (i->space == PTX_S_SHARED) *address = (uint32_t)*address + (uint64_t)EX_SHARED_WINDOW;
    return i->space == PTX_S_SHARED || i->space == PTX_S_GLOBAL || i->space == PTX_S_GENERIC;
}

static void note_address(struct ex_warp *w, unsigned l, uint64_t address) {
    bool shared = address - EX_SHARED_WINDOW < EX_WINDOW_BYTES;
    w->addr[l] = shared ? address - EX_SHARED_WINDOW : address;
    w->group[0] = (struct access_group){shared ? PTX_S_SHARED : PTX_S_GLOBAL, EX_ALL};
    w->group_count = 1;
}

struct move {
    struct ex_warp *w;
    const struct ex_inst *i;
    const struct fragment *f;
    uint64_t base, stride;
    bool row_major, is_store;
    uint32_t noted; /* lanes whose first address is known */
};

static void move_cell(void *context, unsigned l, uint32_t r, uint32_t shift, uint32_t at) {
    struct move *m = context;
    const struct ex_elem *reg = &m->f->reg[r];
    uint32_t row = at / m->f->cols, col = at % m->f->cols, bytes = m->f->bits / 8u;
    uint64_t index = m->row_major ? row * m->stride + col : col * m->stride + row, raw = 0;
    uint64_t address = m->base + index * bytes, old = ex_lane(m->w, reg->slot, reg->width, l);
    if (m->w->run->failed) return;
    unsigned char *host = ww_ex_generic(m->w, l, address, bytes);
    if (!host) return;
    if (!(m->noted >> l & 1u)) note_address(m->w, l, address);
    m->noted |= 1u << l;
    if (m->is_store) {
        raw = old >> shift;
        memcpy(host, &raw, bytes);
        return;
    }
    memcpy(&raw, host, bytes);
    ex_set_lane(m->w, reg->slot, reg->width, l, (old & ~(mask_of(m->f->bits) << shift)) | raw << shift);
}

static void move_matrix(EX_ARGS) {
    static const unsigned which[] = {1, 2, 3, 0}; /* load a, b, c, store d */
    static const uint32_t order[] = {PTX_M_ROW_C, PTX_M_ROW_A, PTX_M_ROW_B, PTX_M_ROW_C};
    const struct plan *p = (const void *)i->list;
    if (!whole_warp(w, mask)) return;
    unsigned n = which[i->sub - PTX_SUB_WMMA_LOAD_A];
    struct fragment f = fragment_of(i, n);
    f.reg = i->elem;
    f.regs = p->regs[0];
    struct move m = {.w = w, .i = i, .f = &f, .row_major = (i->mods & order[n]) != 0, .is_store = n == 0};
    lane_base(w, i, 0, &m.base);
    m.stride = i->b == EX_NO_SLOT ? (m.row_major ? f.cols : f.rows) : ex_lane(w, i->b, i->bw, 0);
    for_each_cell(&f, move_cell, &m);
}

/* ---- 8 x 8 matrices of 16-bit elements ---- */

/* Lane 8 j + r holds the address of row r of matrix j; lane l has elements 2 (l mod 4) and the next of row l /
 * 4, or of column l / 4 if transposed. */
static void matrix8(EX_ARGS) {
    bool is_store = i->op == PTX_STMATRIX;
    uint16_t cells[4][8][8];
    unsigned char *host[EX_LANES];
    if (!whole_warp(w, mask)) return;
    for (unsigned l = 0; l < EX_LANES; l++) {
        uint64_t address;
        unsigned from =
            l % (8 * i->elem_count); /* lanes without a row of their own: their address is not used */
        lane_base(w, i, from, &address);
        host[l] = ww_ex_generic(w, from, address, 16);
        if (!host[l]) return;
        note_address(w, l, address);
    }
    for (unsigned n = 0; n < i->elem_count; n++) {
        for (unsigned r = 0; r < 8 && !is_store; r++) memcpy(cells[n][r], host[8 * n + r], 16);
        for (unsigned l = 0; l < EX_LANES; l++) {
            uint16_t *at[2];
            for (unsigned e = 0; e < 2; e++) {
                unsigned row = l / 4, col = 2 * (l % 4) + e;
                at[e] = i->mods & PTX_M_TRANS ? &cells[n][col][row] : &cells[n][row][col];
            }
            uint32_t v = is_store ? (uint32_t)ex_lane(w, i->elem[n].slot, i->elem[n].width, l) : 0;
            if (is_store)
                *at[0] = (uint16_t)v, *at[1] = (uint16_t)(v >> 16);
            else
                ex_set_lane(w, i->elem[n].slot, i->elem[n].width, l, *at[0] | (uint32_t)*at[1] << 16);
        }
        for (unsigned r = 0; r < 8 && is_store; r++) memcpy(host[8 * n + r], cells[n][r], 16);
    }
}

static void transpose8(EX_ARGS) {
    uint16_t cells[8][8];
    if (!whole_warp(w, mask)) return;
    for (unsigned l = 0; l < EX_LANES; l++) {
        uint32_t v = (uint32_t)ex_lane(w, i->a, i->aw, l);
        cells[l / 4][2 * (l % 4)] = (uint16_t)v;
        cells[l / 4][2 * (l % 4) + 1] = (uint16_t)(v >> 16);
    }
    for (unsigned l = 0; l < EX_LANES; l++)
        ex_set_lane(w, i->d, i->dw, l,
                    cells[2 * (l % 4)][l / 4] | (uint32_t)cells[2 * (l % 4) + 1][l / 4] << 16);
}

/* ---- decoding ---- */

static enum ww_code add_registers(struct ex_decoder *d, const struct ptx_operand *o, uint8_t bits,
                                  uint32_t *count) {
    struct ex_inst *i = d->out;
    uint32_t n = o->kind == PTX_O_VEC ? o->vec_count : 1;
    uint8_t want = bits == 64 ? 8 : 4;
    for (uint32_t k = 0; k < n; k++) {
        struct ex_elem *e = &i->elem[i->elem_count++];
        WW_TRY(ww_ex_operand_slot(d, o->kind == PTX_O_VEC ? &o->vec[k] : o, want, &e->slot, &e->width));
        if (e->slot == EX_NO_SLOT || e->width != want)
            return ww_ex_decode_fail(d, WW_INPUT, "a register's size does not fit the matrix");
    }
    *count = n;
    return WW_OK;
}

static enum ww_code new_plan(struct ex_decoder *d, struct plan **plan) {
    struct ex_inst *i = d->out;
    uint32_t count = 0;
    for (uint32_t n = 0; n < d->inst->opnd_count; n++)
        count += d->inst->opnd[n].kind == PTX_O_VEC ? d->inst->opnd[n].vec_count : 1;
    *plan = ww_arena_alloc(&d->kernel->arena, sizeof **plan);
    i->elem = ww_arena_array(&d->kernel->arena, count, sizeof *i->elem);
    i->list = (const void *)*plan;
    return *plan && i->elem ? WW_OK : ww_fail_nomem(d->error, "decoding a kernel");
}

/* The matrix must fill the registers: 32 lanes hold all of it, and a and b of f16 twice in wmma. */
static bool fits(const struct ex_inst *i, unsigned which, uint32_t regs) {
    struct fragment f = fragment_of(i, which);
    uint32_t room = EX_LANES * regs * (f.bits == 64 ? 64u : 32u) / (f.bits ? f.bits : 1),
             cells = f.rows * f.cols;
    bool twice = f.opaque && f.type == PTX_T_F16 && which != 3 && which != 0;
    return f.bits && cells && cells <= CELLS_MAX && (room == cells || (twice && room >= cells));
}

static bool known_types(const struct plan *p) {
    uint8_t a = p->type[1], b = p->type[2], c = p->type[3], d = p->type[0];
    bool is_int = a == PTX_T_S8 || a == PTX_T_U8 || a == PTX_T_S4 || a == PTX_T_U4;
    if (is_int) return element_bits(a) == element_bits(b) && c == PTX_T_S32 && d == PTX_T_S32;
    if (a == PTX_T_F64) return b == a && c == a && d == a;
    bool is_float = (c == PTX_T_F32 || c == PTX_T_F16) && (d == PTX_T_F32 || d == PTX_T_F16);
    bool f8 = (a == PTX_T_E4M3 || a == PTX_T_E5M2) && (b == PTX_T_E4M3 || b == PTX_T_E5M2);
    return is_float && (f8 || (a == b && (a == PTX_T_F16 || a == PTX_T_BF16 || a == PTX_T_TF32)));
}

static enum ww_code multiplication(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    struct plan *plan;
    bool names_ab = p->type[2] && p->type[3];
    WW_TRY(new_plan(d, &plan));
    plan->type[0] = p->type[0];
    plan->type[1] = names_ab ? p->type[1] : PTX_T_F16; /* wmma with two types: those of d and c */
    plan->type[2] = names_ab ? p->type[2] : PTX_T_F16;
    plan->type[3] = names_ab ? p->type[3] : p->type[1];
    bool shape = p->op == PTX_WMMA || ww_ptx_shapes[p->geom].k != 4 || p->type[0] == PTX_T_F64 ||
                 p->type[1] == PTX_T_TF32; /* m8n8k4 of f16 has a layout of its own */
    if (p->opnd_count != 4 || !known_types(plan) || !shape)
        return ww_ex_decode_fail(d, WW_UNSUPPORTED, "these types or this shape are not supported");
    for (unsigned n = 0; n < 4; n++) {
        WW_TRY(add_registers(d, &p->opnd[n], element_bits(plan->type[n]), &plan->regs[n]));
        if (!fits(i, n, plan->regs[n]))
            return ww_ex_decode_fail(d, WW_UNSUPPORTED, "shape and registers do not fit");
    }
    i->fn = multiply;
    return WW_OK;
}

static enum ww_code matrix_memory(struct ex_decoder *d, bool is_store, bool eight) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    const struct ptx_operand *v = &p->opnd[is_store ? 1 : 0], *a = &p->opnd[is_store ? 0 : 1];
    static const unsigned which[] = {1, 2, 3, 0};
    struct plan *plan;
    uint8_t bits = eight ? 32 : element_bits(p->type[0]);
    WW_TRY(new_plan(d, &plan));
    i->kind = EX_MEM;
    WW_TRY(ww_ex_address_operand(d, a, &i->a, &i->aw, &i->imm, &i->space));
    WW_TRY(add_registers(d, v, bits, &plan->regs[0]));
    i->fn = eight ? matrix8 : move_matrix;
    if (eight) {
        bool good = i->elem_count == 1 || i->elem_count == 2 || i->elem_count == 4;
        return good ? WW_OK : ww_ex_decode_fail(d, WW_INPUT, "expected 1, 2 or 4 matrices");
    }
    unsigned n = which[p->sub - PTX_SUB_WMMA_LOAD_A];
    plan->regs[n] = plan->regs[0];
    plan->type[n] = p->type[0];
    if (bits < 8 || !fits(i, n, plan->regs[0]))
        return ww_ex_decode_fail(d, WW_UNSUPPORTED, "this shape or type is not supported");
    return p->opnd_count > 2 ? ww_ex_operand_slot(d, &p->opnd[2], 4, &i->b, &i->bw) : WW_OK;
}

enum ww_code ww_ex_decode_movmatrix(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    d->out->fn = transpose8;
    WW_TRY(ww_ex_operand_slot(d, &p->opnd[0], 4, &d->out->d, &d->out->dw));
    WW_TRY(ww_ex_operand_slot(d, &p->opnd[1], 4, &d->out->a, &d->out->aw));
    bool good = d->out->dw == 4 && d->out->aw == 4;
    return good ? WW_OK : ww_ex_decode_fail(d, WW_INPUT, "expected 32-bit registers");
}

enum ww_code ww_ex_decode_ldmatrix(struct ex_decoder *d) {
    return matrix_memory(d, false, true);
}

enum ww_code ww_ex_decode_stmatrix(struct ex_decoder *d) {
    return matrix_memory(d, true, true);
}

enum ww_code ww_ex_decode_mma(struct ex_decoder *d) {
    return multiplication(d);
}

enum ww_code ww_ex_decode_wmma(struct ex_decoder *d) {
    if (d->inst->sub == PTX_SUB_WMMA_MMA) return multiplication(d);
    return matrix_memory(d, d->inst->sub == PTX_SUB_WMMA_STORE_D, false);
}
