/* DRAM of fast replay: banks that remember rows, calendars for the bus, bank groups and activates. */
#include "fast_dram.h"

void ww_fast_move_base(struct ww_fast *f, struct ww_fast_channel *c, uint64_t cycle) {
    uint64_t base = cycle - WW_FAST_SPAN / 2;
    int32_t past = base - c->base < INT32_MAX ? (int32_t)(base - c->base) : INT32_MAX;
    for (uint32_t i = 0; i < f->dram->banks * WW_FAST_ROWS; i++) {
        struct ww_fast_row *r = &c->bank[i / WW_FAST_ROWS].row[i % WW_FAST_ROWS];
        int32_t *time[] = {&r->act, &r->pre, &r->until};
        for (uint32_t k = 0; k < 3; k++)
            if (*time[k] != INT32_MAX) *time[k] = *time[k] > past ? *time[k] - past : 0;
    }
    for (uint32_t i = 0; i < f->dram->banks; i++) c->closed[i] = c->closed[i] > past ? c->closed[i] - past : 0;
    c->base = base;
}

/* Makes room for one more row in front of row k; the one with the first activate is forgotten. */
static inline struct ww_fast_row *insert(struct ww_fast_bank *b, uint32_t k) {
    for (uint32_t i = WW_FAST_ROWS - 1; i > k; i--) b->row[i] = b->row[i - 1];
    return &b->row[k];
}

