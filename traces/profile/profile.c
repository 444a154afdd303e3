/* What a launch's warps do, independent of any machine's timing. */
#include "../../estimator/api/trace.h"
#include "../../estimator/config/tensor.h"
#include "profile.h"
#include <string.h>

struct profiler {
    const struct ww_launch *launch;
    struct ww_reuse *reuse;
    struct ww_profile *p;
};

/* One warp's place in its stream. */
struct place {
    uint32_t step, access;
};

#define WARPS_MAX 64

/* ---- addresses ---- */

static uint32_t addresses(const struct ww_warp_stream *w, const struct ww_access *a, uint32_t mask,
                          uint64_t out[32]) {
    uint32_t n = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1)) continue;
        out[n] =
            a->list == WW_AFFINE ? a->base + (uint64_t)((int64_t)a->stride * lane) : ww_listed(a, w->pool, n);
        n++;
    }
    return n;
}

/* Adds v to a set of distinct values; n <= 64. */
static bool add_distinct(uint64_t *set, uint32_t *n, uint64_t v) {
    for (uint32_t i = *n; i-- > 0;)
        if (set[i] == v) return false;
    set[(*n)++] = v;
    return true;
}

/* Distinct 32-byte sectors of one instruction, and which of their bytes lanes name. */
struct sectors {
    uint64_t number[64];
    uint32_t bytes[64], count;
};

static void add_bytes(struct sectors *s, uint64_t address, uint32_t width) {
    for (uint32_t left = width ? width : 1, n; left; left -= n, address += n) {
        uint32_t offset = address & 31;
        n = left < 32 - offset ? left : 32 - offset;
        uint32_t i = s->count;
        while (i-- > 0 && s->number[i] != address >> 5) continue;
        if (i == UINT32_MAX) {
            i = s->count++;
            s->number[i] = address >> 5;
            s->bytes[i] = 0;
        }
        if (width) s->bytes[i] |= (uint32_t)(((1ull << n) - 1) << offset);
    }
}

/* The counter of a load: which pattern its lanes' addresses have (thread-invariant and fixed-offset accesses as
 * in A. Sethia, "Equalizer, Mascar and APOGEE", section 5.3). */
static uint64_t *load_kind(struct ww_profile *p, const struct ww_inst *inst, uint32_t mask,
                           const uint64_t *address, uint32_t n) {
    if (inst->space == WW_SPACE_TEX) return &p->loads_texture;
    if (n < 2) return &p->loads_other;
    int lane = __builtin_ctz(mask);
    mask &= mask - 1;
    int64_t lanes = __builtin_ctz(mask) - lane, step = (int64_t)(address[1] - address[0]);
    for (uint32_t i = 1; i < n; i++, mask &= mask - 1) {
        int64_t far = __builtin_ctz(mask) - lane;
        if ((int64_t)(address[i] - address[0]) * lanes != step * far) return &p->loads_other;
    }
    return step == 0 ? &p->loads_invariant : &p->loads_fixed;
}

static void count_global(struct profiler *q, const struct ww_inst *inst, uint32_t mask, const uint64_t *address,
                         uint32_t n) {
    struct sectors s = {.count = 0};
    uint64_t line[64];
    uint32_t lines = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t last = address[i] + (inst->width ? inst->width - 1u : 0);
        add_bytes(&s, address[i], inst->width);
        if (add_distinct(line, &lines, address[i] / WW_PROFILE_LINE))
            ww_reuse_access(q->reuse, address[i] / WW_PROFILE_LINE);
        if (add_distinct(line, &lines, last / WW_PROFILE_LINE))
            ww_reuse_access(q->reuse, last / WW_PROFILE_LINE);
    }
    struct ww_profile *p = q->p;
    if (inst->op == WW_OP_STORE)
        p->global_stores++;
    else if (inst->op == WW_OP_ATOMIC || inst->op == WW_OP_REDUCE)
        p->atomics++;
    else {
        p->global_loads++;
        ++*load_kind(p, inst, mask, address, n);
    }
    p->global_lanes += n;
    p->global_bytes += (uint64_t)n * inst->width;
    p->sectors += s.count;
    for (uint32_t i = 0; i < s.count; i++) p->distinct_bytes += (uint32_t)__builtin_popcount(s.bytes[i]);
    p->lines += lines;
}

/* Passes of a shared access over 32 banks of 4 bytes: a pass serves one word a bank; 8-byte accesses go by
 * half-warps, 16-byte ones by quarters (CUDA programming guide, shared memory of compute capability 5.x and
 * later). */
static uint32_t passes(const struct ww_inst *inst, const uint64_t *address, uint32_t n) {
    uint32_t words = inst->width > 4 ? inst->width / 4u : 1, part = 32 / words, sum = 0;
    for (uint32_t first = 0; first < n; first += part) {
        uint64_t word[64];
        uint32_t count = 0, most = 0;
        uint8_t bank[32] = {0};
        for (uint32_t i = first; i < n && i < first + part; i++)
            for (uint32_t k = 0; k < words; k++) {
                uint64_t v = address[i] / 4 + k;
                if (count < 64 && add_distinct(word, &count, v) && ++bank[v & 31] > most) most = bank[v & 31];
            }
        sum += most;
    }
    return sum;
}

