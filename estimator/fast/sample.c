/* The two stages of a sample, and when they stop. */
#include "sample.h"
#include "../result/stats.h"
#include "sample_variate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A stratum of up to PILOT_ALL units is taken whole; of others the pilot takes PILOT_LEAST, and one in
 * PILOT_SHARE up to PILOT_MOST. */
enum { PILOT_ALL = 3, PILOT_LEAST = 4, PILOT_SHARE = 64, PILOT_MOST = 8 };
enum { PAIRS = 4 };  /* units that are measured with a longer way before them, too */
#define WORTH 0.7    /* part of all instructions from which everything is replayed instead */
#define MARGIN 0.85  /* of the target, that the second stage aims at: the rest is for the correction of bias */
enum { STEPS = 60 }; /* bisections of the sample's size */
#define FAST_LEAST 0.6 /* of full replay's time, that fast replay takes where it gains most */
#define SURE 0.9       /* that the correlation is at least the assumed one */

static const char *const reasons[WW_SAMPLE_REASONS] = {
    "so small that sampling gains nothing: replayed in full",
    "the least sample was enough",
    "the second stage, whose size the pilot gave, was drawn",
    "strata that varied more than the pilot showed were taken whole",
    "the sample would cost about as much as everything: replayed in full",
    "how replayed parts begin matters too much for the target: replayed in full"};

const char *ww_sample_reason_text(enum ww_sample_reason reason) {
    return (unsigned)reason < WW_SAMPLE_REASONS ? reasons[reason] : NULL;
}

struct sampler {
    struct ww_frame *f;
    const struct ww_sample_options *o;
    struct ww_measure *measure;    /* by unit */
    struct ww_measure *fast;       /* by unit, of fast replay */
    double (*spread)[WW_MEASURES]; /* by stratum: variance of a unit */
    size_t *wanted, *fast_wanted;  /* by stratum */
    struct ww_estimate *e;
};

static size_t pilot_size(size_t count) {
    if (count <= PILOT_ALL) return count;
    size_t n = count / PILOT_SHARE;
    return n < PILOT_LEAST ? PILOT_LEAST : n > PILOT_MOST ? PILOT_MOST : n;
}

