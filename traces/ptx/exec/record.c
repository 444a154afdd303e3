/* record.c: steps and accesses of executed instructions, and the instruction table of a launch. */
#include "record.h"
#include "../../../estimator/base/bits.h"
#include "simt.h"
#include "spin.h"
#include <stdlib.h>
#include <string.h>

void ww_record_stream_free(struct record_stream *s) {
    free(s->step);
    free(s->access);
    free(s->pool);
    memset(s, 0, sizeof *s);
}

static uint64_t stream_bytes(const struct record_stream *s) {
    return s->step_capacity * sizeof *s->step + s->access_capacity * sizeof *s->access +
           s->pool_capacity * sizeof *s->pool;
}

enum ww_code ww_record_grow(void **array, size_t count, size_t more, size_t *capacity, size_t size,
                            uint64_t *bytes, uint64_t limit) {
    size_t bigger = *capacity ? *capacity + *capacity / 2 : 256;
    if (bigger < count + more) bigger = count + more;
    uint64_t left = *bytes < limit ? (limit - *bytes) / size : 0;
    if (bigger - *capacity > left) bigger = *capacity + (size_t)left;
    if (bigger < count + more || bigger > UINT32_MAX) return WW_EXEC;
    void *p = realloc(*array, bigger * size);
    if (!p) return WW_NOMEM;
    *array = p;
    *bytes += (bigger - *capacity) * size;
    *capacity = bigger;
    return WW_OK;
}

/* Room for `more` elements behind `count`; the array as it is, and failed, if memory or the limit ran out. */
static void *room(struct ex_warp *w, void *array, size_t count, size_t more, size_t *capacity, size_t size) {
    if (count + more <= *capacity) return array;
    struct ex_run *r = w->run;
    enum ww_code code = ww_record_grow(&array, count, more, capacity, size, &r->stream_bytes, r->stream_limit);
    if (code == WW_EXEC)
        ww_ex_fail(w, EX_LANES, code, WW_RECORD_LIMIT_TEXT, (unsigned long long)(r->stream_limit >> 20),
                   (unsigned long long)r->clock, (unsigned long long)EX_DEFAULT_LIMIT);
    else if (code != WW_OK)
        ww_ex_fail(w, EX_LANES, code, WW_RECORD_NOMEM_TEXT);
    return array;
}

static void add_step(struct ex_warp *w, uint32_t inst, uint32_t mask) {
    struct record_stream *s = &w->stream;
    s->step = room(w, s->step, s->step_count, 1, &s->step_capacity, sizeof *s->step);
    if (s->step_count < s->step_capacity) s->step[s->step_count++] = (struct ww_step){inst, mask};
}

static void add_access(struct ex_warp *w, uint64_t base, int32_t stride, uint32_t list) {
    struct record_stream *s = &w->stream;
    s->access = room(w, s->access, s->access_count, 1, &s->access_capacity, sizeof *s->access);
    if (s->access_count < s->access_capacity)
        s->access[s->access_count++] = (struct ww_access){base, stride, list};
}

/* True if the third active lane or the last one contradicts what the first two say: so it is with most lists.
 */
static bool parts_early(const uint64_t *addr, uint32_t rest, uint64_t start, int64_t step) {
    uint32_t further = rest & (rest - 1);
    if (!further) return false;
    unsigned third = (unsigned)__builtin_ctz(further), last = 31u - (unsigned)__builtin_clz(further);
    return addr[third] != start + (uint64_t)step * third || addr[last] != start + (uint64_t)step * last;
}

bool ww_record_is_affine(const uint64_t *addr, uint32_t mask, uint64_t *base, int32_t *stride) {
    unsigned first = (unsigned)__builtin_ctz(mask);
    uint32_t rest = mask & (mask - 1);
    *base = addr[first];
    *stride = 0;
    if (!rest) return true;
    unsigned second = (unsigned)__builtin_ctz(rest), gap = second - first;
    int64_t difference = (int64_t)(addr[second] - addr[first]);
    if (gap != 1 && difference % (int64_t)gap) return false;
    int64_t step = gap == 1 ? difference : difference / (int64_t)gap;
    if (step > INT32_MAX || step < INT32_MIN) return false;
    uint64_t start = addr[first] - (uint64_t)step * first, wrong = 0;
    if (parts_early(addr, rest, start, step)) return false;
    EX_EACH(mask, wrong |= addr[l] - (start + (uint64_t)step * l););
    *base = start;
    *stride = (int32_t)step;
    return wrong == 0;
}

