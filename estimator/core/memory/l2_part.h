/* l2_part.h: lines of an L2 slice, and reads of DRAM for them. Between l2_serve.c, l2_write.c and
 * l2_prefetch.c. */
#ifndef WW_CORE_L2_PART_H
#define WW_CORE_L2_PART_H

#include "../../base/hash.h"
#include "../../result/result.h"
#include "../time/epoch.h"
#include "l2.h"

/* Adds so many of the L2's sectors to a counter, which counts 32-byte sectors. */
static inline void ww_l2_count(const struct ww_l2_slice *s, enum ww_counter counter, uint32_t sectors) {
    s->l2->counter[counter] += (uint64_t)sectors << s->l2->sector_shift;
}

/* The same, for the instruction that asks. */
static inline void ww_l2_count_inst(const struct ww_l2_slice *s, const struct ww_l2_packet *p,
                                    enum ww_inst_counter counter, uint32_t sectors) {
    if (s->l2->inst) s->l2->inst[p->inst].counter[counter] += (uint64_t)sectors << s->l2->sector_shift;
}

/* Reports that a write or an atomic has been performed, at L2 cycle `cycle`. */
static inline void ww_l2_tell(const struct ww_l2 *l2, uint16_t sm, uint64_t line, uint64_t cycle) {
    if (l2->performed) l2->performed(l2->performed_context, sm, line, ww_clock_time(l2->clock, cycle));
}

/* A request as a slice has it; it is at the tags at cycle `ready`. Its set is the caller's to write. */
static inline void ww_l2_write_packet(struct ww_l2_packet *p, const struct ww_mem_request *request,
                                      uint64_t local, uint8_t granules, uint64_t ready) {
    p->address = request->address;
    p->local = local;
    p->ready = ready;
    p->tag = request->tag;
    p->inst = request->inst;
    p->sm = request->sm;
    p->bytes = request->bytes;
    p->atomic_ops = request->atomic_ops;
    p->granules = granules;
    p->kinds = (struct ww_l2_kinds){.kind = request->kind & 3u,
                                    .needs_reply = request->needs_reply & 3u,
                                    .fine = request->fine & 1u,
                                    .walked = request->walked & 1u};
}

static inline struct ww_l2_packet ww_l2_packet(const struct ww_mem_request *request, uint64_t local,
                                               uint8_t granules, uint64_t ready) {
    struct ww_l2_packet p = {0};
    ww_l2_write_packet(&p, request, local, granules, ready);
    return p;
}

/* Sectors of the L1 that granules make up. */
static inline uint32_t ww_l2_l1_sectors(const struct ww_l2 *l2, uint32_t granules) {
    uint32_t sectors = 0, n = l2->l1_sector_granules;
    if (n == 1) return granules;
    for (uint32_t g = 0, i = 0; g < 8; g += n, i++)
        if (granules >> g & 1) sectors |= 1u << i;
    return sectors;
}

/* SMs beyond this part of a GPU ask for this line at about the same time (l2.shared_elsewhere): DRAM reads it
 * once for all of them, and not for this part. */
static inline bool ww_l2_is_elsewhere(const struct ww_l2_slice *s, const struct ww_l2_packet *p,
                                      const struct ww_l2_part *part) {
    if (!s->l2->elsewhere || p->kind != WW_MEM_READ || p->sm == WW_L2_WALKER) return false;
    return (ww_hash_mix(part->number * s->l2->slices + s->index) & 0xffff) < s->l2->elsewhere;
}

/* Part k of the request, of which `granules` are looked up. */
static inline struct ww_l2_part ww_l2_find_part(struct ww_l2_slice *s, const struct ww_l2_packet *p, uint32_t k,
                                                uint8_t granules) {
    const struct ww_l2 *l2 = s->l2;
    struct ww_l2_part part = {.base = (uint8_t)(k * l2->line_granules)};
    uint64_t first = p->local + 32 * (uint64_t)part.base;
    part.number = first >> l2->line_shift;
    part.shift = (uint8_t)(first >> 5 & (l2->line_granules - 1));
    part.want = l2->sectors_of[(uint8_t)(granules >> part.base << part.shift)];
    part.set = ww_l2_tags_set(&s->tags, part.number);
    part.index = ww_l2_tags_find(&s->tags, part.set, part.number);
    return part;
}

/* The first part of a packet of an input. */
static inline struct ww_l2_part ww_l2_first_part(struct ww_l2_slice *s, const struct ww_l2_packet *p,
                                                 uint8_t granules) {
    const struct ww_l2 *l2 = s->l2;
    struct ww_l2_part part = {.number = p->local >> l2->line_shift, .set = p->set};
    part.shift = (uint8_t)(p->local >> 5 & (l2->line_granules - 1));
    part.want = l2->sectors_of[(uint8_t)(granules << part.shift)];
    part.index = ww_l2_tags_find(&s->tags, part.set, part.number);
    return part;
}

