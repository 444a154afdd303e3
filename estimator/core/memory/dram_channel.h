/* dram_channel.h: state of one DRAM channel, shared by dram.c (queues), dram_scheduler.h (which
 * command is next) and dram_bank.c (commands and their timing). Private to these files and their tests.
 *
 * The scheduler looks at all banks at once: what it compares lies in arrays by bank, 16 banks in a block, four
 * in a vector. In place of masks, a bank that has nothing to do in an array has WW_DRAM_NEVER there.
 * Bank groups are powers of two, and a bank's group is in the low bits of its number: element i of a vector
 * has only banks of the groups i mod groups. */
#ifndef WW_CORE_DRAM_CHANNEL_H
#define WW_CORE_DRAM_CHANNEL_H

#include "../../result/result.h"
#include "dram.h"

#define WW_DRAM_NONE UINT16_MAX /* no entry */
#define WW_DRAM_NEVER INT32_MAX
#define WW_DRAM_BLOCK 16  /* banks */
#define WW_DRAM_BANKS 256 /* at most, */
#define WW_DRAM_GROUPS 64 /* and groups of them */

/* Times in a channel are cycles from its base on, which follows far behind the time. What lies further back
 * than WW_DRAM_PAST is kept as if it were there: it is over either way. */
#define WW_DRAM_SPAN (1 << 29)
#define WW_DRAM_PAST (-(1 << 16))
#define WW_DRAM_AGES (1 << 22) /* ages are numbered anew from here on */

/* Constants in command-clock cycles. */
struct ww_dram_timing {
    uint64_t tcl, twl, trcd, trp, tras, trrd, tfaw, tccd, tccd_l, twr, twtr, trtp, trefi, trfc;
    uint64_t burst;          /* data-bus cycles of one burst */
    uint64_t latency;        /* controller and PHY, added to a read */
    uint64_t refresh_step;   /* between refreshes of a channel: trefi, or a bank's part of it */
    uint64_t gap, group_gap; /* between column commands, and between those of a bank group */
    bool closed_page, bank_refresh;
};

/* What a column command of a direction lets be, in cycles from it: */
struct ww_dram_column {
    int32_t gap;   /* the next one, */
    int32_t other; /* one of the other direction, */
    int32_t row;   /* a row command of its bank; */
    int32_t data;  /* the end of its data on the bus */
};

/* Bus cycles left free when the direction turns from read to write (JESD212: RL + BL/4 + 2 - WL). */
#define WW_DRAM_TURNAROUND 2

/* A queued request, */
struct ww_dram_entry {
    struct ww_dram_request request;
    uint16_t bursts_left;
    bool row_opened; /* its row was activated for it: its first burst is no row hit */
};

/* and its place in the list of its bank and direction, by age. */
struct ww_dram_link {
    uint32_t row;
    uint16_t next, previous;
    int32_t order; /* age and bank */
    int32_t arrival;
};

/* Of the banks of a block: what there is to do for one direction. */
struct ww_dram_banks {
    /* When the bank's next command may be: a column command of the open row, if there is a hit; a row command,
     * if there are entries but no hit. Else never. */
    int32_t column_at[WW_DRAM_BLOCK];
    int32_t hit_order[WW_DRAM_BLOCK]; /* ages, where there are such entries */
    int32_t row_at[WW_DRAM_BLOCK];
    int32_t head_order[WW_DRAM_BLOCK];
    uint16_t hit[WW_DRAM_BLOCK];  /* oldest entry for the open row, or none */
    uint16_t head[WW_DRAM_BLOCK]; /* oldest entry, or none */
    uint16_t tail[WW_DRAM_BLOCK];
    uint16_t unused[5 * WW_DRAM_BLOCK]; /* a power of two is reached without a multiplication */
};

struct ww_dram_block {
    _Alignas(WW_HOST_LINE) struct ww_dram_banks of[2]; /* by direction */
    int32_t column_ready[WW_DRAM_BLOCK];               /* when the bank itself lets a column command be */
    int32_t row_ready[WW_DRAM_BLOCK]; /* and a row change begin: a precharge, or, of a closed bank, tRP before
                                       * its activate may be */
    uint32_t row[WW_DRAM_BLOCK];
    bool open[WW_DRAM_BLOCK];
};

