/* Serving the request at the head of a slice. */
#include "../../result/result.h"
#include "l2_part.h"
#include "l2_prefetch.h"
#include <assert.h>
#include <string.h>

static uint32_t bits(uint32_t mask) {
    return ww_bits8(mask);
}

static void count(const struct ww_l2_slice *s, enum ww_counter counter, uint32_t sectors) {
    ww_l2_count(s, counter, sectors);
}

/* ---- replies --------------------------------------------------------------------------------- */

static void send_reply(struct ww_l2_slice *s, const struct ww_l2_txn *t, uint8_t granules, bool last,
                       uint64_t cycle) {
    struct ww_mem_reply reply = {.address = t->address,
                                 .sectors = t->fine ? granules : ww_l2_l1_sectors(s->l2, granules),
                                 .tag = t->tag,
                                 .kind = t->kind,
                                 .level = t->level,
                                 .last = last,
                                 .walked = t->walked};
    if (t->sm == WW_L2_WALKER) {
        s->l2->walk_read(s->l2->walk_context, &reply, cycle);
        return;
    }
    if (t->needs_reply == WW_L2_REPLY_PEER) {
        ww_l2_far_reply(s, t, granules, cycle);
        return;
    }
    uint32_t payload = 0; /* of an acknowledgement */
    if (t->kind == WW_MEM_READ) payload = 32 * bits(granules);
    if (t->kind == WW_MEM_ATOMIC && last) payload = t->bytes; /* old values, a lane's each */
    *ww_xbar_next(s->l2->xbar) = reply;
    ww_xbar_reply(s->l2->xbar, s->index, t->sm, payload, cycle);
}

/* The reply to all of a request of an SM. */
static void reply_sm(struct ww_l2_slice *s, const struct ww_l2_packet *p, uint64_t cycle) {
    *ww_xbar_next(s->l2->xbar) =
        (struct ww_mem_reply){.address = p->address,
                              .sectors = p->fine ? p->granules : ww_l2_l1_sectors(s->l2, p->granules),
                              .tag = p->tag,
                              .kind = p->kind,
                              .level = WW_LEVEL_L2,
                              .last = true,
                              .walked = p->walked};
    uint32_t payload = 0;
    if (p->kind == WW_MEM_READ) payload = 32 * bits(p->granules);
    if (p->kind == WW_MEM_ATOMIC) payload = p->bytes;
    ww_xbar_reply(s->l2->xbar, s->index, p->sm, payload, cycle);
}

void ww_l2_reply_coalesced(struct ww_l2_slice *s, const struct ww_l2_packet *p, uint64_t cycle) {
    uint32_t granules = bits(p->granules), sectors = granules >> s->l2->sector_shift;
    count(s, WW_C_L2_SECTOR_READ, sectors);
    count(s, WW_C_L2_SECTOR_MERGED, sectors);
    ww_l2_count_inst(s, p, WW_I_L2_MERGED, sectors);
    reply_sm(s, p, cycle);
}

void ww_l2_reply_whole(struct ww_l2_slice *s, const struct ww_l2_packet *p, uint64_t cycle) {
    if (p->sm != WW_L2_WALKER && p->needs_reply != WW_L2_REPLY_PEER) {
        reply_sm(s, p, cycle);
        return;
    }
    struct ww_l2_txn t = {.address = p->address,
                          .tag = p->tag,
                          .sm = p->sm,
                          .kind = p->kind,
                          .needs_reply = p->needs_reply,
                          .fine = p->fine,
                          .walked = p->walked,
                          .level = WW_LEVEL_L2};
    send_reply(s, &t, p->granules, true, cycle);
}

bool ww_l2_can_reply(struct ww_l2_slice *s, struct ww_l2_input *in, uint8_t needs_reply) {
    if (needs_reply != WW_L2_REPLY_SM || ww_xbar_can_reply(s->l2->xbar, s->index)) return true;
    in->waits |= WW_L2_WAIT_REPLY;
    return false;
}

