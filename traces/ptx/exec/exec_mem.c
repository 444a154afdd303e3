/* exec_mem.c: addresses, their checks, loads and stores. */
#include "simt.h"
#include <string.h>

static const char *space_text(uint8_t space) {
    switch (space) {
    case PTX_S_SHARED:
        return "shared";
    case PTX_S_LOCAL:
        return "local";
    case PTX_S_CONST:
        return "constant";
    case PTX_S_PARAM:
    case EX_S_CALL:
        return "parameter";
    default:
        return "global";
    }
}

static void fail_global(struct ex_warp *w, uint32_t lane, const struct ex_address *a, uint64_t address) {
    char text[400];
    ww_mem_miss_text(w->run->mem, address, a->bytes, a->is_store, text, sizeof text);
    ww_ex_fail(w, lane, WW_EXEC, "%s", text);
}

/* Where a space that is not global begins for this lane, and how many bytes it has. */
static unsigned char *window(struct ex_warp *w, uint32_t lane, uint8_t space, uint64_t *size) {
    const struct ex_run *r = w->run;
    switch (space) {
    case PTX_S_SHARED:
        *size = r->shared_bytes;
        return w->cta->shared;
    case PTX_S_LOCAL:
        *size = w->frame->local_base + (uint64_t)w->frame->func->local_bytes;
        return w->local ? w->local + (size_t)lane * w->local_capacity : NULL;
    case PTX_S_CONST:
        *size = r->constant_bank_bytes;
        return (unsigned char *)(uintptr_t)r->constant_bank;
    case PTX_S_PARAM:
        *size = r->kernel->entry->src->param_bytes;
        return (unsigned char *)(uintptr_t)r->param;
    default:
        *size = w->frame->func->param_bytes;
        return w->frame->param ? w->frame->param + (size_t)lane * w->frame->func->param_bytes : NULL;
    }
}

static unsigned char *global_host(struct ex_warp *w, uint32_t lane, const struct ex_address *a,
                                  uint64_t address) {
    struct mem_alloc *m = ww_mem_find(w->run->mem, address);
    if (m && mem_holds(m, address, a->bytes)) return m->host + (address - m->base);
    fail_global(w, lane, a, address);
    return NULL;
}

/* One lane's bytes in a space; *address becomes its offset where it was generic. */
static unsigned char *lane_host(struct ex_warp *w, uint32_t lane, const struct ex_address *a, uint8_t space,
                                uint64_t address) {
    if (address & (a->bytes - 1u)) {
        ww_ex_fail(w, lane, WW_EXEC, "misaligned %s %s of %u bytes at 0x%llx", space_text(space),
                   a->is_store ? "store" : "load", a->bytes, (unsigned long long)address);
        return NULL;
    }
    if (space == PTX_S_GLOBAL) return global_host(w, lane, a, address);
    if (space == PTX_S_SHARED && address >> EX_CLUSTER_SHIFT) {
        unsigned char *peer = ww_ex_shared(w, address, a->bytes);
        if (!peer && w->cta->cluster->count > 1 && address >> EX_CLUSTER_SHIFT <= WW_CLUSTER_MOST) {
            ww_ex_fail_shared(w, lane, address, a->bytes, a->is_store ? "store" : "load");
            return NULL;
        }
        if (peer) return peer;
    }
    uint64_t size;
    unsigned char *p = window(w, lane, space, &size);
    bool constant = space == PTX_S_CONST || space == PTX_S_PARAM;
    if (a->is_store && constant) {
        ww_ex_fail(w, lane, WW_EXEC, "store to %s memory", space_text(space));
        return NULL;
    }
    if (!p || a->bytes > size || address > size - a->bytes) {
        long long offset = a->slot != EX_NO_SLOT && a->width == 4 ? (int32_t)address : (int64_t)address;
        ww_ex_fail(w, lane, WW_EXEC, "out-of-bounds %s of %u bytes at offset %lld of %llu bytes of %s memory",
                   a->is_store ? "store" : "load", a->bytes, offset, (unsigned long long)size,
                   space_text(space));
        return NULL;
    }
    return p + address;
}

/* The space of a generic address, and its offset there. */
static uint8_t resolve(uint64_t *address) {
    static const struct {
        uint32_t base;
        uint8_t space;
    } windows[] = {{EX_SHARED_WINDOW, PTX_S_SHARED},
                   {EX_LOCAL_WINDOW, PTX_S_LOCAL},
                   {EX_CONST_WINDOW, PTX_S_CONST},
                   {EX_PARAM_WINDOW, PTX_S_PARAM}};
    for (unsigned n = 0; n < 4; n++) {
        if (*address - windows[n].base >= EX_WINDOW_BYTES) continue;
        *address -= windows[n].base;
        return windows[n].space;
    }
    return PTX_S_GLOBAL;
}

