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

static void append(struct ww_dram_channel *c, uint32_t i) {
    struct ww_dram_entry *e = &c->entry[i];
    uint32_t bank = e->request.place.bank, dir = e->request.direction;
    struct ww_dram_bank *b = &c->bank[bank];
    e->next = WW_DRAM_NONE;
    e->previous = b->tail[dir];
    if (b->tail[dir] == WW_DRAM_NONE) {
        b->head[dir] = i;
        c->head_order[dir][bank] = e->order;
        c->busy[dir][bank >> 6] |= (uint64_t)1 << (bank & 63);
    } else {
        c->entry[b->tail[dir]].next = i;
    }
    b->tail[dir] = i;
    c->count[dir]++;
    c->room.bursts[dir] += e->request.bursts;
    if (b->open && b->hit[dir] == WW_DRAM_NONE && b->row == e->request.place.row)
        ww_dram_set_hit(c, bank, dir, i);
}

/* When the scheduler must look at the entry that was just appended: as soon as something can be done for
 * it. UINT64_MAX: the scheduler looks at its bank anyway. */
static uint64_t look_at(const struct ww_dram_channel *c, uint32_t i, uint64_t cycle) {
    const struct ww_dram_entry *e = &c->entry[i];
    uint32_t dir = e->request.direction;
    const struct ww_dram_bank *b = &c->bank[e->request.place.bank];
    if (!c->event.queued) return cycle;
    if (dir != c->writing) {
        bool turn = dir == WW_DRAM_WRITE ? c->room.bursts[dir] >= c->dram->write_high || !c->count[WW_DRAM_READ]
                                         : c->count[dir] == 1;
        return turn ? cycle : UINT64_MAX;
    }
    if (b->hit[dir] == i) return ww_dram_max(cycle, ww_dram_column_time(c, b, dir));
    if (b->head[dir] == i) return ww_dram_max(cycle, ww_dram_row_time(c, b, ww_dram_slot(c)));
    return UINT64_MAX;
}

struct ww_dram_request *ww_dram_next(struct ww_dram *d, uint32_t channel) {
    const struct ww_dram_channel *c = &d->channel[channel];
    return &c->entry[c->free_entry].request;
}

void ww_dram_push(struct ww_dram *d, uint32_t channel, uint64_t now_ps) {
    struct ww_dram_channel *c = &d->channel[channel];
    uint32_t i = c->free_entry;
    struct ww_dram_entry *e = &c->entry[i];
    const struct ww_dram_request *request = &e->request;
    assert(c->room.bursts[request->direction] < d->depth);
    c->free_entry = e->next;
    uint64_t cycle = ww_clock_cycle(&d->clock, now_ps);
    if (!c->event.queued) ww_dram_refresh(c, cycle);
    e->arrival = cycle;
    e->order = c->order++;
    e->bursts_left = request->bursts;
    e->row_opened = false;
    uint32_t sectors = ww_bits8(request->mask) << d->sector_shift;
    d->counter[request->direction == WW_DRAM_READ ? WW_C_DRAM_SECTOR_READ : WW_C_DRAM_SECTOR_WRITE] += sectors;
    append(c, i);
    uint64_t when = look_at(c, i, cycle);
    if (when != UINT64_MAX) ww_queue_earlier(d->queue, &c->event, ww_clock_time(&d->clock, when));
}

/* ---- life ------------------------------------------------------------------------------------ */

static void channel_event(void *owner, struct ww_event *event, uint64_t now_ps) {
    struct ww_dram_channel *c = owner;
    uint64_t cycle = ww_clock_cycle(&c->dram->clock, now_ps);
    ww_dram_refresh(c, cycle);
    uint64_t next = ww_dram_schedule(c, cycle);
    if (next != UINT64_MAX) ww_queue_earlier(c->dram->queue, event, ww_clock_time(&c->dram->clock, next));
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
    c->room.depth = d->depth;
    c->bank = ww_arena_array(arena, d->banks, sizeof *c->bank);
    c->entry = ww_arena_array(arena, entries, sizeof *c->entry);
    c->group_ready = ww_arena_array(arena, d->groups, sizeof *c->group_ready);
    c->best = ww_arena_array(arena, d->groups, sizeof *c->best);
    c->row_at = ww_arena_array(arena, d->banks, sizeof *c->row_at);
    for (int dir = 0; dir < 2; dir++)
        if (!(c->head_order[dir] = ww_arena_array(arena, d->banks, sizeof *c->head_order[dir]))) return false;
    if (!c->bank || !c->row_at || !c->entry || !c->group_ready || !c->best) return false;
    for (uint32_t i = 0; i < entries; i++) c->entry[i].next = i + 1 < entries ? i + 1 : WW_DRAM_NONE;
    for (uint32_t i = 0; i < d->banks; i++) {
        struct ww_dram_bank *b = &c->bank[i];
        b->index = i;
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
    d->all_groups = UINT64_MAX >> (64 - d->groups);
    d->bank_words = (d->banks + 63) / 64;
    for (uint32_t bank = 0; bank < 64; bank += d->groups) d->group_mask |= (uint64_t)1 << bank;
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
