/* spin.c: finds spin loops, counts writes, takes back polls. */
#include "spin.h"
#include <stdlib.h>
#include <string.h>

#define WORDS_MOST (1u << 22) /* written words that are counted; a wait for another one is a plain load */
#define LOGS_MOST 4096u       /* words whose values are kept */
#define LOG_VALUES 256u       /* of each, the latest */
#define VALUE_BYTES 16u

struct value_log {
    uint64_t address;
    unsigned char *host;
    uint32_t width;
    uint64_t first; /* count of writes behind which value 0 of the ring was read */
    unsigned char value[LOG_VALUES][VALUE_BYTES]; /* that behind n writes stands at n mod LOG_VALUES */
};

/* A word that was written or waited for. */
struct word {
    uint64_t number; /* address / 4 + 1; 0: free */
    uint64_t step;   /* that wrote it last */
    uint32_t count;  /* steps that wrote it */
    uint32_t log;    /* 0: none */
};

struct record_spins {
    struct word *word; /* by hash */
    uint32_t room, used;
    uint64_t step;
    struct value_log **log;
    uint32_t logs;
    bool full;
};

/* ---- loops ---- */

static bool may_spin(const struct ww_inst *i) {
    switch (i->op) {
    case WW_OP_NOP:
    case WW_OP_INT:
    case WW_OP_IMUL:
    case WW_OP_FP32:
    case WW_OP_FP16:
    case WW_OP_FP64:
    case WW_OP_SFU:
    case WW_OP_CVT:
    case WW_OP_VOTE:
    case WW_OP_WARP_SYNC:
    case WW_OP_FENCE:
    case WW_OP_SLEEP:
    case WW_OP_LOAD:
        return true;
    case WW_OP_BRANCH:
        return !(i->flags & WW_INST_BACK_EDGE);
    default:
        return false;
    }
}

static bool is_poll(const struct ww_inst *i) {
    return i->op == WW_OP_LOAD && i->space == WW_SPACE_GLOBAL && (i->flags & WW_INST_ACCESS) &&
           (i->flags & WW_INST_BYPASS_L1);
}

static void mark(bool *set, const struct ww_operand *o, const bool *unless) {
    for (uint32_t r = o->reg; r < (uint32_t)o->reg + o->n && r < WW_REG_COUNT; r++)
        if (!unless || !unless[r]) set[r] = true;
}

/* No register that an iteration writes is read in the next one before it is written there. */
static bool carries_nothing(const struct recorder *r, const struct spin_loop *loop) {
    bool written[WW_REG_COUNT] = {false}, sure[WW_REG_COUNT] = {false}, read[WW_REG_COUNT] = {false};
    for (uint32_t n = loop->first; n <= loop->last; n++) {
        const struct ww_inst *i = &r->inst[n];
        bool guarded = loop->guarded >> (n - loop->first) & 1;
        if (loop->never >> (n - loop->first) & 1) continue;
        for (uint32_t k = 0; k < i->src_count; k++) mark(read, &i->src[k], sure);
        for (uint32_t k = 0; k < i->dst_count; k++) {
            if (guarded) mark(read, &i->dst[k], sure);
            mark(written, &i->dst[k], NULL);
            if (!guarded) mark(sure, &i->dst[k], NULL);
        }
    }
    for (uint32_t k = 0; k < WW_REG_COUNT; k++)
        if (written[k] && read[k]) return false;
    return true;
}

static bool only_waits(const struct recorder *r, const struct spin_loop *loop) {
    uint32_t polls = 0;
    if (loop->last < loop->first || loop->last - loop->first >= SPIN_LENGTH) return false;
    for (uint32_t n = loop->first; n < loop->last; n++) {
        if (loop->never >> (n - loop->first) & 1) continue;
        if (!may_spin(&r->inst[n])) return false;
        polls += is_poll(&r->inst[n]);
    }
    return polls && carries_nothing(r, loop);
}

/* What it loads takes the place of its address: the address is not to be had again. */
static bool loses_address(const struct ww_inst *i) {
    for (uint32_t d = 0; d < i->dst_count; d++)
        for (uint32_t s = 0; s < i->src_count; s++)
            if (i->dst[d].reg < i->src[s].reg + i->src[s].n && i->src[s].reg < i->dst[d].reg + i->dst[d].n)
                return true;
    return false;
}

static void add_wait(struct recorder *r, uint32_t of, uint32_t first) {
    uint32_t n = r->entry_count++;
    r->inst[n] = r->inst[of];
    r->inst[n].flags |= WW_INST_WAIT;
    r->entry[n] = r->entry[of];
    r->entry[n].of = of + 1;
    memset(r->entry[n].twin, 0, sizeof r->entry[n].twin);
    r->entry[of].wait = n;
    r->entry[of].loses_address = loses_address(&r->inst[of]);
    r->entry[of].loop = first + 1;
}

enum ww_code ww_spin_add(struct recorder *r, const struct spin_loop *loop, struct ww_error *error) {
    if (!only_waits(r, loop)) return WW_OK;
    if (!r->spins) r->spins = calloc(1, sizeof *r->spins);
    if (!r->spins) return ww_fail_nomem(error, "spin loops");
    r->entry[loop->last].loop = loop->first + 1;
    for (uint32_t n = loop->first; n < loop->last; n++)
        if (is_poll(&r->inst[n]) && !r->entry[n].wait) add_wait(r, n, loop->first);
    return WW_OK;
}

