/* exec_async.c: cp.async and mbarrier. Copies are done at once, so that waiting for them has no effect.
 *
 * An mbarrier object, 64 bits in shared memory:
 *     bits 0-19 arrivals pending in this phase, 20-39 arrivals expected per phase, 40-62 bytes that are
 *     still to come (two's complement), 63 parity of the phase */
#include "simt.h"
#include <string.h>

#define COUNT_MASK 0xfffffu
#define TX_SHIFT 40
#define TX_MASK 0x7fffffu
#define TX_MOST 0xfffff /* bytes, either way (PTX ISA, mbarrier: tx-count) */

static void copy(EX_ARGS) {
    unsigned char *from[EX_LANES], *to[EX_LANES];
    struct ex_address source = {.slot = i->b,
                                .width = i->bw,
                                .offset = (int32_t)i->elem->slot,
                                .space = PTX_S_GLOBAL,
                                .bytes = i->bytes};
    struct ex_address target = {.slot = i->a,
                                .width = i->aw,
                                .offset = i->imm,
                                .space = PTX_S_SHARED,
                                .bytes = i->bytes,
                                .is_store = true};
    uint32_t reads = mask;
    if (i->c != EX_NO_SLOT)
        for (uint32_t m = mask; m; m &= m - 1)
            if (ex_lane(w, i->c, i->cw, (unsigned)__builtin_ctz(m)) == 0) reads &= ~(m & (0u - m));
    if (!ww_ex_addresses(w, i, &target, mask, w->addr2, to)) return;
    w->group_count = 0;
    if (reads && !ww_ex_addresses(w, i, &source, reads, w->addr, from)) return;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t n = i->c == EX_NO_SLOT ? i->bytes : ex_lane(w, i->c, i->cw, l);
        if (n > i->bytes) n = i->bytes;
        memset(to[l], 0, i->bytes);
        if (n) memcpy(to[l], from[l], n);
        if (!(reads >> l & 1u)) w->addr[l] = 0;
    }
    w->group[0] = (struct access_group){PTX_S_GLOBAL, mask};
    w->group_count = 1;
}

static void done(EX_ARGS) {
    (void)w;
    (void)i;
    (void)mask;
}

static uint64_t next_phase(uint64_t v) {
    bool complete = (v & COUNT_MASK) == 0 && ((v >> TX_SHIFT) & TX_MASK) == 0;
    if (!complete) return v;
    return (v ^ ((uint64_t)1 << 63)) | ((v >> 20) & COUNT_MASK);
}

static uint64_t add_tx(uint64_t v, uint64_t bytes) {
    uint64_t tx = ((v >> TX_SHIFT) + bytes) & TX_MASK;
    return (v & ~((uint64_t)TX_MASK << TX_SHIFT)) | tx << TX_SHIFT;
}

static int64_t tx_of(uint64_t v) {
    uint64_t sign = (TX_MASK >> 1) + 1;
    return (int64_t)((v >> TX_SHIFT & TX_MASK) ^ sign) - (int64_t)sign;
}

/* Whether the object at v can take so many bytes more or fewer. */
static bool takes_tx(struct ex_warp *w, unsigned lane, uint64_t v, int64_t bytes) {
    int64_t sum = tx_of(v) + bytes;
    if (bytes >= -TX_MOST && bytes <= TX_MOST && sum >= -TX_MOST && sum <= TX_MOST) return true;
    ww_ex_fail(w, lane, WW_EXEC, "mbarrier: %lld bytes to come and %lld more; expected at most %d either way",
               (long long)tx_of(v), (long long)bytes, TX_MOST);
    return false;
}

static bool takes_arrivals(struct ex_warp *w, unsigned lane, uint64_t v, uint64_t count) {
    if (count && (v & COUNT_MASK) >= count) return true;
    ww_ex_fail(w, lane, WW_EXEC, "mbarrier: %llu arrivals with %llu pending%s", (unsigned long long)count,
               (unsigned long long)(v & COUNT_MASK), v ? "" : ": has it been initialised?");
    return false;
}

