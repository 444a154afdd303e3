/* simt_run.c: the loop that executes a warp. */
#include "../../../estimator/base/hash.h"
#include "simt.h"
#include "window.h"
#include <stdarg.h>
#include <string.h>

#define SPIN_FIRST 64u /* back edges between two looks at a loop's registers */
#define SPIN_AGAIN 8u
#define SPIN_RELEASE 4u      /* looks in a row without a change until waiting lanes are let go */
#define WAIT_TRIES 64u       /* turns after which a wait at an mbarrier fails */
#define LONG_LOOP (1u << 20) /* back edges after which they are let go in any case */

void ww_ex_fail(struct ex_warp *w, uint32_t lane, enum ww_code code, const char *fmt, ...) {
    struct ex_run *r = w->run;
    if (r->failed) return;
    r->failed = true;
    r->code = code;
    char where[320], text[600];
    const struct ptx_inst *src = r->at ? r->at->src : NULL;
    const struct ptx_module *m = r->kernel->module;
    int n = snprintf(where, sizeof where, "%.80s:%u: kernel %.80s, CTA (%u,%u,%u)", m->name,
                     src ? src->text_line : 0, r->kernel->entry->src->name, w->cta->ctaid[0], w->cta->ctaid[1],
                     w->cta->ctaid[2]);
    if (lane < EX_LANES && n > 0 && (size_t)n < sizeof where) {
        uint32_t t = w->index * EX_LANES + lane, x = r->block[0], y = r->block[1];
        n += snprintf(where + n, sizeof where - (size_t)n, ", thread (%u,%u,%u)", t % x, t / x % y, t / x / y);
    }
    if (r->at && r->at_func && n > 0 && (size_t)n < sizeof where)
        n += snprintf(where + n, sizeof where - (size_t)n, ", pc %u", (unsigned)(r->at - r->at_func->inst));
    if (src && src->line && n > 0 && (size_t)n < sizeof where)
        snprintf(where + n, sizeof where - (size_t)n, ", source %.60s:%u",
                 src->file < m->file_count ? m->file[src->file] : "", src->line);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ww_fail(r->error, code, where, "%s", text);
}

/* ---- spinning ---- */

/* A hash of the registers of the split's lanes: unchanged registers at a loop's end mean that the loop only
 * waits for memory to change. */
static uint64_t register_hash(const struct ex_split *s) {
    const struct ex_func *f = s->frame->func;
    if (s->mask == EX_ALL) return ww_hash_bytes(s->frame->regs, f->frame_bytes, s->pc);
    uint64_t h = s->pc;
    for (uint32_t r = 0; r < f->src->reg_count; r++) {
        if (f->slot[r] == EX_NO_SLOT) continue;
        const unsigned char *p = s->frame->regs + f->slot[r];
        uint32_t predicate;
        memcpy(&predicate, p, sizeof predicate);
        if (f->width[r] == 0) {
            h = ww_hash_mix(h ^ (predicate & s->mask));
            continue;
        }
        for (uint32_t m = s->mask; m; m &= m - 1) {
            uint64_t v = 0;
            size_t width = f->width[r] == 4 ? 4 : 8;
            memcpy(&v, p + (size_t)__builtin_ctz(m) * width, width);
            h = ww_hash_mix(h ^ v) + r;
        }
    }
    return h;
}

/* Called at every taken back edge; true if the split only spins and should give way. */
static bool spins(struct ex_warp *w, uint32_t s) {
    struct ex_split *at = &w->split[s];
    at->back_edges++;
    if (at->back_edges % LONG_LOOP == 0) ww_simt_release_waiting(w, s);
    if (at->back_edges % (at->spin_turns ? SPIN_AGAIN : SPIN_FIRST)) return false;
    uint64_t h = register_hash(at);
    bool same = h == at->spin_hash;
    at->spin_hash = h;
    if (!same) {
        at->spin_turns = 0;
        return false;
    }
    if (++at->spin_turns > SPIN_RELEASE && ww_simt_release_waiting(w, s)) at->spin_turns = 1;
    return true;
}

/* ---- instructions that wait for other lanes of the warp ---- */

static uint32_t members(struct ex_warp *w, const struct ex_inst *i, uint32_t act) {
    if (i->members == EX_NO_SLOT) return act;
    return (uint32_t)ex_lane(w, i->members, 4, (unsigned)__builtin_ctz(act)) & w->live;
}

/* Whether another split waits together with split s. */
static bool same_wait(const struct ex_split *a, const struct ex_split *b) {
    if (a->state != b->state) return false;
    return a->state == SPLIT_WSYNC || (a->pc == b->pc && a->frame == b->frame);
}

