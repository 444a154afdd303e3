/* lower_emit.c: building virtual machine instructions. */
#include "lower.h"
#include <string.h>

static void *grow(struct lower *l, void *array, uint32_t count, uint32_t *cap, size_t size) {
    if (count < *cap) return array;
    uint32_t cap2 = *cap ? *cap * 2 : 64;
    void *bigger = ww_arena_array(l->arena, cap2, size);
    if (!bigger) {
        l->failed = true;
        return NULL;
    }
    if (count) memcpy(bigger, array, count * size);
    *cap = cap2;
    return bigger;
}

static const struct lower_reg no_reg = {.group = -1};

struct lower_reg ww_lower_group_new(struct lower *l, uint8_t n, bool pred) {
    struct lower_group *g = grow(l, l->group, l->group_count, &l->group_cap, sizeof *g);
    if (!g) return no_reg;
    l->group = g;
    g[l->group_count] = (struct lower_group){.n = n, .pred = pred, .phys = -1};
    return (struct lower_reg){.group = (int32_t)l->group_count++, .n = n};
}

struct lower_reg ww_lower_part(struct lower_reg r, unsigned k) {
    if (r.group < 0 || k >= r.n) return no_reg;
    return (struct lower_reg){.group = r.group, .off = (uint8_t)(r.off + k), .n = 1};
}

struct lower_src ww_lower_of(struct lower_reg r) {
    if (r.group < 0) return (struct lower_src){.kind = L_ZERO};
    return (struct lower_src){.kind = L_REG, .reg = r};
}

static struct lower_src constant(bool is_imm, int64_t imm) {
    if (is_imm && !imm) return (struct lower_src){.kind = L_ZERO, .is_imm = true};
    return (struct lower_src){.kind = L_CONST, .is_imm = is_imm, .imm = imm};
}

struct lower_src ww_lower_word(const struct lower_src *s, unsigned k) {
    if (s->kind == L_REG) return ww_lower_of(ww_lower_part(s->reg, k));
    if (s->kind == L_CONST && s->is_imm) return constant(true, k ? s->imm >> 32 : (int32_t)s->imm);
    if (s->kind == L_CONST) return constant(false, s->imm + 4 * (int64_t)k);
    return *s;
}

/* Words of a PTX register that are kept. */
static uint8_t words_of(const struct lower *l, int32_t r) {
    uint32_t bytes = ww_ptx_type_bytes((enum ptx_type)l->func->reg[r].type);
    if (bytes == 16) return 4;
    return bytes == 8 && l->value[r].high ? 2 : 1;
}

static struct lower_reg place(struct lower *l, int32_t r) {
    struct lower_value *v = &l->value[r];
    if (v->reg.group < 0) {
        bool pred = l->func->reg[r].type == PTX_T_PRED;
        v->reg = ww_lower_group_new(l, pred ? 1 : words_of(l, r), pred);
    }
    return v->reg;
}

struct lower_reg ww_lower_dest(struct lower *l, const struct ptx_operand *o) {
    if (o->kind != PTX_O_REG) return no_reg;
    return place(l, l->value[o->reg].root);
}

const struct ptx_inst *ww_lower_deferred(const struct lower *l, const struct ptx_operand *o) {
    if (o->kind != PTX_O_REG) return NULL;
    const struct lower_value *v = &l->value[l->value[o->reg].root];
    return v->deferred ? &l->func->inst[v->def] : NULL;
}

/* A folded producer whose consumer cannot take it after all: computed in place. */
static struct lower_src compute(struct lower *l, struct lower_value *v) {
    const struct ptx_inst *i = &l->func->inst[v->def];
    if (i->op == PTX_NEG) return ww_lower_source(l, &i->opnd[1]); /* a sign modifier */
    struct lower_reg keep = v->reg;
    v->deferred = false;
    v->reg = no_reg;
    struct lower_reg made = ww_lower_dest(l, &i->opnd[0]);
    ww_lower_one(l, i);
    v->reg = keep;
    v->deferred = true;
    return ww_lower_of(made);
}

struct lower_src ww_lower_source(struct lower *l, const struct ptx_operand *o) {
    if (o->kind == PTX_O_IMM) return constant(true, o->imm);
    if (o->kind == PTX_O_SYM) {
        bool narrow = o->sym->kind == PTX_SYM_VAR && o->sym->space != PTX_S_GLOBAL;
        if (narrow) return constant(true, (int64_t)o->sym->offset + o->imm);
        return constant(false, (int64_t)(0x40000000 + (uint64_t)o->sym->id * 4096) + o->imm);
    }
    if ((o->kind != PTX_O_REG && o->kind != PTX_O_ADDR) || o->reg < 0)
        return (struct lower_src){.kind = L_ZERO};
    struct lower_value *v = &l->value[l->value[o->reg].root];
    if (v->deferred) return compute(l, v);
    if (v->is_const && o->kind == PTX_O_REG) return constant(v->is_imm, v->imm);
    if (v->is_const && !v->in_reg) return constant(v->is_imm, v->imm);
    return ww_lower_of(place(l, l->value[o->reg].root));
}

