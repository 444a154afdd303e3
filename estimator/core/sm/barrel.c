/* The in-order barrel pipeline of an SM, where a mechanism of kind "pipe" gives it one. */
#include "../../result/result.h"
#include "barrel.h"
#include "lsu_queue.h"

static const struct ww_subwarp bubble = {0};

bool ww_barrel_init(struct ww_sm *sm, struct ww_arena *arena) {
    if (!sm->core->pipe_plan.stages) return true;
    sm->barrel = ww_arena_array(arena, 1, sizeof *sm->barrel);
    if (!sm->barrel) return false;
    for (uint32_t w = 0; w < 64; w++) sm->barrel->first[w] = sm->barrel->last[w] = WW_NONE;
    return true;
}

/* With strict barrel processing every instruction waits for the one before; else those that act on the whole
 * warp. */
static bool waits(const struct ww_core *core, const struct ww_dinst *d) {
    return core->pipe_plan.barrel == WW_BARREL_STRICT || d->action == WW_A_FENCE || d->action == WW_A_BARRIER ||
           d->action == WW_A_EXIT || d->action == WW_A_SLEEP;
}

bool ww_barrel_decode(struct ww_core *core, struct ww_arena *arena) {
    struct ww_code_table *code = &core->code;
    size_t count = 0, at = 0;
    for (uint32_t i = 0; i < code->inst_count; i++) count += code->inst[i].check_count + WW_LOOK;
    uint16_t *reg = ww_arena_array(arena, count + 1, sizeof *reg);
    if (!reg) return false;
    core->pipe_register = (uint16_t)code->registers++;
    for (uint32_t i = 0; i < code->inst_count; i++) {
        struct ww_dinst *d = &code->inst[i];
        uint16_t *list = reg + at;
        if (waits(core, d)) reg[at++] = core->pipe_register;
        for (uint32_t k = 0; k < d->check_count; k++) reg[at++] = d->check[k];
        d->check = list;
        d->check_count = (uint8_t)(reg + at - list);
        ww_pipe_fill(list, d->check_count);
        if (d->check_count < WW_LOOK) at = (size_t)(list - reg) + WW_LOOK;
    }
    return true;
}

/* ---- the list of a warp's instructions in flight ---- */

static uint32_t new_flight(struct ww_barrel *b, uint32_t warp) {
    uint32_t half = b->used[0] == UINT64_MAX, f = half * 64 + (uint32_t)__builtin_ctzll(~b->used[half]);
    b->used[half] |= 1ull << (f & 63);
    b->flight[f] = (struct ww_inflight){.next = WW_NONE, .warp = (uint8_t)warp};
    if (b->last[warp] == WW_NONE)
        b->first[warp] = f;
    else
        b->flight[b->last[warp]].next = f;
    b->last[warp] = f;
    b->count[warp]++;
    return f;
}

static void free_flight(struct ww_barrel *b, uint32_t f) {
    uint32_t warp = b->flight[f].warp, before = WW_NONE;
    for (uint32_t i = b->first[warp]; i != f; i = b->flight[i].next) before = i;
    if (before == WW_NONE)
        b->first[warp] = b->flight[f].next;
    else
        b->flight[before].next = b->flight[f].next;
    if (b->last[warp] == f) b->last[warp] = before;
    b->used[f >> 6] &= ~(1ull << (f & 63));
    b->wait[f >> 6] &= ~(1ull << (f & 63));
    b->count[warp]--;
}

/* The next instruction of the warp that stays in the pipeline may be written back; loads that wait for their
 * data do not block it. */
static void find_first(struct ww_barrel *b, uint32_t warp, uint32_t parts) {
    for (uint32_t i = b->first[warp]; i != WW_NONE; i = b->flight[i].next) {
        b->wait[i >> 6] &= ~(1ull << (i & 63));
        if (!b->flight[i].leaves || b->flight[i].passed < parts) return;
    }
}

/* ---- the end of an instruction ---- */

