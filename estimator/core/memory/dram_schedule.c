/* Which command a DRAM channel issues next. */
#include "../../result/result.h"
#include "dram_channel.h"

/* First entry for `row` from entry i on. */
static uint32_t find_row(const struct ww_dram_channel *c, uint32_t i, uint32_t row) {
    while (i != WW_DRAM_NONE && c->entry[i].request.place.row != row) i = c->entry[i].next;
    return i;
}

static void set_head(struct ww_dram_channel *c, uint32_t bank, uint32_t dir, uint32_t i) {
    struct ww_dram_bank *b = &c->bank[bank];
    b->head[dir] = i;
    if (i != WW_DRAM_NONE)
        c->head_order[dir][bank] = c->entry[i].order;
    else
        c->busy[dir][bank >> 6] &= ~((uint64_t)1 << (bank & 63));
}

static void unlink_entry(struct ww_dram_channel *c, uint32_t i) {
    struct ww_dram_entry *e = &c->entry[i];
    uint32_t bank = e->request.place.bank, dir = e->request.direction;
    struct ww_dram_bank *b = &c->bank[bank];
    if (b->hit[dir] == i) ww_dram_set_hit(c, bank, dir, find_row(c, e->next, b->row));
    if (e->previous == WW_DRAM_NONE)
        set_head(c, bank, dir, e->next);
    else
        c->entry[e->previous].next = e->next;
    if (e->next == WW_DRAM_NONE)
        b->tail[dir] = e->previous;
    else
        c->entry[e->next].previous = e->previous;
    c->count[dir]--;
    c->room.bursts[dir] -= e->request.bursts;
    e->next = c->free_entry;
    c->free_entry = i;
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

/* Which rows can be opened now, and when others can. */
struct rows {
    uint32_t bank;  /* oldest whose row command's time has come; WW_DRAM_NONE: none */
    uint32_t count; /* banks whose row command's time has come */
    uint64_t order;
    uint64_t next; /* earliest time of a row command that must still wait */
};

/* The entry at the bank's head is too old to be passed by hits. */
static bool starved(const struct ww_dram_channel *c, const struct ww_dram_bank *b, uint32_t dir,
                    uint64_t cycle) {
    uint32_t head = b->head[dir];
    return head != b->hit[dir] && cycle > c->entry[head].arrival + WW_DRAM_AGE_CAP &&
           c->entry[head].request.place.row != b->row;
}

/* A bank has a hit: it may be its group's best. */
static inline void add_column(struct ww_dram_channel *c, uint32_t bank, uint32_t dir, uint64_t cycle) {
    const struct ww_dram_bank *b = &c->bank[bank];
    struct ww_dram_best *best = &c->best[b->group];
    uint64_t ready = ww_dram_max(b->col_ready, cycle), before = ww_dram_max(best->bank_ready, cycle);
    if (c->best_groups >> b->group & 1 &&
        (ready > before || (ready == before && b->hit_order[dir] > best->order)))
        return;
    c->best_groups |= (uint64_t)1 << b->group;
    *best = (struct ww_dram_best){.bank = bank,
                                  .bank_ready = b->col_ready,
                                  .ready = ww_dram_max(b->col_ready, c->group_ready[b->group]),
                                  .order = b->hit_order[dir]};
}

/* The first cycle at which a bank of the group that is older than its best is as ready. */
static uint64_t older_until(const struct ww_dram_channel *c, const uint64_t *hits, uint32_t g, uint32_t dir,
                            uint64_t ready) {
    uint64_t until = UINT64_MAX, mask = c->dram->group_mask << g;
    for (uint32_t w = 0; w < c->dram->bank_words; w++)
        for (uint64_t m = hits[w] & mask; m; m &= m - 1) {
            const struct ww_dram_bank *b = &c->bank[64 * w + (uint32_t)__builtin_ctzll(m)];
            if (b->hit_order[dir] < c->best[g].order && b->col_ready > ready && b->col_ready < until)
                until = b->col_ready;
        }
    return until;
}

/* The only bank of the group with a hit is its best; WW_DRAM_NONE: it has none. */
static inline void choose_only(struct ww_dram_channel *c, uint32_t g, uint32_t bank, uint32_t dir) {
    uint64_t bit = (uint64_t)1 << g;
    if (bank == WW_DRAM_NONE) {
        c->best_groups &= ~bit;
        return;
    }
    const struct ww_dram_bank *b = &c->bank[bank];
    c->best_groups |= bit;
    c->best[g] = (struct ww_dram_best){.bank = bank,
                                       .bank_ready = b->col_ready,
                                       .ready = ww_dram_max(b->col_ready, c->group_ready[g]),
                                       .order = b->hit_order[dir]};
}

/* Chooses a group's best among its banks with a hit. */
static inline void choose_column(struct ww_dram_channel *c, const uint64_t *hits, uint32_t g, uint32_t dir,
                                 uint64_t cycle) {
    uint64_t first = UINT64_MAX, age = UINT64_MAX, oldest = UINT64_MAX, mask = c->dram->group_mask << g;
    uint32_t bank = WW_DRAM_NONE;
    for (uint32_t w = 0; w < c->dram->bank_words; w++)
        for (uint64_t m = hits[w] & mask; m; m &= m - 1) {
            uint32_t i = 64 * w + (uint32_t)__builtin_ctzll(m);
            const struct ww_dram_bank *b = &c->bank[i];
            uint64_t ready = b->col_ready > cycle ? b->col_ready : cycle, order = b->hit_order[dir];
            if (order < oldest) oldest = order;
            if (ready > first || (ready == first && order > age)) continue;
            first = ready;
            age = order;
            bank = i;
        }
    c->best_groups &= ~((uint64_t)1 << g);
    if (bank == WW_DRAM_NONE) return;
    c->best_groups |= (uint64_t)1 << g;
    c->best[g] = (struct ww_dram_best){.bank = bank,
                                       .bank_ready = c->bank[bank].col_ready,
                                       .ready = ww_dram_max(c->bank[bank].col_ready, c->group_ready[g]),
                                       .order = age};
    if (oldest == age) return;
    uint64_t until = older_until(c, hits, g, dir, first);
    if (until < c->best_until) c->best_until = until;
}

/* Finds the rows to open among the banks of one word, of which each must change its row; ahead: the first
 * activate that tRRD and tFAW allow, less tRP. */
static inline void add_rows(const struct ww_dram_channel *c, struct rows *rows, uint32_t word, uint64_t banks,
                            uint32_t dir, uint64_t ahead, uint64_t cycle) {
    const uint64_t *row_at = c->row_at + 64 * word, *order = c->head_order[dir] + 64 * word;
    if (ahead > cycle) { /* none can begin now: when the first one can */
        for (; banks && rows->next > ahead; banks &= banks - 1) {
            uint64_t time = ww_dram_max(row_at[__builtin_ctzll(banks)], ahead);
            if (time < rows->next) rows->next = time;
        }
        return;
    }
    for (; banks; banks &= banks - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(banks);
        if (row_at[i] > cycle) {
            if (row_at[i] < rows->next) rows->next = row_at[i];
            continue;
        }
        rows->count++;
        if (order[i] >= rows->order) continue;
        rows->bank = 64 * word + i;
        rows->order = order[i];
    }
}

/* Cycles after which it is looked again how old the oldest entry is. */
#define LOOK_AGAIN 64

/* Whether any entry may be too old to be passed. */
static bool may_starve(struct ww_dram_channel *c, uint64_t cycle) {
    if (cycle <= c->oldest + WW_DRAM_AGE_CAP) return false;
    if (cycle < c->oldest_after) return true;
    c->oldest_after = cycle + LOOK_AGAIN;
    c->oldest = cycle;
    for (uint32_t dir = 0; dir < 2; dir++)
        for (uint32_t w = 0; w < c->dram->bank_words; w++)
            for (uint64_t m = c->busy[dir][w]; m; m &= m - 1) {
                uint32_t head = c->bank[64 * w + (uint32_t)__builtin_ctzll(m)].head[dir];
                if (c->entry[head].arrival < c->oldest) c->oldest = c->entry[head].arrival;
            }
    return cycle > c->oldest + WW_DRAM_AGE_CAP;
}

/* Hits of banks whose head is not starved. */
static void leave_out_starved(const struct ww_dram_channel *c, uint32_t dir, uint64_t cycle, uint64_t *hits) {
    for (uint32_t w = 0; w < c->dram->bank_words; w++) {
        hits[w] = c->hits[dir][w];
        for (uint64_t m = hits[w]; m; m &= m - 1)
            if (starved(c, &c->bank[64 * w + (uint32_t)__builtin_ctzll(m)], dir, cycle))
                hits[w] &= ~(m & (0 - m));
    }
}

/* Chooses the best of the groups anew in which another one may be it. */
static inline void look_at_columns(struct ww_dram_channel *c, const uint64_t *hits, uint32_t dir,
                                   uint64_t cycle) {
    uint64_t groups = c->changed;
    if (cycle >= c->best_until) {
        groups = UINT64_MAX;
        c->best_until = UINT64_MAX;
    }
    for (groups &= c->dram->all_groups; groups; groups &= groups - 1) {
        uint32_t g = (uint32_t)__builtin_ctzll(groups);
        uint64_t banks = hits[0] & c->dram->group_mask << g;
        if (c->dram->bank_words > 1 || banks & (banks - 1))
            choose_column(c, hits, g, dir, cycle);
        else
            choose_only(c, g, banks ? (uint32_t)__builtin_ctzll(banks) : WW_DRAM_NONE, dir);
    }
    c->changed = 0;
}

/* Looks at all banks. True: it need not be done anew in this cycle as long as nothing is pushed and the
 * direction stays. */
static bool look(struct ww_dram_channel *c, uint64_t cycle, struct rows *rows) {
    enum ww_dram_direction dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    uint64_t slot = ww_dram_slot(c), trp = c->dram->timing.trp, ahead = slot > trp ? slot - trp : 0;
    uint64_t passing[WW_DRAM_BANK_WORDS];
    const uint64_t *hits = c->hits[dir];
    bool starving = may_starve(c, cycle);
    if (starving) {
        leave_out_starved(c, dir, cycle, passing);
        hits = passing;
    }
    if (starving || c->writing != c->best_writing) c->changed = UINT64_MAX;
    c->best_writing = c->writing;
    look_at_columns(c, hits, dir, cycle);
    if (starving) c->changed = UINT64_MAX;
    *rows = (struct rows){.bank = WW_DRAM_NONE, .order = UINT64_MAX, .next = UINT64_MAX};
    for (uint32_t w = 0; w < c->dram->bank_words; w++)
        add_rows(c, rows, w, c->busy[dir][w] & ~hits[w], dir, ahead, cycle);
    return !starving;
}

/* The same after look() and open_rows(), when column commands have ended hits of one bank and nothing else has
 * changed: rows that could be opened now are, and the others' times are known. False: the bank's row command is
 * due. */
static bool look_at_bank(struct ww_dram_channel *c, uint32_t bank, uint64_t cycle, struct rows *rows) {
    enum ww_dram_direction dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    uint64_t slot = ww_dram_slot(c), trp = c->dram->timing.trp, ahead = slot > trp ? slot - trp : 0;
    uint64_t bit = (uint64_t)1 << (bank & 63), time = UINT64_MAX;
    if (c->busy[dir][bank >> 6] & ~c->hits[dir][bank >> 6] & bit) time = ww_dram_max(c->row_at[bank], ahead);
    if (time <= cycle) return false;
    if (rows->next < ahead) rows->next = ahead; /* rows that were opened have moved the slot */
    if (time < rows->next) rows->next = time;
    look_at_columns(c, c->hits[dir], dir, cycle);
    return true;
}

static void open_for_head(struct ww_dram_channel *c, uint32_t bank, uint64_t cycle) {
    struct ww_dram_bank *b = &c->bank[bank];
    uint32_t dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ, head = b->head[dir];
    uint32_t row = c->entry[head].request.place.row;
    ww_dram_open_row(c, b, row, cycle);
    c->entry[head].row_opened = true;
    ww_dram_set_hit(c, bank, dir, head);
    ww_dram_set_hit(c, bank, !dir, find_row(c, b->head[!dir], row));
}

/* Looks, begins the row changes whose time has come, the oldest entry's first, and makes the choice good for
 * what comes after. As look(). */
static bool open_rows(struct ww_dram_channel *c, uint64_t cycle, struct rows *rows) {
    uint32_t dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    uint64_t trp = c->dram->timing.trp;
    bool holds = look(c, cycle, rows);
    while (rows->bank != WW_DRAM_NONE) {
        uint32_t bank = rows->bank;
        open_for_head(c, bank, cycle);
        uint64_t slot = ww_dram_slot(c);
        if (rows->count > 1 && slot <= cycle + trp) {
            holds = look(c, cycle, rows); /* the next one may begin now, too */
            continue;
        }
        rows->bank = WW_DRAM_NONE;
        add_column(c, bank, dir, cycle);
        if (rows->count > 1 && slot - trp < rows->next) rows->next = slot - trp;
    }
    return holds;
}

/* The last burst of entry i is issued; its data pass the bus until data_end. */
static void finish(struct ww_dram_channel *c, uint32_t i, uint64_t cycle, uint64_t data_end) {
    struct ww_dram *d = c->dram;
    const struct ww_dram_request *request =
        &c->entry[i].request; /* its place is not taken before they return */
    unlink_entry(c, i);
    if (request->direction == WW_DRAM_READ)
        d->client.done(d->client.context, request, ww_clock_time(&d->clock, data_end + d->timing.latency));
    else
        d->client.written(d->client.context, request);
    if (!c->room.wanted) return;
    c->room.wanted = false;
    d->client.room(d->client.context, c->index, ww_clock_time(&d->clock, cycle));
}

/* The last burst of a bank's hit went out at `cycle`. */
static void end_entry(struct ww_dram_channel *c, uint32_t bank, enum ww_dram_direction dir, uint64_t cycle,
                      uint64_t data_end) {
    struct ww_dram_bank *b = &c->bank[bank];
    finish(c, b->hit[dir], cycle, data_end);
    bool wanted = b->hit[WW_DRAM_READ] != WW_DRAM_NONE || b->hit[WW_DRAM_WRITE] != WW_DRAM_NONE;
    if (c->dram->timing.closed_page && !wanted) ww_dram_close_row(c, b);
}

/* The next choice may be for the other direction. */
static bool may_turn(const struct ww_dram_channel *c) {
    return c->writing ? c->room.bursts[WW_DRAM_WRITE] <= c->dram->write_low
                      : c->room.bursts[WW_DRAM_WRITE] >= c->dram->write_high;
}

/* Of the groups' best banks, the one with the earliest column command, the older entry of equals. */
static inline uint32_t earliest(const struct ww_dram_channel *c, uint64_t floor, uint64_t *time) {
    uint64_t groups = c->best_groups;
    *time = UINT64_MAX;
    if (!groups) return 0;
    uint32_t pick = (uint32_t)__builtin_ctzll(groups);
    uint64_t first = ww_dram_max(c->best[pick].ready, floor);
    while (groups &= groups - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(groups);
        const struct ww_dram_best *best = &c->best[i];
        uint64_t ready = ww_dram_max(best->ready, floor);
        if (ready > first || (ready == first && best->order > c->best[pick].order)) continue;
        first = ready;
        pick = i;
    }
    *time = first;
    return pick;
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
static uint32_t issue_columns(struct ww_dram_channel *c, uint64_t cycle, uint64_t end, uint64_t *next) {
    enum ww_dram_direction dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    uint64_t bursts = 0, row_hits = 0;
    uint32_t ended = WW_DRAM_NONE;
    if (c->column_ready[dir] < cycle) c->column_ready[dir] = cycle;
    while (ended == WW_DRAM_NONE) {
        uint64_t time;
        struct ww_dram_best *best = &c->best[earliest(c, c->column_ready[dir], &time)];
        *next = time;
        if (time >= end) break;
        uint32_t bank = best->bank;
        struct ww_dram_bank *b = &c->bank[bank];
        struct ww_dram_entry *e = &c->entry[b->hit[dir]];
        uint64_t data_end = ww_dram_issue_column(c, b, dir, time);
        best->ready = c->group_ready[b->group];
        bursts++;
        row_hits += !e->row_opened;
        e->row_opened = false;
        if (--e->bursts_left) continue;
        end_entry(c, bank, dir, time, data_end);
        if (b->hit[dir] == WW_DRAM_NONE || may_turn(c))
            ended = bank;
        else
            best->order = b->hit_order[dir];
    }
    count_columns(c, dir, bursts, row_hits);
    return ended;
}

uint64_t ww_dram_schedule(struct ww_dram_channel *c, uint64_t cycle) {
    uint64_t due = c->dram->timing.trefi ? c->refresh_due : UINT64_MAX, end = cycle + WW_DRAM_AHEAD;
    uint64_t next, pushed = c->order;
    struct rows rows;
    if (end > due) end = due;
    choose_direction(c);
    bool holds = open_rows(c, cycle, &rows);
    for (uint32_t bank; (bank = issue_columns(c, cycle, end, &next)) != WW_DRAM_NONE;) {
        bool writing = c->writing;
        choose_direction(c);
        if (holds && writing == c->writing && pushed == c->order && look_at_bank(c, bank, cycle, &rows))
            continue;
        pushed = c->order;
        holds = open_rows(c, cycle, &rows);
    }
    if (rows.next < next) next = rows.next;
    if (next == UINT64_MAX) return next;
    if (next > due) next = due;
    return next > cycle ? next : cycle + 1;
}
