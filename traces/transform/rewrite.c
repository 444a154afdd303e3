/* A launch's instructions with new ones between them, and streams of steps over them. */
#include "rewrite.h"

#include <stdlib.h>
#include <string.h>

#define INST_MAX (1u << 20)

bool ww_tf_code_init(struct ww_tf_code *c, const struct ww_launch *from, struct ww_arena *arena) {
    *c = (struct ww_tf_code){.from = from, .arena = arena};
    c->head = ww_arena_array(arena, from->inst_count + 1, sizeof *c->head);
    c->moved = ww_arena_array(arena, from->inst_count + 1, sizeof *c->moved);
    if (c->head) memset(c->head, 0xff, (from->inst_count + 1) * sizeof *c->head);
    return c->head && c->moved;
}

void ww_tf_code_free(struct ww_tf_code *c) {
    free(c->group);
    free(c->site);
    c->group = NULL;
    c->site = NULL;
}

/* Room for one more; NULL: out of memory. */
static void *grow(void *p, size_t count, uint32_t *cap, size_t size) {
    if (count < *cap) return p;
    uint32_t wanted = *cap ? 2 * *cap : 64;
    void *q = wanted > *cap ? realloc(p, (size_t)wanted * size) : NULL;
    if (q) *cap = wanted;
    return q;
}

uint32_t ww_tf_group(struct ww_tf_code *c) {
    struct ww_tf_group *g = grow(c->group, c->groups, &c->group_cap, sizeof *g);
    if (!g) {
        c->failed = true;
        return 0;
    }
    c->group = g;
    memset(&g[c->groups], 0, sizeof *g);
    return c->groups++;
}

void ww_tf_add(struct ww_tf_code *c, uint32_t group, enum ww_op op, const char *mnemonic, uint32_t dst,
               uint32_t src) {
    if (c->failed) return;
    struct ww_tf_group *g = &c->group[group];
    struct ww_inst *in = &g->inst[g->count];
    g->mnemonic[g->count++] = mnemonic;
    *in = (struct ww_inst){.op = (uint8_t)op};
    if (dst != WW_TF_NONE) in->dst[in->dst_count++] = (struct ww_operand){(uint16_t)dst, 1};
    if (src != WW_TF_NONE) in->src[in->src_count++] = (struct ww_operand){(uint16_t)src, 1};
}

struct ww_inst *ww_tf_copy(struct ww_tf_code *c, uint32_t group, uint32_t inst) {
    if (c->failed) return NULL;
    struct ww_tf_group *g = &c->group[group];
    g->mnemonic[g->count] = NULL;
    g->inst[g->count] = c->from->inst[inst];
    return &g->inst[g->count++];
}

void ww_tf_mark(struct ww_tf_code *c, uint32_t place, uint32_t group) {
    for (uint32_t i = c->head[place]; i != WW_TF_NONE; i = c->site[i].next)
        if (c->site[i].group == group) return;
    struct ww_tf_site *s = grow(c->site, c->sites, &c->site_cap, sizeof *s);
    if (!s) {
        c->failed = true;
        return;
    }
    c->site = s;
    s[c->sites] = (struct ww_tf_site){.group = group, .next = c->head[place]};
    c->head[place] = c->sites++;
}

/* ---- layout ---- */

/* Distance of program counters: the smallest there is. */
static uint32_t pc_step(const struct ww_launch *l) {
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 1; i < l->inst_count; i++)
        if (l->inst[i].pc > l->inst[i - 1].pc && l->inst[i].pc - l->inst[i - 1].pc < least)
            least = l->inst[i].pc - l->inst[i - 1].pc;
    return least == UINT32_MAX ? 16 : least;
}

static uint32_t string_of(const char **string, uint32_t *count, const char *s) {
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(string[i], s) == 0) return i;
    string[*count] = s;
    return (*count)++;
}

struct layout {
    struct ww_inst *inst;
    const char **string;
    uint32_t count, strings, pc, step;
};

static void put_group(struct ww_tf_code *c, struct layout *y, struct ww_tf_site *site,
                      const struct ww_inst *near) {
    const struct ww_tf_group *g = &c->group[site->group];
    site->first = y->count;
    for (uint32_t i = 0; i < g->count; i++) {
        struct ww_inst *in = &y->inst[y->count++];
        *in = g->inst[i];
        if (g->mnemonic[i]) in->mnemonic = string_of(y->string, &y->strings, g->mnemonic[i]);
        in->file = near->file;
        in->line = near->line;
        in->pc = y->pc;
        y->pc += y->step;
    }
}

