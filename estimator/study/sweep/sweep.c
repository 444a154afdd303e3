/* ww_sweep: a space, a strategy, a database. */
#include "../../api/gpu.h"
#include "../../api/database.h"
#include "../../api/sweep.h"
#include "../../base/locale.h"
#include "adaptive.h"
#include "variants.h"
#include "../../config/gpu.h"
#include <stdlib.h>
#include <string.h>

size_t ww_sweep_strategy_count(void) {
    return sizeof ww_sweep_strategy_name / sizeof *ww_sweep_strategy_name;
}

const char *ww_sweep_strategy_at(size_t i) {
    return i < ww_sweep_strategy_count() ? ww_sweep_strategy_name[i] : NULL;
}

static enum ww_code check_adaptive(const struct ww_sweep_options *o, struct ww_error *error) {
    if (o->mode && strcmp(o->mode, "full") != 0)
        return ww_fail(error, WW_USAGE, "--mode", "the strategy adaptive chooses it for each point");
    if (o->points > WW_ADAPTIVE_CANDIDATES)
        return ww_fail(error, WW_USAGE, "--points", "the strategy adaptive takes %d candidates at most",
                       WW_ADAPTIVE_CANDIDATES);
    if (o->budget != 0 && !(o->budget > 0 && o->budget <= 1))
        return ww_fail(error, WW_USAGE, "--budget", "%g %%: expected more than 0 %%, at most 100 %%",
                       100 * o->budget);
    return WW_OK;
}

static enum ww_code check_best(const struct ww_sweep_options *o, struct ww_error *error) {
    if (o->mode && strcmp(o->mode, "full") != 0)
        return ww_fail(error, WW_USAGE, "--mode",
                       "the strategy best screens by the model and replays what it picks");
    if (o->points > WW_ADAPTIVE_CANDIDATES)
        return ww_fail(error, WW_USAGE, "--points", "the strategy best takes %d candidates at most",
                       WW_ADAPTIVE_CANDIDATES);
    if (o->budget != 0 && !(o->budget > 0 && o->budget <= 1))
        return ww_fail(error, WW_USAGE, "--budget", "%g %%: expected more than 0 %%, at most 100 %%",
                       100 * o->budget);
    return WW_OK;
}

static enum ww_code parse_strategy(const struct ww_sweep_options *o, enum ww_sweep_strategy *strategy,
                                   struct ww_error *error) {
    *strategy = WW_SWEEP_GRID;
    for (size_t i = 0; o->strategy; i++) {
        if (i == ww_sweep_strategy_count())
            return ww_fail(error, WW_USAGE, "--strategy",
                           "\"%.40s\": expected grid, random, latin, sobol, adaptive or best", o->strategy);
        *strategy = (enum ww_sweep_strategy)i;
        if (strcmp(o->strategy, ww_sweep_strategy_name[i]) == 0) break;
    }
    if (o->jobs < 1 || o->jobs > SWEEP_THREADS)
        return ww_fail(error, WW_USAGE, "--jobs", "%u: expected 1 to %d", o->jobs, SWEEP_THREADS);
    if (*strategy == WW_SWEEP_GRID && o->points)
        return ww_fail(error, WW_USAGE, "--points", "the grid has all points; expected another --strategy");
    if (*strategy == WW_SWEEP_ADAPTIVE) return check_adaptive(o, error);
    if (*strategy == WW_SWEEP_BEST) return check_best(o, error);
    if (o->budget != 0)
        return ww_fail(error, WW_USAGE, "--budget", "is of the strategies adaptive and best alone");
    if (*strategy != WW_SWEEP_GRID && (o->points < 1 || o->points > WW_SWEEP_POINTS))
        return ww_fail(error, WW_USAGE, "--points", "the strategy %s needs 1 to %d points",
                       ww_sweep_strategy_name[*strategy], WW_SWEEP_POINTS);
    return WW_OK;
}

/* Objectives that need joules, on a GPU without a power table, would be NULL at every point. */
static enum ww_code fill_objectives(struct sweep_job *job, struct ww_error *error) {
    struct ww_sweep_space *s = &job->space;
    bool known = strcmp(job->power, "none") != 0, sampled = s->program && !s->program->all_ctas;
    if (s->objective_count == 0) {
        s->objective = ww_arena_array(&s->arena, 2, sizeof *s->objective);
        if (!s->objective) return ww_fail_nomem(error, "a sweep");
        s->objective[s->objective_count++] = (struct ww_sweep_objective){"time", "time_s", false};
        if (known && !s->program)
            s->objective[s->objective_count++] = (struct ww_sweep_objective){"energy", "energy_j", false};
    }
    for (size_t i = 0; i < s->objective_count; i++) {
        if (!strstr(s->objective[i].sql, "energy_j") && !strstr(s->objective[i].sql, "power_w")) continue;
        if (sampled)
            return ww_fail(error, WW_UNSUPPORTED, s->file,
                           "$.objectives[%zu]: \"%.60s\" needs energies, which a sample of CTAs does not have; "
                           "\"program\" needs \"ctas\": \"all\"",
                           i, s->objective[i].name);
        if (!known)
            return ww_fail(
                error, WW_UNSUPPORTED, s->file,
                "$.objectives[%zu]: \"%.60s\" needs energies, and %s has no power table; name one as "
                "\"power\"",
                i, s->objective[i].name, ww_gpu_name(job->gpu));
    }
    return WW_OK;
}

