/* Step 1: the tables. What each column means: docs/reference/database.md. Tables whose rows are many and short
 * have no rowid; zeros are not stored in the lists of named values (the views show them). */
#include "schema.h"

/* What the named values are: filled from the program's own lists when a run is stored. */
#define DICTIONARIES                                                                                           \
    "CREATE TABLE counter("                                                                                    \
    " counter_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL,"                          \
    " level TEXT NOT NULL, help TEXT NOT NULL)",                                                               \
        "CREATE TABLE warp_state("                                                                             \
        " state_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, nsight TEXT NOT NULL,"                      \
        " help TEXT NOT NULL)",                                                                                \
        "CREATE TABLE slot_cause("                                                                             \
        " cause_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, help TEXT NOT NULL)",                       \
        "CREATE TABLE component("                                                                              \
        " component_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, help TEXT NOT NULL)"

const char *const ww_db_tables_sql[] = {
    DICTIONARIES,
    "CREATE TABLE gpu("
    " gpu_id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, json TEXT NOT NULL,"
    " UNIQUE(hash, name))",
    "CREATE TABLE gpu_param("
    " gpu_id INTEGER NOT NULL REFERENCES gpu ON DELETE CASCADE, key TEXT NOT NULL, value,"
    " PRIMARY KEY(gpu_id, key)) WITHOUT ROWID",
    "CREATE TABLE trace("
    " trace_id INTEGER PRIMARY KEY, hash TEXT NOT NULL, program TEXT NOT NULL, UNIQUE(hash, program))",
    "CREATE TABLE kernel(kernel_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE source_file(file_id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE)",
    "CREATE TABLE instruction("
    " instruction_id INTEGER PRIMARY KEY, kernel_id INTEGER NOT NULL REFERENCES kernel,"
    " inst INTEGER NOT NULL CHECK(inst >= 0), pc INTEGER NOT NULL CHECK(pc >= 0),"
    " file_id INTEGER NOT NULL REFERENCES source_file, line INTEGER NOT NULL CHECK(line >= 0),"
    " mnemonic TEXT NOT NULL, UNIQUE(kernel_id, inst, pc, line, file_id, mnemonic))",
    "CREATE TABLE run("
    " run_id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " stored_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),"
    " gpu_id INTEGER NOT NULL REFERENCES gpu, trace_id INTEGER NOT NULL REFERENCES trace,"
    " trace_path TEXT NOT NULL, mode TEXT NOT NULL, version TEXT NOT NULL, seed TEXT NOT NULL,"
    " epoch_cycles INTEGER NOT NULL CHECK(epoch_cycles >= 0),"
    " cycles INTEGER NOT NULL CHECK(cycles >= 0), time_ps INTEGER NOT NULL CHECK(time_ps >= 0),"
    " warp_instructions INTEGER NOT NULL CHECK(warp_instructions >= 0),"
    " thread_instructions INTEGER NOT NULL CHECK(thread_instructions >= 0),"
    " energy_j REAL, confidence REAL NOT NULL, cycles_lo REAL NOT NULL, cycles_hi REAL NOT NULL,"
    " energy_lo_j REAL, energy_hi_j REAL, host_seconds REAL NOT NULL)",
    "CREATE INDEX run_by_trace ON run(trace_id, gpu_id)",
    "CREATE TABLE run_setting("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, ord INTEGER NOT NULL,"
    " key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(run_id, ord)) WITHOUT ROWID",
    "CREATE TABLE launch("
    " launch_id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    " ord INTEGER NOT NULL CHECK(ord >= 0), trace_index INTEGER NOT NULL CHECK(trace_index >= 0),"
    " kernel_id INTEGER NOT NULL REFERENCES kernel,"
    " grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,"
    " block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,"
    " registers_per_thread INTEGER NOT NULL, shared_bytes INTEGER NOT NULL,"
    " ctas_per_sm INTEGER NOT NULL, occupancy_limiter TEXT NOT NULL,"
    " cycles INTEGER NOT NULL CHECK(cycles >= 0), time_ps INTEGER NOT NULL CHECK(time_ps >= 0),"
    " warp_instructions INTEGER NOT NULL CHECK(warp_instructions >= 0),"
    " thread_instructions INTEGER NOT NULL CHECK(thread_instructions >= 0),"
    " resident_warp_cycles INTEGER NOT NULL CHECK(resident_warp_cycles >= 0),"
    " energy_j REAL, UNIQUE(run_id, ord))",
    "CREATE TABLE launch_counter("
    " launch_id INTEGER NOT NULL REFERENCES launch ON DELETE CASCADE,"
    " counter_id INTEGER NOT NULL REFERENCES counter, value INTEGER NOT NULL CHECK(value > 0),"
    " PRIMARY KEY(launch_id, counter_id)) WITHOUT ROWID",
    "CREATE TABLE launch_state("
    " launch_id INTEGER NOT NULL REFERENCES launch ON DELETE CASCADE,"
    " state_id INTEGER NOT NULL REFERENCES warp_state,"
    " warp_cycles INTEGER NOT NULL CHECK(warp_cycles > 0),"
    " PRIMARY KEY(launch_id, state_id)) WITHOUT ROWID",
    "CREATE TABLE launch_slot("
    " launch_id INTEGER NOT NULL REFERENCES launch ON DELETE CASCADE,"
    " cause_id INTEGER NOT NULL REFERENCES slot_cause, slots INTEGER NOT NULL CHECK(slots > 0),"
    " PRIMARY KEY(launch_id, cause_id)) WITHOUT ROWID",
    "CREATE TABLE launch_energy("
    " launch_id INTEGER NOT NULL REFERENCES launch ON DELETE CASCADE,"
    " component_id INTEGER NOT NULL REFERENCES component, dynamic_j REAL, static_j REAL,"
    " PRIMARY KEY(launch_id, component_id)) WITHOUT ROWID",
    "CREATE TABLE epoch("
    " launch_id INTEGER NOT NULL REFERENCES launch ON DELETE CASCADE,"
    " ord INTEGER NOT NULL CHECK(ord >= 0), first_cycle INTEGER NOT NULL CHECK(first_cycle >= 0),"
    " cycles INTEGER NOT NULL CHECK(cycles >= 0),"
    " warp_instructions INTEGER NOT NULL CHECK(warp_instructions >= 0),"
    " PRIMARY KEY(launch_id, ord)) WITHOUT ROWID",
    "CREATE TABLE epoch_state("
    " launch_id INTEGER NOT NULL, ord INTEGER NOT NULL,"
    " state_id INTEGER NOT NULL REFERENCES warp_state,"
    " warp_cycles INTEGER NOT NULL CHECK(warp_cycles > 0),"
    " PRIMARY KEY(launch_id, ord, state_id),"
    " FOREIGN KEY(launch_id, ord) REFERENCES epoch ON DELETE CASCADE) WITHOUT ROWID",
    "CREATE TABLE pc("
    " launch_id INTEGER NOT NULL REFERENCES launch ON DELETE CASCADE,"
    " ord INTEGER NOT NULL CHECK(ord >= 0),"
    " instruction_id INTEGER NOT NULL REFERENCES instruction,"
    " issues INTEGER NOT NULL CHECK(issues >= 0),"
    " thread_instructions INTEGER NOT NULL CHECK(thread_instructions >= 0),"
    " sectors INTEGER NOT NULL CHECK(sectors >= 0),"
    " l1_miss_sectors INTEGER NOT NULL CHECK(l1_miss_sectors >= 0),"
    " l2_miss_sectors INTEGER NOT NULL CHECK(l2_miss_sectors >= 0),"
    " shared_conflicts INTEGER NOT NULL CHECK(shared_conflicts >= 0),"
    " PRIMARY KEY(launch_id, ord)) WITHOUT ROWID",
    "CREATE TABLE pc_stall("
    " launch_id INTEGER NOT NULL, ord INTEGER NOT NULL,"
    " state_id INTEGER NOT NULL REFERENCES warp_state,"
    " warp_cycles INTEGER NOT NULL CHECK(warp_cycles > 0),"
    " PRIMARY KEY(launch_id, ord, state_id),"
    " FOREIGN KEY(launch_id, ord) REFERENCES pc ON DELETE CASCADE) WITHOUT ROWID",
    NULL,
};
