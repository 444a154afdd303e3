/* concurrent_result.c: what each of several launches that ran concurrently counted.
 *
 * Exact by launch: all that follows from instructions (issues, lanes, registers, states of warps, sectors of
 * the L1 and what of them the L2 missed), times, CTAs. Other counts are the machine's; they are shared out in
 * proportion to issued instructions (of SMs) or to sectors that went to the L2 (behind them), so that their sum
 * and every law between them hold. */
#include "concurrent.h"
#include "../sm/warp_head.h"

#include <stdlib.h>
#include <string.h>

/* A launch's share under way. */
struct share {
    struct ww_launch_result *out;
    const struct ww_concurrent_grid *grid;
    int64_t first_cycle; /* active cycles begin */
    uint64_t states[WW_STATE_COUNT];
};

struct shares {
    struct share *of;
    uint32_t count;
    const uint64_t *total;
};

static uint64_t *n_of(const struct shares *s, uint32_t i) {
    return s->of[i].out->counter;
}

/* ---- what instructions say ---- */

static enum ww_counter read_counter(const struct ww_dinst *d) {
    if (d->path == WW_L_STORE) return WW_C_L1_SECTOR_WRITE;
    if (d->path == WW_L_ATOMIC) return WW_C_L2_ATOMIC;
    return d->cache == WW_CACHE_TEX ? WW_C_TEX_SECTOR_READ : WW_C_L1_SECTOR_READ;
}

static void add_sectors(const struct ww_dinst *d, const struct ww_inst_count *own, uint64_t *n) {
    bool tex = d->cache == WW_CACHE_TEX;
    n[read_counter(d)] += own->counter[WW_I_SECTORS];
    n[tex ? WW_C_TEX_SECTOR_MISS : WW_C_L1_SECTOR_MISS] += own->counter[WW_I_L1_MISS];
    n[tex ? WW_C_TEX_SECTOR_MERGED : WW_C_L1_SECTOR_MERGED] += own->counter[WW_I_L1_MERGED];
    n[WW_C_L2_SECTOR_MISS] += own->counter[WW_I_L2_MISS];
    n[WW_C_L2_SECTOR_MERGED] += own->counter[WW_I_L2_MERGED];
    n[WW_C_SHARED_CONFLICTS] += own->counter[WW_I_SHARED_CONFLICTS];
}

static void count_instructions(const struct ww_core *core, struct share *s) {
    const struct ww_concurrent_grid *g = s->grid;
    uint64_t *n = s->out->counter;
    ww_segments_of(core, g->first_inst, g->launch->inst_count, n);
    for (uint32_t i = g->first_inst; i < g->first_inst + g->launch->inst_count; i++) {
        const struct ww_inst_count *own = &core->epochs.inst[i];
        uint32_t action = core->code.inst[i].action;
        if (action == WW_A_LSU || action == WW_A_TMA) add_sectors(&core->code.inst[i], own, n);
        for (uint32_t k = 0; k < WW_STATE_COUNT; k++)
            if (k != WW_S_DONE) s->states[k] += own->stall[k];
    }
    uint64_t known = 0;
    for (uint32_t k = 0; k < WW_STATE_COUNT; k++) known += s->states[k];
    s->states[WW_S_DONE] = g->warp_cycles - known;
    n[WW_C_DUAL_ISSUED] = n[WW_C_INST_ISSUED] - s->states[WW_S_ISSUED];
    n[WW_C_XBAR_SECTOR_READ] = n[WW_C_L1_SECTOR_MISS] + n[WW_C_TEX_SECTOR_MISS] + n[WW_C_L2_ATOMIC];
    n[WW_C_XBAR_SECTOR_WRITE] = n[WW_C_L2_SECTOR_WRITE] = n[WW_C_L1_SECTOR_WRITE];
    n[WW_C_L1_SECTOR_HIT] = n[WW_C_L1_SECTOR_READ] - n[WW_C_L1_SECTOR_MERGED] - n[WW_C_L1_SECTOR_MISS];
    n[WW_C_TEX_SECTOR_HIT] = n[WW_C_TEX_SECTOR_READ] - n[WW_C_TEX_SECTOR_MERGED] - n[WW_C_TEX_SECTOR_MISS];
}

/* ---- what the machine counted ---- */