/* The bank is refreshed when it is due: what it has open is closed. */
static void refresh_bank(struct ww_fast *f, struct ww_fast_channel *c, struct ww_fast_bank *b) {
    const struct ww_fast_times *t = &f->times;
    int32_t due = (int32_t)(c->refresh_due - c->base), start = due;
    for (uint32_t k = 0; k < WW_FAST_ROWS; k++) {
        struct ww_fast_row *r = &b->row[k];
        if (r->until <= due) continue;
        if (r->until == INT32_MAX) f->counter[WW_C_DRAM_PRECHARGE]++;
        start = ww_fast_most(start, ww_fast_most(r->pre, due) + t->trp);
        r->until = start - t->trp;
    }
    c->closed[b - c->bank] = start + t->trfc;
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

/* Whether a row that is wanted at `at`, and may be activated at `ready`, must wait for the row r to be closed;
 * then *ready is when it has been. */
static inline void wait_for_row(const struct ww_fast_times *t, const struct ww_fast_row *r, int32_t at,
                                int32_t *ready) {
    int32_t next = ww_fast_most(r->pre, at) + t->trp, end = r->until < next ? r->until : next;
    if (r->until == INT32_MAX) end = r->pre + t->trp;
    if (*ready < end) *ready = next;
}

/* The first cycle from `ready` on at which the bank may activate a row, wanted at `at`, between others or
 * behind them. */
static int32_t find_gap(const struct ww_fast_times *t, const struct ww_fast_bank *b, int32_t at,
                        int32_t ready) {
    for (uint32_t k = WW_FAST_ROWS; k--;) {
        const struct ww_fast_row *r = &b->row[k];
        if (ready + t->tras + t->trp > r->act) wait_for_row(t, r, at, &ready);
    }
    return ready;
}

struct ww_fast_row *ww_fast_open_row(struct ww_fast *f, struct ww_fast_channel *c, struct ww_fast_bank *b,
                                     uint32_t number, int32_t at) {
    const struct ww_fast_times *t = &f->times;
    int32_t ready = at, until = INT32_MAX, closed = c->closed[b - c->bank];
    if (at < closed && at + t->trfc + t->trp >= closed) ready = closed;
    if (ready >= b->row[0].act)
        wait_for_row(t, &b->row[0], at, &ready);
    else
        ready = find_gap(t, b, at, ready);
    uint64_t cycle = ww_calendar_take(&c->activates, c->base + (uint64_t)(int64_t)ready, f->activate_units);
    int32_t act = (int32_t)(cycle - c->base);
    uint32_t k = 0;
    while (k < WW_FAST_ROWS && b->row[k].act > act) k++;
    if (k) {
        until = b->row[k - 1].act - t->trp;
        f->counter[WW_C_DRAM_PRECHARGE]++;
    }
    if (k == WW_FAST_ROWS) {
        k--;
    } else if (b->row[k].until > act - t->trp) {
        if (b->row[k].until == INT32_MAX) f->counter[WW_C_DRAM_PRECHARGE]++;
        b->row[k].until = act - t->trp;
    }
    f->counter[WW_C_DRAM_ACTIVATE]++;
    if (cycle < c->open_since) c->open_since = cycle;
    struct ww_fast_row *r = insert(b, k);
    *r = (struct ww_fast_row){act, act + t->tras, until, number};
    return r;
}

/* ---- writes ---------------------------------------------------------------------------------- */

/* Takes writes of the first one's row, `most` bursts of them at most, out of the list; returns their bursts. */
static uint32_t take_row(struct ww_fast_channel *c, uint32_t most) {
    const struct ww_dram_place place = c->write[0].place;
    uint32_t bursts = 0, left = 0;
    for (uint32_t i = 0; i < c->writes; i++) {
        const struct ww_fast_write w = c->write[i];
        if (bursts < most && w.place.bank == place.bank && w.place.row == place.row)
            bursts += w.bursts;
        else
            c->write[left++] = w;
    }
    c->writes = left;
    c->write_bursts -= bursts;
    return bursts;
}

/* So many bursts of writes leave the queue. */
static void leave(struct ww_fast *f, struct ww_fast_channel *c, uint32_t bursts, uint64_t cycle) {
    uint64_t ps = ww_clock_time(&f->dram->clock, cycle);
    ww_places_take(&c->room[WW_DRAM_WRITE], bursts, ww_clock_cycle(f->l2->clock, ps));
}

/* Reads that wait are held between two DRAM cycles. */
static void hold_reads(struct ww_fast *f, struct ww_fast_channel *c, uint64_t from, uint64_t until) {
    const struct ww_clock *l2 = f->l2->clock, *dram = &f->dram->clock;
    c->reads_held +=
        ww_clock_cycle(l2, ww_clock_time(dram, until)) - ww_clock_cycle(l2, ww_clock_time(dram, from));
}

/* The controller decides to write until so many bursts are left, for which it turns the bus. Rows are opened
 * side by side, so that it takes as long as the bus, or the bank whose row is open last; a second row of a bank
 * is left to when its time comes, as the controller issues other writes meanwhile. Writes that will come
 * meanwhile lengthen the batch: as many are expected as went with the last one, and reads are held for these,
 * too. */
static void write_batch(struct ww_fast *f, struct ww_fast_channel *c, uint32_t down_to, uint64_t now) {
    const struct ww_dram_timing *t = &f->dram->timing;
    const uint64_t turn = t->tcl + t->burst + WW_DRAM_TURNAROUND;
    if (now < c->reads_from) now = c->reads_from; /* it still writes the last one */
    uint64_t begin = ww_calendar_free(&c->bus, now), start = begin + (turn > t->twl ? turn - t->twl : 0);
    uint64_t end = start, first = UINT64_MAX, bursts = 0, banks[WW_DRAM_BANKS / 64] = {0};
    c->bus_behind = begin - now;
    while (c->write_bursts > down_to) {
        const struct ww_dram_place place = c->write[0].place;
        uint64_t *word = &banks[place.bank >> 6], bit = UINT64_C(1) << (place.bank & 63);
        uint32_t n = take_row(c, c->write_bursts - down_to);
        struct ww_fast_row *r =
            ww_fast_find_row(f, c, &c->bank[place.bank], place.row, n, (int32_t)(begin - c->base));
        uint64_t ready = c->base + (uint64_t)(int64_t)(r->act + f->times.trcd);
        uint64_t at = ww_dram_max(start, ready), last = at + (n - 1) * t->group_gap;
        ww_fast_used(f, r, WW_DRAM_WRITE, (int32_t)(last - c->base));
        bursts += n;
        if (at < first) first = at;
        if (!(*word & bit) && last + t->gap > end) end = last + t->gap;
        *word |= bit;
        end = ww_dram_max(end, first + bursts * t->gap);
        leave(f, c, n, end - c->bus_behind);
    }
    uint64_t free = end + t->twl + t->burst + t->twtr - t->gap, expected = c->joined * t->gap;
    if (expected > WW_FAST_LENGTHENED) expected = WW_FAST_LENGTHENED;
    ww_calendar_take(&c->bus, begin, (uint32_t)(free - begin) << WW_CALENDAR_UNIT);
    hold_reads(f, c, begin, free + expected);
    c->written = end - c->bus_behind;
    c->joins_until = c->written + expected;
    c->reads_from = free + expected - c->bus_behind;
    c->joined = 0;
    c->drain[c->drains++ % WW_FAST_DRAINS] = (struct ww_fast_drain){begin, end};
    if (end > c->drained) c->drained = end;
}

/* A write that comes while the controller writes the last batch goes with it. */
static void write_on(struct ww_fast *f, struct ww_fast_channel *c, const struct ww_fast_write *w,
                     uint64_t cycle) {
    const struct ww_dram_timing *t = &f->dram->timing;
    struct ww_fast_drain *d = &c->drain[(c->drains - 1) % WW_FAST_DRAINS];
    int32_t at = (int32_t)(cycle + c->bus_behind - c->base);
    struct ww_fast_row *r = ww_fast_find_row(f, c, &c->bank[w->place.bank], w->place.row, w->bursts, at);
    uint64_t ready = c->base + (uint64_t)(int64_t)(r->act + f->times.trcd);
    uint64_t last = ww_dram_max(ready, d->end) + (w->bursts - 1) * t->gap, end = d->end + w->bursts * t->gap;
    ww_fast_used(f, r, WW_DRAM_WRITE, (int32_t)(last - c->base));
    ww_calendar_take(&c->bus, d->end, (uint32_t)(end - d->end) << WW_CALENDAR_UNIT);
    c->joined += w->bursts;
    d->end = end;
    if (end > c->drained) c->drained = end;
    c->written = end - c->bus_behind;
    leave(f, c, w->bursts, c->written);
}

/* Nothing was read since the last batch: writes follow it until so many bursts are left, and the bus need not
 * be turned. Returns the cycle of the last column command. */
static uint64_t write_more(struct ww_fast *f, struct ww_fast_channel *c, uint32_t down_to, uint64_t cycle) {
    uint64_t end = cycle;
    while (c->write_bursts > down_to) {
        const struct ww_dram_place place = c->write[0].place;
        uint32_t n = take_row(c, c->write_bursts - down_to);
        uint64_t last = ww_fast_access_row(f, c, place, n, WW_DRAM_WRITE, cycle);
        end = ww_dram_max(end, last);
        c->written = ww_dram_max(c->written, cycle) + n * f->dram->timing.gap;
        if (last > c->bus_behind) c->written = ww_dram_max(c->written, last - c->bus_behind);
        leave(f, c, n, c->written);
    }
    return end;
}

/* Writes that wait are issued, until so many bursts are left. */
static void drain(struct ww_fast *f, struct ww_fast_channel *c, uint32_t down_to, uint64_t cycle) {
    if (c->read)
        write_batch(f, c, down_to, cycle);
    else
        write_more(f, c, down_to, cycle);
    c->read = false;
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
    ww_fast_near(f, c, at);
    if (c->refresh_due <= at) ww_fast_refresh(f, c, at);
    ww_fast_count(f, mask, bursts, WW_DRAM_WRITE);
    const struct ww_fast_write w = {place, bursts};
    if (at < c->joins_until) {
        write_on(f, c, &w, at);
        last = c->written + c->bus_behind;
    } else {
        bool alone = !c->read && !c->writes;
        c->write[c->writes++] = w;
        c->write_bursts += bursts;
        last += d->timing.trp + d->timing.trcd + c->write_bursts * d->timing.gap; /* if it is the last one */
        if (alone)
            last = write_more(f, c, 0, at);
        else if (c->write_bursts >= d->write_high)
            drain(f, c, d->write_low, at);
    }
    uint64_t ps = ww_clock_time(&d->clock, last + d->timing.twl + d->timing.burst);
    if (ps > f->busy_until) f->busy_until = ps;
}

bool ww_fast_dram_init(struct ww_fast *f, const struct ww_gpu_spec *gpu, struct ww_arena *arena) {
    struct ww_dram *d = f->dram;
    uint64_t quarter = ((d->timing.tfaw << WW_CALENDAR_UNIT) + 3) / 4,
             trrd = d->timing.trrd << WW_CALENDAR_UNIT;
    f->activate_units = (uint32_t)ww_dram_max(quarter, trrd);
    f->times = (struct ww_fast_times){.trcd = (int32_t)d->timing.trcd,
                                      .trp = (int32_t)d->timing.trp,
                                      .tras = (int32_t)d->timing.tras,
                                      .trfc = (int32_t)d->timing.trfc,
                                      .trtp = (int32_t)d->timing.trtp,
                                      .write = (int32_t)(d->timing.twl + d->timing.burst + d->timing.twr)};
    f->channel = ww_arena_array(arena, d->channels, sizeof *f->channel);
    if (!f->channel) return false;
    for (uint32_t i = 0; i < gpu->l2_slices; i++) f->slice[i].channel = &f->channel[f->l2->slice[i].channel];
    for (uint32_t i = 0; i < d->channels; i++) {
        struct ww_fast_channel *c = &f->channel[i];
        c->refresh_due = d->timing.trefi ? d->channel[i].refresh_due : UINT64_MAX;
        c->bank = ww_arena_lines(arena, d->banks, sizeof *c->bank);
        c->closed = ww_arena_lines(arena, d->banks, sizeof *c->closed);
        if (!c->bank || !c->closed) return false;
        for (uint32_t b = 0; b < d->banks; b++)
            for (uint32_t k = 0; k < WW_FAST_ROWS; k++) c->bank[b].row[k].number = UINT32_MAX;
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
        ww_fast_near(f, c, cycle);
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
