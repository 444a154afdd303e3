/* exec_bulk.c: cp.async.bulk and its kin, st.async, red.async, and the addresses of a cluster's shared memory.
 *
 * A copy is done when it is asked for, and its bytes are completed at once: what waits for it need not wait.
 * Each active lane asks for a copy of its own. */
#include "exec_decode.h"
#include "simt.h"
#include <string.h>

struct ex_bulk {
    struct bulk_request request; /* what does not depend on registers */
    struct ex_address shared, from, global, map, bar;
    struct ex_elem size, mask, coordinate[WW_TENSOR_DIMS], offset[3];
    uint8_t rank, offsets;
    bool multicast, tx, im2col;
    ex_fn store; /* st.async, red.async: what is done before the bytes are completed */
};

/* ---- addresses ---- */

unsigned char *ww_ex_shared(struct ex_warp *w, uint64_t address, uint32_t bytes) {
    const struct ex_cluster *c = w->cta->cluster;
    uint64_t rank = address >> EX_CLUSTER_SHIFT, at = address & ((1u << EX_CLUSTER_SHIFT) - 1);
    if (rank > c->count || bytes > w->run->shared_bytes || at > w->run->shared_bytes - bytes) return NULL;
    const struct ex_cta *owner = rank ? c->cta[rank - 1] : w->cta;
    return owner->live_warps ? owner->shared + at : NULL;
}

void ww_ex_fail_shared(struct ex_warp *w, uint32_t lane, uint64_t address, uint32_t bytes, const char *what) {
    const struct ex_cluster *c = w->cta->cluster;
    uint64_t rank = address >> EX_CLUSTER_SHIFT, at = address & ((1u << EX_CLUSTER_SHIFT) - 1);
    rank = rank ? rank - 1 : w->cta->rank;
    if (address % bytes)
        ww_ex_fail(w, lane, WW_EXEC, "misaligned %s of %u bytes at 0x%llx of shared memory", what, bytes,
                   (unsigned long long)at);
    else if (rank < c->count && !c->cta[rank]->live_warps)
        ww_ex_fail(w, lane, WW_EXEC, "%s in shared memory of CTA %llu of its cluster, which has exited", what,
                   (unsigned long long)rank);
    else
        ww_ex_fail(
            w, lane, WW_EXEC,
            "out-of-bounds %s of %u bytes at offset 0x%llx of %u bytes of shared memory of CTA %llu of a "
            "cluster of %u",
            what, bytes, (unsigned long long)at, w->run->shared_bytes, (unsigned long long)rank, c->count);
}

struct ex_cta *ww_ex_owner(const struct ex_warp *w, const unsigned char *p, uint32_t *offset) {
    const struct ex_cluster *c = w->cta->cluster;
    for (uint32_t n = 0; n < c->count; n++) {
        uintptr_t at = (uintptr_t)p - (uintptr_t)c->cta[n]->shared;
        if (at >= w->run->shared_bytes) continue;
        *offset = (uint32_t)at;
        return c->cta[n];
    }
    return NULL;
}

static unsigned rank_of(const struct ex_warp *w, uint64_t shared) {
    uint64_t rank = shared >> EX_CLUSTER_SHIFT;
    return rank ? (unsigned)rank - 1 : w->cta->rank;
}

static uint64_t lane_address(const struct ex_warp *w, const struct ex_address *a, unsigned l) {
    if (a->slot == EX_NO_SLOT) return (uint64_t)a->offset;
    uint64_t v = ex_lane(w, a->slot, a->width, l) + (uint64_t)a->offset;
    return a->width == 4 ? (uint32_t)v : v;
}

/* In shared memory, where a generic address may stand too. */
static uint64_t lane_shared(const struct ex_warp *w, const struct ex_address *a, unsigned l) {
    uint64_t v = lane_address(w, a, l);
    return v - EX_SHARED_WINDOW < EX_WINDOW_BYTES ? v - EX_SHARED_WINDOW : v;
}