/* The part of a counter that instructions do not give is divided in proportion to another counter. */
static void divide(const struct shares *s, int counter, int by) {
    uint64_t rest = s->total[counter], given = 0;
    long double all = 0, sum = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        rest -= n_of(s, i)[counter] < rest ? n_of(s, i)[counter] : rest;
        all += (long double)n_of(s, i)[by];
    }
    for (uint32_t i = 0; i < s->count; i++) {
        sum += (long double)n_of(s, i)[by];
        uint64_t until = all > 0 ? (uint64_t)((long double)rest * (sum / all)) : 0;
        if (i + 1 == s->count || until > rest) until = rest;
        n_of(s, i)[counter] += until - given;
        given = until;
    }
}

/* The part of one counter that is another's: no launch gets more than it has of that. */
static void divide_part(const struct shares *s, int counter, int of) {
    uint64_t left = 0, all = 0;
    for (uint32_t i = 0; i < s->count; i++) all += n_of(s, i)[of];
    left = s->total[counter];
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t have = n_of(s, i)[of], part = 0;
        if (all) part = (uint64_t)((long double)left * ((long double)have / (long double)all));
        if (part < left && left - part > all - have) part = left - (all - have);
        if (part > have) part = have;
        n_of(s, i)[counter] = part;
        left -= part;
        all -= have;
    }
}

/* Sectors that page walks asked of the L2: at least those that explain what it missed for the launch. */
static void divide_walks(const struct shares *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t *n = n_of(s, i), asked = n[WW_C_L2_SECTOR_MERGED] + n[WW_C_L2_SECTOR_MISS];
        n[WW_C_TLB_WALK_SECTOR] = asked > n[WW_C_XBAR_SECTOR_READ] ? asked - n[WW_C_XBAR_SECTOR_READ] : 0;
    }
    divide(s, WW_C_TLB_WALK_SECTOR, WW_C_XBAR_REQUEST);
}

static bool behind_the_sm(int counter) {
    return counter >= WW_C_XBAR_REQUEST;
}

/* Counters that are settled otherwise: by instructions, by times, as parts, or as sums of others. */
static const int settled[] = {
    WW_C_SM_ACTIVE_CYCLES,  WW_C_SM_IDLE_CYCLES,    WW_C_LAUNCH_FRONT_CYCLES, WW_C_LAUNCH_END_CYCLES,
    WW_C_LAUNCH_LATENCY_PS, WW_C_LAUNCH_HIDDEN_PS,  WW_C_CTA_LAUNCHED,        WW_C_CTA_CYCLES,
    WW_C_DUAL_ISSUED,       WW_C_L1_SECTOR_READ,    WW_C_L1_SECTOR_HIT,       WW_C_L1_SECTOR_MERGED,
    WW_C_L1_SECTOR_MISS,    WW_C_L1_SECTOR_WRITE,   WW_C_L1_WRITE_HIT,        WW_C_L1_WRITE_MISS,
    WW_C_TEX_SECTOR_READ,   WW_C_TEX_SECTOR_HIT,    WW_C_TEX_SECTOR_MERGED,   WW_C_TEX_SECTOR_MISS,
    WW_C_SHARED_CONFLICTS,  WW_C_SHARED_PASSES,     WW_C_FETCH_STREAM,        WW_C_FETCH_L15,
    WW_C_XBAR_SECTOR_READ,  WW_C_XBAR_SECTOR_WRITE, WW_C_L2_SECTOR_READ,      WW_C_L2_SECTOR_HIT,
    WW_C_L2_SECTOR_MERGED,  WW_C_L2_SECTOR_MISS,    WW_C_L2_SECTOR_WRITE,     WW_C_L2_WRITE_HIT,
    WW_C_L2_WRITE_MISS,     WW_C_L2_ATOMIC,         WW_C_TLB_L1_ACCESS,       WW_C_TLB_L1_MISS,
    WW_C_TLB_L2_ACCESS,     WW_C_TLB_WALK,          WW_C_TLB_WALK_SECTOR,     WW_C_DRAM_SECTOR_READ,
    WW_C_DRAM_SECTOR_WRITE, WW_C_XBAR_REQUEST};

static bool is_settled(int counter) {
    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        if (settled[i] == counter) return true;
    return false;
}