static void add_addresses(struct ex_warp *w, const uint64_t *addr, uint32_t mask, uint64_t offset) {
    struct record_stream *s = &w->stream;
    uint64_t base;
    int32_t stride;
    if (ww_record_is_affine(addr, mask, &base, &stride)) {
        add_access(w, base + offset, stride, WW_AFFINE);
        return;
    }
    size_t n = (size_t)__builtin_popcount(mask), at = s->pool_count;
    s->pool = room(w, s->pool, at, n, &s->pool_capacity, sizeof *s->pool);
    if (at + n > s->pool_capacity) return;
    for (uint32_t m = mask; m; m &= m - 1) s->pool[s->pool_count++] = addr[__builtin_ctz(m)] + offset;
    add_access(w, 0, 0, (uint32_t)at);
}

static uint8_t trace_space(uint8_t space) {
    switch (space) {
    case PTX_S_SHARED:
        return WW_SPACE_SHARED;
    case PTX_S_LOCAL:
    case EX_S_CALL:
        return WW_SPACE_LOCAL;
    case PTX_S_CONST:
    case PTX_S_PARAM:
        return WW_SPACE_CONST;
    default:
        return WW_SPACE_GLOBAL;
    }
}

/* Shared addresses, with the ranks of other CTAs as traces have them. */
static const uint64_t *of_cluster(const struct ex_warp *w, uint32_t mask, uint64_t addr[EX_LANES]) {
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t rank = w->addr[l] >> EX_CLUSTER_SHIFT, at = w->addr[l] & ((1u << EX_CLUSTER_SHIFT) - 1);
        addr[l] = rank == 0 || rank == w->cta->rank + 1u ? at : at | rank << WW_SHARED_RANK_SHIFT;
    }
    return addr;
}

/* The load of a spin loop, if its lanes have one address. */
static bool record_poll(struct ex_warp *w, const struct ex_inst *i, const struct record_entry *e, uint32_t inst,
                        uint32_t mask) {
    uint64_t one = w->addr[__builtin_ctz(mask)] + e->offset;
    struct spin_poll p;
    if (e->loses_address) return false;
    for (uint32_t m = mask; m; m &= m - 1)
        if (w->addr[__builtin_ctz(m)] + e->offset != one) return false;
    if (!ww_spin_poll(w->run->recorder, w->run->mem, &w->split[w->current].watch, inst, w->stream.step_count,
                      one, &p))
        return false;
    if (p.old) {
        unsigned char now[16];
        uint32_t width = w->run->recorder->inst[inst].width;
        memcpy(now, p.host, width);
        memcpy(p.host, p.old, width);
        i->fn(w, i, mask);
        memcpy(p.host, now, width);
    }
    add_step(w, p.count ? e->wait : inst, mask);
    add_access(w, one, (int32_t)p.count, WW_AFFINE);
    return true;
}

static void count_write(struct ex_warp *w, const struct record_entry *e, uint32_t inst, uint32_t mask) {
    uint64_t address[EX_LANES];
    if (e->op != WW_OP_STORE && e->op != WW_OP_ATOMIC && e->op != WW_OP_REDUCE) return;
    for (uint32_t l = 0; l < EX_LANES; l++) address[l] = w->addr[l] + e->offset;
    ww_spin_wrote(w->run->recorder->spins, w->run->mem, address, mask, w->run->recorder->inst[inst].width);
}

/* One step for each address space that the lanes' addresses turned out to be in. */
static void record_memory(struct ex_warp *w, const struct ex_inst *i, const struct record_entry *e,
                          uint32_t inst, uint32_t act) {
    if (e->part == 1) {
        add_step(w, inst, act);
        add_addresses(w, w->addr2, act, e->offset);
        return;
    }
    for (uint32_t n = 0; n < w->group_count; n++) {
        uint32_t twin = e->twin[trace_space(w->group[n].space)], mask = w->group[n].mask & act;
        bool peers = w->group[n].space == PTX_S_SHARED && w->cta->cluster->count > 1;
        uint64_t addr[EX_LANES];
        if (w->run->recorder->spins && mask && trace_space(w->group[n].space) == WW_SPACE_GLOBAL) {
            if (e->wait && i->record_count == 1 && mask == act && record_poll(w, i, e, inst, mask)) continue;
            count_write(w, e, inst, mask);
        }
        add_step(w, twin ? twin : inst, mask);
        add_addresses(w, peers ? of_cluster(w, mask, addr) : w->addr, mask, e->offset);
    }
}

