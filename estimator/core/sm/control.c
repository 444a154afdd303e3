/* The compiler's control fields of a launch's code: stall counts and dependence counters. */
#include "control.h"
#include "../../result/result.h"

#include <stdlib.h>
#include <string.h>

/* The number of an architecture's name, sm_90 and sm_90a alike; 0: it has none. */
static unsigned long arch_number(const char *name) {
    return name && strncmp(name, "sm_", 3) == 0 ? strtoul(name + 3, NULL, 10) : 0;
}

bool ww_control_applies(const struct ww_gpu_spec *gpu, const struct ww_launch *launch) {
    unsigned long code = arch_number(launch->arch);
    if (gpu->core_dependences != WW_DEPENDENCES_CONTROL || !code || code != arch_number(gpu->arch))
        return false;
    for (uint32_t i = 0; i < launch->inst_count; i++)
        if (!(launch->inst[i].flags & WW_INST_CONTROL)) return false;
    return true;
}

/* Cycles from an issue to the warp's next one, with the two combinations that mean something else. */
static uint8_t stall_cycles(const struct ww_control *c) {
    if (c->stall == 0 && c->yield) return 46; /* 45 cycles in which it does not issue */
    if (c->stall > 11 && !c->yield) return 2;
    if (c->stall <= 1) return c->yield ? 2 : 1;
    return c->stall;
}

/* Cycles from an issue until the sources are read. */
static uint8_t read_cycles(const struct ww_gpu_spec *gpu, const struct ww_dinst *d, bool indexed) {
    bool shared = d->path <= WW_L_SHARED_ATOMIC;
    bool store = d->path == WW_L_STORE || d->path == WW_L_ATOMIC || d->path == WW_L_SHARED_ATOMIC ||
                 (d->path == WW_L_SHARED && d->stores);
    if (d->action == WW_A_CONST && indexed) return (uint8_t)gpu->core_read_const_cycles;
    if (d->action != WW_A_LSU) return (uint8_t)gpu->core_read_shared_cycles;
    if (!store) return (uint8_t)(shared ? gpu->core_read_shared_cycles : gpu->core_read_cycles);
    uint32_t more = d->width == 16 ? 6 : d->width == 8 ? 2 : 0;
    return (uint8_t)(more + (shared ? gpu->core_read_store_shared_cycles : gpu->core_read_store_cycles));
}

/* The scoreboard entry of a counter's level; 0 is the counter's own. More levels than there is room for are
 * waited for as 0. */
static uint16_t level_entry(struct ww_code_table *code, uint8_t counter, uint8_t level) {
    uint32_t i = 0;
    if (level == 0) return counter;
    while (i < code->levels && (code->level[i].counter != counter || code->level[i].level != level)) i++;
    if (i == WW_DEPEND_LEVELS) return counter;
    if (i == code->levels) code->level[code->levels++] = (struct ww_depend_level){counter, level};
    if (code->level_room < level + 1u) code->level_room = level + 1u;
    return (uint16_t)(WW_DEPEND_COUNTERS + i);
}

static void wait_for(struct ww_dinst *d, uint32_t set) {
    for (uint32_t i = 0; i < WW_DEPEND_COUNTERS; i++)
        if ((set >> i) & 1) d->few[d->check_count++] = (uint16_t)i;
}

void ww_control_decode(const struct ww_gpu_spec *gpu, const struct ww_inst *in, struct ww_code_table *code,
                       struct ww_dinst *d) {
    const struct ww_control *c = &in->control;
    uint32_t set = c->wait;
    bool wide = c->stall > 1 || c->yield;
    d->stall = stall_cycles(c);
    d->write_counter = c->write_barrier < WW_DEPEND_COUNTERS ? c->write_barrier : WW_NO_COUNTER;
    d->read_counter = c->read_barrier < WW_DEPEND_COUNTERS ? c->read_barrier : WW_NO_COUNTER;
    d->read_after = read_cycles(gpu, d, in->src_count && in->src[0].reg < WW_REG_PRED);
    d->ends_group = in->op == WW_OP_ASYNC_WAIT && d->write_counter != WW_NO_COUNTER;
    d->counts = d->write_counter != WW_NO_COUNTER || d->read_counter != WW_NO_COUNTER || d->async;
    d->unseen = d->counts && !wide;
    if ((d->group == WW_G_FP64 || d->group == WW_G_SFU) && gpu->core_unit_queue > 0 &&
        ww_pipe_instances(gpu, (enum ww_group)d->group) == gpu->sm_schedulers) {
        d->queued = true;
        d->room = (uint16_t)(gpu->core_unit_queue * d->ii);
    }
    d->check = d->few;
    d->check_count = d->result_count = 0;
    if (in->op == WW_OP_ASYNC_WAIT && !d->ends_group) {
        set |= WW_DEPBAR_SET(in->barrier_threads);
        if (in->barrier < WW_DEPEND_COUNTERS)
            d->few[d->check_count++] =
                level_entry(code, in->barrier, (uint8_t)WW_DEPBAR_LEVEL(in->barrier_threads));
    }
    wait_for(d, set);
}
