/* fast_line.h: lines of the L2 in fast replay: replacement and fills. Between fast_l2.c and fast_read.c.
 *
 * A line's sectors are valid from when they are asked for on; `miss` is the time of its last fill, the low half
 * of an L2 cycle. What `written` counts of a sector that is not valid, it counts here of one that is: the
 * requests that wait for its fill. */
#ifndef WW_CORE_FAST_LINE_H
#define WW_CORE_FAST_LINE_H

#include "fast.h"

/* A fill is never that far in the future, so a larger difference means a time in the past. */
#define WW_FAST_FILL_AHEAD (1u << 20)

/* Cycles from `cycle` until the line's last fill; 0: it has passed. */
static inline uint64_t ww_fast_fill_ahead(const struct ww_l2_line *line, uint64_t cycle) {
    uint32_t ahead = line->miss - (uint32_t)cycle;
    return ahead < WW_FAST_FILL_AHEAD ? ahead : 0;
}

/* Writes sectors of a line to DRAM, when its queue has room; returns that cycle. */
uint64_t ww_fast_write_back(struct ww_fast *f, struct ww_l2_slice *s, uint64_t number, uint8_t sectors,
                            uint64_t cycle);

/* Gives the part a line; returns the cycle at which what it replaces is on its way to DRAM. */
static inline uint64_t ww_fast_claim(struct ww_fast *f, struct ww_l2_slice *s, struct ww_l2_part *part,
                                     uint64_t cycle) {
    bool oldest = ww_l2_tags_takes_oldest(&s->tags, part->set);
    uint32_t victim = oldest ? part->set * s->tags.stride + ww_l2_tags_oldest(&s->tags, part->set)
                             : ww_l2_tags_victim(&s->tags, part->set);
    struct ww_l2_line *line = &s->tags.line[victim];
    if (s->tags.dirty[part->set] && line->dirty) { /* in that order: the line is often far from the host */
        ww_l2_count(s, WW_C_L2_WRITEBACK, ww_bits8(line->dirty));
        cycle = ww_fast_write_back(f, s, line->number, line->dirty, cycle);
    }
    if (oldest)
        ww_l2_tags_install_oldest(&s->tags, part->set, victim, part->number);
    else
        ww_l2_tags_install(&s->tags, part->set, victim, part->number);
    line->miss = (uint32_t)cycle;
    part->index = victim;
    ww_l2_tags_first_use(&s->tags, part->set, victim);
    return cycle;
}

/* One request waits for each of the sectors. */
static inline void ww_fast_set_waiting(struct ww_l2_line *line, uint8_t sectors) {
    const uint64_t ones = 0x0101010101010101u, bits = 0x8040201008040201u, low = 0x7f7f7f7f7f7f7f7fu;
    uint64_t bytes = (((sectors * ones) & bits) + low) >> 7 & ones, waiting; /* one where a sector is */
    memcpy(&waiting, line->written, sizeof waiting);
    waiting = (waiting & ~(bytes * 255)) | bytes;
    memcpy(line->written, &waiting, sizeof waiting);
}

/* Sectors that were asked for are in the line from `ready` on. */
static inline void ww_fast_note_fill(struct ww_l2_line *line, uint8_t sectors, bool from_dram, uint64_t ready) {
    line->valid |= sectors;
    line->from_dram = from_dram ? sectors : 0;
    ww_fast_set_waiting(line, sectors);
    if (!ww_fast_fill_ahead(line, ready)) line->miss = (uint32_t)ready;
}

/* Sectors asked for earlier come to the slice at `ready`; returns when they are in the line. */
static inline uint64_t ww_fast_fill(struct ww_fast *f, struct ww_l2_slice *s, struct ww_l2_line *line,
                                    uint8_t sectors, bool from_dram, uint64_t ready) {
    struct ww_fast_slice *own = &f->slice[s->index];
    uint32_t count = ww_bits8(sectors);
    if (own->fill) ready = ww_calendar_take(own->fill, ready, s->l2->time_of[0][count]);
    ww_places_take(&own->mshrs, count, ready);
    ww_fast_note_fill(line, sectors, from_dram, ready);
    return ready;
}

/* Reads of sectors that are under way: true if their MSHRs hold one more. */
static inline bool ww_fast_join_fill(const struct ww_l2 *l2, struct ww_l2_line *line, uint8_t sectors) {
    for (uint8_t m = sectors; m; m &= (uint8_t)(m - 1))
        if (line->written[__builtin_ctz(m)] >= l2->merge) return false;
    for (uint8_t m = sectors; m; m &= (uint8_t)(m - 1))
        if (line->written[__builtin_ctz(m)] < UINT8_MAX) line->written[__builtin_ctz(m)]++;
    return true;
}

#endif
