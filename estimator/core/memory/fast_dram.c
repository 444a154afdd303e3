/* DRAM of fast replay: banks that remember rows, calendars for the bus, bank groups and activates. */
#include "dram_channel.h"
#include "fast.h"

/* The bank is refreshed when it is due: what it has open is closed. */
static void refresh_bank(struct ww_fast *f, struct ww_fast_channel *c, struct ww_fast_bank *b) {
    const struct ww_dram_timing *t = &f->dram->timing;
    uint64_t start = c->refresh_due;
    for (uint32_t k = 0; k < WW_FAST_ROWS; k++) {
        struct ww_fast_row *r = &b->row[k];
        if (r->until <= c->refresh_due) continue;
        if (r->until == UINT64_MAX) f->counter[WW_C_DRAM_PRECHARGE]++;
        start = ww_dram_max(start, ww_dram_max(r->pre, c->refresh_due) + t->trp);
        r->until = start - t->trp;
    }
    b->closed = start + t->trfc;
}

/* All banks, due at c->refresh_due. What has the bus booked goes on; the bus is free for nobody as long. */
static void refresh_all(struct ww_fast *f, struct ww_fast_channel *c) {
    const struct ww_dram_timing *t = &f->dram->timing;
    for (uint32_t i = 0; i < f->dram->banks; i++) refresh_bank(f, c, &c->bank[i]);
    if (c->open_since < c->refresh_due) f->counter[WW_C_DRAM_ACTIVE_CYCLES] += c->refresh_due - c->open_since;
    c->open_since = UINT64_MAX;
    if (t->trfc < WW_CALENDAR_WINDOWS << (WW_CALENDAR_SHIFT - 1))
        ww_calendar_take(&c->bus, c->refresh_due, (uint32_t)t->trfc << WW_CALENDAR_UNIT);
}

static void refresh(struct ww_fast *f, struct ww_fast_channel *c, uint64_t cycle) {
    const struct ww_dram_timing *t = &f->dram->timing;
    if (!t->trefi || c->refresh_due > cycle) return;
    uint64_t round = t->bank_refresh ? t->refresh_step * f->dram->banks : t->trefi;
    uint64_t missed = (cycle - c->refresh_due) / round;
    if (missed > 1) { /* idle since then: all but the last of them only count */
        f->counter[WW_C_DRAM_REFRESH] += missed - 1;
        c->refresh_due += (missed - 1) * round;
    }
    while (c->refresh_due <= cycle) {
        if (!t->bank_refresh) {
            refresh_all(f, c);
        } else {
            refresh_bank(f, c, &c->bank[c->refresh_bank]);
            if (++c->refresh_bank == f->dram->banks) c->refresh_bank = 0;
        }
        if (!t->bank_refresh || !c->refresh_bank) f->counter[WW_C_DRAM_REFRESH]++;
        c->refresh_due += t->refresh_step;
    }
}

/* The bank opens a row, asked for at `cycle`: between those that it has open before and after, if there is
 * time, else behind the last. Returns the row's record. */
static struct ww_fast_row *open_row(struct ww_fast *f, struct ww_fast_channel *c, struct ww_fast_bank *b,
                                    uint32_t row, uint64_t cycle) {
    const struct ww_dram_timing *t = &f->dram->timing;
    uint64_t ready = cycle < b->closed && cycle + t->trfc + t->trp >= b->closed ? b->closed : cycle;
    uint64_t busy = t->tras + t->trp;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < WW_FAST_ROWS; k++) {
            const struct ww_fast_row *r = &b->row[k];
            if (r->until <= ready || ready + busy <= r->act) continue; /* closed by then, or opened after it */
            if (ready >= r->pre + t->trp && r->until == UINT64_MAX) continue;
            uint64_t at = ww_dram_max(r->pre, cycle) + t->trp;
            if (at <= ready) continue;
            ready = at;
            again = true;
        }
    }
    uint64_t act = ww_calendar_take(&c->activates, ready, f->activate_units);
    struct ww_fast_row *new = &b->row[b->next], *r;
    uint64_t until = UINT64_MAX;
    for (r = b->row; r < b->row + WW_FAST_ROWS; r++) {
        if (r->act > act && r->act - t->trp < until) until = r->act - t->trp;
        if (r->act <= act && r->until > act - t->trp) {
            if (r->until == UINT64_MAX) f->counter[WW_C_DRAM_PRECHARGE]++;
            r->until = act - t->trp;
        }
    }
    if (until != UINT64_MAX) f->counter[WW_C_DRAM_PRECHARGE]++;
    f->counter[WW_C_DRAM_ACTIVATE]++;
    if (act < c->open_since) c->open_since = act;
    b->next = (b->next + 1) % WW_FAST_ROWS;
    *new = (struct ww_fast_row){.act = act, .pre = act + t->tras, .until = until, .row = row};
    return new;
}