/* Takes `count` arrivals off; drop lowers what later phases expect. */
static uint64_t arrive(uint64_t v, uint64_t count, bool drop) {
    if (drop) v -= count << 20;
    return next_phase(v - count);
}

/* The new object, and what the instruction returns. */
static uint64_t step(struct ex_warp *w, const struct ex_inst *i, unsigned l, uint64_t v, uint64_t *result) {
    uint64_t b = i->b == EX_NO_SLOT ? 1 : ex_lane(w, i->b, i->bw, l);
    uint8_t sub = i->op == PTX_CP ? PTX_SUB_MB_ARRIVE : i->sub;
    bool arrives = sub == PTX_SUB_MB_ARRIVE || sub == PTX_SUB_MB_ARRIVE_DROP;
    *result = v;
    if (i->op == PTX_CP && !(i->mods & PTX_M_NOINC)) return v; /* .inc and arrival cancel */
    if (arrives && !takes_arrivals(w, l, v, i->src->bulk & PTX_BULK_EXPECT ? 1 : b)) return v;
    if (i->src->bulk & PTX_BULK_EXPECT) {
        if (!takes_tx(w, l, v, (int64_t)b)) return v;
        v = add_tx(v, b);
        b = 1;
    }
    switch (sub) {
    case PTX_SUB_MB_INIT:
        if (b && b <= COUNT_MASK) return b | b << 20;
        ww_ex_fail(w, l, WW_EXEC, "mbarrier.init of %llu arrivals: expected 1 to %u", (unsigned long long)b,
                   COUNT_MASK);
        return v;
    case PTX_SUB_MB_ARRIVE:
    case PTX_SUB_MB_ARRIVE_DROP:
        return arrive(v, b, sub == PTX_SUB_MB_ARRIVE_DROP);
    case PTX_SUB_MB_EXPECT_TX:
        return takes_tx(w, l, v, (int64_t)b) ? add_tx(v, b) : v;
    case PTX_SUB_MB_COMPLETE_TX:
        return takes_tx(w, l, v, -(int64_t)b) ? next_phase(add_tx(v, 0 - b)) : v;
    case PTX_SUB_MB_TEST_WAIT:
    case PTX_SUB_MB_TRY_WAIT:
        *result = i->mods & PTX_M_PARITY ? (v >> 63) != (b & 1u) : (v >> 63) != (b >> 63);
        return v;
    default:
        return v;
    }
}

/* An event at the mbarrier at p, whose value was `old`. */
static void note_event(struct ex_warp *w, const unsigned char *p, uint64_t old, uint64_t v, uint8_t kind) {
    uint32_t offset;
    struct ex_cta *owner = ww_ex_owner(w, p, &offset);
    if (!owner) return;
    if (owner == w->cta && kind) ww_mbarrier_event(&owner->mbarriers, offset, kind, &w->mbar);
    if (owner != w->cta && kind) ww_mbarrier_event_far(&owner->mbarriers, offset, kind, owner->rank, &w->mbar);
    if ((old ^ v) >> 63) ww_mbarrier_flip(&owner->mbarriers, offset);
}

static bool is_wait(const struct ex_inst *i) {
    return i->op == PTX_MBARRIER && (i->sub == PTX_SUB_MB_TEST_WAIT || i->sub == PTX_SUB_MB_TRY_WAIT);
}

/* What lane l did at the mbarrier at p, to be recorded. */
static void note(struct ex_warp *w, const struct ex_inst *i, const unsigned char *p, uint64_t old, uint64_t v,
                 uint64_t result) {
    uint32_t offset;
    bool arrives = i->sub == PTX_SUB_MB_ARRIVE || i->sub == PTX_SUB_MB_ARRIVE_DROP;
    if (is_wait(i)) {
        struct ex_cta *owner = ww_ex_owner(w, p, &offset);
        w->unmet_at = result ? NULL : p;
        if (!result)
            w->unmet = true;
        else if (owner == w->cta && !w->mbar.own.kind)
            ww_mbarrier_waits(&owner->mbarriers, offset, &w->mbar);
    } else if (i->sub == PTX_SUB_MB_INIT && i->op == PTX_MBARRIER) {
        struct ex_cta *owner = ww_ex_owner(w, p, &offset);
        if (owner) ww_mbarrier_begin(&owner->mbarriers, offset);
    } else {
        note_event(w, p, old, v, i->op == PTX_CP ? WW_MBARRIER_COPIES : arrives ? WW_MBARRIER_ARRIVE : 0);
    }
}

