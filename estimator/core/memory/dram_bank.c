/* Commands of one DRAM channel and what each makes the following ones wait for. */
#include "../../result/result.h"
#include "dram_channel.h"

/* The bank has been precharged at `cycle`. */
static void mark_closed(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i, uint64_t cycle) {
    b->open[i] = false;
    ww_dram_set_hit(c, b, i, WW_DRAM_READ, WW_DRAM_NONE);
    ww_dram_set_hit(c, b, i, WW_DRAM_WRITE, WW_DRAM_NONE);
    c->dram->counter[WW_C_DRAM_PRECHARGE]++;
    if (--c->open_banks) return;
    if (cycle > c->open_since) c->dram->counter[WW_C_DRAM_ACTIVE_CYCLES] += cycle - c->open_since;
    c->open_until = ww_dram_max(c->open_until, cycle);
}

/* The cycle of a time of the channel. */
static uint64_t cycle_of(const struct ww_dram_channel *c, int32_t time) {
    return c->base + (uint64_t)(int64_t)time;
}

void ww_dram_close_row(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i) {
    mark_closed(c, b, i, cycle_of(c, b->row_ready[i]));
}

/* The bank may be activated from `cycle` on. */
static void set_activate(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i, int32_t cycle) {
    b->row_ready[i] = cycle - (int32_t)c->dram->timing.trp;
    ww_dram_set_times(b, i, WW_DRAM_READ);
    ww_dram_set_times(b, i, WW_DRAM_WRITE);
}

/* The refresh of all banks that is due at c->refresh_due. */
static void refresh_all(struct ww_dram_channel *c) {
    const struct ww_dram_timing *t = &c->dram->timing;
    int32_t due = ww_dram_from_base(c, c->refresh_due), start = due, precharge = due, trp = (int32_t)t->trp;
    bool open = c->open_banks > 0;
    for (uint32_t bank = 0; bank < c->dram->banks; bank++) {
        const struct ww_dram_block *b = ww_dram_block(c, bank);
        uint32_t i = bank % WW_DRAM_BLOCK;
        if (b->open[i])
            precharge = ww_dram_later(precharge, b->row_ready[i]);
        else
            start = ww_dram_later(start, b->row_ready[i] + trp);
    }
    if (open) start = ww_dram_later(start, precharge + trp);
    for (uint32_t bank = 0; bank < c->dram->banks; bank++) {
        struct ww_dram_block *b = ww_dram_block(c, bank);
        uint32_t i = bank % WW_DRAM_BLOCK;
        if (b->open[i]) mark_closed(c, b, i, cycle_of(c, precharge));
        set_activate(c, b, i, start + (int32_t)t->trfc);
    }
    c->dram->counter[WW_C_DRAM_REFRESH]++;
    c->refresh_due += t->trefi;
    /* Between two refreshes there is room for at least one access, whatever the parameters. */
    c->refresh_due = ww_dram_max(c->refresh_due, cycle_of(c, start) + t->trfc + t->tras);
}

/* The refresh of the next bank in turn, due at c->refresh_due; the others go on meanwhile. */
static void refresh_bank(struct ww_dram_channel *c) {
    const struct ww_dram_timing *t = &c->dram->timing;
    struct ww_dram_block *b = ww_dram_block(c, c->refresh_bank);
    uint32_t i = c->refresh_bank % WW_DRAM_BLOCK;
    int32_t due = ww_dram_from_base(c, c->refresh_due), trp = (int32_t)t->trp;
    int32_t start = ww_dram_later(due, b->row_ready[i] + trp);
    if (b->open[i]) {
        int32_t precharge = ww_dram_later(due, b->row_ready[i]);
        mark_closed(c, b, i, cycle_of(c, precharge));
        start = precharge + trp;
    }
    start += (int32_t)t->trfc;
    set_activate(c, b, i, start);
    c->refresh_due += t->refresh_step;
    /* Its next turn leaves room for at least one access, whatever the parameters. */
    uint64_t room = cycle_of(c, start) + t->tras;
    if (room > t->trefi) c->refresh_due = ww_dram_max(c->refresh_due, room - t->trefi);
    if (++c->refresh_bank < c->dram->banks) return;
    c->refresh_bank = 0;
    c->dram->counter[WW_C_DRAM_REFRESH]++;
}

/* A channel that was idle for long makes up for whole rounds of its banks by counting them. */
static void refresh_banks(struct ww_dram_channel *c, uint64_t cycle) {
    uint64_t round = c->dram->timing.refresh_step * c->dram->banks, missed = (cycle - c->refresh_due) / round;
    if (missed > 1) {
        c->dram->counter[WW_C_DRAM_REFRESH] += missed - 1;
        c->refresh_due += (missed - 1) * round;
    }
    while (c->refresh_due <= cycle) refresh_bank(c);
}

void ww_dram_refresh_due(struct ww_dram_channel *c, uint64_t cycle) {
    uint64_t trefi = c->dram->timing.trefi;
    if (c->dram->timing.bank_refresh) {
        refresh_banks(c, cycle);
        return;
    }
    refresh_all(c);
    if (c->refresh_due <= cycle) {
        /* Idle since then: all but the last of the missed refreshes only count. */
        uint64_t missed = (cycle - c->refresh_due) / trefi;
        c->dram->counter[WW_C_DRAM_REFRESH] += missed;
        c->refresh_due += missed * trefi;
        refresh_all(c);
    }
}

/* ---- times and ages -------------------------------------------------------------------------- */

/* The same time from a base that is `by` later. */
static void shift(int32_t *time, int32_t by) {
    if (*time == WW_DRAM_NEVER) return;
    *time = *time > by + WW_DRAM_PAST ? *time - by : WW_DRAM_PAST;
}

void ww_dram_rebase(struct ww_dram_channel *c, uint64_t cycle) {
    uint64_t ahead = cycle - c->base;
    int32_t by = ahead < WW_DRAM_NEVER / 2 ? (int32_t)ahead : WW_DRAM_NEVER / 2;
    for (uint32_t n = 0; n < c->dram->blocks; n++) {
        struct ww_dram_block *b = &c->block[n];
        for (uint32_t i = 0; i < WW_DRAM_BLOCK; i++) {
            shift(&b->column_ready[i], by);
            shift(&b->row_ready[i], by);
            ww_dram_set_times(b, i, WW_DRAM_READ);
            ww_dram_set_times(b, i, WW_DRAM_WRITE);
        }
    }
    for (uint32_t g = 0; g < c->dram->lanes; g++) shift(&c->group_ready[g], by);
    for (uint32_t i = 0; i < 2; i++) shift(&c->column_ready[i], by);
    for (uint32_t i = 0; i < 4; i++) shift(&c->faw[i], by);
    for (uint32_t i = 0; i < 2 * c->dram->depth; i++) shift(&c->link[i].arrival, by);
    shift(&c->act_ready, by);
    ww_dram_set_row_slot(c);
    shift(&c->oldest, by);
    shift(&c->oldest_after, by);
    c->base = cycle;
}