/* Granules of t that can be replied: of L1 sectors that are complete in `have`, or single ones. */
static uint8_t complete(const struct ww_l2 *l2, const struct ww_l2_txn *t) {
    uint8_t have = t->have;
    uint32_t n = l2->l1_sector_granules, sector = (1u << n) - 1, out = 0;
    if (n == 1 || t->fine) return have;
    for (uint32_t g = 0; g < 8; g += n)
        if (((uint32_t)have >> g & sector) == sector) out |= sector << g;
    return (uint8_t)out;
}

/* The txn has nothing left to reply. */
static inline void free_txn(struct ww_l2_slice *s, uint32_t n) {
    if (s->in[WW_L2_NEAR].head_txn == n) s->in[WW_L2_NEAR].head_txn = WW_NONE;
    if (s->l2->sides > 1 && s->in[WW_L2_FAR].head_txn == n) s->in[WW_L2_FAR].head_txn = WW_NONE;
    s->txn[n].wait.next = ww_free_back(&s->free_txn, n);
    --*s->l2->live;
}

/* Replies what txn n has complete; frees it after its last granule. */
static void flush(struct ww_l2_slice *s, uint32_t n, uint64_t cycle) {
    struct ww_l2_txn *t = &s->txn[n];
    uint8_t out = complete(s->l2, t);
    if (!out) return;
    t->left &= (uint8_t)~out;
    t->have &= (uint8_t)~out;
    if (t->needs_reply) send_reply(s, t, out, !t->left, cycle);
    t->level = WW_LEVEL_L2;
    if (!t->left) free_txn(s, n);
}

/* Sectors of an atomic are valid: performs it there. Updates that follow one another cost their time. */
static void perform_atomic(struct ww_l2_slice *s, struct ww_l2_txn *t, uint32_t sectors, uint64_t cycle) {
    count(s, WW_C_L2_ATOMIC, sectors);
    if (t->kinds.performed) return;
    t->kinds.performed = true;
    uint64_t from = s->free > cycle ? s->free : cycle;
    s->free = from + (uint64_t)t->atomic_ops * s->l2->atomic_cycles;
    ww_l2_tell(s->l2, t->sm, t->address, cycle);
}

void ww_l2_answer_read(struct ww_l2_slice *s, uint32_t n, uint8_t level, uint64_t cycle) {
    struct ww_xbar *x = s->l2->xbar;
    const struct ww_l2_txn *t = &s->txn[n];
    struct ww_mem_reply *reply = ww_xbar_next(x);
    reply->address = t->address;
    reply->sectors = t->fine ? t->left : ww_l2_l1_sectors(s->l2, t->left);
    reply->tag = t->tag;
    reply->kind = WW_MEM_READ;
    reply->level = level;
    reply->last = true;
    reply->walked = t->walked;
    ww_xbar_reply(x, s->index, t->sm, 32 * bits(t->left), cycle);
    free_txn(s, n);
}

void ww_l2_txn_got(struct ww_l2_slice *s, uint32_t n, uint8_t got, uint8_t level, uint64_t cycle) {
    struct ww_l2_txn *t = &s->txn[n];
    if (ww_l2_is_all(t, got, level)) {
        ww_l2_answer_read(s, n, level, cycle);
        return;
    }
    if (t->kind == WW_MEM_ATOMIC) perform_atomic(s, t, bits(got) >> s->l2->sector_shift, cycle);
    t->have |= got;
    t->level = level > t->level ? level : t->level;
    flush(s, n, cycle);
}

/* ---- lines ----------------------------------------------------------------------------------- */

bool ww_l2_dram_room(struct ww_l2_slice *s, struct ww_l2_input *in, enum ww_dram_direction direction) {
    if (ww_dram_has_room(s->room, direction)) return true;
    in->waits |= direction == WW_DRAM_READ ? WW_L2_WAIT_READ : WW_L2_WAIT_WRITE;
    return false;
}

static bool is_copy(const struct ww_l2_slice *s, uint64_t number) {
    return number & s->l2->copy_bit;
}

/* After one more copy, the set has a way left that does not wait for the other partition. */
static bool set_takes_copy(const struct ww_l2_slice *s, uint32_t set) {
    const struct ww_l2_line *line = &s->tags.line[(size_t)set * s->tags.stride];
    uint32_t waiting = 0;
    for (uint32_t w = 0; w < s->tags.ways; w++) waiting += line[w].pending && is_copy(s, line[w].number);
    return waiting + 1 < s->tags.ways;
}

