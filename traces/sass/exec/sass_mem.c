/* exec_mem.c: loads, stores, copies to shared memory, constants. */
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
    for (uint32_t n = 0; n < ww_sx_type_bytes(type) / 4; n++)
        SX_EACH(mask, memcpy(&rows[n * SX_LANES + l], host[l] + 4 * n, 4););
}

void ww_sx_store_rows(const uint32_t *rows, uint32_t bytes, uint32_t mask, unsigned char *const *host) {
    if (bytes < 4)
        SX_EACH(mask, memcpy(host[l], &rows[l], bytes););
    else
        for (uint32_t n = 0; n < bytes / 4; n++)
            SX_EACH(mask, memcpy(host[l] + 4 * n, &rows[n * SX_LANES + l], 4););
}

static void load(SX_ARGS) {
    unsigned char *host[SX_LANES];
    uint32_t *d = sx_dst(w, i->d);
    if (ww_sx_addresses(w, i->address, mask, w->addr, host)) ww_sx_load_rows(d, i->type, mask, host);
}

/* A load with a predicate: where it is false nothing is read and the result is 0. */
static void load_guarded(SX_ARGS) {
    uint32_t reads = mask & sx_ps(w, i, 0), *d = sx_dst(w, i->d), rest = mask & ~reads;
    for (uint32_t n = 0; n < (ww_sx_type_bytes(i->type) + 3) / 4; n++) SX_EACH(rest, d[n * SX_LANES + l] = 0;);
    w->access_count = 0;
    if (reads) load(w, i, reads);
}

static void store(SX_ARGS) {
    unsigned char *host[SX_LANES];
    if (ww_sx_addresses(w, i->address, mask, w->addr, host))
        ww_sx_store_rows(sx_src(w, i->b), i->address->bytes, mask, host);
}

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

/* c[bank][offset] into uniform registers, whatever the lanes. */
static void load_uniform(SX_ARGS) {
    unsigned char *host[SX_LANES];
    const uint32_t *index = sx_src(w, i->a);
    if (!constant_host(w, i, 0, index[0], &host[0])) return;
    for (unsigned l = 1; l < SX_LANES; l++) {
        host[l] = host[0];
        w->addr[l] = w->addr[0];
    }
    note_constant(w, mask);
    ww_sx_load_rows(sx_dst(w, i->d), i->type, SX_ALL, host);
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
    i->fn = uniform ? load_uniform : load_constant;
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
    i->fn = is_store ? store : guarded ? load_guarded : load;
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
