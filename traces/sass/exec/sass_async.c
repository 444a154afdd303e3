/* sass_async.c: mbarriers, 64 bits in shared memory. Copies are done at once, so that they arrive at once.
 *
 * Their format is the machine's; kernels set it up by plain stores. Read off what ptxas makes of mbarrier.init,
 * .pending_count and .test_wait:
 *
 *     sm_80  bits 0-29: - threads expected; 32-62: - threads still to come; 63: phase
 *     sm_90  bits 1-20: - threads expected; 21-42: bytes still to come; 43-62: - threads still to come; 63:
 * phase
 *
 * When the last thread (and byte) has come the phase flips and the count begins anew.
 */
#include "access.h"
#include "bulk.h"

struct format {
    unsigned expected_at, expected_bits, bytes_at, bytes_bits, pending_at, pending_bits;
};
static const struct format sm80 = {0, 30, 0, 0, 32, 31}, sm90 = {1, 20, 21, 22, 43, 20};

static uint64_t field(uint64_t v, unsigned at, unsigned bits) {
    return v >> at & (((uint64_t)1 << bits) - 1);
}

static uint64_t with(uint64_t v, unsigned at, unsigned bits, uint64_t to) {
    uint64_t mask = (((uint64_t)1 << bits) - 1) << at;
    return (v & ~mask) | (to << at & mask);
}

/* `count` threads arrive, `bytes` more (or fewer) bytes are expected, `drop` threads are expected no more. */
static uint64_t arrive(const struct format *f, uint64_t v, uint64_t count, uint64_t bytes, uint64_t drop) {
    uint64_t pending = field(v, f->pending_at, f->pending_bits) + count;
    uint64_t tx = f->bytes_bits ? field(v, f->bytes_at, f->bytes_bits) + bytes : 0;
    uint64_t expected = field(v, f->expected_at, f->expected_bits) + drop;
    v = with(v, f->pending_at, f->pending_bits, pending);
    v = with(v, f->expected_at, f->expected_bits, expected);
    if (f->bytes_bits) v = with(v, f->bytes_at, f->bytes_bits, tx);
    bool done = field(v, f->pending_at, f->pending_bits) == 0 &&
                (!f->bytes_bits || field(v, f->bytes_at, f->bytes_bits) == 0);
    if (!done) return v;
    /* the expected count is negative: it keeps its sign in a wider field */
    uint64_t again = field(v, f->expected_at, f->expected_bits) - ((uint64_t)1 << f->expected_bits);
    return with(v, f->pending_at, f->pending_bits, again) ^ (uint64_t)1 << 63;
}

#define BYTES_MOST 0xfffff /* to come, either way (PTX ISA, mbarrier: tx-count) */

static int64_t bytes_of(const struct format *f, uint64_t v) {
    uint64_t sign = (uint64_t)1 << (f->bytes_bits - 1);
    return (int64_t)(field(v, f->bytes_at, f->bytes_bits) ^ sign) - (int64_t)sign;
}

static uint64_t pending_of(const struct format *f, uint64_t v) {
    return field(0 - field(v, f->pending_at, f->pending_bits), 0, f->pending_bits);
}

/* Whether the object can take so many arrivals and bytes. */
static bool takes(struct sx_warp *w, uint32_t lane, const struct format *f, uint64_t v, uint64_t count,
                  int64_t bytes) {
    if (count > pending_of(f, v)) {
        ww_sx_fail(w, lane, WW_EXEC, "mbarrier: %llu arrivals with %llu pending%s", (unsigned long long)count,
                   (unsigned long long)pending_of(f, v), v ? "" : ": has it been initialised?");
        return false;
    }
    if (!bytes || !f->bytes_bits) return true;
    int64_t to_come = bytes_of(f, v), sum = to_come + bytes;
    if (bytes >= -BYTES_MOST && bytes <= BYTES_MOST && sum >= -BYTES_MOST && sum <= BYTES_MOST) return true;
    ww_sx_fail(w, lane, WW_EXEC, "mbarrier: %lld bytes to come and %lld more; expected at most %d either way",
               (long long)to_come, (long long)bytes, BYTES_MOST);
    return false;
}

static struct sx_cta *owner_of(const struct sx_warp *w, const unsigned char *p, uint32_t *offset) {
    const struct sx_cluster *c = w->cta->cluster;
    for (uint32_t n = 0; n < c->count; n++) {
        uintptr_t at = (uintptr_t)p - (uintptr_t)c->cta[n]->shared;
        if (at >= w->run->shared_bytes) continue;
        *offset = (uint32_t)at;
        return c->cta[n];
    }
    return NULL;
}

