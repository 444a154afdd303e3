/* Storing the launches of a run. */
#include "../estimator/api/database.h"
#include "../estimator/result/packed.h"
#include "../estimator/result/result.h"
#include "db.h"
#include <stdlib.h>

/* The INSERT statements of everything that belongs to a launch, prepared once for a run. */
struct writer {
    struct ww_db *db;
    const struct ww_dict *dict;
    struct ww_error *error;
    struct ww_insert kernel, file, instruction, launch, counter, state, slot, energy, epoch, epoch_state,
        epoch_time, epoch_energy, vf_point, pc, pc_stall;
    sqlite3_stmt *find_kernel, *find_file, *find_instruction;
};

static enum ww_code open_inserts(struct writer *w) {
    const struct {
        struct ww_insert *in;
        const char *table, *columns;
    } rows[] = {
        {&w->kernel, "kernel", "name"},
        {&w->file, "source_file", "path"},
        {&w->instruction, "instruction", "kernel_id, inst, pc, line, file_id, mnemonic"},
        {&w->launch, "launch",
         "run_id, ord, trace_index, kernel_id, grid_x, grid_y, grid_z, block_x, block_y, block_z,"
         "registers_per_thread, shared_bytes, ctas_per_sm, occupancy_limiter, cycles, time_ps,"
         "warp_instructions, thread_instructions, resident_warp_cycles, energy_j, code"},
        {&w->counter, "launch_counter", "launch_id, counter_id, value"},
        {&w->state, "launch_state", "launch_id, state_id, warp_cycles"},
        {&w->slot, "launch_slot", "launch_id, cause_id, slots"},
        {&w->energy, "launch_energy", "launch_id, component_id, dynamic_j, static_j"},
        {&w->epoch, "epoch", "launch_id, ord, first_cycle, cycles, warp_instructions"},
        {&w->epoch_state, "epoch_state", "launch_id, ord, state_id, warp_cycles"},
        {&w->epoch_time, "epoch_time", "launch_id, ord, time_ps, cta_limit, ctas_paused"},
        {&w->epoch_energy, "epoch_energy", "launch_id, ord, component_id, dynamic_j, static_j"},
        {&w->vf_point, "vf_point", "launch_id, ord, first_cycle, start_ps, sm_mhz, l2_mhz, dram_mhz"},
        {&w->pc, "pc", "launch_id, ord, instruction_id"
#define X(id, name, ...) "," name
#include "../estimator/result/inst_counter.def"
#undef X
        },
        {&w->pc_stall, "pc_stall", "launch_id, ord, state_id, warp_cycles"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        WW_TRY(ww_insert_open(rows[i].in, w->db, rows[i].table, rows[i].columns, w->error));
    return WW_OK;
}

static enum ww_code open_finds(struct writer *w) {
    sqlite3 *sql = w->db->sql;
    if (sqlite3_prepare_v2(sql, "SELECT kernel_id FROM kernel WHERE name = ?1", -1, &w->find_kernel, NULL) ||
        sqlite3_prepare_v2(sql, "SELECT file_id FROM source_file WHERE path = ?1", -1, &w->find_file, NULL) ||
        sqlite3_prepare_v2(sql,
                           "SELECT instruction_id FROM instruction WHERE kernel_id = ?1 AND inst = ?2 AND"
                           " pc = ?3 AND line = ?4 AND file_id = ?5 AND mnemonic = ?6",
                           -1, &w->find_instruction, NULL))
        return ww_db_fail(w->db, "storing", w->error);
    return WW_OK;
}

static void close_writer(struct writer *w) {
    struct ww_insert *in[] = {&w->kernel,   &w->file,        &w->instruction, &w->launch,       &w->counter,
                              &w->state,    &w->slot,        &w->energy,      &w->epoch,        &w->pc,
                              &w->pc_stall, &w->epoch_state, &w->epoch_time,  &w->epoch_energy, &w->vf_point};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) ww_insert_close(in[i]);
    sqlite3_finalize(w->find_kernel);
    sqlite3_finalize(w->find_file);
    sqlite3_finalize(w->find_instruction);
}

/* Runs a bound look-up; *id is 0 if there is no row. */
static enum ww_code find(struct writer *w, sqlite3_stmt *stmt, int64_t *id) {
    int rc = sqlite3_step(stmt);
    *id = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    enum ww_code code = rc == SQLITE_ROW || rc == SQLITE_DONE ? WW_OK : ww_db_fail(w->db, "storing", w->error);
    sqlite3_reset(stmt);
    return code;
}

static enum ww_code name_id(struct writer *w, sqlite3_stmt *look, struct ww_insert *in, const char *name,
                            int64_t *id) {
    sqlite3_bind_text(look, 1, name ? name : "", -1, SQLITE_STATIC);
    WW_TRY(find(w, look, id));
    if (*id) return WW_OK;
    ww_insert_text(in, name);
    return ww_insert_run(in, id);
}

static enum ww_code instruction_id(struct writer *w, int64_t kernel, const struct ww_pc_row *row, int64_t *id) {
    int64_t file;
    WW_TRY(name_id(w, w->find_file, &w->file, row->file, &file));
    sqlite3_stmt *look = w->find_instruction;
    sqlite3_bind_int64(look, 1, kernel);
    sqlite3_bind_int64(look, 2, row->inst);
    sqlite3_bind_int64(look, 3, row->pc);
    sqlite3_bind_int64(look, 4, row->line);
    sqlite3_bind_int64(look, 5, file);
    sqlite3_bind_text(look, 6, row->mnemonic ? row->mnemonic : "", -1, SQLITE_STATIC);
    WW_TRY(find(w, look, id));
    if (*id) return WW_OK;
    struct ww_insert *in = &w->instruction;
    ww_insert_i64(in, kernel);
    ww_insert_u64(in, row->inst);
    ww_insert_u64(in, row->pc);
    ww_insert_u64(in, row->line);
    ww_insert_i64(in, file);
    ww_insert_text(in, row->mnemonic);
    return ww_insert_run(in, id);
}

/* Named values of one owner, without the zeros. `ord` < 0: the table has no such column. */
static enum ww_code store_values(struct ww_insert *in, int64_t launch, int64_t ord, const int64_t *ids,
                                 const uint64_t *values, int count) {
    for (int i = 0; i < count; i++) {
        if (!values[i]) continue;
        ww_insert_i64(in, launch);
        if (ord >= 0) ww_insert_i64(in, ord);
        ww_insert_i64(in, ids[i]);
        ww_insert_u64(in, values[i]);
        WW_TRY(ww_insert_run(in, NULL));
    }
    return WW_OK;
}

static enum ww_code store_energy(struct writer *w, int64_t id, const struct ww_energy *energy) {
    struct ww_insert *in = &w->energy;
    for (int i = 0; i < WW_COMPONENT_COUNT; i++) {
        ww_insert_i64(in, id);
        ww_insert_i64(in, w->dict->component[i]);
        if (energy->known) {
            ww_insert_f64(in, energy->dynamic_j[i]);
            ww_insert_f64(in, energy->static_j[i]);
        } else {
            ww_insert_null(in);
            ww_insert_null(in);
        }
        WW_TRY(ww_insert_run(in, NULL));
    }
    return WW_OK;
}

/* Components without energy in the epoch have no row. */
static enum ww_code store_epoch_energy(struct writer *w, int64_t id, size_t ord,
                                       const struct ww_epoch_energy *energy) {
    struct ww_insert *in = &w->epoch_energy;
    for (int i = 0; i < WW_COMPONENT_COUNT; i++) {
        if (energy->dynamic_j[i] == 0 && energy->static_j[i] == 0) continue;
        ww_insert_i64(in, id);
        ww_insert_u64(in, ord);
        ww_insert_i64(in, w->dict->component[i]);
        ww_insert_f64(in, energy->dynamic_j[i]);
        ww_insert_f64(in, energy->static_j[i]);
        WW_TRY(ww_insert_run(in, NULL));
    }
    return WW_OK;
}

/* Power and CTAs over time. */
static enum ww_code store_epoch_time(struct writer *w, int64_t id, size_t ord,
                                     const struct ww_launch_result *l) {
    struct ww_insert *in = &w->epoch_time;
    ww_insert_i64(in, id);
    ww_insert_u64(in, ord);
    ww_insert_u64(in, l->epoch[ord].time_ps);
    ww_insert_u64(in, l->epoch[ord].cta_limit);
    ww_insert_u64(in, l->epoch[ord].ctas_paused);
    WW_TRY(ww_insert_run(in, NULL));
    return l->epoch_energy ? store_epoch_energy(w, id, ord, &l->epoch_energy[ord]) : WW_OK;
}

static enum ww_code store_points(struct writer *w, int64_t id, const struct ww_launch_result *l) {
    struct ww_insert *in = &w->vf_point;
    for (size_t i = 0; i < l->point_count; i++) {
        const struct ww_vf_point *p = &l->point[i];
        ww_insert_i64(in, id);
        ww_insert_u64(in, i);
        ww_insert_u64(in, p->cycle);
        ww_insert_u64(in, p->time_ps);
        for (int d = 0; d < WW_DOMAIN_COUNT; d++) ww_insert_f64(in, p->mhz[d]);
        WW_TRY(ww_insert_run(in, NULL));
    }
    return WW_OK;
}

static enum ww_code store_epochs(struct writer *w, int64_t id, const struct ww_launch_result *l) {
    for (size_t i = 0; i < l->epoch_count; i++) {
        const struct ww_epoch *e = &l->epoch[i];
        ww_insert_i64(&w->epoch, id);
        ww_insert_u64(&w->epoch, i);
        ww_insert_u64(&w->epoch, e->first_cycle);
        ww_insert_u64(&w->epoch, e->cycles);
        ww_insert_u64(&w->epoch, e->warp_instructions);
        WW_TRY(ww_insert_run(&w->epoch, NULL));
        WW_TRY(store_values(&w->epoch_state, id, (int64_t)i, w->dict->state, e->warp_cycles, WW_STATE_COUNT));
        WW_TRY(store_epoch_time(w, id, i, l));
    }
    return WW_OK;
}

static void store_counters(struct ww_insert *in, const struct ww_pc_row *row, uint64_t unknown) {
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++)
        if (unknown >> i & 1)
            ww_insert_null(in);
        else
            ww_insert_u64(in, row->counter[i]);
}

