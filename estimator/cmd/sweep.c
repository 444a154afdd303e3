/* warpwatt sweep, warpwatt merge */
#include "../warpwatt.h"
#include "../base/escape.h"
#include "../base/text.h"
#include "cmd.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MERGE_MOST 4096 /* files at a time */
#define TOGETHER "so that these sizes move together, add to \"parameters\": "

/* Of a program whose outputs are compared. */
static void print_verified(const struct ww_sweep_summary *s) {
    if (s->wrong)
        printf("verified: %" PRIu64 " of the fastest variants differ%s from the reference, and %s invalid\n",
               s->wrong, s->wrong == 1 ? "s" : "", s->wrong == 1 ? "is" : "are");
    if (s->verified) {
        printf("verified: all outputs of the fastest %" PRIu64, s->verified);
        if (s->compared < 1) printf("; of the others those of at least %.2g %% of the CTAs", 100 * s->compared);
        putchar('\n');
    }
    if (s->too_long)
        printf("not verified: %" PRIu64
               " of the fastest variants, too long to be executed whole: outputs of at least"
               " %.2g %% of the CTAs were compared\n",
               s->too_long, 100 * s->compared);
}

static void print(const struct ww_sweep_summary *s, const char *db) {
    char of[32] = "";
    if (s->stored != s->points) snprintf(of, sizeof of, " of %" PRIu64, s->points);
    printf("sweep %" PRId64 ": %" PRIu64 "%s point%s, %" PRIu64 " invalid, %" PRIu64
           " outside the constraints\n",
           s->sweep, s->stored, of, ww_plural(s->points, "s"), s->invalid, s->infeasible);
    for (uint64_t i = 0; i < s->causes && i < WW_SWEEP_CAUSES; i++) {
        printf("  %" PRIu64 " invalid: ", s->cause[i].points);
        ww_put_text(stdout, s->cause[i].reason);
        putchar('\n');
    }
    if (s->causes > WW_SWEEP_CAUSES)
        printf("  and %" PRIu64 " more causes: warpwatt query --named explored\n", s->causes - WW_SWEEP_CAUSES);
    if (s->together[0]) printf("  " TOGETHER "%s\n", s->together);
    char sampled[48] = "";
    if (s->sampled) snprintf(sampled, sizeof sampled, " in full, %" PRIu64 " more sampled", s->sampled);
    if (s->builds)
        printf("builds: %" PRIu64 ", %.1f s of processor and waiting; recording: %.1f s\n", s->builds,
               s->build_s, s->record_s);
    if (s->made_by[0] && strstr(s->made_by, ", ") && (s->builds || strncmp(s->made_by, "PTX", 3) != 0)) {
        fputs("code: ", stdout);
        ww_put_text(stdout, s->made_by);
        putchar('\n');
    }
    print_verified(s);
    if (s->best[0]) {
        fputs("best by estimates: ", stdout);
        ww_put_text(stdout, s->best);
        printf(", %.4g us\n", 1e6 * s->best_s);
        fputs("  built by: ", stdout);
        ww_put_text(stdout, s->built);
        printf("\n  among replays: no other one is faster by more than %.3g %%, with %.3g %% confidence\n"
               "  on hardware: estimates are off by more than that; %" PRIu64
               " other%s within %g %% of it: measure %s, too\n",
               100 * s->best_margin, 100 * s->best_sure, s->best_near, s->best_near == 1 ? " is" : "s are",
               100 * WW_SWEEP_NEAR, s->best_near == 1 ? "it" : "them");
        if (s->small)
            puts("replayed: all variants that can be; so few are not screened");
        else
            printf("replayed: %" PRIu64 " of %" PRIu64 " variants; the others were recorded and screened\n",
                   s->replayed, s->points);
    } else if (s->budget > 0)
        printf("%s: %" PRIu64 " point%s replayed%s, %.3g %% of the exhaustive cost (budget %.3g %%)\n",
               "adaptive", s->replayed, ww_plural(s->replayed, "s"), sampled, 100 * s->cost, 100 * s->budget);
    if (s->why[0]) {
        fputs("nothing is replayed: ", stdout);
        ww_put_text(stdout, s->why);
        putchar('\n');
    }
    printf("replays: %" PRIu64 " computed, %" PRIu64 " taken from %s\n", s->computed, s->reused, ww_shown(db));
}

