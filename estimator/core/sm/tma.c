/* tma.c: bulk copies: from their issue to requests, replies, and what waits for them. */
#include "tma.h"
#include "../../result/result.h"
#include "l1_tag.h"
#include "sm.h"
#include <string.h>

static const struct {
    const char *name;
    uint8_t bulk;
} mnemonics[] = {{"UBLKCP.G", WW_BULK_STORE}, {"UBLKCP.S.S", WW_BULK_PEER}, {"UBLKRED.S", WW_BULK_PEER},
                 {"UBLKCP", WW_BULK_LOAD},    {"UBLKRED", WW_BULK_REDUCE},  {"UBLKPF", WW_BULK_LOAD},
                 {"UTMALDG", WW_BULK_LOAD},   {"UTMASTG", WW_BULK_STORE},   {"UTMAPF", WW_BULK_LOAD},
                 {"UTMAREDG", WW_BULK_REDUCE}};

static uint8_t bulk_of(const char *name) {
    if (strcmp(name, "UTMACMDFLUSH") == 0) return WW_BULK_FLUSH;
    for (size_t i = 0; i < sizeof mnemonics / sizeof *mnemonics; i++)
        if (strncmp(name, mnemonics[i].name, strlen(mnemonics[i].name)) == 0) return mnemonics[i].bulk;
    return WW_BULK_NONE;
}

void ww_tma_decode(const struct ww_gpu_spec *gpu, const struct ww_launch *launch, const struct ww_inst *in,
                   struct ww_dinst *d) {
    const char *name = in->mnemonic < launch->string_count ? launch->string[in->mnemonic] : "";
    if (!gpu->tma_queue || name[0] != 'U') return;
    uint8_t bulk = bulk_of(name);
    bool copies = d->access && in->space == (bulk == WW_BULK_PEER ? WW_SPACE_SHARED : WW_SPACE_GLOBAL);
    if (bulk == WW_BULK_NONE || (bulk != WW_BULK_FLUSH && !copies)) return;
    d->bulk = bulk;
    d->action = WW_A_TMA;
    d->group = bulk == WW_BULK_FLUSH ? WW_G_FREE : WW_G_TMA;
    d->group2 = 0;
    d->ii = d->ii2 = 0;
    d->async = false;
    d->path = (uint8_t)(bulk == WW_BULK_LOAD ? WW_L_LOAD : bulk == WW_BULK_STORE ? WW_L_STORE : WW_L_ATOMIC);
    d->cache = WW_CACHE_NONE;
    d->state = WW_S_WAIT_SHARED;
}

bool ww_tma_init(struct ww_sm *sm, struct ww_arena *arena) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    if (!sm->core->code.uses_tma) return true;
    struct ww_tma *t = ww_arena_array(arena, 1, sizeof *t);
    if (!t) return false;
    uint32_t jobs = WW_TMA_JOBS + g->sm_max_warps;
    t->room = g->tma_queue + g->sm_max_warps;
    t->job = ww_arena_array(arena, jobs, sizeof *t->job);
    t->warp = ww_arena_array(arena, g->sm_max_warps, sizeof *t->warp);
    t->ring = ww_arena_array(arena, t->room, sizeof *t->ring);
    if (!t->job || !t->warp || !t->ring) return false;
    for (uint32_t i = 0; i < jobs; i++) t->job[i].next_free = i + 1;
    t->next = WW_NEVER;
    ww_coalesce_init(&t->coalescer, ww_gpu_request_line(g));
    sm->tma = t;
    return true;
}

void ww_tma_cta(struct ww_sm *sm, uint32_t cta) {
    const struct ww_cta *c = &sm->cta[cta];
    memset(&sm->tma->warp[c->first_warp], 0, c->warps * sizeof *sm->tma->warp);
}

/* ---- issue ---- */

/* Further steps of a copy that has begun always issue: each warp can be in the middle of one. */
static bool is_full(const struct ww_sm *sm, const struct ww_tma *t) {
    return t->count >= sm->core->gpu->tma_queue || t->jobs >= WW_TMA_JOBS;
}

static void open_queue(struct ww_sm *sm, bool was_full, uint64_t cycle) {
    if (!was_full || is_full(sm, sm->tma)) return;
    ww_group_free(sm, WW_G_TMA, 0);
    for (uint32_t k = 0; k < sm->core->gpu->sm_schedulers; k++)
        if (sm->sched[k].groups & 1u << WW_G_TMA) ww_sched_try(sm, &sm->sched[k], cycle);
    sm->became_ready = true;
}

/* Steps of the copy that begins with the warp's head. */
static uint32_t count_steps(const struct ww_warp *w) {
    const struct ww_step *s = w->step;
    uint32_t n = 0;
    while (s + n < w->end && s[n].inst == s->inst) n++;
    return n;
}

