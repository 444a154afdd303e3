/* fast_read.h: reads that SMs book (sm/booked.h), where a request lies in one line of the L2 and the L2 has
 * nothing of what is rare: what ww_memsys_expect, _expect_line and _book do, in fewer steps. Most requests are
 * such reads. */
#ifndef WW_CORE_FAST_READ_H
#define WW_CORE_FAST_READ_H

#include "memsys.h"

struct ww_fast;

/* The memory system's reservations, if all its reads are such; else NULL. */
struct ww_fast *ww_memsys_plain(const struct ww_memsys *m);

/* Where a request of the line goes; the host loads tags and bank. */
void ww_fast_expect(const struct ww_fast *f, uint64_t address, struct ww_mem_place *place);
/* Once these are there, the lines that the tags lead to. */
void ww_fast_expect_line(const struct ww_fast *f, const struct ww_mem_place *place);

struct ww_fast_read {
    const struct ww_mem_place *place;
    uint64_t ps;   /* at which it is sent, or later, when it is no longer refused */
    uint32_t inst; /* that asks */
    uint16_t sm;
    uint8_t granules; /* 32-byte ones of the line */
};
/* Sends a read; returns when. Its replies are told in `answers`. */
uint64_t ww_fast_book_read(struct ww_fast *f, const struct ww_fast_read *read, struct ww_mem_answers *answers);

#endif
