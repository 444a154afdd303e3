#include "dram_channel.h"

#include "../base/bits.h"
#include <assert.h>

uint32_t ww_dram_bursts_per_sector(const struct ww_gpu_spec *gpu) {
    uint32_t burst_bytes = gpu->dram_bus_bits / 8 * gpu->dram_burst;
    uint32_t bursts = gpu->l2_sector / (burst_bytes ? burst_bytes : 1);
    return bursts ? bursts : 1;
}

struct ww_clock *ww_dram_clock(struct ww_dram *d) {
    return &d->clock;
}

bool ww_dram_has_room(struct ww_dram *d, uint32_t channel, enum ww_dram_direction direction) {
    struct ww_dram_channel *c = &d->channel[channel];
    if (c->bursts[direction] < d->depth) return true;
    c->room_wanted = true;
    return false;
}

uint32_t ww_dram_waiting(const struct ww_dram *d, uint32_t channel, enum ww_dram_direction direction) {
    return d->channel[channel].count[direction];
}

/* ---- queues ---------------------------------------------------------------------------------- */

static void busy_add(struct ww_dram_channel *c, uint32_t bank, uint32_t dir) {
    c->bank[bank].busy_at[dir] = c->busy_count[dir];
    c->busy[dir][c->busy_count[dir]++] = (uint16_t)bank;
}

static void busy_remove(struct ww_dram_channel *c, uint32_t bank, uint32_t dir) {
    uint32_t at = c->bank[bank].busy_at[dir];
    uint16_t last = c->busy[dir][--c->busy_count[dir]];
    c->busy[dir][at] = last;
    c->bank[last].busy_at[dir] = at;
}

/* First entry for `row` from entry i on. */
static uint32_t find_row(const struct ww_dram_channel *c, uint32_t i, uint32_t row) {
    while (i != WW_DRAM_NONE && c->entry[i].request.place.row != row) i = c->entry[i].next;
    return i;
}

static void append(struct ww_dram_channel *c, uint32_t i) {
    struct ww_dram_entry *e = &c->entry[i];
    uint32_t bank = e->request.place.bank, dir = e->request.direction;
    struct ww_dram_bank *b = &c->bank[bank];
    e->next = WW_DRAM_NONE;
    e->previous = b->tail[dir];
    if (b->tail[dir] == WW_DRAM_NONE) {
        b->head[dir] = i;
        busy_add(c, bank, dir);
    } else {
        c->entry[b->tail[dir]].next = i;
    }
    b->tail[dir] = i;
    c->count[dir]++;
    c->bursts[dir] += e->request.bursts;
    if (b->open && b->hit[dir] == WW_DRAM_NONE && b->row == e->request.place.row) b->hit[dir] = i;
}

static void unlink_entry(struct ww_dram_channel *c, uint32_t i) {
    struct ww_dram_entry *e = &c->entry[i];
    uint32_t bank = e->request.place.bank, dir = e->request.direction;
    struct ww_dram_bank *b = &c->bank[bank];
    if (b->hit[dir] == i) b->hit[dir] = find_row(c, e->next, b->row);
    if (e->previous == WW_DRAM_NONE)
        b->head[dir] = e->next;
    else
        c->entry[e->previous].next = e->next;
    if (e->next == WW_DRAM_NONE)
        b->tail[dir] = e->previous;
    else
        c->entry[e->next].previous = e->previous;
    if (b->head[dir] == WW_DRAM_NONE) busy_remove(c, bank, dir);
    c->count[dir]--;
    c->bursts[dir] -= e->request.bursts;
    e->next = c->free_entry;
    c->free_entry = i;
}

/* When the scheduler must look at the entry that was just appended: as soon as something can be done for
 * it. UINT64_MAX: its bank is being looked after anyway. */