bool ww_l2_claim(struct ww_l2_slice *s, struct ww_l2_input *in, struct ww_l2_part *part, uint64_t cycle) {
    uint32_t victim = ww_l2_tags_victim(&s->tags, part->set);
    if (victim == WW_NONE) return false;
    if (is_copy(s, part->number) && s->copies + 1 >= s->tags.ways && !set_takes_copy(s, part->set))
        return false;
    if (s->tags.line[victim].dirty && !ww_l2_dram_room(s, in, WW_DRAM_WRITE)) return false;
    ww_l2_replace(s, part, victim, cycle);
    ww_l2_tags_first_use(&s->tags, part->set, victim);
    return true;
}

/* ---- reads and atomics ----------------------------------------------------------------------- */

/* Sectors that are read from DRAM in addition to `need`, if there are MSHRs for them. */
static uint8_t rest_of_blocks(const struct ww_l2_slice *s, const struct ww_l2_part *part, uint8_t need) {
    const struct ww_l2_line *line = &s->tags.line[part->index];
    uint8_t more = s->l2->fetch_of[need] & (uint8_t) ~(line->valid | line->pending | need);
    return s->mshrs_used + bits(need | more) <= s->l2->mshrs ? more : 0;
}

/* Asks DRAM for as many of the sectors `need` as there are MSHRs for; returns these. */
static uint8_t fetch(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p,
                     struct ww_l2_part *part, uint8_t need, uint64_t cycle) {
    uint32_t room = s->l2->mshrs - s->mshrs_used;
    bool copy = is_copy(s, part->number);
    if (copy && room > s->l2->mshrs / 2 - s->copies) room = s->l2->mshrs / 2 - s->copies;
    if (!room || (!copy && !ww_l2_dram_room(s, in, WW_DRAM_READ))) return 0;
    if (part->index == WW_NONE && !ww_l2_claim(s, in, part, cycle)) return 0;
    if (bits(need) > room) {
        uint8_t fewer = 0;
        for (; room; room--, need &= (uint8_t)(need - 1)) fewer |= (uint8_t)(need & -need);
        need = fewer;
    }
    uint8_t more = s->l2->blocks && !copy ? rest_of_blocks(s, part, need) : 0;
    uint32_t miss = ww_l2_take_mshrs(s, part, need | more);
    if (copy) {
        s->copies += bits(need);
        count(s, WW_C_L2_FAR, bits(need));
        ww_l2_ask_home(s, part->number, need, miss, p->inst, cycle);
        return need;
    }
    if (ww_l2_is_elsewhere(s, p, part)) {
        count(s, WW_C_L2_SECTOR_MERGED, bits(need));
        ww_l2_count_inst(s, p, WW_I_L2_MERGED, bits(need));
        s->copies += bits(need | more);
        ww_l2_add_fill(s, WW_L2_FAR,
                       (struct ww_l2_fill){.ready = cycle + s->l2->elsewhere_latency,
                                           .miss = miss,
                                           .mask = need | more,
                                           .level = WW_LEVEL_L2});
        ++*s->l2->live;
        return need;
    }
    count(s, WW_C_L2_SECTOR_MISS, bits(need));
    ww_l2_count_inst(s, p, WW_I_L2_MISS, bits(need));
    if (more) count(s, WW_C_L2_PREFETCH, bits(more));
    ww_l2_push_dram(s, part->number, need | more, miss, WW_DRAM_READ, cycle);
    return need;
}

/* Of the pending sectors `pending`, those whose MSHR can hold one more request. */
static uint8_t joinable(const struct ww_l2_slice *s, const struct ww_l2_line *line, uint8_t pending) {
    uint8_t can = 0;
    for (uint8_t m = pending; m; m &= (uint8_t)(m - 1))
        if (s->miss[line->miss].joined[__builtin_ctz(m)] < s->l2->merge) can |= (uint8_t)(m & -m);
    return can;
}

