/* A sweep that replays few points of many (docs/guide/sweep.md). */
#include "../../api/database.h"
#include "../../api/sweep.h"
#include "adaptive.h"
#include "../../base/text.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SHARE 5 /* of the budget: one in so many replays, at least, is picked by the model alone */
#define FRESH_SHARE 3 /* of the budget: one in so many replays, at most, shows levels that no other has */
#define BATCHES 16    /* in which the rest is spent, about */
#define OPTIMISM 2.0  /* standard deviations, at the first round; 0 at the last */

#define ROUNDING 1e-6
/* Samples: warp instructions of a point from which they are tried, and what a sampled replay may cost at most,
 * in full ones. */
#define SAMPLED_LEAST 2e6
#define SAMPLED_MOST 0.34

static void *array(struct adaptive *a, size_t count, size_t size) {
    return ww_arena_alloc(&a->job->space.arena, count * size + 1);
}

static enum ww_code allocate(struct adaptive *a, struct ww_error *error) {
    size_t n = a->n, results = n * a->traces, costs = n * a->objectives;
    a->state = array(a, n, sizeof *a->state);
    a->round = array(a, n, sizeof *a->round);
    a->config = array(a, n, sizeof *a->config);
    a->scratch_config = array(a, n, sizeof *a->scratch_config);
    a->settings = array(a, n, sizeof *a->settings);
    a->model = array(a, results, sizeof *a->model);
    a->known = array(a, results, sizeof *a->known);
    a->guess = array(a, results, sizeof *a->guess);
    a->error = array(a, 2 * results, sizeof *a->error);
    a->input = array(a, n * a->inputs, sizeof *a->input);
    a->shift = array(a, 2 * results, sizeof *a->shift);
    a->spread = array(a, 2 * results, sizeof *a->spread);
    a->cost = array(a, costs, sizeof *a->cost);
    a->low = array(a, costs, sizeof *a->low);
    a->high = array(a, costs, sizeof *a->high);
    a->likely = array(a, n, sizeof *a->likely);
    a->possible = array(a, n, sizeof *a->possible);
    a->has_model = array(a, a->traces, sizeof *a->has_model);
    bool good = a->state && a->round && a->config && a->scratch_config && a->settings && a->model && a->known &&
                a->guess && a->error && a->input && a->shift && a->spread && a->cost && a->low && a->high &&
                a->likely && a->possible && a->has_model;
    return good ? WW_OK : ww_fail_nomem(error, "the candidates of an adaptive sweep");
}

/* The sweep as the scratch database has it: its numbers are its own. */
static enum ww_code copy_head(struct adaptive *a, struct ww_error *error) {
    a->head = a->job->head;
    a->head.trace = array(a, a->traces, sizeof *a->head.trace);
    if (!a->head.trace) return ww_fail_nomem(error, "a sweep");
    memcpy(a->head.trace, a->job->head.trace, a->traces * sizeof *a->head.trace);
    return WW_OK;
}

/* The configuration of a candidate when it is replayed by samples. */
static enum ww_code sampled_config(const struct adaptive *a, size_t i, char out[WW_CONFIG_HASH],
                                   struct ww_error *error) {
    const struct sweep_job *job = a->job;
    struct ww_sweep_machine m;
    const uint16_t *level = job->plan.level + i * job->space.param_count;
    enum ww_code code = ww_sweep_machine(&job->space, level, job->power, &m, error);
    memcpy(out, m.config, WW_CONFIG_HASH);
    ww_sweep_machine_free(&m);
    return code;
}

