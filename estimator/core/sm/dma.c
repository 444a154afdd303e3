/* dma.c: address generation of bulk transfers, their requests and replies. */
#include "../../result/result.h"
#include "dma.h"
#include "l1_tag.h"
#include "sm.h"

static struct ww_dma_buffer *buffer_at(struct ww_dma_engine *e, uint32_t id) {
    return &e->controller[id / WW_DMA_BUFFERS].buffer[id % WW_DMA_BUFFERS];
}

static uint32_t segments(uint32_t bytes, uint32_t shift) {
    return (bytes + (1u << shift) - 1) >> shift;
}

/* Segments of constants that the halo takes. */
static uint32_t count_constants(const struct ww_dma *d, uint32_t shift) {
    uint32_t n = 0;
    if (d->mode != WW_DMA_HALO) return 0;
    for (uint32_t r = 0; r < ww_dma_rows(d); r++) {
        struct ww_dma_row row = ww_dma_row(d, r);
        n += segments(row.left * d->size, shift) + segments(row.right * d->size, shift);
    }
    return n;
}

/* Bits of the 32-byte chunks that bytes [at, at + bytes) of a segment lie in. */
static uint32_t chunk_bits(uint32_t at, uint32_t bytes) {
    uint32_t first = at >> 5, last = (at + bytes - 1) >> 5;
    return ((2u << last) - 1) & ~((1u << first) - 1);
}

/* Elements side by side: the next segment of the row. */
static void make_dense(struct ww_dma_engine *e, const struct ww_dma *d, const struct ww_dma_row *r,
                       uint32_t shift) {
    uint64_t at = r->global + (uint64_t)e->place * d->size;
    uint32_t in = (uint32_t)(at & ((1u << shift) - 1)), room = ((1u << shift) - in) / d->size;
    uint32_t n = r->count - e->place < room ? r->count - e->place : room;
    e->segment = at >> shift;
    e->chunks = chunk_bits(in, n * d->size);
    e->place += n;
    e->held = true;
}

/* Elements apart: one of them; the request is complete when the next one lies in another segment. */
static void make_strided(struct ww_dma_engine *e, const struct ww_dma *d, const struct ww_dma_row *r,
                         uint32_t shift) {
    uint64_t at = r->global + e->place * ww_dma_pitch(d), next = at + ww_dma_pitch(d);
    e->chunks |= chunk_bits((uint32_t)(at & ((1u << shift) - 1)), d->size);
    e->segment = at >> shift;
    e->held = ++e->place == r->count || next >> shift != e->segment;
}

/* One cycle's work on the addresses of a transfer. False: all requests have been made. */
static bool generate(struct ww_dma_engine *e, const struct ww_dma *d, uint32_t shift) {
    for (; e->row < ww_dma_rows(d); e->row++, e->place = 0) {
        struct ww_dma_row r = ww_dma_row(d, e->row);
        if (e->place >= r.count) continue;
        if (ww_dma_pitch(d) == d->size)
            make_dense(e, d, &r, shift);
        else
            make_strided(e, d, &r, shift);
        return true;
    }
    return false;
}

static uint32_t take_mshr(struct ww_cache *c, uint32_t id) {
    uint32_t m = c->free_entry;
    c->free_entry = c->entry[m].next_free;
    c->used++;
    c->entry[m] = (struct ww_mshr){.line = WW_NONE, .target = id, .next_free = WW_NONE};
    return m;
}

/* The chunks of all segments of `n` chunks that are touched. */
static uint32_t whole_segments(uint32_t chunks, uint32_t n) {
    uint32_t all = 0, segment = (1u << n) - 1;
    for (uint32_t at = 0; at < 8; at += n)
        if (chunks >> at & segment) all |= segment << at;
    return all;
}

/* Sends the request that is held, if the load/store unit has left the port free. */
static bool send(struct ww_sm *sm, struct ww_dma_engine *e, uint32_t id) {
    struct ww_core *core = sm->core;
    struct ww_cache *c = &sm->l1;
    uint32_t chunks = core->chunks_of[whole_segments(e->chunks, core->gpu->dma_segment / 32)];
    e->starved = c->free_entry == WW_NONE;
    if (e->starved || sm->misses.count) {
        core->counter[WW_C_DMA_BLOCKED]++;
        return false;
    }
    struct ww_mem_request q = {.address = e->segment << core->request_shift[WW_CACHE_NONE],
                               .sectors = chunks,
                               .tag = WW_TAG_TARGET | WW_TAG_DMA | c->free_entry,
                               .sm = (uint16_t)sm->id,
                               .kind = WW_MEM_READ,
                               .needs_reply = 1,
                               .fine = 1,
                               .inst = buffer_at(e, id)->inst};
    ww_l1_queue(sm, &q);
    take_mshr(c, id);
    core->counter[WW_C_DMA_REQUEST]++;
    core->counter[WW_C_DMA_SECTOR] += ww_bits8(chunks);
    e->held = false;
    e->chunks = 0;
    return true;
}

static void complete_if(struct ww_dma_engine *e, struct ww_dma_buffer *b, uint64_t cycle) {
    if (!b->generated || b->outstanding) return;
    if (b->done_at < cycle) b->done_at = cycle;
    if (e->complete > b->done_at) e->complete = b->done_at;
}

