/* The fastest variant of a program (--strategy best): all are screened by the analytical model, few are
 * replayed.
 *
 * A Gaussian process learns log(replay / model) over the parameters and the model's own value, as in
 * adaptive_learn.c. Each round replays the variants that are likeliest to be faster than the fastest so far. It
 * ends when the probability that any other one is faster by more than MARGIN, added up over them, is below
 * DOUBT. A round depends on the space and on the replays of earlier rounds alone, so that an interrupted search
 * goes on. */
#include "adaptive.h"
#include "variants.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 64 /* variants up to which all are replayed: screening costs half of a replay */
#define BATCH 8  /* variants of a round; the same for any number of threads */
#define FIRST 16 /* of the first round: half by the model's order, half spread over it */
#define DOUBT 0.05
#define MARGIN 0.01 /* relative: smaller differences do not matter */
#define PRIOR 0.35  /* deviation of log(replay / model) before anything is replayed */
#define PRIOR_LEAST 0.03

struct candidate {
    double model, known, mean, deviation; /* seconds; of log(replay / model) */
    char config[WW_CONFIG_HASH];
    char *settings, *reason; /* malloc; reason NULL: it can be */
    uint32_t round;
    bool replayed;
};

struct search {
    struct sweep_job *job;
    struct candidate *c;
    size_t n, inputs, valid, replayed;
    bool small; /* all are replayed, and none is screened */
    double *input;
    bool category[WW_GP_INPUTS];
    uint32_t rounds;
    /* screening */
    pthread_mutex_t lock;
    size_t next, done;
    enum ww_code code;
    struct ww_error error;
};

/* ---- screening ---- */

static char *join_settings(const struct ww_sweep_machine *m) {
    struct ww_buf b = {0};
    for (size_t i = 0; i < m->settings; i++) ww_buf_printf(&b, "%s%s=%s", i ? " " : "", m->key[i], m->value[i]);
    if (!b.p) ww_buf_puts(&b, "");
    return b.failed ? NULL : b.p;
}

/* A point that is not screened: its time as the model has it is not known. */
static enum ww_code screen_one(struct search *s, size_t i, struct ww_error *error) {
    struct sweep_job *job = s->job;
    struct candidate *c = &s->c[i];
    struct ww_sweep_machine m;
    struct ww_db_sweep_result r = {0};
    struct ww_variant v;
    const uint16_t *level = job->plan.level + i * job->space.param_count;
    enum ww_code code = ww_sweep_machine(&job->space, level, job->power, &m, error);
    if (code == WW_OK && !m.reason[0] && !s->small)
        code = ww_variant_replay(job, &m, "analytic", &r, &v, error);
    if (code == WW_OK) {
        memcpy(c->config, m.config, sizeof c->config);
        c->settings = join_settings(&m);
        c->reason = m.reason[0] ? strdup(m.reason) : NULL;
        c->model = fmax((double)r.time_ps, 1) * 1e-12;
        if (!c->settings || (m.reason[0] && !c->reason)) code = ww_fail_nomem(error, "candidates");
    }
    ww_sweep_machine_free(&m);
    return code;
}

/* Takes the next candidate, or n. */
static size_t take(struct search *s, enum ww_code code, const struct ww_error *error) {
    const struct ww_sweep_options *o = s->job->options;
    pthread_mutex_lock(&s->lock);
    if (code != WW_OK && s->code == WW_OK) {
        s->code = code;
        s->error = *error;
    }
    if (s->code == WW_OK && o->progress && !o->progress(o->context, -1, s->done, "candidates")) {
        s->code = ww_fail(&s->error, WW_FAIL, s->job->space.file, "stopped");
        atomic_store(&s->job->stop, true);
    }
    size_t i = s->code == WW_OK && s->next < s->n ? s->next++ : s->n;
    s->done = i;
    pthread_mutex_unlock(&s->lock);
    return i;
}

static void *screen_some(void *context) {
    struct search *s = context;
    struct ww_error error = {.code = WW_OK};
    enum ww_code code = WW_OK;
    for (;;) {
        size_t i = take(s, code, &error);
        if (i == s->n) return NULL;
        code = screen_one(s, i, &error);
    }
}

/* By all threads; if some cannot be started, the others do the work. */
static enum ww_code screen(struct search *s, struct ww_error *error) {
    pthread_t thread[SWEEP_THREADS];
    unsigned started = 0, wanted = s->job->options->jobs;
    while (started + 1 < wanted && started + 1 < s->n &&
           pthread_create(&thread[started], NULL, screen_some, s) == 0)
        started++;
    screen_some(s);
    for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
    if (s->code != WW_OK) {
        if (error) *error = s->error;
        return s->code;
    }
    for (size_t i = 0; i < s->n; i++) s->valid += !s->c[i].reason;
    return WW_OK;
}

