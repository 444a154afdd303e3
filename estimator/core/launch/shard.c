/* The SMs of a launch stepped by several threads, with the results of one. */
#include "alone.h"
#include "engine_internal.h"
#include "../../result/result.h"
#include "shard.h"

#include <stdlib.h>
#include <string.h>

uint32_t ww_shard_shift(uint32_t sms, uint32_t threads) {
    uint32_t shift = 6;
    if (threads < 2 || sms < WW_THREADS_SMS) return shift;
    while (shift && sms >> shift < 4 * threads && (sms - 1) >> (shift - 1) < 64) shift--;
    return shift;
}

static enum ww_code begin(struct ww_shard *s, struct ww_core *core, struct ww_arena *arena,
                          struct ww_error *error) {
    struct ww_epochs epochs = s->core.epochs;
    struct ww_pool pool = s->core.pool;
    size_t insts = (size_t)core->launch->inst_count + 1;
    struct ww_inst_count *inst = ww_arena_lines(arena, insts, sizeof *inst);
    struct ww_issue_count *issued = ww_arena_lines(arena, insts, sizeof *issued);
    ww_pool_free(&pool);
    memset(s, 0, sizeof *s);
    s->core = *core;
    s->core.epochs = epochs;
    s->core.pool = pool;
    s->core.counter = s->counter;
    s->core.error = &s->error;
    if (!inst || !issued) return ww_fail_nomem(error, "groups of SMs");
    return ww_epochs_begin(&s->core.epochs, (uint32_t)core->epochs.length, inst, issued, error);
}

static struct ww_shard *new_shards(uint32_t count) {
    struct ww_shard *s = aligned_alloc(2 * WW_HOST_LINE, count * sizeof *s);
    if (s) memset(s, 0, count * sizeof *s);
    return s;
}

enum ww_code ww_shards_begin(struct ww_core *core, struct ww_team *team, struct ww_arena *arena,
                             struct ww_shard **kept, struct ww_error *error) {
    if (!*kept) *kept = new_shards(core->groups);
    if (!*kept) return ww_fail_nomem(error, "groups of SMs");
    core->team = team;
    for (uint32_t g = 0; g < core->groups; g++) WW_TRY(begin(&(*kept)[g], core, arena, error));
    core->shard = *kept;
    return WW_OK;
}

void ww_shard_step(struct ww_shard *s, uint32_t group, uint64_t cycle) {
    ww_epochs_reach(&s->core, cycle);
    ww_core_step_group(&s->core, group, cycle);
}

void ww_shard_alone(struct ww_shard *s, uint32_t group, uint64_t cycle) {
    ww_epochs_reach(&s->core, cycle);
    ww_alone_group(&s->core, group, cycle);
}

void ww_shards_count(const struct ww_core *core, uint64_t *n) {
    for (uint32_t g = 0; g < core->groups; g++)
        for (int i = 0; i < WW_COUNTER_COUNT; i++) n[i] += core->shard[g].counter[i];
}

static void add_inst(struct ww_inst_count *to, const struct ww_inst_count *n) {
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++) to->counter[i] += n->counter[i];
    for (int s = 0; s < WW_STATE_COUNT; s++) to->stall[s] += n->stall[s];
}

static void add_epochs(struct ww_epochs *to, const struct ww_epochs *e) {
    if (e->count > to->count) ww_epochs_advance(to, (e->count - 1) * e->length);
    for (size_t i = 0; i < e->count && i < to->count; i++) {
        to->row[i].warp_instructions += e->row[i].warp_instructions;
        for (int s = 0; s < WW_STATE_COUNT; s++) to->row[i].warp_cycles[s] += e->row[i].warp_cycles[s];
    }
}

void ww_shards_end(struct ww_core *core) {
    for (uint32_t g = 0; g < core->groups; g++) {
        struct ww_core *s = &core->shard[g].core;
        ww_epochs_settle(&s->epochs, core->launch->inst_count);
        core->resident_warp_cycles += s->resident_warp_cycles;
        add_epochs(&core->epochs, &s->epochs);
        for (uint32_t i = 0; i <= core->launch->inst_count; i++)
            add_inst(&core->epochs.inst[i], &s->epochs.inst[i]);
    }
}

void ww_shards_free(struct ww_shard *kept, uint32_t count) {
    for (uint32_t g = 0; kept && g < count; g++) {
        ww_pool_free(&kept[g].core.pool);
        ww_epochs_free(&kept[g].core.epochs);
    }
    free(kept);
}
