/* Reading the launches of a run back. */
#include "../estimator/api/database.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "db.h"

struct reader {
    struct ww_db *db;
    const struct ww_dict *dict;
    struct ww_arena *arena;
    struct ww_error *error;
    int64_t launch_id;
};

/* Rows that `sql` (a SELECT count(*) over key ?1) counts. */
static enum ww_code count_rows(struct ww_db *db, const char *sql, int64_t key, size_t *count,
                               struct ww_error *error) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, db, sql, key, error));
    *count = ww_select_row(&s) ? ww_select_u64(&s) : 0;
    return ww_select_close(&s);
}

/* The enumerator whose id the next column holds. */
static int read_name(struct ww_select *s, const int64_t *ids, int count) {
    int i = ww_dict_find(ids, count, ww_select_i64(s));
    if (i >= 0) return i;
    ww_select_refuse(s, "the id of a name that this version knows");
    return 0;
}

/* Named values of the launch: rows of (id, value). */
static enum ww_code load_values(struct reader *r, const char *sql, const int64_t *ids, int count,
                                uint64_t *out) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, r->db, sql, r->launch_id, r->error));
    while (ww_select_row(&s)) {
        int i = read_name(&s, ids, count);
        out[i] = ww_select_u64(&s);
    }
    return ww_select_close(&s);
}

/* The place in the launch's array that the next column names. */
static size_t read_ord(struct ww_select *s, size_t count) {
    uint64_t ord = ww_select_u64(s);
    if (ord < count) return ord;
    ww_select_refuse(s, "the number of a row of this launch");
    return 0;
}

static enum ww_code load_energy(struct reader *r, struct ww_energy *energy) {
    if (!energy->known) return WW_OK;
    struct ww_select s;
    WW_TRY(ww_select_open(&s, r->db,
                          "SELECT component_id, dynamic_j, static_j FROM launch_energy WHERE launch_id = ?1",
                          r->launch_id, r->error));
    while (ww_select_row(&s)) {
        int i = read_name(&s, r->dict->component, WW_COMPONENT_COUNT);
        energy->dynamic_j[i] = ww_select_f64(&s);
        energy->static_j[i] = ww_select_f64(&s);
    }
    return ww_select_close(&s);
}

static enum ww_code load_epoch_states(struct reader *r, struct ww_launch_result *l) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, r->db, "SELECT ord, state_id, warp_cycles FROM epoch_state WHERE launch_id = ?1",
                          r->launch_id, r->error));
    while (ww_select_row(&s)) {
        size_t ord = read_ord(&s, l->epoch_count);
        int state = read_name(&s, r->dict->state, WW_STATE_COUNT);
        uint64_t value = ww_select_u64(&s);
        if (s.code == WW_OK) l->epoch[ord].warp_cycles[state] = value;
    }
    return ww_select_close(&s);
}

/* A run of an older version has no times of epochs, and no energy by epoch. */
static enum ww_code load_epoch_times(struct reader *r, struct ww_launch_result *l) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, r->db,
                          "SELECT ord, time_ps, cta_limit, ctas_paused FROM epoch_time WHERE launch_id = ?1",
                          r->launch_id, r->error));
    while (ww_select_row(&s)) {
        size_t ord = read_ord(&s, l->epoch_count);
        uint64_t time_ps = ww_select_u64(&s);
        uint32_t limit = ww_select_u32(&s), paused = ww_select_u32(&s);
        if (s.code != WW_OK) continue;
        l->epoch[ord].time_ps = time_ps;
        l->epoch[ord].cta_limit = limit;
        l->epoch[ord].ctas_paused = paused;
    }
    return ww_select_close(&s);
}

static enum ww_code load_epoch_energy(struct reader *r, struct ww_launch_result *l) {
    struct ww_select s;
    size_t count = 0;
    WW_TRY(count_rows(r->db, "SELECT count(*) FROM epoch_energy WHERE launch_id = ?1", r->launch_id, &count,
                      r->error));
    if (!count) return WW_OK;
    l->epoch_energy = ww_arena_array(r->arena, l->epoch_count, sizeof *l->epoch_energy);
    if (!l->epoch_energy) return ww_fail_nomem(r->error, "a launch's epochs");
    WW_TRY(ww_select_open(
        &s, r->db, "SELECT ord, component_id, dynamic_j, static_j FROM epoch_energy WHERE launch_id = ?1",
        r->launch_id, r->error));
    while (ww_select_row(&s)) {
        size_t ord = read_ord(&s, l->epoch_count);
        int c = read_name(&s, r->dict->component, WW_COMPONENT_COUNT);
        double dynamic_j = ww_select_f64(&s), static_j = ww_select_f64(&s);
        if (s.code != WW_OK) continue;
        l->epoch_energy[ord].dynamic_j[c] = dynamic_j;
        l->epoch_energy[ord].static_j[c] = static_j;
    }
    return ww_select_close(&s);
}

