/* dram_scheduler.h: which command a DRAM channel issues next. The sources that include it compile it for kinds
 * of hosts: dram_schedule.c for any, dram_schedule_avx2.c for those with AVX2. Private to these. */
#ifndef WW_CORE_DRAM_SCHEDULER_H
#define WW_CORE_DRAM_SCHEDULER_H

#include "../../result/result.h"
#include "dram_channel.h"

#include <string.h>

/* All that the scheduler calls for each look is part of one function. */
#define INLINE static inline __attribute__((always_inline))

/* First entry for `row` from entry n on. */
INLINE uint32_t find_row(const struct ww_dram_channel *c, uint32_t n, uint32_t row) {
    while (n != WW_DRAM_NONE && c->link[n].row != row) n = c->link[n].next;
    return n;
}

/* The entry has no burst left. */
INLINE void unlink_entry(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i, uint32_t dir,
                         uint32_t n) {
    struct ww_dram_link *l = &c->link[n];
    uint32_t hit = b->of[dir].hit[i];
    if (hit == n) hit = find_row(c, l->next, b->row[i]);
    if (l->previous == WW_DRAM_NONE) {
        b->of[dir].head[i] = l->next;
        if (l->next != WW_DRAM_NONE) b->of[dir].head_order[i] = c->link[l->next].order;
    } else {
        c->link[l->previous].next = l->next;
    }
    if (l->next == WW_DRAM_NONE)
        b->of[dir].tail[i] = l->previous;
    else
        c->link[l->next].previous = l->previous;
    ww_dram_set_hit(c, b, i, dir, hit);
    c->count[dir]--;
    c->room.bursts[dir] -= c->entry[n].request.bursts;
    l->next = c->free_entry;
    ww_dram_set_free(c, n);
}

INLINE void choose_direction(struct ww_dram_channel *c) {
    const struct ww_dram *d = c->dram;
    uint32_t reads = c->count[WW_DRAM_READ], writes = c->room.bursts[WW_DRAM_WRITE];
    if (c->writing) {
        if (!writes || (reads && writes <= d->write_low)) c->writing = false;
    } else if (writes && (!reads || writes >= d->write_high)) {
        c->writing = true;
    }
}

/* ---- vectors --------------------------------------------------------------------------------- */

typedef int32_t v4 __attribute__((vector_size(16)));
typedef uint32_t u4 __attribute__((vector_size(16)));