static unsigned char *find_barrier(struct ex_warp *w, unsigned lane, uint64_t bar) {
    unsigned char *p = bar % 8 ? NULL : ww_ex_shared(w, bar, 8);
    if (!p) ww_ex_fail_shared(w, lane, bar, 8, "mbarrier");
    return p;
}

bool ww_ex_mbarrier_commit(struct ex_warp *w, unsigned lane, uint64_t bar) {
    unsigned char *p = find_barrier(w, lane, bar);
    uint64_t v, old;
    if (!p) return false;
    memcpy(&old, p, sizeof old);
    if (!takes_arrivals(w, lane, old, 1)) return false;
    v = arrive(old, 1, false);
    memcpy(p, &v, sizeof v);
    note_event(w, p, old, v, WW_MBARRIER_COPIES);
    return true;
}

bool ww_ex_mbarrier_complete(struct ex_warp *w, unsigned lane, uint64_t bar, uint32_t bytes) {
    unsigned char *p = find_barrier(w, lane, bar);
    uint64_t v;
    if (!p) return false;
    memcpy(&v, p, sizeof v);
    uint64_t old = v;
    if (!takes_tx(w, lane, v, -(int64_t)bytes)) return false;
    v = next_phase(add_tx(v, 0 - (uint64_t)bytes));
    memcpy(p, &v, sizeof v);
    note_event(w, p, old, v, WW_MBARRIER_COPIES);
    return true;
}

bool ww_ex_mbarrier_say(const struct ex_warp *w, char *text, size_t size) {
    uint32_t offset;
    uint64_t v;
    struct ex_cta *owner = w->unmet_at ? ww_ex_owner(w, w->unmet_at, &offset) : NULL;
    if (!owner) return false;
    memcpy(&v, w->unmet_at, sizeof v);
    ww_mbarrier_say(text, size, owner->rank, offset, v & COUNT_MASK, v >> 20 & COUNT_MASK, tx_of(v));
    return true;
}

static void mbarrier(EX_ARGS) {
    unsigned char *host[EX_LANES];
    struct ex_address a = {
        .slot = i->a, .width = i->aw, .offset = i->imm, .space = i->space, .bytes = 8, .is_store = true};
    if (a.space == PTX_S_GENERIC && i->a == EX_NO_SLOT) a.space = PTX_S_SHARED;
    if (!ww_ex_addresses(w, i, &a, mask, w->addr, host)) return;
    ww_mbarrier_clear(&w->mbar);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v, old, result;
        memcpy(&old, host[l], sizeof old);
        v = step(w, i, l, old, &result);
        memcpy(host[l], &v, sizeof v);
        note(w, i, host[l], old, v, result);
        if (i->d == EX_NO_SLOT) continue;
        if (i->dw == 0)
            ex_set_pred(w, i->d, result ? EX_ALL : 0, 1u << l);
        else
            ex_set_lane(w, i->d, i->dw, l, result);
    }
}

static void pending_count(EX_ARGS) {
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        ex_set_lane(w, i->d, i->dw, l, ex_lane(w, i->a, i->aw, l) & COUNT_MASK);
    }
}

ex_fn ww_ex_pick_mbarrier(struct ex_inst *i) {
    if (i->sub == PTX_SUB_MB_PENDING_COUNT) return pending_count;
    i->kind = EX_MEM;
    return i->mods & PTX_M_NOCOMPLETE ? NULL : mbarrier;
}

ex_fn ww_ex_pick_cp(struct ex_inst *i) {
    if (i->sub != PTX_SUB_CP_ASYNC && i->sub != PTX_SUB_CP_MBARRIER_ARRIVE) return done;
    i->kind = EX_MEM;
    return i->sub == PTX_SUB_CP_ASYNC ? copy : mbarrier;
}
