/* sass_run.c: the loop that executes a warp. */
#include "../../../estimator/base/hash.h"
#include "../../ptx/exec/window.h"
#include "grid.h"
#include <stdarg.h>

#define SPIN_FIRST 64u /* back edges between two looks at a loop's registers */
#define SPIN_AGAIN 8u
#define SPIN_RELEASE 4u      /* looks in a row without a change until waiting lanes are let go */
#define LONG_LOOP (1u << 20) /* back edges after which they are let go in any case */
#define WAIT_TRIES 64u       /* turns after which a wait at an mbarrier fails */

void ww_sx_fail(struct sx_warp *w, uint32_t lane, enum ww_code code, const char *fmt, ...) {
    struct sx_run *r = w->run;
    if (r->failed) return;
    r->failed = true;
    r->code = code;
    char where[420], text[600];
    const struct sx_kernel *k = r->kernel;
    const struct sx_inst *at = r->at;
    int n = snprintf(where, sizeof where, "%.120s: kernel %.80s, CTA (%u,%u,%u)", k->cubin->where,
                     k->entry->name, w->cta->ctaid[0], w->cta->ctaid[1], w->cta->ctaid[2]);
    if (lane < SX_LANES) {
        uint32_t t = w->index * SX_LANES + lane, x = r->block[0], y = r->block[1];
        n += snprintf(where + n, sizeof where - (size_t)n, ", thread (%u,%u,%u)", t % x, t / x % y, t / x / y);
    }
    if (at) {
        const char *file = "";
        uint32_t line = 0;
        n += snprintf(where + n, sizeof where - (size_t)n, ", offset 0x%x", at->src->offset);
        bool own = (uint32_t)(at - k->inst) < k->segment[0].count;
        if (own && ww_cubin_line(k->cubin, k->entry, at->src->offset, &file, &line))
            snprintf(where + n, sizeof where - (size_t)n, ", source %.60s:%u", file, line);
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ww_fail(r->error, code, where, "%s", text);
}

/* ---- spinning ---- */

/* A hash of the registers of the group's lanes: unchanged registers at a loop's end mean that the loop only
 * waits for memory to change. */
static uint64_t register_hash(const struct sx_warp *w, const struct sx_group *g) {
    const struct sx_kernel *k = w->run->kernel;
    const unsigned char *rows = w->base[0] + k->register_at;
    if (g->mask == SX_ALL) return ww_hash_bytes(rows, k->registers * SX_ROW + 64, g->pc);
    uint64_t h = g->pc;
    for (uint32_t n = 0; n < k->registers; n++) {
        const uint32_t *row = (const uint32_t *)(const void *)(rows + n * SX_ROW);
        for (uint32_t m = g->mask; m; m &= m - 1) h = ww_hash_mix(h ^ row[__builtin_ctz(m)]) + n;
    }
    const uint32_t *predicate = (const uint32_t *)(const void *)(w->base[0] + k->predicate_at);
    for (unsigned n = 0; n < 7; n++) h = ww_hash_mix(h ^ (predicate[n] & g->mask));
    return h;
}

/* Called at every taken back edge; true if the group only spins and should give way. Groups may have moved
 * then. */
static bool spins(struct sx_warp *w, uint32_t g) {
    struct sx_group *at = &w->group[g];
    at->back_edges++;
    bool is_long = at->back_edges % LONG_LOOP == 0;
    if (is_long && ww_sx_release_waiting(w)) return true;
    if (at->back_edges % (at->spin_turns ? SPIN_AGAIN : SPIN_FIRST)) return false;
    uint64_t h = register_hash(w, at);
    bool same = h == at->spin_hash;
    at->spin_hash = h;
    if (!same) {
        at->spin_turns = 0;
        return false;
    }
    if (++at->spin_turns > SPIN_RELEASE) {
        at->spin_turns = 1;
        ww_sx_release_waiting(w);
    }
    return true;
}

/* ---- the loop ---- */

/* What became of a group's turn. YIELD: nothing but that others may run. */
enum turn { TURN_BUDGET, TURN_EVENT, TURN_SPIN, TURN_YIELD };

/* Executes a branch or the like. True: the group goes on in this turn. */
static bool flow(struct sx_warp *w, uint32_t g, const struct sx_inst *i, uint32_t act, uint32_t pc,
                 enum turn *turn) {
    uint32_t mask = w->group[g].mask, count = w->group_count;
    bool goes_on = ww_sx_flow(w, g, i, act);
    const struct sx_group *at = &w->group[g];
    if (!goes_on && count == w->group_count && at->mask == mask && at->state == SX_RUN && at->spin_turns)
        *turn = TURN_YIELD;
    if (!goes_on || w->run->failed) return false;
    if (w->group[g].pc <= pc && w->group[g].mask == mask && count == w->group_count && spins(w, g)) {
        *turn = TURN_SPIN;
        return false;
    }
    return true;
}

/* A turn ends with the first jump after its budget; a short one with its budget. */
static enum turn run_group(struct sx_warp *w, uint32_t g, uint32_t budget, bool is_short, uint32_t *used) {
    struct sx_run *r = w->run;
    const struct sx_inst *code = r->kernel->inst;
    uint32_t mask = w->group[g].mask, pc = w->group[g].pc, n = 0, count = r->kernel->count;
    const struct record_entry *entry = r->recorder ? r->recorder->entry : NULL;
    uint32_t stop = is_short ? budget : UINT32_MAX;
    uint64_t threads = 0;
    enum turn turn = TURN_EVENT;
    for (;;) {
        if (pc >= count) {
            ww_sx_fail(w, (uint32_t)__builtin_ctz(mask), WW_EXEC, "execution runs beyond the end of the code");
            break;
        }
        const struct sx_inst *i = &code[pc];
        uint32_t act = sx_pred(w, i->guard);
        act = (i->guard_neg ? ~act : act) & mask;
        threads += act ? sx_count(act) : 1;
        n++;
        r->at = i;
        r->clock++;
        if (i->kind != SX_FLOW) {
            w->active = act;
            w->affine = false;
            if (act) i->fn(w, i, i->kind == SX_UNIFORM ? SX_ALL : act);
            if (r->failed) break;
            if (w->unmet) { /* a wait at an mbarrier suspends the threads for some time, then fails */
                w->unmet = false;
                w->group[g].pc = pc;
                if (++w->group[g].waits < WAIT_TRIES) {
                    turn = TURN_SPIN;
                    break;
                }
                w->group[g].waits = 0;
            }
            if (entry && entry[pc].access)
                ww_sx_record(w, i, act, act);
            else if (entry)
                sx_add_step(w, pc, act);
            pc++;
            if (n < stop) continue;
            w->group[g].pc = pc;
            turn = TURN_BUDGET;
            break;
        }
        w->group[g].pc = pc;
        if (!flow(w, g, i, act, pc, &turn)) break;
        pc = w->group[g].pc;
        mask = w->group[g].mask;
        if (n >= budget || w->released) {
            turn = TURN_BUDGET;
            break;
        }
        if (w->run->failed) break;
    }
    r->thread_instructions += threads;
    *used += n ? n : 1;
    return turn;
}

static bool next_runnable(struct sx_warp *w, uint32_t from) {
    for (uint32_t n = 0; n < w->group_count; n++) {
        uint32_t g = (from + n) % w->group_count;
        if (w->group[g].state != SX_RUN) continue;
        w->current = g;
        return true;
    }
    return false;
}

static bool at_barrier(const struct sx_warp *w) {
    for (uint32_t g = 0; g < w->group_count; g++)
        if (w->group[g].state == SX_AT_BAR) return true;
    return false;
}

uint32_t ww_sx_run_warp(struct sx_warp *w, uint32_t budget, bool *spinning) {
    uint32_t used = 0, spun = 0;
    struct sx_run *r = w->run;
    *spinning = false;
    bool is_short = w->released;
    if (is_short && budget > WW_TURN_RELEASED) budget = WW_TURN_RELEASED;
    w->released = false;
    while (used < budget && w->live && !r->failed && !w->released) {
        if (!next_runnable(w, w->current)) {
            if (at_barrier(w) || !ww_sx_release_waiting(w)) break;
            continue;
        }
        enum turn turn = run_group(w, w->current, budget - used, is_short, &used);
        if (r->thread_instructions > r->limit && !r->failed)
            ww_sx_fail(w, SX_LANES, WW_EXEC,
                       "the limit of %llu thread instructions is reached: an endless loop?",
                       (unsigned long long)r->limit);
        if (turn == TURN_YIELD) continue;
        if (turn != TURN_SPIN) {
            spun = 0;
            continue;
        }
        if (++spun >= w->group_count) {
            *spinning = true;
            break;
        }
        w->current = (w->current + 1) % w->group_count;
    }
    if (w->group_count > 1) w->current = (w->current + 1) % w->group_count;
    r->warp_instructions += used;
    return used;
}
