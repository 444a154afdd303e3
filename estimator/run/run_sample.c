/* Measures of units: warming, replay of a part, its cycles and joules. */
#include "../core/sm/occupancy.h"
#include "../result/result.h"
#include "run_sample.h"
#include "../mech/gov/governor.h"
#include <string.h>
#include <time.h>

/* Sectors that warming touches before a unit, in L2s full of them: after that many, the L2 holds what the
 * program would have left there. */
enum { WARM_L2S = 8 };
/* Sectors that a warp's access to memory touches, for how far back that is: four are 32 neighbouring words. */
enum { ACCESS_SECTORS = 4 };
/* Waves of the launch before that are replayed before a launch, and more waves before a window, to see what is
 * left of a cold start. */
enum { LONGER_WAVES = 2 };
/* Warp instructions from which a program is sampled: fewer are replayed in about a tenth of a second. */
#define SAMPLED_LEAST 200e3
/* Of the host, about instructions: of a warp instruction, of a sector at the L1, of one behind it in either
 * replay. */
#define COST_INST 900.0
#define COST_L1 800.0
#define COST_FULL 4000.0
#define COST_FAST 2400.0  /* within 3 % of the times of five of six programs on three GPUs */
#define PHASE_PS 8000000u /* units begin at any time of an interval of refreshes */

static double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the population -------------------------------------------------------------------------- */

static uint64_t count_memory(const struct ww_launch *launch, const struct ww_trace_content *content) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < launch->inst_count; i++)
        if (launch->inst[i].space == WW_SPACE_GLOBAL || launch->inst[i].space == WW_SPACE_TEX)
            n += content->inst_warps[i];
    return n;
}

/* Governors change the machine while a launch runs: its parts are not alike. */
static bool is_governed(const struct run *r) {
    const struct ww_governor_ops *g =
        (const struct ww_governor_ops *)(const void *)r->choice[WW_KIND_GOVERNOR].info;
    return g && g->adapts;
}

static enum ww_code describe(const struct run *r, uint64_t index, struct ww_frame_launch *out,
                             struct ww_error *error) {
    const struct ww_launch *l;
    struct ww_trace_content content;
    uint32_t ctas;
    const char *limiter;
    WW_TRY(ww_trace_launch(r->trace, index, &l, error));
    WW_TRY(ww_trace_get_content(r->trace, index, &content, error));
    WW_TRY(ww_occupancy(&r->options->gpu->spec, l, &ctas, &limiter, error));
    *out = (struct ww_frame_launch){.index = (uint32_t)index,
                                    .kernel = l->kernel ? l->kernel : "",
                                    .shared_bytes = l->shared_static + l->shared_dynamic,
                                    .ctas = l->cta_count,
                                    .warp_instructions = l->warp_instructions,
                                    .thread_instructions = l->thread_instructions,
                                    .memory_instructions = count_memory(l, &content),
                                    .resident = (uint64_t)ctas * r->options->gpu->spec.sm_count,
                                    .whole = content.ctas != l->cta_count || is_governed(r)};
    memcpy(out->block, l->block, sizeof out->block);
    return WW_OK;
}

/* Launches at the program's beginning that are all among their kernels' first: every sample has them. */
static size_t head_of(const struct ww_sampler *s) {
    size_t n = 0;
    while (n < s->frame.count && s->frame.unit[n].early && s->frame.unit[n].kind == WW_UNIT_LAUNCH) n++;
    return n;
}

enum ww_code ww_sampler_begin(struct run *r, struct ww_sampler *s, struct ww_error *error) {
    uint64_t n = 0;
    *s = (struct ww_sampler){.run = r};
    for (size_t i = 0; i < r->launches.count; i++)
        n += r->launches.range[i].last - r->launches.range[i].first + 1;
    s->launch = ww_arena_array(r->arena, n, sizeof *s->launch);
    if (!s->launch) return ww_fail_nomem(error, "a sample");
    for (size_t i = 0; i < r->launches.count; i++)
        for (uint64_t k = r->launches.range[i].first; k <= r->launches.range[i].last; k++) {
            WW_TRY(ww_run_goes_on(r, k, error));
            WW_TRY(describe(r, k, &s->launch[s->launches++], error));
        }
    WW_TRY(ww_frame_make(s->launch, s->launches, &ww_frame_shape, r->arena, &s->frame, error));
    s->head = head_of(s);
    if (r->options->weigh) WW_TRY(ww_run_costs(r, n, (uint64_t)s->frame.instructions, error));
    r->all_cost = 0; /* the plan's, when there is one */
    for (int i = 0; i < WW_WAYS; i++) s->kept[i] = ww_arena_array(r->arena, s->frame.count, sizeof *s->kept[i]);
    s->whole = ww_arena_array(r->arena, s->frame.count, sizeof *s->whole);
    return s->kept[0] && s->kept[1] && s->kept[2] && s->whole ? WW_OK : ww_fail_nomem(error, "a sample");
}

