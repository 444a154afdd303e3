/* Reads that SMs book: what ww_fast_book does for them, without the other cases. */
#include "fast_read.h"
#include "fast_dram.h"
#include "fast_line.h"

struct ww_fast_ratio ww_fast_ratio_of(const struct ww_clock *from, const struct ww_clock *to) {
    const double almost = 1023.0 / 1024, fp = 65536; /* almost one: times of edges are rounded to ps */
    double begin = (double)(int64_t)(from->origin_ps - to->origin_ps) * fp -
                   (double)from->origin_cycle * (double)from->period_fp;
    return (struct ww_fast_ratio){.ratio = (double)from->period_fp / (double)to->period_fp,
                                  .offset = begin / (double)to->period_fp + (double)to->origin_cycle + almost};
}

const struct ww_clock *ww_fast_clock(const struct ww_fast *f) {
    return f->l2->clock;
}

void ww_fast_tell_clocks(struct ww_fast *f) {
    const struct ww_dram_timing *t = &f->dram->timing;
    f->to_dram = ww_fast_ratio_of(f->l2->clock, &f->dram->clock);
    f->from_dram = ww_fast_ratio_of(&f->dram->clock, f->l2->clock);
    f->dram_tail = (uint64_t)((double)(t->tcl + t->burst + t->latency) * f->from_dram.ratio);
}

void ww_fast_expect(const struct ww_fast *f, uint64_t address, struct ww_mem_place *place) {
    const struct ww_addrmap *map = f->l2->map;
    struct ww_slice_place in = ww_addrmap_slice(map, address);
    const struct ww_l2_slice *s = &f->l2->slice[in.slice];
    const struct ww_l2_tags *t = &s->tags;
    struct ww_dram_place at = ww_addrmap_dram(map, in.slice, in.local);
    uint32_t set = ww_l2_tags_set(t, in.local >> f->l2->line_shift);
    *place = (struct ww_mem_place){in.local, in.slice, set, at.bank, at.row, WW_FAST_UNKNOWN};
    __builtin_prefetch(&t->print[set * t->stride / 8]);
    const char *bank = (const char *)&f->channel[s->channel].bank[at.bank];
    for (uint32_t i = 0; i < sizeof(struct ww_fast_bank); i += WW_HOST_LINE) __builtin_prefetch(bank + i, 1);
}

void ww_fast_expect_line(const struct ww_fast *f, struct ww_mem_place *place) {
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    const struct ww_l2_tags *t = &f->l2->slice[place->slice].tags;
    uint64_t pattern = ww_l2_print_of(place->local >> f->l2->line_shift) * ones;
    uint32_t first = place->set * t->stride, index = WW_NONE;
    for (uint32_t w = 0; w < t->stride; w += 8) {
        uint64_t x = t->print[(first + w) / 8] ^ pattern, m = (x - ones) & ~x & tops;
        if (m) index = first + w + (uint32_t)__builtin_ctzll(m) / 8;
    }
    place->index = f->apart ? index : WW_FAST_UNKNOWN;
    if (index == WW_NONE) index = first + ww_l2_tags_oldest(t, place->set);
    __builtin_prefetch(&t->line[index], 1);
}

/* The line of the L2, or WW_NONE. */
static inline uint32_t find(const struct ww_l2_tags *t, const struct ww_mem_place *place, uint64_t number) {
    return place->index == WW_NONE ? WW_NONE : ww_l2_tags_find(t, place->set, number);
}

/* A reply of so many chunks leaves the slice at L2 cycle `cycle`. */
static inline void answer(struct ww_fast *f, struct ww_fast_slice *own, struct ww_fast_port *port,
                          uint32_t chunks, uint8_t level, uint64_t cycle, struct ww_fast_answers *answers) {
    const struct ww_xbar *x = f->xbar;
    uint32_t flits = ww_xbar_flits(x, 32 * chunks), units = flits << WW_CALENDAR_UNIT, i = answers->count++;
    uint64_t at = ww_calendar_take(&own->send, cycle, units) + x->latency;
    if (port->trunk) at = ww_calendar_take(port->trunk, at, ww_xbar_trunk_time(x, 32 * chunks));
    answers->answer[i].cycle = ww_calendar_take(&port->receive, at, units) + flits - 1;
    answers->answer[i].chunks = chunks;
    answers->answer[i].level = level;
    f->counter[WW_C_XBAR_REPLY]++;
    f->counter[WW_C_XBAR_REPLY_FLIT] += flits;
}

/* The same, of two replies the first. */
static __attribute__((noinline)) void answer_first(struct ww_fast *f, struct ww_fast_slice *own,
                                                   struct ww_fast_port *port, uint32_t chunks, uint8_t level,
                                                   uint64_t cycle, struct ww_fast_answers *answers) {
    answer(f, own, port, chunks, level, cycle, answers);
}

static inline void count_inst(const struct ww_l2 *l2, uint32_t inst, enum ww_inst_counter counter,
                              uint32_t sectors) {
    if (l2->inst) l2->inst[inst].counter[counter] += (uint64_t)sectors << l2->sector_shift;
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
    count_inst(f->l2, inst, WW_I_L2_MERGED, count);
    if (line->from_dram & h.sectors) h.level = WW_LEVEL_DRAM;
    return h;
}

