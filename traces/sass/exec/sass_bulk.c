/* sass_bulk.c: bulk copies (UBLKCP, UTMALDG and their kin), asynchronous stores (STAS, REDAS), and the shared
 * memory of a cluster.
 *
 * Where operands lie was read off what ptxas 12.4 makes of cp.async.bulk and its kin. A copy takes consecutive
 * uniform registers:
 *
 *     UBLKCP.S.G   D: destination, mbarrier        A: global address (2)    C: size / 16 | mask of CTAs << 16
 *     UBLKCP.S.S   D: destination, mbarrier        A: source                C: size / 16
 *     UBLKCP.G.S   D: global address (2)           A: source                C: size / 16
 *     UTMALDG      D: destination, mbarrier, coordinates   A: tensor map (2)   C: im2col offsets | mask << 16
 *     UTMASTG      D: source, coordinates          A: tensor map (2)
 *     UTMAPF       D: coordinates                  A: tensor map (2)        C: im2col offsets
 *
 * im2col offsets have 16, 8 or 5 bits each for one, two or three of them. A shared address holds the rank of
 * the CTA in bits 24 on. Copies are done at once, as are their completions. */
#include "access.h"
#include "bulk.h"
#include <stdlib.h>

struct sx_bulk {
    uint8_t way, op, type, rank;
    bool tensor, im2col, multicast;
    uint32_t d[8], a[2], c; /* slots */
};

/* ---- shared memory of a cluster ---- */

unsigned char *ww_sx_shared(struct sx_warp *w, uint64_t address, uint32_t bytes) {
    const struct sx_cluster *c = w->cta->cluster;
    uint64_t rank = address >> SX_RANK_SHIFT, at = address & SX_OFFSET_MASK;
    if (rank >= c->count || bytes > w->run->shared_bytes || at > w->run->shared_bytes - bytes) return NULL;
    return c->cta[rank]->live_warps ? c->cta[rank]->shared + at : NULL;
}

void ww_sx_fail_shared(struct sx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes, const char *what) {
    const struct sx_cluster *c = w->cta->cluster;
    uint64_t rank = address >> SX_RANK_SHIFT, at = address & SX_OFFSET_MASK;
    if (address % bytes)
        ww_sx_fail(w, lane, WW_EXEC, "misaligned %s of %u bytes at 0x%llx of shared memory", what, bytes,
                   (unsigned long long)at);
    else if (rank < c->count && !c->cta[rank]->live_warps)
        ww_sx_fail(w, lane, WW_EXEC, "%s in shared memory of CTA %llu of its cluster, which has exited", what,
                   (unsigned long long)rank);
    else
        ww_sx_fail(
            w, lane, WW_EXEC,
            "out-of-bounds %s of %u bytes at offset 0x%llx of %u bytes of shared memory of CTA %llu of a "
            "cluster of %u",
            what, bytes, (unsigned long long)at, w->run->shared_bytes, (unsigned long long)rank, c->count);
}

/* ---- memory as a copy sees it ---- */

static unsigned char *global_bytes(void *context, uint64_t address, uint32_t bytes, bool is_store) {
    struct sx_warp *w = context;
    return ww_sx_global(w, SX_LANES, address, bytes, is_store);
}

static unsigned char *shared_bytes(void *context, unsigned rank, uint32_t offset, uint32_t bytes,
                                   bool is_store) {
    struct sx_warp *w = context;
    unsigned char *p =
        offset > SX_OFFSET_MASK ? NULL : ww_sx_shared(w, offset | (uint64_t)rank << SX_RANK_SHIFT, bytes);
    if (!p && rank < w->cta->cluster->count && !w->cta->cluster->cta[rank]->live_warps)
        ww_sx_fail(w, SX_LANES, WW_EXEC, "bulk copy: CTA %u of its cluster has exited", rank);
    else if (!p)
        ww_sx_fail(
            w, SX_LANES, WW_EXEC,
            "bulk copy: out-of-bounds %s of %u bytes at offset %u of %u bytes of shared memory of CTA %u of a "
            "cluster of %u",
            is_store ? "store" : "load", bytes, offset, w->run->shared_bytes, rank, w->cta->cluster->count);
    return p;
}