/* Groups of a place, in the order of their numbers. */
static void put_place(struct ww_tf_code *c, struct layout *y, uint32_t place) {
    static const struct ww_inst nothing;
    const struct ww_inst *near = place < c->from->inst_count ? &c->from->inst[place] : &nothing;
    for (int64_t last = -1;;) {
        struct ww_tf_site *least = NULL;
        for (uint32_t i = c->head[place]; i != WW_TF_NONE; i = c->site[i].next)
            if ((int64_t)c->site[i].group > last && (!least || c->site[i].group < least->group))
                least = &c->site[i];
        if (!least) return;
        put_group(c, y, least, near);
        last = least->group;
    }
}

static uint64_t count_new(const struct ww_tf_code *c, uint64_t *mnemonics) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->sites; i++) n += c->group[c->site[i].group].count;
    for (uint32_t i = 0; i < c->groups; i++) *mnemonics += c->group[i].count;
    return n;
}

enum ww_code ww_tf_layout(struct ww_tf_code *c, struct ww_error *error) {
    const struct ww_launch *l = c->from;
    uint64_t mnemonics = 0, total = l->inst_count + count_new(c, &mnemonics);
    struct layout y = {.strings = l->string_count, .step = pc_step(l), .pc = l->inst_count ? l->inst[0].pc : 0};
    if (c->failed) return ww_fail_nomem(error, "a transform");
    if (total > INST_MAX) return ww_fail(error, WW_UNSUPPORTED, l->kernel, "too many static instructions");
    y.inst = ww_arena_array(c->arena, total + 1, sizeof *y.inst);
    y.string = ww_arena_array(c->arena, l->string_count + mnemonics + 1, sizeof *y.string);
    if (!y.inst || !y.string) return ww_fail_nomem(error, "a transform");
    memcpy(y.string, l->string, l->string_count * sizeof *y.string);
    for (uint32_t i = 0; i < l->inst_count; i++) {
        put_place(c, &y, i);
        c->moved[i] = c->gone && c->gone[i] ? WW_TF_NONE : y.count;
        if (c->gone && c->gone[i]) continue;
        y.inst[y.count] = l->inst[i];
        y.inst[y.count++].pc = y.pc;
        y.pc += i + 1 < l->inst_count && l->inst[i + 1].pc > l->inst[i].pc ? l->inst[i + 1].pc - l->inst[i].pc
                                                                           : y.step;
    }
    put_place(c, &y, l->inst_count);
    c->out = *l;
    c->out.inst = y.inst;
    c->out.inst_count = y.count;
    c->out.string = y.string;
    c->out.string_count = y.strings;
    return WW_OK;
}

uint32_t ww_tf_at(const struct ww_tf_code *c, uint32_t place, uint32_t group) {
    for (uint32_t i = c->head[place]; i != WW_TF_NONE; i = c->site[i].next)
        if (c->site[i].group == group) return c->site[i].first;
    return WW_TF_NONE;
}

/* ---- streams ---- */

void ww_tf_stream_clear(struct ww_tf_stream *s) {
    s->steps = s->accesses = 0;
    s->pooled = 0;
}

void ww_tf_stream_free(struct ww_tf_stream *s) {
    free(s->step);
    free(s->access);
    free(s->pool);
    *s = (struct ww_tf_stream){0};
}

void ww_tf_step(struct ww_tf_stream *s, uint32_t inst, uint32_t mask) {
    struct ww_step *p = grow(s->step, s->steps, &s->step_cap, sizeof *p);
    if (!p || inst == WW_TF_NONE) {
        s->failed = true;
        return;
    }
    s->step = p;
    p[s->steps++] = (struct ww_step){inst, mask};
}

void ww_tf_emit(struct ww_tf_stream *s, const struct ww_tf_code *c, uint32_t place, uint32_t group,
                uint32_t mask) {
    uint32_t first = ww_tf_at(c, place, group);
    for (uint32_t i = 0; i < c->group[group].count; i++)
        ww_tf_step(s, first == WW_TF_NONE ? WW_TF_NONE : first + i, mask);
}

