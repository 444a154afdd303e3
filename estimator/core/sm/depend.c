/* Dependence counters of warps, where the compiler's control fields are obeyed. */
#include "depend.h"
#include "../../result/result.h"
#include "warp_head.h"

#include <string.h>

bool ww_depend_init(struct ww_sm *sm, struct ww_arena *arena) {
    const struct ww_core *core = sm->core;
    uint32_t warps = core->gpu->sm_max_warps;
    size_t room = (size_t)WW_DEPEND_COUNTERS * core->code.level_room;
    if (!core->code.control) return true;
    sm->depend = ww_arena_array(arena, warps, sizeof *sm->depend);
    if (!sm->depend || !core->code.levels) return sm->depend != NULL;
    uint64_t *latest = ww_arena_array(arena, warps * room, sizeof *latest);
    for (uint32_t i = 0; latest && i < warps; i++) sm->depend[i].latest = latest + i * room;
    return latest != NULL;
}

void ww_depend_begin(struct ww_sm *sm, struct ww_warp *w, uint32_t id) {
    const struct ww_code_table *code = &sm->core->code;
    uint64_t *latest = sm->depend[id].latest;
    sm->depend[id] = (struct ww_depend){.latest = latest};
    if (latest) memset(latest, 0, (size_t)WW_DEPEND_COUNTERS * code->level_room * sizeof *latest);
    w->depend = &sm->depend[id];
}

/* ---- counters ---- */

/* A level that is waited for: the counter is at most that many. */
static uint64_t level_entry(const struct ww_depend *x, const struct ww_code_table *code, uint32_t counter,
                            uint32_t level, uint64_t state) {
    if (x->open[counter] > level) return WW_SB(WW_NEVER, state);
    return WW_SB(x->latest[counter * code->level_room + level - x->open[counter]], state);
}

/* The counter has changed: updates the scoreboard entries of those that wait for it. */
static void show(const struct ww_sm *sm, struct ww_warp *w, uint32_t counter, uint64_t state) {
    const struct ww_code_table *code = &sm->core->code;
    const struct ww_depend *x = w->depend;
    if (!x->open[counter])
        w->board[counter] = x->until[counter];
    else if (WW_SB_CYCLE(w->board[counter]) != WW_NEVER)
        w->board[counter] = WW_SB(WW_NEVER, state);
    for (uint32_t i = 0; i < code->levels; i++)
        if (code->level[i].counter == counter)
            w->board[WW_DEPEND_COUNTERS + i] = level_entry(x, code, counter, code->level[i].level, state);
}

/* Keeps the latest ends in order, as many as levels need. */
static void keep(const struct ww_sm *sm, struct ww_depend *x, uint32_t counter, uint64_t cycle) {
    uint32_t room = sm->core->code.level_room;
    uint64_t *list = x->latest + counter * room;
    if (cycle <= list[room - 1]) return;
    uint32_t i = room - 1;
    for (; i > 0 && list[i - 1] < cycle; i--) list[i] = list[i - 1];
    list[i] = cycle;
}

/* An operation of the counter ends at the entry's cycle. */
static void end_at(const struct ww_sm *sm, struct ww_warp *w, uint32_t counter, uint64_t entry) {
    struct ww_depend *x = w->depend;
    if (entry > x->until[counter]) x->until[counter] = entry;
    if (x->latest) keep(sm, x, counter, WW_SB_CYCLE(entry));
    show(sm, w, counter, WW_SB_STATE(entry));
}

static void add(const struct ww_sm *sm, struct ww_warp *w, uint32_t counter, uint64_t entry) {
    if (WW_SB_CYCLE(entry) == WW_NEVER) {
        w->depend->open[counter]++;
        show(sm, w, counter, WW_SB_STATE(entry));
    } else {
        end_at(sm, w, counter, entry);
    }
}

