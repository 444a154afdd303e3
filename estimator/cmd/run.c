/* warpwatt run */
#include "../warpwatt.h"
#include "../base/escape.h"
#include "cmd.h"
#include <math.h>
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
                           struct ww_result **result, struct ww_error *error) {
    struct cmd_progress progress;
    options->progress = ww_cmd_progress_step;
    options->context = &progress;
    ww_cmd_progress_begin(&progress, options->trace_path, ww_cmd_has(line, "quiet"));
    options->weigh = !progress.quiet;
    enum ww_code code = ww_run(options, result, error);
    return ww_cmd_progress_end(&progress, code, error);
}

static double watts(const struct ww_result *r) {
    return r->energy_known && r->time_ps ? r->energy_j / ((double)r->time_ps * 1e-12) : 0;
}

static void warn(const struct ww_result *r) {
    if (!r->warning) return;
    fputs("warpwatt: warning: ", stderr);
    ww_put_text(stderr, r->warning);
    fputc('\n', stderr);
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

/* A replay at the clocks of `control`; the caller frees *gpu and *result, also after an error. */
static enum ww_code replay_at(const struct cmd_line *line, const char *control, struct ww_run_options *options,
                              struct ww_gpu **gpu, struct ww_result **result, struct ww_error *error) {
    char *table = NULL, clock[2][CLOCK_MOST];
    const char **set = NULL, **mech = NULL;
    size_t set_count = 0;
    enum ww_code code = ww_cmd_all(line, "set", &set, &set_count, error);
    if (code == WW_OK) code = add_table(options->power_table, &table, &set, &set_count, error);
    if (code == WW_OK) code = add_clocks(line, control, clock, &set, &set_count, error);
    if (code == WW_OK) code = ww_cmd_all(line, "mech", &mech, &options->mechanism_count, error);
    if (code == WW_OK) code = ww_gpu_load(ww_cmd_get(line, "gpu"), set, set_count, gpu, error);
    if (code == WW_OK) {
        options->gpu = *gpu;
        options->mechanisms = mech;
        code = replay(line, options, result, error);
        options->mechanisms = NULL;
    }
    free(set);
    free(table);
    free(mech);
    return code;
}

enum { LIMIT_REPLAYS = 6 };
#define LIMIT_NEAR 0.005 /* of the limit */

/* The next clock to try: watts follow a power of the clock, at first the third, then that through the last two
 * points. */
static double next_mhz(const double mhz[2], const double w[2], double limit) {
    double power = 3;
    if (w[0] > 0 && fabs(log(mhz[1] / mhz[0])) > 1e-6) power = log(w[1] / w[0]) / log(mhz[1] / mhz[0]);
    if (!(power >= 0.1 && power <= 6)) power = 3;
    double next = mhz[1] * pow(limit / w[1], 1 / power);
    return next < mhz[1] / 4 ? mhz[1] / 4 : next;
}

static enum ww_code clock_of(const struct ww_gpu *gpu, double *mhz, struct ww_error *error) {
    double l2;
    return ww_gpu_clock_control(gpu, "boost", mhz, &l2, error);
}

/* Replays at lower clocks until the mean power is the board's limit, if it is above it. */
static enum ww_code replay_at_limit(const struct cmd_line *line, struct ww_run_options *o, struct ww_gpu **gpu,
                                    struct ww_result **result, struct ww_error *error) {
    double mhz[2] = {0}, w[2] = {0};
    char text[CLOCK_MOST];
    const char *control = "boost";
    for (int n = 0; n < LIMIT_REPLAYS; n++) {
        WW_TRY(replay_at(line, control, o, gpu, result, error));
        double limit = ww_gpu_power_limit(*gpu), now = watts(*result);
        if (!(limit > 0) || !(now > 0))
            return ww_fail(error, WW_USAGE, "--clock-control", "%s has no %s: expected a clock",
                           ww_gpu_name(*gpu), limit > 0 ? "power table" : "power limit (board.tdp_w)");
        bool near = fabs(now / limit - 1) <= LIMIT_NEAR;
        if (near || (n == 0 && now < limit) || n + 1 == LIMIT_REPLAYS) break;
        if (n == 0) WW_TRY(clock_of(*gpu, &mhz[1], error));
        w[0] = w[1], w[1] = now;
        double next = next_mhz(mhz, w, limit);
        mhz[0] = mhz[1], mhz[1] = next > 10 ? next : 10;
        snprintf(text, sizeof text, "%.6g", mhz[1]);
        control = text;
        ww_result_free(*result);
        ww_gpu_free(*gpu);
        *result = NULL, *gpu = NULL;
    }
    return WW_OK;
}

/* Modes that replay on one thread, or replay nothing. */
static void note_threads(const struct ww_run_options *o, bool quiet) {
    bool one = strcmp(o->mode, "fast") == 0 || strcmp(o->mode, "analytic") == 0;
    if (one && o->threads > 1 && !quiet)
        fprintf(stderr, "warpwatt: note: --threads has no effect in mode %s, which uses one thread\n", o->mode);
}

static enum ww_code run_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_run_options options = {0};
    struct ww_gpu *gpu = NULL;
    struct ww_result *result = NULL;
    WW_TRY(read_options(line, &options, error));
    if (ww_cmd_has(line, "db"))
        WW_TRY(ww_db_check_path(ww_cmd_get(line, "db"), error)); /* not after a long replay */
    note_threads(&options, ww_cmd_has(line, "quiet"));
    bool limit = options.clock_control && strcmp(options.clock_control, "limit") == 0;
    enum ww_code code = limit ? replay_at_limit(line, &options, &gpu, &result, error)
                              : replay_at(line, options.clock_control, &options, &gpu, &result, error);
    if (code == WW_OK) {
        warn(result);
        code = finish(line, gpu, result, error);
    }
    ww_result_free(result);
    ww_gpu_free(gpu);
    return code;
}