/* The controller drains writes in batches, and turns the bus for each if reads use it, too. */
static void turn(struct ww_fast *f, struct ww_fast_channel *c, uint32_t bursts, uint64_t cycle) {
    const struct ww_dram *d = f->dram;
    uint32_t batch = d->write_high > d->write_low ? d->write_high - d->write_low : 1;
    c->written += bursts;
    if (c->written < batch) return;
    c->written = 0;
    if (c->read)
        ww_calendar_take(&c->bus, cycle,
                         (uint32_t)(d->timing.twtr + d->timing.tcl + WW_DRAM_TURNAROUND) << WW_CALENDAR_UNIT);
    c->read = false;
}

/* When the last of so many bursts of the bank's open row is issued, the first not before `cycle`. */
static uint64_t columns(struct ww_fast *f, struct ww_fast_channel *c, uint32_t group, uint32_t bursts,
                        uint64_t cycle) {
    const struct ww_dram_timing *t = &f->dram->timing;
    uint64_t last = 0;
    if (c->group) {
        uint32_t units = (uint32_t)t->group_gap << WW_CALENDAR_UNIT;
        cycle = ww_calendar_take(&c->group[group], cycle, bursts * units);
        last = cycle + (bursts - 1) * t->group_gap;
    }
    cycle = ww_calendar_take(&c->bus, cycle, bursts * (uint32_t)t->gap << WW_CALENDAR_UNIT);
    return ww_dram_max(last, cycle + (bursts - 1) * t->gap);
}

static void count(struct ww_fast *f, uint8_t mask, uint32_t bursts, bool opened,
                  enum ww_dram_direction direction) {
    struct ww_dram *d = f->dram;
    bool reads = direction == WW_DRAM_READ;
    f->counter[reads ? WW_C_DRAM_SECTOR_READ : WW_C_DRAM_SECTOR_WRITE] += ww_bits8(mask) << d->sector_shift;
    f->counter[reads ? WW_C_DRAM_BURST_READ : WW_C_DRAM_BURST_WRITE] += bursts;
    f->counter[WW_C_DRAM_BUSY_CYCLES] += bursts * d->timing.burst;
    f->counter[WW_C_DRAM_ROW_HIT] += bursts - opened;
}

/* The last column command for the row at `place`. */
static uint64_t access_row(struct ww_fast *f, struct ww_fast_channel *c, struct ww_dram_place place,
                           uint8_t mask, enum ww_dram_direction direction, uint64_t cycle) {
    const struct ww_dram_timing *t = &f->dram->timing;
    struct ww_fast_bank *b = &c->bank[place.bank];
    uint32_t bursts = ww_bits8(mask) * f->l2->bursts_per_sector, k = 0;
    while (k < WW_FAST_ROWS && (b->row[k].row != place.row || b->row[k].until <= cycle)) k++;
    bool opened = k == WW_FAST_ROWS;
    struct ww_fast_row *r = opened ? open_row(f, c, b, place.row, cycle) : &b->row[k];
    count(f, mask, bursts, opened, direction);
    if (direction == WW_DRAM_WRITE) turn(f, c, bursts, cycle);
    c->read |= direction == WW_DRAM_READ;
    uint64_t last =
        columns(f, c, place.bank & (f->dram->groups - 1), bursts, ww_dram_max(cycle, r->act + t->trcd));
    uint64_t pre = last + (direction == WW_DRAM_READ ? t->trtp : t->twl + t->burst + t->twr);
    if (pre > r->pre) r->pre = pre;
    if (t->closed_page && r->until == UINT64_MAX) {
        f->counter[WW_C_DRAM_PRECHARGE]++;
        r->until = r->pre;
    }
    return last;
}