static void commit(struct ww_sm *sm, uint32_t f, uint64_t cycle) {
    struct ww_barrel *b = sm->barrel;
    const struct ww_inflight e = b->flight[f];
    struct ww_warp *w = &sm->warp[e.warp];
    const struct ww_dinst *d = &sm->core->code.inst[e.inst];
    uint64_t ready = e.ready != WW_NEVER && e.ready > cycle + 1 ? e.ready : cycle + 1;
    uint64_t entry = WW_SB(ready, (uint64_t)e.state);
    for (uint32_t i = 0; i < d->result_count; i++) w->board[ww_results(d)[i]] = entry;
    if (d->async && e.mask && --w->async_count == 0) w->board[sm->core->code.async_register] = entry;
    free_flight(b, f);
    find_first(b, e.warp, sm->core->pipe_plan.parts);
    if (b->count[e.warp] == 0) {
        w->board[sm->core->pipe_register] = entry;
        b->held &= ~(1ull << e.warp);
    }
    sm->core->inflight--;
    ww_warp_arrival(sm, w, cycle, e.state);
    ww_lsu_release(sm, w, cycle + 1);
}

static void wrote(struct ww_sm *sm, uint32_t f, uint64_t cycle) {
    if (++sm->barrel->flight[f].written == sm->core->pipe_plan.parts) commit(sm, f, cycle);
}

/* All sub-warps have passed MEM0: the conflicts are known, the load/store unit gets the instruction's accesses.
 */
static void resolve(struct ww_sm *sm, uint32_t f, uint64_t cycle) {
    struct ww_barrel *b = sm->barrel;
    struct ww_inflight *e = &b->flight[f];
    uint64_t *n = sm->core->counter;
    if (e->trains) {
        n[WW_C_BANK_MISPREDICTED] += e->predicted != e->conflicts;
        n[WW_C_BANK_UNDERPREDICTED] += e->predicted < e->conflicts;
    }
    if (e->shared) ww_history_update(&b->history, e->inst, e->conflicts);
    if (!e->pushes) return;
    b->reserved--;
    ww_lsu_push(sm, &sm->warp[e->warp], &sm->core->code.inst[e->inst], e->inst, e->mask, e->access, cycle);
    if (e->leaves) find_first(b, e->warp, sm->core->pipe_plan.parts);
}

static void pass(struct ww_sm *sm, uint32_t f, uint64_t cycle) {
    if (++sm->barrel->flight[f].passed == sm->core->pipe_plan.parts) resolve(sm, f, cycle);
}

/* ---- data of loads ---- */

void ww_barrel_data(struct ww_sm *sm, struct ww_warp *w, uint32_t inst, uint64_t ready, uint32_t state) {
    struct ww_barrel *b = sm->barrel;
    uint32_t f = b->first[w - sm->warp];
    while (b->flight[f].inst != inst || !b->flight[f].leaves || b->flight[f].ready != WW_NEVER)
        f = b->flight[f].next;
    b->flight[f].ready = ready;
    b->flight[f].state = (uint8_t)state;
    b->data[b->back_count++] = (uint8_t)f;
    sm->became_ready = true;
}

/* Whether data take the writeback port in `cycle`: those that are there first, and then for a whole warp. */
static bool take_port(struct ww_sm *sm, uint64_t cycle) {
    struct ww_barrel *b = sm->barrel;
    if (b->port_parts == 0) {
        uint32_t best = WW_NONE;
        for (uint32_t i = 0; i < b->back_count; i++)
            if (b->flight[b->data[i]].ready <= cycle &&
                (best == WW_NONE || b->flight[b->data[i]].ready < b->flight[b->data[best]].ready))
                best = i;
        if (best == WW_NONE) return false;
        b->port = b->data[best];
        for (b->back_count--; best < b->back_count; best++) b->data[best] = b->data[best + 1];
        b->port_parts = sm->core->pipe_plan.parts;
    }
    if (--b->port_parts == 0) commit(sm, b->port, cycle);
    return true;
}

/* ---- one cycle ---- */

static void move_front(struct ww_sm *sm) {
    struct ww_barrel *b = sm->barrel;
    uint32_t parts = sm->core->pipe_plan.parts;
    b->move++;
    b->fetched = b->feed != 0;
    b->front[b->move % WW_FRONT] = b->feed ? b->part[parts - b->feed] : bubble;
    if (b->feed) b->feed--;
    b->open = !b->fetched;
}

/* A place in the load/store queue, when the first sub-warp goes towards it. */
static void book(struct ww_barrel *b, struct ww_inflight *e) {
    if (!e->pushes || e->booked) return;
    e->booked = true;
    b->reserved++;
}

