/* warpwatt sweep */
#include "../base/text.h"
#include "cmd.h"
#include <inttypes.h>
#include <unistd.h>

static void print(const struct ww_sweep_summary *s, const char *db) {
    printf("sweep %" PRId64 ": %" PRIu64 " point%s, %" PRIu64 " invalid, %" PRIu64 " outside the constraints\n",
           s->sweep, s->points, ww_plural(s->points, "s"), s->invalid, s->infeasible);
    printf("replays: %" PRIu64 " computed, %" PRIu64 " taken from %s\n", s->computed, s->reused, db);
}

static enum ww_code sweep(const struct cmd_line *line, struct ww_sweep_options *o, struct ww_error *error) {
    struct cmd_progress progress;
    struct ww_sweep_summary summary;
    o->progress = cmd_progress_step;
    o->context = &progress;
    cmd_progress_begin(&progress, o->space, cmd_has(line, "quiet"));
    enum ww_code code = cmd_progress_end(&progress, ww_sweep(o, &summary, error), error);
    if (code != WW_OK && cmd_interrupted() && summary.sweep)
        return ww_fail(error, code, o->space,
                       "interrupted; %" PRIu64 " of %" PRIu64 " points are stored, the same command goes on",
                       summary.stored, summary.points);
    if (code == WW_OK && !cmd_has(line, "quiet")) print(&summary, o->db);
    return code;
}

static enum ww_code sweep_run(const struct cmd_line *line, struct ww_error *error) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = cores < 1 ? 1 : cores > 256 ? 256 : (uint64_t)cores;
    struct ww_sweep_options o = {
        .space = line->argument[0], .db = cmd_get(line, "db"), .strategy = cmd_get(line, "strategy")};
    o.mode = cmd_get(line, "mode");
    if (!o.db) o.db = "warpwatt.db";
    WW_TRY(cmd_u64(line, "points", 1, 1000000, &o.points, error));
    WW_TRY(cmd_u64(line, "seed", 0, INT64_MAX, &o.seed, error));
    WW_TRY(cmd_u64(line, "jobs", 1, 256, &jobs, error));
    o.jobs = (unsigned)jobs;
    return sweep(line, &o, error);
}

static const struct cmd_option sweep_options[] = {
    {"strategy", 0, "STRATEGY", "grid (all points, default), random, latin (hypercubes) or sobol", 0},
    {"points", 0, "N", "points that a strategy other than grid picks", 0},
    {"seed", 0, "N", "seed of the strategy (default 0)", 0},
    {"mode", 0, "MODE", "of the replays: full (default), sampled (docs/sampling.md) or analytic", 0},
    {"jobs", 'j', "N", "points at a time, 1 to 256 (default: one for each core)", 0},
    {"db", 'd', "FILE", "database; it is created if need be (default warpwatt.db)", 0},
    {"quiet", 'q', NULL, "print errors only", 0},
    {0}};
const struct cmd cmd_sweep = {
    .arguments = "SPACE_FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .about = "SPACE_FILE (JSON, docs/sweep.md) names a GPU, traces or workloads, and parameters\n"
             "with their levels. Each point is stored when it is done; the same command goes\n"
             "on where an interrupted one stopped. The queries front, best, sensitivity and\n"
             "nearest answer from what is stored.\n",
    .examples = "warpwatt sweep space.json -j2 --db r.db\n"
                "warpwatt sweep space.json --strategy sobol --points 4 --db r.db\n"
                "warpwatt query --named front --db r.db\n",
    .options = sweep_options,
    .run = sweep_run,
};
