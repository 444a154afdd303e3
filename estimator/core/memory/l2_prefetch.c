/* Sequential prefetch from DRAM into the L2. */
#include "../../result/result.h"
#include "l2_prefetch.h"

enum {
    FIRST_AHEAD = 256, /* bytes behind a first miss */
    PROVEN = 512,      /* bytes that a sequence must have come to be fetched ahead without credit */
    USE_CREDIT = 2,    /* credit, in sectors: half of what is fetched must be used to keep it */
};

/* Address of the part's lowest sector of `sectors`. */
static uint64_t address_of(const struct ww_l2 *l2, const struct ww_l2_packet *p, const struct ww_l2_part *part,
                           uint8_t sectors) {
    uint32_t granule = (uint32_t)__builtin_ctz(sectors) << l2->sector_shift;
    return p->address + 32 * (uint64_t)(granule + part->base) - 32 * (uint64_t)part->shift;
}

/* The sequence in which the address is at most `ahead` bytes ahead of what is to be fetched next, and at most
 * `behind` bytes behind it; NULL: none. */
static struct ww_l2_sequence *find(struct ww_l2_prefetch *f, uint64_t address, uint64_t behind,
                                   uint64_t ahead) {
    for (uint32_t i = 0; i < WW_L2_SEQUENCES; i++) {
        struct ww_l2_sequence *q = &f->sequence[i];
        if (address < q->start || address >= q->end) continue;
        if (address <= q->next + ahead && address + behind >= q->next) return q;
    }
    return NULL;
}

static bool idle(struct ww_l2_slice *s, uint64_t cycle) {
    const struct ww_l2 *l2 = s->l2;
    (void)cycle; /* now */
    /* A queue may hold fewer bursts than prefetch.queue requests need. */
    return ww_dram_waiting(l2->dram, s->channel, WW_DRAM_READ) <= l2->prefetch.queue &&
           ww_dram_has_room(s->room, WW_DRAM_READ);
}

static uint32_t mshrs_used(struct ww_l2_slice *s, uint64_t cycle) {
    (void)cycle;
    return s->mshrs_used;
}

static void read_dram(struct ww_l2_slice *s, const struct ww_l2_part *part, uint8_t need, uint64_t cycle) {
    ww_l2_push_dram(s, part->number, need, ww_l2_take_mshrs(s, part, need), WW_DRAM_READ, cycle);
}

const struct ww_l2_prefetch_ops ww_l2_prefetch_queued = {
    .idle = idle, .mshrs_used = mshrs_used, .read = read_dram};

/* Fetches what is missing of one line from `address` on. False: not now. */
static bool fetch_line(struct ww_l2 *l2, uint64_t address, uint64_t cycle) {
    struct ww_slice_place place = ww_addrmap_slice(l2->map, address);
    struct ww_l2_slice *s = &l2->slice[place.slice];
    struct ww_l2_part part = {.number = place.local >> l2->line_shift};
    uint32_t first = (uint32_t)(place.local >> 5 & (l2->line_granules - 1)) >> l2->sector_shift;
    uint32_t sectors = l2->line_granules >> l2->sector_shift;
    uint8_t need = (uint8_t)(((1u << sectors) - 1) & ~((1u << first) - 1));
    part.set = ww_l2_tags_set(&s->tags, part.number);
    part.index = ww_l2_tags_find(&s->tags, part.set, part.number);
    if (part.index != WW_NONE) {
        const struct ww_l2_line *line = &s->tags.line[part.index];
        need &= (uint8_t) ~(line->valid | line->pending | line->dirty);
        if (!need) return true;
    }
    uint32_t victim = part.index;
    const struct ww_l2_prefetch_ops *ops = l2->prefetch.ops;
    if (!ops->idle(s, cycle) || ops->mshrs_used(s, cycle) + ww_bits8(need) > l2->mshrs / 2) return false;
    if (victim == WW_NONE) {
        victim = ww_l2_tags_victim(&s->tags, part.set);
        if (victim == WW_NONE || s->tags.line[victim].dirty) return false;
        ww_l2_replace(s, &part, victim, cycle);
    }
    ops->read(s, &part, need, cycle);
    s->tags.line[victim].prefetched |= need;
    ww_l2_count(s, WW_C_L2_PREFETCH, ww_bits8(need));
    uint32_t cost = ww_bits8(need);
    l2->prefetch.credit -= cost < l2->prefetch.credit ? cost : l2->prefetch.credit;
    return true;
}

/* Fetches the sequence, in whole lines, as far ahead of `address` as it has come, within bounds. */
static void extend(struct ww_l2 *l2, struct ww_l2_sequence *q, uint64_t address, uint64_t cycle) {
    uint64_t line = (uint64_t)32 * l2->line_granules, ahead = address - q->start + FIRST_AHEAD;
    uint64_t to = address + 32 + (ahead < l2->prefetch.ahead ? ahead : l2->prefetch.ahead);
    if (to > q->end) to = q->end;
    if (q->next <= address) q->next = address + 32; /* demand misses are ahead of it */
    while (q->next < to) {
        if (!fetch_line(l2, q->next, cycle)) return;
        q->next = (q->next & ~(line - 1)) + line;
    }
}

void ww_l2_prefetch_miss(struct ww_l2_slice *s, const struct ww_l2_packet *p, const struct ww_l2_part *part,
                         uint8_t sectors, uint64_t cycle) {
    struct ww_l2 *l2 = s->l2;
    struct ww_l2_prefetch *f = &l2->prefetch;
    if (!f->ops->idle(s, cycle)) return;
    uint64_t address = address_of(l2, p, part, sectors);
    struct ww_l2_sequence *q = find(f, address, FIRST_AHEAD, FIRST_AHEAD);
    if (q) {
        if (f->credit || address >= q->start + PROVEN) extend(l2, q, address, cycle);
        if (q->next <= address) q->next = address + 32;
        return;
    }
    if (address + f->window < address) return; /* the end of the address space */
    q = &f->sequence[f->turn];
    f->turn = (f->turn + 1) % WW_L2_SEQUENCES;
    *q = (struct ww_l2_sequence){.start = address, .end = address + f->window, .next = address + 32};
    if (f->credit) extend(l2, q, address, cycle);
}

void ww_l2_prefetch_used(struct ww_l2_slice *s, const struct ww_l2_packet *p, const struct ww_l2_part *part,
                         uint64_t cycle) {
    struct ww_l2 *l2 = s->l2;
    struct ww_l2_prefetch *f = &l2->prefetch;
    struct ww_l2_line *line = &s->tags.line[part->index];
    uint8_t used = line->prefetched & part->want;
    line->prefetched &= (uint8_t)~used;
    f->credit += USE_CREDIT * ww_bits8(used);
    if (f->credit > WW_L2_CREDIT_MAX) f->credit = WW_L2_CREDIT_MAX;
    uint64_t address = address_of(l2, p, part, used);
    struct ww_l2_sequence *q = find(f, address, 2 * f->ahead, 0);
    if (q) extend(l2, q, address, cycle);
}
