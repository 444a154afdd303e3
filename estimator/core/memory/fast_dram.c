/* DRAM of fast replay: banks that remember rows, calendars for the bus, bank groups and activates. */
#include "fast_dram.h"

/* The bank is refreshed when it is due: what it has open is closed. */
static void refresh_bank(struct ww_fast *f, struct ww_fast_channel *c, struct ww_fast_bank *b) {
    const struct ww_dram_timing *t = &f->dram->timing;
    uint64_t start = c->refresh_due;
    for (uint32_t k = 0; k < WW_FAST_ROWS; k++) {
        if (b->until[k] <= c->refresh_due) continue;
        if (b->until[k] == UINT64_MAX) f->counter[WW_C_DRAM_PRECHARGE]++;
        start = ww_dram_max(start, ww_dram_max(b->pre[k], c->refresh_due) + t->trp);
        b->until[k] = start - t->trp;
    }
    b->closed = start + t->trfc;
}

/* All banks, due at c->refresh_due. Reservations of the bus stay; the bus takes no new ones during the refresh.
 */
static void refresh_all(struct ww_fast *f, struct ww_fast_channel *c) {
    const struct ww_dram_timing *t = &f->dram->timing;
    for (uint32_t i = 0; i < f->dram->banks; i++) refresh_bank(f, c, &c->bank[i]);
    if (c->open_since < c->refresh_due) f->counter[WW_C_DRAM_ACTIVE_CYCLES] += c->refresh_due - c->open_since;
    c->open_since = UINT64_MAX;
    if (t->trfc < WW_CALENDAR_WINDOWS << (WW_CALENDAR_SHIFT - 1))
        ww_calendar_take(&c->bus, c->refresh_due, (uint32_t)t->trfc << WW_CALENDAR_UNIT);
}

void ww_fast_refresh(struct ww_fast *f, struct ww_fast_channel *c, uint64_t cycle) {
    const struct ww_dram_timing *t = &f->dram->timing;
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

/* ---- rows ------------------------------------------------------------------------------------ */

/* The first cycle from `ready` on at which the bank may activate a row between others, or behind them; `cycle`:
 * when it was asked for. */
static inline uint64_t find_gap(const struct ww_dram_timing *t, const struct ww_fast_bank *b, uint64_t cycle,
                                uint64_t ready) {
    const uint64_t trp = t->trp, busy = t->tras + trp;
    uint64_t next[WW_FAST_ROWS],
        end[WW_FAST_ROWS]; /* from `end` on the row is not in the way; else from `next` */
    for (uint32_t k = 0; k < WW_FAST_ROWS; k++) {
        uint64_t closed = b->pre[k] + trp, until = b->until[k];
        next[k] = ww_dram_max(b->pre[k], cycle) + trp;
        end[k] = until == UINT64_MAX ? closed : until < next[k] ? until : next[k];
    }
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < WW_FAST_ROWS; k++) {
            bool waits = (ready < end[k]) & (ready + busy > b->act[k]);
            ready = waits ? next[k] : ready;
            again |= waits;
        }
    }
    return ready;
}

/* A row is activated at `act`: those that are open then are closed before it. Returns the cycle before which it
 * is open itself. */
static inline uint64_t close_others(struct ww_fast *f, struct ww_fast_bank *b, uint64_t act) {
    const uint64_t trp = f->dram->timing.trp;
    uint64_t until = UINT64_MAX;
    for (uint32_t k = 0; k < WW_FAST_ROWS; k++) {
        if (b->act[k] > act) {
            if (b->act[k] - trp < until) until = b->act[k] - trp;
        } else if (b->until[k] > act - trp) {
            if (b->until[k] == UINT64_MAX) f->counter[WW_C_DRAM_PRECHARGE]++;
            b->until[k] = act - trp;
        }
    }
    if (until != UINT64_MAX) f->counter[WW_C_DRAM_PRECHARGE]++;
    return until;
}