static int by_place(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Every stratum in an order of its own, which the seed and its number alone decide: designs that are compared
 * with one seed replay the same units as far as both samples go. */
static enum ww_code mix(struct sampler *s, struct ww_arena *arena, struct ww_error *error) {
    size_t *index = ww_arena_array(arena, s->f->count, sizeof *index);
    size_t *before = ww_arena_array(arena, s->f->count, sizeof *before);
    if (!index || !before) return ww_fail_nomem(error, "a sample");
    for (size_t h = 0; h < s->f->strata; h++) {
        struct ww_stratum *st = &s->f->stratum[h];
        struct ww_rng rng;
        qsort(s->f->order + st->first, st->count, sizeof *s->f->order, by_place);
        ww_rng_seed(&rng, s->o->seed * 0x9e3779b97f4a7c15u + h);
        ww_stats_shuffle(index, st->count, &rng);
        memcpy(before, s->f->order + st->first, st->count * sizeof *before);
        for (size_t i = 0; i < st->count; i++) s->f->order[st->first + i] = before[index[i]];
        st->drawn = st->fast = 0;
        st->pilot = pilot_size(st->count);
    }
    return WW_OK;
}

static enum ww_code draw(struct sampler *s, size_t h, size_t n, struct ww_error *error) {
    struct ww_stratum *st = &s->f->stratum[h];
    for (; st->drawn < n; st->drawn++) {
        size_t unit = s->f->order[st->first + st->drawn];
        WW_TRY(s->o->measure(s->o->context, s->f, unit, WW_WAY_DRAWN, &s->measure[unit], error));
    }
    return WW_OK;
}

static enum ww_code draw_fast(struct sampler *s, size_t h, size_t n, struct ww_error *error) {
    struct ww_stratum *st = &s->f->stratum[h];
    for (; st->fast < n; st->fast++) {
        size_t unit = s->f->order[st->first + st->fast];
        WW_TRY(s->o->measure(s->o->context, s->f, unit, WW_WAY_FAST, &s->fast[unit], error));
        s->e->fast++;
        s->e->fast_replayed += s->fast[unit].replayed;
    }
    return WW_OK;
}

static bool counts(const struct sampler *s, int k) {
    return k == WW_MEASURE_CYCLES || (k == WW_MEASURE_JOULES && s->o->energy);
}

static double half_width(const struct sampler *s, const struct ww_estimate *e, int k) {
    return ww_stats_t(s->o->confidence, e->df[k]) * sqrt(e->variance[k][k]);
}

/* Standard deviation of a stratum's units, relative to the allowed one of the total: the larger one of the
 * measures. */
static double need_of(const struct sampler *s, size_t h) {
    double most = 0;
    for (int k = 0; k < WW_MEASURES; k++) {
        if (!counts(s, k) || !(s->e->total[k] > 0)) continue;
        double allowed = MARGIN * s->o->target * s->e->total[k] / ww_stats_t(s->o->confidence, s->e->df[k]);
        double need = sqrt(s->spread[h][k]) / allowed;
        if (need > most) most = need;
    }
    return most;
}

static double cost_of(const struct ww_frame *f, const struct ww_stratum *st) {
    double sum = 0;
    for (size_t i = 0; i < st->count; i++) sum += f->unit[f->order[st->first + i]].cost;
    return sum / (double)st->count;
}

/* Sizes by Neyman's allocation with costs (Cochran, section 5.5), scaled by k; returns the variance that they
 * give, in squares of what is allowed. */
static double allocate(struct sampler *s, double k) {
    double variance = 0;
    for (size_t h = 0; h < s->f->strata; h++) {
        const struct ww_stratum *st = &s->f->stratum[h];
        double need = need_of(s, h), N = (double)st->count;
        double n = ceil(k * N * need / sqrt(cost_of(s->f, st) + 1));
        if (n < (double)st->pilot) n = (double)st->pilot;
        if (n > N) n = N;
        s->wanted[h] = (size_t)n;
        variance += N * (N - n) / n * need * need;
    }
    return variance;
}

/* The smallest second stage that should reach the target, by the pilot's variances. */
static void plan(struct sampler *s) {
    double low = 0, high = 1;
    if (allocate(s, 0) <= 1) return;
    while (allocate(s, high) > 1 && high < 1e12) high *= 2;
    for (int i = 0; i < STEPS; i++) {
        double middle = (low + high) / 2;
        if (allocate(s, middle) > 1)
            low = middle;
        else
            high = middle;
    }
    allocate(s, high);
}

/* With the units that are measured twice. */
static double planned_cost(const struct sampler *s) {
    double sum = 0, pair = 0;
    for (size_t h = 0; h < s->f->strata; h++) {
        const struct ww_stratum *st = &s->f->stratum[h];
        sum += cost_of(s->f, st) * (double)(s->wanted[h] > st->drawn ? s->wanted[h] : st->drawn);
        sum += cost_of(s->f, st) * s->e->fast_cost *
               (double)(s->fast_wanted[h] > st->fast ? s->fast_wanted[h] : st->fast);
    }
    for (size_t u = 0; u < s->f->count; u++)
        if (s->f->unit[u].cost > pair) pair = s->f->unit[u].cost;
    return sum + PAIRS * pair;
}

static bool met(const struct sampler *s) {
    for (int k = 0; k < WW_MEASURES; k++)
        if (counts(s, k) && half_width(s, s->e, k) > s->o->target * s->e->total[k]) return false;
    return true;
}

/* Selects the whole of the stratum that contributes most to the excess variance. False: none is left. */
static bool want_worst(struct sampler *s) {
    size_t worst = 0;
    double most = 0;
    for (size_t h = 0; h < s->f->strata; h++) {
        const struct ww_stratum *st = &s->f->stratum[h];
        double n = (double)st->drawn, N = (double)st->count, need = need_of(s, h);
        double part = N * (N - n) / n * need * need;
        if (st->drawn < st->count && part > most) {
            most = part;
            worst = h;
        }
    }
    for (size_t h = 0; h < s->f->strata; h++) s->wanted[h] = s->f->stratum[h].drawn;
    s->wanted[worst] = s->f->stratum[worst].count;
    return most > 0;
}

static void look(struct sampler *s, bool pilot) {
    ww_sample_totals(s->f, s->measure, s->e->variate ? s->fast : NULL, pilot, s->spread, s->e);
}

/* Draws the wanted units, unless that and the units drawn so far would cost too much. */
static enum ww_code draw_wanted(struct sampler *s, struct ww_error *error) {
    s->e->all = planned_cost(s) >= WORTH * s->f->instructions;
    if (s->o->plan && !s->e->all) s->o->plan(s->o->context, s->wanted, PAIRS);
    for (size_t h = 0; h < s->f->strata && !s->e->all; h++) {
        WW_TRY(draw(s, h, s->wanted[h], error));
        WW_TRY(draw_fast(s, h, s->fast_wanted[h], error));
    }
    return WW_OK;
}

/* ---- fast replay as control variate ------------------------------------------------------------ */

/* The second stage's cost beyond what is drawn, in warp instructions. */
static double cost_left(const struct sampler *s) {
    double sum = 0;
    for (size_t h = 0; h < s->f->strata; h++) {
        const struct ww_stratum *st = &s->f->stratum[h];
        double full = s->wanted[h] > st->drawn ? (double)(s->wanted[h] - st->drawn) : 0;
        double fast = s->fast_wanted[h] > st->fast ? (double)(s->fast_wanted[h] - st->fast) : 0;
        sum += cost_of(s->f, st) * (full + s->e->fast_cost * fast);
    }
    return sum;
}

/* Measures the pilot's units of the strata that want more by fast replay, too, if that may pay at all: it costs
 * less than fast replay can save. *tried: it has. */
static enum ww_code try_fast(struct sampler *s, bool *tried, struct ww_error *error) {
    double probe = 0, cost = 0, n = 0;
    for (size_t h = 0; h < s->f->strata; h++)
        if (s->wanted[h] > s->f->stratum[h].drawn)
            probe += FAST_LEAST * (double)s->f->stratum[h].pilot * cost_of(s->f, &s->f->stratum[h]);
    *tried = s->o->variate && probe > 0 && probe < (1 - FAST_LEAST) * cost_left(s);
    for (size_t h = 0; *tried && h < s->f->strata; h++) {
        const struct ww_stratum *st = &s->f->stratum[h];
        if (s->wanted[h] <= st->drawn) continue;
        WW_TRY(draw_fast(s, h, st->pilot, error));
        for (size_t i = 0; i < st->fast; i++, n++) cost += s->fast[s->f->order[st->first + i]].cost;
    }
    if (n > 0) s->e->fast_cost = cost / n;
    return WW_OK;
}

/* The least correlation of the families that were tried, unweighted: each family must reach it. */
static void correlate(struct sampler *s, double *least) {
    double ratio[WW_MEASURES], part = 1;
    s->e->correlation = 1;
    for (size_t g = 0; g < s->f->families; g++) {
        struct ww_variate v;
        ww_sample_ratio_of(s->f, s->measure, g, ratio);
        ww_variate_fit(s->f, s->measure, s->fast, g, ratio, &v);
        for (int k = 0; k < WW_MEASURES && v.df > 0; k++) {
            if (!counts(s, k)) continue;
            if (v.correlation[k] < s->e->correlation) s->e->correlation = v.correlation[k];
            double bound = ww_variate_least(v.correlation[k], v.df, SURE);
            if (bound < part) part = bound;
        }
    }
    *least = part;
}

/* As allocate(), with fast replay of more units in the strata where it was tried. */
static double allocate_fast(struct sampler *s, double k, double correlation) {
    double cost = s->e->fast_cost, part = ww_variate_part(correlation, cost),
           square = correlation * correlation;
    double variance = 0, scale = sqrt((square + (1 - square) / part) / (cost + part));
    for (size_t h = 0; h < s->f->strata; h++) {
        const struct ww_stratum *st = &s->f->stratum[h];
        double need = need_of(s, h), N = (double)st->count, root = sqrt(cost_of(s->f, st) + 1);
        double least = (double)st->pilot, m = ceil(k * N * need * (st->fast ? scale : 1) / root);
        if (m > N) m = N;
        double n = st->fast ? ceil(part * m) : m;
        if (n < least) n = least;
        if (m < n) m = n;
        s->wanted[h] = (size_t)n;
        s->fast_wanted[h] = st->fast && m > n ? (size_t)m : st->fast;
        if (s->fast_wanted[h] <= s->wanted[h]) square = 0;
        variance += N * N * need * need * ((1 - square) * (1 / n - 1 / m) + (1 / m - 1 / N));
        square = correlation * correlation;
    }
    return variance;
}

/* Takes fast replay as control variate if the pilot shows that this is cheaper. */
static enum ww_code choose(struct sampler *s, struct ww_error *error) {
    double low = 0, high = 1, least, full = cost_left(s);
    bool tried;
    WW_TRY(try_fast(s, &tried, error));
    if (!tried) return WW_OK;
    correlate(s, &least);
    s->e->pays_from = sqrt(ww_variate_pays_from(s->e->fast_cost));
    s->e->variate = least > s->e->pays_from;
    if (!s->e->variate) return WW_OK;
    while (allocate_fast(s, high, least) > 1 && high < 1e12) high *= 2;
    for (int i = 0; i < STEPS; i++) {
        double middle = (low + high) / 2;
        if (allocate_fast(s, middle, least) > 1)
            low = middle;
        else
            high = middle;
    }
    allocate_fast(s, high, least);
    s->e->variate = cost_left(s) < full;
    if (s->e->variate) return WW_OK;
    memset(s->fast_wanted, 0, s->f->strata * sizeof *s->fast_wanted);
    plan(s);
    return WW_OK;
}

static enum ww_code draw_all_stages(struct sampler *s, struct ww_error *error) {
    for (size_t h = 0; h < s->f->strata; h++) s->wanted[h] = s->f->stratum[h].pilot;
    WW_TRY(draw_wanted(s, error));
    if (s->e->all) return WW_OK;
    look(s, true);
    plan(s);
    WW_TRY(choose(s, error));
    s->e->reason = WW_SAMPLE_PILOT;
    for (size_t h = 0; h < s->f->strata; h++)
        if (s->wanted[h] > s->f->stratum[h].drawn) s->e->reason = WW_SAMPLE_SECOND;
    WW_TRY(draw_wanted(s, error));
    look(s, false);
    while (!s->e->all && !met(s) && want_worst(s)) {
        WW_TRY(draw_wanted(s, error));
        s->e->reason = WW_SAMPLE_STRATA;
        look(s, false);
    }
    return WW_OK;
}

/* ---- bias of cold starts --------------------------------------------------------------------- */

/* Units that were drawn, in random order: windows, if there are any, else launches that are not among their
 * kernel's first. */
static size_t candidates(const struct sampler *s, bool windows, size_t *unit) {
    size_t n = 0;
    for (size_t h = 0; h < s->f->strata; h++)
        for (size_t i = 0; i < s->f->stratum[h].drawn; i++) {
            size_t u = s->f->order[s->f->stratum[h].first + i];
            const struct ww_unit *x = &s->f->unit[u];
            if (windows ? x->kind == WW_UNIT_WINDOW && x->from : !x->early) unit[n++] = u;
        }
    return n;
}

static bool has_windows(const struct ww_frame *f) {
    for (size_t u = 0; u < f->count; u++)
        if (f->unit[u].kind == WW_UNIT_WINDOW) return true;
    return false;
}

/* Adds an independent relative variance to a total's. */
static void add_variance(struct ww_estimate *e, int k, double relative, double df) {
    double more = relative * e->total[k] * e->total[k];
    double v[2] = {e->variance[k][k], more}, of[2] = {e->df[k], df};
    e->df[k] = ww_stats_satterthwaite(v, of, 2);
    e->variance[k][k] += more;
}

/* Measures some units again with another beginning; what that changes in them, relative. */
static enum ww_code measure_pairs(struct sampler *s, bool windows, struct ww_arena *arena, double (*d)[PAIRS],
                                  struct ww_error *error) {
    size_t *unit = ww_arena_array(arena, s->f->count, sizeof *unit), n;
    struct ww_rng rng;
    if (!unit) return ww_fail_nomem(error, "a sample");
    n = candidates(s, windows, unit);
    ww_rng_seed(&rng, ~s->o->seed);
    if (s->o->plan) s->o->plan(s->o->context, NULL, n >= PAIRS ? PAIRS : 0);
    for (size_t p = 0; p < PAIRS && n >= PAIRS; p++) {
        size_t pick = p + ww_rng_below(&rng, (uint32_t)(n - p)), u = unit[pick];
        unit[pick] = unit[p];
        unit[p] = u;
        struct ww_measure m = {0};
        WW_TRY(s->o->measure(s->o->context, s->f, u, WW_WAY_LONGER, &m, error));
        for (int k = 0; k < WW_MEASURES; k++) {
            double cold = s->measure[u].y[k] / s->measure[u].instructions, warm = m.y[k] / m.instructions;
            d[k][p] = cold > 0 ? warm / cold - 1 : 0;
        }
        s->e->replayed += m.replayed;
        s->e->warmed += m.warmed;
        s->e->ctas += m.ctas;
        s->e->pairs++;
    }
    return WW_OK;
}

/* How units begin. Launches are measured again with a longer way before them: what that changes, on average, is
 * corrected, and the intervals are widened by how uncertain it is (two-phase sampling, Cochran, chapter 12),
 * and by what may still be left: a way longer yet might change as much again in either direction, all of that
 * range alike. Windows are measured again with a machine whose CTAs are in step: it may be anywhere between
 * that and how it was, so that nothing is corrected, and the intervals are widened by that range, whose end is
 * known as well as the mean is. */
static enum ww_code correct(struct sampler *s, struct ww_arena *arena, struct ww_error *error) {
    double d[WW_MEASURES][PAIRS];
    bool windows = has_windows(s->f);
    WW_TRY(measure_pairs(s, windows, arena, d, error));
    if (!s->e->pairs) return WW_OK;
    for (int k = 0; k < WW_MEASURES; k++) {
        double b = ww_stats_mean(d[k], PAIRS), chance = ww_stats_variance(d[k], PAIRS) / PAIRS;
        s->e->bias[k] = b;
        if (windows) {
            add_variance(s->e, k, (b * b + chance) / 3, INFINITY);
            continue;
        }
        add_variance(s->e, k, chance + b * b / 3, PAIRS - 1);
        s->e->total[k] *= 1 + b;
    }
    for (int k = 0; k < WW_MEASURES && !windows; k++) /* what the corrections have in common */
        for (int j = 0; j < WW_MEASURES; j++)
            if (j != k)
                s->e->variance[k][j] +=
                    s->e->total[k] * s->e->total[j] * ww_stats_covariance(d[k], d[j], PAIRS) / PAIRS;
    return WW_OK;
}

/* ---- the result ------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static enum ww_code count_drawn(struct sampler *s, struct ww_arena *arena, struct ww_error *error) {
    struct ww_estimate *e = s->e;
    uint32_t *launch = ww_arena_array(arena, s->f->count, sizeof *launch);
    if (!launch) return ww_fail_nomem(error, "a sample");
    for (size_t h = 0; h < s->f->strata; h++)
        for (size_t i = 0; i < s->f->stratum[h].drawn; i++) {
            size_t u = s->f->order[s->f->stratum[h].first + i];
            const struct ww_measure *m = &s->measure[u];
            launch[e->drawn++] = s->f->unit[u].launch;
            e->replayed += m->replayed;
            e->warmed += m->warmed;
            e->ctas += m->ctas;
        }
    qsort(launch, e->drawn, sizeof *launch, by_number);
    for (size_t i = 0; i < e->drawn; i++) e->launches += i == 0 || launch[i] != launch[i - 1];
    e->units = s->f->count;
    e->measure = s->measure;
    return WW_OK;
}

enum ww_code ww_sample(struct ww_frame *frame, const struct ww_sample_options *options, struct ww_arena *arena,
                       struct ww_estimate *out, struct ww_error *error) {
    struct sampler s = {.f = frame, .o = options, .e = out};
    memset(out, 0, sizeof *out);
    out->reason = WW_SAMPLE_SMALL;
    s.measure = ww_arena_array(arena, frame->count, sizeof *s.measure);
    s.spread = ww_arena_array(arena, frame->strata, sizeof *s.spread);
    s.wanted = ww_arena_array(arena, frame->strata, sizeof *s.wanted);
    s.fast = ww_arena_array(arena, frame->count, sizeof *s.fast);
    s.fast_wanted = ww_arena_array(arena, frame->strata, sizeof *s.fast_wanted);
    if (!s.measure || !s.spread || !s.wanted || !s.fast || !s.fast_wanted)
        return ww_fail_nomem(error, "a sample");
    out->all = frame->instructions < options->least;
    if (out->all) return WW_OK;
    WW_TRY(mix(&s, arena, error));
    WW_TRY(draw_all_stages(&s, error));
    WW_TRY(count_drawn(&s, arena, error));
    if (out->all) {
        out->reason = WW_SAMPLE_ALL;
        return WW_OK;
    }
    WW_TRY(correct(&s, arena, error));
    out->warm = ww_sample_warm_variance(frame, s.measure);
    for (int k = 0; k < WW_MEASURES; k++) add_variance(out, k, out->warm, INFINITY);
    out->all = !met(&s);
    if (out->all) out->reason = WW_SAMPLE_BEGINNING;
    for (int k = 0; k < WW_MEASURES; k++) {
        double half = half_width(&s, out, k);
        out->lo[k] = out->total[k] - half > 0 ? out->total[k] - half : 0;
        out->hi[k] = out->total[k] + half;
    }
    return WW_OK;
}