static enum ww_code store_pc(struct writer *w, int64_t id, int64_t kernel, size_t ord,
                             const struct ww_pc_row *row, uint64_t unknown) {
    int64_t instruction;
    WW_TRY(instruction_id(w, kernel, row, &instruction));
    ww_insert_i64(&w->pc, id);
    ww_insert_u64(&w->pc, ord);
    ww_insert_i64(&w->pc, instruction);
    store_counters(&w->pc, row, unknown);
    WW_TRY(ww_insert_run(&w->pc, NULL));
    return store_values(&w->pc_stall, id, (int64_t)ord, w->dict->state, row->stall, WW_STATE_COUNT);
}

static enum ww_code store_pcs(struct writer *w, int64_t id, int64_t kernel, const struct ww_launch_result *l) {
    struct ww_pc_row *unpacked = l->pc_packed ? ww_pc_unpack(l->pc_packed) : NULL;
    const struct ww_pc_row *row = unpacked ? unpacked : l->pc;
    size_t count = l->pc_packed ? l->pc_packed->code.count : l->pc_count;
    if (l->pc_packed && !unpacked) return ww_fail_nomem(w->error, "counters per instruction");
    enum ww_code code = WW_OK;
    for (size_t i = 0; i < count && code == WW_OK; i++)
        code = store_pc(w, id, kernel, i, &row[i], l->pc_unknown);
    free(unpacked);
    return code;
}

