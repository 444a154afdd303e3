/* Which command a DRAM channel issues next. */
#include "../../result/result.h"
#include "dram_channel.h"

#include <string.h>

/* First entry for `row` from entry n on. */
static uint32_t find_row(const struct ww_dram_channel *c, uint32_t n, uint32_t row) {
    while (n != WW_DRAM_NONE && c->link[n].row != row) n = c->link[n].next;
    return n;
}

/* The entry has no burst left. */
static void unlink_entry(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i, uint32_t dir,
                         uint32_t n) {
    struct ww_dram_link *l = &c->link[n];
    uint32_t hit = b->hit[dir][i];
    if (hit == n) hit = find_row(c, l->next, b->row[i]);
    if (l->previous == WW_DRAM_NONE) {
        b->head[dir][i] = l->next;
        if (l->next != WW_DRAM_NONE) b->head_order[dir][i] = c->link[l->next].order;
    } else {
        c->link[l->previous].next = l->next;
    }
    if (l->next == WW_DRAM_NONE)
        b->tail[dir][i] = l->previous;
    else
        c->link[l->next].previous = l->previous;
    ww_dram_set_hit(c, b, i, dir, hit);
    c->count[dir]--;
    c->room.bursts[dir] -= c->entry[n].request.bursts;
    l->next = c->free_entry;
    c->free_entry = (uint16_t)n;
}

static void choose_direction(struct ww_dram_channel *c) {
    const struct ww_dram *d = c->dram;
    uint32_t reads = c->count[WW_DRAM_READ], writes = c->room.bursts[WW_DRAM_WRITE];
    if (c->writing) {
        if (!writes || (reads && writes <= d->write_low)) c->writing = false;
    } else if (writes && (!reads || writes >= d->write_high)) {
        c->writing = true;
    }
}

/* ---- vectors --------------------------------------------------------------------------------- */

