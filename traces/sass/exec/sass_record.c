/* sass_record.c: steps and accesses of executed instructions. */
#include "access.h"
#include "bulk.h"

static void *grow(struct sx_warp *w, void *array, size_t count, size_t more, size_t *capacity, size_t size) {
    struct sx_run *r = w->run;
    enum ww_code code = ww_record_grow(&array, count, more, capacity, size, &r->stream_bytes, r->stream_limit);
    if (code == WW_EXEC)
        ww_sx_fail(w, SX_LANES, code, WW_RECORD_LIMIT_TEXT, (unsigned long long)(r->stream_limit >> 20),
                   (unsigned long long)r->clock, (unsigned long long)SX_DEFAULT_LIMIT);
    else if (code != WW_OK)
        ww_sx_fail(w, SX_LANES, code, WW_RECORD_NOMEM_TEXT);
    return array;
}

/* Room for `more` elements behind `count`; the array as it is, and failed, if memory or the limit ran out. */
static void *room(struct sx_warp *w, void *array, size_t count, size_t more, size_t *capacity, size_t size) {
    return count + more <= *capacity ? array : grow(w, array, count, more, capacity, size);
}

void ww_sx_add_step(struct sx_warp *w, uint32_t inst, uint32_t mask) {
    struct record_stream *s = &w->stream;
    s->step = room(w, s->step, s->step_count, 1, &s->step_capacity, sizeof *s->step);
    if (s->step_count < s->step_capacity) s->step[s->step_count++] = (struct ww_step){inst, mask};
}

static void add_access(struct sx_warp *w, uint64_t base, int32_t stride, uint32_t list) {
    struct record_stream *s = &w->stream;
    s->access = room(w, s->access, s->access_count, 1, &s->access_capacity, sizeof *s->access);
    if (s->access_count < s->access_capacity)
        s->access[s->access_count++] = (struct ww_access){base, stride, list};
}

static void add_addresses(struct sx_warp *w, uint32_t mask) {
    struct record_stream *s = &w->stream;
    uint64_t base;
    int32_t stride;
    if (w->affine) {
        add_access(w, w->affine_base, w->affine_stride, WW_AFFINE);
        return;
    }
    if (ww_record_is_affine(w->addr, mask, &base, &stride)) {
        add_access(w, base, stride, WW_AFFINE);
        return;
    }
    size_t n = sx_count(mask), at = s->pool_count;
    s->pool = room(w, s->pool, at, n, &s->pool_capacity, sizeof *s->pool);
    if (at + n > s->pool_capacity) return;
    uint64_t *to = s->pool + at;
    if (mask == SX_ALL)
        memcpy(to, w->addr, sizeof w->addr);
    else
        for (uint32_t m = mask; m; m &= m - 1) *to++ = w->addr[__builtin_ctz(m)];
    s->pool_count += n;
    add_access(w, 0, 0, (uint32_t)at);
}

/* Addresses of the lanes one by one. */
static const uint64_t *spell_out(struct sx_warp *w, uint32_t mask) {
    if (w->affine)
        for (uint32_t m = mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            w->addr[l] = w->affine_base + (uint64_t)((int64_t)w->affine_stride * (int64_t)l);
        }
    return w->addr;
}

/* The load of a spin loop, if its lanes have one address. */
static bool record_poll(struct sx_warp *w, const struct sx_inst *i, const struct record_entry *e, uint32_t inst,
                        uint32_t mask) {
    const uint64_t *address = spell_out(w, mask);
    uint64_t one = address[__builtin_ctz(mask)];
    struct spin_poll p;
    for (uint32_t m = mask; m; m &= m - 1)
        if (address[__builtin_ctz(m)] != one) return false;
    if (!ww_spin_poll(w->run->recorder, w->run->mem, &w->group[w->current].watch, inst, w->stream.step_count,
                      one, &p))
        return false;
    if (p.old) {
        unsigned char *host[SX_LANES];
        for (unsigned l = 0; l < SX_LANES; l++) host[l] = p.old;
        ww_sx_load_rows(sx_dst(w, i->d), i->type, mask, host);
    }
    sx_add_step(w, p.count ? e->wait : inst, mask);
    add_access(w, one, (int32_t)p.count, WW_AFFINE);
    return true;
}

