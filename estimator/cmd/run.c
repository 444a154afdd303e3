/* warpwatt run */
#include "../warpwatt.h"
#include "../base/escape.h"
#include "cmd.h"
#include <stdlib.h>
#include <string.h>

static enum ww_code finish(const struct cmd_line *line, const struct ww_gpu *gpu,
                           const struct ww_result *result, struct ww_error *error) {
    const char *db = ww_cmd_get(line, "db");
    int64_t id = -1;
    if (db) WW_TRY(ww_db_store_at(db, result, &id, error));
    bool json = ww_cmd_has(line, "json");
    if (ww_cmd_has(line, "quiet") && !json) return WW_OK;
    WW_TRY(ww_report_summary(result, id, json, stdout, error));
    if (!db && !json) puts("not stored; --db FILE keeps it for report, compare and query");
    const char *table = result->energy_known || ww_cmd_has(line, "power") ? NULL : ww_gpu_ancestor_table(gpu);
    if (table && !json)
        fprintf(
            stderr,
            "warpwatt: %s has no power table of its own; --power %s takes that of the GPU it inherits from\n",
            ww_shown(ww_gpu_name(gpu)), ww_shown(table));
    return WW_OK;
}

static enum ww_code replay(const struct cmd_line *line, struct ww_run_options *options,
                           struct ww_error *error) {
    struct cmd_progress progress;
    struct ww_result *result = NULL;
    options->progress = ww_cmd_progress_step;
    options->context = &progress;
    ww_cmd_progress_begin(&progress, options->trace_path, ww_cmd_has(line, "quiet"));
    options->weigh = !progress.quiet;
    enum ww_code code = ww_run(options, &result, error);
    code = ww_cmd_progress_end(&progress, code, error);
    if (code == WW_OK && result->warning) {
        fputs("warpwatt: warning: ", stderr);
        ww_put_text(stderr, result->warning);
        fputc('\n', stderr);
    }
    if (code == WW_OK) code = finish(line, options->gpu, result, error);
    ww_result_free(result);
    return code;
}

static enum ww_code read_options(const struct cmd_line *line, struct ww_run_options *o,
                                 struct ww_error *error) {
    uint64_t epoch = 0, threads = 1;
    WW_TRY(ww_cmd_u64(line, "epoch", 64, 1u << 30, &epoch, error));
    WW_TRY(ww_cmd_u64(line, "seed", 0, INT64_MAX, &o->seed, error));
    WW_TRY(ww_cmd_u64(line, "threads", 1, 16, &threads, error));
    o->trace_path = ww_cmd_get(line, "trace");
    o->launches = ww_cmd_get(line, "launches");
    o->mode = ww_cmd_has(line, "mode") ? ww_cmd_get(line, "mode") : "auto";
    WW_TRY(ww_cmd_part(line, "target-error", &o->target_error, error));
    WW_TRY(ww_cmd_part(line, "confidence", &o->confidence, error));
    o->power_table = ww_cmd_get(line, "power");
    o->cache_control = ww_cmd_get(line, "cache-control");
    o->clock_control = ww_cmd_get(line, "clock-control");
    o->epoch_cycles = (uint32_t)epoch;
    o->threads = (unsigned)threads;
    o->per_pc = !ww_cmd_has(line, "no-pc");
    o->pack_pc = true;
    o->serialize = ww_cmd_has(line, "serialize");
    o->timeline = ww_cmd_has(line, "timeline");
    WW_TRY(ww_cmd_u64(line, "timeline", 0, 1000000, &o->timeline_ctas, error));
    return WW_OK;
}

enum { TABLE_MOST = 63 }; /* bytes of a GPU's text parameter; longer paths of tables are not stored */

/* --power as the GPU's parameter, so that the database has it among those that repeat the run. The caller frees
 * *text. */
static enum ww_code add_table(const char *table, char **text, const char ***set, size_t *count,
                              struct ww_error *error) {
    if (!table || strcmp(table, "none") == 0 || strlen(table) > TABLE_MOST) return WW_OK;
    size_t size = strlen(table) + sizeof "power_table=";
    const char **more = realloc(*set, (*count + 1) * sizeof *more);
    if (more) *set = more;
    *text = malloc(size);
    if (!more || !*text) return ww_fail_nomem(error, "the options");
    snprintf(*text, size, "power_table=%s", table);
    more[(*count)++] = *text;
    return WW_OK;
}

enum { CLOCK_MOST = 64 }; /* bytes of a clock's setting */

