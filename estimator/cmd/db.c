/* warpwatt compare, query: what reads the database. */
#include "../warpwatt.h"
#include "../base/nearest.h"
#include "cmd.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_DB "warpwatt.db"

const char *ww_cmd_db_path(const struct cmd_line *line) {
    const char *path = ww_cmd_get(line, "db");
    return path ? path : DEFAULT_DB;
}

enum ww_code ww_cmd_open_db(const struct cmd_line *line, struct ww_db **db, struct ww_error *error) {
    return ww_db_open(ww_cmd_db_path(line), false, db, error);
}

#define LAST_RUN 0 /* the number for "last"; stored runs count from 1 */

enum ww_code ww_cmd_parse_stored(const char *text, const char *what, const char *where, int64_t *id,
                                 struct ww_error *error) {
    uint64_t v = LAST_RUN;
    if (strcmp(text, "last") != 0 && ww_cmd_parse_u64(text, where, 1, INT64_MAX, &v, NULL) != WW_OK)
        return ww_fail(error, WW_USAGE, where, "\"%.80s\": expected the number of a %s, or last", text, what);
    *id = (int64_t)v;
    return WW_OK;
}

/* Loads a run; *id then is its number. */
enum ww_code ww_cmd_load_run(struct ww_db *db, int64_t *id, struct ww_result **result, struct ww_error *error) {
    if (*id == LAST_RUN) WW_TRY(ww_db_last_run(db, id, error));
    return ww_db_load(db, *id, result, error);
}

/* ---- compare ---- */

static enum ww_code load_both(struct ww_db *db, int64_t a, int64_t b, bool json, struct ww_error *error) {
    struct ww_result *x = NULL, *y = NULL;
    enum ww_code code = ww_cmd_load_run(db, &a, &x, error);
    if (code == WW_OK) code = ww_cmd_load_run(db, &b, &y, error);
    if (code == WW_OK) code = ww_report_compare(x, a, y, b, json, stdout, error);
    ww_result_free(x);
    ww_result_free(y);
    return code;
}

static enum ww_code compare_run(const struct cmd_line *line, struct ww_error *error) {
    int64_t a, b;
    WW_TRY(ww_cmd_parse_stored(line->argument[0], "run", "warpwatt compare: BASE_RUN", &a, error));
    WW_TRY(ww_cmd_parse_stored(line->argument[1], "run", "warpwatt compare: NEW_RUN", &b, error));
    struct ww_db *db;
    WW_TRY(ww_cmd_open_db(line, &db, error));
    enum ww_code code = load_both(db, a, b, ww_cmd_has(line, "json"), error);
    ww_db_close(db);
    return code;
}

static const struct cmd_option compare_options[] = {
    {"db", 'd', "FILE", "database (default warpwatt.db)", 0}, {"json", 0, NULL, "print JSON", 0}, {0}};
const struct cmd ww_cmd_compare = {
    .arguments = "BASE_RUN NEW_RUN",
    .min_arguments = 2,
    .max_arguments = 2,
    .about = "Runs are named by their numbers (warpwatt query --named runs), or last.\n",
    .examples = "warpwatt compare 1 2 --db r.db\nwarpwatt compare 1 last --db r.db\n",
    .options = compare_options,
    .run = compare_run,
};

/* ---- query ---- */

static enum ww_code list_queries(bool names_only, struct ww_error *error) {
    struct cmd_table t = {.columns = 2};
    ww_cmd_table_cell(&t, "query");
    ww_cmd_table_cell(&t, "what it answers");
    for (size_t i = 0; i < ww_db_named_count(); i++) {
        const struct ww_named_query *q = ww_db_named(i);
        ww_cmd_table_cell(&t, q->name);
        ww_cmd_table_cell(&t, q->help);
        if (names_only) puts(q->name);
    }
    if (!names_only) return ww_cmd_table_print(&t, stdout, error);
    for (size_t i = 0; i < t.count; i++) free(t.cell[i]);
    free(t.cell);
    return WW_OK;
}

static enum ww_code check_named(const char *name, struct ww_error *error) {
    if (ww_db_named_find(name)) return WW_OK;
    struct ww_nearest near;
    ww_nearest_init(&near, name);
    for (size_t i = 0; i < ww_db_named_count(); i++) ww_nearest_offer(&near, ww_db_named(i)->name);
    const char *best = ww_nearest_get(&near);
    return ww_fail(error, WW_USAGE, "warpwatt query",
                   "unknown query \"%.80s\"%s%s%s; see warpwatt query --list", name,
                   best ? "; did you mean \"" : "", best ? best : "", best ? "\"?" : "");
}

static enum ww_code query_format(const struct cmd_line *line, enum ww_format *format, struct ww_error *error) {
    const char *name = ww_cmd_get(line, "format");
    if (ww_cmd_has(line, "json") + ww_cmd_has(line, "csv") + (name != NULL) > 1)
        return ww_fail(error, WW_USAGE, "warpwatt query",
                       "more than one of --format, --json and --csv; expected one at most");
    if (ww_cmd_has(line, "json")) name = "json";
    if (ww_cmd_has(line, "csv")) name = "csv";
    *format = WW_FORMAT_TABLE;
    if (!name || strcmp(name, "table") == 0) return WW_OK;
    *format = strcmp(name, "csv") == 0 ? WW_FORMAT_CSV : WW_FORMAT_JSON;
    if (strcmp(name, "csv") == 0 || strcmp(name, "json") == 0) return WW_OK;
    return ww_fail(error, WW_USAGE, "warpwatt query: option --format", "\"%.80s\": expected table, csv or json",
                   name);
}

