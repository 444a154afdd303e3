/* Reads that SMs book: what ww_fast_book does for them, without the other cases. */
#include "fast_read.h"
#include "fast_dram.h"
#include "fast_line.h"

/* ---- clocks, an SM --------------------------------------------------------------------------- */

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

/* Whether a slice's port to the crossbar is slower than its tags, or than what DRAM can give it. */
static bool sends_slowly(const struct ww_fast *f) {
    const struct ww_l2 *l2 = f->l2;
    const struct ww_dram *d = f->dram;
    const uint32_t chunks = l2->sector_granules; /* of a sector */
    for (uint32_t sectors = 1; sectors * chunks <= l2->line_granules; sectors++)
        if (f->reply_flits[sectors * chunks] << WW_CALENDAR_UNIT > l2->time_of[0][sectors]) return true;
    uint64_t given = l2->bursts_per_sector * d->timing.gap * d->clock.period_fp;
    return f->reply_flits[chunks] * l2->clock->period_fp > given;
}

void ww_fast_tell_clocks(struct ww_fast *f) {
    const struct ww_dram_timing *t = &f->dram->timing;
    f->to_dram = ww_fast_ratio_of(f->l2->clock, &f->dram->clock);
    f->from_dram = ww_fast_ratio_of(&f->dram->clock, f->l2->clock);
    f->dram_tail = (uint64_t)((double)(t->tcl + t->burst + t->latency) * f->from_dram.ratio);
    f->request_flits = ww_xbar_flits(f->xbar, 0);
    f->request_way = f->xbar->latency + f->request_flits - 1;
    for (uint32_t chunks = 0; chunks < 9; chunks++) {
        f->reply_flits[chunks] = ww_xbar_flits(f->xbar, 32 * chunks);
        f->trunk_units[chunks] = ww_xbar_trunk_time(f->xbar, 32 * chunks);
    }
    f->sends = sends_slowly(f);
}

void ww_fast_reader_init(struct ww_fast_reader *r, struct ww_fast *f, uint16_t sm, uint32_t line) {
    const struct ww_l2 *l2 = f->l2;
    uint32_t port = f->xbar->port_of[sm];
    *r = (struct ww_fast_reader){.f = f,
                                 .send_free = &f->xbar->send_free[port],
                                 .latency_of = l2->latency_of ? l2->latency_of + (size_t)sm * l2->slices : NULL,
                                 .receive = &f->port[port].receive,
                                 .trunk = f->port[port].trunk,
                                 .apart = line >= 1u << l2->line_shift};
}

/* ---- where reads go -------------------------------------------------------------------------- */

static inline struct ww_fast_where where(const struct ww_fast *f, uint64_t address) {
    if (f->map.fits && !(address >> WW_FAST_MAP_END)) return ww_fast_where(&f->map, address);
    const struct ww_addrmap *map = f->l2->map;
    struct ww_slice_place in = ww_addrmap_slice(map, address);
    struct ww_dram_place at = ww_addrmap_dram(map, in.slice, in.local);
    uint64_t number = in.local >> f->l2->line_shift;
    uint32_t set = ww_l2_tags_set(f->slice[in.slice].lines, number);
    return (struct ww_fast_where){number, in.slice, set, at.bank, at.row};
}

/* The host loads the windows of calendars that a read needs, if it comes at about the time of the last one. */
WW_AHEAD expect_windows(const struct ww_fast *f, struct ww_fast_slice *own, uint32_t bank) {
    const struct ww_fast_channel *c = own->channel;
    uint32_t n = (uint32_t)(f->recent >> WW_CALENDAR_SHIFT) & (WW_CALENDAR_WINDOWS - 1);
    uint32_t m = (uint32_t)(f->recent_dram >> WW_CALENDAR_SHIFT) & (WW_CALENDAR_WINDOWS - 1);
    __builtin_prefetch(&own->tags.used[n], 1);
    __builtin_prefetch(&own->requests.leave[f->recent >> WW_PLACES_SHIFT & (WW_PLACES_WINDOWS - 1)], 1);
    __builtin_prefetch(&c->activates.used[m], 1);
    __builtin_prefetch(&c->bus.used[m], 1);
    if (!c->group) return;
    const struct ww_calendar *group = &c->group[bank & (f->dram->groups - 1)];
    __builtin_prefetch(group, 1);
    __builtin_prefetch(&group->used[m], 1);
}