void ww_spin_free(struct recorder *r) {
    struct record_spins *s = r->spins;
    if (!s) return;
    for (uint32_t n = 0; n < s->logs; n++) free(s->log[n]);
    free(s->log);
    free(s->word);
    free(s);
    r->spins = NULL;
}

/* ---- words ---- */

static uint32_t place_of(const struct record_spins *s, uint64_t number) {
    uint32_t at = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 32) & (s->room - 1);
    while (s->word[at].number && s->word[at].number != number) at = (at + 1) & (s->room - 1);
    return at;
}

static bool grow(struct record_spins *s) {
    struct record_spins bigger = *s;
    bigger.room = s->room ? 2 * s->room : 256;
    bigger.word = calloc(bigger.room, sizeof *bigger.word);
    if (!bigger.word) return false;
    for (uint32_t n = 0; n < s->room; n++)
        if (s->word[n].number) bigger.word[place_of(&bigger, s->word[n].number)] = s->word[n];
    free(s->word);
    *s = bigger;
    return true;
}

/* The word at the address, NULL if there is no room for more: then nothing more is counted. */
static struct word *word_at(struct record_spins *s, uint64_t address) {
    if (2 * s->used >= s->room && (s->used >= WORDS_MOST || !grow(s))) s->full = true;
    if (s->full) return NULL;
    struct word *w = &s->word[place_of(s, (address >> 2) + 1)];
    if (!w->number) {
        w->number = (address >> 2) + 1;
        s->used++;
    }
    return w;
}

static void keep_value(const struct record_spins *s, const struct word *w) {
    struct value_log *l = s->log[w->log - 1];
    memcpy(l->value[w->count % LOG_VALUES], l->host, l->width);
}

static void wrote_word(struct record_spins *s, uint64_t address) {
    struct word *w = word_at(s, address);
    if (!w || w->step == s->step) return;
    w->step = s->step;
    if (w->count < INT32_MAX) w->count++;
    if (w->log) keep_value(s, w);
}

void ww_spin_wrote(struct record_spins *s, const struct mem *mem, const uint64_t *address, uint32_t mask,
                   uint32_t width) {
    (void)mem;
    s->step++;
    for (uint32_t m = mask; m && !s->full; m &= m - 1) {
        uint64_t from = address[__builtin_ctz(m)], to = from + (width ? width : 1);
        for (uint64_t at = from & ~(uint64_t)3; at < to; at += 4) wrote_word(s, at);
    }
}

/* ---- polls ---- */

static void start_log(struct record_spins *s, const struct mem *mem, struct word *w, uint64_t address,
                      uint32_t width) {
    const struct mem_alloc *a = ww_mem_find(mem, address);
    if (s->logs == LOGS_MOST || !a || !mem_holds(a, address, width) || width > VALUE_BYTES) return;
    if (!s->log) s->log = calloc(LOGS_MOST, sizeof(struct value_log *));
    struct value_log *l = s->log ? malloc(sizeof *l) : NULL;
    if (!l) return;
    l->address = address;
    l->host = a->host + (address - a->base);
    l->width = width;
    l->first = w->count;
    s->log[s->logs++] = l;
    w->log = s->logs;
    keep_value(s, w);
}

/* The loop has come round with nothing but its own steps, and reads the same again. */
static bool same_again(const struct recorder *r, const struct spin_watch *w, uint32_t inst, size_t steps,
                       uint64_t address) {
    return w->goes_round && w->address == address && steps >= w->at &&
           steps - w->at <= inst - (r->entry[inst].loop - 1);
}

bool ww_spin_poll(const struct recorder *r, const struct mem *mem, struct spin_watch *w, uint32_t inst,
                  size_t steps, uint64_t address, struct spin_poll *out) {
    struct record_spins *s = r->spins;
    struct word *at = word_at(s, address);
    uint32_t width = r->inst[inst].width;
    if (!at) return false;
    if (!at->log) start_log(s, mem, at, address, width);
    struct value_log *l = at->log ? s->log[at->log - 1] : NULL;
    *out = (struct spin_poll){.count = at->count};
    if (l && l->address == address && l->width == width && same_again(r, w, inst, steps, address) &&
        w->count + 1 < at->count) {
        uint64_t oldest = at->count - l->first < LOG_VALUES ? l->first : at->count - LOG_VALUES + 1;
        out->count = w->count + 1 > oldest ? w->count + 1 : oldest;
        out->host = l->host;
        if (out->count < at->count) out->old = l->value[out->count % LOG_VALUES];
    }
    w->address = address;
    w->count = out->count;
    return true;
}

void ww_spin_again(const struct recorder *r, uint32_t branch, uint32_t mask, struct record_stream *s,
                   struct spin_watch *w) {
    uint32_t first = r->entry[branch].loop - 1;
    size_t n = s->step_count, accesses = s->access_count, pool = s->pool_count;
    w->goes_round = false;
    for (bool found = false; !found;) {
        if (!n) return;
        const struct ww_step *step = &s->step[n - 1];
        const struct record_entry *e = &r->entry[step->inst];
        uint32_t inst = e->of ? e->of - 1 : step->inst;
        if (inst < first || inst > branch || step->mask & ~mask) return;
        if (n < s->step_count && inst == branch) return; /* of the iteration before */
        if (e->access && s->access[--accesses].list != WW_AFFINE) pool = s->access[accesses].list;
        found = inst == first;
        n--;
    }
    s->step_count = n;
    s->access_count = accesses;
    s->pool_count = pool;
    w->at = n;
    w->goes_round = true;
}
