/* DRAM channels: queues, FR-FCFS scheduling, bank and bus timing, refresh. */
#include "../../result/result.h"
#include "dram_channel.h"

#include "../../base/bits.h"
#include <assert.h>

uint32_t ww_dram_bursts_per_sector(const struct ww_gpu_spec *gpu) {
    uint32_t burst_bytes = gpu->dram_bus_bits / 8 * gpu->dram_burst;
    uint32_t bursts = gpu->l2_sector / (burst_bytes ? burst_bytes : 1);
    return bursts ? bursts : 1;
}

struct ww_clock *ww_dram_clock(struct ww_dram *d) {
    return &d->clock;
}

struct ww_dram_room *ww_dram_room(struct ww_dram *d, uint32_t channel) {
    return &d->channel[channel].room;
}

uint32_t ww_dram_waiting(const struct ww_dram *d, uint32_t channel, enum ww_dram_direction direction) {
    return d->channel[channel].count[direction];
}

/* ---- queues ---------------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

/* When the scheduler must look at entry n, which was just appended at `cycle`: as soon as something can be done
 * for it. WW_DRAM_NEVER: the scheduler looks at its bank anyway. hits: it is the bank's only one for the open
 * row; first: it is the bank's only one. */
INLINE int32_t look_at(const struct ww_dram_channel *c, const struct ww_dram_block *b, uint32_t bank,
                       uint32_t dir, bool hits, bool first, int32_t cycle) {
    if (!c->event.queued) return cycle;
    if (dir != c->writing) {
        bool turn = dir == WW_DRAM_WRITE ? c->room.bursts[dir] >= c->dram->write_high || !c->count[WW_DRAM_READ]
                                         : c->count[dir] == 1;
        return turn ? cycle : WW_DRAM_NEVER;
    }
    if (hits) {
        int32_t group = c->group_ready[bank & (c->dram->groups - 1)];
        int32_t ready =
            ww_dram_later(ww_dram_later(b->column_ready[bank % WW_DRAM_BLOCK], group), c->column_ready[dir]);
        return ww_dram_later(cycle, ready);
    }
    if (first) return ww_dram_later(cycle, ww_dram_later(b->row_ready[bank % WW_DRAM_BLOCK], c->row_slot));
    return WW_DRAM_NEVER;
}

/* Appends entry n at `cycle`; returns when the scheduler must look at it. */
INLINE int32_t append(struct ww_dram_channel *c, uint32_t n, uint32_t dir, int32_t cycle) {
    const struct ww_dram_request *r = &c->entry[n].request;
    const uint32_t bank = r->place.bank, i = bank % WW_DRAM_BLOCK;
    struct ww_dram_block *b = ww_dram_block(c, bank);
    struct ww_dram_link *l = &c->link[n];
    const uint16_t previous = b->of[dir].tail[i];
    const bool first = previous == WW_DRAM_NONE;
    *l = (struct ww_dram_link){.row = r->place.row,
                               .next = WW_DRAM_NONE,
                               .previous = previous,
                               .order = ww_dram_order(c->age++, bank),
                               .arrival = cycle};
    b->of[dir].tail[i] = (uint16_t)n;
    c->count[dir]++;
    c->room.bursts[dir] += r->bursts;
    if (first) {
        b->of[dir].head[i] = (uint16_t)n;
        b->of[dir].head_order[i] = l->order;
    } else {
        c->link[previous].next = (uint16_t)n;
    }
    bool hits = b->of[dir].hit[i] == WW_DRAM_NONE && b->open[i] && b->row[i] == l->row;
    if (hits)
        ww_dram_set_hit(c, b, i, dir, n);
    else if (first)
        b->of[dir].row_at[i] = b->row_ready[i];
    return look_at(c, b, bank, dir, hits, first, cycle);
}

/* The oldest of the entries that `next` names, by bank and direction, of whatever direction it is; NULL: none.
 */
static uint16_t *oldest_of(const struct ww_dram_channel *c, uint16_t *next) {
    uint16_t *oldest = NULL;
    for (uint32_t k = 0; k < 2 * c->dram->banks; k++)
        if (next[k] != WW_DRAM_NONE && (!oldest || c->link[next[k]].order < c->link[*oldest].order))
            oldest = &next[k];
    return oldest;
}

/* Numbers the ages of the entries that wait from 0 on. */
static __attribute__((noinline)) void renumber(struct ww_dram_channel *c) {
    uint16_t next[2 * WW_DRAM_BANKS], *oldest;
    for (uint32_t k = 0; k < 2 * c->dram->banks; k++)
        next[k] = ww_dram_block(c, k / 2)->of[k % 2].head[k / 2 % WW_DRAM_BLOCK];
    for (c->age = 0; (oldest = oldest_of(c, next)); c->age++) {
        struct ww_dram_link *l = &c->link[*oldest];
        *oldest = l->next;
        l->order = ww_dram_order(c->age, ww_dram_bank_of(l->order));
    }
    for (uint32_t k = 0; k < 2 * c->dram->banks; k++) {
        struct ww_dram_block *b = ww_dram_block(c, k / 2);
        uint32_t dir = k % 2, i = k / 2 % WW_DRAM_BLOCK;
        if (b->of[dir].head[i] != WW_DRAM_NONE) b->of[dir].head_order[i] = c->link[b->of[dir].head[i]].order;
        if (b->of[dir].hit[i] != WW_DRAM_NONE) b->of[dir].hit_order[i] = c->link[b->of[dir].hit[i]].order;
    }
}

