/* lower_memory.c: loads, stores, atomics, copies. */
#include "lower.h"

/* The space that an access goes to as far as the text tells: generic addresses are followed to their origin. */
static uint8_t space_of(const struct lower *l, const struct ptx_inst *i, const struct ptx_operand *a) {
    uint8_t s = i->space;
    if (s == PTX_S_GENERIC && a->reg >= 0) s = l->value[a->reg].space;
    if (s == PTX_S_GENERIC && a->sym) s = a->sym->space;
    switch (s) {
    case PTX_S_SHARED:
        return WW_SPACE_SHARED;
    case PTX_S_LOCAL:
        return WW_SPACE_LOCAL;
    case PTX_S_CONST:
    case PTX_S_PARAM:
        return WW_SPACE_CONST;
    default:
        return WW_SPACE_GLOBAL;
    }
}

static struct lower_src address(struct lower *l, const struct ptx_inst *i, const struct ptx_operand *a) {
    bool wide = i->space == PTX_S_GENERIC || i->space == PTX_S_GLOBAL;
    struct lower_src s;
    if (a->reg >= 0)
        s = ww_lower_source(l, a);
    else if (wide && a->sym && a->sym->space == PTX_S_GLOBAL)
        s = (struct lower_src){.kind = L_CONST, .imm = (int64_t)(0x40000000 + (uint64_t)a->sym->id * 4096)};
    else
        return (struct lower_src){.kind = L_ZERO}; /* an immediate address */
    return ww_lower_in_reg(l, s, wide ? 2 : 1);
}

static uint32_t cache_flags(const struct ptx_inst *i) {
    uint32_t f = WW_INST_ACCESS;
    if (i->mods & (PTX_M_VOLATILE | PTX_M_CG)) f |= WW_INST_BYPASS_L1;
    if ((i->mods & PTX_M_NC) || i->op == PTX_LDU) f |= WW_INST_READ_ONLY;
    if (i->mods & PTX_M_CS) f |= WW_INST_STREAM;
    return f;
}

static void set_access(struct lower_inst *m, const struct ptx_inst *i, uint8_t space, uint32_t bytes,
                       uint32_t offset) {
    if (!m) return;
    m->space = space;
    m->width = (uint8_t)bytes;
    m->flags |= cache_flags(i);
    m->access_part = 0;
    m->access_offset = offset;
}

static const char *load_name(const struct lower *l, const struct ptx_inst *i, uint8_t space) {
    switch (space) {
    case WW_SPACE_SHARED:
        return "LDS";
    case WW_SPACE_LOCAL:
        return "LDL";
    case WW_SPACE_CONST:
        return "LDC";
    default:
        break;
    }
    if (i->mods & PTX_M_NC) return lower_by_arch(l, "LD.E", "LDG.E.CI", "LDG.E.CONSTANT.SYS");
    return i->space == PTX_S_GENERIC ? "LD.E" : lower_by_arch(l, "LD.E", "LDG.E", "LDG.E.SYS");
}

/* What a bulk copy, or an asynchronous store, completes at an mbarrier. */
static void lower_transaction(struct lower *l) {
    struct lower_reg none = {.group = -1};
    ww_lower_mbarrier(ww_lower_put(l, WW_OP_BARRIER, "SYNCS.ARRIVE.TRANS64.A0TX", none, NULL, 0), false);
}

static const char *store_name(const struct lower *l, const struct ptx_inst *i, uint8_t space) {
    if (i->bulk & PTX_BULK_ASYNC) return "STAS";
    if (space == WW_SPACE_SHARED) return "STS";
    if (space == WW_SPACE_LOCAL) return "STL";
    return i->space == PTX_S_GENERIC ? "ST.E" : lower_by_arch(l, "ST.E", "STG.E", "STG.E.SYS");
}

/* The registers of a vector load, consecutive if none of them has another place or value. */
static bool adopt(struct lower *l, const struct ptx_operand *d, struct lower_reg group, unsigned words) {
    for (unsigned k = 0; k < d->vec_count; k++) {
        if (d->vec[k].kind != PTX_O_REG) continue;
        const struct lower_value *v = &l->value[d->vec[k].reg];
        if (v->defs != 1 || v->reg.group >= 0 || v->root != d->vec[k].reg) return false;
    }
    for (unsigned k = 0; k < d->vec_count; k++) {
        if (d->vec[k].kind != PTX_O_REG) continue;
        struct lower_value *v = &l->value[d->vec[k].reg];
        uint8_t n = words == 2 && !v->high ? 1 : (uint8_t)words;
        v->reg = (struct lower_reg){.group = group.group, .off = (uint8_t)(k * words), .n = n};
    }
    return true;
}