/* Executes a warp-wide instruction for all splits that wait at it with s, and lets them go on. */
static void complete_wait(struct ex_warp *w, uint32_t s) {
    struct ex_split first = w->split[s];
    const struct ex_inst *i = &first.frame->func->inst[first.pc];
    uint32_t all = 0;
    for (uint32_t n = 0; n < w->split_count; n++)
        if (same_wait(&first, &w->split[n])) all |= w->split[n].act;
    ww_simt_use_frame(w, first.frame);
    if (i->kind == EX_WOP) i->fn(w, i, all);
    ww_record_inst(w, i, all, 0);
    for (uint32_t n = 0; n < w->split_count; n++) {
        if (!same_wait(&first, &w->split[n])) continue;
        w->split[n].state = SPLIT_RUN;
        w->split[n].pc++;
    }
}

static void wait_for_lanes(struct ex_warp *w, uint32_t s, const struct ex_inst *i, uint32_t act) {
    struct ex_split *at = &w->split[s];
    uint32_t need = members(w, i, act), have = 0;
    at->act = act;
    at->state = i->kind == EX_WSYNC ? SPLIT_WSYNC : SPLIT_WOP;
    for (uint32_t n = 0; n < w->split_count; n++)
        if (same_wait(at, &w->split[n])) have |= w->split[n].act;
    if ((need & ~have) == 0) complete_wait(w, s);
}

/* ---- control flow ---- */

static void branch_indexed(struct ex_warp *w, uint32_t s, const struct ex_inst *i, uint32_t act) {
    struct ex_split *at = &w->split[s];
    const uint32_t *index = ex_src(w, i->a);
    uint32_t pc = at->pc;
    for (uint32_t m = act; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (index[l] < i->list_count) continue;
        ww_ex_fail(w, l, WW_EXEC, "brx.idx: index %u in a list of %u targets", index[l], i->list_count);
        return;
    }
    if (act != at->mask && !ww_simt_diverge(w, s, at->mask & ~act, pc + 1, pc, i->reconv)) return;
    for (uint32_t left = act; left;) {
        uint32_t target = i->list[index[__builtin_ctz(left)]], same = 0;
        for (uint32_t m = left; m; m &= m - 1)
            if (i->list[index[__builtin_ctz(m)]] == target) same |= m & (0u - m);
        left &= ~same;
        if (left && !ww_simt_diverge(w, s, same, target, pc, i->reconv)) return;
        if (!left) w->split[s].pc = target;
    }
}

/* An intrinsic of bulk transfers: configuring goes on at once, a start waits for the other warps. */
static bool bulk_transfer(struct ex_warp *w, uint32_t s, const struct ex_inst *i, uint32_t act) {
    struct ex_split *at = &w->split[s];
    uint32_t buffer;
    if (!ww_ex_is_dma_start(i->callee->name)) {
        ww_ex_dma_configure(w, i, act);
        ww_record_inst(w, i, act, act);
        at->pc++;
        return true;
    }
    if (act != at->mask && !ww_simt_diverge(w, s, at->mask & ~act, at->pc + 1, at->pc, (int32_t)at->pc + 1))
        return false;
    if (!ww_ex_dma_execute(w, i, act, &buffer)) return false;
    ww_simt_barrier_dma(w, s, act, buffer);
    if (!w->run->failed) ww_record_inst(w, i, act, 0);
    return false;
}

/* Executes instructions of its kind; true if the split's run goes on at split->pc without a new look. */
static bool control(struct ex_warp *w, uint32_t s, const struct ex_inst *i, uint32_t act) {
    struct ex_split *at = &w->split[s];
    if (act == 0) {
        ww_record_inst(w, i, 0, 0);
        at->pc++;
        return true;
    }
    unsigned lane = (unsigned)__builtin_ctz(act);
    switch (i->kind) {
    case EX_BRX:
        ww_record_inst(w, i, act, act);
        branch_indexed(w, s, i, act);
        return false;
    case EX_CALL:
        ww_record_inst(w, i, act, act);
        ww_ex_call(w, s, i, act);
        return false;
    case EX_RET:
        ww_record_inst(w, i, act, act);
        ww_ex_return(w, s, act);
        return false;
    case EX_EXIT:
        ww_record_inst(w, i, act, act);
        at->pc++;
        ww_simt_exit(w, s, act);
        return false;
    case EX_BAR:
        if (act != at->mask && !ww_simt_diverge(w, s, at->mask & ~act, at->pc + 1, at->pc, (int32_t)at->pc + 1))
            return false;
        if (i->sub == PTX_SUB_CLUSTER_ARRIVE || i->sub == PTX_SUB_CLUSTER_WAIT)
            ww_simt_cluster(w, s, i, act);
        else
            ww_simt_barrier(w, s, i, act);
        if (!w->run->failed) ww_record_inst(w, i, act, 0);
        return false;
    case EX_DMA:
        return bulk_transfer(w, s, i, act);
    case EX_WSYNC:
    case EX_WOP:
        wait_for_lanes(w, s, i, act);
        return false;
    case EX_SLEEP:
        w->value = ex_lane(w, i->a, i->aw, lane);
        ww_record_inst(w, i, act, 0);
        at->pc++;
        return false;
    default:
        ww_ex_fail(w, lane, WW_EXEC, "trap");
        return false;
    }
}