/* One step for each address space that the lanes' addresses turned out to be in. */
static void record_memory(struct sx_warp *w, const struct sx_inst *i, const struct record_entry *e,
                          uint32_t inst, uint32_t mask) {
    struct record_spins *spins = w->run->recorder->spins;
    for (uint32_t n = 0; n < w->access_count; n++) {
        uint32_t lanes = w->access[n].mask & mask, twin = e->twin[w->access[n].space];
        if (!lanes) continue;
        if (spins && !twin && w->access[n].space == WW_SPACE_GLOBAL) {
            if (e->wait && lanes == mask && record_poll(w, i, e, inst, mask)) continue;
            if (e->op == WW_OP_STORE || e->op == WW_OP_ATOMIC || e->op == WW_OP_REDUCE)
                ww_spin_wrote(spins, w->run->mem, spell_out(w, lanes), lanes,
                              w->run->recorder->inst[inst].width);
        }
        sx_add_step(w, twin ? twin : inst, lanes);
        add_addresses(w, lanes);
    }
}

/* A bulk copy: pieces of 16 bytes a lane of what it touches in global memory. */
static void record_bulk(struct sx_warp *w, uint32_t inst) {
    struct bulk_lanes lanes = {.of = &w->run->touched};
    w->affine = false;
    if (!w->run->touched.count) {
        sx_add_step(w, inst, 0);
        add_access(w, 0, 0, WW_AFFINE);
    }
    for (uint32_t n = ww_bulk_lanes(&lanes, w->addr); n && !w->run->failed;
         n = ww_bulk_lanes(&lanes, w->addr)) {
        uint32_t mask = n == SX_LANES ? SX_ALL : (1u << n) - 1;
        sx_add_step(w, inst, mask);
        add_addresses(w, mask);
    }
}

/* What an instruction did at mbarriers of the CTA itself, and at those of others. */
static void record_mbarriers(struct sx_warp *w, uint32_t inst, uint32_t mask) {
    const struct ww_mbarrier_steps *s = &w->mbar;
    uint32_t far = mask ? s->far_count : 0;
    if (!far || s->own.kind) {
        sx_add_step(w, inst, mask);
        add_access(w, mask ? ww_mbarrier_pack(&s->own) : 0, mask ? s->own.others : 0, WW_AFFINE);
    }
    if (!far) return;
    w->affine = false;
    for (uint32_t n = 0; n < far; n++) w->addr[n] = ww_mbarrier_pack(&s->far[n]);
    mask = far == SX_LANES ? SX_ALL : (1u << far) - 1;
    sx_add_step(w, inst, mask);
    add_addresses(w, mask);
}

static bool is_at_mbarriers(const struct sx_warp *w) {
    return w->mbar.own.kind || w->mbar.far_count;
}

static void record_access(struct sx_warp *w, const struct sx_inst *i, const struct record_entry *e,
                          uint32_t inst, uint32_t mask) {
    if (i->fn == ww_sx_bulk && mask) {
        record_bulk(w, inst);
        if (is_at_mbarriers(w)) record_mbarriers(w, e->twin[WW_SPACE_NONE], mask);
        return;
    }
    if (i->kind == SX_MEM && e->op == WW_OP_BARRIER) {
        record_mbarriers(w, inst, mask);
        return;
    }
    if (i->kind == SX_MEM && mask && w->access_count) {
        record_memory(w, i, e, inst, mask);
        if (e->twin[WW_SPACE_NONE] && is_at_mbarriers(w)) record_mbarriers(w, e->twin[WW_SPACE_NONE], mask);
        return;
    }
    bool is_value = e->op == WW_OP_BARRIER || e->op == WW_OP_SLEEP;
    if (i->kind == SX_MEM) mask = 0; /* no lane's predicate holds */
    sx_add_step(w, inst, mask);
    add_access(w, mask && is_value ? w->value : 0, 0, WW_AFFINE);
}

void ww_sx_record(struct sx_warp *w, const struct sx_inst *i, uint32_t mask, uint32_t taken) {
    const struct recorder *r = w->run->recorder;
    if (!r) return;
    uint32_t inst = (uint32_t)(i - w->run->kernel->inst);
    const struct record_entry *e = &r->entry[inst];
    if (e->conditional) mask = taken;
    if (e->access)
        record_access(w, i, e, inst, mask);
    else
        sx_add_step(w, inst, mask);
}

enum ww_code ww_sx_record_cta(struct sx_cta *cta, struct ww_error *error) {
    struct record_stream *stream[SX_MAX_WARPS];
    for (uint32_t n = 0; n < cta->warp_count; n++) stream[n] = &cta->warp[n].stream;
    return ww_record_streams(cta->run->recorder, cta->index, stream, cta->warp_count, &cta->run->stream_bytes,
                             error);
}