/* One machine load of `bytes` into elements [first, first + count) of a vector. */
static void load_vector(struct lower *l, const struct ptx_inst *i, uint8_t space, struct lower_src a) {
    const struct ptx_operand *d = &i->opnd[0];
    uint32_t element = ww_ptx_type_bytes((enum ptx_type)i->type[0]), total = element * i->vec;
    unsigned words = element < 4 ? 1 : element / 4;
    for (uint32_t at = 0; at < total; at += 16) {
        uint32_t bytes = total - at < 16 ? total - at : 16;
        struct lower_reg group = ww_lower_group_new(l, (uint8_t)(bytes < 4 ? 1 : bytes / 4), false);
        struct ptx_operand part = *d;
        part.vec = d->vec + at / element;
        part.vec_count = (uint8_t)(bytes / element);
        bool direct = element >= 4 && adopt(l, &part, group, words);
        set_access(ww_lower_put(l, WW_OP_LOAD, load_name(l, i, space), group, &a, 1), i, space, bytes, at);
        if (direct) continue;
        for (unsigned k = 0; k < part.vec_count; k++) {
            struct lower_reg to = ww_lower_dest(l, &part.vec[k]);
            for (unsigned w = 0; w < to.n; w++) {
                struct lower_src s = ww_lower_of(ww_lower_part(group, k * element / 4 + w));
                ww_lower_put(l, WW_OP_INT, element < 4 ? "PRMT" : "MOV", ww_lower_part(to, w), &s, 1);
            }
        }
    }
}

/* An argument arrives in registers; a result is moved out of the registers that the call left it in. */
static void receive(struct lower *l, const struct ptx_inst *i, bool is_argument) {
    const struct ptx_operand *d = &i->opnd[0];
    unsigned count = d->kind == PTX_O_VEC ? d->vec_count : 1;
    struct lower_src zero = {.kind = L_ZERO};
    for (unsigned k = 0; k < count && !is_argument; k++) {
        struct lower_reg dst = ww_lower_dest(l, d->kind == PTX_O_VEC ? &d->vec[k] : d);
        for (unsigned w = 0; w < dst.n; w++) ww_lower_put(l, WW_OP_INT, "MOV", ww_lower_part(dst, w), &zero, 1);
    }
}

void ww_lower_op_ld(struct lower *l, const struct ptx_inst *i) {
    const struct ptx_operand *a = &i->opnd[1];
    uint8_t space = space_of(l, i, a);
    if (i->space == PTX_S_PARAM && a->reg < 0 && a->sym && !(l->func->is_entry && a->sym->is_param)) {
        receive(l, i, a->sym->is_param);
        return;
    }
    struct lower_src s = address(l, i, a);
    if (i->opnd[0].kind == PTX_O_VEC) {
        load_vector(l, i, space, s);
        return;
    }
    set_access(ww_lower_put(l, WW_OP_LOAD, load_name(l, i, space), ww_lower_dest(l, &i->opnd[0]), &s, 1), i,
               space, ww_ptx_type_bytes((enum ptx_type)i->type[0]), 0);
}

void ww_lower_op_st(struct lower *l, const struct ptx_inst *i) {
    const struct ptx_operand *a = &i->opnd[0], *v = &i->opnd[1];
    uint8_t space = space_of(l, i, a);
    uint32_t element = ww_ptx_type_bytes((enum ptx_type)i->type[0]), total = element * i->vec;
    uint8_t words = element < 8 ? 1 : (uint8_t)(element / 4);
    if (i->space == PTX_S_PARAM) { /* an argument or result: into the register that the call uses */
        if (ww_lower_is_transfer_argument(l, i)) return;
        unsigned count = v->kind == PTX_O_VEC ? v->vec_count : 1;
        for (unsigned k = 0; k < count; k++) {
            struct lower_src s = ww_lower_source(l, v->kind == PTX_O_VEC ? &v->vec[k] : v);
            for (unsigned w = 0; w < words; w++) {
                struct lower_src part = ww_lower_word(&s, w);
                ww_lower_put(l, WW_OP_INT, lower_by_arch(l, "MOV", "MOV", "IMAD.MOV.U32"),
                             ww_lower_group_new(l, 1, false), &part, 1);
            }
        }
        return;
    }
    struct lower_src s[5] = {address(l, i, a)};
    for (uint32_t at = 0; at < total; at += 16) {
        uint32_t bytes = total - at < 16 ? total - at : 16;
        unsigned n = 1, first = at / element, count = v->kind == PTX_O_VEC ? bytes / element : 1;
        for (unsigned k = 0; k < count && n < 5; k++) {
            struct lower_src value = ww_lower_source(l, v->kind == PTX_O_VEC ? &v->vec[first + k] : v);
            s[n++] = ww_lower_in_reg(l, value, words > 4 ? 4 : words);
        }
        set_access(ww_lower_put(l, WW_OP_STORE, store_name(l, i, space), (struct lower_reg){.group = -1}, s, n),
                   i, space, bytes, at);
    }
    if (i->bulk & PTX_BULK_ASYNC) lower_transaction(l);
}

