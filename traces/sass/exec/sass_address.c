/* sass_address.c: addresses of lanes: computing, resolving generic ones, checking them. */
#include "access.h"
#include "bulk.h"
#include <stdlib.h>

static const char *space_text(uint8_t space) {
    return space == WW_SPACE_SHARED ? "shared" : space == WW_SPACE_LOCAL ? "local" : "global";
}

static void fail_global(struct sx_warp *w, uint32_t lane, bool is_store, uint32_t bytes, uint64_t address) {
    char text[400];
    ww_mem_miss_text(w->run->mem, address, bytes, is_store, text, sizeof text);
    ww_sx_fail(w, lane, WW_EXEC, "%s", text);
}

unsigned char *ww_sx_global(struct sx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes, bool is_store) {
    struct mem_alloc *m = ww_mem_find(w->run->mem, address);
    if (m && mem_holds(m, address, bytes)) return m->host + (address - m->base);
    fail_global(w, lane, is_store, bytes, address);
    return NULL;
}

/* Makes at least `bytes` of the upper end of each lane's stack present. */
static bool grow_local(struct sx_warp *w, uint32_t bytes) {
    uint32_t top = w->run->local_top, size = w->local_bytes ? w->local_bytes : 64;
    while (size < bytes) size *= 2;
    if (size > top) size = top;
    unsigned char *p = calloc(SX_LANES, size);
    if (!p) return false;
    for (size_t l = 0; l < SX_LANES && w->local; l++)
        memcpy(p + (l + 1) * size - w->local_bytes, w->local + l * w->local_bytes, w->local_bytes);
    uint64_t more = (uint64_t)SX_LANES * (size - w->local_bytes);
    w->cta->state_bytes += more;
    w->run->state_bytes += more;
    free(w->local);
    w->local = p;
    w->local_bytes = size;
    return true;
}

/* Local memory ends at local_top; what is deep in the stack is made when it is first met. */
static unsigned char *local_host(struct sx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes,
                                 bool is_store) {
    uint32_t top = w->run->local_top;
    if (bytes > top || address > top - bytes) {
        ww_sx_fail(w, lane, WW_EXEC,
                   "out-of-bounds %s of %u bytes at offset 0x%llx of %u bytes of local memory%s",
                   is_store ? "store" : "load", bytes, (unsigned long long)address, top,
                   w->run->kernel->calls ? ": a stack overflow?" : "");
        return NULL;
    }
    uint32_t below = top - (uint32_t)address;
    if (below > w->local_bytes && !grow_local(w, below)) {
        ww_sx_fail(w, lane, WW_NOMEM, "memory ran out for local memory");
        return NULL;
    }
    return w->local + (size_t)(lane + 1) * w->local_bytes - below;
}

static unsigned char *shared_host(struct sx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes,
                                  bool is_store) {
    uint32_t size = w->run->shared_bytes;
    if (bytes <= size && address <= size - bytes && !w->cta->rank) return w->cta->shared + address;
    unsigned char *p = ww_sx_shared(w, address, bytes);
    if (p) return p;
    if (w->cta->cluster->count > 1 && address >> SX_RANK_SHIFT < WW_CLUSTER_MOST) {
        ww_sx_fail_shared(w, lane, address, bytes, is_store ? "store" : "load");
        return NULL;
    }
    ww_sx_fail(w, lane, WW_EXEC, "out-of-bounds %s of %u bytes at offset %lld of %u bytes of shared memory",
               is_store ? "store" : "load", bytes, (long long)(int32_t)address, size);
    return NULL;
}

/* The space of a generic address, and its offset there. */
static uint8_t resolve(uint64_t *address) {
    if (*address - SX_SHARED_WINDOW < SX_CLUSTER_WINDOW) {
        *address -= SX_SHARED_WINDOW;
        return WW_SPACE_SHARED;
    }
    if (*address - SX_LOCAL_WINDOW < SX_WINDOW_BYTES) {
        *address -= SX_LOCAL_WINDOW;
        return WW_SPACE_LOCAL;
    }
    return WW_SPACE_GLOBAL;
}

/* Of kernel parameters through their generic address. */
static unsigned char *const_host(struct sx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes) {
    uint64_t at = address - SX_CONST_WINDOW, size = w->run->bank_bytes[0];
    if (bytes <= size && at <= size - bytes) return w->run->bank[0] + at;
    ww_sx_fail(w, lane, WW_EXEC, "out-of-bounds load of %u bytes at offset 0x%llx of %llu bytes of constants",
               bytes, (unsigned long long)at, (unsigned long long)size);
    return NULL;
}