/* The host loads fingerprints and order of the set, and the bank. */
WW_AHEAD expect(const struct ww_fast *f, struct ww_mem_place *place) {
    uint64_t address = place->local;
    struct ww_fast_where w = where(f, address);
    struct ww_fast_slice *own = &f->slice[w.slice];
    const struct ww_l2_tags *t = own->lines;
    uint32_t word = w.set * t->stride / 8;
    place->local = w.number << f->l2->line_shift | (address & (((uint64_t)1 << f->l2->line_shift) - 1));
    place->slice = w.slice;
    place->set = w.set;
    place->bank = w.bank;
    place->row = w.row;
    __builtin_prefetch(&t->print[word], 1);
    if (t->order) __builtin_prefetch(&t->order[word], 1);
    const struct ww_fast_channel *c = own->channel;
    __builtin_prefetch(&c->bank[w.bank], 1);
    __builtin_prefetch(&own->tags, 1);
    __builtin_prefetch(&own->requests, 1);
    __builtin_prefetch(&own->mshrs, 1);
    __builtin_prefetch(&c->room[WW_DRAM_READ], 1);
    __builtin_prefetch(&c->bus, 1);
    __builtin_prefetch(&c->activates, 1);
    __builtin_prefetch(&c->base, 1);
    __builtin_prefetch(&c->drained, 1);
    __builtin_prefetch(&c->closed[w.bank]);
    expect_windows(f, own, w.bank);
}

/* The same for the line that these lead to. */
WW_AHEAD expect_line(const struct ww_fast *f, struct ww_mem_place *place) {
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    const struct ww_l2_tags *t = f->slice[place->slice].lines;
    uint64_t pattern = ww_l2_print_of(place->local >> f->l2->line_shift) * ones;
    uint32_t first = place->set * t->stride, index = WW_NONE;
    for (uint32_t w = 0; w < t->stride; w += 8) {
        uint64_t x = t->print[(first + w) / 8] ^ pattern, m = (x - ones) & ~x & tops;
        if (m) index = first + w + (uint32_t)__builtin_ctzll(m) / 8;
    }
    place->index = index;
    if (index == WW_NONE) index = first + ww_l2_tags_oldest(t, place->set);
    __builtin_prefetch(&t->line[index], 1);
}

void ww_fast_expect(const struct ww_fast *f, struct ww_mem_place *place, uint32_t mask) {
    for (uint32_t m = mask; m; m &= m - 1) expect(f, &place[__builtin_ctz(m)]);
    for (uint32_t m = mask; m; m &= m - 1) expect_line(f, &place[__builtin_ctz(m)]);
}

/* ---- a read ---------------------------------------------------------------------------------- */

/* A read that is worked on. */
struct read {
    struct ww_fast_slice *own;
    struct ww_l2_line *line; /* NULL: the L2 has none */
    uint64_t begin;          /* cycle at which the tags are its own, or later if it must wait */
    uint8_t want;            /* sectors */
};

/* The cycle, from `cycle` on, in which the SM's port and the slice take a request. */
static inline uint64_t room(const struct ww_fast_reader *r, struct ww_fast_slice *own, uint64_t cycle) {
    for (uint64_t free = cycle;; cycle = free) {
        uint64_t busy = *r->send_free;
        if (busy >= cycle + WW_XBAR_BACKLOG)
            free = busy - WW_XBAR_BACKLOG / 2 > cycle ? busy - WW_XBAR_BACKLOG / 2 : cycle + 1;
        free = ww_places_free(&own->requests, 1, free);
        if (free == cycle) return cycle;
    }
}

/* The L2's line, or NULL. */
static inline struct ww_l2_line *find(const struct ww_l2_tags *t, const struct ww_mem_place *place,
                                      uint64_t number, bool sure) {
    if (place->index == WW_NONE && sure) return NULL;
    if (place->index != WW_NONE && t->line[place->index].number == number) return &t->line[place->index];
    uint32_t index = ww_l2_tags_find(t, place->set, number);
    return index == WW_NONE ? NULL : &t->line[index];
}

/* A reply of so many chunks leaves the slice at L2 cycle `cycle`. */
static inline void answer(struct ww_fast_reader *r, struct ww_fast_slice *own, uint32_t chunks, uint32_t level,
                          uint64_t cycle) {
    const struct ww_fast *f = r->f;
    uint32_t flits = f->reply_flits[chunks], units = flits << WW_CALENDAR_UNIT, i = r->answers++;
    if (f->sends) cycle = ww_calendar_take(&own->send, cycle, units);
    uint64_t at = cycle + f->xbar->latency;
    if (r->trunk) at = ww_calendar_take(r->trunk, at, f->trunk_units[chunks]);
    r->answer[i].cycle = ww_calendar_take(r->receive, at, units) + flits - 1;
    r->answer[i].chunks = chunks;
    r->answer[i].level = level;
    r->reply_flits += flits;
}