uint32_t ww_fast_open_row(struct ww_fast *f, struct ww_fast_channel *c, struct ww_fast_bank *b, uint32_t row,
                          uint64_t cycle) {
    const struct ww_dram_timing *t = &f->dram->timing;
    uint32_t last = b->last, new = b->next;
    uint64_t ready = cycle < b->closed && cycle + t->trfc + t->trp >= b->closed ? b->closed : cycle, act, until;
    if (b->until[last] == UINT64_MAX && ready >= b->act[last]) { /* instead of the last one, which is open */
        uint64_t pre = b->pre[last];
        if (ready < pre + t->trp) ready = ww_dram_max(ready, ww_dram_max(pre, cycle) + t->trp);
        act = ww_calendar_take(&c->activates, ready, f->activate_units);
        f->counter[WW_C_DRAM_PRECHARGE]++;
        b->until[last] = act - t->trp;
        until = UINT64_MAX;
    } else {
        act = ww_calendar_take(&c->activates, find_gap(t, b, cycle, ready), f->activate_units);
        until = close_others(f, b, act);
    }
    f->counter[WW_C_DRAM_ACTIVATE]++;
    if (act < c->open_since) c->open_since = act;
    b->row[new] = row;
    b->until[new] = until;
    b->act[new] = act;
    b->pre[new] = act + t->tras;
    b->next = (uint8_t)((new + 1) % WW_FAST_ROWS);
    if (until == UINT64_MAX && new != last) {
        b->last = (uint8_t) new;
        return new;
    }
    b->last = 0;
    for (uint32_t k = 1; k < WW_FAST_ROWS; k++)
        if (b->act[k] > b->act[b->last]) b->last = (uint8_t)k;
    return new;
}

/* ---- writes ---------------------------------------------------------------------------------- */

/* Takes those of the first *count writes that are of the first one's row out of the list; returns their bursts.
 */
static uint32_t take_row(struct ww_fast_channel *c, uint32_t *count) {
    const struct ww_dram_place place = c->write[0].place;
    uint32_t bursts = 0, left = 0, taken = 0;
    for (uint32_t i = 0; i < c->writes; i++) {
        if (i < *count && c->write[i].place.bank == place.bank && c->write[i].place.row == place.row) {
            bursts += c->write[i].bursts;
            taken++;
        } else {
            c->write[left++] = c->write[i];
        }
    }
    *count -= taken;
    c->writes = left;
    c->write_bursts -= bursts;
    return bursts;
}

/* The controller writes the first `count` writes, for which it turns the bus. Rows are opened side by side, so
 * that it takes as long as the bus, or the bank whose row is open last; a second row of a bank is left to when
 * its time comes, as the controller issues other writes meanwhile. Returns when it turns back. */
static uint64_t write_batch(struct ww_fast *f, struct ww_fast_channel *c, uint32_t count, uint64_t begin) {
    const struct ww_dram_timing *t = &f->dram->timing;
    uint64_t start = begin + t->tcl + t->burst + WW_DRAM_TURNAROUND - t->twl;
    uint64_t end = start, first = UINT64_MAX, bursts = 0, banks[WW_DRAM_BANKS / 64] = {0};
    while (count) {
        const struct ww_dram_place place = c->write[0].place;
        uint64_t *word = &banks[place.bank >> 6], bit = UINT64_C(1) << (place.bank & 63);
        uint32_t n = take_row(c, &count);
        struct ww_fast_bank *b = &c->bank[place.bank];
        uint32_t k = ww_fast_find_row(f, c, b, place.row, n, begin);
        uint64_t at = ww_dram_max(start, b->act[k] + t->trcd), last = at + (n - 1) * t->group_gap;
        ww_fast_used(f, b, k, WW_DRAM_WRITE, last);
        bursts += n;
        if (at < first) first = at;
        if (!(*word & bit) && last + t->gap > end) end = last + t->gap;
        *word |= bit;
    }
    end = ww_dram_max(end, first + bursts * t->gap);
    uint64_t busy = end + t->twl + t->burst + t->twtr - t->gap - begin;
    ww_calendar_take(&c->bus, begin, (uint32_t)busy << WW_CALENDAR_UNIT);
    c->drain[c->drains++ % WW_FAST_DRAINS] = (struct ww_fast_drain){begin, end};
    if (end > c->drained) c->drained = end;
    return end;
}

/* Writes that wait are issued, until so many bursts are left. */
static void drain(struct ww_fast *f, struct ww_fast_channel *c, uint32_t down_to, uint64_t cycle) {
    const struct ww_clock *l2 = f->l2->clock, *dram = &f->dram->clock;
    uint32_t count = 0, bursts = 0;
    uint64_t end = cycle;
    while (count < c->writes && c->write_bursts - bursts > down_to) bursts += c->write[count++].bursts;
    if (c->read)
        end = write_batch(f, c, count, ww_calendar_free(&c->bus, cycle));
    else
        while (count) {
            const struct ww_dram_place place = c->write[0].place;
            uint64_t last = ww_fast_access_row(f, c, place, take_row(c, &count), WW_DRAM_WRITE, cycle);
            if (last > end) end = last;
        }
    c->read = false;
    ww_places_take(&c->room[WW_DRAM_WRITE], (bursts + 1) / 2,
                   ww_clock_cycle(l2, ww_clock_time(dram, end))); /* on average */
}

