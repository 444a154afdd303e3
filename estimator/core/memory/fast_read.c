/* Reads that SMs book: what ww_fast_book does for them, without the other cases. */
#include "fast_read.h"
#include "fast_dram.h"
#include "fast_line.h"

void ww_fast_expect(const struct ww_fast *f, uint64_t address, struct ww_mem_place *place) {
    const struct ww_addrmap *map = f->l2->map;
    struct ww_slice_place in = ww_addrmap_slice(map, address);
    const struct ww_l2_slice *s = &f->l2->slice[in.slice];
    const struct ww_l2_tags *t = &s->tags;
    struct ww_dram_place at = ww_addrmap_dram(map, in.slice, in.local);
    uint32_t set = ww_l2_tags_set(t, in.local >> f->l2->line_shift);
    *place = (struct ww_mem_place){in.local, in.slice, set, at.bank, at.row};
    __builtin_prefetch(&t->print[set * t->stride / 8]);
    const char *bank = (const char *)&f->channel[s->channel].bank[at.bank];
    for (uint32_t i = 0; i < sizeof(struct ww_fast_bank); i += WW_HOST_LINE) __builtin_prefetch(bank + i, 1);
}

void ww_fast_expect_line(const struct ww_fast *f, const struct ww_mem_place *place) {
    const struct ww_l2_tags *t = &f->l2->slice[place->slice].tags;
    ww_l2_tags_prefetch(t, place->set, place->local >> f->l2->line_shift);
}

/* A reply of so many chunks leaves the slice at L2 cycle `cycle`. */
static inline void answer(struct ww_fast *f, struct ww_fast_slice *own, uint32_t port, uint32_t chunks,
                          uint8_t level, uint64_t cycle, struct ww_mem_answers *answers) {
    const struct ww_xbar *x = f->xbar;
    uint32_t flits = ww_xbar_flits(x, 32 * chunks);
    uint64_t at = ww_calendar_take(&own->send, cycle, flits << WW_CALENDAR_UNIT) + x->latency;
    if (f->trunks)
        at = ww_calendar_take(&f->trunk[port * f->trunks / f->ports], at, ww_xbar_trunk_time(x, 32 * chunks));
    at = ww_calendar_take(&f->port[port].receive, at, flits << WW_CALENDAR_UNIT) + flits - 1;
    f->counter[WW_C_XBAR_REPLY]++;
    f->counter[WW_C_XBAR_REPLY_FLIT] += flits;
    answers->answer[answers->count++] =
        (struct ww_mem_answer){.ps = ww_clock_time(x->clock, at), .chunks = chunks, .level = level};
}

/* The same, of two replies the first. */
static __attribute__((noinline)) void answer_first(struct ww_fast *f, struct ww_fast_slice *own, uint32_t port,
                                                   uint32_t chunks, uint8_t level, uint64_t cycle,
                                                   struct ww_mem_answers *answers) {
    answer(f, own, port, chunks, level, cycle, answers);
}

/* What the part's line has of what is wanted. */
struct held {
    uint8_t sectors, level;
    bool merged;
    uint64_t at;
};

/* Looks the line up at *begin, or later if the read must wait for a fill. */
static struct held take_held(struct ww_fast *f, struct ww_l2_slice *s, uint32_t inst,
                             const struct ww_l2_part *part, uint64_t *begin) {
    struct ww_l2_line *line = &s->tags.line[part->index];
    struct held h = {.sectors = line->valid & part->want, .level = WW_LEVEL_L2};
    ww_l2_tags_touch(&s->tags, part->set, part->index);
    if (!h.sectors) return h;
    uint64_t ahead = ww_fast_fill_ahead(line, *begin);
    uint32_t count = ww_bits8(h.sectors);
    if (ahead && !ww_fast_join_fill(s->l2, line, h.sectors)) {
        *begin += ahead;
        ahead = 0;
    }
    h.at = *begin + ahead;
    h.merged = ahead;
    ww_l2_count(s, ahead ? WW_C_L2_SECTOR_MERGED : WW_C_L2_SECTOR_HIT, count);
    if (!ahead) return h;
    if (f->l2->inst) f->l2->inst[inst].counter[WW_I_L2_MERGED] += (uint64_t)count << f->l2->sector_shift;
    if (line->from_dram & h.sectors) h.level = WW_LEVEL_DRAM;
    return h;
}

/* Reads sectors from DRAM, as soon as the slice has MSHRs and the channel has room; returns when they are in
 * the line. */
