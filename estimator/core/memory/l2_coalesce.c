/* Reads of the same sectors that wait for a slice at the same time, and get their replies together. */
#include "../../result/result.h"
#include "l2_part.h"

enum { HASHES = 512 };

static uint32_t hash(uint64_t local) {
    return (uint32_t)((local >> 5) * UINT64_C(0x9e3779b97f4a7c15) >> 55);
}

bool ww_l2_coalescer_init(struct ww_l2_slice *s, struct ww_arena *arena) {
    struct ww_l2_coalescer *c = &s->coalescer;
    uint32_t places = s->in[WW_L2_NEAR].packet_mask + 1, joined = places * (s->l2->coalesce - 1);
    c->joined = ww_arena_array(arena, joined, sizeof *c->joined);
    c->first = ww_arena_array(arena, places, sizeof *c->first);
    c->count = ww_arena_array(arena, places, sizeof *c->count);
    c->place = ww_arena_array(arena, HASHES, sizeof *c->place);
    if (!c->joined || !c->first || !c->count || !c->place) return false;
    for (uint32_t i = 0; i < joined; i++) c->joined[i].next = i + 1 < joined ? i + 1 : WW_NONE;
    for (uint32_t i = 0; i < places; i++) c->first[i] = WW_NONE;
    return true;
}

void ww_l2_coalesce_last(struct ww_l2_slice *s) {
    const struct ww_l2_input *in = &s->in[WW_L2_NEAR];
    uint32_t place = (in->packet_head + in->packet_count - 1) & in->packet_mask;
    const struct ww_l2_packet *p = &in->packet[place];
    if (p->kind == WW_MEM_READ) s->coalescer.place[hash(p->local)] = place;
}

/* The place of a packet in the FIFO that the request may join; WW_NONE: there is none. One that the slice has
 * begun to serve takes no more. */
static uint32_t find(const struct ww_l2_slice *s, const struct ww_mem_request *r, uint64_t local,
                     uint8_t granules) {
    const struct ww_l2_input *in = &s->in[WW_L2_NEAR];
    uint32_t place = s->coalescer.place[hash(local)], from = (place - in->packet_head) & in->packet_mask;
    const struct ww_l2_packet *p = &in->packet[place];
    if (from >= in->packet_count || (from == 0 && (in->begun || in->blocked))) return WW_NONE;
    bool same = p->kind == WW_MEM_READ && p->local == local && p->granules == granules &&
                (uint32_t)p->fine == r->fine && (uint32_t)p->needs_reply == r->needs_reply &&
                p->sm != WW_L2_WALKER && !p->walked;
    return same && s->coalescer.count[place] + 1u < s->l2->coalesce ? place : WW_NONE;
}

bool ww_l2_coalesce(struct ww_l2_slice *s, const struct ww_mem_request *r, uint64_t local, uint8_t granules) {
    struct ww_l2_coalescer *c = &s->coalescer;
    if (r->kind != WW_MEM_READ || r->needs_reply != WW_L2_REPLY_SM || r->walked) return false;
    uint32_t place = find(s, r, local, granules), n = c->free;
    if (place == WW_NONE) return false;
    c->free = c->joined[n].next;
    c->joined[n] = (struct ww_l2_joined){.tag = r->tag, .inst = r->inst, .sm = r->sm, .next = WW_NONE};
    uint32_t *end = &c->first[place];
    while (*end != WW_NONE) end = &c->joined[*end].next;
    *end = n;
    c->count[place]++;
    ++*s->l2->live;
    ww_xbar_taken(s->l2->xbar, s->index);
    return true;
}

bool ww_l2_reply_joined(struct ww_l2_slice *s, bool whole, uint64_t cycle) {
    struct ww_l2_coalescer *c = &s->coalescer;
    struct ww_l2_input *in = &s->in[WW_L2_NEAR];
    uint32_t place = in->packet_head, n;
    struct ww_l2_packet *p = &in->packet[place];
    while ((n = c->first[place]) != WW_NONE) {
        struct ww_l2_joined *j = &c->joined[n];
        bool now = whole && ww_xbar_can_reply(s->l2->xbar, s->index);
        c->first[place] = j->next;
        c->count[place]--;
        p->tag = j->tag;
        p->inst = j->inst;
        p->sm = j->sm;
        j->next = c->free;
        c->free = n;
        if (!now) return true;
        ww_l2_reply_coalesced(s, p, cycle);
        --*s->l2->live;
    }
    return false;
}
