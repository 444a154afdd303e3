/* Replays of parts of launches, and the warming that goes before them. */
#include "../sm/occupancy.h"
#include "../../api/trace.h"
#include "../../result/result.h"
#include "../sm/coalesce.h"
#include "engine_internal.h"
#include "staggered_start.h"
#include "../memory/warm.h"

#include <stdlib.h>

struct source {
    struct ww_trace *trace;
    size_t launch;
    const struct ww_engine_part *part;
    struct ww_staggered_start under_way;
};

static enum ww_code load_cta(void *context, uint64_t cta, struct ww_cta_trace *out, struct ww_error *error) {
    const struct source *s = context;
    WW_TRY(ww_trace_load_cta(s->trace, s->launch, cta, out, error));
    if (s->part->work && cta >= s->part->work_first && cta < s->part->work_end)
        for (uint32_t i = 0; i < out->warp_count; i++) *s->part->work += out->warp[i].step_count;
    ww_staggered_start_skip(&s->under_way, out);
    return WW_OK;
}

static void release_cta(void *context, struct ww_cta_trace *cta) {
    const struct source *s = context;
    ww_trace_release_cta(s->trace, cta);
}

static uint64_t next_cta(void *context, uint64_t cta) {
    const struct source *s = context;
    uint64_t next = ww_trace_next_cta(s->trace, s->launch, cta > s->part->first ? cta : s->part->first);
    return next < s->part->end ? next : UINT64_MAX;
}

enum ww_code ww_engine_part(struct ww_engine *engine, struct ww_trace *trace, size_t index,
                            const struct ww_engine_part *part, struct ww_arena *arena,
                            struct ww_launch_result *out, struct ww_error *error) {
    struct source from = {.trace = trace, .launch = index, .part = part};
    struct ww_cta_source source = {&from, load_cta, release_cta, next_cta};
    const struct ww_launch *launch;
    struct ww_arena own;
    WW_TRY(ww_trace_launch(trace, index, &launch, error));
    if (part->work) *part->work = 0;
    if (part->first == 0 && !engine->broken) ww_engine_copies(engine, launch);
    if (ww_engine_waited(engine, launch)) engine->queued = false;
    ww_arena_init(&own, 0);
    enum ww_code code = ww_staggered_start_begin(&from.under_way, &engine->gpu, launch,
                                                 part->in_step ? 0 : part->first, &own, error);
    engine->marks = (struct ww_marks){part->mark, part->mark_cycle, part->mark_count};
    for (size_t i = 0; i < part->mark_count; i++) part->mark_cycle[i] = UINT64_MAX;
    if (code == WW_OK) code = ww_engine_replay(engine, launch, &source, arena, out, error);
    engine->marks = (struct ww_marks){0};
    ww_arena_free(&own);
    return code;
}

/* ---- warming --------------------------------------------------------------------------------- */

/* How far a warp's accesses have been looked at. */
struct cursor {
    const struct ww_step *step, *end;
    const struct ww_access *access;
    const uint64_t *pool;
};

struct warming {
    struct ww_engine *engine;
    struct ww_trace *trace;
    size_t index;
    const struct ww_launch *launch;
    struct ww_coalescer coalescer;
    uint32_t line_shift;
    uint64_t next, last;      /* CTAs: the next to come, and past the last */
    uint32_t slots;           /* CTAs at a time, as many as the machine holds */
    struct ww_cta_trace *cta; /* by slot; warp NULL: none */
    struct cursor *cursor;    /* by slot and warp */
    struct ww_warmed *warmed;
};

/* Whether the instruction's accesses reach the L2 with addresses that are the same on every SM: local memory
 * lies where the warp runs, and copies by DMA engines have lists of their own. */
static bool reaches_l2(const struct ww_inst *in) {
    if (in->space != WW_SPACE_GLOBAL && in->space != WW_SPACE_TEX) return false;
    switch (in->op) {
    case WW_OP_LOAD:
    case WW_OP_STORE:
    case WW_OP_ATOMIC:
    case WW_OP_REDUCE:
    case WW_OP_TEXTURE:
    case WW_OP_ASYNC_COPY:
        return true;
    default:
        return false;
    }
}

static enum ww_mem_kind kind_of(const struct ww_inst *in) {
    if (in->op == WW_OP_STORE) return WW_MEM_WRITE;
    return in->op == WW_OP_ATOMIC || in->op == WW_OP_REDUCE ? WW_MEM_ATOMIC : WW_MEM_READ;
}

/* The 32-byte chunks that are fetched for a load of `chunks`: an L1 fills whole sectors. */
static uint32_t filled(const struct ww_gpu_spec *g, const struct ww_inst *in, uint32_t chunks) {
    bool texture = in->op == WW_OP_TEXTURE || in->space == WW_SPACE_TEX;
    bool read_only = texture || ((in->flags & WW_INST_READ_ONLY) && (g->tex_read_only_loads || !g->tex_kb));
    uint32_t n = g->l1_sector / 32, whole = (1u << n) - 1, out = 0;
    if (kind_of(in) != WW_MEM_READ || in->flags & WW_INST_BYPASS_L1 || (read_only && g->tex_kb)) return chunks;
    if (!g->l1_enabled || !(g->l1_global_loads || read_only)) return chunks;
    for (uint32_t at = 0; at < 8; at += n)
        if (chunks >> at & whole) out |= whole << at;
    return out & (uint32_t)((1ull << ww_gpu_request_line(g) / 32) - 1);
}

