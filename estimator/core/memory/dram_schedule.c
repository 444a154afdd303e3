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
        b->head_order[dir] = c->entry[i].order;
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
    c->bursts[dir] -= e->request.bursts;
    e->next = c->free_entry;
    c->free_entry = i;
}

static void choose_direction(struct ww_dram_channel *c) {
    const struct ww_dram *d = c->dram;
    uint32_t reads = c->count[WW_DRAM_READ], writes = c->bursts[WW_DRAM_WRITE];
    if (c->writing) {
        if (!writes || (reads && writes <= d->write_low)) c->writing = false;
    } else if (writes && (!reads || writes >= d->write_high)) {
        c->writing = true;
    }
}

enum { GROUPS_MAX = 64 };

/* What can be done now and what must wait. */
struct choice {
    uint64_t groups;                  /* bit per bank group with a column command */
    uint32_t column_bank[GROUPS_MAX]; /* of each of these, the bank with the best one */
    uint64_t bank_ready[GROUPS_MAX];  /* by that bank alone, at least the cycle of the look */
    uint64_t ready[GROUPS_MAX];       /* by its bank and group */
    uint64_t order[GROUPS_MAX];       /* age of its entry */
    uint32_t row_bank;                /* oldest whose row command's time has come; WW_DRAM_NONE: none */
    uint32_t rows;                    /* banks whose row command's time has come */
    uint64_t row_order;
    uint64_t next_row; /* earliest time of a row command that must still wait */
};

/* The entry at the bank's head is too old to be passed by hits. */
static bool starved(const struct ww_dram_channel *c, const struct ww_dram_bank *b, uint32_t dir,
                    uint64_t cycle) {
    uint32_t head = b->head[dir];
    return head != b->hit[dir] && cycle > c->entry[head].arrival + WW_DRAM_AGE_CAP &&
           c->entry[head].request.place.row != b->row;
}

/* A bank with a hit: of those of its group the one goes first that is ready first, the older entry of equals.
 */
static inline void add_column(const struct ww_dram_channel *c, struct choice *best, uint32_t bank, uint32_t dir,
                              uint64_t cycle) {
    const struct ww_dram_bank *b = &c->bank[bank];
    uint32_t g = b->group;
    uint64_t ready = b->col_ready > cycle ? b->col_ready : cycle, order = b->hit_order[dir];
    if (best->groups >> g & 1 &&
        (ready > best->bank_ready[g] || (ready == best->bank_ready[g] && order > best->order[g])))
        return;
    best->groups |= (uint64_t)1 << g;
    best->column_bank[g] = bank;
    best->bank_ready[g] = ready;
    best->ready[g] = ww_dram_max(b->col_ready, c->group_ready[g]);
    best->order[g] = order;
}

/* A bank that must change its row; slot: the first activate that tRRD and tFAW allow. */
static inline void add_row(const struct ww_dram_channel *c, struct choice *best, uint32_t bank, uint32_t dir,
                           uint64_t slot, uint64_t cycle) {
    const struct ww_dram_bank *b = &c->bank[bank];
    uint64_t time = ww_dram_row_time(c, b, slot);
    if (time > cycle) {
        if (time < best->next_row) best->next_row = time;
        return;
    }
    if (best->row_bank == WW_DRAM_NONE || b->head_order[dir] < best->row_order) {
        best->row_bank = bank;
        best->row_order = b->head_order[dir];
    }
    best->rows++;
}