uint64_t ww_fast_dram(struct ww_fast *f, uint32_t slice, uint64_t number, uint8_t mask,
                      enum ww_dram_direction direction, uint64_t cycle, uint64_t *issued) {
    struct ww_dram *d = f->dram;
    const struct ww_clock *l2 = f->l2->clock;
    struct ww_fast_channel *c = &f->channel[f->l2->slice[slice].channel];
    struct ww_dram_place place = ww_addrmap_dram(f->l2->map, slice, number << f->l2->line_shift);
    uint64_t at = ww_clock_cycle(&d->clock, ww_clock_time(l2, cycle));
    refresh(f, c, at);
    uint64_t last = access_row(f, c, place, mask, direction, at);
    uint64_t end = last + (direction == WW_DRAM_READ ? d->timing.tcl : d->timing.twl) + d->timing.burst;
    if (direction == WW_DRAM_READ) end += d->timing.latency;
    *issued = ww_clock_cycle(l2, ww_clock_time(&d->clock, last));
    uint64_t ps = ww_clock_time(&d->clock, end);
    if (direction == WW_DRAM_WRITE && ps > f->busy_until) f->busy_until = ps;
    return ww_clock_cycle(l2, ps);
}

bool ww_fast_dram_init(struct ww_fast *f, const struct ww_gpu_spec *gpu, struct ww_arena *arena) {
    struct ww_dram *d = f->dram;
    uint64_t quarter = ((d->timing.tfaw << WW_CALENDAR_UNIT) + 3) / 4,
             trrd = d->timing.trrd << WW_CALENDAR_UNIT;
    f->activate_units = (uint32_t)ww_dram_max(quarter, trrd);
    f->channel = ww_arena_array(arena, d->channels, sizeof *f->channel);
    if (!f->channel) return false;
    for (uint32_t i = 0; i < d->channels; i++) {
        struct ww_fast_channel *c = &f->channel[i];
        c->refresh_due = d->channel[i].refresh_due;
        c->bank = ww_arena_array(arena, d->banks, sizeof *c->bank);
        if (!c->bank) return false;
        for (uint32_t b = 0; b < d->banks; b++)
            for (uint32_t k = 0; k < WW_FAST_ROWS; k++) c->bank[b].row[k].row = UINT32_MAX;
        c->open_since = UINT64_MAX;
        if (d->timing.group_gap > d->timing.gap &&
            !(c->group = ww_arena_array(arena, d->groups, sizeof *c->group)))
            return false;
        for (uint32_t dir = 0; dir < 2; dir++) c->room[dir].limit = gpu->dram_queue;
    }
    return true;
}

void ww_fast_dram_settle(struct ww_fast *f, uint64_t now_ps) {
    struct ww_dram *d = f->dram;
    uint64_t cycle = ww_clock_cycle(&d->clock, now_ps);
    for (uint32_t i = 0; i < d->channels; i++) {
        struct ww_fast_channel *c = &f->channel[i];
        refresh(f, c, cycle);
        if (cycle <= c->open_since) continue;
        f->counter[WW_C_DRAM_ACTIVE_CYCLES] += cycle - c->open_since;
        c->open_since = cycle;
    }
    f->counter[WW_C_DRAM_CYCLES] += (cycle - d->settled) * d->channels;
    d->settled = cycle;
}

void ww_fast_dram_count(const struct ww_fast *f, uint64_t now_ps, uint64_t *counter) {
    const struct ww_dram *d = f->dram;
    uint64_t cycle = ww_clock_cycle(&d->clock, now_ps);
    for (uint32_t i = 0; i < d->channels; i++) {
        const struct ww_fast_channel *c = &f->channel[i];
        uint64_t end = d->timing.trefi && c->refresh_due < cycle ? c->refresh_due : cycle;
        if (end > c->open_since) counter[WW_C_DRAM_ACTIVE_CYCLES] += end - c->open_since;
    }
    counter[WW_C_DRAM_CYCLES] += (cycle - d->settled) * d->channels;
}
