/* When a CTA of a trace uses its shared memory. */
#include "regions.h"

#include <string.h>

#define SHARED_MAX (1u << 20) /* bytes; more than any SM has */

struct finder {
    const struct ww_launch *launch;
    const struct ww_cta_trace *cta;
    uint64_t from;
    struct ww_arena *arena;
    struct ww_error *error;
    struct ww_regions *out;
    uint32_t phases;
    uint32_t *writer;                /* by byte: 1 + phase of its last write */
    uint32_t bytes;                  /* of writer */
    bool *reads, *writes;            /* by phase */
    const struct ww_access **access; /* [warp][phases]: the first one of each */
    int64_t *live; /* by phase: values written before and read in it or later, as differences */
};

bool ww_region_barrier(const struct ww_launch *launch, const struct ww_inst *inst,
                       const struct ww_access *access) {
    uint32_t threads = access ? (uint32_t)(access->base >> 8) & 0xffff : inst->barrier_threads;
    uint32_t all = launch->block[0] * launch->block[1] * launch->block[2];
    return inst->op == WW_OP_BARRIER && !(inst->flags & WW_INST_BAR_ARRIVE) && (threads == 0 || threads >= all);
}

static enum ww_code refuse(const struct finder *f, const struct ww_inst *in, const char *what) {
    return ww_fail(f->error, WW_UNSUPPORTED, f->launch->kernel, "CTA %llu: pc 0x%x %s",
                   (unsigned long long)f->cta->index, in->pc, what);
}

static bool is_shared(const struct ww_inst *in) {
    return in->space == WW_SPACE_SHARED && in->op >= WW_OP_LOAD && in->op <= WW_OP_ASYNC_COPY;
}

static enum ww_code check_step(const struct finder *f, const struct ww_inst *in, const struct ww_access *a) {
    if (in->op == WW_OP_BARRIER && !ww_region_barrier(f->launch, in, a))
        return refuse(f, in, "is a barrier of some threads only");
    if (in->op == WW_OP_ASYNC_COPY) return refuse(f, in, "copies to shared memory asynchronously");
    if (in->op == WW_OP_DMA)
        return refuse(f, in, "transfers to shared memory in bulk already, as trace transform d2ma makes it");
    if (is_shared(in) && !a) return refuse(f, in, "accesses shared memory at unknown addresses");
    return WW_OK;
}

static const struct ww_access *next_access(const struct ww_inst *in, const struct ww_access **access) {
    return in->flags & WW_INST_ACCESS ? (*access)++ : NULL;
}

static enum ww_code count_barriers(struct finder *f) {
    uint32_t most = 0;
    for (uint32_t w = 0; w < f->cta->warp_count; w++) {
        const struct ww_warp_stream *s = &f->cta->warp[w];
        const struct ww_access *access = s->access;
        uint32_t n = 0;
        for (uint32_t i = 0; i < s->step_count; i++) {
            const struct ww_inst *in = &f->launch->inst[s->step[i].inst];
            WW_TRY(check_step(f, in, next_access(in, &access)));
            n += in->op == WW_OP_BARRIER;
        }
        if (w && n != most)
            return ww_fail(f->error, WW_UNSUPPORTED, f->launch->kernel,
                           "CTA %llu: warp %u comes to %u barriers, warp 0 to %u",
                           (unsigned long long)f->cta->index, w, n, most);
        most = n;
    }
    f->out->barriers = most;
    f->phases = most + 1;
    return WW_OK;
}

static enum ww_code prepare(struct finder *f) {
    uint32_t shared = f->launch->shared_static + f->launch->shared_dynamic, warps = f->cta->warp_count;
    f->out->warps = warps;
    f->bytes = shared < SHARED_MAX ? shared : SHARED_MAX;
    f->writer = ww_arena_array(f->arena, f->bytes + 1, sizeof *f->writer);
    f->reads = ww_arena_array(f->arena, f->phases, sizeof *f->reads);
    f->writes = ww_arena_array(f->arena, f->phases, sizeof *f->writes);
    f->access = ww_arena_array(f->arena, (size_t)warps * f->phases, sizeof *f->access);
    f->live = ww_arena_array(f->arena, f->phases + 2, sizeof *f->live);
    f->out->barrier = ww_arena_array(f->arena, (size_t)warps * f->out->barriers + 1, sizeof *f->out->barrier);
    f->out->span = ww_arena_array(f->arena, (size_t)warps * f->phases, sizeof *f->out->span);
    f->out->inner = ww_arena_array(f->arena, f->phases, sizeof *f->out->inner);
    if (!f->writer || !f->access || !f->reads || !f->writes || !f->live || !f->out->barrier || !f->out->span ||
        !f->out->inner)
        return ww_fail_nomem(f->error, "regions of shared memory");
    return WW_OK;
}

/* The byte of one lane's access: a read makes its value live from its write to here. */
static void touch_byte(struct finder *f, uint64_t byte, uint32_t phase, bool read, bool write) {
    if (byte >= f->out->bytes_max) f->out->bytes_max = byte + 1;
    if (byte >= f->bytes) return;
    if (read && f->writer[byte]) {
        f->live[f->writer[byte]]++;
        f->live[phase + 1]--;
    }
    if (write) f->writer[byte] = phase + 1;
}

