/* warpwatt hardware import and list, correlate, gpu derive: measurements of real GPUs. */
#include "../warpwatt.h"
#include "../base/escape.h"
#include "../base/jsonw.h"
#include "cmd.h"
#include <stdlib.h>
#include <string.h>

/* ---- hardware import ---- */

static enum ww_code store(const struct cmd_line *line, const struct ww_measured *m, struct ww_error *error) {
    struct ww_db *db;
    int64_t id;
    bool stored;
    WW_TRY(ww_db_open(ww_cmd_db_path(line), true, &db, error));
    enum ww_code code = ww_db_store_measured(db, m, &id, &stored, error);
    ww_db_close(db);
    if (code != WW_OK) return code;
    printf("measurement %lld: %s, %zu figures, %zu launches%s%s\n", (long long)id,
           m->gpu[0] ? ww_shown(m->gpu) : "GPU not named", m->figure_count, m->point_count,
           stored ? "" : "; it was there already",
           m->quick ? "; made with --quick, nothing in it is a measurement" : "");
    return WW_OK;
}

static enum ww_code import_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_measured *m;
    WW_TRY(ww_measured_load(line->argument[0], &m, error));
    enum ww_code code = store(line, m, error);
    ww_measured_free(m);
    return code;
}

static const struct cmd_option import_options[] = {{"db", 'd', "FILE", "database (default warpwatt.db)", 0},
                                                   {0}};
const struct cmd ww_cmd_hardware_import = {
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .about = "FILE is what build/hardware-kit wrote on a GPU, or a CSV of measured figures\n"
             "(docs/reference/hardware.md). The same file is stored once.\n",
    .examples = "warpwatt hardware import h200.json --db r.db\n",
    .options = import_options,
    .run = import_run,
};

/* ---- correlate ---- */

struct request {
    struct ww_correlate_options o;
    struct ww_measured *measured;
    struct ww_db *db;
    const char **set, **mech, **workload;
};

/* The estimates of runs in the database, by the name of their trace. */
static enum ww_code find_in_db(void *context, const struct ww_measured_point *p, struct ww_result **result,
                               struct ww_error *error) {
    struct request *r = context;
    int64_t id;
    WW_TRY(ww_db_find_run(r->db, p->workload, r->o.gpu, &id, error));
    return ww_db_load(r->db, id, result, error);
}

static enum ww_code load_measured(const struct cmd_line *line, struct request *r, struct ww_error *error) {
    const char *file = ww_cmd_get(line, "measured"), *id = ww_cmd_get(line, "hardware");
    uint64_t number = 0;
    if ((file != NULL) + (id != NULL) != 1)
        return ww_fail(error, WW_USAGE, "warpwatt correlate",
                       "expected --measured FILE or --hardware N, one of them");
    if (id && strcmp(id, "last") != 0)
        WW_TRY(ww_cmd_parse_u64(id, "warpwatt correlate: option --hardware", 1, INT64_MAX, &number, error));
    if (id || ww_cmd_has(line, "runs")) WW_TRY(ww_db_open(ww_cmd_db_path(line), false, &r->db, error));
    return file ? ww_measured_load(file, &r->measured, error)
                : ww_db_load_measured(r->db, (int64_t)number, &r->measured, error);
}

static enum ww_code format_of(const struct cmd_line *line, enum ww_format *format, struct ww_error *error) {
    if (ww_cmd_has(line, "json") && ww_cmd_has(line, "csv"))
        return ww_fail(error, WW_USAGE, "warpwatt correlate", "--json and --csv; expected one at most");
    if (ww_cmd_has(line, "scatter") && (ww_cmd_has(line, "json") || ww_cmd_has(line, "csv")))
        return ww_fail(error, WW_USAGE, "warpwatt correlate",
                       "--scatter is for the table, not for --json or --csv");
    *format = ww_cmd_has(line, "json")  ? WW_FORMAT_JSON
              : ww_cmd_has(line, "csv") ? WW_FORMAT_CSV
                                        : WW_FORMAT_TABLE;
    return WW_OK;
}

static enum ww_code correlate(const struct cmd_line *line, struct request *r, struct ww_error *error) {
    struct cmd_progress progress;
    struct ww_correlation *c = NULL;
    enum ww_format format = WW_FORMAT_TABLE;
    WW_TRY(format_of(line, &format, error));
    WW_TRY(load_measured(line, r, error));
    if (ww_cmd_get(line, "trace")) WW_TRY(ww_measured_of_trace(r->measured, ww_cmd_get(line, "trace"), error));
    r->o.measured = r->measured;
    r->o.progress = ww_cmd_progress_step;
    r->o.context = &progress;
    if (ww_cmd_has(line, "runs")) {
        r->o.find = find_in_db;
        r->o.find_context = r;
    }
    ww_cmd_progress_begin(&progress, "correlate", ww_cmd_has(line, "quiet"));
    enum ww_code code = ww_cmd_progress_end(&progress, ww_correlate(&r->o, &c, error), error);
    if (format == WW_FORMAT_CSV) ww_cmd_screen_data();
    if (code == WW_OK) code = ww_correlation_print(c, format, stdout, error);
    if (code == WW_OK && ww_cmd_has(line, "scatter")) ww_correlation_scatter(c, stdout);
    if (code == WW_OK && ww_cmd_get(line, "plots"))
        code = ww_correlation_plots(c, ww_cmd_get(line, "plots"), error);
    ww_correlation_free(c);
    return code;
}