/* What the replays of a picked point gave; one that turned out invalid costs nothing. */
static enum ww_code read_point(struct adaptive *a, size_t i, struct ww_error *error) {
    const struct sweep_job *job = a->job;
    char config[WW_CONFIG_HASH];
    bool all = true;
    double cost = 0, work = 0;
    memcpy(config, a->config[i], WW_CONFIG_HASH);
    if (job->sampling) WW_TRY(sampled_config(a, i, config, error));
    for (size_t t = 0; t < a->traces; t++) {
        struct ww_db_sweep_result *r = &a->known[i * a->traces + t];
        int64_t trace = job->head.trace[t].id;
        WW_TRY(job->sampling ? ww_db_sweep_find_sampled(job->db, config, trace, r, error)
                             : ww_db_sweep_find(job->db, config, trace, r, error));
        all = all && r->stored;
        cost += (double)r->warp_instructions * (job->sampling ? r->replayed : 1);
        work += (double)r->warp_instructions;
        a->error[2 * (i * a->traces + t)] = r->time_error;
        a->error[2 * (i * a->traces + t) + 1] = r->energy_error;
    }
    a->state[i] = !all ? ADAPTIVE_OUT : job->sampling ? ADAPTIVE_SAMPLED : ADAPTIVE_FULL;
    a->round[i] = a->rounds;
    if (all)
        a->spent += work > 0 ? cost / work : 1;
    else
        a->valid--;
    return WW_OK;
}

static enum ww_code replay(struct adaptive *a, const size_t *pick, size_t picked, struct ww_error *error) {
    struct sweep_job *job = a->job;
    memset(job->wanted, 0, a->n * sizeof *job->wanted);
    for (size_t i = 0; i < picked; i++) job->wanted[pick[i]] = true;
    WW_TRY(ww_sweep_compute(job, error));
    a->rounds++;
    for (size_t i = 0; i < picked; i++) WW_TRY(read_point(a, pick[i], error));
    return WW_OK;
}

/* Rounds of replays of one kind, until `end` of the budget is spent; one replay costs about `cost`. */
static enum ww_code spend(struct adaptive *a, double cost, double end, struct ww_error *error) {
    size_t all = (size_t)fmax(0, (end - a->spent) / cost + ROUNDING), picked;
    size_t first = (all + FIRST_SHARE - 1) / FIRST_SHARE;
    size_t batch =
        all > first ? (all - first + BATCHES - 1) / BATCHES : 1; /* samples may have left one replay */
    size_t *pick = array(a, a->n, sizeof *pick);
    if (!pick) return ww_fail_nomem(error, "a sweep");
    for (;;) {
        size_t left = (size_t)fmax(0, (end - a->spent) / cost + ROUNDING);
        size_t most = a->rounds == 0 ? first : batch, fresh = a->rounds == 0 ? all / FRESH_SHARE : 0;
        if (left == 0) return WW_OK;
        double optimism = OPTIMISM * fmin(1, (double)left / (double)all);
        WW_TRY(ww_adaptive_pick(a, most < left ? most : left, fresh, optimism, pick, &picked, error));
        if (picked == 0) return WW_OK;
        WW_TRY(replay(a, pick, picked, error));
        WW_TRY(ww_adaptive_learn(a, error));
    }
}

/* Whether samples may pay: the work of a point, which the model knows before anything is replayed. */
static bool is_long(const struct adaptive *a) {
    double most = 0;
    for (size_t i = 0; i < a->n; i++) {
        double work = 0;
        for (size_t t = 0; a->state[i] == ADAPTIVE_MODEL && t < a->traces; t++)
            work += (double)a->model[i * a->traces + t].warp_instructions;
        most = fmax(most, work);
    }
    return most >= SAMPLED_LEAST;
}

/* Replays by samples: one to see what they cost, then those that half the budget allows, if that is little. */
static enum ww_code sample(struct adaptive *a, size_t replays, struct ww_error *error) {
    struct sweep_job *job = a->job;
    const char *mode = job->space.mode;
    size_t pick, picked;
    enum ww_code code = WW_OK;
    if (!is_long(a) || replays < 2) return WW_OK;
    job->sampling = true;
    job->space.mode = "sampled";
    code = ww_adaptive_pick(a, 1, 0, OPTIMISM, &pick, &picked, error);
    if (code == WW_OK && picked) code = replay(a, &pick, 1, error);
    if (code == WW_OK) code = ww_adaptive_learn(a, error);
    double cost = a->spent;
    a->rounds = 0; /* levels are still to be seen */
    if (code == WW_OK && cost > 0 && cost <= SAMPLED_MOST) code = spend(a, cost, (double)replays / 2, error);
    job->sampling = false;
    job->space.mode = mode;
    return code;
}