static void mapa(EX_ARGS) {
    uint64_t window = i->space == PTX_S_SHARED ? 0 : EX_SHARED_WINDOW;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t a = ex_lane(w, i->a, i->aw, l) - window, rank = ex_lane(w, i->b, i->bw, l);
        if (a >= EX_WINDOW_BYTES || rank >= w->cta->cluster->count) {
            ww_ex_fail(w, l, WW_EXEC, "mapa of 0x%llx to CTA %llu of a cluster of %u", (unsigned long long)a,
                       (unsigned long long)rank, w->cta->cluster->count);
            return;
        }
        a &= (1u << EX_CLUSTER_SHIFT) - 1;
        ex_set_lane(w, i->d, i->dw, l, window + a + ((rank + 1) << EX_CLUSTER_SHIFT));
    }
}

static void getctarank(EX_ARGS) {
    uint64_t window = i->space == PTX_S_SHARED ? 0 : EX_SHARED_WINDOW;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        ex_set_lane(w, i->d, i->dw, l, rank_of(w, ex_lane(w, i->a, i->aw, l) - window));
    }
}

EX_PICK(mapa, mapa)
EX_PICK(getctarank, getctarank)

/* ---- memory as a copy sees it ---- */

struct asker {
    struct ex_warp *w;
    unsigned lane;
};

static unsigned char *global_bytes(void *context, uint64_t address, uint32_t bytes, bool is_store) {
    const struct asker *k = context;
    struct mem_alloc *m = ww_mem_find(k->w->run->mem, address);
    char text[400];
    if (m && mem_holds(m, address, bytes)) return m->host + (address - m->base);
    ww_mem_miss_text(k->w->run->mem, address, bytes, is_store, text, sizeof text);
    ww_ex_fail(k->w, k->lane, WW_EXEC, "bulk copy: %s", text);
    return NULL;
}

static unsigned char *shared_bytes(void *context, unsigned rank, uint32_t offset, uint32_t bytes,
                                   bool is_store) {
    const struct asker *k = context;
    unsigned char *p = ww_ex_shared(k->w, offset + ((uint64_t)(rank + 1) << EX_CLUSTER_SHIFT), bytes);
    if (!p && rank < k->w->cta->cluster->count && !k->w->cta->cluster->cta[rank]->live_warps)
        ww_ex_fail(k->w, k->lane, WW_EXEC, "bulk copy: CTA %u of its cluster has exited", rank);
    else if (!p || offset >> EX_CLUSTER_SHIFT)
        ww_ex_fail(k->w, k->lane, WW_EXEC,
                   "bulk copy: out-of-bounds %s of %u bytes at offset %u of %u bytes of shared "
                   "memory of CTA %u of a cluster of %u",
                   is_store ? "store" : "load", bytes, offset, k->w->run->shared_bytes, rank,
                   k->w->cta->cluster->count);
    return k->w->run->failed ? NULL : p;
}

static void touch(void *context, uint64_t address, uint32_t bytes) {
    struct ex_warp *w = ((const struct asker *)context)->w;
    if (w->run->recorder && !ww_bulk_note(&w->run->touched, address, bytes))
        ww_ex_fail(w, EX_LANES, WW_NOMEM, WW_RECORD_NOMEM_TEXT);
}

/* ---- what the registers of a lane ask for ---- */

static bool read_map(struct ex_warp *w, const struct ex_bulk *b, unsigned l, struct bulk_request *r) {
    uint64_t address = lane_address(w, &b->map, l);
    const unsigned char *p = NULL;
    const char *why = !address ? "it is NULL" : address % 64 ? "its address is a multiple of 64" : NULL;
    if (!why && !(p = ww_ex_generic(w, l, address, WW_TENSOR_MAP_BYTES))) return false;
    if (!why) why = ww_tensor_map_decode(p, &r->map);
    if (!why && r->map.rank != b->rank) why = "the instruction has other dimensions";
    if (!why && r->map.im2col != b->im2col) why = "the instruction's mode, tiled or im2col, is another";
    if (why) ww_ex_fail(w, l, WW_EXEC, "tensor map at 0x%llx: %s", (unsigned long long)address, why);
    return !why;
}