/* The only part of an input's head: as it was found last, if no line of the slice has been replaced since. */
static inline struct ww_l2_part ww_l2_only_part(struct ww_l2_slice *s, const struct ww_l2_input *in,
                                                const struct ww_l2_packet *p) {
    if (!in->found || in->installs != s->tags.installs) return ww_l2_first_part(s, p, in->left);
    struct ww_l2_part part = in->part;
    part.want = s->l2->sectors_of[(uint8_t)(in->left << part.shift)];
    return part;
}

/* Granules of the request that lie in part k. */
static inline uint8_t ww_l2_granules_in(const struct ww_l2 *l2, uint8_t granules, uint32_t k) {
    if (l2->parts == 1) return granules;
    return (uint8_t)(granules & ((1u << l2->line_granules) - 1) << k * l2->line_granules);
}

/* Queues sectors of a line at the slice's channel, which must have room. */
static inline void ww_l2_push_dram(struct ww_l2_slice *s, uint64_t number, uint8_t mask, uint32_t miss,
                                   uint8_t direction, uint64_t cycle) {
    struct ww_l2 *l2 = s->l2;
    struct ww_dram_request *request = s->room->next;
    *request = (struct ww_dram_request){
        .place = ww_addrmap_dram(l2->map, s->index, number << l2->line_shift),
        .slice = s->index,
        .miss = miss,
        .mask = mask,
        .bursts = (uint16_t)(ww_bits8(mask) * l2->bursts_per_sector),
        .direction = direction,
    };
    ++*l2->live;
    ww_dram_push(l2->dram, s->channel, ww_clock_time(l2->clock, cycle));
}

/* Gives the part the way `victim` of its set, writing back what it holds; a dirty one needs room for writes
 * at the channel. */
static inline void ww_l2_replace(struct ww_l2_slice *s, struct ww_l2_part *part, uint32_t victim,
                                 uint64_t cycle) {
    const struct ww_l2_line *line = &s->tags.line[victim];
    if (line->dirty) {
        ww_l2_count(s, WW_C_L2_WRITEBACK, ww_bits8(line->dirty));
        ww_l2_push_dram(s, line->number, line->dirty, 0, WW_DRAM_WRITE, cycle);
    }
    ww_l2_tags_install(&s->tags, part->set, victim, part->number);
    part->index = victim;
}

/* Marks `need` of the part's line as asked for, in a miss record, and takes their MSHRs; the line must be
 * there, and MSHRs enough free. Returns the record. */
static inline uint32_t ww_l2_take_mshrs(struct ww_l2_slice *s, const struct ww_l2_part *part, uint8_t need) {
    struct ww_l2_line *line = &s->tags.line[part->index];
    if (!line->pending) {
        uint32_t n = s->free_miss.first;
        struct ww_l2_miss *miss = &s->miss[n];
        ww_free_taken(&s->free_miss, miss->next);
        *miss = (struct ww_l2_miss){.line = part->index, .first = WW_NONE, .last = WW_NONE};
        line->miss = n;
    }
    line->pending |= need;
    s->mshrs_used += ww_bits8(need);
    return line->miss;
}

/* ---- l2_serve.c ---- */
/* Room for a reply, or at the channel; without it the input waits for it. */
bool ww_l2_can_reply(struct ww_l2_slice *s, struct ww_l2_input *in, uint8_t needs_reply);
bool ww_l2_dram_room(struct ww_l2_slice *s, struct ww_l2_input *in, enum ww_dram_direction direction);
/* Answers all of a request at once. */
void ww_l2_reply_whole(struct ww_l2_slice *s, const struct ww_l2_packet *p, uint64_t cycle);
/* Answers a read with the data that the slice has just read for another one. */
void ww_l2_reply_coalesced(struct ww_l2_slice *s, const struct ww_l2_packet *p, uint64_t cycle);
/* Gives the part a line, writing back the one that it replaces; false: not in this cycle. */
bool ww_l2_claim(struct ww_l2_slice *s, struct ww_l2_input *in, struct ww_l2_part *part, uint64_t cycle);

/* ---- l2_write.c ---- */
/* The least recently used dirty line of a set that has more of them than it keeps; NULL: it has not. */
struct ww_l2_line *ww_l2_surplus(const struct ww_l2_slice *s, uint32_t set);
/* Serves a write; false: it waits, with what is left of it in in->left. */
bool ww_l2_serve_write(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p,
                       uint64_t cycle);
/* Notes what a write leaves of the part's line, which is there. */
void ww_l2_mark_written(struct ww_l2_slice *s, const struct ww_l2_part *part, const struct ww_l2_packet *p);

#endif