/* An event at the mbarrier at p, whose value was `old`, to be recorded. */
static void note_event(struct sx_warp *w, const unsigned char *p, uint64_t old, uint64_t v, uint8_t kind) {
    uint32_t offset;
    struct sx_cta *owner = owner_of(w, p, &offset);
    if (!owner) return;
    if (owner == w->cta && kind) ww_mbarrier_event(&owner->mbarriers, offset, kind, &w->mbar);
    if (owner != w->cta && kind) ww_mbarrier_event_far(&owner->mbarriers, offset, kind, owner->rank, &w->mbar);
    if ((old ^ v) >> 63) ww_mbarrier_flip(&owner->mbarriers, offset);
}

static void note_wait(struct sx_warp *w, const unsigned char *p, bool over) {
    uint32_t offset;
    struct sx_cta *owner = owner_of(w, p, &offset);
    w->unmet_at = over ? NULL : p;
    if (!over)
        w->unmet = true;
    else if (owner == w->cta && !w->mbar.own.kind)
        ww_mbarrier_waits(&owner->mbarriers, offset, &w->mbar);
}

void ww_sx_mbarrier_complete(struct sx_warp *w, uint32_t bar, uint32_t bytes) {
    unsigned char *p = bar % 8 ? NULL : ww_sx_shared(w, bar, 8);
    uint64_t v;
    if (!p) {
        ww_sx_fail_shared(w, SX_LANES, bar, 8, "mbarrier");
        return;
    }
    memcpy(&v, p, sizeof v);
    uint64_t old = v;
    if (!takes(w, SX_LANES, &sm90, v, 0, -(int64_t)bytes)) return;
    v = arrive(&sm90, v, 0, 0 - (uint64_t)bytes, 0);
    memcpy(p, &v, sizeof v);
    note_event(w, p, old, v, WW_MBARRIER_COPIES);
}

/* What an instruction asks for. */
enum amount { NONE, ONE, REGISTER, MINUS };
#define FLAG_DROP 1u
#define FLAG_MASK 2u /* the result's lower word is the mask of lanes that share the barrier */

static uint64_t amount(uint8_t kind, uint32_t reg) {
    return kind == NONE ? 0 : kind == ONE ? 1 : kind == MINUS ? 0 - (uint64_t)reg : reg;
}

static void arrival(SX_ARGS) {
    unsigned char *host[SX_LANES];
    const struct format *f = i->shape >= 90 ? &sm90 : &sm80;
    const uint32_t *b = sx_src(w, i->b);
    uint32_t *d = sx_dst(w, i->d);
    if (!ww_sx_addresses(w, i->address, mask, w->addr, host)) return;
    ww_mbarrier_clear(&w->mbar);
    for (uint32_t left = mask; left;) {
        unsigned first = (unsigned)__builtin_ctz(left);
        uint32_t same = 0;
        uint64_t old, v, start;
        for (uint32_t m = left; m; m &= m - 1)
            if (host[__builtin_ctz(m)] == host[first]) same |= m & (0u - m);
        left &= ~same;
        memcpy(&v, host[first], 8);
        start = v;
        for (uint32_t m = same; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            uint64_t count = amount(i->type, b[l]), bytes = i->type3 ? (uint64_t)0 - 1 : amount(i->type2, b[l]);
            old = v;
            if (!takes(w, l, f, v, count, (int64_t)bytes)) return;
            v = arrive(f, v, count, bytes, i->mods & FLAG_DROP ? count : 0);
            note_event(w, host[first], old, v, i->sub);
            sx_set64(d, l, i->mods & FLAG_MASK ? (start & ~(uint64_t)UINT32_MAX) | same : old);
        }
        memcpy(host[first], &v, 8);
    }
}

bool ww_sx_mbarrier_say(const struct sx_warp *w, char *text, size_t size) {
    uint32_t offset;
    uint64_t v;
    struct sx_cta *owner = w->unmet_at ? owner_of(w, w->unmet_at, &offset) : NULL;
    if (!owner) return false;
    memcpy(&v, w->unmet_at, sizeof v);
    uint64_t expected = field(0 - field(v, sm90.expected_at, sm90.expected_bits), 0, sm90.expected_bits);
    ww_mbarrier_say(text, size, owner->rank, offset, pending_of(&sm90, v), expected, bytes_of(&sm90, v));
    return true;
}