void ww_barrel_step(struct ww_sm *sm, uint64_t cycle) {
    struct ww_barrel *b = sm->barrel;
    const struct ww_pipe_plan *plan = &sm->core->pipe_plan;
    b->open = true;
    b->fetched = false;
    b->stalled = WW_PIPE_NOT_STALLED;
    if (sm->resident_ctas) ww_barrel_count_idle(sm, cycle);
    struct ww_pipe_cycle c = {.wait = {b->wait[0], b->wait[1]}};
    c.port_taken = (b->back_count || b->port_parts) && take_port(sm, cycle);
    if (!b->inside) return;
    uint32_t depth = plan->stages - plan->memory - 2;
    c.exe = b->front[(b->move - depth) % WW_FRONT];
    c.closed = c.exe.valid && b->flight[c.exe.op].pushes && !b->flight[c.exe.op].booked &&
               sm->lsu.count + b->reserved >= sm->lsu.capacity;
    sm->core->pipe_ops->step(&b->back, plan, &c);
    b->stalled = c.stalled;
    if (c.stalled == WW_PIPE_NOT_STALLED) {
        if (c.exe.valid) book(b, &b->flight[c.exe.op]);
        move_front(sm);
    } else {
        b->open = false;
    }
    if (c.passed.valid && c.passed.memory) pass(sm, c.passed.op, cycle);
    if (c.left.valid) b->inside--;
    if (c.written.valid) {
        b->inside--;
        wrote(sm, c.written.op, cycle);
    }
}

void ww_barrel_count_idle(struct ww_sm *sm, uint64_t cycle) {
    struct ww_barrel *b = sm->barrel;
    if (cycle > b->counted) sm->core->counter[WW_C_PIPE_STALL_SCHED] += cycle - b->counted;
    b->counted = cycle;
}

void ww_barrel_count(struct ww_sm *sm, uint64_t cycle) {
    struct ww_barrel *b = sm->barrel;
    uint64_t *n = sm->core->counter;
    if (!sm->resident_ctas) return;
    n[WW_C_PIPE_FETCH_CYCLES] += b->fetched;
    n[WW_C_PIPE_STALL_CONFLICT] += b->stalled == WW_PIPE_CONFLICT;
    n[WW_C_PIPE_STALL_OTHER] += b->stalled == WW_PIPE_OTHER;
    n[WW_C_PIPE_STALL_SCHED] += b->stalled == WW_PIPE_NOT_STALLED && !b->fetched;
    b->counted = cycle + 1;
}

uint64_t ww_barrel_next(const struct ww_sm *sm, uint64_t cycle) {
    const struct ww_barrel *b = sm->barrel;
    uint64_t next = WW_NEVER;
    if (b->inside || b->port_parts) return cycle + 1;
    for (uint32_t i = 0; i < b->back_count; i++)
        if (b->flight[b->data[i]].ready < next) next = b->flight[b->data[i]].ready;
    return next > cycle ? next : cycle + 1;
}

/* ---- issue ---- */

bool ww_barrel_filter(struct ww_sm *sm, struct ww_sched *s, uint64_t cycle) {
    const struct ww_barrel *b = sm->barrel;
    bool room = (b->used[0] & b->used[1]) != UINT64_MAX;
    uint64_t ready = b->open && room ? s->view.ready & ~b->held : 0;
    if (cycle < b->memory_from) {
        uint64_t others = ready & ~s->view.ready_mem;
        if (others || sm->core->pipe_plan.aware != WW_AWARE_ANYWAY) ready = others;
    }
    s->view.ready = ready;
    s->view.ready_mem &= ready;
    s->view.ready_lsu &= ready;
    if (!ready) *s->try_at = cycle + 1;
    return ready != 0;
}

/* Memory warps keep the safe distance from one that is predicted to conflict, by its last execution. */
static void predict(struct ww_sm *sm, struct ww_inflight *e, uint64_t cycle) {
    struct ww_barrel *b = sm->barrel;
    const struct ww_pipe_plan *plan = &sm->core->pipe_plan;
    bool hit;
    if (plan->aware == WW_AWARE_OFF && plan->barrel != WW_BARREL_IN_ORDER) return;
    e->trains = true;
    e->predicted = (uint16_t)ww_history_predict(&b->history, e->inst, &hit);
    sm->core->counter[WW_C_BANK_PREDICTED]++;
    sm->core->counter[WW_C_BANK_UNKNOWN] += !hit;
    if (plan->aware != WW_AWARE_OFF)
        b->memory_from = cycle + ww_pipe_safe_distance(e->predicted + plan->parts, plan->ports);
    if (plan->barrel == WW_BARREL_IN_ORDER && e->predicted) b->held |= 1ull << e->warp;
}