static void warm_access(struct warming *w, uint16_t sm, const struct ww_inst *in, const struct cursor *at) {
    struct ww_coalescer *c = &w->coalescer;
    ww_coalesce(c, at->access, at->pool, at->step->mask, in->width);
    for (uint32_t i = 0; i < c->count; i++) {
        const struct ww_line_request *r = &c->request[i];
        struct ww_mem_request q = {.address = r->key << w->line_shift,
                                   .sectors = filled(&w->engine->gpu, in, r->chunks),
                                   .sm = sm,
                                   .kind = (uint8_t)kind_of(in),
                                   .bytes = r->bytes,
                                   .fine = 1};
        ww_memsys_warm(w->engine->memory, &q);
        w->warmed->sectors += ww_bits8((uint8_t)r->chunks);
    }
}

/* Goes on to behind the warp's next access; false: it has none any more. */
static bool warm_warp(struct warming *w, uint16_t sm, struct cursor *at) {
    for (; at->step < at->end; at->step++) {
        const struct ww_inst *in = &w->launch->inst[at->step->inst];
        w->warmed->instructions++;
        if (!(in->flags & WW_INST_ACCESS)) continue;
        bool meets = at->step->mask && reaches_l2(in);
        if (meets) warm_access(w, sm, in, at);
        at->access++;
        if (!meets) continue;
        at->step++;
        return true;
    }
    return false;
}

static enum ww_code fill_slot(struct warming *w, uint32_t slot, struct ww_error *error) {
    struct ww_cta_trace *cta = &w->cta[slot];
    if (w->next >= w->last) return WW_OK;
    WW_TRY(ww_trace_load_cta(w->trace, w->index, w->next, cta, error));
    if (cta->warp_count != w->launch->warps_per_cta) {
        ww_trace_release_cta(w->trace, cta);
        cta->warp = NULL;
        return ww_fail(error, WW_INPUT, "", "CTA %llu has %u warps, expected %u", (unsigned long long)w->next,
                       cta->warp_count, w->launch->warps_per_cta);
    }
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        const struct ww_warp_stream *s = &cta->warp[i];
        w->cursor[(size_t)slot * cta->warp_count + i] =
            (struct cursor){s->step, s->step + s->step_count, s->access, s->pool};
    }
    w->next = ww_trace_next_cta(w->trace, w->index, w->next + 1);
    return WW_OK;
}

/* The accesses of as many CTAs as are resident at once, in turn: about the order in which they would come. */
static enum ww_code warm_all(struct warming *w, struct ww_error *error) {
    uint32_t warps = w->launch->warps_per_cta, sms = w->engine->gpu.sm_count;
    bool more = true;
    for (uint32_t s = 0; s < w->slots; s++) WW_TRY(fill_slot(w, s, error));
    while (more) {
        more = false;
        for (uint32_t s = 0; s < w->slots; s++) {
            bool lives = false;
            if (!w->cta[s].warp) continue;
            for (uint32_t i = 0; i < warps; i++)
                lives |= warm_warp(w, (uint16_t)(s % sms), &w->cursor[(size_t)s * warps + i]);
            if (!lives) {
                ww_trace_release_cta(w->trace, &w->cta[s]);
                w->cta[s].warp = NULL;
                WW_TRY(fill_slot(w, s, error));
            }
            more |= w->cta[s].warp != NULL;
        }
    }
    return WW_OK;
}

static enum ww_code begin_warming(struct warming *w, uint64_t first, uint64_t end, struct ww_arena *arena,
                                  struct ww_error *error) {
    uint32_t line = ww_gpu_request_line(&w->engine->gpu), ctas;
    const char *limiter;
    WW_TRY(ww_trace_launch(w->trace, w->index, &w->launch, error));
    WW_TRY(ww_occupancy(&w->engine->gpu, w->launch, &ctas, &limiter, error));
    w->line_shift = (uint32_t)__builtin_ctz(line);
    ww_coalesce_init(&w->coalescer, line);
    w->next = ww_trace_next_cta(w->trace, w->index, first);
    w->last = end < w->launch->cta_count ? end : w->launch->cta_count;
    w->slots = ctas * w->engine->gpu.sm_count;
    if (w->slots > w->launch->cta_count) w->slots = (uint32_t)w->launch->cta_count;
    w->cta = ww_arena_array(arena, w->slots, sizeof *w->cta);
    w->cursor = ww_arena_array(arena, (size_t)w->slots * w->launch->warps_per_cta, sizeof *w->cursor);
    return w->cta && w->cursor ? WW_OK : ww_fail_nomem(error, "warming");
}

enum ww_code ww_engine_warm(struct ww_engine *engine, struct ww_trace *trace, size_t index, uint64_t first,
                            uint64_t end, struct ww_warmed *warmed, struct ww_error *error) {
    struct ww_arena arena;
    ww_arena_init(&arena, 0);
    struct warming *w = ww_arena_array(&arena, 1, sizeof *w);
    if (!w) return ww_fail_nomem(error, "warming");
    w->engine = engine;
    w->trace = trace;
    w->index = index;
    w->warmed = warmed;
    enum ww_code code = begin_warming(w, first, end, &arena, error);
    if (code == WW_OK && first == 0 && end > 0) ww_engine_copies(engine, w->launch);
    if (code == WW_OK) code = warm_all(w, error);
    for (uint32_t s = 0; w->cta && s < w->slots; s++)
        if (w->cta[s].warp) ww_trace_release_cta(trace, &w->cta[s]);
    ww_arena_free(&arena);
    return code;
}

void ww_engine_set_time(struct ww_engine *engine, uint64_t ps) {
    if (ps <= engine->end_ps) return;
    engine->end_ps = ps;
    ww_memsys_end_launch(engine->memory, ps);
}
