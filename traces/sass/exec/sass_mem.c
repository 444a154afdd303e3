/* sass_mem.c: loads, stores, copies to shared memory, constants. */
#include "access.h"

uint32_t ww_sx_type_bytes(uint8_t type) {
    switch (type) {
    case SASS_T_U8:
    case SASS_T_S8:
        return 1;
    case SASS_T_U16:
    case SASS_T_S16:
    case SASS_T_F16:
    case SASS_T_BF16:
        return 2;
    case SASS_T_U64:
    case SASS_T_S64:
    case SASS_T_B64:
    case SASS_T_F64:
    case SASS_T_F16X4:
    case SASS_T_BF16X4:
    case SASS_T_F32X2:
    case SASS_T_F32X2_FTZ:
        return 8;
    case SASS_T_B128:
    case SASS_T_U128:
    case SASS_T_F16X8:
    case SASS_T_BF16X8:
    case SASS_T_F32X4:
    case SASS_T_F32X4_FTZ:
        return 16;
    default:
        return 4;
    }
}

/* The words of one lane, into as many rows. */
SX_INLINE void load_words(uint32_t *row, const unsigned char *from, unsigned words) {
    for (unsigned n = 0; n < words; n++) memcpy(&row[n * SX_LANES], from + (size_t)4 * n, 4);
}

#define LOAD(T, E) SX_EACH(mask, T v; memcpy(&v, host[l], sizeof v); rows[l] = (uint32_t)(E)v;)

void ww_sx_load_rows(uint32_t *rows, uint8_t type, uint32_t mask, unsigned char *const *host) {
    switch (type) {
    case SASS_T_U8:
        LOAD(uint8_t, uint32_t);
        return;
    case SASS_T_S8:
        LOAD(int8_t, int32_t);
        return;
    case SASS_T_U16:
        LOAD(uint16_t, uint32_t);
        return;
    case SASS_T_S16:
        LOAD(int16_t, int32_t);
        return;
    default:
        break;
    }
    uint32_t words = ww_sx_type_bytes(type) / 4;
    if (words == 1)
        SX_EACH(mask, load_words(rows + l, host[l], 1););
    else if (words == 2)
        SX_EACH(mask, load_words(rows + l, host[l], 2););
    else
        SX_EACH(mask, load_words(rows + l, host[l], 4););
}

void ww_sx_store_rows(const uint32_t *rows, uint32_t bytes, uint32_t mask, unsigned char *const *host) {
    if (bytes == 1)
        SX_EACH(mask, *host[l] = (unsigned char)rows[l];);
    else if (bytes == 2)
        SX_EACH(mask, memcpy(host[l], &rows[l], 2););
    else
        for (uint32_t n = 0; n < bytes / 4; n++)
            SX_EACH(mask, memcpy(host[l] + 4 * n, &rows[n * SX_LANES + l], 4););
}

/* ---- lanes a fixed distance apart ---- */

/* Where each of the span's lanes is. */
SX_INLINE void span_hosts(const struct sx_span *s, uint32_t mask, unsigned char **host) {
    SX_EACH(mask, host[l] = s->first + s->step * ((int64_t)l - (int64_t)s->lane););
}

/* A full warp's words side by side, `words` for each lane, into as many rows. */
SX_INLINE void unweave(uint32_t *restrict rows, const unsigned char *restrict from, unsigned words) {
    for (unsigned n = 0; n < words; n++)
        for (unsigned l = 0; l < SX_LANES; l++)
            memcpy(&rows[n * SX_LANES + l], from + (size_t)4 * (words * l + n), 4);
}
SX_INLINE void weave(unsigned char *restrict to, const uint32_t *restrict rows, unsigned words) {
    for (unsigned n = 0; n < words; n++)
        for (unsigned l = 0; l < SX_LANES; l++)
            memcpy(to + (size_t)4 * (words * l + n), &rows[n * SX_LANES + l], 4);
}