static void touch(void *context, uint64_t address, uint32_t bytes) {
    struct sx_warp *w = context;
    struct sx_run *r = w->run;
    if (r->recorder && !ww_bulk_note(&r->touched, address, bytes))
        ww_sx_fail(w, SX_LANES, WW_NOMEM, WW_RECORD_NOMEM_TEXT);
}

static uint32_t word(const struct sx_warp *w, uint32_t slot) {
    return ((const uint32_t *)sx_src(w, slot))[0];
}

static uint64_t pair(const struct sx_warp *w, const uint32_t *slot) {
    return word(w, slot[0]) | (uint64_t)word(w, slot[1]) << 32;
}

static bool fill_tensor(struct sx_warp *w, const struct sx_bulk *b, unsigned lane, struct bulk_request *r) {
    static const uint8_t bits[] = {16, 8, 5};
    unsigned first = b->way == BULK_TO_SHARED ? 2 : b->way == BULK_TO_GLOBAL ? 1 : 0;
    uint64_t address = pair(w, b->a);
    const unsigned char *p = NULL;
    const char *why = !address ? "it is NULL" : address % 64 ? "its address is a multiple of 64" : NULL;
    if (!why && !(p = ww_sx_generic(w, lane, address, WW_TENSOR_MAP_BYTES))) return false;
    if (!why) why = ww_tensor_map_decode(p, &r->map);
    if (!why && r->map.rank != b->rank) why = "the instruction has other dimensions";
    if (!why && r->map.im2col != b->im2col) why = "the instruction's mode, tiled or im2col, is another";
    if (why) {
        ww_sx_fail(w, SX_LANES, WW_EXEC, "tensor map at 0x%llx: %s", (unsigned long long)address, why);
        return false;
    }
    for (unsigned n = 0; n < b->rank; n++) r->at.coordinate[n] = (int32_t)word(w, b->d[first + n]);
    for (unsigned n = 0; b->im2col && b->way != BULK_TO_GLOBAL && n + 2 < b->rank; n++) {
        unsigned width = bits[b->rank - 3];
        r->at.offset[n] = (uint16_t)(word(w, b->c) >> n * width & ((1u << width) - 1));
    }
    return true;
}

static bool fill_request(struct sx_warp *w, const struct sx_bulk *b, unsigned lane, struct bulk_request *r) {
    bool loads = b->way == BULK_TO_SHARED || b->way == BULK_BETWEEN;
    uint32_t shared = 0;
    *r = (struct bulk_request){
        .way = b->way, .op = b->op, .type = b->type, .tensor = b->tensor, .own = w->cta->rank};
    if (loads || (b->tensor && b->way == BULK_TO_GLOBAL))
        shared = word(w, b->d[0]);
    else if (b->way == BULK_TO_GLOBAL)
        shared = word(w, b->a[0]);
    r->shared = shared & SX_OFFSET_MASK;
    r->ctas = (uint16_t)(1u << (shared >> SX_RANK_SHIFT & 15));
    if (b->multicast) r->ctas = (uint16_t)(word(w, b->c) >> 16);
    if (loads && (shared >> SX_RANK_SHIFT >= w->cta->cluster->count || r->ctas >> w->cta->cluster->count)) {
        ww_sx_fail(w, SX_LANES, WW_EXEC, "bulk copy to CTAs 0x%x of a cluster of %u", r->ctas,
                   w->cta->cluster->count);
        return false;
    }
    if (b->tensor) {
        if (!fill_tensor(w, b, lane, r)) return false;
    } else {
        r->bytes = (word(w, b->c) & 0xffff) * 16;
        r->from = word(w, b->a[0]) & SX_OFFSET_MASK;
        if (b->way == BULK_TO_GLOBAL) r->global = pair(w, b->d);
        if (b->way == BULK_TO_SHARED || b->way == BULK_PREFETCH) r->global = pair(w, b->a);
    }
    const char *why = ww_bulk_check(r);
    if (why) ww_sx_fail(w, SX_LANES, WW_EXEC, "bulk copy: %s", why);
    return !why;
}