static bool is_read(const struct lower *l, const struct ptx_operand *o) {
    return o->kind == PTX_O_VEC || (o->kind == PTX_O_REG && l->value[l->value[o->reg].root].live);
}

void ww_lower_op_atom(struct lower *l, const struct ptx_inst *i) {
    const struct ptx_operand *a = &i->opnd[i->dst_count];
    uint8_t space = space_of(l, i, a);
    uint32_t bytes = ww_ptx_type_bytes((enum ptx_type)i->type[0]) * i->vec;
    bool result = i->op == PTX_ATOM && is_read(l, &i->opnd[0]), shared = space == WW_SPACE_SHARED;
    bool real = ww_lower_is_float(i->type[0]);
    struct lower_reg dst = result && i->opnd[0].kind == PTX_O_REG ? ww_lower_dest(l, &i->opnd[0])
                                                                  : (struct lower_reg){.group = -1};
    if (result && i->opnd[0].kind == PTX_O_VEC)
        dst = ww_lower_group_new(l, (uint8_t)(bytes < 4 ? 1 : bytes > 16 ? 4 : bytes / 4), false);
    struct lower_src s[4] = {address(l, i, a)};
    unsigned n = 1;
    for (unsigned k = i->dst_count + 1u; k < i->opnd_count && n < 4; k++) {
        const struct ptx_operand *o = &i->opnd[k];
        if (o->kind == PTX_O_VEC) {
            for (unsigned e = 0; e < o->vec_count && n < 4; e++)
                s[n++] = ww_lower_in_reg(l, ww_lower_source(l, &o->vec[e]), 1);
            continue;
        }
        s[n++] = ww_lower_in_reg(l, ww_lower_source(l, o), bytes == 8 ? 2 : 1);
    }
    bool returns = result || (shared && l->arch != VOLTA);
    const char *name = shared   ? lower_by_arch(l, "LDSLK", "ATOMS", "ATOMS")
                       : result ? lower_by_arch(l, "ATOM.E", "ATOM", "ATOMG.E.STRONG.GPU")
                                : lower_by_arch(l, "RED.E", "RED", "RED.E.STRONG.GPU");
    if (i->bulk & PTX_BULK_ASYNC) {
        set_access(ww_lower_put(l, WW_OP_REDUCE, "REDAS", (struct lower_reg){.group = -1}, s, n), i, space,
                   bytes, 0);
        lower_transaction(l);
        return;
    }
    bool loops = shared && (l->arch == FERMI || (real && i->sub == PTX_SUB_ADD));
    struct lower_reg old =
        loops && dst.group < 0 ? ww_lower_group_new(l, (uint8_t)(bytes == 8 ? 2 : 1), false) : dst;
    if (loops && l->arch != FERMI) { /* load, add, compare and swap */
        struct lower_reg first = ww_lower_group_new(l, 1, false), sum = ww_lower_group_new(l, 1, false);
        set_access(ww_lower_put(l, WW_OP_LOAD, "LDS", first, s, 1), i, space, bytes, 0);
        struct lower_src in[2] = {ww_lower_of(first), s[1]};
        ww_lower_put(l, WW_OP_FP32, "FADD", sum, in, 2);
        struct lower_src cas[3] = {s[0], ww_lower_of(first), ww_lower_of(sum)};
        set_access(ww_lower_put(l, WW_OP_ATOMIC, "ATOMS.CAST.SPIN", old, cas, 3), i, space, bytes, 0);
    } else {
        set_access(ww_lower_put(l, returns || loops ? WW_OP_ATOMIC : WW_OP_REDUCE, name, old, s, n), i, space,
                   bytes, 0);
    }
    if (!loops) return;
    struct lower_reg p = ww_lower_group_new(l, 1, true);
    struct lower_src o = ww_lower_of(old), q = ww_lower_of(p);
    if (l->arch == FERMI) {
        struct lower_reg sum = ww_lower_group_new(l, old.n, false);
        struct lower_src in[2] = {o, s[1]}, out[2] = {s[0], ww_lower_of(sum)};
        ww_lower_put(l, real ? WW_OP_FP32 : WW_OP_INT, real ? "FADD" : "IADD", sum, in, 2);
        set_access(ww_lower_put(l, WW_OP_STORE, "STSUL", (struct lower_reg){.group = -1}, out, 2), i, space,
                   bytes, 0);
    }
    ww_lower_put(l, WW_OP_INT, "ISETP", p, &o, 1);
    ww_lower_put(l, WW_OP_BRANCH, "BRA", (struct lower_reg){.group = -1}, &q, 1);
}