/* For one more wait of a txn; returns its number. */
static uint32_t take_waiter(struct ww_l2_slice *s, uint32_t txn) {
    uint32_t n = s->free_waiter.first;
    ww_free_taken(&s->free_waiter, s->waiter[n].wait.next);
    s->waiter[n].txn = txn;
    return s->txns + n;
}

static void join(struct ww_l2_slice *s, const struct ww_l2_input *in, const struct ww_l2_part *part,
                 uint8_t mask) {
    struct ww_l2_miss *miss = &s->miss[s->tags.line[part->index].miss];
    uint32_t n = in->head_txn;
    if (s->txn[n].wait.mask) n = take_waiter(s, n);
    *ww_l2_wait(s, n) =
        (struct ww_l2_wait_for){.next = WW_NONE, .mask = mask, .base = part->base, .shift = part->shift};
    s->waits--;
    if (miss->first == WW_NONE)
        miss->first = n;
    else
        ww_l2_wait(s, miss->last)->next = n;
    miss->last = n;
    for (uint8_t m = mask; m; m &= (uint8_t)(m - 1)) miss->joined[__builtin_ctz(m)]++;
}

static void hit(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_part *part, uint8_t sectors,
                uint64_t cycle) {
    struct ww_l2_txn *t = &s->txn[in->head_txn];
    struct ww_l2_line *line = &s->tags.line[part->index];
    count(s, WW_C_L2_SECTOR_HIT, bits(sectors));
    in->hits = (uint8_t)(in->hits + bits(sectors));
    if (t->kind == WW_MEM_ATOMIC) {
        ww_l2_tags_soil(&s->tags, part->set, line, sectors);
        perform_atomic(s, t, bits(sectors), cycle);
    }
    t->have |= (uint8_t)(s->l2->granules_of[sectors] >> part->shift << part->base);
}

/* Returns those granules of the part that hit, joined or were asked of DRAM. */
static uint8_t read_part(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p,
                         struct ww_l2_part *part, uint64_t cycle) {
    uint8_t done = 0, joined = 0, fetched = 0, need = part->want;
    if (part->index != WW_NONE) {
        const struct ww_l2_line *line = &s->tags.line[part->index];
        if (line->prefetched & part->want) ww_l2_prefetch_used(s, p, part, cycle);
        done = line->valid & part->want;
        if (done) hit(s, in, part, done, cycle);
        need = part->want & (uint8_t) ~(line->valid | line->pending);
        uint8_t pending = part->want & line->pending & (uint8_t)~line->valid;
        if (pending) joined = joinable(s, line, pending);
        ww_l2_tags_touch(&s->tags, part->set, part->index);
    }
    if (s->waits) {
        if (joined) {
            count(s, WW_C_L2_SECTOR_MERGED, bits(joined));
            ww_l2_count_inst(s, p, WW_I_L2_MERGED, bits(joined));
        }
        if (need) fetched = fetch(s, in, p, part, need, cycle);
        joined |= fetched;
        if (joined) join(s, in, part, joined);
        /* Page tables are not fetched ahead: each new page of a chase in order has P5's latency. */
        if (fetched && s->l2->prefetch.window && p->sm != WW_L2_WALKER)
            ww_l2_prefetch_miss(s, p, part, fetched, cycle);
        done |= joined;
    }
    if (!done) return 0;
    if (p->needs_reply != WW_L2_REPLY_PEER) count(s, WW_C_L2_SECTOR_READ, bits(done));
    if (p->kind == WW_MEM_ATOMIC && s->l2->side_slices) ww_l2_drop_copy(s, part->number, done);
    return (uint8_t)(s->l2->granules_of[done] >> part->shift << part->base);
}

static inline struct ww_l2_txn txn_of(const struct ww_l2_packet *p) {
    return (struct ww_l2_txn){.address = p->address,
                              .tag = p->tag,
                              .sm = p->sm,
                              .bytes = p->bytes,
                              .atomic_ops = p->atomic_ops,
                              .left = p->granules,
                              .level = WW_LEVEL_L2,
                              .kinds = p->kinds};
}

