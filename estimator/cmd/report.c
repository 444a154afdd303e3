/* warpwatt report */
#include "../warpwatt.h"
#include "../base/outfile.h"
#include "cmd.h"
#include <stdlib.h>
#include <string.h>

/* ---- what is reported ---- */

struct loaded {
    struct ww_result **run;
    int64_t *id;
    size_t count;
    struct ww_trace **trace; /* of each run; NULL: its file is gone or another one */
    struct ww_explored *sweep;
    struct ww_sweep_ranking ranking;
    bool mangled, measured; /* measured: there is a ranking */
};

static void unload(struct loaded *l) {
    for (size_t i = 0; i < l->count; i++) ww_result_free(l->run[i]);
    for (size_t i = 0; l->trace && i < l->count; i++) ww_trace_close(l->trace[i]);
    free(l->trace);
    free(l->run);
    free(l->id);
    ww_explored_free(l->sweep);
}

static enum ww_code parse_runs(const char *const *number, size_t count, struct loaded *l,
                               struct ww_error *error) {
    l->run = calloc(count + 1, sizeof *l->run);
    l->id = calloc(count + 1, sizeof *l->id);
    if (!l->run || !l->id) return ww_fail_nomem(error, "the runs");
    for (size_t i = 0; i < count; i++)
        WW_TRY(ww_cmd_parse_stored(number[i], "run", "warpwatt report: option --run", &l->id[i], error));
    return WW_OK;
}

static enum ww_code load_runs(struct ww_db *db, size_t count, struct loaded *l, struct ww_error *error) {
    for (; l->count < count; l->count++) {
        WW_TRY(ww_cmd_load_run(db, &l->id[l->count], &l->run[l->count], error));
        l->run[l->count]->mangled = l->mangled;
    }
    return WW_OK;
}

static enum ww_code load(const struct cmd_line *line, const char *const *number, size_t count, struct loaded *l,
                         struct ww_error *error) {
    const char *sweep = ww_cmd_get(line, "sweep");
    int64_t id = 0;
    struct ww_db *db;
    WW_TRY(parse_runs(number, count, l, error));
    if (sweep) WW_TRY(ww_cmd_parse_stored(sweep, "sweep", "warpwatt report: option --sweep", &id, error));
    WW_TRY(ww_cmd_open_db(line, &db, error));
    enum ww_code code = load_runs(db, count, l, error);
    if (code == WW_OK && sweep) code = ww_db_load_sweep(db, id, &l->sweep, error);
    l->measured = ww_cmd_has(line, "measured");
    if (code == WW_OK && l->measured)
        code = ww_sweep_rank(db, l->sweep->sweep, ww_cmd_get(line, "measured"), ww_cmd_get(line, "column"),
                             l->sweep, &l->ranking, error);
    ww_db_close(db);
    return code;
}

/* ---- forms ---- */

static enum ww_code write_html(const struct ww_report_set *set, const char *path, struct ww_error *error) {
    struct ww_outfile file;
    WW_TRY(ww_outfile_stream(&file, path, WW_OUTFILE_PAGE, error));
    enum ww_code code = ww_report_html(set, file.stream, error);
    return ww_outfile_close(&file, code, error);
}

static enum ww_code print_run(const struct cmd_line *line, const struct ww_result *run, int64_t id,
                              struct ww_error *error) {
    uint64_t most = 20;
    bool json = ww_cmd_has(line, "json");
    WW_TRY(ww_cmd_u64(line, "most", 1, 1000000, &most, error));
    if (ww_cmd_has(line, "timeline")) return ww_report_timeline(run, id, stdout, error);
    if (ww_cmd_has(line, "source")) return ww_report_source(run, (size_t)most, json, stdout, error);
    return json ? ww_report_json(run, id, stdout, error) : ww_report_text(run, id, stdout, error);
}

/* The runs' traces at the paths that they were replayed from, if their content is the same; the page takes
 * texts from them. */