struct ww_dram_channel {
    _Alignas(WW_HOST_LINE) struct ww_event event;
    struct ww_dram *dram;
    struct ww_dram_block *block;
    struct ww_dram_entry *entry;
    struct ww_dram_link *link;
    struct ww_dram_room room; /* what the entries were pushed with */
    uint32_t index;
    uint32_t count[2]; /* entries by direction */
    uint16_t free_entry;
    bool writing;            /* draining writes */
    bool left_out;           /* hits of some banks are, as their heads are too old to be passed */
    uint64_t base;           /* cycle from which times are counted */
    int32_t age;             /* of the next entry */
    int32_t column_ready[2]; /* earliest column command by direction */
    int32_t act_ready;       /* earliest activate by tRRD */
    int32_t faw[4];          /* the same by tFAW; faw_next is the oldest */
    uint32_t faw_next;
    /* Earliest cycle to begin a row change so that the activate falls on the next slot if it can. Slots are
     * given out tRP ahead, when a bank with an open row must precharge for its one: a closed bank takes its
     * turn among them then, or every slot would be gone when it is due. */
    int32_t row_slot;
    int32_t oldest;       /* no entry that waits arrived before this cycle */
    int32_t oldest_after; /* that is looked at again from this cycle on */
    uint64_t refresh_due;
    uint32_t refresh_bank; /* the next one, where banks are refreshed one by one */
    uint32_t open_banks;
    uint64_t open_since, open_until; /* the running interval with a row open; end of the last one */
    uint32_t pushed;                 /* requests so far, to tell whether there was one */
    int32_t *group_ready;            /* earliest column command by bank group, tCCD_L */
    /* What group_ready and block point to where they are small enough: beside the rest of the channel. */
    int32_t four_groups[4];
    struct ww_dram_block one_block;
};

struct ww_dram {
    struct ww_dram_timing timing;
    struct ww_dram_column column[2]; /* by direction */
    struct ww_clock clock;
    struct ww_clock_note pushed, fired; /* times of the last push and event */
    struct ww_queue *queue;
    struct ww_dram_client client;
    uint64_t *counter;
    struct ww_dram_channel *channel;
    uint32_t channels, banks, groups, depth; /* depth: entries of one direction */
    uint32_t blocks;
    uint32_t lanes; /* groups, or as many elements of a vector as hold them in turn: at least four */
    uint32_t write_high, write_low;
    uint32_t sector_shift; /* log2 of 32-byte sectors in a sector of the L2 */
    uint64_t settled;      /* cycle to which DRAM_CYCLES are counted */
};