void ww_dram_push(struct ww_dram *d, uint32_t channel, uint64_t now_ps) {
    struct ww_dram_channel *c = &d->channel[channel];
    uint32_t n = c->free_entry;
    struct ww_dram_entry *e = &c->entry[n];
    const struct ww_dram_request *request = &e->request;
    assert(c->room.bursts[request->direction] < d->depth);
    ww_dram_set_free(c, c->link[n].next);
    uint64_t cycle = ww_clock_noted_cycle(&d->pushed, &d->clock, now_ps);
    if (!c->event.queued) ww_dram_refresh(c, cycle);
    if (c->age == WW_DRAM_AGES) renumber(c);
    int32_t time = ww_dram_from_base(c, cycle), when;
    c->pushed++;
    e->bursts_left = request->bursts;
    e->row_opened = false;
    uint64_t sectors = (uint64_t)ww_bits8(request->mask) << d->sector_shift;
    if (request->direction == WW_DRAM_READ) {
        d->counter[WW_C_DRAM_SECTOR_READ] += sectors;
        when = append(c, n, WW_DRAM_READ, time);
    } else {
        d->counter[WW_C_DRAM_SECTOR_WRITE] += sectors;
        when = append(c, n, WW_DRAM_WRITE, time);
    }
    if (when != WW_DRAM_NEVER)
        ww_queue_earlier(d->queue, &c->event, ww_clock_time(&d->clock, c->base + (uint32_t)when));
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Of JESD212 and JESD235, from column command to column command and row command. */
static void set_columns(struct ww_dram *d) {
    const struct ww_dram_timing *t = &d->timing;
    int32_t read = (int32_t)(t->tcl + t->burst), write = (int32_t)(t->twl + t->burst);
    d->column[WW_DRAM_READ] = (struct ww_dram_column){.gap = (int32_t)t->gap,
                                                      .other = read + WW_DRAM_TURNAROUND - (int32_t)t->twl,
                                                      .row = (int32_t)t->trtp,
                                                      .data = read};
    d->column[WW_DRAM_WRITE] = (struct ww_dram_column){.gap = (int32_t)t->gap,
                                                       .other = write + (int32_t)t->twtr,
                                                       .row = write + (int32_t)t->twr,
                                                       .data = write};
}

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
    d->timing.gap = ww_dram_max(d->timing.tccd, d->timing.burst);
    d->timing.group_gap = ww_dram_max(d->timing.tccd_l, d->timing.gap);
    if (d->timing.bank_refresh) d->timing.refresh_step = gpu->dram_trefi / gpu->dram_banks;
    if (gpu->dram_trefi && !d->timing.refresh_step) d->timing.refresh_step = 1;
    set_columns(d);
    while (gpu->l2_sector / 32 >> (d->sector_shift + 1)) d->sector_shift++;
    d->depth = gpu->dram_queue;
    d->write_high = d->depth * 3 / 4 ? d->depth * 3 / 4 : 1;
    d->write_low = d->depth / 4;
}

static bool channel_init(struct ww_dram *d, uint32_t index, struct ww_arena *arena) {
    struct ww_dram_channel *c = &d->channel[index];
    uint32_t entries = 2 * d->depth;
    c->event = (struct ww_event){.fn = ww_dram_choose_event(d), .owner = c};
    c->dram = d;
    c->index = index;
    c->room.depth = d->depth;
    c->block = d->blocks == 1 ? &c->one_block : ww_arena_lines(arena, d->blocks, sizeof *c->block);
    c->entry = ww_arena_array(arena, entries, sizeof *c->entry);
    c->link = ww_arena_lines(arena, entries, sizeof *c->link);
    c->group_ready = d->lanes == 4 ? c->four_groups : ww_arena_array(arena, d->lanes, sizeof *c->group_ready);
    if (!c->block || !c->entry || !c->link || !c->group_ready) return false;
    for (uint32_t i = 0; i < entries; i++) c->link[i].next = (uint16_t)(i + 1 < entries ? i + 1 : WW_DRAM_NONE);
    for (uint32_t n = 0; n < d->blocks; n++) {
        struct ww_dram_block *b = &c->block[n];
        for (uint32_t i = 0; i < WW_DRAM_BLOCK; i++) {
            b->row_ready[i] = -(int32_t)d->timing.trp;
            for (uint32_t dir = 0; dir < 2; dir++) {
                b->of[dir].head[i] = b->of[dir].tail[i] = b->of[dir].hit[i] = WW_DRAM_NONE;
                ww_dram_set_times(b, i, dir);
            }
        }
    }
    ww_dram_set_free(c, 0);
    ww_dram_set_row_slot(c);
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
    d->blocks = (d->banks + WW_DRAM_BLOCK - 1) / WW_DRAM_BLOCK;
    d->lanes = d->groups < 4 ? 4 : d->groups;
    assert(d->banks <= WW_DRAM_BANKS && d->groups <= WW_DRAM_GROUPS && 2 * d->depth < WW_DRAM_NONE);
    d->channel = ww_arena_lines(arena, d->channels, sizeof *d->channel);
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