static enum ww_code fill_head(struct sweep_job *job, enum ww_sweep_strategy strategy, struct ww_error *error) {
    struct ww_sweep_space *s = &job->space;
    struct ww_db_sweep_objective *o = ww_arena_array(&s->arena, s->objective_count, sizeof *o);
    if (!o) return ww_fail_nomem(error, "a sweep");
    for (size_t i = 0; i < s->objective_count; i++)
        o[i] = (struct ww_db_sweep_objective){s->objective[i].name, s->objective[i].sql, s->objective[i].most};
    job->head.gpu = ww_gpu_name(job->gpu);
    job->head.gpu_json = ww_gpu_json(job->gpu);
    job->head.power = job->power;
    job->head.space = s->json;
    job->head.strategy = ww_sweep_strategy_name[strategy];
    job->head.mode = s->mode ? s->mode : "full";
    job->head.seed = strategy == WW_SWEEP_GRID ? 0 : job->options->seed;
    job->head.points = job->plan.count;
    job->head.objective = o;
    job->head.objective_count = s->objective_count;
    job->head.constraint = s->constraint;
    job->head.constraint_count = s->constraint_count;
    job->head.file = s->file;
    return WW_OK;
}

/* Every point of a sweep is computed in one mode. Sampled ones draw alike, with the seed 0, so that differences
 * between points are not those of their samples. */
static enum ww_code set_mode(struct sweep_job *job, struct ww_error *error) {
    static const char *const modes[] = {"full", "fast", "sampled", "analytic"};
    const char *mode = job->options->mode;
    for (size_t i = 0; mode && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i]) == 0) job->space.mode = modes[i];
    if (!mode || job->space.mode) return WW_OK;
    return ww_fail(error, WW_USAGE, "--mode", "\"%.40s\": expected full, fast, sampled or analytic", mode);
}

/* What goes with a program, and what does not. */
static enum ww_code check_program(const struct sweep_job *job, struct ww_error *error) {
    bool program = job->space.program != NULL;
    if (!program && job->strategy == WW_SWEEP_BEST)
        return ww_fail(error, WW_USAGE, "--strategy", "best looks for the fastest variant of a \"program\"");
    if (program && job->strategy == WW_SWEEP_ADAPTIVE)
        return ww_fail(error, WW_USAGE, "--strategy", "adaptive is not for a \"program\": expected best");
    if (job->strategy == WW_SWEEP_BEST &&
        (job->space.objective_count != 1 || strcmp(job->space.objective[0].name, "time") != 0))
        return ww_fail(error, WW_USAGE, "--strategy", "best has one objective, \"time\"");
    if (program && job->space.mode && strcmp(job->space.mode, "sampled") == 0)
        return ww_fail(error, WW_USAGE, "--mode", "sampled is not for a \"program\", whose CTAs are sampled");
    return WW_OK;
}

enum ww_code ww_sweep_named_at(const struct ww_sweep_space *space, const char *path, enum ww_code code,
                               struct ww_error *error) {
    if (code == WW_OK || code == WW_NOMEM || code == WW_FAIL || !error) return code;
    char where[sizeof error->where];
    snprintf(where, sizeof where, "%.160s: %.70s", space->file, path);
    if (code == WW_USAGE) error->code = WW_INPUT; /* a wrong value of the file, not of the command line */
    return ww_error_within(error, where);
}

static enum ww_code open_power(struct sweep_job *job, struct ww_error *error) {
    WW_TRY(ww_sweep_power_hash(&job->space, job->gpu, job->power, error));
    return ww_sweep_power_open(&job->space, job->gpu, error);
}

static enum ww_code prepare(struct sweep_job *job, struct ww_error *error) {
    const struct ww_sweep_options *o = job->options;
    enum ww_sweep_strategy strategy;
    WW_TRY(parse_strategy(o, &strategy, error));
    WW_TRY(ww_sweep_space_load(o->space, &job->space, error));
    WW_TRY(set_mode(job, error));
    WW_TRY(
        ww_sweep_named_at(&job->space, "$.gpu", ww_gpu_load(job->space.gpu, NULL, 0, &job->gpu, error), error));
    WW_TRY(
        ww_sweep_named_at(&job->space, job->space.power ? "$.power" : "$.gpu", open_power(job, error), error));
    WW_TRY(fill_objectives(job, error));
    job->strategy = strategy;
    WW_TRY(check_program(job, error));
    WW_TRY(ww_sweep_pick(&job->space, strategy, o->points, o->seed, &job->plan, error));
    if (job->space.program) WW_TRY(ww_variants_open(job, error));
    WW_TRY(ww_sweep_traces_open(job, error));
    if (strategy == WW_SWEEP_BEST) job->head.budget = o->budget > 0 ? o->budget : 1;
    if (strategy == WW_SWEEP_ADAPTIVE) job->head.budget = o->budget > 0 ? o->budget : WW_ADAPTIVE_BUDGET;
    if (!job->space.program &&
        (job->head.budget > 0 || (job->space.mode && strcmp(job->space.mode, "analytic") == 0)))
        WW_TRY(ww_sweep_models_open(job, error));
    return fill_head(job, strategy, error);
}

