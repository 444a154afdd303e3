/* fast_dram.h: the way of a request through a DRAM channel of fast replay. Between fast_dram.c, fast_read.c and
 * fast_l2.c.
 *
 *   refresh that is due --> batches of writes --> row of the bank --> column commands: bank group, bus */
#ifndef WW_CORE_FAST_DRAM_H
#define WW_CORE_FAST_DRAM_H

#include "dram_channel.h"
#include "fast.h"

/* Refreshes of the channel that are due by `cycle`; there is one. */
void ww_fast_refresh(struct ww_fast *f, struct ww_fast_channel *c, uint64_t cycle);
/* Where a batch of writes has the bus, what is read is read behind it: the cycle from which on its row is
 * wanted. */
uint64_t ww_fast_behind_writes(struct ww_fast_channel *c, uint64_t cycle);
/* The bank opens a row, asked for at `at`: between those that it has open before and after, if there is time,
 * else behind the last. It is valid until the bank opens the next one. */
struct ww_fast_row *ww_fast_open_row(struct ww_fast *f, struct ww_fast_channel *c, struct ww_fast_bank *b,
                                     uint32_t number, int32_t at);

/* Times of rows reach so far from the channel's base on; half of it at most is in the past. */
#define WW_FAST_SPAN (1 << 28)
/* Moves the base. */
void ww_fast_move_base(struct ww_fast *f, struct ww_fast_channel *c, uint64_t cycle);
/* Requests at `cycle` follow. */
static inline void ww_fast_near(struct ww_fast *f, struct ww_fast_channel *c, uint64_t cycle) {
    if ((int64_t)(cycle - c->base) > WW_FAST_SPAN) ww_fast_move_base(f, c, cycle);
}
static inline int32_t ww_fast_most(int32_t a, int32_t b) {
    return a > b ? a : b;
}

/* The bank's row, open at `at` or opened for so many bursts. */
static inline struct ww_fast_row *ww_fast_find_row(struct ww_fast *f, struct ww_fast_channel *c,
                                                   struct ww_fast_bank *b, uint32_t number, uint32_t bursts,
                                                   int32_t at) {
    for (uint32_t k = WW_FAST_ROWS; k--;) {
        struct ww_fast_row *r = &b->row[k];
        if (r->number != number || r->until <= at) continue;
        f->counter[WW_C_DRAM_ROW_HIT] += bursts;
        return r;
    }
    if (bursts > 1) f->counter[WW_C_DRAM_ROW_HIT] += bursts - 1;
    return ww_fast_open_row(f, c, b, number, at);
}

/* When the last of so many bursts of the bank's open row is issued, the first not before `cycle`. */
static inline uint64_t ww_fast_columns(const struct ww_fast *f, struct ww_fast_channel *c, uint32_t bank,
                                       uint32_t bursts, uint64_t cycle) {
    const struct ww_dram_timing *t = &f->dram->timing;
    uint64_t last = 0;
    if (c->group) {
        uint32_t units = (uint32_t)t->group_gap << WW_CALENDAR_UNIT;
        cycle = ww_calendar_take(&c->group[bank & (f->dram->groups - 1)], cycle, bursts * units);
        last = cycle + (bursts - 1) * t->group_gap;
    }
    cycle = ww_calendar_take(&c->bus, cycle, bursts * (uint32_t)t->gap << WW_CALENDAR_UNIT);
    return ww_dram_max(last, cycle + (bursts - 1) * t->gap);
}

/* The last column command for the row is at `last`. */
static inline void ww_fast_used(struct ww_fast *f, struct ww_fast_row *r, enum ww_dram_direction direction,
                                int32_t last) {
    r->pre = ww_fast_most(r->pre, last + (direction == WW_DRAM_READ ? f->times.trtp : f->times.write));
    if (!f->dram->timing.closed_page || r->until != INT32_MAX) return;
    f->counter[WW_C_DRAM_PRECHARGE]++;
    r->until = r->pre;
}