uint64_t ww_fast_behind_writes(struct ww_fast_channel *c, uint64_t cycle) {
    uint64_t bus = ww_calendar_free(&c->bus, cycle);
    for (uint32_t i = 0; i < WW_FAST_DRAINS; i++)
        if (c->drain[i].end > cycle && c->drain[i].begin <= bus) cycle = c->drain[i].end;
    return cycle;
}

/* ---- requests -------------------------------------------------------------------------------- */

uint64_t ww_fast_dram_read(struct ww_fast *f, uint32_t slice, uint64_t number, uint8_t mask, uint64_t cycle) {
    struct ww_dram_place place = ww_addrmap_dram(f->l2->map, slice, number << f->l2->line_shift);
    return ww_fast_dram_read_at(f, &f->channel[f->l2->slice[slice].channel], place, mask, cycle);
}

void ww_fast_dram_write(struct ww_fast *f, uint32_t slice, uint64_t number, uint8_t mask, uint64_t cycle) {
    struct ww_dram *d = f->dram;
    struct ww_fast_channel *c = &f->channel[f->l2->slice[slice].channel];
    struct ww_dram_place place = ww_addrmap_dram(f->l2->map, slice, number << f->l2->line_shift);
    uint32_t bursts = ww_bits8(mask) * f->l2->bursts_per_sector;
    uint64_t at = ww_clock_cycle(&d->clock, ww_clock_time(f->l2->clock, cycle)), last = at;
    if (c->refresh_due <= at) ww_fast_refresh(f, c, at);
    ww_fast_count(f, mask, bursts, WW_DRAM_WRITE);
    if (c->read || c->writes) {
        c->write[c->writes++] = (struct ww_fast_write){place, bursts};
        c->write_bursts += bursts;
        last += d->timing.trp + d->timing.trcd + c->write_bursts * d->timing.gap; /* if it is the last one */
        if (c->write_bursts >= d->write_high) drain(f, c, d->write_low, at);
    } else {
        last = ww_fast_access_row(f, c, place, bursts, WW_DRAM_WRITE, at);
        const struct ww_clock *l2 = f->l2->clock;
        ww_places_take(&c->room[WW_DRAM_WRITE], bursts, ww_clock_cycle(l2, ww_clock_time(&d->clock, last)));
    }
    uint64_t ps = ww_clock_time(&d->clock, last + d->timing.twl + d->timing.burst);
    if (ps > f->busy_until) f->busy_until = ps;
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
        c->refresh_due = d->timing.trefi ? d->channel[i].refresh_due : UINT64_MAX;
        c->bank = ww_arena_lines(arena, d->banks, sizeof *c->bank);
        if (!c->bank) return false;
        for (uint32_t b = 0; b < d->banks; b++)
            for (uint32_t k = 0; k < WW_FAST_ROWS; k++) c->bank[b].row[k] = UINT32_MAX;
        c->open_since = UINT64_MAX;
        if (f->l2->prefetch.window && !(c->waiting = ww_arena_array(arena, 1, sizeof *c->waiting)))
            return false;
        if (d->timing.group_gap > d->timing.gap &&
            !(c->group = ww_arena_array(arena, d->groups, sizeof *c->group)))
            return false;
        c->write = ww_arena_array(arena, d->write_high + 1, sizeof *c->write);
        if (!c->write) return false;
        c->room[WW_DRAM_READ].limit = gpu->dram_queue;
        c->room[WW_DRAM_WRITE].limit = gpu->dram_queue - d->write_low;
    }
    return true;
}

void ww_fast_dram_settle(struct ww_fast *f, uint64_t now_ps) {
    struct ww_dram *d = f->dram;
    uint64_t cycle = ww_clock_cycle(&d->clock, now_ps);
    for (uint32_t i = 0; i < d->channels; i++) {
        struct ww_fast_channel *c = &f->channel[i];
        if (c->refresh_due <= cycle) ww_fast_refresh(f, c, cycle);
        if (c->writes) drain(f, c, 0, cycle);
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
