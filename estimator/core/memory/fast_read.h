/* fast_read.h: reads that SMs book (sm/booked.h), where a request lies in one line of the L2 and the L2 has
 * nothing of what is rare: what ww_memsys_expect, _expect_line and _book do, in fewer steps. Most requests are
 * such reads. */
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

/* Where a request of the line goes; the host loads tags and bank. */
void ww_fast_expect(const struct ww_fast *f, uint64_t address, struct ww_mem_place *place);
/* Once these are there, the line that the tags lead to: place->index is the one of the set that may be it, or
 * WW_NONE. That holds while no other SM books a read: requests of an instruction are of different lines. */
void ww_fast_expect_line(const struct ww_fast *f, struct ww_mem_place *place);
#define WW_FAST_UNKNOWN (UINT32_MAX - 1) /* place->index: the tags have not been looked at */

struct ww_fast_read {
    const struct ww_mem_place *place;
    uint64_t cycle; /* of the L2, in which it is sent, or later, when it is no longer refused */
    uint32_t inst;  /* that asks */
    uint16_t sm;
    uint8_t granules; /* 32-byte ones of the line */
};
struct ww_fast_answers { /* as ww_mem_answers, in L2 cycles */
    uint32_t count;
    struct {
        uint64_t cycle;
        uint32_t chunks;
        uint8_t level;
    } answer[2];
};
/* Sends a read; returns when. Its replies are told in `answers`. */
uint64_t ww_fast_book_read(struct ww_fast *f, const struct ww_fast_read *read, struct ww_fast_answers *answers);

#endif