/* Its registers are read; what it moves is recorded as an asynchronous copy, or as stores. */
static void lower_bulk(struct lower *l, const struct ptx_inst *i) {
    bool stores = i->dst_space != PTX_S_SHARED && !(i->bulk & PTX_BULK_PREFETCH);
    bool tensor = i->bulk & PTX_BULK_TENSOR;
    struct lower_reg none = {.group = -1};
    struct lower_src s[WW_INST_SRC_MAX];
    unsigned n = 0;
    for (uint8_t k = 0; k < i->opnd_count && n < WW_INST_SRC_MAX; k++) {
        const struct ptx_operand *o = &i->opnd[k];
        if (o->kind == PTX_O_VEC) o = &o->vec[0];
        if (o->kind == PTX_O_REG || (o->kind == PTX_O_ADDR && o->reg >= 0)) s[n++] = ww_lower_source(l, o);
    }
    bool prefetches = i->bulk & PTX_BULK_PREFETCH, reduces = stores && i->redop != PTX_SUB_NONE;
    const char *name = tensor ? "UTMALDG" : "UBLKCP.S.G";
    if (prefetches) name = tensor ? "UTMAPF" : "UBLKPF";
    if (stores) name = tensor ? "UTMASTG" : "UBLKCP.G.S";
    if (reduces) name = tensor ? "UTMAREDG" : "UBLKRED.G.S";
    bool between = i->dst_space == PTX_S_SHARED && i->space == PTX_S_SHARED; /* CTAs of a cluster */
    if (between) name = i->redop != PTX_SUB_NONE ? "UBLKRED.S.S" : "UBLKCP.S.S";
    struct lower_inst *m =
        ww_lower_put(l, stores || between ? WW_OP_STORE : WW_OP_ASYNC_COPY, name, none, s, n);
    set_access(m, i, between ? WW_SPACE_SHARED : WW_SPACE_GLOBAL, 16, 0);
    if (m && !stores && !between) m->flags |= WW_INST_BYPASS_L1;
    if (i->bulk & PTX_BULK_TX) lower_transaction(l);
}

void ww_lower_op_cp(struct lower *l, const struct ptx_inst *i) {
    struct lower_reg none = {.group = -1};
    if (i->sub == PTX_SUB_CP_BULK) {
        lower_bulk(l, i);
        return;
    }
    if (i->sub != PTX_SUB_CP_ASYNC) {
        if (i->sub == PTX_SUB_CP_MBARRIER_ARRIVE) {
            ww_lower_mbarrier(ww_lower_put(l, WW_OP_BARRIER, "ARRIVES.LDGSTSBAR.64", none, NULL, 0), false);
            return;
        }
        bool commit = i->sub == PTX_SUB_CP_COMMIT;
        ww_lower_put(l, commit ? WW_OP_NOP : WW_OP_ASYNC_WAIT, commit ? "LDGDEPBAR" : "DEPBAR.LE", none, NULL,
                     0);
        return;
    }
    struct lower_src s[2];
    for (int k = 0; k < 2; k++) {
        s[k] = (struct lower_src){.kind = L_ZERO};
        if (i->opnd[k].reg >= 0) s[k] = ww_lower_source(l, &i->opnd[k]);
    }
    set_access(ww_lower_put(l, WW_OP_ASYNC_COPY, "LDGSTS.E", none, s, 2), i, WW_SPACE_GLOBAL, i->cp_bytes, 0);
}