static inline uint64_t ww_dram_max(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static inline int32_t ww_dram_later(int32_t a, int32_t b) {
    return a > b ? a : b;
}

/* By what entries are compared: their age, and, so that it need not be kept beside it, their bank. */
static inline int32_t ww_dram_order(int32_t age, uint32_t bank) {
    return age * WW_DRAM_BANKS + (int32_t)bank;
}
static inline uint32_t ww_dram_bank_of(int32_t order) {
    return (uint32_t)order % WW_DRAM_BANKS;
}

/* Entry n is the next to be written; or there is none. */
static inline void ww_dram_set_free(struct ww_dram_channel *c, uint32_t n) {
    c->free_entry = (uint16_t)n;
    c->room.next = &c->entry[n].request;
}

static inline struct ww_dram_block *ww_dram_block(const struct ww_dram_channel *c, uint32_t bank) {
    return &c->block[bank / WW_DRAM_BLOCK];
}

/* Moves the base up to `cycle`, which is far ahead of it. */
void ww_dram_rebase(struct ww_dram_channel *c, uint64_t cycle);

/* A cycle as the channel counts it. */
static inline int32_t ww_dram_from_base(struct ww_dram_channel *c, uint64_t cycle) {
    if ((int64_t)(cycle - c->base) >= WW_DRAM_SPAN) ww_dram_rebase(c, cycle);
    return (int32_t)(int64_t)(cycle - c->base);
}

/* First cycle of an activate by tRRD and tFAW. */
static inline int32_t ww_dram_slot(const struct ww_dram_channel *c) {
    return ww_dram_later(c->act_ready, c->faw[c->faw_next]);
}

/* To be called when the first cycle of an activate has changed. */
static inline void ww_dram_set_row_slot(struct ww_dram_channel *c) {
    c->row_slot = ww_dram_slot(c) - (int32_t)c->dram->timing.trp;
}

/* To be called when the bank's hit, its head or what its commands wait for has changed. */
static inline void ww_dram_set_times(struct ww_dram_block *b, uint32_t i, uint32_t dir) {
    bool hit = b->of[dir].hit[i] != WW_DRAM_NONE, waits = b->of[dir].head[i] != WW_DRAM_NONE;
    b->of[dir].column_at[i] = hit ? b->column_ready[i] : WW_DRAM_NEVER;
    b->of[dir].row_at[i] = waits && !hit ? b->row_ready[i] : WW_DRAM_NEVER;
}

/* The bank's oldest entry for the open row is e, or there is none. */
static inline void ww_dram_set_hit(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i, uint32_t dir,
                                   uint32_t e) {
    b->of[dir].hit[i] = (uint16_t)e;
    if (e != WW_DRAM_NONE) b->of[dir].hit_order[i] = c->link[e].order;
    ww_dram_set_times(b, i, dir);
}

/* One burst of a bank of the block at `cycle`: what the bank and the other direction wait for. Returns the
 * cycle at which its data have passed the bus. */
static inline int32_t ww_dram_issue_column(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i,
                                           enum ww_dram_direction direction, int32_t cycle) {
    const struct ww_dram_column *t = &c->dram->column[direction];
    int32_t row = cycle + t->row;
    c->column_ready[direction] = cycle + t->gap;
    c->column_ready[!direction] = ww_dram_later(cycle + t->other, c->column_ready[!direction]);
    if (row > b->row_ready[i]) {
        b->row_ready[i] = row;
        if (b->of[!direction].head[i] != WW_DRAM_NONE) ww_dram_set_times(b, i, !direction);
    }
    return cycle + t->data;
}

/* What a channel's event does, the scheduler's work, for this DRAM and host. */
ww_event_fn ww_dram_choose_event(const struct ww_dram *d);
#if defined(__x86_64__) && defined(__GNUC__)
#define WW_DRAM_AVX2
ww_event_fn ww_dram_choose_avx2(const struct ww_dram *d);
#endif

/* Opens `row`, beginning at `cycle`: a precharge then, or, of a closed bank, the activate as soon as it may be.
 * The caller sets the bank's hits after it. */
static inline void ww_dram_open_row(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i,
                                    uint32_t row, int32_t cycle) {
    const struct ww_dram_timing *t = &c->dram->timing;
    int32_t act = cycle;
    if (b->open[i]) {
        c->dram->counter[WW_C_DRAM_PRECHARGE]++;
        act += (int32_t)t->trp;
    } else {
        act = ww_dram_later(act, ww_dram_later(b->row_ready[i] + (int32_t)t->trp, ww_dram_slot(c)));
        if (c->open_banks++ == 0) c->open_since = ww_dram_max(c->base + (uint64_t)(int64_t)act, c->open_until);
    }
    c->dram->counter[WW_C_DRAM_ACTIVATE]++;
    c->act_ready = act + (int32_t)t->trrd;
    c->faw[c->faw_next] = act + (int32_t)t->tfaw;
    c->faw_next = (c->faw_next + 1) & 3;
    ww_dram_set_row_slot(c);
    b->open[i] = true;
    b->row[i] = row;
    b->column_ready[i] = act + (int32_t)t->trcd;
    b->row_ready[i] = act + (int32_t)t->tras;
}
/* Precharges an open bank as soon as its timing allows. */
void ww_dram_close_row(struct ww_dram_channel *c, struct ww_dram_block *b, uint32_t i);
/* Performs the refreshes that are due up to `cycle`, of which there is one. It closes the rows of its banks. */
void ww_dram_refresh_due(struct ww_dram_channel *c, uint64_t cycle);
/* The same if there is one. */
static inline void ww_dram_refresh(struct ww_dram_channel *c, uint64_t cycle) {
    if (c->dram->timing.trefi && c->refresh_due <= cycle) ww_dram_refresh_due(c, cycle);
}

#endif
