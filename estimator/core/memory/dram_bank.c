/* Commands of one DRAM channel and what each makes the following ones wait for. */
#include "../../result/result.h"
#include "dram_channel.h"

void ww_dram_open_row(struct ww_dram_channel *c, struct ww_dram_bank *b, uint32_t row, uint64_t cycle) {
    const struct ww_dram_timing *t = &c->dram->timing;
    uint64_t act = cycle;
    if (b->open) {
        c->dram->counter[WW_C_DRAM_PRECHARGE]++;
        act = cycle + t->trp;
    } else {
        act = ww_dram_max(act, ww_dram_max(b->act_ready, ww_dram_slot(c)));
        if (c->open_banks++ == 0) c->open_since = ww_dram_max(act, c->open_until);
    }
    c->dram->counter[WW_C_DRAM_ACTIVATE]++;
    c->act_ready = act + t->trrd;
    c->faw[c->faw_next] = act + t->tfaw;
    c->faw_next = (c->faw_next + 1) & 3;
    b->open = true;
    b->row = row;
    b->col_ready = act + t->trcd;
    b->pre_ready = act + t->tras;
    c->row_at[b->index] = b->pre_ready;
}

static void mark_closed(struct ww_dram_channel *c, struct ww_dram_bank *b, uint64_t cycle) {
    b->open = false;
    ww_dram_set_hit(c, b->index, WW_DRAM_READ, WW_DRAM_NONE);
    ww_dram_set_hit(c, b->index, WW_DRAM_WRITE, WW_DRAM_NONE);
    c->dram->counter[WW_C_DRAM_PRECHARGE]++;
    if (--c->open_banks) return;
    if (cycle > c->open_since) c->dram->counter[WW_C_DRAM_ACTIVE_CYCLES] += cycle - c->open_since;
    c->open_until = ww_dram_max(c->open_until, cycle);
}

void ww_dram_close_row(struct ww_dram_channel *c, struct ww_dram_bank *b) {
    b->act_ready = b->pre_ready + c->dram->timing.trp;
    mark_closed(c, b, b->pre_ready);
    ww_dram_set_row_at(c, b);
}

/* The refresh of all banks that is due at c->refresh_due. */
static void refresh_all(struct ww_dram_channel *c) {
    const struct ww_dram_timing *t = &c->dram->timing;
    uint64_t start = c->refresh_due, precharge = c->refresh_due;
    bool open = c->open_banks > 0;
    for (uint32_t i = 0; i < c->dram->banks; i++) {
        struct ww_dram_bank *b = &c->bank[i];
        if (b->open)
            precharge = ww_dram_max(precharge, b->pre_ready);
        else
            start = ww_dram_max(start, b->act_ready);
    }
    if (open) start = ww_dram_max(start, precharge + t->trp);
    for (uint32_t i = 0; i < c->dram->banks; i++) {
        struct ww_dram_bank *b = &c->bank[i];
        if (b->open) mark_closed(c, b, precharge);
        b->act_ready = start + t->trfc;
        ww_dram_set_row_at(c, b);
    }
    c->dram->counter[WW_C_DRAM_REFRESH]++;
    c->refresh_due += t->trefi;
    /* Between two refreshes there is room for at least one access, whatever the parameters. */
    c->refresh_due = ww_dram_max(c->refresh_due, start + t->trfc + t->tras);
}

/* The refresh of the next bank in turn, due at c->refresh_due; the others go on meanwhile. */
static void refresh_bank(struct ww_dram_channel *c) {
    const struct ww_dram_timing *t = &c->dram->timing;
    struct ww_dram_bank *b = &c->bank[c->refresh_bank];
    uint64_t start = ww_dram_max(c->refresh_due, b->act_ready);
    if (b->open) {
        uint64_t precharge = ww_dram_max(c->refresh_due, b->pre_ready);
        mark_closed(c, b, precharge);
        start = precharge + t->trp;
    }
    b->act_ready = start + t->trfc;
    ww_dram_set_row_at(c, b);
    c->refresh_due += t->refresh_step;
    /* Its next turn leaves room for at least one access, whatever the parameters. */
    if (b->act_ready + t->tras > t->trefi)
        c->refresh_due = ww_dram_max(c->refresh_due, b->act_ready + t->tras - t->trefi);
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
