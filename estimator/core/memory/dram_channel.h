/* dram_channel.h: state of one DRAM channel, shared by dram.c (queues), dram_schedule.c (which
 * command is next) and dram_bank.c (commands and their timing). Private to these files and their tests. */
#ifndef WW_CORE_DRAM_CHANNEL_H
#define WW_CORE_DRAM_CHANNEL_H

#include "../../result/result.h"
#include "dram.h"

#define WW_DRAM_NONE UINT32_MAX
#define WW_DRAM_BANK_WORDS 4 /* of 64 banks each */

/* Constants in command-clock cycles. */
struct ww_dram_timing {
    uint64_t tcl, twl, trcd, trp, tras, trrd, tfaw, tccd, tccd_l, twr, twtr, trtp, trefi, trfc;
    uint64_t burst;          /* data-bus cycles of one burst */
    uint64_t latency;        /* controller and PHY, added to a read */
    uint64_t refresh_step;   /* between refreshes of a channel: trefi, or a bank's part of it */
    uint64_t gap, group_gap; /* between column commands, and between those of a bank group */
    bool closed_page, bank_refresh;
};

/* A queued request; in the list of its bank and direction by age. */
struct ww_dram_entry {
    struct ww_dram_request request;
    uint64_t arrival;
    uint64_t order; /* age */
    uint32_t next, previous;
    uint16_t bursts_left;
    bool row_opened; /* its row was activated for it: its first burst is no row hit */
};

struct ww_dram_bank {
    uint64_t act_ready, col_ready, pre_ready; /* earliest next command of the kind */
    uint64_t hit_order[2];                    /* ages of these entries, where there are such */
    uint32_t row;
    uint32_t head[2], tail[2]; /* entries by direction */
    uint32_t hit[2];           /* oldest entry for the open row, or none */
    uint32_t group, index;
    bool open;
};

/* The bank of a group whose column command goes first: of those with a hit the one that is ready first, the
 * older entry of equals. */
struct ww_dram_best {
    uint64_t bank_ready; /* by the bank alone */
    uint64_t ready;      /* by its bank and group */
    uint64_t order;      /* age of its entry */
    uint32_t bank;
};

struct ww_dram_channel {
    struct ww_event event;
    struct ww_dram *dram;
    uint32_t index;
    struct ww_dram_bank *bank;
    uint64_t *row_at;        /* by bank: from when on it alone lets a row change begin, see ww_dram_row_time */
    uint64_t *head_order[2]; /* by direction and bank: age of the bank's head, where there is one */
    struct ww_dram_entry *entry;
    uint32_t free_entry;
    uint32_t count[2];                    /* entries by direction */
    struct ww_dram_room room;             /* what these entries were pushed with */
    uint64_t busy[2][WW_DRAM_BANK_WORDS]; /* bit per bank with entries of a direction */
    uint64_t hits[2][WW_DRAM_BANK_WORDS]; /* the same of those for the open row */
    bool writing;                         /* draining writes */
    uint64_t order;
    uint64_t column_ready[2]; /* earliest column command by direction */
    uint64_t *group_ready;    /* the same by bank group, tCCD_L */
    uint64_t act_ready;       /* tRRD */
    uint64_t faw[4];          /* earliest next activates by tFAW; faw_next is the oldest */
    uint32_t faw_next;
    struct ww_dram_best *best; /* by bank group */
    uint64_t best_groups;      /* bit per bank group that has one */
    uint64_t changed;          /* bit per bank group whose best is to be chosen anew */
    uint64_t best_until;       /* cycle from which on another one may be as ready, and older */
    bool best_writing;         /* they are of this direction */
    uint64_t oldest;           /* no entry that waits arrived before this cycle */
    uint64_t oldest_after;     /* that is looked at again from this cycle on */
    uint64_t refresh_due;
    uint32_t refresh_bank; /* the next one, where banks are refreshed one by one */
    uint32_t open_banks;
    uint64_t open_since, open_until; /* the running interval with a row open; end of the last one */
};

struct ww_dram {
    struct ww_dram_timing timing;
    struct ww_clock clock;
    struct ww_queue *queue;
    struct ww_dram_client client;
    uint64_t *counter;
    struct ww_dram_channel *channel;
    uint32_t channels, banks, groups, depth; /* depth: entries of one direction */
    uint32_t bank_words;                     /* of bits by bank */
    uint64_t all_groups;                     /* a bit for each bank group */
    uint64_t group_mask; /* of these bits, those of the first group; all groups' are shifted by their number */
    uint32_t write_high, write_low;
    uint32_t sector_shift; /* log2 of 32-byte sectors in a sector of the L2 */
    uint64_t settled;      /* cycle to which DRAM_CYCLES are counted */
};