static uint64_t fetch(struct ww_fast *f, struct ww_l2_slice *s, uint32_t inst, struct ww_l2_part *part,
                      struct ww_dram_place at, uint8_t need, uint64_t *begin) {
    struct ww_fast_slice *own = &f->slice[s->index];
    struct ww_fast_channel *channel = &f->channel[s->channel];
    uint32_t count = ww_bits8(need);
    uint64_t cycle = ww_places_free(&own->mshrs, count, *begin);
    cycle = ww_places_free(&channel->room[WW_DRAM_READ], 1, cycle);
    if (part->index == WW_NONE) cycle = ww_fast_claim(f, s, part, cycle);
    *begin = cycle;
    struct ww_l2_line *line = &s->tags.line[part->index];
    uint8_t more = f->l2->blocks ? f->l2->fetch_of[need] & (uint8_t) ~(line->valid | need) : 0;
    ww_l2_count(s, WW_C_L2_SECTOR_MISS, count);
    if (f->l2->inst) f->l2->inst[inst].counter[WW_I_L2_MISS] += (uint64_t)count << f->l2->sector_shift;
    if (more) ww_l2_count(s, WW_C_L2_PREFETCH, ww_bits8(more));
    uint64_t ready = ww_fast_dram_read_at(f, channel, at, need | more, cycle);
    return ww_fast_fill(f, s, line, need | more, true, ready);
}

uint64_t ww_fast_book_read(struct ww_fast *f, const struct ww_fast_read *read, struct ww_mem_answers *answers) {
    struct ww_l2 *l2 = f->l2;
    struct ww_xbar *x = f->xbar;
    const struct ww_mem_place *place = read->place;
    struct ww_l2_slice *s = &l2->slice[place->slice];
    struct ww_fast_slice *own = &f->slice[place->slice];
    uint64_t asked = ww_clock_cycle(l2->clock, read->ps);
    uint64_t cycle = ww_fast_room(f, read->sm, place->slice, asked);
    uint32_t flits = ww_xbar_flits(x, 0), port = x->port_of[read->sm];
    uint64_t arrived = ww_xbar_leave(x, read->sm, flits, cycle) + x->latency;
    arrived = ww_calendar_take(&own->receive, arrived, flits << WW_CALENDAR_UNIT) + flits - 1;
    f->counter[WW_C_XBAR_REQUEST]++;
    f->counter[WW_C_XBAR_REQUEST_FLIT] += flits;
    f->counter[WW_C_XBAR_SECTOR_READ] += ww_bits8(read->granules);
    answers->count = 0;

    struct ww_l2_part part = {.number = place->local >> l2->line_shift,
                              .set = place->set,
                              .shift = (uint8_t)(place->local >> 5 & (l2->line_granules - 1))};
    part.want = l2->sectors_of[(uint8_t)(read->granules << part.shift)];
    part.index = ww_l2_tags_find(&s->tags, part.set, part.number);
    uint64_t begin = arrived + ww_l2_latency(l2, place->slice, read->sm);
    uint32_t hits = 0;
    if (part.index != WW_NONE && !ww_fast_fill_ahead(&s->tags.line[part.index], begin))
        hits = ww_bits8(s->tags.line[part.index].valid & part.want);
    uint64_t served = begin = ww_calendar_take(&own->tags, begin, l2->time_of[0][hits]);
    struct held held = {0};
    if (part.index != WW_NONE) held = take_held(f, s, read->inst, &part, &begin);
    uint8_t need = part.want & (uint8_t)~held.sectors;
    uint64_t at = 0;
    if (need)
        at = fetch(f, s, read->inst, &part, (struct ww_dram_place){place->bank, place->row}, need, &begin);
    if (begin > served) ww_calendar_hold(&own->tags, served, begin); /* those behind it wait, too */
    ww_places_take(&own->requests, 1, begin);
    ww_l2_count(s, WW_C_L2_SECTOR_READ, ww_bits8(part.want));
    uint8_t sectors = held.sectors, level = held.level;
    if (need) {
        if (sectors && !(held.merged && held.at == at)) {
            uint32_t chunks = ww_bits8((uint32_t)l2->granules_of[sectors] >> part.shift);
            answer_first(f, own, port, chunks, level, held.at, answers);
            sectors = 0;
        }
        sectors |= need;
        level = WW_LEVEL_DRAM;
        held.at = at;
    }
    answer(f, own, port, ww_bits8((uint32_t)l2->granules_of[sectors] >> part.shift), level, held.at, answers);
    return cycle > asked ? ww_clock_time(l2->clock, cycle) : read->ps;
}