static enum ww_code print_json(const struct ww_sweep_summary *s, struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stdout);
    ww_jsonw_open(&w, NULL, '{');
    ww_jsonw_i64(&w, "sweep", s->sweep);
    ww_jsonw_u64(&w, "points", s->points);
    ww_jsonw_u64(&w, "stored", s->stored);
    ww_jsonw_u64(&w, "invalid", s->invalid);
    ww_jsonw_u64(&w, "outside_constraints", s->infeasible);
    ww_jsonw_u64(&w, "without_objective", s->no_value);
    ww_jsonw_u64(&w, "replays_computed", s->computed);
    ww_jsonw_u64(&w, "replays_taken", s->reused);
    ww_jsonw_open(&w, "causes", '[');
    for (uint64_t i = 0; i < s->causes && i < WW_SWEEP_CAUSES; i++) {
        ww_jsonw_open_flat(&w, NULL, '{');
        ww_jsonw_u64(&w, "points", s->cause[i].points);
        ww_jsonw_str(&w, "reason", s->cause[i].reason);
        ww_jsonw_close(&w, '}');
    }
    ww_jsonw_close(&w, ']');
    ww_jsonw_u64(&w, "cause_count", s->causes);
    ww_jsonw_str(&w, "made_by", s->made_by[0] ? s->made_by : NULL);
    ww_jsonw_u64(&w, "verified", s->verified);
    ww_jsonw_u64(&w, "not_verified", s->too_long);
    ww_jsonw_u64(&w, "found_wrong", s->wrong);
    ww_jsonw_str(&w, "together", s->together[0] ? s->together : NULL);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

/* A space with only invalid points is an error of the space. A shard may have only invalid points: as an error
 * it would make a cluster compute the shard again. An adaptive sweep reports by itself why it replays nothing.
 */
static enum ww_code check_valid(const struct ww_sweep_options *o, const struct ww_sweep_summary *s, bool quiet,
                                struct ww_error *error) {
    if (o->shard || s->budget > 0 || !s->points || s->invalid < s->points) return WW_OK;
    if (quiet && s->together[0]) fprintf(stderr, TOGETHER "%s\n", s->together);
    return ww_fail(error, WW_INPUT, o->space, "no point of the space is valid: %s", s->cause[0].reason);
}

/* Such points are stored and valid, but in no front: the warning is printed also with --quiet and --json. */
static void warn_no_value(const struct ww_sweep_summary *s) {
    uint64_t valid = s->stored - s->invalid - s->infeasible;
    if (!s->no_value) return;
    fputs("warpwatt: warning: the objective \"", stderr);
    ww_put_text(stderr, s->no_value_objective);
    fprintf(stderr,
            "\" is NULL or not finite: %" PRIu64 " of %" PRIu64
            " valid points within the constraints lack an objective, and are in no front\n",
            s->no_value, valid);
}

static enum ww_code sweep(const struct cmd_line *line, struct ww_sweep_options *o, struct ww_error *error) {
    struct cmd_progress progress;
    struct ww_sweep_summary summary;
    o->progress = ww_cmd_progress_step;
    o->context = &progress;
    ww_cmd_progress_begin(&progress, o->space, ww_cmd_has(line, "quiet"));
    enum ww_code code = ww_cmd_progress_end(&progress, ww_sweep(o, &summary, error), error);
    if (code != WW_OK && ww_cmd_interrupted() && summary.sweep)
        return ww_fail(error, code, o->space,
                       "interrupted; %" PRIu64 " of %" PRIu64 " points are stored, the same command continues",
                       summary.stored, summary.points);
    if (summary.warning) fprintf(stderr, "warpwatt: warning: %s\n", summary.warning);
    if (code == WW_OK) warn_no_value(&summary);
    if (code == WW_OK && ww_cmd_has(line, "json"))
        WW_TRY(print_json(&summary, error));
    else if (code == WW_OK && !ww_cmd_has(line, "quiet"))
        print(&summary, o->shard ? o->shard->into : o->db);
    return code == WW_OK ? check_valid(o, &summary, ww_cmd_has(line, "quiet"), error) : code;
}