static void finish_generation(struct ww_sm *sm, struct ww_dma_engine *e, struct ww_dma_buffer *b,
                              uint64_t cycle) {
    b->generated = true;
    e->open = false;
    if (++e->head == e->capacity) e->head = 0;
    e->count--;
    if (b->first_at == WW_NEVER) b->first_at = cycle; /* nothing but constants */
    uint64_t until = (b->last_at ? b->last_at : cycle) + 1;
    sm->core->counter[WW_C_TRANSFER_AGEN_CYCLES] += until - b->asked_at;
    if (b->last_at) sm->core->counter[WW_C_TRANSFER_WAIT_CYCLES] += until - b->started_at - b->generating;
    complete_if(e, b, cycle + 1);
}

/* A cycle of the address-generation unit. */
static void address_unit(struct ww_sm *sm, struct ww_dma_engine *e, uint64_t cycle) {
    uint32_t id = e->ring[e->head], shift = sm->core->request_shift[WW_CACHE_NONE];
    struct ww_dma_buffer *b = buffer_at(e, id);
    sm->core->counter[WW_C_DMA_AGU_CYCLES]++;
    if (!e->open) {
        e->open = true;
        sm->core->counter[WW_C_TRANSFER_UNIT_CYCLES] += cycle - b->asked_at;
        e->row = e->place = e->chunks = 0;
        e->constants = count_constants(&b->d, shift);
    }
    bool working = e->held || generate(e, &b->d, shift);
    if (e->held && b->first_at == WW_NEVER) b->first_at = cycle; /* as of a copy's load: its issue */
    if (e->held && send(sm, e, id)) {
        b->last_at = cycle;
        b->outstanding++;
        b->generating++;
        working = e->row + 1 < ww_dma_rows(&b->d) ||
                  e->place < ww_dma_row(&b->d, e->row).count; /* is more to come? */
    } else if (working && !e->held) {
        b->generating++; /* an element that needs no request of its own */
    } else if (!working && e->constants) {
        e->constants--;
        sm->core->counter[WW_C_DMA_CONSTANT]++;
    }
    if (!working && !e->constants) finish_generation(sm, e, b, cycle);
}

static void log_transfer(struct ww_sm *sm, uint32_t cta, uint32_t buffer, const struct ww_dma_buffer *b) {
    struct ww_transfer_log *log = sm->core->transfers;
    if (!log) return;
    if (log->count < log->capacity)
        log->row[log->count] = (struct ww_transfer){.sm = sm->id,
                                                    .cta = sm->cta[cta].trace.index,
                                                    .buffer = buffer,
                                                    .asked = b->asked_at,
                                                    .first = b->first_at,
                                                    .last = b->last_at,
                                                    .done = b->done_at};
    log->count++;
}

/* The tile is in shared memory: all warps of the CTA that wait, for whichever tile, look again. */
static void complete(struct ww_sm *sm, uint32_t cta, uint32_t buffer, uint64_t cycle) {
    struct ww_dma_controller *c = &sm->dma->controller[cta];
    struct ww_dma_buffer *b = &c->buffer[buffer];
    uint64_t *n = sm->core->counter;
    b->in_flight = false;
    n[WW_C_TRANSFER]++;
    n[WW_C_TRANSFER_MEM_CYCLES] += b->done_at - b->first_at;
    n[WW_C_TRANSFER_CYCLES] += b->done_at - b->asked_at;
    log_transfer(sm, cta, buffer, b);
    if (ww_dma_all_at(sm, cta, buffer, b->started)) c->watched &= (uint8_t) ~(1u << buffer);
    uint64_t waiting = c->waiting;
    c->waiting = 0;
    for (; waiting; waiting &= waiting - 1) {
        n[WW_C_DMA_WAKE]++;
        ww_warp_head(sm, &sm->warp[__builtin_ctzll(waiting)], cycle);
    }
    ww_cta_warp_gone(sm, cta, cycle);
}

static void complete_all(struct ww_sm *sm, struct ww_dma_engine *e, uint64_t cycle) {
    e->complete = WW_NEVER;
    for (uint32_t id = 0; id < e->capacity; id++) {
        struct ww_dma_buffer *b = buffer_at(e, id);
        if (!b->in_flight || !b->generated || b->outstanding) continue;
        if (b->done_at <= cycle)
            complete(sm, id / WW_DMA_BUFFERS, id % WW_DMA_BUFFERS, cycle);
        else if (b->done_at < e->complete)
            e->complete = b->done_at;
    }
}

void ww_dma_step(struct ww_sm *sm, uint64_t cycle) {
    struct ww_dma_engine *e = sm->dma;
    if (e->complete <= cycle) complete_all(sm, e, cycle);
    if (e->next > cycle) return;
    if (e->count) address_unit(sm, e, cycle);
    e->next = e->count == 0 || e->starved || sm->misses.refused ? WW_NEVER : cycle + 1;
}

void ww_dma_reply(struct ww_sm *sm, uint32_t m, const struct ww_mem_reply *reply, uint64_t cycle) {
    struct ww_cache *l = &sm->l1;
    struct ww_dma_engine *e = sm->dma;
    struct ww_dma_buffer *b = buffer_at(e, l->entry[m].target);
    ww_cache_port(l, cycle, l->shape->data_cycles[ww_bits8(reply->sectors)]);
    if (b->done_at < l->port_free) b->done_at = l->port_free;
    if (!reply->last) return;
    l->entry[m].next_free = l->free_entry;
    l->free_entry = m;
    l->used--;
    b->outstanding--;
    complete_if(e, b, cycle);
}