static uint64_t look_at(const struct ww_dram_channel *c, uint32_t i, uint64_t cycle) {
    const struct ww_dram_entry *e = &c->entry[i];
    uint32_t dir = e->request.direction;
    const struct ww_dram_bank *b = &c->bank[e->request.place.bank];
    if (!c->event.queued) return cycle;
    if (dir != c->writing) {
        bool turn = dir == WW_DRAM_WRITE ? c->bursts[dir] >= c->dram->write_high || !c->count[WW_DRAM_READ]
                                         : c->count[dir] == 1;
        return turn ? cycle : UINT64_MAX;
    }
    if (b->hit[dir] == i) return ww_dram_max(cycle, ww_dram_column_time(c, b, dir));
    if (b->head[dir] == i) return ww_dram_max(cycle, ww_dram_row_time(c, b));
    return UINT64_MAX;
}

void ww_dram_push(struct ww_dram *d, uint32_t channel, const struct ww_dram_request *request, uint64_t now_ps) {
    struct ww_dram_channel *c = &d->channel[channel];
    assert(c->bursts[request->direction] < d->depth);
    uint32_t i = c->free_entry;
    struct ww_dram_entry *e = &c->entry[i];
    c->free_entry = e->next;
    uint64_t cycle = ww_clock_cycle(&d->clock, now_ps);
    if (!c->event.queued) ww_dram_refresh(c, cycle);
    *e = (struct ww_dram_entry){
        .request = *request, .arrival = cycle, .order = c->order++, .bursts_left = request->bursts};
    uint32_t sectors = ww_bits8(request->mask) << d->sector_shift;
    d->counter[request->direction == WW_DRAM_READ ? WW_C_DRAM_SECTOR_READ : WW_C_DRAM_SECTOR_WRITE] += sectors;
    append(c, i);
    uint64_t when = look_at(c, i, cycle);
    if (when != UINT64_MAX) ww_queue_earlier(d->queue, &c->event, ww_clock_time(&d->clock, when));
}

/* ---- scheduling ------------------------------------------------------------------------------ */

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
    uint32_t column_bank[GROUPS_MAX]; /* of each bank group that has one, the bank with the best command */
    uint64_t ready[GROUPS_MAX];       /* by its bank and group */
    uint64_t order[GROUPS_MAX];       /* age of its entry */
    uint32_t columns;
    uint32_t row_bank; /* oldest whose row command's time has come; WW_DRAM_NONE: none */
    uint32_t rows;     /* banks whose row command's time has come */
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

/* Of two banks of one group with hits: whose column command goes first? */
static bool column_before(const struct ww_dram_channel *c, uint32_t a, uint32_t b, uint32_t dir,
                          uint64_t cycle) {
    uint64_t ready_a = c->bank[a].col_ready, ready_b = c->bank[b].col_ready;
    if (ready_a < cycle) ready_a = cycle;
    if (ready_b < cycle) ready_b = cycle;
    if (ready_a != ready_b) return ready_a < ready_b;
    return c->entry[c->bank[a].hit[dir]].order < c->entry[c->bank[b].hit[dir]].order;
}

static void add_column(const struct ww_dram_channel *c, struct choice *best, uint32_t bank, uint32_t dir,
                       uint64_t cycle) {
    const struct ww_dram_bank *b = &c->bank[bank];
    uint32_t i = 0;
    while (i < best->columns && c->bank[best->column_bank[i]].group != b->group) i++;
    if (i == best->columns)
        best->columns++;
    else if (!column_before(c, bank, best->column_bank[i], dir, cycle))
        return;
    best->column_bank[i] = bank;
    best->ready[i] = ww_dram_max(b->col_ready, c->group_ready[b->group]);
    best->order[i] = c->entry[b->hit[dir]].order;
}

static void look(const struct ww_dram_channel *c, uint64_t cycle, struct choice *best) {
    enum ww_dram_direction dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    best->columns = best->rows = 0;
    best->row_bank = WW_DRAM_NONE;
    best->next_row = UINT64_MAX;
    for (uint32_t n = 0; n < c->busy_count[dir]; n++) {
        uint32_t bank = c->busy[dir][n];
        const struct ww_dram_bank *b = &c->bank[bank];
        if (b->hit[dir] != WW_DRAM_NONE && !starved(c, b, dir, cycle)) {
            add_column(c, best, bank, dir, cycle);
            continue;
        }
        uint64_t time = ww_dram_row_time(c, b), order = c->entry[b->head[dir]].order;
        if (time > cycle) {
            if (time < best->next_row) best->next_row = time;
        } else {
            if (best->row_bank == WW_DRAM_NONE || order < best->row_order) {
                best->row_bank = bank;
                best->row_order = order;
            }
            best->rows++;
        }
    }
}

