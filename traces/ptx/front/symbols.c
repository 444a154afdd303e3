/* symbols.c: the name table: hashed, with scopes; registers get their number at their first use. */
#include "../../../estimator/base/hash.h"
#include "front.h"
#include "modifier.h"
#include <string.h>

#define REG_MAX (1u << 20)
#define INST_MAX (1u << 22)

void *ww_ptx_grow(struct ptx_parser *p, void *array, size_t count, size_t *cap, size_t size) {
    if (count < *cap) return array;
    size_t cap2 = *cap ? *cap * 2 : 8;
    void *bigger = ww_arena_array(&p->m->arena, cap2, size);
    if (!bigger) return NULL;
    if (count) memcpy(bigger, array, count * size);
    *cap = cap2;
    return bigger;
}

static uint64_t name_hash(uint8_t class, const char *s, size_t n) {
    return ww_hash_bytes(s, n, class);
}

static struct ptx_name *find_hashed(const struct ptx_parser *p, uint8_t class, const char *s, size_t n,
                                    uint64_t hash) {
    if (!p->names.bucket_count) return NULL;
    struct ptx_name *e = p->names.bucket[hash & (p->names.bucket_count - 1)];
    while (e && !(e->hash == hash && e->class == class && e->n == n && memcmp(e->p, s, n) == 0)) e = e->next;
    return e;
}

struct ptx_name *ww_ptx_name_find(const struct ptx_parser *p, uint8_t class, const char *s, size_t n) {
    return find_hashed(p, class, s, n, name_hash(class, s, n));
}

/* Doubles the buckets. Chains keep their order: inner scopes stand before outer ones. */
static bool rehash(struct ptx_parser *p) {
    struct ptx_names *t = &p->names;
    size_t old = t->bucket_count, count = old ? old * 2 : 1024;
    struct ptx_name **bucket = ww_arena_array(&p->m->arena, count, sizeof *bucket);
    if (!bucket) return false;
    for (size_t b = 0; b < old; b++) {
        struct ptx_name **tail[2] = {&bucket[b], &bucket[b + old]};
        for (struct ptx_name *e = t->bucket[b], *next; e; e = next) {
            next = e->next;
            struct ptx_name ***to = &tail[(e->hash & old) != 0];
            e->next = NULL;
            **to = e;
            *to = &e->next;
        }
    }
    t->bucket = bucket;
    t->bucket_count = count;
    return true;
}

struct ptx_name *ww_ptx_name_add(struct ptx_parser *p, uint8_t class, const char *s, size_t n) {
    struct ptx_names *t = &p->names;
    if (t->count >= t->bucket_count && !rehash(p)) return NULL;
    struct ptx_name *e = ww_arena_alloc(&p->m->arena, sizeof *e);
    if (!e) return NULL;
    e->p = s;
    e->n = n;
    e->class = class;
    e->hash = name_hash(class, s, n);
    e->depth = p->depth;
    struct ptx_name **b = &t->bucket[e->hash & (t->bucket_count - 1)];
    e->next = *b;
    *b = e;
    e->scope_next = p->scope[p->depth].names;
    p->scope[p->depth].names = e;
    t->count++;
    return e;
}

enum ww_code ww_ptx_scope_enter(struct ptx_parser *p) {
    if (p->depth + 1 >= PTX_SCOPE_MAX)
        return ww_ptx_fail_at(p, &p->tok, WW_UNSUPPORTED, "expected at most %d nested scopes",
                              PTX_SCOPE_MAX - 2);
    p->scope[++p->depth] = (struct ptx_scope){.local_bytes = p->local_bytes, .param_bytes = p->param_bytes};
    return WW_OK;
}

/* Labels declared in this scope are known now; other uses wait for the scope around it. */
static enum ww_code resolve(struct ptx_parser *p, bool last) {
    struct ptx_scope *s = &p->scope[p->depth];
    for (struct ptx_fixup *f = s->fixups, *next; f; f = next) {
        next = f->next;
        const struct ptx_name *e = ww_ptx_name_find(p, NAME_LABEL, f->at.p, f->at.n);
        if (e && e->depth == p->depth) {
            if (f->imm)
                *f->imm = e->value;
            else
                *f->target = (uint32_t)e->value;
        } else if (last) {
            return ww_ptx_fail_at(p, &f->at, WW_INPUT, "expected a label of this function, found '%.*s'",
                                  (int)(f->at.n < 80 ? f->at.n : 80), f->at.p);
        } else {
            f->next = p->scope[p->depth - 1].fixups;
            p->scope[p->depth - 1].fixups = f;
        }
    }
    s->fixups = NULL;
    return WW_OK;
}

enum ww_code ww_ptx_scope_leave(struct ptx_parser *p) {
    struct ptx_scope *s = &p->scope[p->depth];
    WW_TRY(resolve(p, p->depth == 1));
    for (struct ptx_name *e = s->names; e; e = e->scope_next) {
        struct ptx_name **b = &p->names.bucket[e->hash & (p->names.bucket_count - 1)];
        while (*b != e) b = &(*b)->next;
        *b = e->next;
        p->names.count--;
    }
    if (p->depth > 1) {
        p->local_bytes = s->local_bytes;
        p->param_bytes = s->param_bytes;
    }
    p->depth--;
    return WW_OK;
}