/* The options of a shard go together. */
static enum ww_code parse_shard(const struct cmd_line *line, struct ww_sweep_options *o,
                                struct ww_sweep_shard *shard, struct ww_error *error) {
    static const char *const own[] = {"of", "into", "traces", "sweep-hash"};
    for (size_t i = 0; i < sizeof own / sizeof *own && !ww_cmd_has(line, "shard"); i++)
        if (ww_cmd_has(line, own[i]))
            return ww_fail(error, WW_USAGE, "warpwatt sweep", "option --%s is one of --shard", own[i]);
    if (!ww_cmd_has(line, "shard")) return WW_OK;
    if (!ww_cmd_has(line, "of") || !ww_cmd_has(line, "into"))
        return ww_fail(error, WW_USAGE, "warpwatt sweep", "option --shard needs --of and --into");
    if (ww_cmd_has(line, "db"))
        return ww_fail(error, WW_USAGE, "warpwatt sweep",
                       "--db together with --shard; a shard goes --into its own file");
    WW_TRY(ww_cmd_u64(line, "shard", 1, 1000000, &shard->number, error));
    WW_TRY(ww_cmd_u64(line, "of", 1, 1000000, &shard->of, error));
    shard->into = ww_cmd_get(line, "into");
    shard->local = ww_cmd_get(line, "node-dir");
    shard->traces = ww_cmd_get(line, "traces");
    shard->sweep_hash = ww_cmd_get(line, "sweep-hash");
    o->shard = shard;
    return WW_OK;
}

/* ---- on a cluster ---- */

static void note(void *context, const char *text) {
    struct cmd_progress *p = context;
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
    ww_put_text(stderr, text);
    fputc('\n', stderr);
}

static enum ww_code parse_slurm(const struct cmd_line *line, struct ww_sweep_slurm *s, struct ww_error *error) {
    uint64_t cpus = 1, tries = 3, poll = 5;
    s->folder = ww_cmd_get(line, "dir");
    s->node_dir = ww_cmd_get(line, "node-dir");
    s->partition = ww_cmd_get(line, "partition");
    s->account = ww_cmd_get(line, "account");
    s->time = ww_cmd_get(line, "time");
    s->memory = ww_cmd_get(line, "mem");
    s->keep = ww_cmd_has(line, "keep");
    s->note = ww_cmd_has(line, "quiet") ? NULL : note;
    WW_TRY(ww_cmd_u64(line, "cpus", 1, 256, &cpus, error));
    WW_TRY(ww_cmd_u64(line, "tries", 1, 1000, &tries, error));
    WW_TRY(ww_cmd_u64(line, "poll", 1, 3600, &poll, error));
    WW_TRY(ww_cmd_u64(line, "shard-points", 1, 1000000, &s->shard_points, error));
    s->cpus = (unsigned)cpus;
    s->tries = (unsigned)tries;
    s->poll_s = (unsigned)poll;
    return WW_OK;
}

static enum ww_code refuse(const struct cmd_line *line, const char *const *names, const char *why,
                           struct ww_error *error) {
    for (; *names; names++)
        if (ww_cmd_has(line, *names))
            return ww_fail(error, WW_USAGE, "warpwatt sweep", "option --%s %s", *names, why);
    return WW_OK;
}