/* Whether the phase of a parity, bit 31 of B, is over. */
static void phase_check(SX_ARGS) {
    unsigned char *host[SX_LANES];
    const uint32_t *b = sx_src(w, i->b);
    uint32_t over = 0;
    if (!ww_sx_addresses(w, i->address, mask, w->addr, host)) return;
    ww_mbarrier_clear(&w->mbar);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t v;
        memcpy(&v, host[l], 8);
        over |= (uint32_t)((v >> 63) != b[l] >> 31) << l;
        note_wait(w, host[l], (v >> 63) != b[l] >> 31);
    }
    sx_set_pred(w, i->pd[0], over, mask);
}

/* A uniform exchange: once for the warp. */
static void exchange(SX_ARGS) {
    unsigned char *host[SX_LANES];
    uint32_t first = mask & (0u - mask);
    unsigned l = (unsigned)__builtin_ctz(first);
    uint32_t *d = sx_dst(w, i->d);
    uint64_t old, v = sx_get64(sx_src(w, i->b), l);
    if (!ww_sx_addresses(w, i->address, first, w->addr, host)) return;
    memcpy(&old, host[l], 8);
    memcpy(host[l], &v, 8);
    uint32_t offset;
    struct sx_cta *owner = owner_of(w, host[l], &offset);
    ww_mbarrier_clear(&w->mbar);
    if (owner) ww_mbarrier_begin(&owner->mbarriers, offset);
    for (unsigned n = 0; n < SX_LANES; n++) sx_set64(d, n, old);
}

/* ---- building ---- */

static bool pick_arrival(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i, uint8_t count,
                         uint8_t bytes) {
    i->kind = SX_MEM;
    i->sub = count == NONE ? 0 : in->op == SASS_ARRIVES ? WW_MBARRIER_COPIES : WW_MBARRIER_ARRIVE;
    i->type = count;
    i->type2 = bytes;
    i->shape = (uint8_t)(ww_sx_arch(b) >= 90 ? 90 : 80);
    struct sx_address *address = ww_sx_address_of(b, in, SASS_A, WW_SPACE_SHARED, 8, true);
    if (address) address->peers = ww_sx_arch(b) >= 90;
    i->address = address;
    i->b = ww_sx_src(b, in, SASS_B, 1);
    i->d = ww_sx_dst(b, in, SASS_D, 2);
    i->fn = arrival;
    return address != NULL;
}

static bool pick_syncs(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    /* threads that arrive and bytes: nothing said, A1T0, A0T1, A0TR, A0TX, ART0 */
    static const struct {
        uint8_t count, bytes;
    } what[] = {{ONE, REGISTER}, {ONE, NONE}, {NONE, ONE}, {NONE, REGISTER}, {NONE, MINUS}, {REGISTER, NONE}};
    uint8_t n = in->mod[SASS_M_SYNCS], d = in->opd[SASS_D].kind;
    if (d == SASS_K_REG) { /* ARRIVE */
        if (n >= sizeof what / sizeof *what) return false;
        i->mods = (in->mod[SASS_M_EXTRA2] ? FLAG_DROP : 0) | (in->mod[SASS_M_EXTRA] ? FLAG_MASK : 0);
        return pick_arrival(b, in, i, what[n].count, what[n].bytes);
    }
    if (in->opd[SASS_PD].kind != SASS_K_NONE) { /* PHASECHK */
        i->kind = SX_MEM;
        i->address = ww_sx_address_of(b, in, SASS_A, WW_SPACE_SHARED, 8, false);
        i->b = ww_sx_src(b, in, SASS_B, 1);
        i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
        i->fn = phase_check;
        return i->address != NULL;
    }
    if (d == SASS_K_UREG) { /* EXCH */
        i->kind = SX_MEM;
        i->address = ww_sx_address_of(b, in, SASS_A, WW_SPACE_SHARED, 8, true);
        i->b = ww_sx_src(b, in, SASS_B, 2);
        i->d = ww_sx_dst(b, in, SASS_D, 2);
        i->fn = exchange;
        return i->address != NULL;
    }
    ww_sx_pick_nop(i); /* CCTL */
    return true;
}

bool ww_sx_pick_async(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_ARRIVES: /* of copies: TRANSCNT takes back what an instruction before it added to the bytes */
        i->type3 = in->mod[SASS_M_EXTRA2];
        return pick_arrival(b, in, i, i->type3 ? NONE : ONE, NONE);
    case SASS_ATOMS:
        return in->mod[SASS_M_ATOM] == SASS_ATOM_ARRIVE && pick_arrival(b, in, i, ONE, NONE);
    case SASS_SYNCS:
        return pick_syncs(b, in, i);
    default:
        return false;
    }
}