/* Conflicts of a shared-memory access, and the cycles that each sub-warp needs at MEM0. */
static void find_conflicts(struct ww_sm *sm, const struct ww_dinst *d, struct ww_inflight *e,
                           uint32_t cycles[static WW_PIPE_PARTS_MOST]) {
    struct ww_core *core = sm->core;
    const struct ww_pipe_plan *plan = &core->pipe_plan;
    uint8_t degree[WW_PIPE_PARTS_MOST] = {1};
    uint32_t active = 1, sum;
    if (e->access && e->mask)
        active = ww_smem_degrees(&core->banks, e->access, e->pool, e->mask, d->width, plan->width, degree);
    sum = ww_pipe_warp_degree(degree, plan->parts);
    core->counter[WW_C_SHARED_PASSES] += sum;
    core->counter[WW_C_SHARED_WIDE] += active - 1;
    core->counter[WW_C_SHARED_CONFLICTS] += sum - active;
    core->epochs.inst[e->inst].counter[WW_I_SHARED_CONFLICTS] += sum - active;
    e->shared = true;
    e->conflicts = (uint16_t)(sum - active);
    for (uint32_t i = 0; i < plan->parts; i++)
        cycles[i] = degree[i] ? ww_pipe_safe_distance(degree[i], plan->ports) : 1;
    if (d->path == WW_L_SHARED_ATOMIC && e->access && e->mask)
        cycles[0] += ww_smem_same_address(e->access, e->pool, e->mask) * core->gpu->shared_atomic_cycles;
}

static bool is_memory(const struct ww_dinst *d) {
    return d->action == WW_A_LSU || d->action == WW_A_CONST;
}

static void set_waiting(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint32_t state) {
    uint64_t entry = WW_SB(WW_NEVER, (uint64_t)state);
    for (uint32_t i = 0; i < d->result_count; i++) w->board[ww_results(d)[i]] = entry;
    w->board[sm->core->pipe_register] = entry;
    if (d->async && w->step->mask) {
        w->board[sm->core->code.async_register] = entry;
        w->async_count++;
    }
}

static void fill_flight(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, struct ww_inflight *e,
                        uint32_t cycles[static WW_PIPE_PARTS_MOST], uint64_t cycle) {
    e->inst = w->step->inst;
    e->mask = w->step->mask;
    e->access = d->access ? w->access : NULL;
    e->pool = w->pool;
    e->ready = WW_NEVER;
    e->state = d->state ? d->state : (uint8_t)WW_S_WAIT_ALU;
    for (uint32_t i = 0; i < WW_PIPE_PARTS_MOST; i++) cycles[i] = 1;
    if (d->action == WW_A_CONST && e->mask)
        e->ready = ww_const_load(sm, e->access, e->pool, e->mask, cycle) + d->latency;
    if (d->action != WW_A_LSU) return;
    if (d->path == WW_L_SHARED || d->path == WW_L_SHARED_ATOMIC) {
        find_conflicts(sm, d, e, cycles);
        predict(sm, e, cycle);
    } else if (d->path != WW_L_SHUFFLE && e->mask) {
        e->pushes = true;
        e->leaves = d->path == WW_L_LOAD || (d->path == WW_L_ATOMIC && d->reply);
    }
}

bool ww_barrel_take(struct ww_sm *sm, struct ww_warp *w, const struct ww_dinst *d, uint64_t cycle) {
    struct ww_barrel *b = sm->barrel;
    uint32_t parts = sm->core->pipe_plan.parts, cycles[WW_PIPE_PARTS_MOST];
    uint32_t warp = (uint32_t)(w - sm->warp), f = new_flight(b, warp);
    struct ww_inflight *e = &b->flight[f];
    fill_flight(sm, w, d, e, cycles, cycle);
    for (uint32_t i = 0; i < parts; i++)
        b->part[i] = (struct ww_subwarp){.op = (uint8_t)f,
                                         .cycles = (uint8_t)(cycles[i] < 255 ? cycles[i] : 255),
                                         .valid = true,
                                         .memory = is_memory(d),
                                         .leaves = e->leaves};
    if (sm->core->pipe_plan.barrel == WW_BARREL_IN_ORDER) {
        b->wait[f >> 6] |= 1ull << (f & 63);
        find_first(b, warp, parts);
    }
    set_waiting(sm, w, d, e->state);
    b->front[b->move % WW_FRONT] = b->part[0];
    b->feed = parts - 1;
    b->fetched = true;
    b->open = false;
    b->inside += parts;
    sm->core->inflight++;
    w->inflight++;
    return d->action < WW_A_BARRIER || is_memory(d);
}
