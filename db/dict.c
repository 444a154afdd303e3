/* Dictionary tables: names, units and meanings of counters, states, slots and components. */
#include "../estimator/api/database.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "db.h"
#include <string.h>

/* A further column: its title and the source of its texts. */
struct column {
    const char *title;
    const char *(*text)(int i);
};

struct list {
    const char *table, *id;
    const char *(*name)(int i);
    struct column column[3];
    int count;
};

#define AS_INT(fn, type)                                                                                       \
    static const char *fn(int i) {                                                                             \
        return ww_##fn((enum type)i);                                                                          \
    }
AS_INT(counter_name, ww_counter)
AS_INT(counter_unit, ww_counter)
AS_INT(counter_level, ww_counter)
AS_INT(counter_help, ww_counter)
AS_INT(state_name, ww_warp_state)
AS_INT(state_nsight, ww_warp_state)
AS_INT(state_help, ww_warp_state)
AS_INT(slot_name, ww_slot)
AS_INT(slot_help, ww_slot)
AS_INT(component_name, ww_component)
AS_INT(component_help, ww_component)

static const struct list lists[] = {
    {"counter",
     "counter_id",
     counter_name,
     {{"unit", counter_unit}, {"level", counter_level}, {"help", counter_help}},
     WW_COUNTER_COUNT},
    {"warp_state", "state_id", state_name, {{"nsight", state_nsight}, {"help", state_help}}, WW_STATE_COUNT},
    {"slot_cause", "cause_id", slot_name, {{"help", slot_help}}, WW_SLOT_COUNT},
    {"component", "component_id", component_name, {{"help", component_help}}, WW_COMPONENT_COUNT},
};
enum { LISTS = sizeof lists / sizeof *lists, COLUMNS = 3 };

/* INSERT of a name and its texts that updates what has changed since it was stored. */
static char *upsert_sql(struct ww_db *db, const struct list *list) {
    sqlite3_str *sql = sqlite3_str_new(db->sql);
    sqlite3_str_appendf(sql, "INSERT INTO %s(name", list->table);
    for (int c = 0; c < COLUMNS && list->column[c].title; c++)
        sqlite3_str_appendf(sql, ", %s", list->column[c].title);
    sqlite3_str_appendall(sql, ") VALUES(?1");
    for (int c = 0; c < COLUMNS && list->column[c].title; c++) sqlite3_str_appendf(sql, ", ?%d", c + 2);
    sqlite3_str_appendall(sql, ") ON CONFLICT(name) DO UPDATE SET ");
    for (int c = 0; c < COLUMNS && list->column[c].title; c++)
        sqlite3_str_appendf(sql, "%s%s = excluded.%s", c ? ", " : "", list->column[c].title,
                            list->column[c].title);
    return sqlite3_str_finish(sql);
}

static enum ww_code sync_list(struct ww_db *db, const struct list *list, struct ww_error *error) {
    char *sql = upsert_sql(db, list);
    if (!sql) return ww_fail_nomem(error, "an SQL statement");
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL);
    sqlite3_free(sql);
    for (int i = 0; rc == SQLITE_OK && i < list->count; i++) {
        sqlite3_bind_text(stmt, 1, list->name(i), -1, SQLITE_STATIC);
        for (int c = 0; c < COLUMNS && list->column[c].title; c++)
            sqlite3_bind_text(stmt, c + 2, list->column[c].text(i), -1, SQLITE_STATIC);
        rc = sqlite3_step(stmt) == SQLITE_DONE ? sqlite3_reset(stmt) : SQLITE_ERROR;
    }
    enum ww_code code = rc == SQLITE_OK ? WW_OK : ww_db_fail(db, list->table, error);
    sqlite3_finalize(stmt);
    return code;
}

enum ww_code ww_dict_sync(struct ww_db *db, struct ww_error *error) {
    for (int i = 0; i < LISTS; i++) WW_TRY(sync_list(db, &lists[i], error));
    return WW_OK;
}

static enum ww_code read_list(struct ww_db *db, const struct list *list, int64_t *ids, struct ww_error *error) {
    for (int i = 0; i < list->count; i++) ids[i] = -1;
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT name, %s FROM %s", list->id, list->table);
    struct ww_select s;
    WW_TRY(ww_select_open(&s, db, sql, 0, error));
    while (ww_select_row(&s)) {
        const char *name = (const char *)sqlite3_column_text(s.stmt, 0);
        for (int i = 0; name && i < list->count; i++)
            if (strcmp(name, list->name(i)) == 0) ids[i] = sqlite3_column_int64(s.stmt, 1);
    }
    return ww_select_close(&s);
}

enum ww_code ww_dict_read(struct ww_db *db, struct ww_dict *dict, struct ww_error *error) {
    WW_TRY(read_list(db, &lists[0], dict->counter, error));
    WW_TRY(read_list(db, &lists[1], dict->state, error));
    WW_TRY(read_list(db, &lists[2], dict->slot, error));
    return read_list(db, &lists[3], dict->component, error);
}

int ww_dict_find(const int64_t *ids, int count, int64_t id) {
    for (int i = 0; i < count; i++)
        if (ids[i] == id && id >= 0) return i;
    return -1;
}