static void open_for_head(struct ww_dram_channel *c, uint32_t bank, uint64_t cycle) {
    struct ww_dram_bank *b = &c->bank[bank];
    uint32_t dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ, head = b->head[dir];
    uint32_t row = c->entry[head].request.place.row;
    ww_dram_open_row(c, b, row, cycle);
    c->entry[head].row_opened = true;
    b->hit[dir] = head;
    b->hit[!dir] = find_row(c, b->head[!dir], row);
}

/* Begins the row changes whose time has come, the oldest entry's first, and makes the choice good for what
 * comes after. */
static void open_rows(struct ww_dram_channel *c, uint64_t cycle, struct choice *best) {
    uint32_t dir = c->writing ? WW_DRAM_WRITE : WW_DRAM_READ;
    uint64_t trp = c->dram->timing.trp;
    while (best->row_bank != WW_DRAM_NONE) {
        uint32_t bank = best->row_bank;
        open_for_head(c, bank, cycle);
        uint64_t slot = ww_dram_max(c->act_ready, c->faw[c->faw_next]);
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
    for (uint32_t i = 0; i < best->columns; i++) {
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
        uint32_t i = earliest(c, best, dir, &time), bank = best->column_bank[i];
        *next = time;
        if (time >= end) return false;
        struct ww_dram_bank *b = &c->bank[bank];
        struct ww_dram_entry *e = &c->entry[b->hit[dir]];
        uint64_t data_end = ww_dram_issue_column(c, b, dir, time);
        best->ready[i] = c->group_ready[b->group];
        c->dram->counter[WW_C_DRAM_ROW_HIT] += !e->row_opened;
        e->row_opened = false;
        if (--e->bursts_left) continue;
        end_entry(c, bank, dir, time, data_end);
        if (b->hit[dir] == WW_DRAM_NONE || may_turn(c)) return true;
        best->order[i] = c->entry[b->hit[dir]].order;
    }
}

/* Issues what can be issued at `cycle` (column commands: a little ahead); returns the cycle at which to look
 * again, UINT64_MAX if the queues are empty. */
static uint64_t schedule(struct ww_dram_channel *c, uint64_t cycle) {
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

static void channel_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_dram_channel *c = owner;
    uint64_t cycle = ww_clock_cycle(&c->dram->clock, now_ps);
    ww_dram_refresh(c, cycle);
    uint64_t next = schedule(c, cycle);
    if (next != UINT64_MAX) ww_queue_earlier(c->dram->queue, event, ww_clock_time(&c->dram->clock, next));
}

/* ---- life ------------------------------------------------------------------------------------ */

static void set_timing(struct ww_dram *d, const struct ww_gpu_spec *gpu) {
    d->timing = (struct ww_dram_timing){.tcl = gpu->dram_tcl,
                                        .twl = gpu->dram_twl,
                                        .trcd = gpu->dram_trcd,
                                        .trp = gpu->dram_trp,
                                        .tras = gpu->dram_tras,
                                        .trrd = gpu->dram_trrd,
                                        .tfaw = gpu->dram_tfaw,
                                        .tccd = gpu->dram_tccd,
                                        .tccd_l = gpu->dram_tccd_l,
                                        .twr = gpu->dram_twr,
                                        .twtr = gpu->dram_twtr,
                                        .trtp = gpu->dram_trtp,
                                        .trefi = gpu->dram_trefi,
                                        .trfc = gpu->dram_trfc,
                                        .burst = gpu->dram_burst / gpu->dram_data_rate,
                                        .latency = gpu->dram_latency,
                                        .refresh_step = gpu->dram_trefi,
                                        .closed_page = gpu->dram_page == 1,
                                        .bank_refresh = gpu->dram_refresh == 1};
    if (d->timing.bank_refresh) d->timing.refresh_step = gpu->dram_trefi / gpu->dram_banks;
    if (gpu->dram_trefi && !d->timing.refresh_step) d->timing.refresh_step = 1;
    while (gpu->l2_sector / 32 >> (d->sector_shift + 1)) d->sector_shift++;
    d->depth = gpu->dram_queue;
    d->write_high = d->depth * 3 / 4 ? d->depth * 3 / 4 : 1;
    d->write_low = d->depth / 4;
}

static bool channel_init(struct ww_dram *d, uint32_t index, struct ww_arena *arena) {
    struct ww_dram_channel *c = &d->channel[index];
    uint32_t entries = 2 * d->depth;
    c->event = (struct ww_event){.fn = channel_event, .owner = c};
    c->dram = d;
    c->index = index;
    c->bank = ww_arena_array(arena, d->banks, sizeof *c->bank);
    c->entry = ww_arena_array(arena, entries, sizeof *c->entry);
    c->group_ready = ww_arena_array(arena, d->groups, sizeof *c->group_ready);
    c->busy[0] = ww_arena_array(arena, d->banks, sizeof *c->busy[0]);
    c->busy[1] = ww_arena_array(arena, d->banks, sizeof *c->busy[1]);
    if (!c->bank || !c->entry || !c->group_ready || !c->busy[0] || !c->busy[1]) return false;
    for (uint32_t i = 0; i < entries; i++) c->entry[i].next = i + 1 < entries ? i + 1 : WW_DRAM_NONE;
    for (uint32_t i = 0; i < d->banks; i++) {
        struct ww_dram_bank *b = &c->bank[i];
        b->group = i & (d->groups - 1);
        for (int dir = 0; dir < 2; dir++) b->head[dir] = b->tail[dir] = b->hit[dir] = WW_DRAM_NONE;
    }
    /* Channels refresh one after another, so that they do not all stop at once. */
    c->refresh_due = d->timing.refresh_step * (index + 1) / d->channels;
    return true;
}

struct ww_dram *ww_dram_new(const struct ww_gpu_spec *gpu, struct ww_queue *queue,
                            const struct ww_dram_client *client, uint64_t *counter, struct ww_arena *arena) {
    struct ww_dram *d = ww_arena_alloc(arena, sizeof *d);
    if (!d) return NULL;
    set_timing(d, gpu);
    ww_clock_init(&d->clock, gpu->clock_dram_mhz);
    d->queue = queue;
    d->client = *client;
    d->counter = counter;
    d->channels = gpu->dram_channels;
    d->banks = gpu->dram_banks;
    d->groups = gpu->dram_bank_groups;
    d->channel = ww_arena_array(arena, d->channels, sizeof *d->channel);
    if (!d->channel) return NULL;
    for (uint32_t i = 0; i < d->channels; i++)
        if (!channel_init(d, i, arena)) return NULL;
    return d;
}

void ww_dram_settle(struct ww_dram *d, uint64_t now_ps) {
    uint64_t cycle = ww_clock_cycle(&d->clock, now_ps);
    for (uint32_t i = 0; i < d->channels; i++) {
        struct ww_dram_channel *c = &d->channel[i];
        ww_dram_refresh(c, cycle);
        if (c->open_banks && cycle > c->open_since) {
            d->counter[WW_C_DRAM_ACTIVE_CYCLES] += cycle - c->open_since;
            c->open_since = cycle;
        }
    }
    d->counter[WW_C_DRAM_CYCLES] += (cycle - d->settled) * d->channels;
    d->settled = cycle;
}

void ww_dram_count(const struct ww_dram *d, uint64_t now_ps, uint64_t *counter) {
    uint64_t cycle = ww_clock_cycle(&d->clock, now_ps);
    for (uint32_t i = 0; i < d->channels; i++) {
        const struct ww_dram_channel *c = &d->channel[i];
        uint64_t end = d->timing.trefi && c->refresh_due < cycle ? c->refresh_due : cycle;
        /* A refresh that is due closes the rows, which an idle channel learns later. */
        if (c->open_banks && end > c->open_since) counter[WW_C_DRAM_ACTIVE_CYCLES] += end - c->open_since;
    }
    counter[WW_C_DRAM_CYCLES] += (cycle - d->settled) * d->channels;
}
