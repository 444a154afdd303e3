/* An L2 slice of fast replay: look-ups in order, MSHRs as places, fills at the time that DRAM gives. */
#include "fast_dram.h"
#include "fast_line.h"
#include "l2_prefetch.h"

/* What a request found, by part of it: granules, and the cycle at which the slice has them. */
struct found {
    uint64_t at[3];
    uint8_t granules[3], level[3];
};
enum { HIT, MERGED, MISSED };

static inline void add(struct found *r, uint32_t what, uint8_t granules, uint64_t at, uint8_t level) {
    if (!granules) return;
    r->granules[what] |= granules;
    if (at > r->at[what]) r->at[what] = at;
    if (level > r->level[what]) r->level[what] = level;
}

static inline uint8_t granules_of(const struct ww_l2 *l2, const struct ww_l2_part *part, uint8_t sectors) {
    return (uint8_t)(l2->granules_of[sectors] >> part->shift << part->base);
}

uint64_t ww_fast_write_back(struct ww_fast *f, struct ww_l2_slice *s, uint64_t number, uint8_t sectors,
                            uint64_t cycle) {
    uint64_t at = ww_places_free(&f->channel[s->channel].room[WW_DRAM_WRITE], 1, cycle);
    ww_fast_dram_write(f, s->index, number, sectors, at);
    return at;
}

static uint64_t read_home(struct ww_fast *f, struct ww_l2_slice *copy, const struct ww_l2_packet *p,
                          uint64_t number, uint8_t sectors, uint64_t cycle, uint8_t *level);

/* Reads sectors that the part's line, which is there, lacks. *begin: the cycle at which the slice has an MSHR
 * and room for it; returns that at which they are there. */
static uint64_t fetch(struct ww_fast *f, struct ww_l2_slice *s, const struct ww_l2_packet *p,
                      struct ww_l2_part *part, uint8_t need, uint64_t *begin, uint8_t *level) {
    struct ww_l2 *l2 = s->l2;
    struct ww_fast_slice *own = &f->slice[s->index];
    bool copy = part->number & l2->copy_bit;
    uint64_t cycle = ww_places_free(&own->mshrs, ww_bits8(need), *begin), ready;
    if (!copy) cycle = ww_fast_read_room(&f->channel[s->channel], cycle);
    if (part->index == WW_NONE) cycle = ww_fast_claim(f, s, part, cycle);
    *begin = cycle;
    struct ww_l2_line *line = &s->tags.line[part->index];
    uint8_t more = l2->blocks && !copy ? l2->fetch_of[need] & (uint8_t) ~(line->valid | need) : 0;
    *level = WW_LEVEL_DRAM;
    if (copy) {
        ww_l2_count(s, WW_C_L2_FAR, ww_bits8(need));
        ready = read_home(f, s, p, part->number, need, cycle, level);
    } else if (ww_l2_is_elsewhere(s, p, part)) {
        ww_l2_count(s, WW_C_L2_SECTOR_MERGED, ww_bits8(need));
        ww_l2_count_inst(s, p, WW_I_L2_MERGED, ww_bits8(need));
        ready = cycle + l2->elsewhere_latency;
        *level = WW_LEVEL_L2;
    } else {
        ww_l2_count(s, WW_C_L2_SECTOR_MISS, ww_bits8(need));
        ww_l2_count_inst(s, p, WW_I_L2_MISS, ww_bits8(need));
        if (more) ww_l2_count(s, WW_C_L2_PREFETCH, ww_bits8(more));
        ready = ww_fast_dram_read(f, s->index, part->number, need | more, cycle);
    }
    return ww_fast_fill(f, s, line, need | more, *level == WW_LEVEL_DRAM, ready);
}