static enum ww_code open_traces(struct loaded *l, struct ww_error *error) {
    l->trace = calloc(l->count + 1, sizeof *l->trace);
    if (!l->trace) return ww_fail_nomem(error, "the traces");
    for (size_t i = 0; i < l->count; i++) {
        const struct ww_result *r = l->run[i];
        if (!r->trace || !r->trace_hash || ww_trace_open(r->trace, &l->trace[i], NULL) != WW_OK) continue;
        if (ww_trace_has_hash(l->trace[i], r->trace_hash)) continue;
        ww_trace_close(l->trace[i]);
        l->trace[i] = NULL;
    }
    return WW_OK;
}

static enum ww_code print(const struct cmd_line *line, struct loaded *l, struct ww_error *error) {
    if (ww_cmd_has(line, "html")) WW_TRY(open_traces(l, error));
    const struct ww_report_set set = {(const struct ww_result *const *)l->run,
                                      l->id,
                                      l->count,
                                      l->sweep,
                                      ww_cmd_get(line, "sources"),
                                      l->measured ? &l->ranking : NULL,
                                      l->trace,
                                      ww_trace_find_source};
    if (ww_cmd_has(line, "html")) return write_html(&set, ww_cmd_get(line, "html"), error);
    if (ww_cmd_has(line, "csv")) ww_cmd_screen_data();
    if (ww_cmd_has(line, "csv")) return ww_report_csv(&set, stdout, error);
    if (ww_cmd_has(line, "markdown")) return ww_report_markdown(&set, stdout, error);
    if (l->sweep) return ww_report_sweep(l->sweep, stdout, error);
    return print_run(line, l->run[0], l->id[0], error);
}

/* ---- the correlation page ---- */

static enum ww_code write_points(const struct cmd_line *line, const char *const *table, size_t count,
                                 struct ww_error *error) {
    const char *page = ww_cmd_get(line, "html");
    struct ww_points *points;
    struct ww_outfile file;
    if (!page || ww_cmd_has(line, "run") || ww_cmd_has(line, "sweep"))
        return ww_fail(error, WW_USAGE, "warpwatt report",
                       "--points goes with --html FILE, without --run and --sweep");
    for (size_t i = 0; i < count; i++) WW_TRY(ww_outfile_not_input(page, table[i], error));
    WW_TRY(ww_outfile_check(page, WW_OUTFILE_PAGE, error));
    WW_TRY(ww_points_read(table, count, &points, error));
    enum ww_code code = ww_outfile_stream(&file, page, WW_OUTFILE_PAGE, error);
    if (code == WW_OK) code = ww_outfile_close(&file, ww_points_html(points, file.stream, error), error);
    ww_points_free(points);
    return code;
}

/* ---- what goes together ---- */

static enum ww_code check_options(const struct cmd_line *line, size_t runs, struct ww_error *error) {
    static const char *const forms[] = {"html", "csv", "markdown", "timeline"};
    static const char where[] = "warpwatt report";
    const char *form = NULL;
    bool sweep = ww_cmd_has(line, "sweep");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!ww_cmd_has(line, forms[i])) continue;
        if (form || ww_cmd_has(line, "json") || ww_cmd_has(line, "source"))
            return ww_fail(error, WW_USAGE, where, "--%s together with %s; expected one of them", forms[i],
                           form ? "another form" : "--json or --source");
        form = forms[i];
    }
    if (ww_cmd_has(line, "sources") && !(runs && form && strcmp(form, "html") == 0))
        return ww_fail(error, WW_USAGE, where, "--sources goes with --run N and --html FILE");
    if (ww_cmd_has(line, "measured") && !(sweep && form && strcmp(form, "html") == 0))
        return ww_fail(error, WW_USAGE, where, "--measured goes with --sweep N and --html FILE");
    if (ww_cmd_has(line, "column") && !ww_cmd_has(line, "measured"))
        return ww_fail(error, WW_USAGE, where, "--column goes with --measured FILE");
    bool many = form && strcmp(form, "timeline") != 0;
    if (!runs && !sweep) return ww_fail(error, WW_USAGE, where, "expected --run N, or --sweep N");
    if (!form && sweep && !runs && !ww_cmd_has(line, "json") && !ww_cmd_has(line, "source")) return WW_OK;
    if (!many && (runs > 1 || sweep))
        return ww_fail(error, WW_USAGE, where,
                       "several runs, or a sweep: expected --html FILE, --csv or --markdown with them");
    if (form && strcmp(form, "csv") == 0 && runs && sweep)
        return ww_fail(error, WW_USAGE, where, "--csv of runs and of a sweep; expected one of them");
    return WW_OK;
}