SX_INLINE void load_span(uint32_t *rows, const struct sx_inst *i, uint32_t mask, const struct sx_span *s) {
    uint32_t bytes = i->address->bytes;
    if (mask == SX_ALL && s->step == 4 && bytes == 4) {
        memcpy(rows, s->first, SX_ROW);
    } else if (mask == SX_ALL && s->step == 8 && bytes == 8) {
        unweave(rows, s->first, 2);
    } else if (mask == SX_ALL && s->step == 16 && bytes == 16) {
        unweave(rows, s->first, 4);
    } else if (s->step == 0 && bytes >= 4) {
        for (uint32_t n = 0; n < bytes / 4; n++, rows += SX_LANES) {
            uint32_t v;
            memcpy(&v, s->first + 4 * n, 4);
            SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) rows[l] = mask & sx_bit[l] ? v : rows[l];
        }
    } else {
        unsigned char *host[SX_LANES];
        span_hosts(s, mask, host);
        ww_sx_load_rows(rows, i->type, mask, host);
    }
}

SX_INLINE void store_span(const uint32_t *rows, const struct sx_inst *i, uint32_t mask,
                          const struct sx_span *s) {
    uint32_t bytes = i->address->bytes;
    if (mask == SX_ALL && s->step == 4 && bytes == 4) {
        memcpy(s->first, rows, SX_ROW);
    } else if (mask == SX_ALL && s->step == 8 && bytes == 8) {
        weave(s->first, rows, 2);
    } else if (mask == SX_ALL && s->step == 16 && bytes == 16) {
        weave(s->first, rows, 4);
    } else {
        unsigned char *host[SX_LANES];
        span_hosts(s, mask, host);
        ww_sx_store_rows(rows, bytes, mask, host);
    }
}

SX_INLINE void load(SX_ARGS) {
    unsigned char *host[SX_LANES];
    uint32_t *d = sx_dst(w, i->d);
    struct sx_span span;
    if (sx_span(w, i->address, mask, &span))
        load_span(d, i, mask, &span);
    else if (ww_sx_addresses(w, i->address, mask, w->addr, host))
        ww_sx_load_rows(d, i->type, mask, host);
}
SX_PAIR(load)

/* A load with a predicate: where it is false nothing is read and the result is 0. */
SX_INLINE void load_guarded(SX_ARGS) {
    uint32_t reads = mask & sx_ps(w, i, 0), *d = sx_dst(w, i->d), rest = mask & ~reads;
    for (uint32_t n = 0; n < (i->address->bytes + 3u) / 4; n++) SX_EACH(rest, d[n * SX_LANES + l] = 0;);
    w->access_count = 0;
    if (reads) load(w, i, reads);
}
SX_PAIR(load_guarded)

SX_INLINE void store(SX_ARGS) {
    unsigned char *host[SX_LANES];
    const uint32_t *b = sx_src(w, i->b);
    struct sx_span span;
    if (sx_span(w, i->address, mask, &span))
        store_span(b, i, mask, &span);
    else if (ww_sx_addresses(w, i->address, mask, w->addr, host))
        ww_sx_store_rows(b, i->address->bytes, mask, host);
}
SX_PAIR(store)

/* ---- copies from global to shared memory, done at once ---- */

static void copy(SX_ARGS) {
    unsigned char *from[SX_LANES], *to[SX_LANES];
    uint64_t shared[SX_LANES];
    uint32_t reads = mask & sx_ps(w, i, 0), bytes = i->address->bytes;
    if (!ww_sx_addresses(w, i->address2, mask, shared, to)) return;
    w->access_count = 0;
    if (reads && !ww_sx_addresses(w, i->address, reads, w->addr, from)) return;
    SX_EACH(reads, unsigned char v[16]; memcpy(v, from[l], bytes); memcpy(to[l], v, bytes););
    uint32_t rest = mask & ~reads;
    SX_EACH(rest, memset(to[l], 0, bytes););
}

/* ---- matrices of 8x8 halves ---- */

/* Lane l's half h of matrix n: row and column of the matrix; its row's address comes from lane 8n + row. */
static void place(bool transposed, unsigned l, unsigned h, unsigned *row, unsigned *column) {
    unsigned r = l / 4, c = l % 4 * 2 + h;
    *row = transposed ? c : r;
    *column = transposed ? r : c;
}