/* Points that cannot be are stored with their reasons, in their order. */
static enum ww_code store_invalid(struct search *s, struct ww_error *error) {
    struct sweep_job *job = s->job;
    for (size_t i = 0; i < s->n; i++) {
        struct ww_sweep_machine m;
        if (!s->c[i].reason) continue;
        const uint16_t *level = job->plan.level + i * job->space.param_count;
        enum ww_code code = ww_sweep_machine(&job->space, level, job->power, &m, error);
        if (code == WW_OK) {
            snprintf(m.reason, sizeof m.reason, "%s", s->c[i].reason);
            struct ww_db_sweep_point p = ww_sweep_machine_row(&m, i);
            code = ww_db_sweep_store(job->db, &job->head, &p, error);
        }
        ww_sweep_machine_free(&m);
        WW_TRY(code);
    }
    return WW_OK;
}

/* ---- learning ---- */

/* Parameters that are varied, and behind them the model's own value. */
static void code_inputs(struct search *s) {
    double low = INFINITY, high = -INFINITY;
    ww_gp_inputs(&s->job->space, s->job->plan.level, s->n, s->inputs, s->input, s->category);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s->n; i++) {
            if (s->c[i].reason) continue;
            double v = log(s->c[i].model);
            low = fmin(low, v);
            high = fmax(high, v);
            if (pass) s->input[(i + 1) * s->inputs - 1] = high > low ? (v - low) / (high - low) : 0;
        }
}

static double ratio(const struct candidate *c) {
    return log(c->known / c->model);
}

/* How far the model was off so far, about its mean: what the process begins with. */
static double spread(const struct search *s) {
    double sum = 0, squares = 0, n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->c[i].replayed) continue;
        double r = ratio(&s->c[i]);
        sum += r;
        squares += r * r;
        n++;
    }
    if (n < FIRST / 2) return PRIOR;
    double about = sqrt(fmax(0, squares / n - sum / n * sum / n) + sum / n * sum / n);
    return fmax(PRIOR_LEAST, about);
}

static enum ww_code learn(struct search *s, struct ww_error *error) {
    struct ww_gp gp;
    double *x = calloc(WW_GP_POINTS * s->inputs, sizeof *x), y[WW_GP_POINTS], noise[WW_GP_POINTS];
    size_t n = 0;
    if (!x) return ww_fail_nomem(error, "a regression");
    for (uint32_t r = s->rounds + 1; r-- > 0 && n < WW_GP_POINTS;)
        for (size_t i = 0; i < s->n && n < WW_GP_POINTS; i++) {
            if (!s->c[i].replayed || s->c[i].round != r) continue;
            memcpy(x + n * s->inputs, s->input + i * s->inputs, s->inputs * sizeof *x);
            y[n] = ratio(&s->c[i]);
            noise[n++] = 0;
        }
    bool good = ww_gp_fit(&gp, x, y, noise, n, s->inputs, s->category, spread(s));
    for (size_t i = 0; i < s->n && good; i++) {
        struct candidate *c = &s->c[i];
        c->mean = c->deviation = 0;
        if (c->replayed)
            c->mean = ratio(c);
        else if (!c->reason)
            ww_gp_at(&gp, s->input + i * s->inputs, &c->mean, &c->deviation);
    }
    ww_gp_free(&gp);
    free(x);
    return good ? WW_OK : ww_fail_nomem(error, "a regression");
}

/* ---- the search ---- */

static size_t fastest(const struct search *s) {
    size_t best = s->n;
    for (size_t i = 0; i < s->n; i++)
        if (s->c[i].replayed && (best == s->n || s->c[i].known < s->c[best].known)) best = i;
    return best;
}

/* The probability that a candidate is faster than `limit` seconds. */
static double chance(const struct candidate *c, double limit) {
    if (c->reason || c->replayed) return 0;
    double z = (log(limit) - log(c->model) - c->mean) / fmax(c->deviation, 1e-9);
    return 0.5 * erfc(-z / sqrt(2));
}

static double doubt(const struct search *s) {
    size_t best = fastest(s);
    double sum = 0;
    if (best == s->n) return s->valid ? 1 : 0;
    for (size_t i = 0; i < s->n; i++) sum += chance(&s->c[i], s->c[best].known * (1 - MARGIN));
    return fmin(1, sum);
}

/* The first round: the fastest by the model, and others spread over its order, that show how far it is off. */
static size_t pick_first(const struct search *s, size_t most, size_t *pick) {
    size_t *order = calloc(s->n + 1, sizeof *order), count = 0, picked = 0;
    if (!order) return 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->c[i].reason) continue;
        size_t at = count++;
        for (; at > 0 && s->c[order[at - 1]].model > s->c[i].model; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    size_t first = count < FIRST ? count : FIRST, half = (first + 1) / 2;
    for (size_t i = 0; i < half && picked < most; i++) pick[picked++] = order[i];
    for (size_t i = half; i < first && picked < most; i++)
        pick[picked++] = order[half + (count - half - 1) * (i - half + 1) / (first - half)];
    free(order);
    return picked;
}