/* What stands on one side of a law only. */
static void sum_up(uint64_t *n) {
    n[WW_C_SHARED_PASSES] = n[WW_C_MEM_INST_SHARED] + n[WW_C_SHARED_WIDE] + n[WW_C_SHARED_CONFLICTS];
    n[WW_C_FETCH_L15] = n[WW_C_FETCH_L0_MISS] + n[WW_C_FETCH_AHEAD] - n[WW_C_FETCH_STREAM];
    n[WW_C_L1_WRITE_MISS] = n[WW_C_L1_SECTOR_WRITE] - n[WW_C_L1_WRITE_HIT];
    n[WW_C_L2_WRITE_MISS] = n[WW_C_L2_SECTOR_WRITE] - n[WW_C_L2_WRITE_HIT];
    n[WW_C_TLB_WALK] = n[WW_C_TLB_L2_MISS];
    n[WW_C_TLB_L2_ACCESS] = n[WW_C_TLB_L2_HIT] + n[WW_C_TLB_L2_MISS];
    n[WW_C_TLB_L1_MISS] = n[WW_C_TLB_MERGED] + n[WW_C_TLB_L2_ACCESS];
    n[WW_C_TLB_L1_ACCESS] = n[WW_C_TLB_L1_HIT] + n[WW_C_TLB_L1_MISS];
    n[WW_C_L2_SECTOR_READ] = n[WW_C_XBAR_SECTOR_READ] + n[WW_C_TLB_WALK_SECTOR];
    n[WW_C_L2_SECTOR_HIT] = n[WW_C_L2_SECTOR_READ] - n[WW_C_L2_SECTOR_MERGED] - n[WW_C_L2_SECTOR_MISS];
    n[WW_C_DRAM_SECTOR_READ] = n[WW_C_L2_SECTOR_MISS] + n[WW_C_L2_PREFETCH] + n[WW_C_L2_WRITE_FETCH];
    n[WW_C_DRAM_SECTOR_WRITE] = n[WW_C_L2_WRITEBACK] + n[WW_C_L2_WRITE_THROUGH];
}

static void divide_counters(const struct shares *s) {
    for (uint32_t i = 0; i < s->count; i++) { /* until it is settled itself: sectors to the L2 */
        uint64_t *n = n_of(s, i);
        n[WW_C_XBAR_REQUEST] = n[WW_C_XBAR_SECTOR_READ] + n[WW_C_XBAR_SECTOR_WRITE];
    }
    for (int c = 0; c < WW_COUNTER_COUNT; c++)
        if (!is_settled(c)) divide(s, c, behind_the_sm(c) ? WW_C_XBAR_REQUEST : WW_C_INST_ISSUED);
    divide_part(s, WW_C_L1_WRITE_HIT, WW_C_L1_SECTOR_WRITE);
    divide_part(s, WW_C_L2_WRITE_HIT, WW_C_L2_SECTOR_WRITE);
    divide_part(s, WW_C_FETCH_STREAM, WW_C_FETCH_L0_MISS);
    divide_walks(s);
    for (uint32_t i = 0; i < s->count; i++) {
        sum_up(n_of(s, i));
        n_of(s, i)[WW_C_XBAR_REQUEST] = 0;
    }
    divide(s, WW_C_XBAR_REQUEST, WW_C_XBAR_REQUEST_FLIT);
}

/* ---- times ---- */