static inline ww_dram_v4 load(const int32_t *p) {
    ww_dram_v4 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline ww_dram_v4 all(int32_t x) {
    return (ww_dram_v4){x, x, x, x};
}

static inline ww_dram_v4 choose(ww_dram_v4 mask, ww_dram_v4 a, ww_dram_v4 b) {
    return (mask & a) | (~mask & b);
}

static inline ww_dram_v4 least(ww_dram_v4 a, ww_dram_v4 b) {
    return choose(a < b, a, b);
}

static inline int32_t least_of(ww_dram_v4 v) {
    int32_t a = v[0] < v[1] ? v[0] : v[1], b = v[2] < v[3] ? v[2] : v[3];
    return a < b ? a : b;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* A time and, of equal times, an age, to be compared. */
static inline uint64_t key_of(int32_t time, int32_t order) {
    return (uint64_t)(uint32_t)time << 32 | (uint32_t)order;
}

/* By bank group, the bank whose column command goes first: of those with a hit the one that is ready first, the
 * older entry of equals. */
struct bests {
    int32_t ready[WW_DRAM_GROUPS]; /* by its bank and group; never: no bank of the group has a hit */
    int32_t first[WW_DRAM_GROUPS]; /* by its bank alone */
    int32_t order[WW_DRAM_GROUPS]; /* age of its entry */
};

/* A vector of groups' best banks. */
struct best4 {
    ww_dram_v4 first, order;
};

static inline void better(struct best4 *best, ww_dram_v4 first, ww_dram_v4 order) {
    ww_dram_v4 sooner = (first < best->first) | ((first == best->first) & (order < best->order));
    best->first = choose(sooner, first, best->first);
    best->order = choose(sooner, order, best->order);
}

/* Elements of fewer than four groups: those of the same group are compared with one another. */
static void join_groups(struct best4 *best, uint32_t groups) {
    const ww_dram_v4 first = best->first, order = best->order;
    better(best, (ww_dram_v4){first[2], first[3], first[0], first[1]},
           (ww_dram_v4){order[2], order[3], order[0], order[1]});
    if (groups > 1) return;
    const ww_dram_v4 one = best->first, two = best->order;
    better(best, (ww_dram_v4){one[1], one[0], one[3], one[2]}, (ww_dram_v4){two[1], two[0], two[3], two[2]});
}

/* Chooses the best of the groups from `group` on that a vector holds. */
static inline void look_at_vector(const struct ww_dram_channel *c, uint32_t dir, int32_t cycle, uint32_t group,
                                  uint32_t lanes, struct bests *bests) {
    struct best4 best = {all(WW_DRAM_NEVER), all(WW_DRAM_NEVER)};
    const ww_dram_v4 now = all(cycle);
    for (uint32_t n = 0, k = group; n < c->dram->blocks; n++, k -= WW_DRAM_BLOCK) {
        const struct ww_dram_block *b = &c->block[n];
        for (; k < WW_DRAM_BLOCK; k += lanes) {
            ww_dram_v4 at = load(&b->column_at[dir][k]);
            better(&best, choose(at > now, at, now), load(&b->hit_order[dir][k]));
        }
    }
    if (c->dram->groups < 4) join_groups(&best, c->dram->groups);
    ww_dram_v4 ready = load(&c->group_ready[group]);
    ready = choose(best.first > ready, best.first, ready);
    memcpy(&bests->ready[group], &ready, sizeof ready);
    memcpy(&bests->first[group], &best.first, sizeof ready);
    memcpy(&bests->order[group], &best.order, sizeof ready);
    for (uint32_t g = c->dram->groups; g < 4; g++) bests->ready[g] = WW_DRAM_NEVER; /* there is no such group */
}

static inline void look_at_columns(const struct ww_dram_channel *c, uint32_t dir, int32_t cycle,
                                   struct bests *bests) {
    uint32_t lanes = c->dram->lanes;
    if (lanes == 4) {
        look_at_vector(c, dir, cycle, 0, 4, bests);
        return;
    }
    for (uint32_t group = 0; group < lanes; group += 4) look_at_vector(c, dir, cycle, group, lanes, bests);
}

/* Chooses the best of one group. */
static inline void look_at_group(const struct ww_dram_channel *c, uint32_t dir, int32_t cycle, uint32_t group,
                                 struct bests *bests) {
    uint32_t groups = c->dram->groups;
    uint64_t best = UINT64_MAX;
    for (uint32_t n = 0, i = group; n < c->dram->blocks; n++, i -= WW_DRAM_BLOCK) {
        const struct ww_dram_block *b = &c->block[n];
        for (; i < WW_DRAM_BLOCK; i += groups) {
            uint64_t key = key_of(ww_dram_later(b->column_at[dir][i], cycle), b->hit_order[dir][i]);
            best = key < best ? key : best;
        }
    }
    bests->first[group] = (int32_t)(best >> 32);
    bests->ready[group] = ww_dram_later(bests->first[group], c->group_ready[group]);
    bests->order[group] = (int32_t)(uint32_t)best;
}

/* A bank has a hit: it may be its group's best. */
static inline void add_column(const struct ww_dram_channel *c, uint32_t bank, uint32_t dir, int32_t cycle,
                              struct bests *bests) {
    const struct ww_dram_block *b = ww_dram_block(c, bank);
    uint32_t i = bank % WW_DRAM_BLOCK, g = bank & (c->dram->groups - 1);
    int32_t first = ww_dram_later(b->column_ready[i], cycle), order = b->hit_order[dir][i];
    if (key_of(first, order) > key_of(bests->first[g], bests->order[g])) return;
    bests->first[g] = first;
    bests->ready[g] = ww_dram_later(first, c->group_ready[g]);
    bests->order[g] = order;
}

/* Of four groups' best banks and one before them, the one with the earliest column command, the older entry of
 * equals. */
static inline uint64_t earliest_of_four(const int32_t *ready, const int32_t *order, int32_t floor,
                                        uint64_t best) {
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t key = key_of(ww_dram_later(ready[i], floor), order[i]);
        best = key < best ? key : best;
    }
    return best;
}

/* The same of all groups: its bank; when, or never. */
static inline uint32_t earliest(const struct ww_dram_channel *c, const struct bests *bests, int32_t floor,
                                int32_t *time) {
    uint64_t best = earliest_of_four(bests->ready, bests->order, floor, UINT64_MAX);
    for (uint32_t g = 4, lanes = c->dram->lanes; g < lanes; g += 4)
        best = earliest_of_four(&bests->ready[g], &bests->order[g], floor, best);
    *time = (int32_t)(best >> 32);
    return ww_dram_bank_of((int32_t)(uint32_t)best);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Which rows can be opened now, and when others can. */
struct rows {
    uint32_t bank;  /* oldest whose row command's time has come, if there is one */
    bool one, more; /* there is one such bank, and another */
    int32_t next;   /* earliest time of a row command that must still wait */
};

/* Finds the rows to open. */
static inline void look_at_rows(const struct ww_dram_channel *c, uint32_t dir, int32_t cycle,
                                struct rows *rows) {
    int32_t ahead = ww_dram_row_slot(c);
    ww_dram_v4 next = all(WW_DRAM_NEVER), order = next, count = all(0), now = all(cycle);
    if (ahead > cycle) { /* none can begin now: when the first one can */
        for (uint32_t n = 0; n < c->dram->blocks; n++)
            for (uint32_t i = 0; i < WW_DRAM_BLOCK; i += 4)
                next = least(next, load(&c->block[n].row_at[dir][i]));
        *rows = (struct rows){.next = ww_dram_later(least_of(next), ahead)};
        return;
    }
    for (uint32_t n = 0; n < c->dram->blocks; n++)
        for (uint32_t i = 0; i < WW_DRAM_BLOCK; i += 4) {
            ww_dram_v4 at = load(&c->block[n].row_at[dir][i]), waits = at > now;
            next = least(next, choose(waits, at, all(WW_DRAM_NEVER)));
            order = least(order, load(&c->block[n].head_order[dir][i]) | (waits & all(WW_DRAM_NEVER)));
            count += waits; /* less one each */
        }
    int32_t oldest = least_of(order);
    uint32_t begin = c->dram->blocks * WW_DRAM_BLOCK + (uint32_t)(count[0] + count[1] + count[2] + count[3]);
    *rows = (struct rows){
        .bank = ww_dram_bank_of(oldest), .one = begin > 0, .more = begin > 1, .next = least_of(next)};
}

/* ---- age ------------------------------------------------------------------------------------- */

/* Cycles after which it is looked again how old the oldest entry is. */
#define LOOK_AGAIN 64

/* Whether any entry may be too old to be passed. */
static bool may_starve(struct ww_dram_channel *c, int32_t cycle) {
    if (cycle <= c->oldest + WW_DRAM_AGE_CAP) return false;
    if (cycle < c->oldest_after) return true;
    c->oldest_after = cycle + LOOK_AGAIN;
    c->oldest = cycle;
    for (uint32_t bank = 0; bank < c->dram->banks; bank++)
        for (uint32_t dir = 0; dir < 2; dir++) {
            uint32_t head = ww_dram_block(c, bank)->head[dir][bank % WW_DRAM_BLOCK];
            if (head != WW_DRAM_NONE && c->link[head].arrival < c->oldest) c->oldest = c->link[head].arrival;
        }
    return cycle > c->oldest + WW_DRAM_AGE_CAP;
}

/* The entry at the bank's head is too old to be passed by hits. */
static bool starved(const struct ww_dram_channel *c, const struct ww_dram_block *b, uint32_t i, uint32_t dir,
                    int32_t cycle) {
    const struct ww_dram_link *head = &c->link[b->head[dir][i]];
    return b->head[dir][i] != b->hit[dir][i] && cycle > head->arrival + WW_DRAM_AGE_CAP &&
           head->row != b->row[i];
}

/* Leaves the hits of banks out whose head is starved. */
static void leave_out_starved(struct ww_dram_channel *c, uint32_t dir, int32_t cycle) {
    for (uint32_t bank = 0; bank < c->dram->banks; bank++) {
        struct ww_dram_block *b = ww_dram_block(c, bank);
        uint32_t i = bank % WW_DRAM_BLOCK;
        if (b->hit[dir][i] == WW_DRAM_NONE || !starved(c, b, i, dir, cycle)) continue;
        b->column_at[dir][i] = WW_DRAM_NEVER;
        b->row_at[dir][i] = b->row_ready[i];
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
    uint64_t changed; /* bit per group of which a hit has ended */
};

/* Looks at all banks. True: it need not be done anew in this cycle as long as nothing is pushed and the
 * direction stays. */
static inline bool look(struct ww_dram_channel *c, int32_t cycle, struct view *v) {
    enum ww_dram_direction dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    bool starving = may_starve(c, cycle);
    if (c->left_out) take_in(c);
    if (starving) leave_out_starved(c, dir, cycle);
    v->changed = 0;
    look_at_columns(c, dir, cycle, &v->bests);
    look_at_rows(c, dir, cycle, &v->rows);
    return !starving;
}

/* The same after look() and open_rows(), when column commands have ended hits of one bank and nothing else has
 * changed: rows that could be opened now are, and the others' times are known. False: the bank's row command is
 * due. */
static inline bool look_at_bank(struct ww_dram_channel *c, uint32_t bank, int32_t cycle, struct view *v) {
    enum ww_dram_direction dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    int32_t ahead = ww_dram_row_slot(c), at = ww_dram_block(c, bank)->row_at[dir][bank % WW_DRAM_BLOCK];
    int32_t time = at == WW_DRAM_NEVER ? at : ww_dram_later(at, ahead);
    if (time <= cycle) return false;
    if (v->rows.next < ahead) v->rows.next = ahead; /* rows that were opened have moved the slot */
    if (time < v->rows.next) v->rows.next = time;
    for (; v->changed; v->changed &= v->changed - 1)
        look_at_group(c, dir, cycle, (uint32_t)__builtin_ctzll(v->changed), &v->bests);
    return true;
}

static void open_for_head(struct ww_dram_channel *c, uint32_t bank, int32_t cycle) {
    struct ww_dram_block *b = ww_dram_block(c, bank);
    uint32_t i = bank % WW_DRAM_BLOCK, dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    uint32_t head = b->head[dir][i], row = c->link[head].row;
    ww_dram_open_row(c, b, i, row, cycle);
    c->entry[head].row_opened = true;
    ww_dram_set_hit(c, b, i, dir, head);
    ww_dram_set_hit(c, b, i, !dir, find_row(c, b->head[!dir][i], row));
}

/* Looks, begins the row changes whose time has come, the oldest entry's first, and makes the choice good for
 * what comes after. As look(). */
static inline bool open_rows(struct ww_dram_channel *c, int32_t cycle, struct view *v) {
    uint32_t dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    for (;;) {
        bool holds = look(c, cycle, v);
        if (!v->rows.one) return holds;
        open_for_head(c, v->rows.bank, cycle);
        int32_t ahead = ww_dram_row_slot(c);
        if (v->rows.more && ahead <= cycle) continue; /* the next one may begin now, too */
        add_column(c, v->rows.bank, dir, cycle, &v->bests);
        if (v->rows.more && ahead < v->rows.next) v->rows.next = ahead;
        return holds;
    }
}

/* Entry n of a bank has no burst left since `cycle`; the last one's data pass the bus until data_end. */
static void finish(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i, enum ww_dram_direction dir,
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
static void end_entry(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i,
                      enum ww_dram_direction dir, int32_t cycle, int32_t data_end) {
    finish(c, b, i, dir, b->hit[dir][i], cycle, data_end);
    bool wanted = b->hit[WW_DRAM_READ][i] != WW_DRAM_NONE || b->hit[WW_DRAM_WRITE][i] != WW_DRAM_NONE;
    if (c->dram->timing.closed_page && !wanted) ww_dram_close_row(c, b, i);
}

/* The next choice may be for the other direction. */
static bool may_turn(const struct ww_dram_channel *c) {
    return c->writing ? c->room.bursts[WW_DRAM_WRITE] <= c->dram->write_low
                      : c->room.bursts[WW_DRAM_WRITE] >= c->dram->write_high;
}

/* Counts column commands of one direction, of which `hits` found their row open. */
static void count_columns(const struct ww_dram_channel *c, enum ww_dram_direction dir, uint64_t bursts,
                          uint64_t hits) {
    uint64_t *counter = c->dram->counter;
    if (!bursts) return;
    counter[WW_C_DRAM_BUSY_CYCLES] += bursts * c->dram->timing.burst;
    counter[dir == WW_DRAM_READ ? WW_C_DRAM_BURST_READ : WW_C_DRAM_BURST_WRITE] += bursts;
    counter[WW_C_DRAM_ROW_HIT] += hits;
}

/* Issues column commands of the best banks before `end`, taking turns between bank groups as their timing
 * has it, until a bank has no hit left or the direction may turn, and the choice must be made anew: returns the
 * bank. Else WW_DRAM_NONE, and *next is the time of the next one. */
static inline uint32_t issue_columns(struct ww_dram_channel *c, int32_t cycle, int32_t end, struct view *v,
                                     int32_t *next) {
    struct bests *bests = &v->bests;
    enum ww_dram_direction dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    uint64_t bursts = 0, row_hits = 0;
    uint32_t ended = WW_DRAM_NONE;
    c->column_ready[dir] = ww_dram_later(c->column_ready[dir], cycle);
    while (ended == WW_DRAM_NONE) {
        int32_t time;
        uint32_t bank = earliest(c, bests, c->column_ready[dir], &time), group = bank & (c->dram->groups - 1);
        *next = time;
        if (time >= end) break;
        struct ww_dram_block *b = ww_dram_block(c, bank);
        uint32_t i = bank % WW_DRAM_BLOCK;
        struct ww_dram_entry *e = &c->entry[b->hit[dir][i]];
        int32_t data_end = ww_dram_issue_column(c, b, i, dir, time);
        c->group_ready[group] = bests->ready[group] = time + (int32_t)c->dram->timing.group_gap;
        bursts++;
        row_hits += !e->row_opened;
        e->row_opened = false;
        if (--e->bursts_left) continue;
        v->changed |= (uint64_t)1 << group;
        end_entry(c, b, i, dir, time, data_end);
        if (b->hit[dir][i] == WW_DRAM_NONE || may_turn(c))
            ended = bank;
        else
            bests->order[group] = b->hit_order[dir][i];
    }
    count_columns(c, dir, bursts, row_hits);
    return ended;
}

int32_t ww_dram_schedule(struct ww_dram_channel *c, int32_t cycle) {
    int32_t end = cycle + WW_DRAM_AHEAD, due = WW_DRAM_NEVER, next;
    uint64_t left = c->refresh_due - (c->base + (uint32_t)cycle);
    struct view v;
    if (c->dram->timing.trefi && left < WW_DRAM_SPAN) due = cycle + (int32_t)left;
    if (end > due) end = due;
    choose_direction(c);
    for (bool again = true; again;) {
        bool holds = open_rows(c, cycle, &v), writing = c->writing;
        uint32_t pushed = c->pushed, bank;
        again = false;
        while (!again && (bank = issue_columns(c, cycle, end, &v, &next)) != WW_DRAM_NONE) {
            choose_direction(c);
            again = !holds || writing != c->writing || pushed != c->pushed || !look_at_bank(c, bank, cycle, &v);
        }
    }
    if (v.rows.next < next) next = v.rows.next;
    if (next == WW_DRAM_NEVER) return next;
    if (next > due) next = due;
    return next > cycle ? next : cycle + 1;
}