static void complete(struct sx_warp *w, const struct sx_bulk *b, const struct bulk_request *r) {
    uint32_t bar = word(w, b->d[1]);
    if (!b->multicast) {
        ww_sx_mbarrier_complete(w, bar, ww_bulk_bytes(r));
        return;
    }
    for (uint32_t rank = 0; rank < WW_CLUSTER_MOST && !w->run->failed; rank++)
        if (r->ctas >> rank & 1u)
            ww_sx_mbarrier_complete(w, (bar & SX_OFFSET_MASK) | rank << SX_RANK_SHIFT, ww_bulk_bytes(r));
}

void ww_sx_bulk(SX_ARGS) {
    const struct sx_bulk *b = i->bulk;
    const struct bulk_memory memory = {w, global_bytes, shared_bytes, touch};
    struct bulk_request r;
    w->run->touched.count = 0;
    w->access_count = 0;
    ww_mbarrier_clear(&w->mbar);
    if (!fill_request(w, b, (unsigned)__builtin_ctz(mask), &r) || !ww_bulk_run(&r, &memory)) return;
    if (b->way == BULK_TO_SHARED || b->way == BULK_BETWEEN) complete(w, b, &r);
}

/* ---- asynchronous stores ---- */

static uint64_t reduced(const struct sx_inst *i, uint64_t old, uint64_t v) {
    return ww_bulk_reduce(i->sub, i->type2, old, v);
}

/* The address of the data, and behind it the mbarrier's. */
static void store_async(SX_ARGS) {
    const uint32_t *to = sx_src(w, i->a), *bar = to + SX_LANES, *from = sx_src(w, i->b);
    ww_mbarrier_clear(&w->mbar);
    for (uint32_t m = mask; m && !w->run->failed; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t address = to[l] + (uint32_t)i->imm;
        unsigned char *p = address % i->bytes ? NULL : ww_sx_shared(w, address, i->bytes);
        if (!p) {
            ww_sx_fail_shared(w, l, address, i->bytes, "asynchronous store");
            return;
        }
        w->addr[l] = ww_sx_recorded_shared(w, address);
        if (i->sub == BULK_COPY) {
            for (uint32_t n = 0; n < i->bytes / 4u; n++) memcpy(p + 4 * n, &from[n * SX_LANES + l], 4);
        } else {
            uint64_t old = 0, v = i->bytes == 8 ? sx_get64(from, l) : from[l];
            memcpy(&old, p, i->bytes);
            v = reduced(i, old, v);
            memcpy(p, &v, i->bytes);
        }
        ww_sx_mbarrier_complete(w, bar[l], i->bytes);
    }
    w->access[0] = (struct sx_access_group){WW_SPACE_SHARED, mask};
    w->access_count = 1;
}

/* ---- building ---- */

/* Slot of a uniform register, of any number. */
static uint32_t uniform(struct sx_builder *b, const struct ww_sass_insn *in, unsigned reg) {
    struct ww_sass_insn one = *in;
    one.opd[SASS_A] =
        (struct ww_sass_operand){.kind = SASS_K_UREG, .reg = (uint8_t)(reg < SASS_URZ ? reg : SASS_URZ)};
    return ww_sx_src(b, &one, SASS_A, 1);
}

static void uniforms(struct sx_builder *b, const struct ww_sass_insn *in, const struct ww_sass_operand *o,
                     uint32_t *slot, unsigned count) {
    uint8_t first = o->kind == SASS_K_MEM ? o->ureg : o->reg;
    for (unsigned n = 0; n < count; n++) slot[n] = uniform(b, in, first == SASS_URZ ? SASS_URZ : first + n);
}

static uint8_t operation(const struct ww_sass_insn *in) {
    static const uint8_t op[] = {
        [SASS_ATOM_ADD] = BULK_ADD, [SASS_ATOM_MIN] = BULK_MIN, [SASS_ATOM_MAX] = BULK_MAX,
        [SASS_ATOM_INC] = BULK_INC, [SASS_ATOM_DEC] = BULK_DEC, [SASS_ATOM_AND] = BULK_AND,
        [SASS_ATOM_OR] = BULK_OR,   [SASS_ATOM_XOR] = BULK_XOR};
    uint8_t n = in->mod[SASS_M_ATOM];
    return n < sizeof op ? op[n] : BULK_COPY;
}