/* By its engine: this machine, or a cluster. */
static enum ww_code sweep_on(const struct cmd_line *line, struct ww_sweep_options *o, struct ww_error *error) {
    static const char *const cluster[] = {"dir",  "partition", "account", "time",         "mem",    "cpus",
                                          "poll", "keep",      "tries",   "shard-points", "sbatch", NULL};
    static const char *const alone[] = {"shard", "jobs", NULL};
    const char *engine = ww_cmd_get(line, "engine");
    struct ww_sweep_slurm slurm = {0};
    const char **extra = NULL;
    if (engine && strcmp(engine, "local") != 0 && strcmp(engine, "slurm") != 0)
        return ww_fail(error, WW_USAGE, "--engine", "\"%.40s\": expected local or slurm", engine);
    if (!engine || strcmp(engine, "local") == 0) {
        WW_TRY(refuse(line, cluster, "needs --engine slurm", error));
        return sweep(line, o, error);
    }
    WW_TRY(refuse(line, alone, "is not for --engine slurm (--cpus N: threads of a task)", error));
    WW_TRY(parse_slurm(line, &slurm, error));
    WW_TRY(ww_cmd_all(line, "sbatch", &extra, &slurm.extra_count, error));
    slurm.extra = extra;
    o->slurm = &slurm;
    enum ww_code code = sweep(line, o, error);
    free(extra);
    return code;
}

static enum ww_code sweep_run(const struct cmd_line *line, struct ww_error *error) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = cores < 1 ? 1 : cores > 256 ? 256 : (uint64_t)cores;
    struct ww_sweep_options o = {
        .space = line->argument[0], .db = ww_cmd_get(line, "db"), .strategy = ww_cmd_get(line, "strategy")};
    o.mode = ww_cmd_get(line, "mode");
    if (!o.db) o.db = "warpwatt.db";
    WW_TRY(ww_cmd_u64(line, "points", 1, 1000000, &o.points, error));
    WW_TRY(ww_cmd_part(line, "budget", &o.budget, error));
    WW_TRY(ww_cmd_u64(line, "seed", 0, INT64_MAX, &o.seed, error));
    WW_TRY(ww_cmd_u64(line, "jobs", 1, 256, &jobs, error));
    o.jobs = (unsigned)jobs;
    struct ww_sweep_shard shard = {0};
    WW_TRY(parse_shard(line, &o, &shard, error));
    return sweep_on(line, &o, error);
}

static const struct cmd_option sweep_options[] = {
    {"strategy", 0, "STRATEGY", "grid (all points, default), random, latin (hypercubes), sobol, adaptive, best",
     0},
    {"points", 0, "N", "points that a strategy other than grid picks; candidates of adaptive and best", 0},
    {"budget", 0, "PERCENT", "of adaptive and best: replays, of what all candidates cost (default 5% and 100%)",
     0},
    {"seed", 0, "N", "seed of the strategy (default 0)", 0},
    {"mode", 0, "MODE",
     "of the replays: full (default), fast (docs/model/fast.md), sampled (docs/model/sampling.md) or analytic; "
     "not with adaptive and best, which choose it for each point",
     0},
    {"jobs", 'j', "N", "points at a time, 1 to 256 (default: one for each core)", 0},
    {"db", 'd', "FILE", "database; it is created if need be (default warpwatt.db)", 0},
    {"shard", 0, "K", "compute only part K of --of N into a file of its own (warpwatt merge joins them)", 0},
    {"of", 0, "N", "parts that the points are split into", 0},
    {"into", 0, "FILE", "the shard's database; its points are kept", 0},
    {"node-dir", 0, "DIR", "folder on a machine's own disk to write shards in (default TMPDIR or /tmp)", 0},
    {"traces", 0, "DIR", "folder of workloads that were recorded before, as 0.wwt, 1.wwt, ...", 0},
    {"sweep-hash", 0, "HASH", "refuse a shard of another sweep than this one (column sweep.hash)", 0},
    {"engine", 0, "ENGINE", "local (default) or slurm: job arrays on a cluster (docs/guide/sweep.md)", 0},
    {"dir", 0, "DIR", "slurm: folder that all nodes share (default: the database's name with .slurm)", 0},
    {"shard-points", 0, "N", "slurm: points of a task (default 100)", 0},
    {"partition", 0, "NAME", "slurm: as of sbatch", 0},
    {"account", 0, "NAME", "slurm: as of sbatch", 0},
    {"time", 0, "TIME", "slurm: limit of a task, as of sbatch", 0},
    {"mem", 0, "SIZE", "slurm: memory of a task, as of sbatch", 0},
    {"cpus", 0, "N", "slurm: processors and threads of a task (default 1)", 0},
    {"sbatch", 0, "OPTION", "slurm: a further option of sbatch, such as --sbatch=--constraint=fast",
     CMD_REPEAT},
    {"tries", 0, "N", "slurm: tries of a shard without a new point before it is given up (default 3)", 0},
    {"poll", 0, "SECONDS", "slurm: seconds between queries of the queue (default 5)", 0},
    {"keep", 0, NULL, "slurm: keep the shared folder when all is done", 0},
    {"json", 0, NULL, "print the summary as JSON (reports/schema/sweep_summary.json)", 0},
    {"quiet", 'q', NULL, "print errors only", 0},
    {0}};