static unsigned char *lane_host(struct sx_warp *w, uint32_t lane, uint8_t space, uint64_t address,
                                uint32_t bytes, bool is_store) {
    if (address & (bytes - 1u)) {
        ww_sx_fail(w, lane, WW_EXEC, "misaligned %s %s of %u bytes at 0x%llx", space_text(space),
                   is_store ? "store" : "load", bytes, (unsigned long long)address);
        return NULL;
    }
    if (space == WW_SPACE_SHARED) return shared_host(w, lane, address, bytes, is_store);
    if (space == WW_SPACE_LOCAL) return local_host(w, lane, address, bytes, is_store);
    if (address - SX_CONST_WINDOW < SX_WINDOW_BYTES && !is_store) return const_host(w, lane, address, bytes);
    return ww_sx_global(w, lane, address, bytes, is_store);
}

unsigned char *ww_sx_generic(struct sx_warp *w, uint32_t lane, uint64_t address, uint32_t bytes) {
    uint8_t space = resolve(&address);
    unsigned char *p = lane_host(w, lane, space, address, 1, false);
    if (!p || bytes <= 1) return p;
    unsigned char *last = lane_host(w, lane, space, address + bytes - 1, 1, false);
    p = last ? lane_host(w, lane, space, address, 1, false) : NULL; /* the stack may have grown, and moved */
    if (!p || (uintptr_t)last - (uintptr_t)p == bytes - 1) return p;
    ww_sx_fail(w, lane, WW_EXEC, "out-of-bounds load of %u bytes at 0x%llx of global memory", bytes,
               (unsigned long long)address); /* over the end of one allocation into another */
    return NULL;
}

static void add_group(struct sx_warp *w, uint8_t space, uint32_t lane) {
    for (uint32_t n = 0; n < w->access_count; n++) {
        if (w->access[n].space != space) continue;
        w->access[n].mask |= 1u << lane;
        return;
    }
    w->access[w->access_count++] = (struct sx_access_group){space, 1u << lane};
}

/* A recorded local address counts from the lowest byte of the frames that the kernel told of. */
static uint64_t recorded(const struct sx_run *r, uint8_t space, uint64_t address) {
    return space == WW_SPACE_LOCAL && address >= r->local_base ? address - r->local_base : address;
}

/* A recorded shared address tells whose it is, if not the CTA's own (trace.h). */
uint64_t ww_sx_recorded_shared(const struct sx_warp *w, uint64_t address) {
    uint64_t rank = address >> SX_RANK_SHIFT, offset = address & SX_OFFSET_MASK;
    return rank == w->cta->rank ? offset : offset | (rank + 1) << WW_SHARED_RANK_SHIFT;
}

static bool slow(struct sx_warp *w, const struct sx_address *a, uint32_t mask, uint64_t *addr,
                 unsigned char **host) {
    bool local = false;
    w->access_count = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint8_t space = a->space == WW_SPACE_NONE ? resolve(&addr[l]) : a->space;
        if (space == WW_SPACE_SHARED && a->space == WW_SPACE_SHARED && !a->peers)
            addr[l] |= (uint64_t)w->cta->rank << SX_RANK_SHIFT;
        host[l] = lane_host(w, l, space, addr[l], a->bytes, a->is_store);
        if (!host[l]) return false;
        if (space == WW_SPACE_SHARED) addr[l] = ww_sx_recorded_shared(w, addr[l]);
        local = local || space == WW_SPACE_LOCAL;
        add_group(w, space, l);
    }
    if (!local) return true;
    for (uint32_t n = 0; n < w->access_count; n++) { /* the stack may have grown, and moved, since */
        if (w->access[n].space != WW_SPACE_LOCAL) continue;
        for (uint32_t m = w->access[n].mask; m; m &= m - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(m);
            host[l] = local_host(w, l, addr[l], a->bytes, a->is_store);
            addr[l] = recorded(w->run, WW_SPACE_LOCAL, addr[l]);
        }
    }
    return true;
}

/* The allocation that holds [lowest, lowest + n), looked for at the last one met first. */
static const struct mem_alloc *allocation(const struct mem *mem, const struct sx_address *a, uint64_t lowest,
                                          uint64_t n) {
    uint32_t at = *a->hint;
    if (at < mem->count && mem_holds(mem->alloc[at], lowest, n)) return mem->alloc[at];
    for (at = 0; at < mem->count; at++)
        if (mem_holds(mem->alloc[at], lowest, n)) {
            *a->hint = at;
            return mem->alloc[at];
        }
    return NULL;
}