static bool fill_tensor(struct ex_warp *w, const struct ex_bulk *b, unsigned l, struct bulk_request *r) {
    if (!read_map(w, b, l, r)) return false;
    memset(&r->at, 0, sizeof r->at);
    for (unsigned n = 0; n < b->rank; n++)
        r->at.coordinate[n] = (int32_t)ex_lane(w, b->coordinate[n].slot, b->coordinate[n].width, l);
    for (unsigned n = 0; n < b->offsets; n++)
        r->at.offset[n] = (uint16_t)ex_lane(w, b->offset[n].slot, b->offset[n].width, l);
    return true;
}

static void fill_linear(struct ex_warp *w, const struct ex_bulk *b, unsigned l, struct bulk_request *r) {
    r->bytes = (uint32_t)ex_lane(w, b->size.slot, b->size.width, l);
    if (r->way != BULK_BETWEEN) r->global = lane_address(w, &b->global, l);
    if (r->way == BULK_BETWEEN) r->from = (uint32_t)lane_shared(w, &b->from, l);
}

static bool fill_request(struct ex_warp *w, const struct ex_bulk *b, unsigned l, struct bulk_request *r) {
    uint64_t shared = r->way == BULK_PREFETCH ? 0 : lane_shared(w, &b->shared, l);
    *r = b->request;
    r->own = w->cta->rank;
    r->shared = (uint32_t)(shared & ((1u << EX_CLUSTER_SHIFT) - 1));
    r->ctas = (uint16_t)(1u << rank_of(w, shared) % WW_CLUSTER_MOST);
    if (b->multicast) r->ctas = (uint16_t)ex_lane(w, b->mask.slot, b->mask.width, l);
    if (shared >> EX_CLUSTER_SHIFT > w->cta->cluster->count || r->ctas >> w->cta->cluster->count) {
        ww_ex_fail(w, l, WW_EXEC, "bulk copy to CTAs 0x%x of a cluster of %u", r->ctas, w->cta->cluster->count);
        return false;
    }
    if (r->tensor) {
        if (!fill_tensor(w, b, l, r)) return false;
    } else {
        fill_linear(w, b, l, r);
    }
    const char *why = ww_bulk_check(r);
    if (why) ww_ex_fail(w, l, WW_EXEC, "bulk copy: %s", why);
    return !why;
}

/* Completes the bytes at the mbarrier of each CTA that has got them. */
static bool complete(struct ex_warp *w, const struct ex_bulk *b, unsigned l, const struct bulk_request *r) {
    uint64_t bar = lane_shared(w, &b->bar, l), offset = bar & ((1u << EX_CLUSTER_SHIFT) - 1);
    if (!b->multicast) return ww_ex_mbarrier_complete(w, l, bar, ww_bulk_bytes(r));
    for (uint64_t rank = 0; rank < WW_CLUSTER_MOST; rank++)
        if (r->ctas >> rank & 1u &&
            !ww_ex_mbarrier_complete(w, l, offset + ((rank + 1) << EX_CLUSTER_SHIFT), ww_bulk_bytes(r)))
            return false;
    return true;
}

void ww_ex_bulk(EX_ARGS) {
    w->run->touched.count = 0;
    ww_mbarrier_clear(&w->mbar);
    w->group_count = 0;
    for (uint32_t m = mask; m && !w->run->failed; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        struct asker asker = {w, l};
        struct bulk_request r = i->bulk->request;
        const struct bulk_memory memory = {&asker, global_bytes, shared_bytes, touch};
        if (!fill_request(w, i->bulk, l, &r) || !ww_bulk_run(&r, &memory)) return;
        if (i->bulk->tx && !complete(w, i->bulk, l, &r)) return;
    }
}