/* Looks the part up at *begin, at which the tags are the request's, or later if it must wait. */
static void read_part(struct ww_fast *f, struct ww_l2_slice *s, const struct ww_l2_packet *p,
                      struct ww_l2_part *part, uint64_t *begin, struct found *r) {
    uint8_t have = 0, need, level;
    if (part->index != WW_NONE) {
        struct ww_l2_line *line = &s->tags.line[part->index];
        have = line->valid & part->want;
        ww_l2_tags_touch(&s->tags, part->set, part->index);
        if (line->prefetched & have) ww_l2_prefetch_used(s, p, part, *begin);
        uint64_t ahead = have ? ww_fast_fill_ahead(line, *begin) : 0;
        if (ahead && !ww_fast_join_fill(s->l2, line, have)) { /* waits at the slice until it is a hit */
            *begin += ahead;
            ahead = 0;
        }
        if (ahead) {
            ww_l2_count(s, WW_C_L2_SECTOR_MERGED, ww_bits8(have));
            ww_l2_count_inst(s, p, WW_I_L2_MERGED, ww_bits8(have));
            add(r, MERGED, granules_of(s->l2, part, have), *begin + ahead,
                line->from_dram & have ? WW_LEVEL_DRAM : WW_LEVEL_L2);
        } else if (have) {
            ww_l2_count(s, WW_C_L2_SECTOR_HIT, ww_bits8(have));
            add(r, HIT, granules_of(s->l2, part, have), *begin, WW_LEVEL_L2);
        }
    }
    need = part->want & (uint8_t)~have;
    if (need) {
        uint64_t at = fetch(f, s, p, part, need, begin, &level);
        if (s->l2->prefetch.window && p->sm != WW_L2_WALKER) ww_l2_prefetch_miss(s, p, part, need, *begin);
        add(r, MISSED, granules_of(s->l2, part, need), at, level);
    }
    if (p->kind == WW_MEM_ATOMIC) {
        ww_l2_count(s, WW_C_L2_ATOMIC, ww_bits8(part->want));
        ww_l2_tags_soil(&s->tags, part->set, &s->tags.line[part->index], part->want);
        if (s->l2->side_slices) ww_l2_drop_copy(s, part->number, part->want);
    }
    if (p->needs_reply != WW_L2_REPLY_PEER) ww_l2_count(s, WW_C_L2_SECTOR_READ, ww_bits8(part->want));
}

/* Sectors of the part that the read port passes at once. */
static uint32_t hits_of(const struct ww_l2_slice *s, const struct ww_l2_part *part, uint64_t cycle) {
    if (part->index == WW_NONE) return 0;
    const struct ww_l2_line *line = &s->tags.line[part->index];
    return ww_fast_fill_ahead(line, cycle) ? 0 : ww_bits8(line->valid & part->want);
}

static uint64_t read_home(struct ww_fast *f, struct ww_l2_slice *copy, const struct ww_l2_packet *p,
                          uint64_t number, uint8_t sectors, uint64_t cycle, uint8_t *level) {
    struct ww_l2 *l2 = f->l2;
    uint32_t side = copy->index >= l2->side_slices, n = l2->side_slices;
    struct ww_l2_slice *home = side ? copy - n : copy + n;
    if (l2->far_bytes) {
        uint32_t bytes = 32u * ww_bits8(l2->granules_of[sectors]);
        cycle = ww_calendar_take(&f->link[side], cycle, (bytes << WW_CALENDAR_UNIT) / l2->far_bytes);
    }
    struct ww_l2_packet q = {.local = (number << l2->line_shift) & (WW_L2_COPY - 1),
                             .inst = p->inst,
                             .granules = l2->granules_of[sectors],
                             .kind = WW_MEM_READ,
                             .needs_reply = WW_L2_REPLY_PEER};
    struct ww_l2_part part = ww_l2_find_part(home, &q, 0, q.granules);
    struct found r = {0};
    uint64_t at = cycle + l2->far_latency, end = 0;
    struct ww_fast_slice *own = &f->slice[home->index];
    uint64_t served = at = ww_fast_tags(f, own, true, at, l2->time_of[0][hits_of(home, &part, at)]);
    read_part(f, home, &q, &part, &at, &r);
    ww_fast_hold_tags(f, own, true, served, at);
    *level = WW_LEVEL_L2;
    for (uint32_t i = 0; i < 3; i++) {
        if (!r.granules[i]) continue;
        if (r.at[i] > end) end = r.at[i];
        if (r.level[i] > *level) *level = r.level[i];
    }
    return end + 1;
}

/* ---- prefetch: the queues that it looks at are the places that are taken --------------------- */