/* All lanes go back: if the loop is one that spins, nothing has happened since they came to it. */
static void go_round(struct ex_warp *w, struct ex_split *at, const struct ex_inst *i, uint32_t mask) {
    uint32_t last = i->record_first + i->record_count - 1;
    if (i->record_count && w->run->recorder->entry[last].loop)
        ww_spin_again(w->run->recorder, last, mask, &w->stream, &at->watch);
}

/* What became of a split's turn. */
enum turn { TURN_BUDGET, TURN_EVENT, TURN_SPIN };

static enum turn run_split(struct ex_warp *w, uint32_t s, uint32_t budget, uint32_t *used) {
    struct ex_run *r = w->run;
    struct ex_split *at = &w->split[s];
    ww_simt_use_frame(w, at->frame);
    const struct ex_inst *code = at->frame->func->inst;
    bool joins = at->join >= 0 && w->join[at->join].frame == at->frame;
    uint32_t join_pc = joins ? w->join[at->join].pc : UINT32_MAX, mask = at->mask, n = 0, pc = at->pc;
    uint64_t threads = 0;
    enum turn turn = TURN_BUDGET;
    r->at_func = at->frame->func;
    for (; n < budget; n++) {
        if (pc == join_pc) {
            at->pc = pc;
            ww_simt_arrive(w, s);
            turn = TURN_EVENT;
            goto out;
        }
        const struct ex_inst *i = &code[pc];
        uint32_t act = mask;
        if (i->guard != EX_NO_SLOT) {
            uint32_t p;
            memcpy(&p, w->base[0] + i->guard, sizeof p);
            act &= i->guard_neg ? ~p : p;
        }
        threads += act ? (uint32_t)__builtin_popcount(act) : 1;
        r->at = i;
        r->clock++;
        if (i->kind <= EX_MEM) {
            if (act) i->fn(w, i, act);
            if (r->failed) break;
            if (w->unmet) { /* a wait at an mbarrier suspends the threads for some time, then fails */
                w->unmet = false;
                if (++at->waits < WAIT_TRIES) {
                    at->pc = pc;
                    turn = TURN_SPIN;
                    n++;
                    goto out;
                }
                at->waits = 0;
            }
            ww_record_inst(w, i, act, 0);
            pc++;
        } else if (i->kind == EX_BRA) {
            ww_record_inst(w, i, mask, act);
            if (act && act != mask) {
                at->pc = pc;
                ww_simt_diverge(w, s, act, i->target, pc + 1, i->reconv);
                turn = TURN_EVENT;
                n++;
                goto out;
            }
            pc = act ? i->target : pc + 1;
            if (!act || !i->is_back_edge) continue;
            if (r->recorder && r->recorder->spins) go_round(w, at, i, mask);
            at->pc = pc;
            if (spins(w, s)) {
                turn = TURN_SPIN;
                n++;
                goto out;
            }
        } else {
            at->pc = pc;
            if (!control(w, s, i, act)) {
                turn = TURN_EVENT;
                n++;
                goto out;
            }
            pc = at->pc;
        }
    }
    at->pc = pc;
out:
    r->thread_instructions += threads;
    *used += n ? n : 1;
    return turn;
}

static bool next_runnable(struct ex_warp *w, uint32_t from) {
    for (uint32_t n = 0; n < w->split_count; n++) {
        uint32_t s = (from + n) % w->split_count;
        if (w->split[s].state != SPLIT_RUN) continue;
        w->current = s;
        return true;
    }
    return false;
}

/* Lanes that wait for members that do not come: goes on with those that are there. */
static bool force_wait(struct ex_warp *w) {
    for (uint32_t s = 0; s < w->split_count; s++) {
        if (w->split[s].state != SPLIT_WOP && w->split[s].state != SPLIT_WSYNC) continue;
        if (ww_simt_release_waiting(w, s)) return true;
        complete_wait(w, s);
        return true;
    }
    return false;
}

uint32_t ww_simt_run_warp(struct ex_warp *w, uint32_t budget, bool *spinning) {
    uint32_t used = 0, spun = 0;
    struct ex_run *r = w->run;
    *spinning = false;
    if (w->released && budget > WW_TURN_RELEASED) budget = WW_TURN_RELEASED;
    w->released = false;
    while (used < budget && w->live && !r->failed && !w->released) {
        if (!next_runnable(w, w->current)) {
            if (!force_wait(w)) break;
            continue;
        }
        enum turn turn = run_split(w, w->current, budget - used, &used);
        if (r->thread_instructions > r->limit && !r->failed)
            ww_ex_fail(w, EX_LANES, WW_EXEC,
                       "the limit of %llu thread instructions is reached: an endless loop?",
                       (unsigned long long)r->limit);
        if (turn != TURN_SPIN) {
            spun = 0;
            continue;
        }
        if (++spun >= w->split_count) {
            *spinning = true;
            break;
        }
        w->current = (w->current + 1) % w->split_count;
    }
    if (w->split_count > 1) w->current = (w->current + 1) % w->split_count;
    r->warp_instructions += used;
    return used;
}