/* With --named an argument is a value. SQL there is a mistake, and would match nothing without an error. */
static enum ww_code refuse_both(const struct cmd_line *line, struct ww_error *error) {
    static const char *const begin[] = {"SELECT", "WITH", "VALUES"};
    const char *word = line->argument_count ? line->argument[0] : "";
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
        size_t n = strlen(begin[i]);
        if (strncasecmp(word, begin[i], n) == 0 && strchr(" \t\n(*", word[n]) && word[n])
            return ww_fail(error, WW_USAGE, "warpwatt query", "expected SQL or --named QUERY, not both");
    }
    return WW_OK;
}

/* False only if the database surely has none. */
static bool has_sweep(struct ww_db *db) {
    struct ww_error ignored;
    FILE *sink = fopen("/dev/null", "w"); /* the number of rows is all that is asked for */
    if (!sink) return true;
    enum ww_code code = ww_db_query(db, "SELECT 1 FROM sweep LIMIT 1", NULL, 0, WW_FORMAT_CSV, sink, &ignored);
    fclose(sink);
    return code != WW_OK || ww_db_rows(db) > 0;
}

/* Why a table may be empty, where the table alone does not say it. */
static void explain_empty(struct ww_db *db, const char *named) {
    static const struct {
        const char *query, *why;
    } empty[] = {
        {"front", "no point of the sweep is valid, computed, within its constraints, and has all objectives"},
        {"best", "no point of the sweep is valid, computed, and within its constraints"},
        {"sensitivity",
         "the sweep is not complete, its valid points are too few, or a condition lets parameters change only "
         "together (\"with\" in its place: docs/guide/sweep.md)"},
    };
    if (strstr(ww_db_named_find(named)->sql, ":sweep") && !has_sweep(db)) {
        fprintf(stderr, "warpwatt query: %s: there is no sweep yet; `warpwatt sweep` stores one\n", named);
        return;
    }
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        if (strcmp(named, empty[i].query) == 0)
            fprintf(stderr, "warpwatt query: %s: %s; see --named explored\n", named, empty[i].why);
}

static enum ww_code query_run(const struct cmd_line *line, struct ww_error *error) {
    if (ww_cmd_has(line, "list") || ww_cmd_has(line, "names"))
        return list_queries(ww_cmd_has(line, "names"), error);
    const char *named = ww_cmd_get(line, "named");
    enum ww_format format;
    uint64_t steps = 0;
    WW_TRY(query_format(line, &format, error));
    WW_TRY(ww_cmd_u64(line, "limit-steps", 1, INT64_MAX, &steps, error));
    if (named) WW_TRY(check_named(named, error));
    if (named) WW_TRY(refuse_both(line, error));
    if (!named && !line->argument_count)
        return ww_fail(error, WW_USAGE, "warpwatt query", "expected SQL, --named QUERY or --list");
    if (format == WW_FORMAT_CSV) ww_cmd_screen_data();
    struct ww_db *db;
    WW_TRY(ww_cmd_open_db(line, &db, error));
    ww_db_limit_steps(db, steps);
    enum ww_code code =
        named ? ww_db_query_named(db, named, line->argument, line->argument_count, format, stdout, error)
              : ww_db_query(db, line->argument[0], line->argument + 1, line->argument_count - 1, format, stdout,
                            error);
    if (code == WW_OK && named && ww_db_rows(db) == 0) explain_empty(db, named);
    ww_db_close(db);
    return code;
}

static const struct cmd_option query_options[] = {
    {"db", 'd', "FILE", "database (default warpwatt.db)", 0},
    {"named", 'n', "QUERY", "a named query instead of SQL", 0},
    {"list", 0, NULL, "list the named queries", 0},
    {"names", 0, NULL, "print the names of the named queries only, one a line", 0},
    {"format", 'f', "FORMAT", "table (default), csv or json", 0},
    {"json", 0, NULL, "the same as --format json", 0},
    {"csv", 0, NULL, "the same as --format csv", 0},
    {"limit-steps", 0, "N", "end with an error after N operations of SQLite (default: no limit)", 0},
    {0}};
const struct cmd ww_cmd_query = {
    .arguments = "[SQL] [VALUE...]",
    .max_arguments = 32,
    .about = "One statement that reads only. A VALUE is bound to the ? of its place, or, as\n"
             ":name=value, to that name. Parameters of a named query are optional; a run's\n"
             "number may be last. docs/reference/query.md describes tables, views and queries.\n",
    .examples = "warpwatt query --named workloads --db r.db\n"
                "warpwatt query --named stalls :run=1 --db r.db\n"
                "warpwatt query 'SELECT run_id, cycles FROM v_run WHERE gpu = ?' gtx480 --csv --db r.db\n",
    .options = query_options,
    .run = query_run,
};