/* The same of a read in its place, but for what it waits for. */
static inline void begin_read(struct ww_l2_txn *t, const struct ww_l2_packet *p) {
    t->address = p->address;
    t->tag = p->tag;
    t->sm = p->sm;
    t->bytes = t->atomic_ops = 0;
    t->left = p->granules;
    t->have = 0;
    t->level = WW_LEVEL_L2;
    t->kinds = p->kinds;
}

static bool begin_txn(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p) {
    uint32_t n = s->free_txn.first;
    if (n == WW_NONE) return false;
    struct ww_l2_txn *t = &s->txn[n];
    ww_free_taken(&s->free_txn, t->wait.next);
    *t = txn_of(p);
    in->head_txn = n;
    in->begun = true;
    ++*s->l2->live;
    return true;
}

/* A read of which every sector is valid needs no txn. True: served. */
static bool read_whole(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p,
                       const struct ww_l2_part *part, uint64_t cycle) {
    struct ww_l2 *l2 = s->l2;
    if (p->kind != WW_MEM_READ) return false;
    if (part->index == WW_NONE || (s->tags.line[part->index].valid & part->want) != part->want) return false;
    bool peer = p->needs_reply == WW_L2_REPLY_PEER;
    if (!peer && !ww_xbar_can_reply(l2->xbar, s->index)) return false;
    if (s->tags.line[part->index].prefetched & part->want) ww_l2_prefetch_used(s, p, part, cycle);
    ww_l2_tags_touch(&s->tags, part->set, part->index);
    in->hits = (uint8_t)bits(part->want);
    if (!peer) count(s, WW_C_L2_SECTOR_READ, in->hits);
    count(s, WW_C_L2_SECTOR_HIT, in->hits);
    if (p->needs_reply) ww_l2_reply_whole(s, p, cycle);
    return true;
}

/* Nothing can be done for a request yet whose line is not there: it waits for room at the channel. With a
 * coalescer such a request begins all the same, as it is answered apart from those that joined it. */
static bool cannot_begin(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_part *part) {
    const struct ww_l2 *l2 = s->l2;
    if (part->index != WW_NONE || l2->coalesce > 1 || l2->sides > 1) return false;
    if (s->mshrs_used >= l2->mshrs || !s->waits) return false;
    return !ww_l2_dram_room(s, in, WW_DRAM_READ);
}

static void keep_part(const struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_part *part) {
    in->part = *part;
    in->installs = s->tags.installs;
    in->found = true;
}

/* A read whose line is not there, on a GPU with nothing of what is rare (l2->plain), when the channel has room:
 * begin_txn, read_part and what these call, without the other cases. Most misses are such reads. False: it
 * cannot all be done now, and nothing is. */
static bool read_absent(struct ww_l2_slice *s, const struct ww_l2_packet *p, struct ww_l2_part *part,
                        uint64_t cycle) {
    const struct ww_l2 *l2 = s->l2;
    const uint8_t need = part->want;
    uint8_t more = l2->fetch_of[need] & (uint8_t)~need;
    const uint32_t sectors = bits(need), n = s->free_txn.first, m = s->free_miss.first;
    if (l2->mshrs - s->mshrs_used < sectors || n == WW_NONE) return false;
    uint32_t victim = ww_l2_tags_victim_in_order(&s->tags, part->set);
    if (victim == WW_NONE) return false;
    if (s->tags.line[victim].dirty && !ww_dram_has_room(s->room, WW_DRAM_WRITE)) return false;
    ww_l2_replace(s, part, victim, cycle);
    if (more && s->mshrs_used + bits(need | more) > l2->mshrs) more = 0;
    struct ww_l2_txn *t = &s->txn[n];
    ww_free_taken(&s->free_txn, t->wait.next);
    begin_read(t, p);
    t->wait = (struct ww_l2_wait_for){.next = WW_NONE, .mask = need, .shift = part->shift};
    struct ww_l2_miss *miss = &s->miss[m];
    ww_free_taken(&s->free_miss, miss->next);
    miss->line = victim;
    miss->first = miss->last = n;
    memset(miss->joined, 0, sizeof miss->joined);
    for (uint8_t left = need; left; left &= (uint8_t)(left - 1)) miss->joined[__builtin_ctz(left)] = 1;
    s->tags.line[victim].miss = m;
    s->tags.line[victim].pending = need | more;
    s->mshrs_used += bits(need | more);
    s->waits--;
    if (more) count(s, WW_C_L2_PREFETCH, bits(more));
    count(s, WW_C_L2_SECTOR_MISS, sectors);
    count(s, WW_C_L2_SECTOR_READ, sectors);
    ww_l2_count_inst(s, p, WW_I_L2_MISS, sectors);
    ++*l2->live;
    ww_l2_push_dram(s, part->number, need | more, m, WW_DRAM_READ, cycle);
    return true;
}

