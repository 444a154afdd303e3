/* waits.c: words that are waited for, writes to them under way, and warps that wait. */
#include "waits.h"
#include "../../result/result.h"
#include "coalesce.h"
#include "warp_head.h"

#include <string.h>

#define WORDS_OF_LINE 64u /* of 256 bytes, the longest line */

struct line {
    uint64_t key;
    uint32_t first, words;     /* of it, among the words */
    uint32_t oldest, youngest; /* of its writes under way, or WW_NONE */
};
struct word {
    uint64_t number; /* its address / 4 */
    uint64_t count;  /* steps that have written it */
    uint32_t line, waiter;
};
/* What a step writes of a line: bit per word of it that is waited for. */
struct write {
    uint64_t words;
    uint32_t sm, next;
};
struct waiter {
    uint64_t count; /* of its word at which it resumes */
    uint32_t sm, warp, next;
};

struct ww_waits {
    struct ww_arena *arena;
    ww_released_fn released;
    struct word *word;
    struct line *line;
    uint32_t words, lines, shift;
    uint64_t first, last; /* lines */
    struct write *write;
    struct waiter *waiter;
    uint32_t writes, write_free, waiters, waiter_free;
    uint32_t held; /* warps that wait */
};

/* ---- a launch ---- */

static void add_word(struct ww_waits *x, uint64_t number) {
    uint64_t key = number << 2 >> x->shift;
    struct line *l = x->lines ? &x->line[x->lines - 1] : NULL;
    if (!l || l->key != key) {
        l = &x->line[x->lines++];
        *l = (struct line){.key = key, .first = x->words, .oldest = WW_NONE, .youngest = WW_NONE};
    }
    l->words++;
    x->word[x->words++] = (struct word){.number = number, .line = x->lines - 1, .waiter = WW_NONE};
}

enum ww_code ww_waits_begin(struct ww_core *core, ww_released_fn released, struct ww_arena *arena,
                            struct ww_error *error) {
    const struct ww_launch *launch = core->launch;
    core->waits = NULL;
    if (!core->code.uses_waits) return WW_OK;
    struct ww_waits *x = ww_arena_array(arena, 1, sizeof *x);
    if (!x) return ww_fail_nomem(error, "waits for writes");
    *x = (struct ww_waits){.arena = arena,
                           .released = released,
                           .shift = core->request_shift[WW_CACHE_NONE],
                           .write_free = WW_NONE,
                           .waiter_free = WW_NONE};
    x->word = ww_arena_array(arena, launch->wait_words + 1, sizeof *x->word);
    x->line = ww_arena_array(arena, launch->wait_words + 1, sizeof *x->line);
    if (!x->word || !x->line) return ww_fail_nomem(error, "waits for writes");
    for (uint32_t i = 0; i < launch->wait_words; i++) add_word(x, launch->wait_word[i]);
    if (x->lines) {
        x->first = x->line[0].key;
        x->last = x->line[x->lines - 1].key;
    }
    core->waits = x;
    return WW_OK;
}