/* The same, of two replies the first. */
static __attribute__((noinline)) void answer_first(struct ww_fast_reader *r, struct ww_fast_slice *own,
                                                   uint32_t chunks, uint32_t level, uint64_t cycle) {
    answer(r, own, chunks, level, cycle);
}

/* What the line has of what is wanted. */
struct held {
    uint8_t sectors, level;
    bool merged;
    uint64_t at;
};

/* Looks the line up, when the read's turn has come, or later if it must wait for a fill. */
static struct held take_held(struct ww_fast_reader *r, struct read *q, uint32_t set) {
    struct ww_l2_tags *t = q->own->lines;
    struct ww_l2_line *line = q->line;
    struct held h = {.sectors = line->valid & q->want, .level = WW_LEVEL_L2};
    ww_l2_tags_touch(t, set, (uint32_t)(line - t->line));
    if (!h.sectors) return h;
    uint64_t ahead = ww_fast_fill_ahead(line, q->begin);
    if (ahead && !ww_fast_join_fill(r->f->l2, line, h.sectors)) {
        q->begin += ahead;
        ahead = 0;
    }
    h.at = q->begin + ahead;
    h.merged = ahead;
    if (ahead)
        r->inst_merged += ww_bits8(h.sectors);
    else
        r->hit += ww_bits8(h.sectors);
    if (ahead && line->from_dram & h.sectors) h.level = WW_LEVEL_DRAM;
    return h;
}

/* As ww_fast_claim, where it is not the oldest line of the set that is replaced, or that is dirty. */
static __attribute__((noinline)) void claim_any(struct ww_fast *f, struct read *q,
                                                const struct ww_mem_place *place, uint64_t number) {
    struct ww_l2_slice *s = &f->l2->slice[place->slice];
    struct ww_l2_part part = {.number = number, .set = place->set};
    q->begin = ww_fast_claim(f, s, &part, q->begin);
    q->line = &s->tags.line[part.index];
}

/* Gives the read a line, when what that replaces is on its way to DRAM. */
static inline void claim(struct ww_fast *f, struct read *q, const struct ww_mem_place *place, uint64_t number) {
    struct ww_l2_tags *t = q->own->lines;
    if (t->dirty[place->set] || !ww_l2_tags_takes_oldest(t, place->set)) {
        claim_any(f, q, place, number);
        return;
    }
    uint32_t index = place->set * t->stride + ww_l2_tags_oldest(t, place->set);
    ww_l2_tags_install_oldest(t, place->set, index, number);
    q->line = &t->line[index];
    q->line->miss = (uint32_t)q->begin;
}

/* Reads sectors from DRAM, as soon as the slice has MSHRs and the channel has room; returns when they are in
 * the line. */
static inline uint64_t fetch(struct ww_fast_reader *r, struct read *q, const struct ww_mem_place *place,
                             uint64_t number, uint8_t need) {
    struct ww_fast *f = r->f;
    const struct ww_l2 *l2 = f->l2;
    struct ww_fast_slice *own = q->own;
    uint32_t count = ww_bits8(need);
    q->begin = ww_fast_read_room(own->channel, ww_places_free(&own->mshrs, count, q->begin));
    if (!q->line) claim(f, q, place, number);
    struct ww_l2_line *line = q->line;
    r->inst_missed += count;
    if (l2->blocks) {
        need |= l2->fetch_of[need] & (uint8_t)~line->valid;
        count = ww_bits8(need);
    }
    r->fetched += count;
    uint32_t bursts = count * l2->bursts_per_sector;
    struct ww_dram_place at = {place->bank, place->row};
    uint64_t last = ww_fast_dram_command(f, own->channel, at, bursts, ww_fast_cycle(&f->to_dram, q->begin));
    f->recent_dram = last;
    uint64_t issued = ww_fast_cycle(&f->from_dram, last), ready = issued + f->dram_tail;
    ww_fast_queue_read(own->channel, bursts, issued);
    if (own->fill) ready = ww_calendar_take(own->fill, ready, l2->time_of[0][count]);
    ww_places_take(&own->mshrs, count, ready);
    ww_fast_note_fill(line, need, true, ready);
    return ready;
}