/* st.async, red.async: after the store or the reduction of all lanes. */
static void store_async(EX_ARGS) {
    i->bulk->store(w, i, mask);
    ww_mbarrier_clear(&w->mbar);
    uint32_t bytes = i->bytes * (i->elem_count ? i->elem_count : 1);
    for (uint32_t m = mask; m && !w->run->failed; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        ww_ex_mbarrier_complete(w, l, lane_shared(w, &i->bulk->bar, l), bytes);
    }
}

/* ---- decoding ---- */

static enum ww_code address(struct ex_decoder *d, uint32_t n, struct ex_address *a) {
    a->space = PTX_S_GENERIC;
    return ww_ex_address_operand(d, &d->inst->opnd[n], &a->slot, &a->width, &a->offset, &a->space);
}

static enum ww_code value(struct ex_decoder *d, const struct ptx_operand *o, struct ex_elem *e) {
    WW_TRY(ww_ex_operand_slot(d, o, 4, &e->slot, &e->width));
    bool good = e->slot != EX_NO_SLOT && (e->width == 4 || e->width == 8);
    return good ? WW_OK
                : ww_ex_decode_fail(d, WW_INPUT, "a register's size does not fit the instruction's type");
}

static enum ww_code values(struct ex_decoder *d, const struct ptx_operand *o, uint32_t count,
                           struct ex_elem *e) {
    for (uint32_t n = 0; n < count; n++) WW_TRY(value(d, &o[n], &e[n]));
    return WW_OK;
}

/* [map, {coordinates}] at operand n, and {offsets} at operand `at` (0: none). */
static enum ww_code tensor(struct ex_decoder *d, struct ex_bulk *b, uint32_t n, uint32_t at) {
    const struct ptx_operand *v = &d->inst->opnd[n], *o = &d->inst->opnd[at];
    if (v->kind != PTX_O_VEC || v->vec_count != d->inst->rank + 1u)
        return ww_ex_decode_fail(d, WW_INPUT, "expected as many coordinates as dimensions");
    b->rank = d->inst->rank;
    WW_TRY(ww_ex_operand_slot(d, &v->vec[0], 8, &b->map.slot, &b->map.width));
    if (b->map.slot == EX_NO_SLOT || b->map.width != 8)
        return ww_ex_decode_fail(d, WW_INPUT, "expected a 64-bit address of a tensor map");
    WW_TRY(values(d, v->vec + 1, b->rank, b->coordinate));
    if (!at) return WW_OK;
    b->offsets = (uint8_t)(b->rank - 2);
    if (o->kind != PTX_O_VEC || o->vec_count != b->offsets)
        return ww_ex_decode_fail(d, WW_INPUT, "expected two im2col offsets less than dimensions");
    return values(d, o->vec, b->offsets, b->offset);
}

/* Type of a reduction's elements; WW_TENSOR_TYPES: there is none. */
static uint8_t element_type(uint8_t type) {
    switch (type) {
    case PTX_T_U32:
    case PTX_T_B32:
        return WW_TENSOR_U32;
    case PTX_T_S32:
        return WW_TENSOR_S32;
    case PTX_T_U64:
    case PTX_T_B64:
        return WW_TENSOR_U64;
    case PTX_T_S64:
        return WW_TENSOR_S64;
    case PTX_T_F16:
        return WW_TENSOR_F16;
    case PTX_T_BF16:
        return WW_TENSOR_BF16;
    case PTX_T_F32:
        return WW_TENSOR_F32;
    case PTX_T_F64:
        return WW_TENSOR_F64;
    default:
        return WW_TENSOR_TYPES;
    }
}