bool ww_sx_place_span(struct sx_warp *w, const struct sx_address *a, uint32_t mask, uint64_t base,
                      uint64_t length, struct sx_span *span) {
    bool narrow = a->space == WW_SPACE_SHARED;
    if (narrow) base = (uint32_t)base & w->run->shared_mask;
    uint64_t end = base + length, low = span->step < 0 ? end : base, high = span->step < 0 ? base : end;
    if (high < low || (base | (uint64_t)span->step) & (a->bytes - 1u)) return false;
    w->access[0].space = WW_SPACE_GLOBAL;
    if (narrow) {
        if (a->bytes > w->run->shared_bytes || high > w->run->shared_bytes - a->bytes) return false;
        span->first = w->cta->shared + base;
        w->access[0].space = WW_SPACE_SHARED;
    } else {
        if (a->space == WW_SPACE_NONE && low >= SX_SHARED_WINDOW) return false;
        const struct mem_alloc *m = allocation(w->run->mem, a, low, high - low + a->bytes);
        if (!m) return false;
        span->first = m->host + (base - m->base);
    }
    w->access[0].mask = mask;
    w->access_count = 1;
    w->affine = true;
    w->affine_stride = (int32_t)span->step;
    w->affine_base = base - (uint64_t)span->step * span->lane;
    return true;
}

/* What the lanes' addresses have to keep to in order to lie in one place: from `start` on, `limit` at most
 * above it, aligned. */
struct fence {
    uint64_t start, limit, align;
};
SX_INLINE bool within(const uint64_t *addr, uint32_t mask, struct fence f) {
    uint64_t bad = 0;
    SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) {
        uint64_t is_bad = addr[l] - f.start > f.limit ? 1 : addr[l] & f.align;
        bad |= mask & sx_bit[l] ? is_bad : 0;
    }
    return bad == 0;
}
SX_INLINE void to_host(const uint64_t *addr, uint32_t mask, const struct fence *f, unsigned char *base,
                       unsigned char **host) {
    SX_EACH(mask, host[l] = base + (addr[l] - f->start););
}

/* The allocation that was met last, or the shared memory. */
static bool last_place(const struct sx_warp *w, const struct sx_address *a, struct fence *f,
                       unsigned char **base) {
    f->align = a->bytes - 1u;
    if (a->space == WW_SPACE_SHARED) {
        f->start = 0;
        f->limit = w->run->shared_bytes - a->bytes;
        *base = w->cta->shared;
        return a->bytes <= w->run->shared_bytes;
    }
    const struct mem *mem = w->run->mem;
    if (*a->hint >= mem->count || mem->alloc[*a->hint]->size < a->bytes) return false;
    const struct mem_alloc *m = mem->alloc[*a->hint];
    f->start = m->base;
    f->limit = m->size - a->bytes;
    *base = m->host;
    return a->space == WW_SPACE_GLOBAL || m->base + m->size <= SX_SHARED_WINDOW;
}

/* All lanes within one other allocation. */
static bool look_for_place(const struct sx_warp *w, const struct sx_address *a, uint32_t mask,
                           const uint64_t *addr, struct fence *f, unsigned char **base) {
    uint64_t lowest = UINT64_MAX, highest = 0, bits = 0;
    if (a->space == WW_SPACE_SHARED) return false;
    SX_EACH(mask, uint64_t x = addr[l]; lowest = x < lowest ? x : lowest; highest = x > highest ? x : highest;
            bits |= x;);
    if (bits & (a->bytes - 1u) || highest - lowest > UINT64_MAX / 2) return false;
    if (a->space == WW_SPACE_NONE && lowest >= SX_SHARED_WINDOW) return false;
    const struct mem_alloc *m = allocation(w->run->mem, a, lowest, highest - lowest + a->bytes);
    if (!m) return false;
    f->start = m->base;
    *base = m->host;
    return true;
}

/* All lanes within one allocation or the shared memory: the common case. */
SX_INLINE bool fast(struct sx_warp *w, const struct sx_address *a, uint32_t mask, const uint64_t *addr,
                    unsigned char **host) {
    struct fence f;
    unsigned char *base;
    if (!(last_place(w, a, &f, &base) && within(addr, mask, f)) && !look_for_place(w, a, mask, addr, &f, &base))
        return false;
    to_host(addr, mask, &f, base, host);
    uint8_t space = a->space == WW_SPACE_SHARED ? WW_SPACE_SHARED : WW_SPACE_GLOBAL;
    w->access[0] = (struct sx_access_group){space, mask};
    w->access_count = 1;
    return true;
}