static bool other_scheduler(const char *name) {
    const struct ww_mech_info *m = ww_mech_find(WW_KIND_SCHED, name);
    return m && m->analytic == WW_ANALYTIC_ALIKE;
}

/* Whether a point may have another scheduler than the one whose replays the analytical model was fitted to. */
static bool chooses_scheduler(const struct ww_sweep_space *s) {
    for (size_t i = 0; i < s->mech_count; i++)
        if (strncmp(s->mech[i], "sched=", 6) == 0 && other_scheduler(s->mech[i] + 6)) return true;
    for (size_t i = 0; i < s->param_count; i++) {
        const struct ww_sweep_param *p = &s->param[i];
        if (p->target != WW_SWEEP_KIND || p->kind != WW_KIND_SCHED) continue;
        for (size_t k = 0; k < p->count; k++)
            if (other_scheduler(p->level[k].text)) return true;
    }
    return false;
}

enum ww_code ww_sweep_run_points(struct sweep_job *job, struct ww_sweep_summary *summary,
                                 struct ww_error *error) {
    summary->sweep = job->head.id;
    summary->points = job->plan.count;
    summary->budget = job->head.budget;
    enum ww_code code = job->strategy == WW_SWEEP_BEST ? ww_sweep_best(job, summary, error)
                        : job->head.budget > 0         ? ww_sweep_adaptive(job, summary, error)
                                                       : ww_sweep_compute(job, error);
    bool wrong;
    if (code == WW_OK && job->strategy != WW_SWEEP_BEST) code = ww_sweep_verify(job, &wrong, error);
    summary->computed = job->computed;
    summary->reused = job->reused;
    if (job->variants) {
        summary->builds = job->variants->builds;
        summary->build_s = job->variants->build_s;
        summary->record_s = job->variants->record_s;
        snprintf(summary->made_by, sizeof summary->made_by, "%s", job->space.program->made_by);
    }
    struct ww_error late = {.code = WW_OK};
    enum ww_code counted = ww_db_sweep_counts(job->db, &job->head, &summary->stored, &summary->invalid,
                                              &summary->infeasible, code == WW_OK ? error : &late);
    if (counted == WW_OK)
        counted = ww_db_sweep_causes(job->db, &job->head, summary->cause, &summary->causes,
                                     code == WW_OK ? error : &late);
    if (code == WW_OK && counted == WW_OK)
        counted =
            ww_db_sweep_no_value(job->db, &job->head, &summary->no_value, summary->no_value_objective, error);
    if (code == WW_OK && counted == WW_OK) counted = ww_sweep_verified(job, summary, error);
    if (code == WW_OK && counted == WW_OK) ww_sweep_together(job, summary);
    return code == WW_OK ? counted : code;
}

static enum ww_code run(struct sweep_job *job, struct ww_sweep_summary *summary, struct ww_error *error) {
    if (job->options->shard) WW_TRY(ww_sweep_check_into(job->options, error));
    WW_TRY(prepare(job, error));
    if (job->variants && job->space.program->lowered)
        summary->warning =
            "there is no ptxas for this GPU: all variants are recorded as lowered PTX, whose times"
            " differ from machine code's (docs/reference/machine-code.md)";
    if (strcmp(job->head.mode, "analytic") == 0 && chooses_scheduler(&job->space))
        summary->warning = "the analytical model does not tell schedulers apart";
    if (job->head.budget > 0 && (job->options->shard || job->options->slurm))
        return ww_fail(error, WW_USAGE, "--strategy",
                       "%s chooses each point by those before: expected"
                       " another one for shards and clusters",
                       ww_sweep_strategy_name[job->strategy]);
    if (job->options->shard) return ww_sweep_run_shard(job, summary, error);
    if (job->options->slurm) return ww_sweep_run_slurm(job, summary, error);
    WW_TRY(ww_db_open(job->options->db, true, &job->db, error));
    WW_TRY(ww_db_sweep_begin(job->db, &job->head, error));
    WW_TRY(ww_sweep_run_points(job, summary, error));
    return ww_sweep_fit(job, error);
}

enum ww_code ww_sweep(const struct ww_sweep_options *options, struct ww_sweep_summary *summary,
                      struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct sweep_job job = {.options = options, .dir = WW_TEMP_NONE};
    *summary = (struct ww_sweep_summary){0};
    enum ww_code code = run(&job, summary, error);
    /* what is left on a cluster finds its database again */
    if (code == WW_OK || (options->slurm && summary->sweep))
        ww_db_close(job.db);
    else
        ww_db_close_unused(job.db);
    ww_sweep_models_close(&job);
    ww_variants_close(&job);
    ww_sweep_traces_close(&job);
    ww_gpu_free(job.gpu);
    ww_sweep_space_free(&job.space);
    return code;
}