static uint8_t element(uint8_t type) {
    switch (type) {
    case SASS_T_S32:
        return WW_TENSOR_S32;
    case SASS_T_U64:
        return WW_TENSOR_U64;
    case SASS_T_S64:
        return WW_TENSOR_S64;
    case SASS_T_F16:
        return WW_TENSOR_F16;
    case SASS_T_BF16:
        return WW_TENSOR_BF16;
    case SASS_T_F32:
        return WW_TENSOR_F32;
    case SASS_T_F64:
        return WW_TENSOR_F64;
    default:
        return WW_TENSOR_U32;
    }
}

static uint8_t way_of(const struct ww_sass_insn *in) {
    switch (in->op) {
    case SASS_UTMALDG:
        return BULK_TO_SHARED;
    case SASS_UBLKPF:
    case SASS_UTMAPF:
        return BULK_PREFETCH;
    case SASS_UTMASTG:
    case SASS_UTMAREDG:
        return BULK_TO_GLOBAL;
    default:
        if (!in->mod[SASS_M_DST]) return BULK_TO_GLOBAL;
        return in->mod[SASS_M_SRC] ? BULK_BETWEEN : BULK_TO_SHARED;
    }
}

static bool pick_copy(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    struct sx_bulk *k = ww_arena_array(&ww_sx_building(b)->arena, 1, sizeof *k);
    bool reduces = in->op == SASS_UBLKRED || in->op == SASS_UTMAREDG;
    if (!k) {
        ww_sx_problem(b, WW_NOMEM, "memory ran out");
        return true;
    }
    k->tensor =
        in->op == SASS_UTMALDG || in->op == SASS_UTMASTG || in->op == SASS_UTMAREDG || in->op == SASS_UTMAPF;
    k->way = way_of(in);
    k->op = reduces ? operation(in) : BULK_COPY;
    k->type = reduces ? element(in->mod[SASS_M_TYPE]) : WW_TENSOR_U8;
    k->rank = in->mod[SASS_M_DIM];
    k->im2col = in->mod[SASS_M_IM2COL];
    k->multicast = in->mod[SASS_M_MULTICAST];
    if (k->tensor && (k->rank < 1 || k->rank > WW_TENSOR_DIMS || (k->im2col && k->rank < 3))) return false;
    unsigned words = !k->tensor ? 2u
                                : k->rank + (k->way == BULK_TO_SHARED   ? 2u
                                             : k->way == BULK_TO_GLOBAL ? 1u
                                                                        : 0u);
    uniforms(b, in, &in->opd[SASS_D], k->d, words);
    uniforms(b, in, &in->opd[SASS_A], k->a, 2);
    k->c = SX_ZERO;
    if (in->opd[SASS_C].kind == SASS_K_UREG) k->c = ww_sx_src(b, in, SASS_C, 1);
    i->kind = SX_MEM;
    i->fn = ww_sx_bulk;
    i->bulk = k;
    return true;
}

static bool pick_store(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    const struct ww_sass_operand *o = &in->opd[SASS_A];
    struct ww_sass_insn one = *in;
    if (o->kind != SASS_K_MEM || o->ureg != SASS_URZ) return false;
    one.opd[SASS_A] = (struct ww_sass_operand){.kind = SASS_K_REG, .reg = o->reg};
    i->kind = SX_MEM;
    i->bytes = (uint8_t)ww_sx_type_bytes(in->mod[SASS_M_TYPE]);
    i->sub = in->op == SASS_REDAS ? operation(in) : BULK_COPY;
    i->type2 = element(in->mod[SASS_M_TYPE]);
    i->a = ww_sx_src(b, &one, SASS_A, 2);
    i->b = ww_sx_src(b, in, SASS_B, i->bytes / 4u);
    i->imm = o->imm;
    i->fn = store_async;
    return i->bytes >= 4 && (i->sub == BULK_COPY || i->bytes <= 8);
}

bool ww_sx_pick_bulk(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    switch (in->op) {
    case SASS_UBLKCP:
    case SASS_UBLKRED:
    case SASS_UBLKPF:
    case SASS_UTMALDG:
    case SASS_UTMASTG:
    case SASS_UTMAREDG:
    case SASS_UTMAPF:
        return pick_copy(b, in, i);
    case SASS_STAS:
    case SASS_REDAS:
        return pick_store(b, in, i);
    case SASS_UTMACCTL:
    case SASS_UTMACMDFLUSH:
        ww_sx_pick_nop(i);
        return true;
    default:
        return false;
    }
}