size_t ww_sampler_position(const struct ww_sampler *s, uint32_t launch) {
    size_t lo = 0, hi = s->launches;
    while (lo + 1 < hi) {
        size_t middle = (lo + hi) / 2;
        if (s->launch[middle].index <= launch)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* ---- replay ---------------------------------------------------------------------------------- */

void ww_sampler_reach(const struct ww_sampler *s, size_t position, uint64_t end, size_t *first,
                      uint64_t *from) {
    double left = (double)WARM_L2S * s->run->options->gpu->spec.l2_size_kb * 1024 / 32;
    for (;; end = s->launch[--position].ctas) {
        const struct ww_frame_launch *l = &s->launch[position];
        double per_cta = ACCESS_SECTORS * (double)l->memory_instructions / (double)l->ctas;
        *first = position;
        *from = 0;
        if (per_cta * (double)end >= left) {
            *from = end - (uint64_t)(left / per_cta);
            return;
        }
        left -= per_cta * (double)end;
        if (position == 0 || s->run->flush) return;
    }
}

/* Lets the caches see what lies before CTA `end` of the launch at `position`. */
static enum ww_code warm(struct ww_sampler *s, struct ww_engine *engine, size_t position, uint64_t end,
                         struct ww_warmed *warmed, struct ww_error *error) {
    double begun = now_seconds();
    size_t first;
    uint64_t from;
    ww_sampler_reach(s, position, end, &first, &from);
    for (; first <= position; first++, from = 0) {
        uint64_t to = first == position ? end : s->launch[first].ctas;
        WW_TRY(ww_engine_warm(engine, s->run->trace, s->launch[first].index, from, to, warmed, error));
    }
    s->warming_seconds += now_seconds() - begun;
    ww_sampler_spend(s, position, 0, (double)warmed->instructions);
    return WW_OK;
}

/* What is replayed for a unit: a part of its launch, before it perhaps the end of the launch before. */
struct stretch {
    size_t position;       /* of its launch */
    uint64_t from, before; /* first CTA of the part; CTAs of the launch before */
    bool in_step;          /* CTAs that fill the machine all begin at once */
    uint64_t mark[2];
    size_t marks;
};

static struct stretch stretch_of(const struct ww_sampler *s, const struct ww_unit *u, bool longer) {
    struct stretch out = {.position = ww_sampler_position(s, u->launch), .from = u->from};
    const struct ww_frame_launch *l = &s->launch[out.position];
    out.in_step = longer && u->kind == WW_UNIT_WINDOW;
    longer |= u->early; /* which only the CTAs directly before them can warm */
    if (u->kind == WW_UNIT_WINDOW || u->kind == WW_UNIT_TAIL) {
        uint64_t more = longer ? LONGER_WAVES * l->resident : 0;
        out.from = u->from > more ? u->from - more : 0;
        out.mark[out.marks++] = u->first;
    } else if (longer && out.position && !s->run->flush) {
        const struct ww_frame_launch *b = l - 1;
        out.before = b->ctas < LONGER_WAVES * b->resident ? b->ctas : LONGER_WAVES * b->resident;
    }
    if (u->kind == WW_UNIT_START || u->kind == WW_UNIT_WINDOW) out.mark[out.marks++] = u->end;
    return out;
}

static enum ww_code replay_part(struct ww_sampler *s, struct ww_engine *engine, size_t position,
                                const struct ww_engine_part *part, struct ww_arena *arena,
                                struct ww_launch_result *out, struct ww_error *error) {
    const struct ww_gpu_spec *spec = &s->run->options->gpu->spec;
    WW_TRY(ww_engine_part(engine, s->run->trace, s->launch[position].index, part, arena, out, error));
    out->index = s->launch[position].index;
    s->replayed += (double)out->warp_instructions;
    ww_sampler_spend(s, position, (double)out->warp_instructions, 0);
    return ww_launch_check(out, spec->sm_count, spec->sm_schedulers, error);
}

/* The segments between cycles [from, to), added up as if they were a launch. */
static struct ww_launch_result between(const struct ww_engine *engine, uint64_t from, uint64_t to) {
    struct ww_launch_result sum = {0};
    size_t count;
    const struct ww_segment *p = ww_engine_segments(engine, &count);
    for (size_t i = 0; i < count; i++) {
        if (p[i].first_cycle < from || p[i].first_cycle >= to) continue;
        sum.cycles += p[i].cycles;
        sum.time_ps += p[i].time_ps;
        for (int c = 0; c < WW_COUNTER_COUNT; c++) sum.counter[c] += p[i].counter[c];
    }
    return sum;
}

/* What the engine replayed last took, between two cycles; the launch gets its energy. */
static void take_measure(const struct ww_sampler *s, const struct ww_engine *engine, const uint64_t cycle[2],
                         struct ww_measure *out, struct ww_launch_result *launch) {
    const struct run *r = s->run;
    struct ww_launch_result sum = between(engine, cycle[0], cycle[1]);
    if (cycle[0] == 0) sum.time_ps += launch->counter[WW_C_LAUNCH_LATENCY_PS];
    out->there = true;
    out->ctas = launch->counter[WW_C_CTA_LAUNCHED];
    out->instructions = (double)sum.counter[WW_C_INST_ISSUED];
    out->y[WW_MEASURE_CYCLES] = (double)sum.cycles;
    out->y[WW_MEASURE_SECONDS] = (double)sum.time_ps * 1e-12;
    if (r->power) ww_power_launch(r->power, &r->options->gpu->spec, &sum, &sum.energy);
    out->y[WW_MEASURE_JOULES] = r->power ? sum.energy.total_j : 0;
    launch->energy = sum.energy;
}

static enum ww_code replay_stretch(struct ww_sampler *s, struct ww_engine *engine, const struct ww_unit *u,
                                   const struct stretch *st, struct ww_arena *arena, struct ww_measure *out,
                                   struct ww_launch_result *launch, struct ww_error *error) {
    struct ww_warmed warmed = {0};
    uint64_t cycle[2] = {0, UINT64_MAX},
             ends = st->position && st->before ? s->launch[st->position - 1].ctas : 0;
    size_t position = st->position - (st->before ? 1 : 0);
    WW_TRY(warm(s, engine, position, st->before ? ends - st->before : st->from, &warmed, error));
    if (st->before) {
        struct ww_engine_part part = {.first = ends - st->before, .end = UINT64_MAX};
        WW_TRY(replay_part(s, engine, position, &part, arena, launch, error));
        out->replayed += (double)launch->warp_instructions;
    }
    size_t first = u->kind == WW_UNIT_START ? 1 : 0;
    uint64_t work = 0;
    struct ww_engine_part part = {.first = st->from,
                                  .in_step = st->in_step,
                                  .work_first = u->first,
                                  .work_end = u->end,
                                  .work = &work,
                                  .end = u->kind == WW_UNIT_START || u->kind == WW_UNIT_WINDOW ? u->end + 1
                                                                                               : UINT64_MAX,
                                  .mark = st->mark,
                                  .mark_cycle = cycle + first,
                                  .mark_count = st->marks};
    WW_TRY(replay_part(s, engine, st->position, &part, arena, launch, error));
    out->replayed += (double)launch->warp_instructions;
    out->warmed = (double)warmed.instructions;
    if (u->kind == WW_UNIT_TAIL) cycle[1] = UINT64_MAX;
    take_measure(s, engine, cycle, out, launch);
    out->work = (double)work;
    return WW_OK;
}

/* A unit in the middle of a program meets refreshes, clocks' edges and random replacement in a state that may
 * be taken as random: random, with a seed from the unit alone. The first unit has what the program has. */
static uint64_t set_phase(const struct ww_sampler *s, const struct ww_unit *u, struct ww_engine_options *o) {
    struct ww_rng rng;
    if (u->from == 0 && u->launch == s->launch[0].index) return 0;
    ww_rng_seed(&rng, (uint64_t)u->launch << 40 ^ u->first);
    o->seed += ww_rng_next(&rng) >> 32;
    return ww_rng_next(&rng) % PHASE_PS;
}

static enum ww_code replay_head(struct ww_sampler *s, struct ww_engine *engine, struct ww_error *error) {
    const struct ww_engine_part all = {.end = UINT64_MAX};
    for (size_t u = 0; u < s->head; u++) { /* up to here units are launches */
        struct ww_launch_result *launch = ww_arena_array(s->run->arena, 1, sizeof *launch);
        struct ww_measure *out = &s->kept[0][u];
        if (!launch) return ww_fail_nomem(error, "a sample");
        WW_TRY(replay_part(s, engine, u, &all, s->run->arena, launch, error));
        take_measure(s, engine, (uint64_t[]){0, UINT64_MAX}, out, launch);
        out->replayed = (double)launch->warp_instructions;
        s->kept[1][u] = *out;
        s->whole[u] = launch;
    }
    return WW_OK;
}

/* The program's first launches in a row, as the program has them: nothing about them is estimated. */
static enum ww_code measure_head(struct ww_sampler *s, struct ww_error *error) {
    struct ww_engine_options options = ww_run_engine_options(s->run);
    struct ww_engine *engine;
    options.segments = true;
    enum ww_code code = ww_engine_new(&options, &engine, error);
    if (code == WW_OK) code = replay_head(s, engine, error);
    ww_engine_free(engine);
    return code;
}

/* Part of full replay's time that fast replay takes, of host instructions: COST_INST of each warp instruction
 * and COST_L1 of each sector at an L1 are the same in both, those of a sector behind it are not. */
static double fast_cost(const struct ww_launch_result *l) {
    const uint64_t *c = l->counter;
    double same = COST_INST * (double)c[WW_C_INST_ISSUED] +
                  COST_L1 * (double)(c[WW_C_L1_SECTOR_READ] + c[WW_C_L1_SECTOR_WRITE]);
    double behind = (double)(c[WW_C_XBAR_SECTOR_READ] + c[WW_C_XBAR_SECTOR_WRITE]);
    return same + behind > 0 ? (same + COST_FAST * behind) / (same + COST_FULL * behind) : 1;
}

/* Whether the program has launched the unit's kernel before it. */
static bool kernel_ran_before(const struct ww_sampler *s, const struct ww_unit *u) {
    const char *kernel = NULL;
    for (size_t i = s->launches; i-- > 0 && !kernel;)
        if (s->launch[i].index == u->launch) kernel = s->launch[i].kernel;
    if (u->from > 0) return true;
    for (size_t i = 0; kernel && i < s->launches && s->launch[i].index < u->launch; i++)
        if (strcmp(s->launch[i].kernel, kernel) == 0) return true;
    return false;
}

static enum ww_code measure_unit(struct ww_sampler *s, size_t unit, enum ww_measure_way way,
                                 struct ww_error *error) {
    const struct ww_unit *u = &s->frame.unit[unit];
    struct ww_engine_options options = ww_run_engine_options(s->run);
    struct ww_engine *engine;
    struct stretch st = stretch_of(s, u, way == WW_WAY_LONGER);
    bool keep = u->kind == WW_UNIT_LAUNCH && way == WW_WAY_DRAWN;
    struct ww_measure *out = &s->kept[way][unit];
    struct ww_arena own, *arena = keep ? s->run->arena : &own;
    struct ww_launch_result *launch = ww_arena_array(s->run->arena, 1, sizeof *launch);
    if (!launch) return ww_fail_nomem(error, "a sample");
    WW_TRY(ww_run_goes_on(s->run, u->launch, error)); /* a replay of few cycles does not call it */
    options.segments = true;
    options.fast = way == WW_WAY_FAST;
    options.code_known = kernel_ran_before(s, u);
    ww_arena_init(&own, 0);
    uint64_t phase = set_phase(s, u, &options);
    enum ww_code code = ww_engine_new(&options, &engine, error);
    if (code == WW_OK) {
        ww_engine_set_time(engine, phase);
        ww_engine_queued(engine, st.position > 0 && !s->run->flush);
    }
    if (code == WW_OK) code = replay_stretch(s, engine, u, &st, arena, out, launch, error);
    if (way == WW_WAY_FAST) out->cost = fast_cost(launch);
    ww_engine_free(engine);
    ww_arena_free(&own);
    if (code == WW_OK && keep) s->whole[unit] = launch;
    return code;
}

enum ww_code ww_sampler_measure(void *context, const struct ww_frame *frame, size_t unit,
                                enum ww_measure_way way, struct ww_measure *out, struct ww_error *error) {
    struct ww_sampler *s = context;
    (void)frame; /* the sampler's own */
    if (!s->kept[way][unit].there) {
        ww_sampler_begin_unit(s, unit, way);
        bool head = unit < s->head && way != WW_WAY_FAST;
        WW_TRY(head ? measure_head(s, error) : measure_unit(s, unit, way, error));
        ww_sampler_end_unit(s);
    }
    *out = s->kept[way][unit];
    return WW_OK;
}

enum ww_code ww_sampler_draw(struct ww_sampler *s, uint64_t seed, double target, double confidence,
                             struct ww_estimate *out, struct ww_error *error) {
    struct ww_sample_options o = {.seed = seed,
                                  .target = target,
                                  .confidence = confidence,
                                  .least = SAMPLED_LEAST,
                                  .energy = s->run->power != NULL,
                                  .variate = true,
                                  .measure = ww_sampler_measure,
                                  .plan = s->run->options->weigh ? ww_sampler_plan : NULL,
                                  .context = s};
    return ww_sample(&s->frame, &o, s->run->arena, out, error);
}