static enum ww_code load_points(struct reader *r, struct ww_launch_result *l) {
    size_t count = 0;
    struct ww_select s;
    WW_TRY(count_rows(r->db, "SELECT count(*) FROM vf_point WHERE launch_id = ?1", r->launch_id, &count,
                      r->error));
    l->point = ww_arena_array(r->arena, count, sizeof *l->point);
    if (!l->point) return ww_fail_nomem(r->error, "a launch's operating points");
    WW_TRY(ww_select_open(&s, r->db,
                          "SELECT first_cycle, start_ps, sm_mhz, l2_mhz, dram_mhz FROM vf_point"
                          " WHERE launch_id = ?1 ORDER BY ord",
                          r->launch_id, r->error));
    while (l->point_count < count && ww_select_row(&s)) {
        struct ww_vf_point *p = &l->point[l->point_count++];
        p->cycle = ww_select_u64(&s);
        p->time_ps = ww_select_u64(&s);
        for (int d = 0; d < WW_DOMAIN_COUNT; d++) p->mhz[d] = ww_select_f64(&s);
    }
    return ww_select_close(&s);
}

static enum ww_code load_epochs(struct reader *r, struct ww_launch_result *l) {
    size_t count = 0, next = 0;
    WW_TRY(
        count_rows(r->db, "SELECT count(*) FROM epoch WHERE launch_id = ?1", r->launch_id, &count, r->error));
    l->epoch = ww_arena_array(r->arena, count, sizeof *l->epoch);
    if (!l->epoch) return ww_fail_nomem(r->error, "a launch's epochs");
    struct ww_select s;
    WW_TRY(ww_select_open(&s, r->db,
                          "SELECT first_cycle, cycles, warp_instructions FROM epoch WHERE launch_id = ?1"
                          " ORDER BY ord",
                          r->launch_id, r->error));
    while (next < count && ww_select_row(&s)) {
        struct ww_epoch *e = &l->epoch[next++];
        e->first_cycle = ww_select_u64(&s);
        e->cycles = ww_select_u64(&s);
        e->warp_instructions = ww_select_u64(&s);
    }
    WW_TRY(ww_select_close(&s));
    l->epoch_count = next;
    WW_TRY(load_epoch_states(r, l));
    WW_TRY(load_epoch_times(r, l));
    WW_TRY(load_epoch_energy(r, l));
    return load_points(r, l);
}

/* A run that is older than a counter has NULL there. */
static void read_counters(struct ww_select *s, struct ww_pc_row *row, uint64_t *unknown) {
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++)
        if (ww_inst_counter_step((enum ww_inst_counter)i) > 1 && ww_select_skip_null(s))
            *unknown |= (uint64_t)1 << i;
        else
            row->counter[i] = ww_select_u64(s);
}

static void read_pc(struct ww_select *s, struct ww_pc_row *row, uint64_t *unknown, struct ww_arena *arena) {
    row->inst = ww_select_u32(s);
    row->pc = ww_select_u32(s);
    row->line = ww_select_u32(s);
    row->file = ww_select_text(s, arena);
    row->mnemonic = ww_select_text(s, arena);
    read_counters(s, row, unknown);
}

static enum ww_code load_pc_stalls(struct reader *r, struct ww_launch_result *l) {
    struct ww_select s;
    WW_TRY(ww_select_open(&s, r->db, "SELECT ord, state_id, warp_cycles FROM pc_stall WHERE launch_id = ?1",
                          r->launch_id, r->error));
    while (ww_select_row(&s)) {
        size_t ord = read_ord(&s, l->pc_count);
        int state = read_name(&s, r->dict->state, WW_STATE_COUNT);
        uint64_t value = ww_select_u64(&s);
        if (s.code == WW_OK) l->pc[ord].stall[state] = value;
    }
    return ww_select_close(&s);
}