/* Since the group's start, in elapsed time. */
static uint64_t elapsed(const struct ww_core *core, const struct ww_concurrent_grid *root, uint64_t cycle) {
    uint64_t ps = ww_clock_time(&core->clock, cycle) - core->start_ps + root->time.latency_ps;
    return ps > root->time.hidden_ps ? ps - root->time.hidden_ps : 0;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of each span what is others': time in which several are under way is shared evenly. span: begin and end of
 * each, one after the other; edge: room for as many. */
static void share_time(const int64_t *span, uint32_t count, int64_t *edge, uint64_t *shared) {
    for (uint32_t i = 0; i < 2 * count; i++) edge[i] = span[i];
    qsort(edge, 2 * (size_t)count, sizeof *edge, compare);
    for (uint32_t i = 0; i < count; i++) shared[i] = (uint64_t)(span[2 * i + 1] - span[2 * i]);
    for (uint32_t e = 0; e + 1 < 2 * count; e++) {
        uint64_t length = (uint64_t)(edge[e + 1] - edge[e]), active = 0, given = 0, k = 0;
        for (uint32_t i = 0; i < count; i++) active += span[2 * i] <= edge[e] && span[2 * i + 1] >= edge[e + 1];
        if (!length || !active) continue;
        for (uint32_t i = 0; i < count; i++) {
            if (span[2 * i] > edge[e] || span[2 * i + 1] < edge[e + 1]) continue;
            uint64_t until = length / active * (k + 1) + length % active * (k + 1) / active;
            shared[i] -= until - given;
            given = until;
            k++;
        }
    }
}

static enum ww_code times(const struct ww_core *core, const struct shares *s, struct ww_error *error) {
    const struct ww_concurrent_grid *root = s->of[0].grid;
    int64_t *span = calloc(8 * (size_t)s->count, sizeof *span);
    uint64_t *shared = calloc(2 * (size_t)s->count, sizeof *shared);
    if (!span || !shared) {
        free(span);
        free(shared);
        return ww_fail_nomem(error, "launches");
    }
    int64_t *cycle = span + 2 * s->count, *edge = cycle + 2 * s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        struct share *l = &s->of[i];
        const struct ww_concurrent_grid *g = l->grid;
        l->first_cycle = (int64_t)g->ready - (int64_t)g->time.front;
        l->out->cycles = (uint64_t)((int64_t)g->end - l->first_cycle);
        l->out->start_ps = g->begin ? elapsed(core, root, g->begin) : 0;
        l->out->time_ps = elapsed(core, root, g->end) - l->out->start_ps;
        span[2 * i] = (int64_t)l->out->start_ps;
        span[2 * i + 1] = (int64_t)(l->out->start_ps + l->out->time_ps);
        cycle[2 * i] = l->first_cycle;
        cycle[2 * i + 1] = (int64_t)g->end;
    }
    share_time(span, s->count, edge, shared);
    share_time(cycle, s->count, edge, shared + s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        s->of[i].out->shared_ps = shared[i];
        s->of[i].out->shared_cycles = shared[s->count + i];
    }
    free(span);
    free(shared);
    return WW_OK;
}

static void count_times(const struct ww_gpu_spec *gpu, const struct shares *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        const struct ww_concurrent_grid *g = s->of[i].grid;
        uint64_t *n = n_of(s, i);
        n[WW_C_SM_ACTIVE_CYCLES] = g->active_cycles;
        n[WW_C_SM_IDLE_CYCLES] = s->of[i].out->cycles * gpu->sm_count - g->active_cycles;
        n[WW_C_LAUNCH_FRONT_CYCLES] = g->time.front;
        n[WW_C_LAUNCH_END_CYCLES] = g->time.end;
        n[WW_C_LAUNCH_LATENCY_PS] = g->time.latency_ps;
        n[WW_C_LAUNCH_HIDDEN_PS] = g->time.hidden_ps;
        n[WW_C_CTA_LAUNCHED] = g->launched;
        n[WW_C_CTA_CYCLES] = g->cta_cycles;
    }
}

/* SM cycles in which several have CTAs are counted once in all, by how much each was active. */
static void share_active(const struct shares *s) {
    uint64_t all = 0, once = s->total[WW_C_SM_ACTIVE_CYCLES], seen = 0, given = 0;
    for (uint32_t i = 0; i < s->count; i++) all += s->of[i].grid->active_cycles;
    uint64_t twice = all > once ? all - once : 0;
    for (uint32_t i = 0; i < s->count; i++) {
        seen += s->of[i].grid->active_cycles;
        uint64_t until = all ? (uint64_t)((long double)twice * ((long double)seen / (long double)all)) : 0;
        if (i + 1 == s->count || until > twice) until = twice;
        uint64_t own =
            until - given < s->of[i].grid->active_cycles ? until - given : s->of[i].grid->active_cycles;
        s->of[i].out->shared_active = own;
        given = until;
    }
}

/* ---- issue slots ---- */