static void add_group(struct ex_warp *w, uint8_t space, uint32_t lane) {
    for (uint32_t n = 0; n < w->group_count; n++) {
        if (w->group[n].space != space) continue;
        w->group[n].mask |= 1u << lane;
        return;
    }
    if (w->group_count < 4) w->group[w->group_count++] = (struct access_group){space, 1u << lane};
}

static bool slow(struct ex_warp *w, const struct ex_address *a, uint32_t mask, uint64_t *addr,
                 unsigned char **host) {
    w->group_count = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint8_t space = a->space == PTX_S_GENERIC ? resolve(&addr[l]) : a->space;
        host[l] = lane_host(w, l, a, space, addr[l]);
        if (!host[l]) return false;
        add_group(w, space, l);
    }
    return true;
}

/* All lanes within one allocation or window: the common case. */
static bool fast(struct ex_warp *w, const struct ex_inst *i, const struct ex_address *a, uint32_t mask,
                 const uint64_t *addr, unsigned char **host) {
    uint64_t lowest = UINT64_MAX, highest = 0, bits = 0;
    EX_EACH(mask, uint64_t x = addr[l]; lowest = x < lowest ? x : lowest; highest = x > highest ? x : highest;
            bits |= x;);
    if (bits & (a->bytes - 1u)) return false;
    unsigned char *base;
    if (a->space == PTX_S_SHARED) {
        if (a->bytes > w->run->shared_bytes || highest > w->run->shared_bytes - a->bytes) return false;
        base = w->cta->shared;
    } else {
        const struct mem *mem = w->run->mem;
        if (lowest < MEM_BASE || !i->hint) return false;
        uint32_t at = *i->hint;
        if (at >= mem->count || !mem_holds(mem->alloc[at], lowest, highest - lowest + a->bytes)) {
            for (at = 0; at < mem->count; at++)
                if (mem_holds(mem->alloc[at], lowest, highest - lowest + a->bytes)) break;
            if (at == mem->count) return false;
            *i->hint = at;
        }
        base = mem->alloc[at]->host;
        uint64_t start = mem->alloc[at]->base;
        EX_EACH(mask, host[l] = base + (addr[l] - start););
        w->group[0] = (struct access_group){PTX_S_GLOBAL, mask};
        w->group_count = 1;
        return true;
    }
    EX_EACH(mask, host[l] = base + addr[l];);
    w->group[0] = (struct access_group){a->space, mask};
    w->group_count = 1;
    return true;
}

bool ww_ex_addresses(struct ex_warp *w, const struct ex_inst *i, const struct ex_address *a, uint32_t mask,
                     uint64_t *addr, unsigned char **host) {
    uint64_t offset = (uint64_t)a->offset;
    if (a->slot == EX_NO_SLOT) {
        if (a->space == PTX_S_LOCAL) offset += w->frame->local_base;
        for (unsigned l = 0; l < EX_LANES; l++) addr[l] = offset;
    } else if (a->width == 8) {
        const uint64_t *base = ex_src(w, a->slot);
        for (unsigned l = 0; l < EX_LANES; l++) addr[l] = base[l] + offset;
    } else {
        const uint32_t *base = ex_src(w, a->slot);
        for (unsigned l = 0; l < EX_LANES; l++) addr[l] = (uint32_t)(base[l] + (uint32_t)offset);
    }
    bool may_be_fast = a->space == PTX_S_GLOBAL || a->space == PTX_S_GENERIC || a->space == PTX_S_SHARED;
    if (may_be_fast && fast(w, i, a, mask, addr, host)) return true;
    return slow(w, a, mask, addr, host);
}

unsigned char *ww_ex_generic(struct ex_warp *w, uint32_t lane, uint64_t address, uint32_t bytes) {
    struct ex_address a = {.bytes = 1, .space = PTX_S_GENERIC};
    uint8_t space = resolve(&address);
    unsigned char *p = lane_host(w, lane, &a, space, address);
    if (!p || bytes <= 1) return p;
    unsigned char *last = lane_host(w, lane, &a, space, address + bytes - 1);
    if (!last || (uintptr_t)last - (uintptr_t)p == bytes - 1) return last ? p : NULL;
    ww_ex_fail(w, lane, WW_EXEC, "out-of-bounds load of %u bytes at 0x%llx of global memory", bytes,
               (unsigned long long)address); /* over the end of one allocation into another */
    return NULL;
}

#define LOAD(T, D, E) EX_EACH(mask, T v; memcpy(&v, host[l] + at, sizeof v); ((D *)d)[l] = (D)(E)v;)