/* Where control fields are not obeyed, the end of a group is waited for as that of copies (pipe.c). */
static void count_store(struct ww_sm *sm, struct ww_warp *w, struct ww_tma_warp *own) {
    own->stores++;
    if (sm->core->code.control) return;
    w->async_count++;
    w->board[sm->core->code.async_register] = WW_SB(WW_NEVER, (uint64_t)WW_S_WAIT_SHARED);
}

/* Whether it ends with data in shared memory. */
static bool fills(uint8_t bulk) {
    return bulk == WW_BULK_LOAD || bulk == WW_BULK_PEER;
}

static void start(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    struct ww_tma *t = sm->tma;
    uint32_t warp = (uint32_t)(w - sm->warp), id = t->free_job, at = t->head + t->count++;
    struct ww_tma_warp *own = &t->warp[warp];
    struct ww_tma_job *j = &t->job[id];
    bool loads = d->bulk == WW_BULK_LOAD;
    t->free_job = j->next_free;
    t->jobs++;
    own->left = count_steps(w);
    *j = (struct ww_tma_job){.step = w->step,
                             .access = w->access,
                             .pool = w->pool,
                             .asked = cycle,
                             .from = cycle + (loads ? g->tma_load_latency : g->tma_store_latency),
                             .steps = own->left,
                             .inst = (uint32_t)(d - sm->core->code.inst),
                             .warp = warp,
                             .bulk = d->bulk};
    t->ring[at >= t->room ? at - t->room : at] = (uint16_t)id;
    if (fills(d->bulk))
        own->last = id + 1;
    else
        count_store(sm, w, own);
    w->inflight++;
    sm->core->inflight++;
    sm->core->counter[WW_C_DMA_INST]++;
    if (t->count == 1) t->next = j->from > cycle ? j->from : cycle + 1;
}

/* The counter stays up until the warp's stores so far have been read. */
static void flush(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_tma_warp *own = &sm->tma->warp[w - sm->warp];
    uint8_t counter = d->read_counter != WW_NO_COUNTER ? d->read_counter : d->write_counter;
    if (!sm->core->code.control || counter == WW_NO_COUNTER) return;
    if (own->stores == own->read) {
        ww_depend_open(sm, w, counter);
        ww_depend_close(sm, w, counter, WW_SB(cycle + d->read_after, (uint64_t)WW_S_WAIT_SHARED));
    } else if (own->groups == WW_TMA_GROUPS) {
        own->group[WW_TMA_GROUPS - 1] = own->stores;
    } else {
        own->group[own->groups] = own->stores;
        own->counter[own->groups++] = counter;
        ww_depend_open(sm, w, counter);
    }
}

bool ww_tma_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_tma_warp *own = &sm->tma->warp[w - sm->warp];
    if (d->bulk == WW_BULK_FLUSH) {
        flush(sm, w, d, cycle);
        return false;
    }
    if (!w->step->mask && !own->left) {
        own->last = 0; /* it copies nothing, and is complete at once */
        if (d->bulk == WW_BULK_PEER) sm->core->counter[WW_C_SHARED_PASSES]++;
        return false;
    }
    bool first = !own->left;
    if (first) start(sm, w, d, cycle);
    if (--own->left == 0 && is_full(sm, sm->tma)) ww_group_free(sm, WW_G_TMA, WW_NEVER);
    return first;
}

bool ww_tma_attach(struct ww_sm *sm, const struct ww_warp *w, const struct ww_access *access, uint32_t mask) {
    uint32_t job = sm->tma->warp[w - sm->warp].last;
    bool far = ww_mbarrier_is_far(access);
    if (!job) return false;
    struct ww_tma_job *j = &sm->tma->job[job - 1];
    if (far ? j->far != NULL : j->own != NULL || j->far != NULL) return false;
    if (far) {
        j->far = access;
        j->far_mask = mask;
    } else {
        j->own = access;
    }
    return true;
}

/* ---- ends ---- */

static void free_job(struct ww_sm *sm, struct ww_tma_job *j, uint64_t cycle) {
    struct ww_tma *t = sm->tma;
    struct ww_warp *w = &sm->warp[j->warp];
    uint32_t id = (uint32_t)(j - t->job);
    bool full = is_full(sm, t);
    if (t->warp[j->warp].last == id + 1) t->warp[j->warp].last = 0;
    j->next_free = t->free_job;
    t->free_job = id;
    t->jobs--;
    sm->core->inflight--;
    open_queue(sm, full, cycle);
    ww_lsu_release(sm, w, cycle);
}