static void touch(struct finder *f, const struct ww_inst *in, const struct ww_access *a, const uint64_t *pool,
                  uint32_t mask, uint32_t phase) {
    bool read = in->op != WW_OP_STORE, write = in->op != WW_OP_LOAD, any = false;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t at = ww_region_lane_address(a, pool, mask, (uint32_t)__builtin_ctz(m));
        if (at + in->width <= f->from) continue;
        any = true;
        for (uint32_t b = 0; b < in->width; b++) touch_byte(f, at + b, phase, read, write);
    }
    if (!any) return;
    f->out->accesses++;
    f->reads[phase] |= read;
    f->writes[phase] |= write;
}

/* One phase of one warp, from step *at on; returns at its barrier, or at the end. */
static void walk_phase(struct finder *f, uint32_t w, uint32_t phase, uint32_t *at,
                       const struct ww_access **access) {
    const struct ww_warp_stream *s = &f->cta->warp[w];
    f->access[(size_t)w * f->phases + phase] = *access;
    for (; *at < s->step_count; ++*at) {
        const struct ww_step *step = &s->step[*at];
        const struct ww_inst *in = &f->launch->inst[step->inst];
        const struct ww_access *a = next_access(in, access);
        if (in->op == WW_OP_BARRIER) {
            f->out->barrier[(size_t)w * f->out->barriers + phase] = (*at)++;
            return;
        }
        if (is_shared(in) && step->mask) touch(f, in, a, s->pool, step->mask, phase);
    }
}

static enum ww_code walk(struct finder *f) {
    uint32_t warps = f->cta->warp_count;
    uint32_t *at = ww_arena_array(f->arena, warps + 1, sizeof *at);
    const struct ww_access **access = ww_arena_array(f->arena, warps + 1, sizeof *access);
    if (!at || !access) return ww_fail_nomem(f->error, "regions of shared memory");
    for (uint32_t w = 0; w < warps; w++) access[w] = f->cta->warp[w].access;
    for (uint32_t p = 0; p < f->phases; p++)
        for (uint32_t w = 0; w < warps; w++) walk_phase(f, w, p, &at[w], &access[w]);
    return WW_OK;
}

static bool touches(const struct finder *f, const struct ww_warp_stream *s, const struct ww_step *step,
                    const struct ww_access *a) {
    const struct ww_inst *in = &f->launch->inst[step->inst];
    if (!is_shared(in)) return false;
    for (uint32_t m = step->mask; m; m &= m - 1)
        if (ww_region_lane_address(a, s->pool, step->mask, (uint32_t)__builtin_ctz(m)) + in->width > f->from)
            return true;
    return false;
}

/* The region is of phases first to last: where it begins and ends in the warp. */
static struct ww_span span_of(const struct finder *f, uint32_t w, uint32_t first, uint32_t last) {
    const struct ww_warp_stream *s = &f->cta->warp[w];
    const uint32_t *bar = f->out->barrier + (size_t)w * f->out->barriers;
    uint32_t from = first ? bar[first - 1] + 1 : 0, until = last < f->out->barriers ? bar[last] : s->step_count;
    uint32_t first_end = first < f->out->barriers ? bar[first] : s->step_count;
    struct ww_span r = {first_end, last ? bar[last - 1] + 1 : 0}; /* without accesses */
    const struct ww_access *a = f->access[(size_t)w * f->phases + first];
    for (uint32_t i = from; i < until; i++) {
        bool has = (f->launch->inst[s->step[i].inst].flags & WW_INST_ACCESS) != 0;
        if (touches(f, s, &s->step[i], a)) {
            if (i < r.begin) r.begin = i;
            if (i >= r.end) r.end = i + 1;
        }
        a += has;
    }
    if (r.end < r.begin) r.begin = r.end; /* one phase, without an access of this warp */
    return r;
}

static void add_region(struct finder *f, uint32_t first, uint32_t last) {
    struct ww_regions *r = f->out;
    for (uint32_t w = 0; w < r->warps; w++)
        r->span[(size_t)r->count * r->warps + w] = span_of(f, w, first, last);
    r->inner[r->count++] = last - first;
}

static void cut(struct finder *f) {
    uint32_t first = 0, last = 0;
    bool open = false, used = false;
    int64_t live = 0;
    for (uint32_t p = 0; p < f->phases; p++) {
        live += f->live[p];
        if (!f->reads[p] && !f->writes[p]) continue;
        if (open && used && f->writes[p] && live == 0) {
            add_region(f, first, last);
            open = false;
        }
        if (!open) {
            open = true;
            used = false;
            first = p;
        }
        used |= f->reads[p];
        last = p;
    }
    if (open) add_region(f, first, last);
}

enum ww_code ww_regions_find(const struct ww_launch *launch, const struct ww_cta_trace *cta, uint64_t from,
                             struct ww_arena *arena, struct ww_regions *out, struct ww_error *error) {
    struct finder f = {.launch = launch, .cta = cta, .from = from, .arena = arena, .error = error, .out = out};
    *out = (struct ww_regions){0};
    WW_TRY(count_barriers(&f));
    WW_TRY(prepare(&f));
    WW_TRY(walk(&f));
    cut(&f);
    return WW_OK;
}