/* Slots of SMs with CTAs of the launch in which it issued nothing are lost to what its own warps did then. */
static void count_slots(const struct ww_gpu_spec *gpu, struct share *l) {
    struct ww_launch_result *out = l->out;
    uint64_t schedulers = gpu->sm_schedulers, sms = gpu->sm_count, lost[WW_SLOT_COUNT] = {0}, all = 0;
    uint64_t issued = out->counter[WW_C_INST_ISSUED] - out->counter[WW_C_DUAL_ISSUED];
    uint64_t active = l->grid->active_cycles * schedulers, rest = active > issued ? active - issued : 0;
    for (uint32_t k = 0; k < WW_STATE_COUNT; k++)
        if (ww_slot_cause[k] != WW_SLOT_ISSUED) lost[ww_slot_cause[k]] += l->states[k];
    for (uint32_t k = 0; k < WW_SLOT_COUNT; k++) all += lost[k];
    out->slot[WW_SLOT_ISSUED] = issued;
    out->slot[WW_SLOT_LAUNCH] = sms * schedulers * (l->grid->time.front + l->grid->time.end);
    uint64_t used = issued + out->slot[WW_SLOT_LAUNCH];
    for (uint32_t k = 0; k < WW_SLOT_COUNT && all; k++) {
        uint64_t part = (uint64_t)((long double)rest * ((long double)lost[k] / (long double)all));
        out->slot[k] += part;
        used += part;
    }
    out->slot[WW_SLOT_EMPTY] += sms * schedulers * out->cycles - used;
}

/* ---- a result ---- */

static enum ww_code describe(const struct ww_concurrent *b, struct share *l, struct ww_arena *arena,
                             struct ww_error *error) {
    struct ww_launch_result *out = l->out;
    const struct ww_launch *in = l->grid->launch;
    uint64_t sms = b->engine->gpu.sm_count;
    *out = (struct ww_launch_result){.index = (uint32_t)l->grid->index,
                                     .ctas_per_sm = l->grid->ctas_per_sm,
                                     .registers_per_thread = in->registers_per_thread,
                                     .shared_bytes = in->shared_static + in->shared_dynamic,
                                     .resident_warp_cycles = l->grid->warp_cycles,
                                     .concurrent = b->number,
                                     .stream = in->order.stream};
    out->occupancy_limiter = in->cta_count < l->grid->ctas_per_sm * sms ? "grid" : l->grid->limiter;
    memcpy(out->grid, in->grid, sizeof out->grid);
    memcpy(out->block, in->block, sizeof out->block);
    out->kernel = ww_arena_strdup(arena, in->kernel ? in->kernel : "");
    out->point_count = 1;
    out->point = ww_arena_array(arena, 1, sizeof *out->point);
    if (!out->kernel || !out->point) return ww_fail_nomem(error, "a launch");
    memcpy(out->point[0].mhz, b->engine->core.mhz, sizeof out->point[0].mhz);
    return WW_OK;
}

static enum ww_code finish(struct ww_engine *e, struct share *l, struct ww_arena *arena,
                           struct ww_error *error) {
    struct ww_launch_result *out = l->out;
    out->warp_instructions = out->counter[WW_C_INST_ISSUED];
    out->thread_instructions = out->counter[WW_C_THREAD_INST];
    memcpy(out->warp_cycles, l->states, sizeof out->warp_cycles);
    count_slots(&e->gpu, l);
    if (!e->options.per_pc) return WW_OK;
    return ww_engine_rows(&e->core, l->grid->launch, l->grid->first_inst,
                          e->options.pc_arena ? e->options.pc_arena : arena, out, error);
}

enum ww_code ww_concurrent_results(struct ww_concurrent *b, struct ww_arena *arena,
                                   struct ww_launch_result *out, struct ww_error *error) {
    struct ww_engine *e = b->engine;
    struct shares s = {calloc(b->count, sizeof *s.of), b->count, e->core.counter};
    enum ww_code code = s.of ? WW_OK : ww_fail_nomem(error, "launches");
    for (uint32_t i = 0; i < b->count && code == WW_OK; i++) {
        s.of[i].out = &out[i];
        s.of[i].grid = &b->grid[i];
        code = describe(b, &s.of[i], arena, error);
        if (code == WW_OK) count_instructions(&e->core, &s.of[i]);
    }
    if (code == WW_OK) {
        divide_counters(&s);
        code = times(&e->core, &s, error);
    }
    if (code == WW_OK) {
        count_times(&e->gpu, &s);
        share_active(&s);
    }
    for (uint32_t i = 0; i < b->count && code == WW_OK; i++) code = finish(e, &s.of[i], arena, error);
    free(s.of);
    return code;
}