static void look(const struct ww_dram_channel *c, uint64_t cycle, struct choice *best) {
    enum ww_dram_direction dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    uint64_t slot = ww_dram_slot(c);
    best->groups = 0;
    best->rows = 0;
    best->row_bank = WW_DRAM_NONE;
    best->next_row = UINT64_MAX;
    for (uint32_t w = 0; w < c->dram->bank_words; w++) {
        uint64_t hits = c->hits[dir][w], rows = c->busy[dir][w] & ~hits;
        for (; hits; hits &= hits - 1) {
            uint32_t bank = 64 * w + (uint32_t)__builtin_ctzll(hits);
            if (starved(c, &c->bank[bank], dir, cycle))
                rows |= hits & (0 - hits);
            else
                add_column(c, best, bank, dir, cycle);
        }
        for (; rows; rows &= rows - 1)
            add_row(c, best, 64 * w + (uint32_t)__builtin_ctzll(rows), dir, slot, cycle);
    }
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

/* Begins the row changes whose time has come, the oldest entry's first, and makes the choice good for what
 * comes after. */
static void open_rows(struct ww_dram_channel *c, uint64_t cycle, struct choice *best) {
    uint32_t dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    uint64_t trp = c->dram->timing.trp;
    while (best->row_bank != WW_DRAM_NONE) {
        uint32_t bank = best->row_bank;
        open_for_head(c, bank, cycle);
        uint64_t slot = ww_dram_slot(c);
        if (best->rows > 1 && slot <= cycle + trp) {
            look(c, cycle, best); /* the next one may begin now, too */
            continue;
        }
        best->row_bank = WW_DRAM_NONE;
        add_column(c, best, bank, dir, cycle);
        if (best->rows > 1 && slot - trp < best->next_row) best->next_row = slot - trp;
    }
}

/* The last burst of entry i is issued; its data pass the bus until data_end. */
static void finish(struct ww_dram_channel *c, uint32_t i, uint64_t cycle, uint64_t data_end) {
    struct ww_dram *d = c->dram;
    struct ww_dram_request request = c->entry[i].request;
    unlink_entry(c, i);
    if (request.direction == WW_DRAM_READ)
        d->client.done(d->client.context, &request, ww_clock_time(&d->clock, data_end + d->timing.latency));
    else
        d->client.written(d->client.context, &request);
    if (!c->room_wanted) return;
    c->room_wanted = false;
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
    return c->writing ? c->bursts[WW_DRAM_WRITE] <= c->dram->write_low
                      : c->bursts[WW_DRAM_WRITE] >= c->dram->write_high;
}

/* Of the chosen banks, the one with the earliest column command, the older entry of equals. */
static uint32_t earliest(const struct ww_dram_channel *c, const struct choice *best, enum ww_dram_direction dir,
                         uint64_t *time) {
    uint64_t floor = c->column_ready[dir], first = UINT64_MAX, order = UINT64_MAX;
    uint32_t pick = 0;
    for (uint64_t groups = best->groups; groups; groups &= groups - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(groups);
        uint64_t ready = best->ready[i] > floor ? best->ready[i] : floor;
        if (ready > first || (ready == first && best->order[i] > order)) continue;
        first = ready;
        order = best->order[i];
        pick = i;
    }
    *time = first;
    return pick;
}

/* Issues column commands of the chosen banks before `end`, taking turns between bank groups as their timing
 * has it, until a bank has no hit left or the direction may turn, and the choice must be made anew (true).
 * Else *next is the time of the next one. */
static bool issue_columns(struct ww_dram_channel *c, struct choice *best, uint64_t cycle, uint64_t end,
                          uint64_t *next) {
    enum ww_dram_direction dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    if (c->column_ready[dir] < cycle) c->column_ready[dir] = cycle;
    for (;;) {
        uint64_t time;
        uint32_t i = earliest(c, best, dir, &time);
        *next = time;
        if (time >= end) return false;
        uint32_t bank = best->column_bank[i];
        struct ww_dram_bank *b = &c->bank[bank];
        struct ww_dram_entry *e = &c->entry[b->hit[dir]];
        uint64_t data_end = ww_dram_issue_column(c, b, dir, time);
        best->ready[i] = c->group_ready[b->group];
        c->dram->counter[WW_C_DRAM_ROW_HIT] += !e->row_opened;
        e->row_opened = false;
        if (--e->bursts_left) continue;
        end_entry(c, bank, dir, time, data_end);
        if (b->hit[dir] == WW_DRAM_NONE || may_turn(c)) return true;
        best->order[i] = b->hit_order[dir];
    }
}

uint64_t ww_dram_schedule(struct ww_dram_channel *c, uint64_t cycle) {
    uint64_t due = c->dram->timing.trefi ? c->refresh_due : UINT64_MAX, end = cycle + WW_DRAM_AHEAD;
    uint64_t next;
    struct choice best;
    if (end > due) end = due;
    do {
        choose_direction(c);
        look(c, cycle, &best);
        open_rows(c, cycle, &best);
    } while (issue_columns(c, &best, cycle, end, &next));
    if (best.next_row < next) next = best.next_row;
    if (next == UINT64_MAX) return next;
    if (next > due) next = due;
    return next > cycle ? next : cycle + 1;
}