uint64_t ww_fast_book_read(struct ww_fast_reader *r, const struct ww_mem_place *place, uint32_t granules,
                           uint64_t cycle) {
    struct ww_fast *f = r->f;
    const struct ww_l2 *l2 = f->l2;
    struct ww_fast_slice *own = &f->slice[place->slice];
    const uint64_t number = place->local >> l2->line_shift;
    const uint32_t shift = (uint32_t)(place->local >> 5) & (l2->line_granules - 1);
    struct read q = {.own = own, .want = l2->sectors_of[(uint8_t)(granules << shift)]};
    cycle = room(r, own, cycle);
    uint64_t start = *r->send_free > cycle ? *r->send_free : cycle;
    *r->send_free = start + f->request_flits;
    /* The slice's port is not reserved: the tags, which are behind it, take as long for a read. */
    q.begin = start + f->request_way + (r->latency_of ? r->latency_of[place->slice] : l2->latency);
    q.line = find(own->lines, place, number, r->sure);
    uint32_t hits = 0;
    if (q.line && !ww_fast_fill_ahead(q.line, q.begin)) hits = ww_bits8(q.line->valid & q.want);
    uint64_t served = q.begin = ww_calendar_take(&own->tags, q.begin, l2->time_of[0][hits]);
    struct held held = {0};
    if (q.line) held = take_held(r, &q, place->set);
    uint8_t need = q.want & (uint8_t)~held.sectors, sectors = held.sectors;
    r->reads++;
    r->granules += ww_bits8(granules);
    r->sectors += ww_bits8(q.want);
    r->answers = 0;
    if (need) {
        uint64_t at = fetch(r, &q, place, number, need);
        if (sectors && !(held.merged && held.at == at)) {
            uint32_t chunks = ww_bits8((uint32_t)l2->granules_of[sectors] >> shift);
            answer_first(r, own, chunks, held.level, held.at);
            sectors = 0;
        }
        sectors |= need;
        held.level = WW_LEVEL_DRAM;
        held.at = at;
    }
    if (q.begin > served) ww_calendar_hold(&own->tags, served, q.begin); /* those behind it wait, too */
    ww_places_take(&own->requests, 1, q.begin);
    f->recent = q.begin;
    answer(r, own, ww_bits8((uint32_t)l2->granules_of[sectors] >> shift), held.level, held.at);
    r->replies += r->answers;
    return cycle;
}

void ww_fast_count_inst(struct ww_fast_reader *r, uint32_t inst) {
    const struct ww_l2 *l2 = r->f->l2;
    if (l2->inst) {
        l2->inst[inst].counter[WW_I_L2_MERGED] += (uint64_t)r->inst_merged << l2->sector_shift;
        l2->inst[inst].counter[WW_I_L2_MISS] += (uint64_t)r->inst_missed << l2->sector_shift;
    }
    r->merged += r->inst_merged;
    r->missed += r->inst_missed;
    r->inst_merged = r->inst_missed = 0;
}

void ww_fast_count_reads(struct ww_fast_reader *r) {
    const struct ww_fast *f = r->f;
    const struct ww_l2 *l2 = f->l2;
    const uint32_t shift = l2->sector_shift;
    const uint64_t bursts = r->fetched * l2->bursts_per_sector;
    uint64_t *n = f->counter;
    n[WW_C_XBAR_REQUEST] += r->reads;
    n[WW_C_XBAR_REQUEST_FLIT] += r->reads * f->request_flits;
    n[WW_C_XBAR_SECTOR_READ] += r->granules;
    n[WW_C_L2_SECTOR_READ] += r->sectors << shift;
    n[WW_C_L2_SECTOR_HIT] += r->hit << shift;
    n[WW_C_L2_SECTOR_MERGED] += r->merged << shift;
    n[WW_C_L2_SECTOR_MISS] += r->missed << shift;
    n[WW_C_L2_PREFETCH] += (r->fetched - r->missed) << shift;
    n[WW_C_DRAM_SECTOR_READ] += r->fetched << f->dram->sector_shift;
    n[WW_C_DRAM_BURST_READ] += bursts;
    n[WW_C_DRAM_BUSY_CYCLES] += bursts * f->dram->timing.burst;
    n[WW_C_XBAR_REPLY] += r->replies;
    n[WW_C_XBAR_REPLY_FLIT] += r->reply_flits;
    r->reads = r->granules = r->sectors = r->hit = r->merged = r->missed = r->fetched = r->replies =
        r->reply_flits = 0;
}