static struct lower_cached *find_cached(struct lower *l, const struct lower_src *s) {
    uint32_t block = l->func->inst[l->cur].block;
    for (uint32_t k = 0; k < l->cache_count; k++) {
        struct lower_cached *c = &l->cache[k];
        if (c->imm == s->imm && c->is_imm == s->is_imm && (c->block == block || c->block == 0)) return c;
    }
    return NULL;
}

static const char *move_name(const struct lower *l) {
    return l->arch == VOLTA ? "IMAD.MOV.U32" : "MOV";
}

static struct lower_reg move_constant(struct lower *l, const struct lower_src *s) {
    const struct lower_cached *c = find_cached(l, s);
    if (c) return (struct lower_reg){.group = c->group, .n = 1};
    struct lower_reg r = ww_lower_group_new(l, 1, false);
    ww_lower_put(l, WW_OP_INT, move_name(l), r, s, 1);
    uint32_t slot = l->cache_count < LOWER_CACHE ? l->cache_count++ : (uint32_t)(s->imm & (LOWER_CACHE - 1));
    l->cache[slot] = (struct lower_cached){
        .imm = s->imm,
        .is_imm = s->is_imm,
        .group = r.group,
        .block = l->func->inst[l->cur].guard >= 0 ? UINT32_MAX : l->func->inst[l->cur].block};
    return r;
}

struct lower_src ww_lower_in_reg(struct lower *l, struct lower_src s, uint8_t n) {
    if (s.kind != L_CONST) return s;
    if (n == 1) {
        struct lower_src w = ww_lower_word(&s, 0);
        return w.kind == L_CONST ? ww_lower_of(move_constant(l, &w)) : w;
    }
    struct lower_reg r = ww_lower_group_new(l, n, false);
    for (unsigned k = 0; k < n; k++) {
        struct lower_src w = ww_lower_word(&s, k);
        ww_lower_put(l, WW_OP_INT, move_name(l), ww_lower_part(r, k), &w, 1);
    }
    return ww_lower_of(r);
}

static void add_source(struct lower_inst *m, struct lower_reg r) {
    if (r.group < 0 || m->src_count == LOWER_SRC_MAX) return;
    for (unsigned k = 0; k < m->src_count; k++)
        if (m->src[k].group == r.group && m->src[k].off == r.off && m->src[k].n >= r.n) return;
    m->src[m->src_count++] = r;
}

static void add_guards(struct lower *l, struct lower_inst *m) {
    const struct ptx_inst *i = &l->func->inst[l->cur];
    int32_t guard[2] = {i->guard, l->block_guard[i->block]};
    for (int k = 0; k < 2; k++)
        if (guard[k] >= 0) add_source(m, place(l, l->value[guard[k]].root));
}

struct lower_inst *ww_lower_put(struct lower *l, enum ww_op op, const char *name, struct lower_reg dst,
                                const struct lower_src *src, unsigned count) {
    struct lower_src in_reg[LOWER_SRC_MAX];
    unsigned constants = 0, n = count < LOWER_SRC_MAX ? count : LOWER_SRC_MAX;
    for (unsigned k = 0; k < n; k++) {
        in_reg[k] = src[k];
        if (src[k].kind == L_CONST && constants++ > 0) in_reg[k] = ww_lower_of(move_constant(l, &src[k]));
    }
    struct lower_inst *m = grow(l, l->inst, l->inst_count, &l->inst_cap, sizeof *m);
    static const struct lower_inst nothing;
    if (!m) {
        /* out of memory: the caller's writes go to the last place, the lowering as a whole fails */
        if (!l->inst) l->inst = ww_arena_alloc(l->arena, sizeof *m);
        return l->inst ? l->inst : NULL;
    }
    l->inst = m;
    m += l->inst_count++;
    *m = nothing;
    m->op = (uint8_t)op;
    m->name = name;
    m->ptx = l->cur;
    m->access_part = PTX_ACCESS_NONE;
    if (dst.group >= 0) m->dst[m->dst_count++] = dst;
    for (unsigned k = 0; k < n; k++)
        if (in_reg[k].kind == L_REG) add_source(m, in_reg[k].reg);
    add_guards(l, m);
    return m;
}

struct lower_operands ww_lower_read(struct lower *l, const struct ptx_inst *i) {
    struct lower_operands o = {.dst = ww_lower_dest(l, &i->opnd[0])};
    for (unsigned k = i->dst_count; k < i->opnd_count && o.n < 4; k++)
        o.s[o.n++] = ww_lower_source(l, &i->opnd[k]);
    return o;
}

void ww_lower_by_word(struct lower *l, const char *low, const char *high, bool carry, struct lower_reg dst,
                      const struct lower_src *s, unsigned count) {
    for (unsigned k = 0; k < dst.n; k++) {
        struct lower_src w[5];
        unsigned n = 0;
        for (unsigned j = 0; j < count && n < 4; j++) w[n++] = ww_lower_word(&s[j], k);
        if (carry && k) w[n++] = ww_lower_of(ww_lower_part(dst, 0));
        ww_lower_put(l, WW_OP_INT, k ? high : low, ww_lower_part(dst, k), w, n);
    }
}
