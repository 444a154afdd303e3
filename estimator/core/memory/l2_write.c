/* Stores at a slice.
 *
 * A store takes its line without reading it (l2.write_miss=allocate): a sector that it fills is valid, others
 * are fetched when they are read. With l2.write_miss=fetch a store that does not find its sectors is written to
 * DRAM at once and the sectors are read from there, as GPGPU-Sim 3.2.2's write-allocating L2 does; later stores
 * find them, and are kept. */
#include "../../result/result.h"
#include "l2_part.h"

static uint32_t bits(uint32_t mask) {
    return ww_bits8(mask);
}

void ww_l2_mark_written(struct ww_l2_slice *s, const struct ww_l2_part *part, const struct ww_l2_packet *p) {
    struct ww_l2_line *line = &s->tags.line[part->index];
    uint32_t granules = bits(p->granules), per_granule = 32;
    uint8_t sectors = part->want;
    ww_l2_tags_soil(&s->tags, part->set, line, sectors);
    if (p->bytes >= 32 * granules) {
        line->valid |= sectors;
        return;
    }
    per_granule = (p->bytes + granules - 1) / granules;
    for (uint8_t m = sectors & (uint8_t)~line->valid; m; m &= (uint8_t)(m - 1)) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        uint32_t sum = line->written[i] + per_granule * s->l2->sector_granules;
        if (sum >= 32 * s->l2->sector_granules) line->valid |= (uint8_t)(1u << i);
        line->written[i] = (uint8_t)(sum < 255 ? sum : 255);
    }
}

/* A store to sectors that are not all valid: sent on, and those without an outstanding fetch are fetched. */
static bool send_and_fetch(struct ww_l2_slice *s, struct ww_l2_input *in, struct ww_l2_part *part,
                           uint64_t cycle) {
    const struct ww_l2_line *line = part->index == WW_NONE ? NULL : &s->tags.line[part->index];
    uint8_t need = line ? part->want & (uint8_t) ~(line->valid | line->pending) : part->want;
    if (s->l2->mshrs - s->mshrs_used < bits(need)) return false;
    if (need && !ww_l2_dram_room(s, in, WW_DRAM_READ)) return false;
    if (!line && !ww_l2_claim(s, in, part, cycle)) return false;
    if (!ww_l2_dram_room(s, in, WW_DRAM_WRITE)) return false; /* the line is there when it tries again */
    if (need) {
        ww_l2_count(s, WW_C_L2_WRITE_FETCH, bits(need));
        ww_l2_push_dram(s, part->number, need, ww_l2_take_mshrs(s, part, need), WW_DRAM_READ, cycle);
    }
    ww_l2_count(s, WW_C_L2_WRITE_THROUGH, bits(part->want));
    ww_l2_push_dram(s, part->number, part->want, 0, WW_DRAM_WRITE, cycle);
    return true;
}

struct ww_l2_line *ww_l2_surplus(const struct ww_l2_slice *s, uint32_t set) {
    struct ww_l2_line *first = &s->tags.line[(size_t)set * s->tags.stride];
    if (s->tags.dirty[set] <= s->l2->dirty_ways) return NULL;
    uint32_t way = ww_l2_tags_oldest(&s->tags, set);
    while (!first[way].dirty) way = ww_l2_tags_newer(&s->tags, set, way);
    return &first[way];
}

/* Has what the set holds dirty beyond its bound written back, as far as the channel has room. */
static void drain(struct ww_l2_slice *s, uint32_t set, uint64_t cycle) {
    for (struct ww_l2_line *line; (line = ww_l2_surplus(s, set)); ww_l2_tags_clean(&s->tags, set, line)) {
        if (!ww_dram_has_room(s->room, WW_DRAM_WRITE)) return;
        ww_l2_count(s, WW_C_L2_WRITEBACK, bits(line->dirty));
        ww_l2_push_dram(s, line->number, line->dirty, 0, WW_DRAM_WRITE, cycle);
    }
}

/* Writes one line's part of a request; false: not in this cycle. */
static bool write_part(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p,
                       struct ww_l2_part *part, uint64_t cycle) {
    uint32_t sectors = bits(part->want);
    if (s->l2->write_fetches && (part->index == WW_NONE || part->want & ~s->tags.line[part->index].valid)) {
        if (!send_and_fetch(s, in, part, cycle)) return false;
        ww_l2_count(s, WW_C_L2_WRITE_MISS, sectors);
        ww_l2_tags_touch(&s->tags, part->set, part->index);
        return true;
    }
    if (part->index != WW_NONE)
        ww_l2_count(s, WW_C_L2_WRITE_HIT, sectors);
    else if (ww_l2_claim(s, in, part, cycle))
        ww_l2_count(s, WW_C_L2_WRITE_MISS, sectors);
    else
        return false;
    ww_l2_tags_touch(&s->tags, part->set, part->index);
    struct ww_l2_line *line = &s->tags.line[part->index];
    bool may_drain = s->l2->dirty_ways && !line->dirty;
    ww_l2_mark_written(s, part, p);
    if (may_drain) drain(s, part->set, cycle);
    return true;
}

bool ww_l2_serve_write(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p,
                       uint64_t cycle) {
    struct ww_l2 *l2 = s->l2;
    if (!ww_l2_can_reply(s, in, p->needs_reply)) return false;
    for (uint32_t k = 0; k < l2->parts; k++) {
        uint8_t granules = ww_l2_granules_in(l2, in->left, k);
        if (!granules) continue;
        struct ww_l2_part part =
            l2->parts == 1 ? ww_l2_only_part(s, in, p) : ww_l2_find_part(s, p, k, granules);
        if (!write_part(s, in, p, &part, cycle)) return false;
        if (l2->side_slices) ww_l2_drop_copy(s, part.number, part.want);
        ww_l2_count(s, WW_C_L2_SECTOR_WRITE, bits(part.want));
        in->left &= (uint8_t)~granules;
        in->hits = (uint8_t)(in->hits + bits(part.want));
    }
    ww_l2_tell(l2, p->sm, p->address, cycle);
    if (!p->needs_reply) return true;
    ww_l2_reply_whole(s, p, cycle);
    return true;
}
