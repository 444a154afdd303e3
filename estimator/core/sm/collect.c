/* Operand collectors and result buses of an SM, where the GPU has them (collect.units_sp above 0). */
#include "../../result/result.h"
#include "collect.h"

#include <string.h>

bool ww_collect_init(struct ww_sm *sm, struct ww_arena *arena) {
    const struct ww_gpu_spec *g = sm->core->gpu;
    if (!g->collect_units_sp || sm->barrel) return true;
    struct ww_collect *c = ww_arena_alloc(arena, sizeof *c);
    if (!c) return false;
    memset(c, 0, sizeof *c);
    c->units[WW_COLLECT_SP] = (uint8_t)g->collect_units_sp;
    c->units[WW_COLLECT_SFU] = (uint8_t)g->collect_units_sfu;
    c->units[WW_COLLECT_MEM] = (uint8_t)g->collect_units_mem;
    c->ports[WW_COLLECT_SP] = (uint8_t)g->collect_ports_sp;
    c->ports[WW_COLLECT_SFU] = (uint8_t)g->collect_ports_sfu;
    c->ports[WW_COLLECT_MEM] = (uint8_t)g->collect_ports_mem;
    sm->collect = c;
    return true;
}

static struct ww_collect_cycle *in_cycle(struct ww_collect *c, uint64_t cycle) {
    struct ww_collect_cycle *at = &c->at[cycle % WW_COLLECT_SPAN];
    if (at->cycle != cycle) *at = (struct ww_collect_cycle){.cycle = cycle};
    return at;
}

static uint32_t first_free(const uint64_t *until, uint32_t n) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < n; i++)
        if (until[i] < until[first]) first = i;
    return first;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Reads the operands, in the cycles after `cycle`; returns the last one in which it does. Of those that are
 * left, the first whose bank is free goes. */
static uint64_t read_operands(struct ww_sm *sm, const struct ww_dinst *d, uint64_t cycle) {
    const uint8_t *bank = sm->core->code.bank + d->bank;
    uint32_t left = (1u << d->reads) - 1;
    while (left) {
        struct ww_collect_cycle *at = in_cycle(sm->collect, ++cycle);
        uint32_t i = 0;
        for (uint32_t m = left; m; m &= m - 1) {
            i = (uint32_t)__builtin_ctz(m);
            if (at->banks >> bank[i] & 1) continue;
            at->banks |= 1ull << bank[i];
            left &= ~(1u << i);
            break;
        }
    }
    return cycle;
}

static void write_banks(struct ww_sm *sm, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_collect_cycle *at = in_cycle(sm->collect, cycle);
    const uint8_t *bank = sm->core->code.bank + d->bank + d->reads;
    for (uint32_t i = 0; i < d->writes; i++) at->banks |= 1ull << bank[i];
}

/* Instances of a group's unit, each with its own port. */
static uint32_t instances(const struct ww_core *core, uint32_t group) {
    return core->instances[group] ? core->instances[group] : core->gpu->sm_schedulers;
}

/* The first cycle from `cycle` on in which the units start it and a result bus will be free. */
static uint64_t start(struct ww_sm *sm, const struct ww_dinst *d, uint64_t cycle) {
    const struct ww_core *core = sm->core;
    struct ww_collect *c = sm->collect;
    uint64_t *port = sm->port[d->group], *port2 = d->group2 ? sm->port[d->group2] : NULL;
    uint32_t i = first_free(port, instances(core, d->group)), k = 0;
    cycle = later(cycle, port[i]);
    if (port2) {
        k = first_free(port2, instances(core, d->group2));
        cycle = later(cycle, port2[k]);
    }
    while (in_cycle(c, cycle + d->latency)->results >= core->gpu->collect_result_buses) {
        core->counter[WW_C_RESULT_BUS_WAIT]++;
        cycle++;
    }
    in_cycle(c, cycle + d->latency)->results++;
    port[i] = cycle + d->ii;
    if (port2) port2[k] = cycle + d->ii2;
    return cycle;
}

/* Schedulers find an instruction register of the class free from then on. */
static void set_free(struct ww_sm *sm, uint32_t class, uint64_t cycle) {
    for (uint32_t k = 0; k < sm->core->gpu->sm_schedulers; k++) {
        struct ww_sched *s = &sm->sched[k];
        if (class == WW_COLLECT_SFU) {
            s->unit_free[WW_G_SFU] = cycle;
            continue;
        }
        for (uint32_t g = WW_G_INT; g <= WW_G_FP64; g++) s->unit_free[g] = cycle;
        s->unit_free[WW_G_TENSOR] = cycle;
    }
}

uint64_t ww_collect_issue(struct ww_sm *sm, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_collect *c = sm->collect;
    uint32_t class = d->group == WW_G_SFU ? WW_COLLECT_SFU : WW_COLLECT_SP;
    uint64_t *stage = c->stage[class], *unit = c->unit[class], *out = c->out[class];
    uint32_t s = first_free(stage, c->ports[class]), u = first_free(unit, c->units[class]);
    uint32_t o = first_free(out, c->ports[class]);
    uint64_t taken = later(cycle + 1, unit[u]);
    uint64_t read = read_operands(sm, d, taken);
    uint64_t dispatched = later(read + 1, out[o]);
    uint64_t started = start(sm, d, dispatched + 1);
    stage[s] = taken;
    unit[u] = dispatched;
    out[o] = started;
    set_free(sm, class, stage[first_free(stage, c->ports[class])]);
    uint64_t delay = started - (cycle + 3 + d->reads);
    sm->core->counter[WW_C_COLLECT_DELAY] += delay;
    write_banks(sm, d, started + d->latency);
    return delay;
}

uint64_t ww_collect_memory(struct ww_sm *sm, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_collect *c = sm->collect;
    uint64_t *unit = c->unit[WW_COLLECT_MEM];
    uint32_t u = first_free(unit, c->units[WW_COLLECT_MEM]);
    uint64_t dispatched = read_operands(sm, d, later(cycle + 1, unit[u])) + 1;
    unit[u] = dispatched;
    uint64_t delay = dispatched - (cycle + 2 + d->reads);
    sm->core->counter[WW_C_COLLECT_DELAY] += delay;
    return delay;
}

uint64_t ww_collect_load(struct ww_sm *sm, const struct ww_dinst *d, uint64_t ready) {
    while (in_cycle(sm->collect, ready)->loads) ready++;
    in_cycle(sm->collect, ready)->loads = 1;
    write_banks(sm, d, ready);
    return ready;
}