static enum ww_code store_launch_row(struct writer *w, int64_t run_id, size_t ord, int64_t kernel,
                                     const struct ww_launch_result *l, int64_t *id) {
    struct ww_insert *in = &w->launch;
    ww_insert_i64(in, run_id);
    ww_insert_u64(in, ord);
    ww_insert_u64(in, l->index);
    ww_insert_i64(in, kernel);
    for (int i = 0; i < 3; i++) ww_insert_u64(in, l->grid[i]);
    for (int i = 0; i < 3; i++) ww_insert_u64(in, l->block[i]);
    ww_insert_u64(in, l->registers_per_thread);
    ww_insert_u64(in, l->shared_bytes);
    ww_insert_u64(in, l->ctas_per_sm);
    ww_insert_text(in, l->occupancy_limiter);
    ww_insert_u64(in, l->cycles);
    ww_insert_u64(in, l->time_ps);
    ww_insert_u64(in, l->warp_instructions);
    ww_insert_u64(in, l->thread_instructions);
    ww_insert_u64(in, l->resident_warp_cycles);
    if (l->energy.known)
        ww_insert_f64(in, l->energy.total_j);
    else
        ww_insert_null(in);
    if (l->code)
        ww_insert_text(in, l->code);
    else
        ww_insert_null(in);
    return ww_insert_run(in, id);
}

static enum ww_code store_launch(struct writer *w, int64_t run_id, size_t ord,
                                 const struct ww_launch_result *l) {
    const struct ww_dict *d = w->dict;
    int64_t kernel, id;
    WW_TRY(name_id(w, w->find_kernel, &w->kernel, l->kernel, &kernel));
    WW_TRY(store_launch_row(w, run_id, ord, kernel, l, &id));
    WW_TRY(store_values(&w->counter, id, -1, d->counter, l->counter, WW_COUNTER_COUNT));
    WW_TRY(store_values(&w->state, id, -1, d->state, l->warp_cycles, WW_STATE_COUNT));
    WW_TRY(store_values(&w->slot, id, -1, d->slot, l->slot, WW_SLOT_COUNT));
    WW_TRY(store_energy(w, id, &l->energy));
    WW_TRY(store_epochs(w, id, l));
    WW_TRY(store_points(w, id, l));
    WW_TRY(ww_db_store_concurrent(w->db, id, l, w->error));
    WW_TRY(ww_db_store_among(w->db, id, l, w->error));
    WW_TRY(ww_db_store_timeline(w->db, d, id, l, w->error));
    return store_pcs(w, id, kernel, l);
}

enum ww_code ww_db_store_launches(struct ww_db *db, const struct ww_dict *dict, int64_t run_id,
                                  const struct ww_result *result, struct ww_error *error) {
    struct writer w = {.db = db, .dict = dict, .error = error};
    enum ww_code code = open_inserts(&w);
    if (code == WW_OK) code = open_finds(&w);
    for (size_t i = 0; i < result->launch_count && code == WW_OK; i++)
        code = store_launch(&w, run_id, i, &result->launch[i]);
    close_writer(&w);
    return code;
}