/* The likeliest to be faster, by the expected gain: the chance alone would take those that are a little better.
 */
static size_t pick_next(const struct search *s, size_t most, size_t *pick) {
    double limit = s->c[fastest(s)].known * (1 - MARGIN);
    size_t picked = 0;
    for (; picked < most && picked < BATCH; picked++) {
        size_t best = s->n;
        double greatest = 0;
        for (size_t i = 0; i < s->n; i++) {
            bool taken = false;
            for (size_t k = 0; k < picked; k++) taken = taken || pick[k] == i;
            double p = taken ? 0 : chance(&s->c[i], limit);
            if (p > greatest) greatest = p, best = i;
        }
        if (best == s->n) break;
        pick[picked] = best;
    }
    return picked;
}

static enum ww_code replay(struct search *s, const size_t *pick, size_t picked, struct ww_error *error) {
    struct sweep_job *job = s->job;
    memset(job->wanted, 0, s->n * sizeof *job->wanted);
    for (size_t i = 0; i < picked; i++) job->wanted[pick[i]] = true;
    WW_TRY(ww_sweep_compute(job, error));
    for (size_t i = 0; i < picked; i++) {
        struct candidate *c = &s->c[pick[i]];
        struct ww_db_sweep_result r;
        WW_TRY(ww_db_sweep_find(job->db, c->config, job->head.trace[0].id, &r, error));
        c->round = s->rounds;
        if (r.stored) {
            c->replayed = true;
            c->known = fmax((double)r.time_ps, 1) * 1e-12;
            s->replayed++;
        } else { /* it turned out invalid */
            c->reason = strdup("");
            s->valid--;
            if (!c->reason) return ww_fail_nomem(error, "candidates");
        }
    }
    s->rounds++;
    return WW_OK;
}

static enum ww_code keep(struct search *s, struct ww_error *error) {
    struct ww_db_sweep_candidate *all = calloc(s->n + 1, sizeof *all);
    const struct ww_db_sweep_candidate **list = calloc(s->n + 1, sizeof *list);
    double *value = calloc(3 * s->n + 1, sizeof *value);
    enum ww_code code = all && list && value ? WW_OK : ww_fail_nomem(error, "a sweep");
    for (size_t i = 0; i < s->n && code == WW_OK; i++) {
        const struct candidate *c = &s->c[i];
        double *v = &value[3 * i];
        if (c->reason) continue;
        v[0] = c->replayed ? c->known : c->model * exp(c->mean);
        v[1] = v[0] * exp(-1.96 * c->deviation);
        v[2] = v[0] * exp(1.96 * c->deviation);
        all[i] = (struct ww_db_sweep_candidate){.settings = c->settings,
                                                .fidelity = c->replayed ? "full" : "analytic",
                                                .round = c->round,
                                                .likely = true,
                                                .possible = true,
                                                .estimate = v,
                                                .low = v + 1,
                                                .high = v + 2};
        list[i] = &all[i];
    }
    if (code == WW_OK)
        code = ww_db_sweep_candidates(s->job->db, &s->job->head, list,
                                      s->valid ? (double)s->replayed / (double)s->valid : 0, s->rounds, error);
    free(all);
    free(list);
    free(value);
    return code;
}

static enum ww_code search(struct search *s, size_t budget, struct ww_error *error) {
    size_t pick[FIRST + BATCH];
    while (s->valid && s->replayed < budget) {
        size_t left = budget - s->replayed;
        bool any = fastest(s) < s->n; /* replayed, and not found wrong */
        if (any && doubt(s) < DOUBT) break;
        size_t picked = any ? pick_next(s, left, pick) : pick_first(s, left, pick);
        if (!picked) break;
        WW_TRY(replay(s, pick, picked, error));
        if (fastest(s) == s->n) continue;
        WW_TRY(learn(s, error));
    }
    return WW_OK;
}

static enum ww_code replay_all(struct search *s, struct ww_error *error) {
    size_t pick[SMALL], picked = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!s->c[i].reason && !s->c[i].replayed) pick[picked++] = i;
    return picked ? replay(s, pick, picked, error) : WW_OK;
}