static struct line *find_line(struct ww_waits *x, uint64_t key) {
    uint32_t low = 0, high = x->lines;
    if (key < x->first || key > x->last) return NULL;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (x->line[mid].key < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low < x->lines && x->line[low].key == key ? &x->line[low] : NULL;
}

/* A word of the line by its number; WW_NONE: no step waits for it. */
static uint32_t find_word(const struct ww_waits *x, const struct line *l, uint64_t number) {
    for (uint32_t i = 0; i < l->words; i++)
        if (x->word[l->first + i].number == number) return i;
    return WW_NONE;
}

/* ---- pools ---- */

/* Twice the room; what there was is copied. NULL: no memory. */
static void *grow(struct ww_core *core, const void *old, uint32_t *count, size_t size) {
    uint32_t room = *count ? 2 * *count : 64;
    char *new = ww_arena_array(core->waits->arena, room, size);
    if (!new) {
        ww_core_fail(core, ww_fail_nomem(core->error, "waits for writes"));
        return NULL;
    }
    if (*count) memcpy(new, old, *count * size);
    *count = room;
    return new;
}

static uint32_t new_write(struct ww_core *core) {
    struct ww_waits *x = core->waits;
    if (x->write_free == WW_NONE) {
        uint32_t before = x->writes;
        struct write *grown = grow(core, x->write, &x->writes, sizeof *grown);
        if (!grown) return WW_NONE;
        x->write = grown;
        for (uint32_t i = x->writes; i-- > before; x->write_free = i) grown[i].next = x->write_free;
    }
    uint32_t n = x->write_free;
    x->write_free = x->write[n].next;
    return n;
}

static uint32_t new_waiter(struct ww_core *core) {
    struct ww_waits *x = core->waits;
    if (x->waiter_free == WW_NONE) {
        uint32_t before = x->waiters;
        struct waiter *grown = grow(core, x->waiter, &x->waiters, sizeof *grown);
        if (!grown) return WW_NONE;
        x->waiter = grown;
        for (uint32_t i = x->waiters; i-- > before; x->waiter_free = i) grown[i].next = x->waiter_free;
    }
    uint32_t n = x->waiter_free;
    x->waiter_free = x->waiter[n].next;
    return n;
}

/* ---- writes ---- */

static void add_write(struct ww_core *core, uint32_t line, uint32_t sm, uint64_t words) {
    struct ww_waits *x = core->waits;
    uint32_t n = new_write(core);
    if (n == WW_NONE) return;
    struct line *l = &x->line[line];
    x->write[n] = (struct write){.words = words, .sm = sm, .next = WW_NONE};
    if (l->youngest == WW_NONE)
        l->oldest = n;
    else
        x->write[l->youngest].next = n;
    l->youngest = n;
}

/* Words of the line, among those waited for, that the step writes. */
static uint64_t words_of(const struct ww_waits *x, const struct line *l, const struct ww_lsu_entry *e,
                         uint32_t width) {
    uint64_t words = 0;
    uint32_t rank = 0;
    for (uint32_t m = e->mask; m; m &= m - 1, rank++) {
        uint64_t address = ww_lane_address(e->access, e->pool, (uint32_t)__builtin_ctz(m), rank);
        for (uint32_t i = 0; i < l->words; i++) {
            uint64_t from = x->word[l->first + i].number << 2;
            if (address < from + 4 && address + width > from) words |= 1ull << (i % WORDS_OF_LINE);
        }
    }
    return words;
}

void ww_waits_note(struct ww_sm *sm, const struct ww_lsu_entry *e, const struct ww_dinst *d) {
    struct ww_core *core = sm->core;
    const struct ww_coalescer *c = &sm->lsu.coalescer;
    if (!e->access || d->local || (d->path != WW_L_STORE && d->path != WW_L_ATOMIC)) return;
    for (uint32_t i = 0; i < c->count; i++) {
        struct line *l = find_line(core->waits, c->request[i].key);
        if (!l) continue;
        add_write(core, (uint32_t)(l - core->waits->line), sm->id, words_of(core->waits, l, e, d->width));
    }
}

/* Takes the SM's oldest write to the line; its words. */
static uint64_t take_write(struct ww_waits *x, struct line *l, uint32_t sm) {
    uint32_t before = WW_NONE, n = l->oldest;
    while (n != WW_NONE && x->write[n].sm != sm) {
        before = n;
        n = x->write[n].next;
    }
    if (n == WW_NONE) return 0;
    uint32_t next = x->write[n].next;
    if (before == WW_NONE)
        l->oldest = next;
    else
        x->write[before].next = next;
    if (l->youngest == n) l->youngest = before;
    x->write[n].next = x->write_free;
    x->write_free = n;
    return x->write[n].words;
}

/* Releases the warps that have waited for this count of writes to the word. */
static void tell(struct ww_core *core, struct word *w, uint64_t now_ps) {
    struct ww_waits *x = core->waits;
    for (uint32_t *link = &w->waiter, n = *link; n != WW_NONE; n = *link) {
        struct waiter *one = &x->waiter[n];
        if (one->count > w->count) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        one->next = x->waiter_free;
        x->waiter_free = n;
        x->held--;
        core->counter[WW_C_SYNC_ENDED]++;
        x->released(core, one->sm, one->warp, now_ps);
    }
}

void ww_waits_performed(void *context, uint16_t sm, uint64_t line, uint64_t now_ps) {
    struct ww_core *core = context;
    struct ww_waits *x = core->waits;
    struct line *l = x ? find_line(x, line >> x->shift) : NULL;
    if (!l) return;
    for (uint64_t words = take_write(x, l, sm); words; words &= words - 1) {
        struct word *w = &x->word[l->first + (uint32_t)__builtin_ctzll(words)];
        w->count++;
        if (w->waiter != WW_NONE) tell(core, w, now_ps);
    }
}

/* ---- warps ---- */

static void add_waiter(struct ww_sm *sm, const struct ww_warp *w, struct word *word, uint64_t count) {
    struct ww_core *core = sm->core;
    uint32_t n = new_waiter(core);
    if (n == WW_NONE) return;
    core->waits->waiter[n] =
        (struct waiter){.count = count, .sm = sm->id, .warp = (uint32_t)(w - sm->warp), .next = word->waiter};
    word->waiter = n;
    core->waits->held++;
}

bool ww_waits_admit(struct ww_sm *sm, struct ww_warp *w) {
    struct ww_core *core = sm->core;
    struct ww_waits *x = core->waits;
    if (w->awaits) return false;
    if (w->step->mask == 0 || w->access->list != WW_AFFINE) return true;
    uint64_t number = w->access->base >> 2, count = (uint32_t)w->access->stride;
    const struct line *l = find_line(x, number << 2 >> x->shift);
    uint32_t i = l ? find_word(x, l, number) : WW_NONE;
    if (!w->released) core->counter[WW_C_SYNC_WAIT]++;
    if (i == WW_NONE || w->released || x->word[l->first + i].count >= count) {
        core->counter[WW_C_SYNC_OVER] += !w->released;
        w->released = false;
        return true;
    }
    w->awaits = true;
    add_waiter(sm, w, &x->word[l->first + i], count);
    return false;
}

void ww_waits_release(struct ww_sm *sm, uint64_t warps, uint64_t cycle) {
    for (; warps; warps &= warps - 1) {
        struct ww_warp *w = &sm->warp[(uint32_t)__builtin_ctzll(warps)];
        w->awaits = false;
        w->released = true;
        ww_warp_head(sm, w, cycle);
    }
}

bool ww_waits_any(const struct ww_core *core) {
    return core->waits && core->waits->held;
}

void ww_waits_give_up(struct ww_core *core, uint64_t now_ps) {
    struct ww_waits *x = core->waits;
    for (uint32_t i = 0; i < x->words; i++)
        for (uint32_t n = x->word[i].waiter; n != WW_NONE; n = x->word[i].waiter) {
            struct waiter *one = &x->waiter[n];
            x->word[i].waiter = one->next;
            one->next = x->waiter_free;
            x->waiter_free = n;
            core->counter[WW_C_SYNC_GIVEN_UP]++;
            x->released(core, one->sm, one->warp, now_ps);
        }
    x->held = 0;
}