static uint8_t reduction(uint8_t sub) {
    switch (sub) {
    case PTX_SUB_ADD:
        return BULK_ADD;
    case PTX_SUB_MIN:
        return BULK_MIN;
    case PTX_SUB_MAX:
        return BULK_MAX;
    case PTX_SUB_INC:
        return BULK_INC;
    case PTX_SUB_DEC:
        return BULK_DEC;
    case PTX_SUB_AND:
        return BULK_AND;
    case PTX_SUB_OR:
        return BULK_OR;
    case PTX_SUB_XOR:
        return BULK_XOR;
    default:
        return BULK_COPY;
    }
}

static uint8_t way(const struct ptx_inst *p) {
    if (p->bulk & PTX_BULK_PREFETCH) return BULK_PREFETCH;
    if (p->dst_space != PTX_S_SHARED) return BULK_TO_GLOBAL;
    return p->space == PTX_S_SHARED ? BULK_BETWEEN : BULK_TO_SHARED;
}

static enum ww_code tensor_operands(struct ex_decoder *d, struct ex_bulk *b) {
    const struct ptx_inst *p = d->inst;
    bool offsets = p->bulk & PTX_BULK_IM2COL && !(p->bulk & PTX_BULK_NO_OFFS);
    if (b->request.way == BULK_PREFETCH) return tensor(d, b, 0, offsets ? 1 : 0);
    if (b->request.way == BULK_TO_GLOBAL) {
        WW_TRY(tensor(d, b, 0, 0));
        return address(d, 1, &b->shared);
    }
    WW_TRY(address(d, 0, &b->shared));
    WW_TRY(tensor(d, b, 1, offsets ? 3 : 0));
    if (b->multicast) WW_TRY(value(d, &p->opnd[offsets ? 4 : 3], &b->mask));
    return address(d, 2, &b->bar);
}

static enum ww_code linear_operands(struct ex_decoder *d, struct ex_bulk *b) {
    const struct ptx_inst *p = d->inst;
    bool prefetch = b->request.way == BULK_PREFETCH, stores = b->request.way == BULK_TO_GLOBAL;
    WW_TRY(value(d, &p->opnd[prefetch ? 1 : 2], &b->size));
    if (prefetch) return address(d, 0, &b->global);
    WW_TRY(address(d, stores ? 1 : 0, &b->shared));
    WW_TRY(address(d, stores ? 0 : 1, b->request.way == BULK_BETWEEN ? &b->from : &b->global));
    if (b->multicast) WW_TRY(value(d, &p->opnd[4], &b->mask));
    return b->tx ? address(d, 3, &b->bar) : WW_OK;
}

enum ww_code ww_ex_decode_bulk(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_bulk *b = ww_arena_alloc(&d->kernel->arena, sizeof *b);
    if (!b) return ww_fail_nomem(d->error, "decoding a kernel");
    b->request = (struct bulk_request){.way = way(p),
                                       .op = reduction(p->redop),
                                       .type = element_type(p->type[0]),
                                       .tensor = (p->bulk & PTX_BULK_TENSOR) != 0};
    b->multicast = (p->bulk & PTX_BULK_MULTICAST) != 0;
    b->im2col = (p->bulk & PTX_BULK_IM2COL) != 0;
    b->tx = (p->bulk & PTX_BULK_TX) != 0;
    if (b->request.op == BULK_COPY) b->request.type = WW_TENSOR_U8;
    if (b->request.type == WW_TENSOR_TYPES && !b->request.tensor)
        return ww_ex_decode_fail(d, WW_UNSUPPORTED, "this type of a reduction is not supported");
    d->out->kind = EX_MEM;
    d->out->fn = ww_ex_bulk;
    d->out->bulk = b;
    return b->request.tensor ? tensor_operands(d, b) : linear_operands(d, b);
}

enum ww_code ww_ex_decode_store_async(struct ex_decoder *d) {
    struct ex_bulk *b = ww_arena_alloc(&d->kernel->arena, sizeof *b);
    if (!b) return ww_fail_nomem(d->error, "decoding a kernel");
    b->store = d->out->fn;
    d->out->bulk = b;
    d->out->fn = store_async;
    return address(d, 2, &b->bar);
}