/* ---- steps ---- */

/* Operations of a floating-point instruction for one lane. */
static uint32_t flops_of(const struct ww_launch *l, const struct ww_inst *inst) {
    const char *name = inst->mnemonic < l->string_count ? l->string[inst->mnemonic] : "";
    struct ww_matrix x;
    if (inst->op == WW_OP_TENSOR && !ww_matrix_of(name, &x)) return 0;
    if (inst->op == WW_OP_TENSOR) return x.whole ? 8 * x.fma : 2 * x.fma / 32; /* of a thread */
    if (inst->op != WW_OP_FP32 && inst->op != WW_OP_FP64 && inst->op != WW_OP_FP16) return 0;
    uint32_t each = strncmp(name + (*name != 0), "FMA", 3) == 0 ? 2 : 1;
    return inst->op == WW_OP_FP16 ? 2 * each : each;
}

static void count_step(struct profiler *q, const struct ww_inst *inst, uint32_t mask) {
    struct ww_profile *p = q->p;
    uint32_t n = (uint32_t)__builtin_popcount(mask);
    p->steps++;
    p->threads += n;
    p->lanes[n]++;
    p->flops += (uint64_t)n * flops_of(q->launch, inst);
    p->branches += inst->op == WW_OP_BRANCH;
    p->back_edges += (inst->flags & WW_INST_BACK_EDGE) != 0;
    p->barriers += inst->op == WW_OP_BARRIER;
}

/* Counts one step; true if it was a global access. */
static bool step_once(struct profiler *q, const struct ww_warp_stream *w, struct place *at) {
    const struct ww_step *step = &w->step[at->step++];
    const struct ww_inst *inst = &q->launch->inst[step->inst];
    count_step(q, inst, step->mask);
    if (!(inst->flags & WW_INST_ACCESS)) return false;
    const struct ww_access *access = &w->access[at->access++];
    if (inst->op == WW_OP_BARRIER || inst->op == WW_OP_SLEEP || inst->op == WW_OP_DMA || step->mask == 0)
        return false;
    uint64_t address[32];
    uint32_t n = addresses(w, access, step->mask, address);
    switch (inst->space) {
    case WW_SPACE_GLOBAL:
    case WW_SPACE_TEX:
        count_global(q, inst, step->mask, address, n);
        return true;
    case WW_SPACE_SHARED:
        q->p->shared++;
        q->p->shared_passes += passes(inst, address, n);
        return false;
    case WW_SPACE_LOCAL:
        q->p->local++;
        return false;
    default:
        q->p->constant++;
        return false;
    }
}

static void profile_cta(struct profiler *q, const struct ww_cta_trace *cta) {
    struct place at[WARPS_MAX] = {{0, 0}};
    uint32_t warps = cta->warp_count < WARPS_MAX ? cta->warp_count : WARPS_MAX, live = warps;
    while (live > 0) {
        live = 0;
        for (uint32_t w = 0; w < warps; w++) {
            const struct ww_warp_stream *stream = &cta->warp[w];
            while (at[w].step < stream->step_count && !step_once(q, stream, &at[w])) continue;
            live += at[w].step < stream->step_count;
        }
    }
}

static void finish(const struct ww_reuse *reuse, struct ww_profile *p) {
    p->cold = ww_reuse_lines(reuse);
    p->footprint = p->cold * WW_PROFILE_LINE;
    p->reuse_rate = ww_reuse_rate(reuse);
    for (unsigned k = 0; k < WW_REUSE_BUCKETS; k++) p->reuse[k] = ww_reuse_count(reuse, k);
}

enum ww_code ww_profile_launch(struct ww_trace *trace, size_t launch, struct ww_reuse *reuse,
                               ww_progress_fn progress, void *context, struct ww_profile *out,
                               struct ww_error *error) {
    struct profiler q = {.reuse = reuse, .p = out};
    WW_TRY(ww_trace_launch(trace, launch, &q.launch, error));
    *out = (struct ww_profile){0};
    ww_reuse_clear(reuse);
    for (uint64_t i = 0; (i = ww_trace_next_cta(trace, launch, i)) < q.launch->cta_count; i++) {
        struct ww_cta_trace cta;
        WW_TRY(ww_trace_load_cta(trace, launch, i, &cta, error));
        profile_cta(&q, &cta);
        ww_trace_release_cta(trace, &cta);
        double part =
            q.launch->warp_instructions ? (double)out->steps / (double)q.launch->warp_instructions : 1;
        if (progress && !progress(context, part, out->steps, "warp instructions"))
            return ww_fail(error, WW_FAIL, "profile", "stopped before the end");
    }
    finish(reuse, out);
    return WW_OK;
}