/* The words of a transfer stand in the place of addresses, one a lane; the other lanes have 0. */
static void add_transfer(struct ex_warp *w, uint32_t mask) {
    struct record_stream *s = &w->stream;
    size_t n = (size_t)__builtin_popcount(mask), at = s->pool_count;
    s->pool = room(w, s->pool, at, n, &s->pool_capacity, sizeof *s->pool);
    if (at + n > s->pool_capacity) return;
    for (size_t k = 0; k < n; k++) s->pool[s->pool_count++] = k < WW_DMA_WORDS ? w->dma[k] : 0;
    add_access(w, 0, 0, (uint32_t)at);
}

/* A bulk copy is recorded as copies of 16 bytes a lane of what it touches in global memory. */
static void record_bulk(struct ex_warp *w, uint32_t inst) {
    struct bulk_lanes lanes = {.of = &w->run->touched};
    uint64_t addr[EX_LANES];
    if (!w->run->touched.count) {
        add_step(w, inst, 0);
        add_access(w, 0, 0, WW_AFFINE);
    }
    for (uint32_t n = ww_bulk_lanes(&lanes, addr); n && !w->run->failed; n = ww_bulk_lanes(&lanes, addr)) {
        uint32_t mask = n == EX_LANES ? EX_ALL : (1u << n) - 1;
        add_step(w, inst, mask);
        add_addresses(w, addr, mask, 0);
    }
}

/* What an instruction did at mbarriers of the CTA itself, and at those of others. */
static void record_mbarriers(struct ex_warp *w, uint32_t inst, uint32_t mask) {
    const struct ww_mbarrier_steps *s = &w->mbar;
    uint64_t word[EX_LANES];
    uint32_t far = mask ? s->far_count : 0;
    if (!far || s->own.kind) {
        add_step(w, inst, mask);
        add_access(w, mask ? ww_mbarrier_pack(&s->own) : 0, mask ? s->own.others : 0, WW_AFFINE);
    }
    if (!far) return;
    for (uint32_t n = 0; n < far; n++) word[n] = ww_mbarrier_pack(&s->far[n]);
    mask = far == EX_LANES ? EX_ALL : (1u << far) - 1;
    add_step(w, inst, mask);
    add_addresses(w, word, mask, 0);
}

static void record_access(struct ex_warp *w, const struct ex_inst *i, const struct record_entry *e,
                          uint32_t inst, uint32_t mask) {
    bool is_value = e->op == WW_OP_BARRIER || e->op == WW_OP_SLEEP;
    if (is_value && i->kind == EX_MEM) {
        record_mbarriers(w, inst, mask);
        return;
    }
    if (mask && i->fn == ww_ex_bulk) {
        record_bulk(w, inst);
        return;
    }
    if (mask && i->kind == EX_MEM && e->part != PTX_ACCESS_NONE) {
        record_memory(w, i, e, inst, mask);
        return;
    }
    add_step(w, inst, mask);
    if (e->op == WW_OP_DMA && mask)
        add_transfer(w, mask);
    else if (is_value)
        add_access(w, mask ? w->value : 0, 0, WW_AFFINE);
    else
        add_access(w, mask ? e->offset : 0, 0, WW_AFFINE); /* spills: the same place in each thread's frame */
}

void ww_record_inst(struct ex_warp *w, const struct ex_inst *i, uint32_t act, uint32_t taken) {
    const struct recorder *r = w->run->recorder;
    if (!r) return;
    const struct record_entry *e = &r->entry[i->record_first];
    for (uint32_t n = 0; n < i->record_count; n++, e++) {
        uint32_t mask = e->only_if_taken || e->conditional ? taken : act;
        if (e->only_if_taken && !taken) continue;
        if (e->access)
            record_access(w, i, e, i->record_first + n, mask);
        else
            add_step(w, e->shapes && mask ? e->shapes + (uint32_t)w->value : i->record_first + n, mask);
    }
}