bool ww_ptx_reg_new(struct ptx_parser *p, const char *name, uint8_t type, int32_t *reg) {
    struct ptx_func *f = p->func;
    if (f->reg_count >= REG_MAX) return false;
    struct ptx_reg *r = ww_ptx_grow(p, f->reg, f->reg_count, &p->reg_cap, sizeof *r);
    if (!r) return false;
    f->reg = r;
    r[f->reg_count] = (struct ptx_reg){name, type};
    *reg = (int32_t)f->reg_count++;
    return true;
}

struct ptx_inst *ww_ptx_inst_add(struct ptx_parser *p, uint32_t line) {
    struct ptx_func *f = p->func;
    if (f->inst_count >= INST_MAX) return NULL;
    struct ptx_inst *i = ww_ptx_grow(p, f->inst, f->inst_count, &p->inst_cap, sizeof *i);
    if (!i) return NULL;
    f->inst = i;
    i += f->inst_count++;
    *i = (struct ptx_inst){
        .guard = -1, .reconv = -1, .text_line = line, .line = p->loc_line, .file = p->loc_file, .vec = 1};
    p->label_at_end = false;
    return i;
}

/* The number at the end of a name like %r12; false if it has none or it is not in plain form. */
static bool split_number(const struct ptx_token *t, size_t *prefix, uint64_t *number) {
    size_t n = t->n;
    while (n > 0 && t->p[n - 1] >= '0' && t->p[n - 1] <= '9') n--;
    size_t digits = t->n - n;
    if (!n || !digits || digits > 10 || (digits > 1 && t->p[n] == '0')) return false;
    *number = 0;
    for (size_t i = n; i < t->n; i++) *number = *number * 10 + (uint64_t)(t->p[i] - '0');
    *prefix = n;
    return true;
}

/* Declares %rN, out of the range it belongs to, in the range's scope. */
static struct ptx_name *range_member(struct ptx_parser *p, const struct ptx_name *range,
                                     const struct ptx_token *t) {
    char *text = ww_arena_strndup(&p->m->arena, t->p, t->n);
    if (!text) return NULL;
    int32_t first = 0;
    for (unsigned i = 0; i < range->vec; i++) {
        int32_t reg;
        if (!ww_ptx_reg_new(p, text, range->type, &reg)) return NULL;
        if (!i) first = reg;
    }
    uint32_t depth = p->depth;
    p->depth = range->depth;
    struct ptx_name *e = ww_ptx_name_add(p, NAME_VALUE, text, t->n);
    p->depth = depth;
    if (!e) return NULL;
    e->kind = range->vec > 1 ? VALUE_VECTOR : VALUE_REG;
    e->vec = range->vec;
    e->type = range->type;
    e->value = first;
    return e;
}

struct ptx_name *ww_ptx_value_find(struct ptx_parser *p, const struct ptx_token *t) {
    struct ptx_name *e = ww_ptx_name_find(p, NAME_VALUE, t->p, t->n);
    if (e && e->kind == VALUE_REG_RANGE) e = NULL;
    size_t prefix;
    uint64_t number;
    if ((e && e->depth == p->depth) || !p->func || !split_number(t, &prefix, &number)) return e;
    if (e && p->depth <= 1) return e;
    const struct ptx_name *range = ww_ptx_name_find(p, NAME_VALUE, t->p, prefix);
    if (!range || range->kind != VALUE_REG_RANGE || number >= (uint64_t)range->value) return e;
    return e && e->depth >= range->depth ? e : range_member(p, range, t);
}

static enum ww_code add_word(struct ptx_parser *p, uint8_t class, const char *word, int64_t value) {
    struct ptx_name *e = ww_ptx_name_add(p, class, word, strlen(word));
    if (!e) return ww_ptx_nomem(p);
    e->value = value;
    return WW_OK;
}

enum ww_code ww_ptx_names_init(struct ptx_parser *p) {
    static const char *const sreg[] = {
#define X(id, text) text,
#include "sreg.def"
#undef X
    };
    _Static_assert(sizeof sreg / sizeof *sreg == PTX_SR_COUNT, "sreg.def lists enum ptx_sreg");
    for (size_t i = 0; i < PTX_OP_COUNT; i++) WW_TRY(add_word(p, NAME_OP, ww_ptx_ops[i].name, (int64_t)i));
    for (size_t i = 0; i < PTX_SR_COUNT; i++) WW_TRY(add_word(p, NAME_SREG, sreg[i], (int64_t)i));
    for (size_t i = 0; i < ww_ptx_modifier_count; i++) {
        const struct ptx_modifier *m = &ww_ptx_modifiers[i];
        struct ptx_name *e = ww_ptx_name_add(p, NAME_MODIFIER, m->word, strlen(m->word));
        if (!e) return ww_ptx_nomem(p);
        e->row = m;
    }
    return WW_OK;
}