/* --clock-control as settings of the GPU's clocks. The caller frees *set as before; texts lie in `text`. */
static enum ww_code add_clocks(const struct cmd_line *line, const char *control, char text[2][CLOCK_MOST],
                               const char ***set, size_t *count, struct ww_error *error) {
    struct ww_gpu *gpu;
    double sm_mhz, l2_mhz;
    if (!control) return WW_OK;
    WW_TRY(ww_gpu_load(ww_cmd_get(line, "gpu"), *set, *count, &gpu, error));
    enum ww_code code = ww_gpu_clock_control(gpu, control, &sm_mhz, &l2_mhz, error);
    ww_gpu_free(gpu);
    WW_TRY(code);
    const char **more = realloc(*set, (*count + 2) * sizeof *more);
    if (!more) return ww_fail_nomem(error, "the options");
    *set = more;
    snprintf(text[0], CLOCK_MOST, "clock.sm_mhz=%.10g", sm_mhz);
    snprintf(text[1], CLOCK_MOST, "clock.l2_mhz=%.10g", l2_mhz);
    more[(*count)++] = text[0];
    more[(*count)++] = text[1];
    return WW_OK;
}

static enum ww_code run_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_run_options options = {0};
    char *table = NULL, clock[2][CLOCK_MOST];
    WW_TRY(read_options(line, &options, error));
    if (ww_cmd_has(line, "db"))
        WW_TRY(ww_db_check_path(ww_cmd_get(line, "db"), error)); /* not after a long replay */
    const char **set = NULL, **mech = NULL;
    struct ww_gpu *gpu = NULL;
    size_t set_count = 0;
    enum ww_code code = ww_cmd_all(line, "set", &set, &set_count, error);
    if (code == WW_OK) code = add_table(options.power_table, &table, &set, &set_count, error);
    if (code == WW_OK) code = add_clocks(line, options.clock_control, clock, &set, &set_count, error);
    if (code == WW_OK) code = ww_cmd_all(line, "mech", &mech, &options.mechanism_count, error);
    if (code == WW_OK) code = ww_gpu_load(ww_cmd_get(line, "gpu"), set, set_count, &gpu, error);
    if (code == WW_OK) {
        options.gpu = gpu;
        options.mechanisms = mech;
        code = replay(line, &options, error);
    }
    ww_gpu_free(gpu);
    free(set);
    free(table);
    free(mech);
    return code;
}

static const struct cmd_option run_options[] = {
    {"gpu", 'g', "GPU", "model to replay on: a name (gpu list) or a path that ends in .json", CMD_REQUIRED},
    {"trace", 't', "FILE", "trace to replay (.wwt)", CMD_REQUIRED},
    {"mech", 'm', "MECHANISM", "KIND=NAME or KIND.PARAMETER=VALUE, as sched=lrr", CMD_REPEAT},
    {"set", 's', "KEY=VALUE", "override a GPU parameter, as sm.count=40", CMD_REPEAT},
    {"launches", 0, "LIST", "launches to replay, such as 0,2-4 (default: all)", 0},
    {"mode", 0, "MODE",
     "full, sampled (docs/model/sampling.md), analytic (microseconds, docs/model/analytic.md), or auto: "
     "sampled above 50 million warp instructions (default)",
     0},
    {"cache-control", 0, "STATE",
     "L2 and TLBs at the start of a launch: keep (what the launch before and copies left; default) or flush "
     "(empty, as under profilers)",
     0},
    {"clock-control", 0, "CLOCK", "SM and L2 clock: base, boost, or MHz of the SMs (default: the model's)", 0},
    {"target-error", 0, "PERCENT", "sampled: half-width of the intervals to reach (default 3%)", 0},
    {"confidence", 0, "PERCENT", "confidence level of the intervals (default 95%)", 0},
    {"power", 0, "TABLE", "power table: a name, a path, or none (default: the GPU's own)", 0},
    {"epoch", 0, "N", "SM cycles of an epoch of warp states, 64 to 1073741824 (default 4096)", 0},
    {"seed", 0, "N", "seed of random choices, as of random replacement and samples (default 0)", 0},
    {"timeline", 0, "N",
     "keep for report --timeline: memory counters of each epoch, and when and where the first N CTAs ran (full "
     "replays)",
     0},
    {"threads", 'j', "N", "host threads that step SMs, 1 to 16; results do not change (default 1)", 0},
    {"serialize", 0, NULL, "replay launches one after the other, even where streams let them overlap", 0},
    {"no-pc", 0, NULL, "keep no counters per instruction", 0},
    {"db", 'd', "FILE", "store the result in this database; it is created if need be", 0},
    {"json", 0, NULL, "print JSON (reports/schema/run.json)", 0},
    {"quiet", 'q', NULL, "print errors only", 0},
    {0}};
const struct cmd ww_cmd_run = {
    .arguments = "",
    .about = "Prints a summary; with --db the whole result is stored, for query, report and\n"
             "compare. A run that fails leaves the database as it was.\n",
    .examples = "warpwatt run --gpu gtx480 --trace kmeans.wwt --db r.db\n"
                "warpwatt run --gpu v100 --trace bfs.wwt --mech sched=lrr --set l2.size_kb=12288\n",
    .options = run_options,
    .run = run_run,
};