static void take_away(const struct ww_sm *sm, struct ww_warp *w, uint32_t counter, uint64_t entry) {
    w->depend->open[counter]--;
    end_at(sm, w, counter, entry);
}

void ww_depend_open(struct ww_sm *sm, struct ww_warp *w, uint32_t counter) {
    add(sm, w, counter, WW_SB(WW_NEVER, (uint64_t)WW_S_WAIT_SHARED));
}

void ww_depend_close(struct ww_sm *sm, struct ww_warp *w, uint32_t counter, uint64_t entry) {
    take_away(sm, w, counter, entry);
}

/* ---- groups of asynchronous copies ---- */

/* A counter waits for the copies so far. */
static void end_group(const struct ww_sm *sm, struct ww_warp *w, uint32_t counter, uint64_t cycle) {
    struct ww_depend *x = w->depend;
    uint64_t at = x->copied_at > cycle ? x->copied_at : cycle;
    if (x->copied == x->copies) {
        add(sm, w, counter, WW_SB(at, (uint64_t)WW_S_WAIT_L1));
        return;
    }
    if (x->groups == WW_COPY_GROUPS) { /* the last one grows */
        x->group[WW_COPY_GROUPS - 1] = x->copies;
        return;
    }
    x->group[x->groups] = x->copies;
    x->group_counter[x->groups++] = (uint8_t)counter;
    add(sm, w, counter, WW_SB(WW_NEVER, (uint64_t)WW_S_WAIT_L1));
}

void ww_depend_copied(struct ww_sm *sm, struct ww_warp *w, uint64_t entry) {
    struct ww_depend *x = w->depend;
    uint32_t state = WW_SB_STATE(entry);
    if (WW_SB_CYCLE(entry) > x->copied_at) x->copied_at = WW_SB_CYCLE(entry);
    x->copied++;
    while (x->groups && x->group[0] <= x->copied) {
        uint32_t counter = x->group_counter[0];
        x->groups--;
        memmove(x->group, x->group + 1, x->groups * sizeof x->group[0]);
        memmove(x->group_counter, x->group_counter + 1, x->groups);
        take_away(sm, w, counter, WW_SB(x->copied_at, (uint64_t)state));
    }
}

/* ---- instructions ---- */

void ww_depend_issue(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle,
                     uint64_t entry) {
    if (d->async) w->depend->copies++;
    if (d->ends_group)
        end_group(sm, w, d->write_counter, cycle + d->latency);
    else if (d->write_counter != WW_NO_COUNTER)
        add(sm, w, d->write_counter, entry);
    if (d->read_counter == WW_NO_COUNTER) return;
    uint64_t read = d->action == WW_A_LSU ? WW_NEVER : cycle + d->read_after;
    if (d->queued) read = WW_SB_CYCLE(entry) - d->latency + d->read_after; /* with what it waits in the queue */
    add(sm, w, d->read_counter, WW_SB(read, (uint64_t)WW_S_WAIT_READ));
}

void ww_depend_written(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t entry) {
    if (d->write_counter != WW_NO_COUNTER) take_away(sm, w, d->write_counter, entry);
}

void ww_depend_read(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t taken,
                    uint64_t cycle) {
    if (d->read_counter == WW_NO_COUNTER) return;
    take_away(sm, w, d->read_counter, WW_SB(taken - 1 + d->read_after, (uint64_t)WW_S_WAIT_READ));
    ww_warp_arrival(sm, w, cycle, WW_S_WAIT_READ);
}

uint64_t ww_depend_unseen(const struct ww_warp *w, const struct ww_dinst *d, uint32_t counters) {
    uint64_t latest = 0;
    for (uint32_t i = 0; i < d->check_count; i++) {
        bool unseen = d->check[i] < WW_DEPEND_COUNTERS && (counters >> d->check[i]) & 1;
        if (!unseen && w->board[d->check[i]] > latest) latest = w->board[d->check[i]];
    }
    return latest;
}
