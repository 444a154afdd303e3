/* Requests between the slices of two partitions; see l2.h. */
#include "l2.h"
#include <assert.h>

static struct ww_l2_slice *counterpart(struct ww_l2_slice *s) {
    uint32_t n = s->l2->side_slices;
    return s->index >= n ? s - n : s + n;
}

uint64_t ww_l2_cross(struct ww_l2 *l2, uint32_t side, uint32_t granules, uint64_t cycle) {
    if (!l2->far_bytes) return cycle;
    uint64_t from = cycle << WW_L2_TIME_BITS, *link = &l2->link_free[side];
    if (from < *link) from = *link;
    *link = from + ((32 * granules << WW_L2_TIME_BITS) + l2->far_bytes - 1) / l2->far_bytes;
    return from >> WW_L2_TIME_BITS;
}

void ww_l2_ask_home(struct ww_l2_slice *s, uint64_t number, uint8_t mask, uint32_t miss, uint32_t inst,
                    uint64_t cycle) {
    struct ww_l2 *l2 = s->l2;
    struct ww_l2_slice *home = counterpart(s);
    struct ww_l2_input *in = &home->in[WW_L2_FAR];
    uint32_t side = s->index >= l2->side_slices;
    uint64_t ready = ww_l2_cross(l2, side, ww_bits8(l2->granules_of[mask]), cycle) + l2->far_latency;
    assert(in->packet_count <= in->packet_mask);
    in->packet[(in->packet_head + in->packet_count) & in->packet_mask] =
        (struct ww_l2_packet){.local = (number << l2->line_shift) & (WW_L2_COPY - 1),
                              .ready = ready,
                              .tag = miss,
                              .inst = inst,
                              .set = ww_l2_tags_set(&home->tags, number & ~l2->copy_bit),
                              .granules = l2->granules_of[mask],
                              .kind = WW_MEM_READ,
                              .needs_reply = WW_L2_REPLY_PEER,
                              .fine = 1};
    ++*l2->live;
    if (in->packet_count++ == 0)
        ww_queue_earlier(l2->queue, &home->event,
                         ww_clock_time(l2->clock, ready > home->free ? ready : home->free));
}

void ww_l2_far_reply(struct ww_l2_slice *home, const struct ww_l2_txn *t, uint8_t granules, uint64_t cycle) {
    struct ww_l2 *l2 = home->l2;
    ++*l2->live;
    ww_l2_add_fill(
        counterpart(home), WW_L2_FAR,
        (struct ww_l2_fill){
            .ready = cycle + 1, .miss = t->tag, .mask = l2->sectors_of[granules], .level = t->level});
}

void ww_l2_drop_copy(struct ww_l2_slice *home, uint64_t number, uint8_t sectors) {
    struct ww_l2_tags *tags = &counterpart(home)->tags;
    uint64_t copy = number | home->l2->copy_bit;
    uint32_t index = ww_l2_tags_find(tags, ww_l2_tags_set(tags, copy), copy);
    if (index != WW_NONE) tags->line[index].valid &= (uint8_t)~sectors;
}