SX_INLINE void compute(const struct sx_warp *w, const struct sx_address *a, uint64_t *addr) {
    const uint32_t *reg = sx_src(w, a->reg), *ureg = sx_src(w, a->ureg);
    uint64_t add = (uint64_t)a->offset + (a->ureg64 ? sx_get64(ureg, 0) : ureg[0]);
    bool narrow = a->space == WW_SPACE_SHARED || a->space == WW_SPACE_LOCAL || a->space == WW_SPACE_CONST;
    if (a->reg64) {
        SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) addr[l] = sx_get64(reg, l) + add;
    } else if (narrow) { /* only the lower 32 bits count */
        SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) addr[l] = (reg[l] << a->scale) + (uint32_t)add;
    } else {
        SX_VECTOR for (unsigned l = 0; l < SX_LANES; l++) addr[l] = ((uint64_t)reg[l] << a->scale) + add;
    }
    if (narrow && a->reg64)
        for (unsigned l = 0; l < SX_LANES; l++) addr[l] = (uint32_t)addr[l];
    if (w->run->shared_mask != UINT32_MAX && a->space == WW_SPACE_SHARED && !a->peers)
        for (unsigned l = 0; l < SX_LANES; l++) addr[l] &= w->run->shared_mask;
}

void ww_sx_compute(const struct sx_warp *w, const struct sx_address *a, uint64_t *addr) {
    compute(w, a, addr);
}

static bool addresses_plain(struct sx_warp *w, const struct sx_address *a, uint32_t mask, uint64_t *addr,
                            unsigned char **host) {
    compute(w, a, addr);
    return a->space != WW_SPACE_LOCAL && fast(w, a, mask, addr, host);
}
SX_HOST static bool addresses_host(struct sx_warp *w, const struct sx_address *a, uint32_t mask, uint64_t *addr,
                                   unsigned char **host) {
    compute(w, a, addr);
    return a->space != WW_SPACE_LOCAL && fast(w, a, mask, addr, host);
}

bool ww_sx_addresses(struct sx_warp *w, const struct sx_address *a, uint32_t mask, uint64_t *addr,
                     unsigned char **host) {
    if (a->peers && w->run->shared_mask != UINT32_MAX) { /* which CTA's it is, slow() finds out */
        compute(w, a, addr);
        return slow(w, a, mask, addr, host);
    }
    bool common =
        SX_HAVE_HOST ? addresses_host(w, a, mask, addr, host) : addresses_plain(w, a, mask, addr, host);
    return common || slow(w, a, mask, addr, host);
}

/* ---- building ---- */

static uint32_t register_slot(struct sx_builder *b, const struct ww_sass_insn *in, uint8_t kind, uint8_t reg,
                              uint32_t rows) {
    struct ww_sass_insn one = *in; /* an operand of its own, to be looked up as any other */
    one.opd[SASS_A] = (struct ww_sass_operand){.kind = kind, .reg = reg};
    return ww_sx_src(b, &one, SASS_A, rows);
}

struct sx_address *ww_sx_address_of(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot,
                                    uint8_t space, uint32_t bytes, bool is_store) {
    const struct ww_sass_operand *o = &in->opd[slot];
    if (o->kind != SASS_K_MEM) return NULL;
    struct sx_kernel *k = ww_sx_building(b);
    struct sx_address *a = ww_arena_array(&k->arena, 1, sizeof *a);
    uint32_t *hint = ww_arena_array(&k->arena, 1, sizeof *hint);
    if (!a || !hint) {
        ww_sx_problem(b, WW_NOMEM, "memory ran out");
        return NULL;
    }
    a->reg64 = (o->flags & SASS_F_A64) != 0;
    a->ureg64 = (o->flags & SASS_F_UA64) != 0;
    a->reg = register_slot(b, in, SASS_K_REG, o->reg, a->reg64 ? 2 : 1);
    a->ureg = register_slot(b, in, SASS_K_UREG, o->ureg, a->ureg64 ? 2 : 1);
    a->offset = o->imm;
    a->scale = o->scale ? (uint8_t)((o->scale & 3) + 1) : 0;
    a->space = space;
    a->bytes = (uint8_t)bytes;
    a->is_store = is_store;
    a->hint = hint;
    return a;
}
