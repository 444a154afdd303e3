/* Reuse distances of lines and of their sectors. */
#include "profile_stack.h"
#include "../base/hash.h"
#include <stdlib.h>
#include <string.h>

#define SLOTS (4 * WW_STACK_LINES) /* of the hash table */
#define TIMES (8 * WW_STACK_LINES) /* before they are renumbered; a power of two */
#define EMPTY UINT32_MAX

struct node {
    uint64_t line, hash;
    uint32_t time;
    float loaded[4], stored[4]; /* largest distance since; WW_STACK_NEVER: it was not */
};

struct ww_stack {
    struct node node[WW_STACK_LINES + 1];
    uint32_t table[SLOTS];    /* node of a hash, or EMPTY */
    uint32_t at[TIMES];       /* node used at a time, or EMPTY */
    uint32_t tree[TIMES + 1]; /* Fenwick sums of lines whose last use was at a time */
    uint32_t count, now;
    unsigned shift; /* lines whose hash has so many leading zeros are tracked */
};

struct ww_stack *ww_stack_new(void) {
    struct ww_stack *s = malloc(sizeof *s);
    if (s) ww_stack_clear(s);
    return s;
}

void ww_stack_free(struct ww_stack *s) {
    free(s);
}

void ww_stack_clear(struct ww_stack *s) {
    memset(s->table, 0xff, sizeof s->table);
    memset(s->at, 0xff, sizeof s->at);
    memset(s->tree, 0, sizeof s->tree);
    s->count = s->now = 0;
    s->shift = 0;
}

static void add(struct ww_stack *s, uint32_t time, uint32_t by) {
    for (uint32_t i = time + 1; i <= TIMES; i += i & -i) s->tree[i] += by;
}

/* Lines last used at a time up to this one. */
static uint32_t sum(const struct ww_stack *s, uint32_t time) {
    uint32_t n = 0;
    for (uint32_t i = time + 1; i; i -= i & -i) n += s->tree[i];
    return n;
}

static uint32_t slot_of(const struct ww_stack *s, uint64_t hash, uint64_t line) {
    uint32_t i = (uint32_t)hash & (SLOTS - 1);
    while (s->table[i] != EMPTY && s->node[s->table[i]].line != line) i = (i + 1) & (SLOTS - 1);
    return i;
}

/* Numbers times anew, in their order, and drops lines that are no longer tracked. */
static void renumber(struct ww_stack *s) {
    uint32_t kept = 0;
    struct node *old = malloc(s->count * sizeof *old);
    uint32_t *order = malloc(s->count * sizeof *order), n = 0;
    if (!old || !order) { /* the distances so far are lost; those to come are right again */
        unsigned shift = s->shift;
        ww_stack_clear(s);
        s->shift = shift;
        free(old);
        free(order);
        return;
    }
    memcpy(old, s->node, s->count * sizeof *old);
    for (uint32_t t = 0; t < s->now; t++)
        if (s->at[t] != EMPTY) order[n++] = s->at[t];
    memset(s->table, 0xff, sizeof s->table);
    memset(s->at, 0xff, sizeof s->at);
    memset(s->tree, 0, sizeof s->tree);
    for (uint32_t i = 0; i < n; i++) {
        const struct node *from = &old[order[i]];
        if (s->shift && from->hash >> (64 - s->shift)) continue;
        s->node[kept] = *from;
        s->node[kept].time = kept;
        s->table[slot_of(s, from->hash, from->line)] = kept;
        s->at[kept] = kept;
        add(s, kept, 1);
        kept++;
    }
    s->count = s->now = kept;
    free(old);
    free(order);
}

static struct node *enter(struct ww_stack *s, uint32_t slot, uint64_t line, uint64_t hash) {
    struct node *n = &s->node[s->count];
    *n = (struct node){.line = line, .hash = hash};
    for (int k = 0; k < 4; k++) n->loaded[k] = n->stored[k] = (float)WW_STACK_NEVER;
    s->table[slot] = s->count++;
    return n;
}

/* Distances since the sectors' last uses become part of *out, and begin anew. */
static void note(struct node *n, double line, uint32_t sectors, bool store, struct ww_stack_use *out) {
    for (int k = 0; k < 4; k++) {
        float *last = store ? n->stored : n->loaded;
        if (n->loaded[k] < (float)line) n->loaded[k] = (float)line;
        if (n->stored[k] < (float)line) n->stored[k] = (float)line;
        if (!(sectors >> k & 1)) continue;
        out->sector[k] = (double)last[k];
        n->loaded[k] = 0;
        if (store) n->stored[k] = 0;
    }
}

bool ww_stack_use(struct ww_stack *s, uint64_t line, uint32_t sectors, bool store, struct ww_stack_use *out) {
    uint64_t hash = ww_hash_mix(line * 0x9e3779b97f4a7c15u + 1);
    if (s->shift && hash >> (64 - s->shift)) return false;
    if (s->now == TIMES) renumber(s);
    while (s->count == WW_STACK_LINES) {
        s->shift++;
        renumber(s);
        if (s->shift && hash >> (64 - s->shift)) return false;
    }
    uint32_t slot = slot_of(s, hash, line);
    double scale = (double)(1ull << s->shift);
    struct node *n;
    out->weight = scale;
    if (s->table[slot] == EMPTY) {
        n = enter(s, slot, line, hash);
        out->line = WW_STACK_NEVER;
    } else {
        n = &s->node[s->table[slot]];
        out->line = (double)(s->count - sum(s, n->time)) * scale;
        add(s, n->time, UINT32_MAX); /* less 1 */
        s->at[n->time] = EMPTY;
    }
    note(n, out->line, sectors, store, out);
    n->time = s->now;
    s->at[s->now] = (uint32_t)(n - s->node);
    add(s, s->now++, 1);
    return true;
}
