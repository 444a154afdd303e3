/* fast_read.h: reads that SMs book (sm/booked.h), where a request lies in one line of the L2 and the L2 has
 * nothing of what is rare: what ww_memsys_book does, in fewer steps. Most requests are such reads. */
#ifndef WW_CORE_FAST_READ_H
#define WW_CORE_FAST_READ_H

#include "memsys.h"

struct ww_fast;

/* The memory system's reservations, if all its reads are such; else NULL. */
struct ww_fast *ww_memsys_plain(const struct ww_memsys *m);

/* From the cycles of one clock to those of another, while neither's frequency changes. */
struct ww_clock;
struct ww_fast_ratio {
    double ratio, offset;
};
struct ww_fast_ratio ww_fast_ratio_of(const struct ww_clock *from, const struct ww_clock *to);
/* The first cycle of the one clock that begins with the other's or later. */
static inline uint64_t ww_fast_cycle(const struct ww_fast_ratio *r, uint64_t cycle) {
    return (uint64_t)(int64_t)((double)(int64_t)cycle * r->ratio + r->offset);
}

/* The clock of the L2. */
const struct ww_clock *ww_fast_clock(const struct ww_fast *f);

/* As ww_memsys_expect. place->index is the line of the set that may be the one, or WW_NONE: there is none. */
void ww_fast_expect(const struct ww_fast *f, struct ww_mem_place *place, uint32_t mask);

/* An SM's reads. */
struct ww_fast_reader {
    struct ww_fast *f;
    uint64_t *send_free;         /* of its port */
    const uint16_t *latency_of;  /* by slice; NULL: all have the same */
    struct ww_calendar *receive; /* its port */
    struct ww_calendar *trunk;   /* NULL: there is none */
    bool apart;                  /* reads of an instruction are of different lines of the L2 */
    bool sure; /* the caller's: the L2 still has no line for a read whose place->index is WW_NONE */
    /* Of the last read: what its replies bring, and the L2 cycle at which all of it is at the SM. */
    uint32_t answers;
    struct {
        uint64_t cycle;
        uint32_t chunks, level;
    } answer[2];
    /* What was read and is not counted yet: requests, granules, sectors of the L2, flits. */
    uint64_t reads, granules, sectors, hit, merged, missed, fetched, replies, reply_flits;
    uint32_t inst_merged, inst_missed; /* the same of the instruction that asks, if it is not counted yet */
};
/* line: bytes of a line of the SM's cache. */
void ww_fast_reader_init(struct ww_fast_reader *r, struct ww_fast *f, uint16_t sm, uint32_t line);
/* Sends a read of granules of the request line to the place at L2 cycle `cycle`, or when it is no longer
 * refused, which it returns. */
uint64_t ww_fast_book_read(struct ww_fast_reader *r, const struct ww_mem_place *place, uint32_t granules,
                           uint64_t cycle);
/* Counts what the instruction has asked for. */
void ww_fast_count_inst(struct ww_fast_reader *r, uint32_t inst);
/* Counts all reads, whose instructions have been counted. */
void ww_fast_count_reads(struct ww_fast_reader *r);

#endif