static struct ww_access *new_access(struct ww_tf_stream *s) {
    struct ww_access *p = grow(s->access, s->accesses, &s->access_cap, sizeof *p);
    if (!p) {
        s->failed = true;
        return NULL;
    }
    s->access = p;
    return &p[s->accesses++];
}

static void put_list(struct ww_tf_stream *s, struct ww_access *a, const uint64_t *list, uint32_t n) {
    if (s->pooled + n > s->pool_cap) {
        size_t wanted = 2 * s->pool_cap + 1024;
        uint64_t *p = wanted < WW_AFFINE ? realloc(s->pool, wanted * sizeof *p) : NULL;
        if (!p) {
            s->failed = true;
            return;
        }
        s->pool = p;
        s->pool_cap = wanted;
    }
    memcpy(s->pool + s->pooled, list, n * sizeof *list);
    a->list = (uint32_t)s->pooled;
    s->pooled += n;
}

void ww_tf_access(struct ww_tf_stream *s, uint32_t mask, const uint64_t address[32]) {
    uint64_t list[32];
    uint32_t n = 0, first = mask ? (uint32_t)__builtin_ctz(mask) : 0, second = first;
    struct ww_access *a = new_access(s);
    if (!a) return;
    for (uint32_t m = mask; m; m &= m - 1) list[n++] = address[__builtin_ctz(m)];
    if (n > 1) second = (uint32_t)__builtin_ctz(mask & (mask - 1));
    int64_t span = n > 1 ? (int64_t)(list[1] - list[0]) : 0, lanes = n > 1 ? (int64_t)(second - first) : 1;
    int64_t stride = span / lanes;
    bool affine = n && stride * lanes == span && stride >= INT32_MIN && stride <= INT32_MAX;
    uint64_t base = n ? address[first] - (uint64_t)(stride * (int64_t)first) : 0;
    for (uint32_t m = mask; m && affine; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        affine = address[lane] == base + (uint64_t)(stride * (int64_t)lane);
    }
    *a = (struct ww_access){.base = base, .stride = (int32_t)(affine ? stride : 0), .list = WW_AFFINE};
    if (n && !affine) put_list(s, a, list, n);
}

void ww_tf_words(struct ww_tf_stream *s, uint32_t mask, const uint64_t *word, uint32_t n) {
    uint64_t list[32] = {0};
    uint32_t lanes = (uint32_t)__builtin_popcount(mask);
    struct ww_access *a = new_access(s);
    if (!a) return;
    memcpy(list, word, (n < lanes ? n : lanes) * sizeof *word);
    *a = (struct ww_access){0, 0, WW_AFFINE};
    put_list(s, a, list, lanes);
}

void ww_tf_same_access(struct ww_tf_stream *s, uint32_t mask, const struct ww_access *a, const uint64_t *pool) {
    struct ww_access *to = new_access(s);
    if (!to) return;
    *to = *a;
    if (a->list == WW_AFFINE) return;
    uint64_t room[32];
    uint32_t n = (uint32_t)__builtin_popcount(mask);
    put_list(s, to, ww_list_addresses(a, pool, n, room), n);
}

/* ---- registers ---- */

static void each_register(const struct ww_launch *l, bool used[WW_REG_COUNT]) {
    for (uint32_t i = 0; i < l->inst_count; i++) {
        const struct ww_inst *in = &l->inst[i];
        for (uint32_t k = 0; k < (uint32_t)in->dst_count + in->src_count; k++) {
            const struct ww_operand *o = k < in->dst_count ? &in->dst[k] : &in->src[k - in->dst_count];
            for (uint32_t r = o->reg; r < (uint32_t)o->reg + o->n && r < WW_REG_COUNT; r++) used[r] = true;
        }
    }
}

uint32_t ww_tf_free_predicate(const struct ww_launch *launch) {
    bool used[WW_REG_COUNT] = {false};
    each_register(launch, used);
    for (uint32_t p = WW_REG_PRED; p < WW_REG_PRED + 6; p++)
        if (!used[p]) return p;
    return WW_REG_PRED + 6;
}

uint32_t ww_tf_free_registers(const struct ww_launch *launch, uint32_t n) {
    bool used[WW_REG_COUNT] = {false};
    uint32_t first = launch->registers_per_thread;
    each_register(launch, used);
    for (uint32_t r = first; r < 255; r++)
        if (used[r]) first = r + 1;
    return first + n <= 255 ? first : WW_TF_NONE;
}
