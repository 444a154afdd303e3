/* exec_record.c: steps and accesses of executed instructions. */
#include "grid.h"
#include <stdlib.h>

static uint64_t stream_bytes(const struct record_stream *s) {
    return s->step_capacity * sizeof *s->step + s->access_capacity * sizeof *s->access +
           s->pool_capacity * sizeof *s->pool;
}

/* Room for `more` elements behind `count`; the array as it is, and failed, if memory or the limit ran out. */
static void *grow(struct sx_warp *w, void *array, size_t count, size_t more, size_t *capacity, size_t size) {
    struct sx_run *r = w->run;
    size_t bigger = *capacity ? *capacity + *capacity / 2 : 256;
    if (bigger < count + more) bigger = count + more;
    uint64_t left = r->stream_bytes < r->stream_limit ? (r->stream_limit - r->stream_bytes) / size : 0;
    if (bigger - *capacity > left) bigger = *capacity + (size_t)left;
    if (bigger < count + more || bigger > UINT32_MAX) {
        ww_sx_fail(
            w, SX_LANES, WW_EXEC,
            "CTAs that have not finished recorded %llu MB, the limit, in %llu warp instructions: an endless "
            "loop? (an instruction limit above its default of %llu raises this one)",
            (unsigned long long)(r->stream_limit >> 20), (unsigned long long)r->clock,
            (unsigned long long)SX_DEFAULT_LIMIT);
        return array;
    }
    void *p = realloc(array, bigger * size);
    if (!p) {
        ww_sx_fail(w, SX_LANES, WW_NOMEM, "memory ran out for the recorded stream of a CTA");
        return array;
    }
    r->stream_bytes += (bigger - *capacity) * size;
    *capacity = bigger;
    return p;
}

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

/* True if the third active lane or the last one contradicts what the first two say: so it is with most lists.
 */
static bool parts_early(const uint64_t *addr, uint32_t rest, uint64_t start, int64_t step) {
    uint32_t further = rest & (rest - 1);
    if (!further) return false;
    unsigned third = (unsigned)__builtin_ctz(further), last = 31u - (unsigned)__builtin_clz(further);
    return addr[third] != start + (uint64_t)step * third || addr[last] != start + (uint64_t)step * last;
}

/* True if the active lanes' addresses are base + stride * lane. */
static bool is_affine(const uint64_t *addr, uint32_t mask, uint64_t *base, int32_t *stride) {
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
    SX_EACH(mask, wrong |= addr[l] - (start + (uint64_t)step * l););
    *base = start;
    *stride = (int32_t)step;
    return wrong == 0;
}

static void add_addresses(struct sx_warp *w, uint32_t mask) {
    struct record_stream *s = &w->stream;
    uint64_t base;
    int32_t stride;
    if (w->affine) {
        add_access(w, w->affine_base, w->affine_stride, WW_AFFINE);
        return;
    }
    if (is_affine(w->addr, mask, &base, &stride)) {
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

/* Threads of recorded steps. */
SX_INLINE uint64_t count_threads(const struct ww_step *step, size_t n) {
    uint64_t threads = 0;
    for (size_t k = 0; k < n; k++) threads += ww_bits(step[k].mask);
    return threads;
}
static uint64_t threads_plain(const struct ww_step *step, size_t n) {
    return count_threads(step, n);
}
SX_HOST static uint64_t threads_host(const struct ww_step *step, size_t n) {
    return count_threads(step, n);
}

/* One step for each address space that the lanes' addresses turned out to be in. */
static void record_memory(struct sx_warp *w, const struct record_entry *e, uint32_t inst, uint32_t mask) {
    for (uint32_t n = 0; n < w->access_count; n++) {
        uint32_t lanes = w->access[n].mask & mask, twin = e->twin[w->access[n].space];
        if (!lanes) continue;
        sx_add_step(w, twin ? twin : inst, lanes);
        add_addresses(w, lanes);
    }
}

static void record_access(struct sx_warp *w, const struct sx_inst *i, const struct record_entry *e,
                          uint32_t inst, uint32_t mask) {
    if (i->kind == SX_MEM && mask && w->access_count) {
        record_memory(w, e, inst, mask);
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
    struct recorder *r = cta->run->recorder;
    struct ww_warp_stream stream[SX_MAX_WARPS];
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        const struct record_stream *s = &cta->warp[n].stream;
        stream[n] = (struct ww_warp_stream){s->step, s->access, s->pool, (uint32_t)s->step_count,
                                            (uint32_t)s->access_count};
        r->warp_instructions += s->step_count;
        r->thread_instructions +=
            SX_HAVE_HOST ? threads_host(s->step, s->step_count) : threads_plain(s->step, s->step_count);
    }
    struct ww_cta_trace trace = {.index = cta->index, .warp_count = cta->warp_count, .warp = stream};
    if (r->on_cta) r->on_cta(r->on_cta_context, &trace);
    enum ww_code code = r->writer ? ww_trace_writer_cta(r->writer, &trace, error) : WW_OK;
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        cta->run->stream_bytes -= stream_bytes(&cta->warp[n].stream);
        ww_record_stream_free(&cta->warp[n].stream);
    }
    return code;
}