/* All of a copy is in shared memory. */
static void loaded(struct ww_sm *sm, struct ww_tma_job *j, uint64_t cycle) {
    uint64_t at = j->ready > cycle ? j->ready : cycle;
    sm->core->counter[WW_C_TRANSFER]++;
    sm->core->counter[WW_C_TRANSFER_CYCLES] += at - j->asked;
    uint32_t cta = sm->warp[j->warp].cta;
    if (j->own && sm->mbar) ww_mbar_bytes(sm, cta, j->own, cycle, at);
    if (j->far && sm->mbar) ww_mbar_bytes_far(sm, cta, j->far, j->pool, j->far_mask, j->bytes, at);
    free_job(sm, j, cycle);
}

/* All of a store has been read from shared memory by cycle `at`. */
static void stored(struct ww_sm *sm, struct ww_tma_job *j, uint64_t cycle, uint64_t at) {
    struct ww_warp *w = &sm->warp[j->warp];
    struct ww_tma_warp *own = &sm->tma->warp[j->warp];
    uint64_t entry = WW_SB(at, (uint64_t)WW_S_WAIT_SHARED);
    own->read++;
    if (!sm->core->code.control && --w->async_count == 0) w->board[sm->core->code.async_register] = entry;
    while (own->groups && own->group[0] <= own->read) {
        uint8_t counter = own->counter[0];
        own->groups--;
        memmove(own->group, own->group + 1, own->groups * sizeof own->group[0]);
        memmove(own->counter, own->counter + 1, own->groups);
        ww_depend_close(sm, w, counter, entry);
    }
    ww_warp_arrival(sm, w, cycle, WW_S_WAIT_SHARED);
    free_job(sm, j, cycle);
}

/* ---- requests ---- */

/* Loads count as what misses in the L1, like others that pass it. */
static void count_request(struct ww_sm *sm, const struct ww_tma_job *j, uint32_t sectors) {
    uint64_t *n = sm->core->counter;
    n[WW_C_DMA_REQUEST]++;
    if (j->bulk == WW_BULK_LOAD) {
        n[WW_C_L1_SECTOR_READ] += sectors;
        n[WW_C_L1_SECTOR_MISS] += sectors;
        sm->core->epochs.inst[j->inst].counter[WW_I_L1_MISS] += sectors;
    }
    if (j->bulk == WW_BULK_STORE) {
        n[WW_C_L1_SECTOR_WRITE] += sectors;
        n[WW_C_L1_WRITE_MISS] += sectors;
    }
    sm->core->epochs.inst[j->inst].counter[WW_I_SECTORS] += sectors;
}

/* What fences of the warp wait for, as of its own stores. */
static uint32_t acknowledgement(struct ww_sm *sm, uint32_t warp) {
    struct ww_warp *w = &sm->warp[warp];
    w->memory_count++;
    return WW_TAG_ACK | warp | (w->generation & WW_TAG_GENERATION) << 6;
}

/* Data go to another CTA of the cluster, or stay in the CTA. */
static void send_peer(struct ww_sm *sm, struct ww_tma_job *j, const struct ww_line_request *r, uint32_t bytes) {
    struct ww_core *core = sm->core;
    const struct ww_cluster_cta *c = sm->cluster ? &sm->cluster[sm->warp[j->warp].cta] : NULL;
    uint64_t rank = r->key << core->request_shift[WW_CACHE_NONE] >> WW_SHARED_RANK_SHIFT;
    core->counter[WW_C_DMA_REQUEST]++;
    if (!c || !c->id || rank == 0 || rank > c->count) return;
    struct ww_mem_request q = {.address = c->sm[rank - 1],
                               .sectors = 1,
                               .tag = WW_TAG_TARGET | WW_TAG_TMA | (uint32_t)(j - sm->tma->job),
                               .sm = (uint16_t)sm->id,
                               .kind = WW_MEM_PEER,
                               .needs_reply = 1,
                               .strong = 1,
                               .bytes = (uint16_t)bytes,
                               .inst = j->inst};
    core->counter[WW_C_PEER_REQUEST]++;
    core->counter[WW_C_PEER_BYTES] += bytes;
    j->outstanding++;
    ww_l1_queue(sm, &q);
}

static void send(struct ww_sm *sm, struct ww_tma_job *j, const struct ww_line_request *r, uint32_t chunks) {
    struct ww_core *core = sm->core;
    bool loads = j->bulk == WW_BULK_LOAD;
    struct ww_mem_request q = {.address = r->key << core->request_shift[WW_CACHE_NONE],
                               .sectors = chunks,
                               .sm = (uint16_t)sm->id,
                               .needs_reply = 1,
                               .fine = 1,
                               .inst = j->inst};
    q.kind = (uint8_t)(loads ? WW_MEM_READ : j->bulk == WW_BULK_STORE ? WW_MEM_WRITE : WW_MEM_ATOMIC);
    q.bytes = loads ? 0 : r->bytes;
    q.atomic_ops = q.kind == WW_MEM_ATOMIC ? (uint16_t)ww_bits8(chunks) : 0;
    q.tag = loads ? WW_TAG_TARGET | WW_TAG_TMA | (uint32_t)(j - sm->tma->job) : acknowledgement(sm, j->warp);
    j->outstanding += loads;
    ww_l1_queue(sm, &q);
    count_request(sm, j, ww_bits8(chunks));
}