static void matrices(struct sx_warp *w, const struct sx_inst *i, uint32_t mask, bool is_store) {
    unsigned char *host[SX_LANES];
    uint32_t givers = i->sub == 4 ? SX_ALL : (1u << (8 * i->sub)) - 1;
    if (mask != SX_ALL) {
        ww_sx_fail(w, (uint32_t)__builtin_ctz(mask), WW_EXEC,
                   "a matrix load or store of lanes 0x%08x: expected all lanes of the warp", mask);
        return;
    }
    if (!ww_sx_addresses(w, i->address, givers, w->addr, host)) return;
    for (unsigned n = 0; n < i->sub; n++)
        for (unsigned l = 0; l < SX_LANES; l++)
            for (unsigned h = 0; h < 2; h++) {
                unsigned row, column;
                place(i->mods & 1u, l, h, &row, &column);
                unsigned char *at = host[8 * n + row] + 2 * column;
                uint32_t *word = is_store ? NULL : (uint32_t *)sx_dst(w, i->d) + n * SX_LANES + l;
                if (is_store)
                    memcpy(at, (const unsigned char *)sx_src(w, i->b) + (n * SX_LANES + l) * 4 + 2 * h, 2);
                else
                    memcpy((unsigned char *)word + 2 * h, at, 2);
            }
}

static void load_matrices(SX_ARGS) {
    matrices(w, i, mask, false);
}

static void store_matrices(SX_ARGS) {
    matrices(w, i, mask, true);
}

/* ---- constants ---- */

static bool constant_host(struct sx_warp *w, const struct sx_inst *i, unsigned l, uint32_t at,
                          unsigned char **host) {
    const struct sx_run *r = w->run;
    uint32_t bank = (uint32_t)i->imm >> 16, bytes = ww_sx_type_bytes(i->type);
    uint32_t offset = (uint32_t)i->imm & 0xffff;
    at += offset & 0x8000u ? offset | 0xffff0000u : offset;
    if (at >= 0xffff8000u) at &= 0xffff; /* an offset of the bank's upper half, and no index */
    if (at % bytes == 0 && at <= r->bank_bytes[bank] && bytes <= r->bank_bytes[bank] - at) {
        w->addr[l] = at;
        *host = r->bank[bank] + at;
        return true;
    }
    ww_sx_fail(w, l, WW_EXEC, "load of %u bytes at c[%u][0x%x]: misaligned, or outside of the bank's %u bytes",
               bytes, bank, at, r->bank_bytes[bank]);
    return false;
}

static void note_constant(struct sx_warp *w, uint32_t mask) {
    w->access[0] = (struct sx_access_group){WW_SPACE_CONST, mask};
    w->access_count = 1;
}

/* c[bank][register + offset] */
static void load_constant(SX_ARGS) {
    unsigned char *host[SX_LANES];
    const uint32_t *index = sx_src(w, i->a);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (!constant_host(w, i, l, index[l], &host[l])) return;
    }
    note_constant(w, mask);
    ww_sx_load_rows(sx_dst(w, i->d), i->type, mask, host);
}

/* The same of all lanes. */
static bool same_constant(struct sx_warp *w, const struct sx_inst *i, unsigned lane, uint32_t mask) {
    unsigned char *host[SX_LANES];
    const uint32_t *index = sx_src(w, i->a);
    if (!constant_host(w, i, lane, index[lane], &host[lane])) return false;
    uint32_t one[4 * SX_LANES], *d = sx_dst(w, i->d);
    ww_sx_load_rows(one, i->type, 1u << lane, host);
    for (uint32_t n = 0; n < (ww_sx_type_bytes(i->type) + 3) / 4; n++, d += SX_LANES) {
        uint32_t v = one[n * SX_LANES + lane];
        SX_EACH(mask, d[l] = v;);
    }
    w->affine = true;
    w->affine_base = w->addr[lane];
    w->affine_stride = 0;
    return true;
}

static void load_fixed(SX_ARGS) {
    if (same_constant(w, i, (unsigned)__builtin_ctz(mask), mask)) note_constant(w, mask);
}

/* c[bank][offset] into uniform registers, whatever the lanes. */
static void load_uniform(SX_ARGS) {
    if (same_constant(w, i, 0, SX_ALL)) note_constant(w, mask);
}

/* ---- building ---- */