/* ldmatrix, stmatrix, and the loads and stores of wmma: each lane's part as 16-byte accesses. */
void ww_lower_op_matrix(struct lower *l, const struct ptx_inst *i) {
    bool is_store = i->op == PTX_STMATRIX || i->sub == PTX_SUB_WMMA_STORE_D;
    const struct ptx_operand *v = &i->opnd[is_store ? 1 : 0], *a = &i->opnd[is_store ? 0 : 1];
    uint8_t space = space_of(l, i, a);
    struct lower_src s[5] = {ww_lower_of((struct lower_reg){.group = -1})};
    if (a->reg >= 0) s[0] = ww_lower_source(l, a);
    unsigned count = v->kind == PTX_O_VEC ? v->vec_count : 1;
    uint32_t per =
        ww_ptx_type_bytes((enum ptx_type)i->type[0]) < 4 ? 1 : ww_ptx_type_bytes((enum ptx_type)i->type[0]) / 4;
    bool first = true;
    for (unsigned at = 0; at < count; at += 4 / (per > 4 ? 4 : per)) {
        unsigned n = 1;
        struct lower_reg to[4];
        unsigned got = 0;
        for (unsigned k = at; k < count && k < at + 4 / per && got < 4; k++) {
            const struct ptx_operand *o = v->kind == PTX_O_VEC ? &v->vec[k] : v;
            if (is_store)
                s[n++] = ww_lower_in_reg(l, ww_lower_source(l, o), 1);
            else
                to[got] = ww_lower_dest(l, o);
            got++;
        }
        struct lower_reg group = is_store ? (struct lower_reg){.group = -1}
                                          : ww_lower_group_new(l, (uint8_t)(got == 3 ? 4 : got), false);
        const char *name = i->op == PTX_LDMATRIX   ? "LDSM.16"
                           : i->op == PTX_STMATRIX ? "STSM.16"
                           : is_store              ? store_name(l, i, space)
                                                   : load_name(l, i, space);
        struct lower_inst *m = ww_lower_put(l, is_store ? WW_OP_STORE : WW_OP_LOAD, name, group, s, n);
        if (first)
            set_access(m, i, space, 16, 0);
        else if (m)
            m->op = WW_OP_NOP; /* the first part carries the addresses that the recorder has */
        first = false;
        for (unsigned k = 0; k < got && !is_store; k++) {
            struct lower_src w = ww_lower_of(ww_lower_part(group, k));
            if (to[k].group >= 0) ww_lower_put(l, WW_OP_INT, "MOV", ww_lower_part(to[k], 0), &w, 1);
        }
    }
}

static bool live(const struct lower *l, const struct ptx_operand *o) {
    return o->kind == PTX_O_REG && l->value[l->value[o->reg].root].live;
}

/* Texture fetches and surface accesses: coordinates in, up to four registers out or in. The handle is a
 * constant. */
void ww_lower_op_texture(struct lower *l, const struct ptx_inst *i) {
    bool is_store = i->op == PTX_SUST;
    const struct ptx_operand *at = &i->opnd[is_store ? 0 : 1], *v = &i->opnd[is_store ? 1 : 0];
    uint8_t words = ww_ptx_type_bytes((enum ptx_type)i->type[0]) == 8 ? 2 : 1;
    unsigned count = v->kind == PTX_O_VEC ? v->vec_count : 1, n = 0, used = 0;
    struct lower_src s[8];
    for (unsigned k = 1; k < at->vec_count && n < 4; k++)
        s[n++] = ww_lower_in_reg(l, ww_lower_source(l, &at->vec[k]), 1);
    for (unsigned k = 0; k < count; k++) {
        const struct ptx_operand *o = v->kind == PTX_O_VEC ? &v->vec[k] : v;
        if (is_store && n < WW_INST_SRC_MAX) s[n++] = ww_lower_in_reg(l, ww_lower_source(l, o), words);
        used += !is_store && live(l, o);
    }
    if (used * words > 4) words = 1;
    unsigned size = used * (unsigned)words;
    struct lower_reg group = {.group = -1};
    if (size) group = ww_lower_group_new(l, (uint8_t)(size == 3 ? 4 : size), false);
    const char *name = i->op == PTX_TEX ? lower_by_arch(l, "TEX", "TEXS", "TEX.SCR")
                       : is_store       ? "SUST.D"
                                        : "SULD.D";
    uint32_t bytes = ww_ptx_type_bytes((enum ptx_type)i->type[0]) * count;
    set_access(ww_lower_put(l, WW_OP_TEXTURE, name, group, s, n), i, WW_SPACE_TEX, bytes > 16 ? 16 : bytes, 0);
    for (unsigned k = 0, part = 0; k < count && !is_store; k++) {
        const struct ptx_operand *o = v->kind == PTX_O_VEC ? &v->vec[k] : v;
        if (!live(l, o)) continue;
        struct lower_reg to = ww_lower_dest(l, o);
        for (unsigned w = 0; w < words && w < to.n; w++) {
            struct lower_src from = ww_lower_of(ww_lower_part(group, part++));
            ww_lower_put(l, WW_OP_INT, "MOV", ww_lower_part(to, w), &from, 1);
        }
    }
}