/* What a plain read's first try comes to. */
enum tried { SERVED, WAITS, MUST_BEGIN };

/* The first try of a read on a plain GPU. MUST_BEGIN: a part of it may go ahead of the rest. */
static inline enum tried try_plain(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p,
                                   uint64_t cycle) {
    struct ww_l2_part *part = &in->part;
    if (!in->found || in->installs != s->tags.installs) {
        *part = ww_l2_first_part(s, p, p->granules);
        in->installs = s->tags.installs;
        in->found = true;
    }
    if (part->index != WW_NONE) return read_whole(s, in, p, part, cycle) ? SERVED : MUST_BEGIN;
    if (s->mshrs_used >= s->l2->mshrs || !s->waits) return MUST_BEGIN;
    if (!ww_l2_dram_room(s, in, WW_DRAM_READ)) return WAITS;
    return read_absent(s, p, part, cycle) ? SERVED : MUST_BEGIN;
}

static bool serve_read(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p,
                       uint64_t cycle) {
    struct ww_l2_part part;
    uint32_t k = 0;
    if (s->l2->plain && !in->begun && p->kind == WW_MEM_READ) {
        enum tried tried = try_plain(s, in, p, cycle);
        if (tried != MUST_BEGIN) return tried == SERVED;
        if (!begin_txn(s, in, p)) return false;
    }
    if (s->l2->parts == 1) {
        part = ww_l2_only_part(s, in, p);
        if (!in->begun && read_whole(s, in, p, &part, cycle)) return true;
        if (!in->begun && (cannot_begin(s, in, &part) || !begin_txn(s, in, p))) {
            keep_part(s, in, &part);
            return false;
        }
        if (in->left) in->left &= (uint8_t)~read_part(s, in, p, &part, cycle);
        if (in->left) {
            keep_part(s, in, &part);
            return false;
        }
        k = 1;
    } else if (!in->begun && !begin_txn(s, in, p)) {
        return false;
    }
    for (; k < s->l2->parts; k++) {
        uint8_t granules = ww_l2_granules_in(s->l2, in->left, k);
        if (!granules) continue;
        part = ww_l2_find_part(s, p, k, granules);
        in->left &= (uint8_t)~read_part(s, in, p, &part, cycle);
    }
    if (in->left) return false;
    if (in->head_txn == WW_NONE) return true; /* fills have replied all of it meanwhile */
    const struct ww_l2_txn *t = &s->txn[in->head_txn];
    if (complete(s->l2, t) && !ww_l2_can_reply(s, in, t->needs_reply)) return false;
    flush(s, in->head_txn, cycle);
    in->head_txn = WW_NONE;
    return true;
}

/* ---- the head request ------------------------------------------------------------------------ */

/* The page is translated, or the request would not be here; it only takes its turn. */
static bool serve_translation(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p,
                              uint64_t cycle) {
    if (!ww_l2_can_reply(s, in, WW_L2_REPLY_SM)) return false;
    ww_l2_reply_whole(s, p, cycle);
    return true;
}

bool ww_l2_serve(struct ww_l2_slice *s, struct ww_l2_input *in, const struct ww_l2_packet *p, uint64_t cycle) {
    if (p->kind == WW_MEM_WRITE) return ww_l2_serve_write(s, in, p, cycle);
    if (p->kind == WW_MEM_TRANSLATION) return serve_translation(s, in, p, cycle);
    return serve_read(s, in, p, cycle);
}