/* ---- what is kept of the candidates ---- */

/* Costs become objectives again; an objective that wants most has its bounds the other way round. */
static void describe(struct adaptive *a, size_t i, struct ww_db_sweep_candidate *c) {
    static const char *const fidelity[] = {"", "analytic", "sampled", "full"};
    size_t m = a->objectives;
    for (size_t k = 0; k < m; k++) {
        double *cost = &a->cost[i * m + k], *low = &a->low[i * m + k], *high = &a->high[i * m + k], t = *low;
        if (!a->head.objective[k].most) continue;
        *cost = -*cost;
        *low = -*high;
        *high = -t;
    }
    *c = (struct ww_db_sweep_candidate){.settings = a->settings[i],
                                        .fidelity = fidelity[a->state[i]],
                                        .round = a->round[i],
                                        .likely = a->likely[i],
                                        .possible = a->possible[i],
                                        .estimate = a->cost + i * m,
                                        .low = a->low + i * m,
                                        .high = a->high + i * m};
}

static enum ww_code keep(struct adaptive *a, struct ww_error *error) {
    struct ww_db_sweep_candidate *all = array(a, a->n, sizeof *all);
    const struct ww_db_sweep_candidate **list = array(a, a->n, sizeof *list);
    if (!all || !list) return ww_fail_nomem(error, "a sweep");
    for (size_t i = 0; i < a->n; i++) {
        list[i] = NULL;
        if (a->state[i] == ADAPTIVE_OUT) continue;
        describe(a, i, &all[i]);
        list[i] = &all[i];
    }
    return ww_db_sweep_candidates(a->job->db, &a->job->head, list, a->valid ? a->spent / (double)a->valid : 0,
                                  a->rounds, error);
}

static enum ww_code explore(struct adaptive *a, struct ww_error *error) {
    struct sweep_job *job = a->job;
    WW_TRY(copy_head(a, error));
    WW_TRY(ww_db_scratch_open(&a->scratch, error));
    WW_TRY(ww_adaptive_screen(a, error));
    if (a->valid == 0) return keep(a, error);
    size_t replays = (size_t)floor(job->head.budget * (double)a->valid + 1e-9);
    if (replays == 0)
        return ww_fail(error, WW_USAGE, "--budget",
                       "%g %% of what %zu point%s cost%s is less than the replays of one",
                       100 * job->head.budget, a->valid, ww_plural(a->valid, "s"), a->valid == 1 ? "s" : "");
    job->budgeted = replays;
    WW_TRY(ww_adaptive_learn(a, error));
    WW_TRY(sample(a, replays, error));
    WW_TRY(spend(a, 1, (double)replays, error));
    return keep(a, error);
}

enum ww_code ww_sweep_adaptive(struct sweep_job *job, struct ww_sweep_summary *summary,
                               struct ww_error *error) {
    struct adaptive a = {.job = job,
                         .n = job->plan.count,
                         .traces = job->space.trace_count,
                         .objectives = job->space.objective_count,
                         .inputs = 1};
    if (a.n > WW_ADAPTIVE_CANDIDATES)
        return ww_fail(error, WW_UNSUPPORTED, job->space.file,
                       "%zu candidates, the strategy adaptive takes %d: give fewer by --points", a.n,
                       WW_ADAPTIVE_CANDIDATES);
    for (size_t k = 0; k < job->space.param_count; k++) a.inputs += job->space.param[k].count > 1;
    job->wanted = array(&a, a.n, sizeof *job->wanted);
    if (!job->wanted) return ww_fail_nomem(error, "a sweep");
    WW_TRY(allocate(&a, error));
    enum ww_code code = explore(&a, error);
    for (size_t i = 0; i < a.n; i++) {
        summary->replayed += a.state[i] == ADAPTIVE_FULL;
        summary->sampled += a.state[i] == ADAPTIVE_SAMPLED;
    }
    if (code == WW_OK && summary->replayed + summary->sampled == 0)
        ww_adaptive_say_why(&a, summary->why, sizeof summary->why);
    summary->cost = a.valid ? a.spent / (double)a.valid : 0;
    ww_db_close(a.scratch);
    return code;
}