/* Threads of recorded steps. */
static inline __attribute__((always_inline)) uint64_t count_threads(const struct ww_step *step, size_t n) {
    uint64_t threads = 0;
    for (size_t k = 0; k < n; k++) threads += ww_bits(step[k].mask);
    return threads;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("popcnt"))) static uint64_t threads_host(const struct ww_step *step, size_t n) {
    return count_threads(step, n);
}
static uint64_t threads_of(const struct ww_step *step, size_t n) {
    return __builtin_cpu_supports("popcnt") ? threads_host(step, n) : count_threads(step, n);
}
#else
static uint64_t threads_of(const struct ww_step *step, size_t n) {
    return count_threads(step, n);
}
#endif

/* Threads for which such a barrier waits may be of warps that are cut: steps that are not over have no lanes.
 */
static void leave_barriers(const struct recorder *r, struct record_stream *s) {
    size_t a = s->access_count;
    for (size_t n = s->step_count; s->waiting && n-- > 0;) {
        struct ww_step *step = &s->step[n];
        const struct ww_inst *inst = &r->inst[step->inst];
        a -= r->entry[step->inst].access;
        if (inst->op != WW_OP_BARRIER || inst->flags & WW_INST_BAR_ARRIVE || !(step->mask & s->waiting))
            continue;
        s->waiting &= ~step->mask;
        step->mask = 0;
        if (r->entry[step->inst].access) s->access[a] = (struct ww_access){.list = WW_AFFINE};
    }
}

/* Streams that were cut end with an EXIT of the lanes that they have left. */
static enum ww_code end_cut(const struct recorder *r, struct record_stream *s, uint64_t *bytes,
                            struct ww_error *error) {
    leave_barriers(r, s);
    void *step = s->step;
    uint32_t exit = r->entry_count;
    while (exit && r->entry[exit - 1].op != WW_OP_EXIT) exit--;
    if (!exit) return ww_fail(error, WW_UNSUPPORTED, "recording", "the kernel has no exit: it cannot be cut");
    if (s->step_count == s->step_capacity &&
        ww_record_grow(&step, s->step_count, 1, &s->step_capacity, sizeof *s->step, bytes, UINT64_MAX) != WW_OK)
        return ww_fail_nomem(error, "a recorded stream");
    s->step = step;
    s->step[s->step_count++] = (struct ww_step){exit - 1, s->cut};
    return WW_OK;
}

enum ww_code ww_record_streams(struct recorder *r, uint64_t index, struct record_stream *const *stream,
                               uint32_t count, uint64_t *bytes, struct ww_error *error) {
    struct ww_warp_stream warp[SIMT_MAX_WARPS];
    for (uint32_t n = 0; n < count; n++) {
        const struct record_stream *s = stream[n];
        if (s->cut) WW_TRY(end_cut(r, stream[n], bytes, error));
        warp[n] = (struct ww_warp_stream){s->step, s->access, s->pool, (uint32_t)s->step_count,
                                          (uint32_t)s->access_count};
        r->warp_instructions += s->step_count;
        r->thread_instructions += threads_of(s->step, s->step_count);
    }
    struct ww_cta_trace trace = {.index = index, .warp_count = count, .warp = warp};
    if (r->on_cta) r->on_cta(r->on_cta_context, &trace);
    enum ww_code code = r->writer ? ww_trace_writer_cta(r->writer, &trace, error) : WW_OK;
    for (uint32_t n = 0; n < count; n++) {
        *bytes -= stream_bytes(stream[n]);
        ww_record_stream_free(stream[n]);
    }
    return code;
}

enum ww_code ww_record_cta(struct recorder *r, struct ex_cta *cta, struct ww_error *error) {
    struct record_stream *stream[SIMT_MAX_WARPS];
    for (uint32_t n = 0; n < cta->warp_count; n++) stream[n] = &cta->warp[n].stream;
    return ww_record_streams(r, cta->index, stream, cta->warp_count, &cta->run->stream_bytes, error);
}

void ww_recorder_add_twin(struct recorder *r, uint32_t of, uint8_t space) {
    r->inst[r->entry_count] = r->inst[of];
    r->inst[r->entry_count].space = space;
    r->entry[r->entry_count] = r->entry[of];
    r->entry[r->entry_count].space = space;
    r->entry[r->entry_count].of = of + 1;
    r->entry[of].twin[space] = r->entry_count++;
}