/* ---- correlate --space ---- */

static void print_ranking(const struct ww_sweep_ranking *r) {
    printf("sweep %lld on %s: %llu variants", (long long)r->sweep, ww_shown(r->gpu),
           (unsigned long long)r->variants);
    if (r->unmatched) printf(", %llu points are not in the table", (unsigned long long)r->unmatched);
    printf("\n  Spearman %.4f, Kendall %.4f\n  regret", r->spearman, r->kendall);
    for (int k = 0; k < WW_SWEEP_TOPS; k++)
        printf("%s of our best %llu %.2f %%", k ? "," : "", (unsigned long long)r->top[k], 100 * r->regret[k]);
    printf("\n  times: %.1f %% mean absolute error, %.3f of the measured ones in the median\n",
           100 * r->mean_abs_error, r->median_ratio);
}

static enum ww_code print_ranking_json(const struct ww_sweep_ranking *r, struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_u64(&w, "sweep", (uint64_t)r->sweep);
    ww_jsonw_str(&w, "gpu", r->gpu);
    ww_jsonw_u64(&w, "variants", r->variants);
    ww_jsonw_u64(&w, "unmatched", r->unmatched);
    ww_jsonw_f64(&w, "spearman", r->spearman);
    ww_jsonw_f64(&w, "kendall", r->kendall);
    for (int k = 0; k < WW_SWEEP_TOPS; k++) {
        char key[32];
        snprintf(key, sizeof key, "regret_top_%llu", (unsigned long long)r->top[k]);
        ww_jsonw_f64(&w, key, r->regret[k]);
    }
    ww_jsonw_f64(&w, "mean_abs_error", r->mean_abs_error);
    ww_jsonw_f64(&w, "median_ratio", r->median_ratio);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

static enum ww_code correlate_space(const struct cmd_line *line, struct ww_error *error) {
    static const char *const others[] = {"measured", "hardware", "gpu",    "set",      "mech",
                                         "power",    "workload", "metric", "launches", "runs",
                                         "traces",   "scatter",  "plots",  "csv"};
    struct ww_sweep_ranking r;
    struct ww_db *db;
    uint64_t sweep = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ww_cmd_has(line, others[i]))
            return ww_fail(error, WW_USAGE, "warpwatt correlate", "option --%s is not for --space", others[i]);
    WW_TRY(ww_cmd_u64(line, "sweep", 1, INT64_MAX, &sweep, error));
    WW_TRY(ww_db_open(ww_cmd_db_path(line), false, &db, error));
    enum ww_code code = ww_sweep_rank(db, (int64_t)sweep, ww_cmd_get(line, "space"), ww_cmd_get(line, "column"),
                                      NULL, &r, error);
    ww_db_close(db);
    if (code != WW_OK) return code;
    if (ww_cmd_has(line, "json")) return print_ranking_json(&r, error);
    print_ranking(&r);
    return WW_OK;
}

static enum ww_code correlate_run(const struct cmd_line *line, struct ww_error *error) {
    if (ww_cmd_has(line, "space")) return correlate_space(line, error);
    if (ww_cmd_has(line, "sweep") || ww_cmd_has(line, "column"))
        return ww_fail(error, WW_USAGE, "warpwatt correlate", "options --sweep and --column are of --space");
    if (!ww_cmd_has(line, "gpu"))
        return ww_fail(error, WW_USAGE, "warpwatt correlate", "option --gpu GPU is missing; it is required");
    struct request r = {.o = {.gpu = ww_cmd_get(line, "gpu"),
                              .metric = ww_cmd_get(line, "metric"),
                              .traces = ww_cmd_get(line, "traces"),
                              .power_table = ww_cmd_get(line, "power"),
                              .cache_control = ww_cmd_get(line, "cache-control"),
                              .clock_control = ww_cmd_get(line, "clock-control"),
                              .launches = ww_cmd_has(line, "launches")}};
    enum ww_code code = ww_cmd_all(line, "set", &r.set, &r.o.override_count, error);
    if (code == WW_OK) code = ww_cmd_all(line, "mech", &r.mech, &r.o.mechanism_count, error);
    if (code == WW_OK) code = ww_cmd_all(line, "workload", &r.workload, &r.o.workload_count, error);
    r.o.overrides = r.set;
    r.o.mechanisms = r.mech;
    r.o.workloads = r.workload;
    if (code == WW_OK) code = correlate(line, &r, error);
    ww_measured_free(r.measured);
    ww_db_close(r.db);
    free(r.set);
    free(r.mech);
    free(r.workload);
    return code;
}