static const struct cmd_option run_options[] = {
    {"gpu", 'g', "GPU", "model to replay on: a name (gpu list) or a path that ends in .json", CMD_REQUIRED},
    {"trace", 't', "FILE", "trace to replay (.wwt)", CMD_REQUIRED},
    {"mech", 'm', "MECHANISM", "KIND=NAME or KIND.PARAMETER=VALUE, as sched=lrr", CMD_REPEAT},
    {"set", 's', "KEY=VALUE", "override a GPU parameter, as sm.count=40", CMD_REPEAT},
    {"launches", 0, "LIST", "launches to replay, such as 0,2-4 (default: all)", 0},
    {"mode", 0, "MODE",
     "full, fast (simpler memory, docs/model/fast.md), sampled (docs/model/sampling.md), analytic "
     "(microseconds, docs/model/analytic.md), or auto: "
     "sampled above 50 million warp instructions (default)",
     0},
    {"cache-control", 0, "STATE",
     "caches at the start of a launch: keep (L2 and TLBs as the launch before and copies left them; default), "
     "flush (empty, as under profilers), flush-once (as under a profiler that runs each launch once) or "
     "flush-sm "
     "(of caches that keep something only the L2 and TLBs, as under a profiler on Hopper)",
     0},
    {"clock-control", 0, "CLOCK",
     "SM and L2 clock: base, boost, MHz of the SMs, or limit: as fast as the board's power limit allows, by "
     "several "
     "replays (default: the model's)",
     0},
    {"target-error", 0, "PERCENT", "sampled: half-width of the intervals to reach (default 3%)", 0},
    {"confidence", 0, "PERCENT", "confidence level of the intervals (default 95%)", 0},
    {"power", 0, "TABLE", "power table: a name, a path, or none (default: the GPU's own)", 0},
    {"epoch", 0, "N", "SM cycles of an epoch of warp states, 64 to 1073741824 (default 4096)", 0},
    {"seed", 0, "N", "seed of random choices, as of random replacement and samples (default 0)", 0},
    {"timeline", 0, "N",
     "keep for report --timeline: memory counters of each epoch, and when and where the first N CTAs ran (full "
     "and fast replays; it changes the result of a fast one a little)",
     0},
    {"threads", 'j', "N",
     "host threads of full and sampled replays, 1 to 16; results do not change; fast replays use one "
     "(default 1)",
     0},
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