static bool pick_constant(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    const struct ww_sass_operand *o = &in->opd[SASS_B];
    bool uniform = in->op == SASS_ULDC;
    if (o->kind == SASS_K_NONE) o = &in->opd[SASS_A];
    if (o->kind != SASS_K_CONST || o->bank >= WW_CUBIN_BANKS || in->mod[SASS_M_LDCMODE]) return false;
    struct ww_sass_insn one = *in;
    one.opd[SASS_A] = (struct ww_sass_operand){.kind = uniform ? SASS_K_UREG : SASS_K_REG,
                                               .reg = o->reg == SASS_RZ && uniform ? SASS_URZ : o->reg};
    i->a = ww_sx_src(b, &one, SASS_A, 1);
    i->imm = (int64_t)o->bank << 16 | (o->imm & 0xffff);
    i->d = ww_sx_dst(b, in, SASS_D, (ww_sx_type_bytes(i->type) + 3) / 4);
    i->fn = uniform ? load_uniform : i->a == SX_ZERO ? load_fixed : load_constant;
    return true;
}

static uint8_t space_of(uint16_t op) {
    switch (op) {
    case SASS_LDG:
    case SASS_STG:
    case SASS_LDGSTS:
        return WW_SPACE_GLOBAL;
    case SASS_LDL:
    case SASS_STL:
        return WW_SPACE_LOCAL;
    case SASS_LDS:
    case SASS_STS:
    case SASS_LDSM:
    case SASS_STSM:
        return WW_SPACE_SHARED;
    default:
        return WW_SPACE_NONE;
    }
}

static bool pick_plain(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i, bool is_store) {
    uint32_t bytes = ww_sx_type_bytes(i->type), rows = (bytes + 3) / 4;
    i->address = ww_sx_address_of(b, in, SASS_A, space_of(in->op), bytes, is_store);
    bool guarded = !is_store && in->opd[SASS_PS].kind == SASS_K_PRED &&
                   !(in->opd[SASS_PS].reg == SASS_PT && !(in->opd[SASS_PS].flags & SASS_F_NOT));
    if (guarded) i->ps[0] = ww_sx_pred_src(b, in, SASS_PS, 0, i);
    if (is_store)
        i->b = ww_sx_src(b, in, SASS_B, rows);
    else
        i->d = ww_sx_dst(b, in, SASS_D, rows);
    i->fn = is_store ? SX_FN(store) : guarded ? SX_FN(load_guarded) : SX_FN(load);
    return i->address != NULL;
}

static bool pick_matrices(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    bool is_store = in->op == SASS_STSM;
    i->sub = in->mod[SASS_M_NUM];
    i->mods = in->mod[SASS_M_TRANSPOSE];
    if (i->sub != 1 && i->sub != 2 && i->sub != 4) return false;
    i->address = ww_sx_address_of(b, in, SASS_A, WW_SPACE_SHARED, 16, is_store);
    if (is_store)
        i->b = ww_sx_src(b, in, SASS_B, i->sub);
    else
        i->d = ww_sx_dst(b, in, SASS_D, i->sub);
    i->fn = is_store ? store_matrices : load_matrices;
    return i->address != NULL;
}

/* A: the global source; D: the destination in shared memory. */
static bool pick_copy(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    uint32_t bytes = ww_sx_type_bytes(i->type);
    i->address = ww_sx_address_of(b, in, SASS_A, WW_SPACE_GLOBAL, bytes, false);
    i->address2 = ww_sx_address_of(b, in, SASS_D, WW_SPACE_SHARED, bytes, true);
    i->ps[0] = ww_sx_pred_src(b, in, SASS_PS, 0, i);
    i->fn = copy;
    return i->address && i->address2 && bytes >= 4;
}

bool ww_sx_pick_memory(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    i->type = in->mod[SASS_M_TYPE];
    i->kind = SX_MEM;
    switch (in->op) {
    case SASS_LD:
    case SASS_LDG:
    case SASS_LDL:
    case SASS_LDS:
        return pick_plain(b, in, i, false);
    case SASS_ST:
    case SASS_STG:
    case SASS_STL:
    case SASS_STS:
        return pick_plain(b, in, i, true);
    case SASS_LDSM:
    case SASS_STSM:
        return pick_matrices(b, in, i);
    case SASS_LDGSTS:
        return pick_copy(b, in, i);
    case SASS_LDC:
    case SASS_ULDC:
        return pick_constant(b, in, i);
    default:
        i->kind = SX_DATA;
        i->type = 0;
        return false;
    }
}