INLINE v4 load(const int32_t *p) {
    v4 v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE v4 all(int32_t x) {
    return (v4){x, x, x, x};
}

INLINE v4 choose(v4 mask, v4 a, v4 b) {
    return (mask & a) | (~mask & b);
}

/* The less and the greater of each pair of elements. */
#if defined(__AVX2__) && !defined(__clang__) /* clang sees them in the others */
INLINE v4 least(v4 a, v4 b) {
    return (v4)__builtin_ia32_pminsd128(a, b);
}

INLINE v4 later(v4 a, v4 b) {
    return (v4)__builtin_ia32_pmaxsd128(a, b);
}
#else
INLINE v4 least(v4 a, v4 b) {
    return choose(a < b, a, b);
}

INLINE v4 later(v4 a, v4 b) {
    return choose(a > b, a, b);
}
#endif

/* Each element less x, which may pass the end of numbers. */
INLINE v4 less(v4 v, uint32_t x) {
    return (v4)((u4)v - (u4){x, x, x, x});
}

INLINE v4 swap_halves(v4 v) {
    return (v4){v[2], v[3], v[0], v[1]};
}

INLINE v4 swap_pairs(v4 v) {
    return (v4){v[1], v[0], v[3], v[2]};
}

/* The least element, in all of them. */
INLINE v4 least_in_all(v4 v) {
    v = least(v, swap_halves(v));
    return least(v, swap_pairs(v));
}

/* What the loops over banks and groups depend on. */
struct shape {
    uint32_t blocks, lanes, groups;
};
/* Most GPUs have these numbers; those of Hopper and some of Ada have twice as many. */
static const struct shape usual = {.blocks = 1, .lanes = 4, .groups = 4};
static const struct shape doubled = {.blocks = 2, .lanes = 8, .groups = 8};

INLINE bool has_shape(const struct ww_dram *d, struct shape shape) {
    return d->blocks == shape.blocks && d->groups == shape.groups;
}

INLINE struct shape shape_of(const struct ww_dram *d) {
    return (struct shape){d->blocks, d->lanes, d->groups};
}

/* What lies in the channel itself is found without a pointer. */
INLINE struct ww_dram_block *blocks(struct ww_dram_channel *c, struct shape shape) {
    return shape.blocks == 1 ? &c->one_block : c->block;
}

INLINE struct ww_dram_block *block_of(struct ww_dram_channel *c, struct shape shape, uint32_t bank) {
    return shape.blocks == 1 ? &c->one_block : ww_dram_block(c, bank);
}

INLINE int32_t *groups_ready(struct ww_dram_channel *c, struct shape shape) {
    return shape.lanes == 4 ? c->four_groups : c->group_ready;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* By bank group, the bank whose column command goes first: of those with a hit the one that is ready first, the
 * older entry of equals. */
struct bests {
    int32_t ready[WW_DRAM_GROUPS]; /* by its bank and group; never: no bank of the group has a hit */
    int32_t first[WW_DRAM_GROUPS]; /* by its bank alone */
    int32_t order[WW_DRAM_GROUPS]; /* age of its entry */
};

/* Elements of fewer than four groups: the least of those of the same group. */
INLINE v4 join_groups(v4 v, uint32_t groups) {
    if (groups > 2) return v;
    v = least(v, swap_halves(v));
    return groups == 1 ? least(v, swap_pairs(v)) : v;
}

/* Chooses the best of the groups from `group` on that a vector holds: the earliest time, then, of those with
 * it, the least age. */
INLINE void look_at_vector(struct ww_dram_channel *c, struct shape shape, uint32_t dir, int32_t cycle,
                           uint32_t group, struct bests *bests) {
    const v4 now = all(cycle), never = all(WW_DRAM_NEVER);
    v4 first = never, order = never;
    const struct ww_dram_block *b = blocks(c, shape);
    for (uint32_t n = 0, k = group; n < shape.blocks; n++, b++, k -= WW_DRAM_BLOCK)
        for (; k < WW_DRAM_BLOCK; k += shape.lanes)
            first = least(first, later(load(&b->of[dir].column_at[k]), now));
    first = join_groups(first, shape.groups);
    b = blocks(c, shape);
    for (uint32_t n = 0, k = group; n < shape.blocks; n++, b++, k -= WW_DRAM_BLOCK)
        for (; k < WW_DRAM_BLOCK; k += shape.lanes) {
            v4 behind = later(load(&b->of[dir].column_at[k]), now) != first;
            order = least(order, load(&b->of[dir].hit_order[k]) | (behind & never));
        }
    order = join_groups(order, shape.groups);
    v4 ready = later(first, load(&groups_ready(c, shape)[group]));
    memcpy(&bests->ready[group], &ready, sizeof ready);
    memcpy(&bests->first[group], &first, sizeof first);
    memcpy(&bests->order[group], &order, sizeof order);
    for (uint32_t g = shape.groups; g < 4; g++) bests->ready[g] = WW_DRAM_NEVER; /* there is no such group */
}

INLINE void look_at_columns(struct ww_dram_channel *c, struct shape shape, uint32_t dir, int32_t cycle,
                            struct bests *bests) {
    for (uint32_t group = 0; group < shape.lanes; group += 4)
        look_at_vector(c, shape, dir, cycle, group, bests);
}

/* Of all groups' best banks, the one with the earliest column command, the older entry of equals; when, or
 * never. */
INLINE uint32_t earliest(const struct bests *bests, struct shape shape, int32_t floor, int32_t *time) {
    const v4 from = all(floor), never = all(WW_DRAM_NEVER);
    v4 first = later(load(bests->ready), from), order = never;
    for (uint32_t g = 4; g < shape.lanes; g += 4) first = least(first, later(load(&bests->ready[g]), from));
    first = least_in_all(first);
    for (uint32_t g = 0; g < shape.lanes; g += 4) {
        v4 waits = later(load(&bests->ready[g]), from) != first;
        order = least(order, load(&bests->order[g]) | (waits & never));
    }
    *time = first[0];
    return ww_dram_bank_of(least_in_all(order)[0]);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Which rows can be opened now, and when others can. */
struct rows {
    uint32_t bank;  /* oldest whose row command's time has come, if there is one */
    bool one, more; /* there is one such bank, and another */
    int32_t next;   /* earliest time of a row command that must still wait */
};

/* Finds the rows to open. */
INLINE void look_at_rows(struct ww_dram_channel *c, struct shape shape, uint32_t dir, int32_t cycle,
                         struct rows *rows) {
    const int32_t ahead = c->row_slot;
    const v4 never = all(WW_DRAM_NEVER), now = all(cycle);
    v4 next = never, order = never, waiting = all(0); /* less one each */
    const struct ww_dram_block *b = blocks(c, shape), *end = b + shape.blocks;
    if (ahead > cycle) { /* none can begin now: when the first one can */
        for (; b < end; b++)
            for (uint32_t i = 0; i < WW_DRAM_BLOCK; i += 4) next = least(next, load(&b->of[dir].row_at[i]));
        *rows = (struct rows){.next = ww_dram_later(least_in_all(next)[0], ahead)};
        return;
    }
    /* Times are compared as they lie behind this one in the circle of all numbers: those that have come are at
     * its end. */
    const uint32_t from = (uint32_t)cycle + 1 + (uint32_t)INT32_MIN;
    for (; b < end; b++)
        for (uint32_t i = 0; i < WW_DRAM_BLOCK; i += 4) {
            v4 at = load(&b->of[dir].row_at[i]), waits = at > now;
            next = least(next, less(at, from));
            order = least(order, load(&b->of[dir].head_order[i]) | (waits & never));
            waiting += waits;
        }
    waiting += swap_halves(waiting);
    waiting += swap_pairs(waiting);
    uint32_t begin = shape.blocks * WW_DRAM_BLOCK + (uint32_t)waiting[0];
    int32_t later_one = (int32_t)((uint32_t)least_in_all(next)[0] + from);
    *rows = (struct rows){.bank = ww_dram_bank_of(least_in_all(order)[0]),
                          .one = begin > 0,
                          .more = begin > 1,
                          .next = later_one > cycle ? later_one : WW_DRAM_NEVER};
}

/* ---- age ------------------------------------------------------------------------------------- */

/* Cycles after which it is looked again how old the oldest entry is. */
#define LOOK_AGAIN 64

/* The same where the oldest one that is known would be. */
static __attribute__((noinline)) bool look_for_old(struct ww_dram_channel *c, int32_t cycle) {
    if (cycle < c->oldest_after) return true;
    c->oldest_after = cycle + LOOK_AGAIN;
    c->oldest = cycle;
    for (uint32_t bank = 0; bank < c->dram->banks; bank++)
        for (uint32_t dir = 0; dir < 2; dir++) {
            uint32_t head = ww_dram_block(c, bank)->of[dir].head[bank % WW_DRAM_BLOCK];
            if (head != WW_DRAM_NONE && c->link[head].arrival < c->oldest) c->oldest = c->link[head].arrival;
        }
    return cycle > c->oldest + WW_DRAM_AGE_CAP;
}

/* Whether any entry may be too old to be passed. */
INLINE bool may_starve(struct ww_dram_channel *c, int32_t cycle) {
    return cycle > c->oldest + WW_DRAM_AGE_CAP && look_for_old(c, cycle);
}

/* The entry at the bank's head is too old to be passed by hits. */
static bool starved(const struct ww_dram_channel *c, const struct ww_dram_block *b, uint32_t i, uint32_t dir,
                    int32_t cycle) {
    const struct ww_dram_link *head = &c->link[b->of[dir].head[i]];
    return b->of[dir].head[i] != b->of[dir].hit[i] && cycle > head->arrival + WW_DRAM_AGE_CAP &&
           head->row != b->row[i];
}

/* Leaves the hits of banks out whose head is starved. */
static void leave_out_starved(struct ww_dram_channel *c, uint32_t dir, int32_t cycle) {
    for (uint32_t bank = 0; bank < c->dram->banks; bank++) {
        struct ww_dram_block *b = ww_dram_block(c, bank);
        uint32_t i = bank % WW_DRAM_BLOCK;
        if (b->of[dir].hit[i] == WW_DRAM_NONE || !starved(c, b, i, dir, cycle)) continue;
        b->of[dir].column_at[i] = WW_DRAM_NEVER;
        b->of[dir].row_at[i] = b->row_ready[i];
        c->left_out = true;
    }
}

static void take_in(struct ww_dram_channel *c) {
    c->left_out = false;
    for (uint32_t bank = 0; bank < c->dram->banks; bank++)
        for (uint32_t dir = 0; dir < 2; dir++)
            ww_dram_set_times(ww_dram_block(c, bank), bank % WW_DRAM_BLOCK, dir);
}

/* ---- commands -------------------------------------------------------------------------------- */

/* What was found when all banks were looked at. */
struct view {
    struct rows rows;
    struct bests bests;
};

/* Looks again after open_rows(), when column commands have ended hits of one bank and nothing else has
 * changed: rows that could be opened now are, and the others' times are known. False: the bank's row command is
 * due. */
INLINE bool look_at_bank(struct ww_dram_channel *c, struct shape shape, uint32_t bank,
                         enum ww_dram_direction dir, int32_t cycle, struct view *v) {
    int32_t ahead = c->row_slot, at = block_of(c, shape, bank)->of[dir].row_at[bank % WW_DRAM_BLOCK];
    int32_t time = at == WW_DRAM_NEVER ? at : ww_dram_later(at, ahead);
    if (time <= cycle) return false;
    if (v->rows.next < ahead) v->rows.next = ahead; /* rows that were opened have moved the slot */
    if (time < v->rows.next) v->rows.next = time;
    look_at_columns(c, shape, dir, cycle, &v->bests);
    return true;
}

INLINE void open_for_head(struct ww_dram_channel *c, struct shape shape, uint32_t bank,
                          enum ww_dram_direction dir, int32_t cycle) {
    struct ww_dram_block *b = block_of(c, shape, bank);
    uint32_t i = bank % WW_DRAM_BLOCK, head = b->of[dir].head[i], row = c->link[head].row;
    ww_dram_open_row(c, b, i, row, cycle);
    c->entry[head].row_opened = true;
    b->of[dir].hit[i] = (uint16_t)head;
    b->of[dir].hit_order[i] = b->of[dir].head_order[i];
    b->of[dir].column_at[i] = b->column_ready[i];
    b->of[dir].row_at[i] = WW_DRAM_NEVER;
    if (b->of[!dir].head[i] != WW_DRAM_NONE)
        ww_dram_set_hit(c, b, i, !dir, find_row(c, b->of[!dir].head[i], row));
}

/* Looks at all banks and begins the row changes whose time has come, the oldest entry's first. True: it need
 * not be looked anew in this cycle as long as nothing is pushed and the direction stays. */
INLINE bool open_rows(struct ww_dram_channel *c, struct shape shape, enum ww_dram_direction dir, int32_t cycle,
                      struct view *v) {
    bool starving, more;
    do {
        starving = may_starve(c, cycle);
        if (c->left_out) take_in(c);
        if (starving) leave_out_starved(c, dir, cycle);
        look_at_rows(c, shape, dir, cycle, &v->rows);
        if (!v->rows.one) break;
        open_for_head(c, shape, v->rows.bank, dir, cycle);
        int32_t ahead = c->row_slot;
        more = v->rows.more && ahead <= cycle; /* the next one may begin now, too */
        if (v->rows.more && ahead < v->rows.next) v->rows.next = ahead;
    } while (more);
    look_at_columns(c, shape, dir, cycle, &v->bests);
    return !starving;
}

/* Entry n of a bank has no burst left since `cycle`; the last one's data pass the bus until data_end. */
INLINE void finish(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i, enum ww_dram_direction dir,
                   uint32_t n, int32_t cycle, int32_t data_end) {
    struct ww_dram *d = c->dram;
    const struct ww_dram_request *request =
        &c->entry[n].request; /* its place is not taken before they return */
    unlink_entry(c, b, i, dir, n);
    if (dir == WW_DRAM_READ)
        d->client.done(d->client.context, request,
                       ww_clock_time(&d->clock, c->base + (uint32_t)data_end + d->timing.latency));
    else
        d->client.written(d->client.context, request);
    if (!c->room.wanted) return;
    c->room.wanted = false;
    d->client.room(d->client.context, c->index, ww_clock_time(&d->clock, c->base + (uint32_t)cycle));
}

/* The last burst of a bank's hit went out at `cycle`. */
INLINE void end_entry(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i,
                      enum ww_dram_direction dir, int32_t cycle, int32_t data_end) {
    finish(c, b, i, dir, b->of[dir].hit[i], cycle, data_end);
    if (!c->dram->timing.closed_page) return;
    if (b->of[WW_DRAM_READ].hit[i] == WW_DRAM_NONE && b->of[WW_DRAM_WRITE].hit[i] == WW_DRAM_NONE)
        ww_dram_close_row(c, b, i);
}

/* The next choice may be for the other direction. */
INLINE bool may_turn(const struct ww_dram_channel *c, enum ww_dram_direction dir) {
    return dir == WW_DRAM_WRITE ? c->room.bursts[WW_DRAM_WRITE] <= c->dram->write_low
                                : c->room.bursts[WW_DRAM_WRITE] >= c->dram->write_high;
}

/* Counts column commands of one direction, of which `hits` found their row open. */
INLINE void count_columns(const struct ww_dram_channel *c, enum ww_dram_direction dir, uint64_t bursts,
                          uint64_t hits) {
    uint64_t *counter = c->dram->counter;
    if (!bursts) return;
    counter[WW_C_DRAM_BUSY_CYCLES] += bursts * c->dram->timing.burst;
    counter[dir == WW_DRAM_READ ? WW_C_DRAM_BURST_READ : WW_C_DRAM_BURST_WRITE] += bursts;
    counter[WW_C_DRAM_ROW_HIT] += hits;
}

/* Issues row commands, and column commands of the best banks before `end`, of one direction, taking turns
 * between bank groups as their timing has it. *next: when to go on. True: it is to be looked anew, and *next is
 * not known.
 */
INLINE bool issue(struct ww_dram_channel *c, struct shape shape, enum ww_dram_direction dir, int32_t cycle,
                  int32_t end, int32_t *next) {
    struct view v;
    const bool holds = open_rows(c, shape, dir, cycle, &v);
    const uint32_t pushed = c->pushed;
    uint64_t bursts = 0, row_hits = 0;
    bool again = false;
    c->column_ready[dir] = ww_dram_later(c->column_ready[dir], cycle);
    while (!again) {
        int32_t time;
        uint32_t bank = earliest(&v.bests, shape, c->column_ready[dir], &time), i = bank % WW_DRAM_BLOCK,
                 group = bank & (shape.groups - 1);
        if (time >= end) {
            *next = v.rows.next < time ? v.rows.next : time;
            break;
        }
        struct ww_dram_block *b = block_of(c, shape, bank);
        struct ww_dram_entry *e = &c->entry[b->of[dir].hit[i]];
        int32_t data_end = ww_dram_issue_column(c, b, i, dir, time);
        groups_ready(c, shape)[group] = v.bests.ready[group] = time + (int32_t)c->dram->timing.group_gap;
        bursts++;
        row_hits += !e->row_opened;
        e->row_opened = false;
        if (--e->bursts_left) continue;
        end_entry(c, b, i, dir, time, data_end);
        if (b->of[dir].hit[i] != WW_DRAM_NONE && !may_turn(c, dir)) {
            v.bests.order[group] = b->of[dir].hit_order[i];
            continue;
        }
        choose_direction(c);
        again = !holds || c->writing != (dir == WW_DRAM_WRITE) || pushed != c->pushed ||
                !look_at_bank(c, shape, bank, dir, cycle, &v);
    }
    count_columns(c, dir, bursts, row_hits);
    return again;
}

/* Issues what can be issued at `cycle` (column commands: a little ahead); returns the cycle at which to look
 * again, WW_DRAM_NEVER if the queues are empty. */
INLINE int32_t schedule(struct ww_dram_channel *c, struct shape shape, int32_t cycle) {
    int32_t end = cycle + WW_DRAM_AHEAD, due = WW_DRAM_NEVER, next;
    uint64_t left = c->refresh_due - (c->base + (uint32_t)cycle);
    if (c->dram->timing.trefi && left < WW_DRAM_SPAN) due = cycle + (int32_t)left;
    if (end > due) end = due;
    choose_direction(c);
    while (c->writing ? issue(c, shape, WW_DRAM_WRITE, cycle, end, &next)
                      : issue(c, shape, WW_DRAM_READ, cycle, end, &next))
        continue;
    if (next == WW_DRAM_NEVER) return next;
    if (next > due) next = due;
    return next > cycle ? next : cycle + 1;
}

/* A channel's event: what is due, and when to go on. */
INLINE void pass(struct ww_dram_channel *c, struct shape shape, uint64_t now_ps) {
    struct ww_dram *d = c->dram;
    uint64_t cycle = ww_clock_noted_cycle(&d->fired, &d->clock, now_ps);
    ww_dram_refresh(c, cycle);
    int32_t next = schedule(c, shape, ww_dram_from_base(c, cycle));
    if (next != WW_DRAM_NEVER)
        ww_queue_earlier(d->queue, &c->event, ww_clock_time(&d->clock, c->base + (uint32_t)next));
}

#endif