/* Reads sectors from DRAM, as soon as the slice has MSHRs and the channel has room; returns when they are in
 * the line. */
static inline uint64_t fetch(struct ww_fast *f, struct ww_l2_slice *s, uint32_t inst, struct ww_l2_part *part,
                             struct ww_dram_place at, uint8_t need, uint64_t *begin) {
    const struct ww_l2 *l2 = f->l2;
    struct ww_fast_slice *own = &f->slice[s->index];
    struct ww_fast_channel *channel = &f->channel[s->channel];
    struct ww_places *room = &channel->room[WW_DRAM_READ];
    uint32_t count = ww_bits8(need);
    uint64_t cycle = ww_places_free(room, 1, ww_places_free(&own->mshrs, count, *begin));
    if (part->index == WW_NONE) cycle = ww_fast_claim(f, s, part, cycle);
    *begin = cycle;
    struct ww_l2_line *line = &s->tags.line[part->index];
    ww_l2_count(s, WW_C_L2_SECTOR_MISS, count);
    count_inst(l2, inst, WW_I_L2_MISS, count);
    if (l2->blocks) {
        uint8_t more = l2->fetch_of[need] & (uint8_t) ~(line->valid | need);
        ww_l2_count(s, WW_C_L2_PREFETCH, ww_bits8(more));
        need |= more;
        count = ww_bits8(need);
    }
    uint32_t bursts = count * l2->bursts_per_sector;
    uint64_t last = ww_fast_dram_command(f, channel, at, need, bursts, ww_fast_cycle(&f->to_dram, cycle));
    uint64_t issued = ww_fast_cycle(&f->from_dram, last);
    ww_places_take(room, bursts, issued);
    return ww_fast_fill(f, s, line, need, true, issued + f->dram_tail);
}

/* The request leaves the SM's port at `cycle`; returns when all of it is at the slice, whose port is not
 * reserved: the tags, which are behind it, take as long for a read. */
static inline uint64_t send(struct ww_fast *f, const struct ww_fast_read *read, uint64_t cycle) {
    struct ww_xbar *x = f->xbar;
    uint32_t flits = ww_xbar_flits(x, 0);
    f->counter[WW_C_XBAR_REQUEST]++;
    f->counter[WW_C_XBAR_REQUEST_FLIT] += flits;
    f->counter[WW_C_XBAR_SECTOR_READ] += ww_bits8(read->granules);
    return ww_xbar_leave(x, read->sm, flits, cycle) + x->latency + flits - 1;
}

uint64_t ww_fast_book_read(struct ww_fast *f, const struct ww_fast_read *read,
                           struct ww_fast_answers *answers) {
    const struct ww_l2 *l2 = f->l2;
    const struct ww_mem_place *place = read->place;
    struct ww_l2_slice *s = &f->l2->slice[place->slice];
    struct ww_fast_slice *own = &f->slice[place->slice];
    struct ww_fast_port *port = &f->port[f->xbar->port_of[read->sm]];
    uint64_t cycle = ww_fast_room(f, read->sm, place->slice, read->cycle);
    uint64_t begin = send(f, read, cycle) + ww_l2_latency(l2, place->slice, read->sm);
    struct ww_l2_part part = {.number = place->local >> l2->line_shift,
                              .set = place->set,
                              .shift = (uint8_t)(place->local >> 5 & (l2->line_granules - 1))};
    part.want = l2->sectors_of[(uint8_t)(read->granules << part.shift)];
    part.index = find(&s->tags, place, part.number);
    answers->count = 0;
    uint32_t hits = 0;
    if (part.index != WW_NONE && !ww_fast_fill_ahead(&s->tags.line[part.index], begin))
        hits = ww_bits8(s->tags.line[part.index].valid & part.want);
    uint64_t served = begin = ww_calendar_take(&own->tags, begin, l2->time_of[0][hits]);
    struct held held = {0};
    if (part.index != WW_NONE) held = take_held(f, s, read->inst, &part, &begin);
    uint8_t need = part.want & (uint8_t)~held.sectors, sectors = held.sectors;
    ww_l2_count(s, WW_C_L2_SECTOR_READ, ww_bits8(part.want));
    if (need) {
        struct ww_dram_place in = {place->bank, place->row};
        uint64_t at = fetch(f, s, read->inst, &part, in, need, &begin);
        if (sectors && !(held.merged && held.at == at)) {
            uint32_t chunks = ww_bits8((uint32_t)l2->granules_of[sectors] >> part.shift);
            answer_first(f, own, port, chunks, held.level, held.at, answers);
            sectors = 0;
        }
        sectors |= need;
        held.level = WW_LEVEL_DRAM;
        held.at = at;
    }
    if (begin > served) ww_calendar_hold(&own->tags, served, begin); /* those behind it wait, too */
    ww_places_take(&own->requests, 1, begin);
    uint32_t chunks = ww_bits8((uint32_t)l2->granules_of[sectors] >> part.shift);
    answer(f, own, port, chunks, held.level, held.at, answers);
    return cycle;
}