static bool idle(struct ww_l2_slice *s, uint64_t cycle) {
    const struct ww_l2 *l2 = s->l2;
    struct ww_fast_channel *c = &l2->prefetch.fast->channel[s->channel];
    struct ww_places *room = &c->room[WW_DRAM_READ];
    uint64_t time = ww_fast_queue_time(c, cycle);
    return ww_places_used(c->waiting, time) <= l2->prefetch.queue && ww_places_used(room, time) < room->limit;
}

static uint32_t mshrs_used(struct ww_l2_slice *s, uint64_t cycle) {
    return ww_places_used(&s->l2->prefetch.fast->slice[s->index].mshrs, cycle);
}

static void read_ahead(struct ww_l2_slice *s, const struct ww_l2_part *part, uint8_t need, uint64_t cycle) {
    struct ww_fast *f = s->l2->prefetch.fast;
    uint64_t ready = ww_fast_dram_read(f, s->index, part->number, need, cycle);
    ww_fast_fill(f, s, &s->tags.line[part->index], need, true, ready);
}

const struct ww_l2_prefetch_ops ww_fast_prefetch = {.idle = idle, .mshrs_used = mshrs_used, .read = read_ahead};

/* ---- replies --------------------------------------------------------------------------------- */

static uint64_t send_reply(struct ww_fast *f, uint32_t slice, const struct ww_l2_packet *p, uint8_t granules,
                           uint8_t level, bool last, uint64_t cycle) {
    struct ww_mem_reply reply = {.address = p->address,
                                 .sectors = p->fine ? granules : ww_l2_l1_sectors(f->l2, granules),
                                 .tag = p->tag,
                                 .kind = p->kind,
                                 .level = level,
                                 .last = last,
                                 .walked = p->walked};
    uint32_t payload = 0; /* of an acknowledgement */
    if (p->kind == WW_MEM_READ) payload = 32 * ww_bits8(granules);
    if (p->kind == WW_MEM_ATOMIC && last) payload = p->bytes; /* old values, a lane's each */
    return ww_fast_deliver(f, slice, p->sm, &reply, payload, cycle);
}

/* Granules that come at the same time share one reply, and so do those of one sector of the L1. */
static void gather(const struct ww_l2 *l2, const struct ww_l2_packet *p, struct found *r) {
    bool whole = p->kind == WW_MEM_ATOMIC || (l2->l1_sector_granules > 1 && !p->fine);
    for (uint32_t i = 0; i < 2; i++) {
        if (!r->granules[i] || (!whole && (!r->granules[i + 1] || r->at[i] != r->at[i + 1]))) continue;
        add(r, i + 1, r->granules[i], r->at[i], r->level[i]);
        r->granules[i] = 0;
    }
}

static void reply_found(struct ww_fast *f, uint32_t slice, const struct ww_l2_packet *p, struct found *r) {
    gather(f->l2, p, r);
    uint32_t last = HIT;
    for (uint32_t i = 0; i < 3; i++)
        if (r->granules[i] && (!r->granules[last] || r->at[i] >= r->at[last])) last = i;
    for (uint32_t i = 0; i < 3; i++)
        if (r->granules[i] && i != last) send_reply(f, slice, p, r->granules[i], r->level[i], false, r->at[i]);
    send_reply(f, slice, p, r->granules[last], r->level[last], true, r->at[last]);
}

/* ---- reads that wait together ---------------------------------------------------------------- */