/* A store's data pass the port of shared memory. */
static void read_shared(struct ww_sm *sm, uint32_t chunks, uint64_t cycle) {
    struct ww_cache *l = &sm->l1;
    ww_cache_port(l, cycle, l->shape->data_cycles[ww_bits8(chunks)]);
}

/* Cycles until the next request: so many bytes a cycle, what is left of one counts for the next. */
static uint64_t spend(const struct ww_sm *sm, struct ww_tma *t, uint8_t bulk, uint32_t bytes) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    uint32_t rate = bulk == WW_BULK_LOAD     ? g->tma_load_bytes
                    : bulk == WW_BULK_REDUCE ? g->tma_reduce_bytes
                                             : g->tma_store_bytes;
    t->work += bytes;
    uint32_t cycles = t->work / rate;
    t->work = cycles ? t->work % rate : 0;
    return cycles ? cycles : 1;
}

/* All requests of the copy have been made; the last one takes until cycle `end`. */
static void leave(struct ww_sm *sm, struct ww_tma *t, struct ww_tma_job *j, uint64_t cycle, uint64_t end) {
    bool full = is_full(sm, t);
    if (++t->head == t->room) t->head = 0;
    t->count--;
    t->work = 0;
    open_queue(sm, full, cycle);
    j->generated = true;
    if (!fills(j->bulk))
        stored(sm, j, cycle, end);
    else if (!j->outstanding)
        loaded(sm, j, cycle);
}

/* The next step of the current copy becomes requests. */
static void open_step(struct ww_sm *sm, struct ww_tma *t, const struct ww_tma_job *j) {
    struct ww_coalescer *c = &t->coalescer;
    c->count = 0;
    ww_coalesce_lines(c, sm->core->request_shift[WW_CACHE_NONE]);
    if (j->step->mask) ww_coalesce(c, j->access, j->pool, j->step->mask, 16);
    if (j->bulk == WW_BULK_PEER) {
        sm->core->counter[WW_C_SHARED_PASSES] += c->count ? c->count : 1;
        sm->core->counter[WW_C_SHARED_WIDE] += c->count ? c->count - 1 : 0;
    }
    t->request = 0;
    t->open = true;
}

/* The next request of the copy, none if its step has no more; returns the cycle of the engine's next work. */
static uint64_t work(struct ww_sm *sm, struct ww_tma *t, struct ww_tma_job *j, uint64_t cycle) {
    uint64_t next = cycle;
    if (!t->open) open_step(sm, t, j);
    if (t->request < t->coalescer.count) {
        const struct ww_line_request *r = &t->coalescer.request[t->request++];
        uint32_t chunks = sm->core->chunks_of[r->chunks];
        j->bytes += 32 * ww_bits8(chunks);
        if (j->bulk == WW_BULK_PEER)
            send_peer(sm, j, r, 32 * ww_bits8(chunks));
        else
            send(sm, j, r, chunks);
        if (j->bulk != WW_BULK_LOAD) read_shared(sm, chunks, cycle);
        next += spend(sm, t, j->bulk, 32 * ww_bits8(chunks));
    }
    if (t->request < t->coalescer.count) return next;
    t->open = false;
    j->step++;
    j->access++;
    if (--j->steps == 0) leave(sm, t, j, cycle, next);
    return next;
}

void ww_tma_step(struct ww_sm *sm, uint64_t cycle) {
    struct ww_tma *t = sm->tma;
    while (t->count && t->next <= cycle) {
        struct ww_tma_job *j = &t->job[t->ring[t->head]];
        if (j->from > cycle) {
            t->next = j->from;
            return;
        }
        if (sm->misses.count >= sm->core->gpu->l1_miss_queue) {
            sm->core->counter[WW_C_DMA_BLOCKED]++;
            t->next = WW_NEVER;
            return;
        }
        t->next = work(sm, t, j, cycle);
    }
    if (!t->count) t->next = WW_NEVER;
}

void ww_tma_reply(struct ww_sm *sm, uint32_t job, const struct ww_mem_reply *reply, uint64_t cycle) {
    struct ww_cache *l = &sm->l1;
    struct ww_tma_job *j = &sm->tma->job[job];
    if (j->bulk == WW_BULK_LOAD) {
        ww_cache_port(l, cycle, l->shape->data_cycles[ww_bits8(reply->sectors)]);
        if (j->ready < l->port_free) j->ready = l->port_free;
    }
    if (!reply->last) return;
    j->outstanding--;
    if (j->generated && !j->outstanding) loaded(sm, j, cycle);
}