/* The fastest ones are verified; without the wrong ones the search continues. */
static enum ww_code drop_wrong(struct search *s, bool *wrong, struct ww_error *error) {
    struct sweep_job *job = s->job;
    struct ww_db_sweep_pick *left = calloc(s->n + 1, sizeof *left);
    size_t n = 0;
    enum ww_code code = left ? ww_sweep_verify(job, wrong, error) : ww_fail_nomem(error, "candidates");
    if (code == WW_OK && *wrong) code = ww_db_sweep_fastest(job->db, &job->head, left, s->n, &n, error);
    for (size_t i = 0; code == WW_OK && *wrong && i < s->n; i++) {
        bool there = false;
        for (size_t k = 0; k < n; k++) there = there || left[k].ord == i;
        if (there || !s->c[i].replayed) continue;
        s->c[i].replayed = false;
        s->c[i].reason = strdup("");
        s->valid--;
        s->replayed--; /* the budget is for variants that are right */
        if (!s->c[i].reason) code = ww_fail_nomem(error, "candidates");
    }
    free(left);
    return code;
}

static enum ww_code find(struct search *s, struct ww_error *error) {
    struct sweep_job *job = s->job;
    WW_TRY(screen(s, error));
    WW_TRY(store_invalid(s, error));
    code_inputs(s);
    size_t budget = (size_t)floor(job->head.budget * (double)s->valid + 1e-9);
    if (s->valid && budget == 0)
        return ww_fail(error, WW_USAGE, "--budget", "%g %% of %zu variants is less than one",
                       100 * job->head.budget, s->valid);
    for (bool wrong = true; wrong;) {
        WW_TRY(s->small ? replay_all(s, error) : search(s, budget, error));
        WW_TRY(drop_wrong(s, &wrong, error));
    }
    return keep(s, error);
}

/* What makes the variant's code; empty if it is not known. */
static void say_options(const struct search *s, size_t i, struct ww_sweep_summary *summary) {
    const struct ww_sweep_space *space = &s->job->space;
    const uint16_t *level = s->job->plan.level + i * space->param_count;
    struct ww_sweep_machine m;
    struct ww_buf text = {0};
    if (ww_sweep_machine(space, level, s->job->power, &m, NULL) == WW_OK && !m.reason[0] &&
        ww_variant_options(&(struct ww_variant_at){space, m.variant, m.variant_params}, &text, NULL) == WW_OK)
        snprintf(summary->built, sizeof summary->built, "%s", text.p);
    ww_buf_free(&text);
    ww_sweep_machine_free(&m);
}

static void report(const struct search *s, struct ww_sweep_summary *summary) {
    size_t best = fastest(s);
    summary->replayed = s->replayed;
    summary->small = s->small;
    summary->cost = s->valid ? (double)s->replayed / (double)s->valid : 0;
    if (s->valid == 0)
        for (size_t i = 0; i < s->n && !summary->why[0]; i++)
            if (s->c[i].reason)
                snprintf(summary->why, sizeof summary->why, "no variant can be%s%.900s",
                         s->c[i].reason[0] ? "; the first: " : "", s->c[i].reason);
    if (best == s->n) return;
    say_options(s, best, summary);
    snprintf(summary->best, sizeof summary->best, "%s", s->c[best].settings);
    summary->best_s = s->c[best].known;
    summary->best_sure = 1 - doubt(s);
    summary->best_margin = MARGIN;
    for (size_t i = 0; i < s->n; i++)
        summary->best_near +=
            i != best && s->c[i].replayed && s->c[i].known <= (1 + WW_SWEEP_NEAR) * summary->best_s;
}

enum ww_code ww_sweep_best(struct sweep_job *job, struct ww_sweep_summary *summary, struct ww_error *error) {
    struct search s = {.job = job, .n = job->plan.count, .inputs = 1};
    s.small = s.n <= SMALL && job->head.budget >= 1;
    if (s.n > WW_ADAPTIVE_CANDIDATES)
        return ww_fail(error, WW_UNSUPPORTED, job->space.file,
                       "%zu variants, the strategy best takes %d: give fewer by --points", s.n,
                       WW_ADAPTIVE_CANDIDATES);
    for (size_t k = 0; k < job->space.param_count; k++) s.inputs += job->space.param[k].count > 1;
    s.c = calloc(s.n, sizeof *s.c);
    s.input = calloc(s.n * s.inputs, sizeof *s.input);
    job->wanted = ww_arena_array(&job->space.arena, s.n, sizeof *job->wanted);
    enum ww_code code = s.c && s.input && job->wanted && !pthread_mutex_init(&s.lock, NULL)
                            ? WW_OK
                            : ww_fail_nomem(error, "a sweep");
    if (code == WW_OK) {
        code = find(&s, error);
        pthread_mutex_destroy(&s.lock);
    }
    if (code == WW_OK) report(&s, summary);
    for (size_t i = 0; s.c && i < s.n; i++) {
        free(s.c[i].settings);
        free(s.c[i].reason);
    }
    free(s.c);
    free(s.input);
    return code;
}
