/* Which candidates are worth a replay. */
#include "adaptive.h"
#include "hypervolume.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN 0.1 /* of the front's extent: the reference lies that far behind its worst values */

struct picking {
    const struct adaptive *a;
    double optimism;
    double reference[WW_SWEEP_OBJECTIVES], extent[WW_SWEEP_OBJECTIVES];
    double *front, *room; /* measured and picked points, [point][objective] */
    size_t fronts;
    bool *taken;
    bool *seen; /* [parameter][level], WW_SWEEP_LEVELS a row: a picked point has it */
};

static bool known(const struct adaptive *a, size_t i) {
    for (size_t k = 0; k < a->objectives; k++)
        if (!isfinite(a->cost[i * a->objectives + k])) return false;
    return true;
}

/* Behind the worst values of the estimated front. */
static void find_reference(struct picking *p) {
    const struct adaptive *a = p->a;
    double low[WW_SWEEP_OBJECTIVES], high[WW_SWEEP_OBJECTIVES];
    size_t m = a->objectives;
    for (size_t k = 0; k < m; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (size_t i = 0; i < a->n; i++) {
        bool best = a->state[i] != ADAPTIVE_OUT && a->likely[i] && known(a, i);
        for (size_t j = 0; j < a->n && best; j++)
            best = a->state[j] == ADAPTIVE_OUT || !a->likely[j] || !known(a, j) ||
                   !ww_dominates(a->cost + j * m, a->cost + i * m, m);
        for (size_t k = 0; k < m && best; k++) {
            low[k] = fmin(low[k], a->cost[i * m + k]);
            high[k] = fmax(high[k], a->cost[i * m + k]);
        }
    }
    for (size_t k = 0; k < m; k++) {
        double extent = high[k] - low[k];
        p->extent[k] = extent > 0 ? extent : fabs(high[k]) > 0 && isfinite(high[k]) ? fabs(high[k]) : 1;
        p->reference[k] = (isfinite(high[k]) ? high[k] : 0) + MARGIN * p->extent[k];
    }
}

static void add_front(struct picking *p, size_t i) {
    size_t m = p->a->objectives;
    memcpy(p->front + p->fronts++ * m, p->a->cost + i * m, m * sizeof *p->front);
}

/* What a candidate may add. Negative: nothing, by how much it is behind at its best. */
static double worth(const struct picking *p, size_t i) {
    const struct adaptive *a = p->a;
    size_t m = a->objectives;
    double at[WW_SWEEP_OBJECTIVES], behind = 0;
    for (size_t k = 0; k < m; k++)
        at[k] = a->cost[i * m + k] - p->optimism * (a->cost[i * m + k] - a->low[i * m + k]);
    double gain = ww_hypervolume_gain(p->front, p->fronts, m, p->reference, at, p->room);
    if (isnan(gain)) return NAN;
    if (gain > 0) return a->likely[i] ? gain : gain / 2;
    for (size_t f = 0; f < p->fronts; f++) {
        double least = INFINITY;
        for (size_t k = 0; k < m; k++) least = fmin(least, (at[k] - p->front[f * m + k]) / p->extent[k]);
        behind = fmax(behind, least);
    }
    for (size_t k = 0; k < m; k++) behind = fmax(behind, (at[k] - p->reference[k]) / p->extent[k]);
    return -behind - (a->likely[i] ? 0 : 1);
}

/* ---- levels that the first round has to see ----
 * Where the model is wrong about the direction of an effect, a level that is never replayed would not show it.
 * So the first round has all levels of texts, of which most are mechanisms that the model knows nothing of, and
 * both ends of numbers. */

static bool is_telling(const struct ww_sweep_param *p, size_t level) {
    return p->count > 1 && (!p->level[level].number || level == 0 || level + 1 == p->count);
}

static bool *slot(const struct picking *p, size_t i, size_t param) {
    const struct ww_sweep_space *s = &p->a->job->space;
    return &p->seen[param * WW_SWEEP_LEVELS + p->a->job->plan.level[i * s->param_count + param]];
}

/* How many of them a candidate would be the first to have. */
static size_t news(const struct picking *p, size_t i) {
    const struct ww_sweep_space *s = &p->a->job->space;
    size_t count = 0;
    for (size_t k = 0; k < s->param_count; k++)
        count += is_telling(&s->param[k], p->a->job->plan.level[i * s->param_count + k]) && !*slot(p, i, k);
    return count;
}

static void see(struct picking *p, size_t i) {
    const struct ww_sweep_space *s = &p->a->job->space;
    for (size_t k = 0; k < s->param_count; k++) *slot(p, i, k) = true;
}

/* ---- the batch ---- */

static bool is_open(const struct picking *p, size_t i) {
    const struct adaptive *a = p->a;
    enum adaptive_state most = a->job->sampling ? ADAPTIVE_MODEL : ADAPTIVE_SAMPLED;
    return a->state[i] != ADAPTIVE_OUT && a->state[i] <= most && !p->taken[i] && a->possible[i] && known(a, i);
}

/* The best open candidate, or n. `fresh`: of those that bring most levels not seen yet, at least one. */
static size_t best_of(const struct picking *p, bool fresh) {
    size_t best = p->a->n, brings = fresh;
    double most = -INFINITY;
    for (size_t i = 0; i < p->a->n; i++) {
        size_t now = fresh && is_open(p, i) ? news(p, i) : 0;
        if (!is_open(p, i) || now < brings) continue;
        double w = worth(p, i);
        if (isnan(w)) return i;
        if (now == brings && !(w > most)) continue;
        best = i;
        most = w;
        brings = now;
    }
    return best;
}

static void fill(struct picking *p, size_t count, size_t fresh, size_t *pick, size_t *picked) {
    const struct adaptive *a = p->a;
    enum adaptive_state least = a->job->sampling ? ADAPTIVE_SAMPLED : ADAPTIVE_FULL;
    find_reference(p);
    for (size_t i = 0; i < a->n; i++)
        if (a->state[i] >= least && a->likely[i] && known(a, i)) add_front(p, i);
    for (*picked = 0; *picked < fresh || *picked < count; ++*picked) {
        size_t best = *picked < fresh ? best_of(p, true) : a->n;
        if (best == a->n && *picked < count) best = best_of(p, false);
        if (best == a->n) return;
        pick[*picked] = best;
        p->taken[best] = true;
        see(p, best);
        if (a->likely[best]) add_front(p, best);
    }
}

enum ww_code ww_adaptive_pick(const struct adaptive *a, size_t count, size_t fresh, double optimism,
                              size_t *pick, size_t *picked, struct ww_error *error) {
    struct picking p = {.a = a, .optimism = optimism};
    size_t m = a->objectives;
    p.front = malloc((a->n + 1) * m * sizeof *p.front);
    p.room = malloc((a->n + 1) * m * sizeof *p.room);
    p.taken = calloc(a->n, sizeof *p.taken);
    p.seen = calloc((a->job->space.param_count + 1) * WW_SWEEP_LEVELS, sizeof *p.seen);
    *picked = 0;
    bool good = p.front && p.room && p.taken && p.seen;
    if (good) fill(&p, count, fresh, pick, picked);
    free(p.front);
    free(p.room);
    free(p.taken);
    free(p.seen);
    return good ? WW_OK : ww_fail_nomem(error, "picking candidates");
}