static void load_element(void *d, uint8_t width, uint32_t bytes, bool is_signed, uint32_t mask,
                         unsigned char *const *host, uint32_t at) {
    switch (bytes) {
    case 1:
        if (width == 8 && is_signed)
            LOAD(int8_t, uint64_t, int64_t);
        else if (width == 8)
            LOAD(uint8_t, uint64_t, uint64_t);
        else if (is_signed)
            LOAD(int8_t, uint32_t, int32_t);
        else
            LOAD(uint8_t, uint32_t, uint32_t);
        break;
    case 2:
        if (width == 8 && is_signed)
            LOAD(int16_t, uint64_t, int64_t);
        else if (width == 8)
            LOAD(uint16_t, uint64_t, uint64_t);
        else if (is_signed)
            LOAD(int16_t, uint32_t, int32_t);
        else
            LOAD(uint16_t, uint32_t, uint32_t);
        break;
    case 4:
        if (width == 8 && is_signed)
            LOAD(int32_t, uint64_t, int64_t);
        else if (width == 8)
            LOAD(uint32_t, uint64_t, uint64_t);
        else
            LOAD(uint32_t, uint32_t, uint32_t);
        break;
    case 8:
        LOAD(uint64_t, uint64_t, uint64_t);
        break;
    default:
        EX_EACH(mask, uint64_t v[2]; memcpy(v, host[l] + at, sizeof v); ((uint64_t *)d)[l] = v[0];
                ((uint64_t *)d)[l + EX_LANES] = v[1];);
        break;
    }
}

#define STORE(T, S) EX_EACH(mask, T v = (T)((const S *)s)[l]; memcpy(host[l] + at, &v, sizeof v);)

static void store_element(const void *s, uint8_t width, uint32_t bytes, uint32_t mask,
                          unsigned char *const *host, uint32_t at) {
    if (bytes == 16) {
        const uint64_t *p = s;
        EX_EACH(mask, memcpy(host[l] + at, &p[l], 8); memcpy(host[l] + at + 8, &p[l + EX_LANES], 8););
    } else if (width == 8) {
        switch (bytes) {
        case 1:
            STORE(uint8_t, uint64_t);
            break;
        case 2:
            STORE(uint16_t, uint64_t);
            break;
        case 4:
            STORE(uint32_t, uint64_t);
            break;
        default:
            STORE(uint64_t, uint64_t);
            break;
        }
    } else {
        switch (bytes) {
        case 1:
            STORE(uint8_t, uint32_t);
            break;
        case 2:
            STORE(uint16_t, uint32_t);
            break;
        default:
            STORE(uint32_t, uint32_t);
            break;
        }
    }
}

static struct ex_address operand(const struct ex_inst *i, bool is_store) {
    uint32_t count = i->elem_count ? i->elem_count : 1;
    return (struct ex_address){.slot = i->a,
                               .width = i->aw,
                               .offset = i->imm,
                               .space = i->space,
                               .bytes = i->bytes * count,
                               .is_store = is_store};
}

static void load(EX_ARGS) {
    unsigned char *host[EX_LANES];
    struct ex_address a = operand(i, false);
    if (!ww_ex_addresses(w, i, &a, mask, w->addr, host)) return;
    bool is_signed = i->type == PTX_T_S8 || i->type == PTX_T_S16 || i->type == PTX_T_S32;
    if (i->elem_count == 0) {
        load_element(ex_dst(w, i->d), i->dw, i->bytes, is_signed, mask, host, 0);
        return;
    }
    for (uint32_t n = 0; n < i->elem_count; n++)
        if (i->elem[n].slot != EX_NO_SLOT)
            load_element(ex_dst(w, i->elem[n].slot), i->elem[n].width, i->bytes, is_signed, mask, host,
                         n * i->bytes);
}

static void store(EX_ARGS) {
    unsigned char *host[EX_LANES];
    struct ex_address a = operand(i, true);
    if (!ww_ex_addresses(w, i, &a, mask, w->addr, host)) return;
    if (i->elem_count == 0) {
        store_element(ex_src(w, i->b), i->bw, i->bytes, mask, host, 0);
        return;
    }
    for (uint32_t n = 0; n < i->elem_count; n++)
        store_element(ex_src(w, i->elem[n].slot), i->elem[n].width, i->bytes, mask, host, n * i->bytes);
}

ex_fn ww_ex_pick_ld(struct ex_inst *i) {
    i->kind = EX_MEM;
    return load;
}

ex_fn ww_ex_pick_st(struct ex_inst *i) {
    i->kind = EX_MEM;
    return store;
}
