/* Counters of instructions that are younger than the table pc: a step of the schema adds their columns, and
 * makes v_source anew, from inst_counter.def. */
#include "../estimator/api/database.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "db.h"
#include "schema.h"

static enum ww_code add_column(struct ww_db *db, const char *name, struct ww_error *error) {
    char *sql = sqlite3_mprintf("ALTER TABLE pc ADD COLUMN %s INTEGER CHECK(%s >= 0)", name, name);
    if (!sql) return ww_fail_nomem(error, "a column");
    enum ww_code code = ww_db_exec(db, sql, "making the tables", error);
    sqlite3_free(sql);
    return code;
}

/* Source lines of a run, with the counters that there are at this step. */
static char *source_view(int step) {
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql,
                          "CREATE VIEW v_source AS SELECT l.run_id AS run_id, k.name AS kernel, f.path AS file,"
                          " i.line AS line, coalesce(t.stall_warp_cycles, 0) AS stall_warp_cycles,"
                          " t.top_stall AS top_stall");
    for (int i = 0; i < WW_INST_COUNTER_COUNT; i++) {
        const char *name = ww_inst_counter_name((enum ww_inst_counter)i);
        if (ww_inst_counter_step((enum ww_inst_counter)i) <= step)
            sqlite3_str_appendf(sql, ", sum(p.%s) AS %s", name, name);
    }
    if (step >= ww_inst_counter_step(WW_I_IDEAL_SECTORS)) sqlite3_str_appendall(sql, WW_DB_PER_REQUEST);
    sqlite3_str_appendall(sql,
                          " FROM launch l JOIN pc p USING(launch_id) JOIN instruction i USING(instruction_id)"
                          " JOIN kernel k ON k.kernel_id = i.kernel_id JOIN source_file f USING(file_id)"
                          " LEFT JOIN v_source_top t ON t.run_id = l.run_id AND t.kernel_id = i.kernel_id"
                          " AND t.file_id = i.file_id AND t.line = i.line"
                          " GROUP BY l.run_id, i.kernel_id, i.file_id, i.line");
    return sqlite3_str_finish(sql);
}

enum ww_code ww_db_inst_step(struct ww_db *db, int step, struct ww_error *error) {
    bool any = false;
    for (int i = 0; i < WW_INST_COUNTER_COUNT && step > 1; i++) {
        if (ww_inst_counter_step((enum ww_inst_counter)i) != step) continue;
        WW_TRY(add_column(db, ww_inst_counter_name((enum ww_inst_counter)i), error));
        any = true;
    }
    if (!any) return WW_OK;
    WW_TRY(ww_db_exec(db, "DROP VIEW v_source", "making the tables", error));
    char *sql = source_view(step);
    if (!sql) return ww_fail_nomem(error, "a view");
    enum ww_code code = ww_db_exec(db, sql, "making the tables", error);
    sqlite3_free(sql);
    return code;
}