static inline uint64_t ww_dram_max(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Earliest cycle of a column command for the bank's open row. */
static inline uint64_t ww_dram_column_time(const struct ww_dram_channel *c, const struct ww_dram_bank *b,
                                           enum ww_dram_direction direction) {
    return ww_dram_max(ww_dram_max(b->col_ready, c->group_ready[b->group]), c->column_ready[direction]);
}

/* First cycle of an activate by tRRD and tFAW. */
static inline uint64_t ww_dram_slot(const struct ww_dram_channel *c) {
    return ww_dram_max(c->act_ready, c->faw[c->faw_next]);
}

/* Earliest cycle to begin the row change so that the activate falls on `slot` if it can. Slots are given out
 * tRP ahead, when a bank with an open row must precharge for its one: a closed bank takes its turn among them
 * then, or every slot would be gone when it is due. */
static inline uint64_t ww_dram_row_time(const struct ww_dram_channel *c, const struct ww_dram_bank *b,
                                        uint64_t slot) {
    uint64_t trp = c->dram->timing.trp, ahead = slot > trp ? slot - trp : 0;
    return ww_dram_max(c->row_at[b->index], ahead);
}

/* To be called when the bank has opened or closed, or what its next command waits for has changed. */
static inline void ww_dram_set_row_at(struct ww_dram_channel *c, const struct ww_dram_bank *b) {
    uint64_t trp = c->dram->timing.trp, closed = b->act_ready > trp ? b->act_ready - trp : 0;
    c->row_at[b->index] = b->open ? b->pre_ready : closed;
}

/* Bus cycles left free when the direction turns from read to write (JESD212: RL + BL/4 + 2 - WL). */
#define WW_DRAM_TURNAROUND 2

/* One burst at `cycle`: what the bank and the other direction wait for. Returns the cycle at which its data
 * have passed the bus. */
static inline uint64_t ww_dram_issue_column(struct ww_dram_channel *c, struct ww_dram_bank *b,
                                            enum ww_dram_direction direction, uint64_t cycle) {
    const struct ww_dram_timing *t = &c->dram->timing;
    uint64_t data_end, pre, other;
    c->column_ready[direction] = cycle + t->gap;
    c->group_ready[b->group] = cycle + t->group_gap;
    if (direction == WW_DRAM_READ) {
        data_end = cycle + t->tcl + t->burst;
        pre = cycle + t->trtp;
        other = data_end + WW_DRAM_TURNAROUND;
        other = other > t->twl ? other - t->twl : 0;
    } else {
        data_end = cycle + t->twl + t->burst;
        pre = data_end + t->twr;
        other = data_end + t->twtr;
    }
    if (other > c->column_ready[!direction]) c->column_ready[!direction] = other;
    if (pre > b->pre_ready) c->row_at[b->index] = b->pre_ready = pre;
    return data_end;
}

/* The bank's oldest entry for the open row is i, or there is none. */
static inline void ww_dram_set_hit(struct ww_dram_channel *c, uint32_t bank, uint32_t dir, uint32_t i) {
    struct ww_dram_bank *b = &c->bank[bank];
    uint64_t bit = (uint64_t)1 << (bank & 63);
    b->hit[dir] = i;
    c->changed |= (uint64_t)1 << b->group;
    if (i == WW_DRAM_NONE) {
        c->hits[dir][bank >> 6] &= ~bit;
        return;
    }
    b->hit_order[dir] = c->entry[i].order;
    c->hits[dir][bank >> 6] |= bit;
}

/* Issues what can be issued at `cycle` (column commands: a little ahead); returns the cycle at which to look
 * again, UINT64_MAX if the queues are empty. */
uint64_t ww_dram_schedule(struct ww_dram_channel *c, uint64_t cycle);

/* Opens `row`, beginning at `cycle`: a precharge then, or, of a closed bank, the activate as soon as it may be.
 */
void ww_dram_open_row(struct ww_dram_channel *c, struct ww_dram_bank *b, uint32_t row, uint64_t cycle);
/* Precharges an open bank as soon as its timing allows. */
void ww_dram_close_row(struct ww_dram_channel *c, struct ww_dram_bank *b);
/* Performs the refreshes that are due up to `cycle`, of which there is one. It closes the rows of its banks. */
void ww_dram_refresh_due(struct ww_dram_channel *c, uint64_t cycle);
/* The same if there is one. */
static inline void ww_dram_refresh(struct ww_dram_channel *c, uint64_t cycle) {
    if (c->dram->timing.trefi && c->refresh_due <= cycle) ww_dram_refresh_due(c, cycle);
}

#endif