static struct ww_fast_wait *waiting(const struct ww_fast_slice *own, const struct ww_l2_packet *p) {
    return &own->wait[(p->local >> 5) * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

/* True: the read joins one of the same sectors that waits for the slice (l2.coalesce). */
static bool join(struct ww_fast *f, uint32_t slice, const struct ww_l2_packet *p, uint64_t cycle) {
    struct ww_l2_slice *s = &f->l2->slice[slice];
    struct ww_fast_slice *own = &f->slice[slice];
    if (!own->wait || p->kind != WW_MEM_READ || p->walked || !p->needs_reply) return false;
    struct ww_fast_wait *w = waiting(own, p);
    if (w->local != p->local || w->granules != p->granules || w->served <= cycle ||
        w->joined + 1 >= f->l2->coalesce)
        return false;
    w->joined++;
    uint32_t sectors = (uint32_t)ww_bits8(p->granules) >> f->l2->sector_shift;
    ww_l2_count(s, WW_C_L2_SECTOR_READ, sectors);
    ww_l2_count(s, WW_C_L2_SECTOR_MERGED, sectors);
    ww_l2_count_inst(s, p, WW_I_L2_MERGED, sectors);
    send_reply(f, slice, p, p->granules, WW_LEVEL_L2, true, w->served);
    return true;
}

static void note_wait(struct ww_fast_slice *own, const struct ww_l2_packet *p, const struct found *r,
                      uint64_t served) {
    if (!own->wait || p->kind != WW_MEM_READ || r->granules[MERGED] | r->granules[MISSED]) return;
    *waiting(own, p) = (struct ww_fast_wait){.local = p->local, .served = served, .granules = p->granules};
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Updates of an atomic that follow one another hold the slice, if they take longer than the read. */
static uint32_t update_units(const struct ww_l2 *l2, const struct ww_l2_packet *p) {
    return p->kind == WW_MEM_ATOMIC ? (uint32_t)p->atomic_ops * l2->atomic_cycles << WW_CALENDAR_UNIT : 0;
}

static uint32_t most(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* The atomic's sectors are there, or come: its updates are made then. */
static void update(struct ww_fast *f, struct ww_l2_slice *s, const struct ww_l2_packet *p,
                   const struct found *r, uint64_t begin) {
    uint64_t at = begin;
    for (uint32_t i = MERGED; i <= MISSED; i++)
        if (r->granules[i] && r->at[i] > at) at = r->at[i];
    if (at > begin) at = ww_calendar_take(&f->slice[s->index].tags, at, update_units(s->l2, p));
    ww_fast_performed(f, p->sm, p->address, at);
}

/* Reads and atomics, at the tags at `begin`. Returns when the slice has served it. */
static uint64_t serve_read(struct ww_fast *f, struct ww_l2_slice *s, const struct ww_l2_packet *p, bool far,
                           uint64_t begin) {
    struct ww_l2 *l2 = s->l2;
    struct ww_fast_slice *own = &f->slice[s->index];
    struct found r = {0};
    for (uint32_t k = 0; k < l2->parts; k++) {
        uint8_t granules = ww_l2_granules_in(l2, p->granules, k);
        if (!granules) continue;
        struct ww_l2_part part = ww_l2_find_part(s, p, k, granules);
        uint32_t hits = hits_of(s, &part, begin), units = l2->time_of[0][hits];
        if (hits) units = most(units, update_units(l2, p));
        uint64_t served = ww_fast_tags(f, own, far, begin, units);
        begin = served;
        read_part(f, s, p, &part, &begin, &r);
        ww_fast_hold_tags(f, own, far, served, begin);
    }
    if (p->kind == WW_MEM_ATOMIC) update(f, s, p, &r, begin);
    note_wait(own, p, &r, begin);
    if (p->needs_reply) reply_found(f, s->index, p, &r);
    return begin;
}

/* A store to sectors that are not all valid: sent on, and those without an outstanding fetch are fetched. */
static uint64_t send_and_fetch(struct ww_fast *f, struct ww_l2_slice *s, struct ww_l2_part *part,
                               uint64_t cycle) {
    struct ww_fast_slice *own = &f->slice[s->index];
    if (part->index == WW_NONE) cycle = ww_fast_claim(f, s, part, cycle);
    struct ww_l2_line *line = &s->tags.line[part->index];
    uint8_t need = part->want & (uint8_t)~line->valid;
    if (need) {
        cycle = ww_places_free(&own->mshrs, ww_bits8(need), cycle);
        cycle = ww_fast_read_room(&f->channel[s->channel], cycle);
        ww_l2_count(s, WW_C_L2_WRITE_FETCH, ww_bits8(need));
        ww_fast_fill(f, s, line, need, true, ww_fast_dram_read(f, s->index, part->number, need, cycle));
    }
    ww_l2_count(s, WW_C_L2_WRITE_THROUGH, ww_bits8(part->want));
    return ww_fast_write_back(f, s, part->number, part->want, cycle);
}

static uint64_t write_part(struct ww_fast *f, struct ww_l2_slice *s, const struct ww_l2_packet *p,
                           struct ww_l2_part *part, uint64_t cycle) {
    bool there = part->index != WW_NONE;
    bool hit = there && !(s->l2->write_fetches && part->want & ~s->tags.line[part->index].valid);
    ww_l2_count(s, there && hit ? WW_C_L2_WRITE_HIT : WW_C_L2_WRITE_MISS, ww_bits8(part->want));
    if (s->l2->write_fetches && !hit) {
        cycle = send_and_fetch(f, s, part, cycle);
        ww_l2_tags_touch(&s->tags, part->set, part->index);
        return cycle;
    }
    if (!there) cycle = ww_fast_claim(f, s, part, cycle);
    ww_l2_tags_touch(&s->tags, part->set, part->index);
    bool may_drain = s->l2->dirty_ways && !s->tags.line[part->index].dirty;
    ww_l2_mark_written(s, part, p);
    if (!may_drain) return cycle;
    struct ww_places *room = &f->channel[s->channel].room[WW_DRAM_WRITE];
    for (struct ww_l2_line *line; (line = ww_l2_surplus(s, part->set));
         ww_l2_tags_clean(&s->tags, part->set, line)) {
        if (ww_places_free(room, 1, cycle) > cycle) break;
        ww_l2_count(s, WW_C_L2_WRITEBACK, ww_bits8(line->dirty));
        ww_fast_write_back(f, s, line->number, line->dirty, cycle);
    }
    return cycle;
}

static uint64_t serve_write(struct ww_fast *f, struct ww_l2_slice *s, const struct ww_l2_packet *p, bool far,
                            uint64_t begin) {
    struct ww_l2 *l2 = s->l2;
    for (uint32_t k = 0; k < l2->parts; k++) {
        uint8_t granules = ww_l2_granules_in(l2, p->granules, k);
        if (!granules) continue;
        struct ww_l2_part part = ww_l2_find_part(s, p, k, granules);
        uint32_t sectors = ww_bits8(part.want);
        struct ww_fast_slice *own = &f->slice[s->index];
        uint64_t served = ww_fast_tags(f, own, far, begin, l2->time_of[1][sectors]);
        begin = write_part(f, s, p, &part, served);
        ww_fast_hold_tags(f, own, far, served, begin);
        if (l2->side_slices) ww_l2_drop_copy(s, part.number, part.want);
        ww_l2_count(s, WW_C_L2_SECTOR_WRITE, sectors);
    }
    ww_fast_performed(f, p->sm, p->address, begin);
    if (p->needs_reply) {
        send_reply(f, s->index, p, p->granules, WW_LEVEL_L2, true, begin);
    } else {
        uint64_t ps = ww_clock_time(l2->clock, begin);
        if (ps > f->busy_until) f->busy_until = ps;
    }
    return begin;
}

uint64_t ww_fast_serve(struct ww_fast *f, uint32_t slice, const struct ww_l2_packet *p, bool far,
                       uint64_t cycle) {
    struct ww_l2_slice *s = &f->l2->slice[slice];
    if (!far && join(f, slice, p, cycle)) return cycle;
    if (p->kind == WW_MEM_WRITE) return serve_write(f, s, p, far, cycle);
    if (p->kind != WW_MEM_TRANSLATION) return serve_read(f, s, p, far, cycle);
    uint64_t served = ww_calendar_take(&f->slice[slice].tags, cycle, 1u << WW_CALENDAR_UNIT);
    send_reply(f, slice, p, p->granules, WW_LEVEL_L2, true, served);
    return served;
}

uint64_t ww_fast_walk_read(struct ww_fast *f, uint32_t slice, const struct ww_l2_packet *p, uint64_t cycle,
                           bool *from_dram) {
    struct ww_l2_slice *s = &f->l2->slice[slice];
    struct found r = {0};
    uint64_t end = cycle;
    for (uint32_t k = 0; k < f->l2->parts; k++) {
        uint8_t granules = ww_l2_granules_in(f->l2, p->granules, k);
        if (!granules) continue;
        struct ww_l2_part part = ww_l2_find_part(s, p, k, granules);
        cycle = ww_calendar_take(&f->slice[slice].tags, cycle, f->l2->time_of[0][hits_of(s, &part, cycle)]);
        read_part(f, s, p, &part, &cycle, &r);
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (!r.granules[i]) continue;
        if (r.at[i] > end) end = r.at[i];
        *from_dram |= r.level[i] == WW_LEVEL_DRAM;
    }
    return end;
}