/* The last column command for the row at `place`. */
static inline uint64_t ww_fast_access_row(struct ww_fast *f, struct ww_fast_channel *c,
                                          struct ww_dram_place place, uint32_t bursts,
                                          enum ww_dram_direction direction, uint64_t cycle) {
    int32_t at = (int32_t)(cycle - c->base);
    struct ww_fast_row *r = ww_fast_find_row(f, c, &c->bank[place.bank], place.row, bursts, at);
    uint64_t begin = c->base + (uint64_t)(int64_t)ww_fast_most(at, r->act + f->times.trcd);
    uint64_t last = ww_fast_columns(f, c, place.bank, bursts, begin);
    ww_fast_used(f, r, direction, (int32_t)(last - c->base));
    return last;
}

static inline void ww_fast_count(struct ww_fast *f, uint8_t mask, uint32_t bursts,
                                 enum ww_dram_direction direction) {
    struct ww_dram *d = f->dram;
    bool reads = direction == WW_DRAM_READ;
    f->counter[reads ? WW_C_DRAM_SECTOR_READ : WW_C_DRAM_SECTOR_WRITE] += ww_bits8(mask) << d->sector_shift;
    f->counter[reads ? WW_C_DRAM_BURST_READ : WW_C_DRAM_BURST_WRITE] += bursts;
    f->counter[WW_C_DRAM_BUSY_CYCLES] += bursts * d->timing.burst;
}

/* The queue of reads: its places are counted in L2 cycles less those that it was held for writes, since in
 * these nothing leaves it. */
static inline uint64_t ww_fast_queue_time(const struct ww_fast_channel *c, uint64_t cycle) {
    return cycle > c->reads_held ? cycle - c->reads_held : 0;
}
/* The first L2 cycle from `cycle` on in which it has room. */
static inline uint64_t ww_fast_read_room(struct ww_fast_channel *c, uint64_t cycle) {
    uint64_t time = ww_fast_queue_time(c, cycle);
    return cycle + (ww_places_free(&c->room[WW_DRAM_READ], 1, time) - time);
}
/* So many bursts are in it until their last column command, in L2 cycle `issued`. */
static inline void ww_fast_queue_read(struct ww_fast_channel *c, uint32_t bursts, uint64_t issued) {
    ww_places_take(&c->room[WW_DRAM_READ], bursts, ww_fast_queue_time(c, issued));
}

/* So many bursts of a line are read, asked for at DRAM cycle `at`; returns that of the last column command. */
static inline uint64_t ww_fast_dram_command(struct ww_fast *f, struct ww_fast_channel *c,
                                            struct ww_dram_place place, uint32_t bursts, uint64_t at) {
    ww_fast_near(f, c, at);
    if (c->refresh_due <= at) ww_fast_refresh(f, c, at);
    if (at < c->drained) at = ww_fast_behind_writes(c, at);
    c->read = true;
    return ww_fast_access_row(f, c, place, bursts, WW_DRAM_READ, at);
}

/* The same at L2 cycle `cycle`; returns the L2 cycle at which the last are at the slice. */
static inline uint64_t ww_fast_dram_read_at(struct ww_fast *f, struct ww_fast_channel *c,
                                            struct ww_dram_place place, uint8_t mask, uint64_t cycle) {
    struct ww_dram *d = f->dram;
    const struct ww_clock *l2 = f->l2->clock, *dram = &d->clock;
    uint32_t bursts = ww_bits8(mask) * f->l2->bursts_per_sector;
    uint64_t at = ww_clock_cycle(dram, ww_clock_time(l2, cycle));
    uint64_t last = ww_fast_dram_command(f, c, place, bursts, at);
    ww_fast_count(f, mask, bursts, WW_DRAM_READ);
    uint64_t issued = ww_clock_cycle(l2, ww_clock_time(dram, last));
    ww_fast_queue_read(c, bursts, issued);
    if (c->waiting) ww_places_take(c->waiting, 1, ww_fast_queue_time(c, issued));
    return ww_clock_cycle(l2, ww_clock_time(dram, last + d->timing.tcl + d->timing.burst + d->timing.latency));
}

#endif