const struct cmd ww_cmd_sweep = {
    .arguments = "SPACE_FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .about = "SPACE_FILE (JSON, docs/guide/sweep.md) names a GPU, traces or workloads, and parameters\n"
             "with their levels. Each point is stored when it is done; the same command goes\n"
             "on where an interrupted one stopped. The queries front, best, sensitivity and\n"
             "nearest answer from what is stored.\n",
    .examples = "warpwatt sweep space.json -j2 --db r.db\n"
                "warpwatt sweep space.json --strategy sobol --points 4 --db r.db\n"
                "warpwatt query --named front --db r.db\n",
    .options = sweep_options,
    .run = sweep_run,
};

/* ---- merge ---- */

static enum ww_code merge_run(const struct cmd_line *line, struct ww_error *error) {
    struct ww_sweep_merged m;
    const char *db = ww_cmd_get(line, "db");
    if (!db) db = "warpwatt.db";
    WW_TRY(ww_sweep_merge(db, line->argument, line->argument_count, &m, error));
    if (ww_cmd_has(line, "json")) {
        struct ww_jsonw w;
        ww_jsonw_begin(&w, stdout);
        ww_jsonw_open(&w, NULL, '{');
        ww_jsonw_str(&w, "db", db);
        ww_jsonw_u64(&w, "new_sweeps", m.sweeps);
        ww_jsonw_u64(&w, "new_points", m.points);
        ww_jsonw_u64(&w, "new_replays", m.replays);
        ww_jsonw_close(&w, '}');
        return ww_jsonw_end(&w, error);
    }
    if (!ww_cmd_has(line, "quiet"))
        printf("%s: %" PRIu64 " new sweep%s, %" PRIu64 " new point%s, %" PRIu64 " new replay%s\n", ww_shown(db),
               m.sweeps, ww_plural(m.sweeps, "s"), m.points, ww_plural(m.points, "s"), m.replays,
               ww_plural(m.replays, "s"));
    return WW_OK;
}

static const struct cmd_option merge_options[] = {
    {"db", 'd', "FILE", "database to join them into; it is created if need be (default warpwatt.db)", 0},
    {"json", 0, NULL, "print JSON", 0},
    {"quiet", 'q', NULL, "print errors only", 0},
    {0}};
const struct cmd ww_cmd_merge = {
    .arguments = "DATABASE...",
    .min_arguments = 1,
    .max_arguments = MERGE_MOST,
    .about = "Adds the sweeps of other databases: their points, replays and objectives. What is\n"
             "there already stays, so that merging again changes nothing. Runs are not merged.\n"
             "The sweep's own command then completes what is missing.\n",
    .examples = "warpwatt sweep space.json --shard 1 --of 2 --into s1.db\n"
                "warpwatt sweep space.json --shard 2 --of 2 --into s2.db\n"
                "warpwatt merge s1.db s2.db --db r.db\n",
    .options = merge_options,
    .run = merge_run,
};