static const struct cmd_option correlate_options[] = {
    {"measured", 0, "FILE",
     "measurements: the kit's JSON, a CSV, or what ncu --csv printed (docs/reference/hardware.md)", 0},
    {"hardware", 0, "N", "measurements that were imported: their number, or last", 0},
    {"space", 0, "FILE",
     "tab-separated file of measured variants, to compare with a sweep's times (docs/guide/tune.md)", 0},
    {"sweep", 0, "N", "of --space: the sweep (default: the latest)", 0},
    {"column", 0, "NAME",
     "of --space: the measured times' column (default: median_ms, time_ms, duration_us, ...)", 0},
    {"gpu", 'g', "GPU", "model to estimate with: a name (gpu list) or a path that ends in .json", 0},
    {"set", 's', "KEY=VALUE", "override a GPU parameter", CMD_REPEAT},
    {"mech", 'm', "KIND=NAME", "choose a mechanism, or set its parameter", CMD_REPEAT},
    {"power", 0, "TABLE", "power table for energies (default: the GPU's)", 0},
    {"workload", 'w', "WORKLOAD", "only this workload or trace", CMD_REPEAT},
    {"trace", 't', "FILE", "the trace whose launches were measured, whatever the measurement calls it", 0},
    {"cache-control", 0, "CACHES",
     "before each launch: keep (default), flush as ncu does by default, flush-once if ncu needs one pass "
     "only, or flush-sm if that leaves the L2 as it was",
     0},
    {"clock-control", 0, "CLOCK",
     "SM and L2 clock: base (ncu's default), boost, or MHz of the SMs (default: the model's)", 0},
    {"metric", 0, "METRIC", "only time_s, cycles, power_w or energy_j", 0},
    {"launches", 0, NULL, "a row for each launch, not for each kernel", 0},
    {"runs", 0, NULL, "estimates are the latest runs in the database, by their traces' names", 0},
    {"traces", 0, "DIR", "keep recordings in this folder and use those that are there", 0},
    {"db", 'd', "FILE", "database of --hardware, --runs and --space (default warpwatt.db)", 0},
    {"scatter", 0, NULL, "print a scatter plot of each metric after the table", 0},
    {"plots", 0, "DIR", "write scatter plots into this folder: data, a gnuplot script, SVG and PNG", 0},
    {"json", 0, NULL, "print JSON (reports/schema/correlate.json)", 0},
    {"csv", 0, NULL, "print CSV", 0},
    {"quiet", 'q', NULL, "show no progress", 0},
    {0}};
const struct cmd ww_cmd_correlate = {
    .arguments = "",
    .about = "Compares estimates with measurements: each measured workload is recorded with\n"
             "the same parameters and seed and replayed on the model. Mean absolute and mean\n"
             "error, Pearson's and Spearman's correlation, the worst cases.\n",
    .examples = "warpwatt correlate --measured h200.json --gpu h200 --workload saxpy\n"
                "warpwatt correlate --measured ncu.csv --trace saxpy.wwt --gpu v100 --cache-control flush "
                "--clock-control base\n"
                "warpwatt correlate --measured m.csv --gpu gtx480 --csv\n"
                "warpwatt correlate --measured m.csv --gpu gtx480 --scatter --plots figures\n",
    .options = correlate_options,
    .run = correlate_run,
};

/* ---- gpu derive ---- */

static enum ww_code derive_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_measured *m;
    const char *out = ww_cmd_get(line, "out");
    WW_TRY(ww_measured_load(ww_cmd_get(line, "measured"), &m, error));
    enum ww_code code = ww_measured_derive(m, ww_cmd_get(line, "base"), out, stdout, error);
    ww_measured_free(m);
    return code;
}

static const struct cmd_option derive_options[] = {
    {"measured", 0, "FILE", "what build/hardware-kit wrote", CMD_REQUIRED},
    {"base", 0, "GPU", "model that the rest comes from", CMD_REQUIRED},
    {"out", 'o', "FILE", "GPU file to write", CMD_REQUIRED},
    {0}};
const struct cmd ww_cmd_gpu_derive = {
    .arguments = "",
    .about = "Writes a GPU file that inherits from a model and takes latencies, rates and clocks\n"
             "from microbenchmarks, each with its source; never from the workload suite.\n"
             "docs/reference/hardware.md says how.\n",
    .examples = "warpwatt gpu derive --measured h200.json --base h200 -o my-h200.json\n",
    .options = derive_options,
    .run = derive_run,
};