static enum ww_code load_pcs(struct reader *r, struct ww_launch_result *l) {
    size_t count = 0, next = 0;
    WW_TRY(count_rows(r->db, "SELECT count(*) FROM pc WHERE launch_id = ?1", r->launch_id, &count, r->error));
    l->pc = ww_arena_array(r->arena, count, sizeof *l->pc);
    if (!l->pc) return ww_fail_nomem(r->error, "a launch's instructions");
    struct ww_select s;
    static const char rows[] = "SELECT i.inst, i.pc, i.line, f.path, i.mnemonic"
#define X(id, name, ...) ", p." name
#include "../estimator/result/inst_counter.def"
#undef X
                               " FROM pc p LEFT JOIN instruction i USING(instruction_id)"
                               " LEFT JOIN source_file f USING(file_id) WHERE p.launch_id = ?1 ORDER BY p.ord";
    WW_TRY(ww_select_open(&s, r->db, rows, r->launch_id, r->error));
    while (next < count && ww_select_row(&s)) read_pc(&s, &l->pc[next++], &l->pc_unknown, r->arena);
    WW_TRY(ww_select_close(&s));
    l->pc_count = next;
    return load_pc_stalls(r, l);
}

static void read_launch(struct ww_select *s, struct ww_launch_result *l, struct ww_arena *arena) {
    l->index = ww_select_u32(s);
    l->kernel = ww_select_text(s, arena);
    for (int i = 0; i < 3; i++) l->grid[i] = ww_select_u32(s);
    for (int i = 0; i < 3; i++) l->block[i] = ww_select_u32(s);
    l->registers_per_thread = ww_select_u32(s);
    l->shared_bytes = ww_select_u32(s);
    l->ctas_per_sm = ww_select_u32(s);
    l->occupancy_limiter = ww_select_text(s, arena);
    l->cycles = ww_select_u64(s);
    l->time_ps = ww_select_u64(s);
    l->warp_instructions = ww_select_u64(s);
    l->thread_instructions = ww_select_u64(s);
    l->resident_warp_cycles = ww_select_u64(s);
    l->energy.known = !ww_select_skip_null(s);
    if (l->energy.known) l->energy.total_j = ww_select_f64(s);
    if (!ww_select_skip_null(s)) l->code = ww_select_text(s, arena);
}

static enum ww_code load_parts(struct reader *r, struct ww_launch_result *l) {
    WW_TRY(load_values(r, "SELECT counter_id, value FROM launch_counter WHERE launch_id = ?1", r->dict->counter,
                       WW_COUNTER_COUNT, l->counter));
    WW_TRY(load_values(r, "SELECT state_id, warp_cycles FROM launch_state WHERE launch_id = ?1", r->dict->state,
                       WW_STATE_COUNT, l->warp_cycles));
    WW_TRY(load_values(r, "SELECT cause_id, slots FROM launch_slot WHERE launch_id = ?1", r->dict->slot,
                       WW_SLOT_COUNT, l->slot));
    WW_TRY(load_energy(r, &l->energy));
    WW_TRY(load_epochs(r, l));
    WW_TRY(ww_db_load_concurrent(r->db, r->launch_id, l, r->error));
    WW_TRY(ww_db_load_among(r->db, r->launch_id, l, r->error));
    WW_TRY(ww_db_load_timeline(r->db, r->dict, r->launch_id, l, r->arena, r->error));
    return load_pcs(r, l);
}

enum ww_code ww_db_load_launches(struct ww_db *db, const struct ww_dict *dict, int64_t run_id,
                                 struct ww_result *result, struct ww_arena *arena, struct ww_error *error) {
    struct reader r = {.db = db, .dict = dict, .arena = arena, .error = error};
    size_t count = 0;
    WW_TRY(count_rows(db, "SELECT count(*) FROM launch WHERE run_id = ?1", run_id, &count, error));
    result->launch = ww_arena_array(arena, count, sizeof *result->launch);
    if (!result->launch) return ww_fail_nomem(error, "a run's launches");
    struct ww_select s;
    WW_TRY(
        ww_select_open(&s, db,
                       "SELECT l.launch_id, l.trace_index, k.name, l.grid_x, l.grid_y, l.grid_z, l.block_x,"
                       " l.block_y, l.block_z, l.registers_per_thread, l.shared_bytes, l.ctas_per_sm,"
                       " l.occupancy_limiter, l.cycles, l.time_ps, l.warp_instructions,"
                       " l.thread_instructions, l.resident_warp_cycles, l.energy_j, l.code"
                       " FROM launch l LEFT JOIN kernel k USING(kernel_id) WHERE l.run_id = ?1 ORDER BY l.ord",
                       run_id, error));
    while (result->launch_count < count && ww_select_row(&s)) {
        struct ww_launch_result *l = &result->launch[result->launch_count++];
        r.launch_id = ww_select_i64(&s);
        read_launch(&s, l, arena);
        if (s.code == WW_OK) s.code = load_parts(&r, l);
    }
    return ww_select_close(&s);
}