/* Before the database is opened: base/outfile.h says why. */
static enum ww_code check_page(const struct cmd_line *line, struct ww_error *error) {
    const char *page = ww_cmd_get(line, "html");
    if (!page) return WW_OK;
    WW_TRY(ww_outfile_not_input(page, ww_cmd_db_path(line), error));
    if (ww_cmd_has(line, "measured")) WW_TRY(ww_outfile_not_input(page, ww_cmd_get(line, "measured"), error));
    return ww_outfile_check(page, WW_OUTFILE_PAGE, error);
}

static enum ww_code report_run(const struct cmd_line *line, struct ww_error *error) {
    const char **number = NULL, **table = NULL;
    size_t count = 0, tables = 0;
    struct loaded l = {.mangled = ww_cmd_has(line, "mangled")};
    WW_TRY(ww_cmd_all(line, "points", &table, &tables, error));
    if (tables) {
        enum ww_code written = write_points(line, table, tables, error);
        free(table);
        return written;
    }
    free(table);
    WW_TRY(ww_cmd_all(line, "run", &number, &count, error));
    enum ww_code code = check_options(line, count, error);
    if (code == WW_OK) code = check_page(line, error);
    if (code == WW_OK) code = load(line, number, count, &l, error);
    if (code == WW_OK) code = print(line, &l, error);
    unload(&l);
    free(number);
    return code;
}

static const struct cmd_option report_options[] = {
    {"run", 'r', "N",
     "number of a run (query --named runs lists them), or last; others are compared with the first",
     CMD_REPEAT},
    {"sweep", 0, "N", "number of a sweep (query --named sweeps), or last", 0},
    {"measured", 0, "FILE",
     "tab-separated file of measured variants, shown with the estimates of --sweep (docs/guide/tune.md)", 0},
    {"column", 0, "NAME", "of --measured: the measured times' column (default: median_ms, time_ms, ...)", 0},
    {"points", 0, "FILE",
     "launches of scripts/silicon.py --csv: with --html, a page of estimates over measurements", CMD_REPEAT},
    {"db", 'd', "FILE", "database (default warpwatt.db)", 0},
    {"html", 0, "FILE", "write one HTML page with plots, which needs no other file", 0},
    {"sources", 0, "DIR",
     "with --html: folder of the programs' sources, shown with counters by line if they are what was recorded",
     0},
    {"csv", 0, NULL, "print CSV: a row for each launch, or for each point of a sweep", 0},
    {"markdown", 0, NULL, "print Markdown tables", 0},
    {"source", 0, NULL, "source lines ranked by stall cycles", 0},
    {"most", 0, "N", "rows of --source at most (default 20)", 0},
    {"mangled", 0, NULL, "kernels' names as in the code; else demangled and shortened", 0},
    {"json", 0, NULL, "print JSON (reports/schema/report.json)", 0},
    {"timeline", 0, NULL, "print Chrome trace events, which Perfetto opens", 0},
    {0}};
const struct cmd ww_cmd_report = {
    .arguments = "",
    .about = "Text of one run, or of a sweep, without an option for another form. HTML, CSV and Markdown take\n"
             "several runs, or a sweep. docs/reference/report.md shows what each form has.\n",
    .examples = "warpwatt report --run last --db r.db\nwarpwatt report --run 1 --source --db r.db\n"
                "warpwatt report --run 1 --run 2 --html report.html --db r.db\n"
                "warpwatt report --sweep last --csv --db r.db >points.csv\n"
                "warpwatt report --points gv100.csv --html correlation.html\n"
                "warpwatt report --run 1 --timeline --db r.db >timeline.json\n",
    .options = report_options,
    .run = report_run,
};
