/* Statistics of samples, the population of units, and the two stages: on populations whose truth is known. */
#include "../../estimator/fast/sample_variate.h"
#include "../../estimator/result/stats.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sampling_fixture.h"

static struct ww_error error;

/* ---- statistics ---- */

static void students_t_has_its_tabulated_quantiles(void **state) {
    (void)state;
    near(ww_stats_t(0.95, 5), 2.5706, 1e-4);
    near(ww_stats_t(0.99, 2), 9.9248, 1e-4);
    near(ww_stats_t(0.95, INFINITY), 1.95996, 1e-5);
}

static void degrees_of_freedom_of_a_sum_lie_between_the_least_and_all(void **state) {
    (void)state;
    const double equal[] = {2, 2}, one[] = {5, 0}, df[] = {3, 7};
    near(ww_stats_satterthwaite(equal, df, 2), 16.0 / (4.0 / 3 + 4.0 / 7), 1e-9);
    near(ww_stats_satterthwaite(one, df, 2), 3, 1e-12);
    assert_true(isinf(ww_stats_satterthwaite(one + 1, df, 1)));
}

static void steins_second_stage_follows_the_pilots_variance(void **state) {
    (void)state;
    double t = ww_stats_t(0.95, 9);
    assert_int_equal(ww_stats_stein(4, 9, 0.5, 0.95, 1000000),
                     (size_t)ceil(t * t * 4 / 0.25 / (1 + t * t * 16e-6)));
    assert_int_equal(ww_stats_stein(4, 9, 1e-9, 0.95, 50), 50);
    assert_int_equal(ww_stats_stein(0, 9, 0.5, 0.95, 50), 1);
}

/* Stein's theorem: with the pilot's variance in the end, the interval covers as it says, whatever the variance.
 */
static void two_stages_keep_their_coverage_and_their_width(void **state) {
    (void)state;
    struct ww_rng r;
    size_t covered = 0, rounds = 4000;
    ww_rng_seed(&r, 5);
    for (size_t k = 0; k < rounds; k++) {
        double pilot[6], sum = 0;
        for (int i = 0; i < 6; i++) sum += pilot[i] = 10 + 3 * normal(&r);
        double s2 = ww_stats_variance(pilot, 6), t = ww_stats_t(0.95, 5);
        size_t n = ww_stats_stein(s2, 5, 1.5, 0.95, SIZE_MAX / 2);
        if (n < 6) n = 6;
        for (size_t i = 6; i < n; i++) sum += 10 + 3 * normal(&r);
        double half = t * sqrt(s2 / (double)n);
        assert_true(half <= 1.5 + 1e-9);
        covered += fabs(sum / (double)n - 10) <= half;
    }
    near((double)covered / (double)rounds, 0.955, 0.015);
}

/* The same with the size chosen by looking after each value: it stops too early, too often. */
static void stopping_when_it_looks_narrow_covers_too_little(void **state) {
    (void)state;
    struct ww_rng r;
    size_t covered = 0, rounds = 2000;
    static double x[400];
    ww_rng_seed(&r, 6);
    for (size_t k = 0; k < rounds; k++) {
        size_t n = 3;
        double half = 0;
        for (size_t i = 0; i < 400; i++) x[i] = 10 + 3 * normal(&r);
        for (; n < 400; n++) {
            half = ww_stats_t(0.95, (double)n - 1) * sqrt(ww_stats_variance(x, n) / (double)n);
            if (half <= 1.5) break;
        }
        covered += fabs(ww_stats_mean(x, n) - 10) <= half;
    }
    assert_true((double)covered / (double)rounds < 0.93);
}

/* ---- the population ---- */

enum { MOST = 400 };

struct population {
    struct ww_arena arena;
    struct ww_frame frame;
    double y[MOST], longer;  /* cycles by unit; factor of a longer way */
    double issued, scatter;  /* by windows, of their CTAs' instructions: on average; standard deviation */
    double fast[MOST], cost; /* cycles by unit of fast replay, if cost is not 0: its part of full replay's */
    size_t measured;
};

static struct ww_frame_launch launch_of(uint32_t index, uint64_t ctas, uint64_t instructions) {
    return (struct ww_frame_launch){.index = index,
                                    .kernel = "k",
                                    .block = {256, 1, 1},
                                    .ctas = ctas,
                                    .warp_instructions = instructions,
                                    .resident = 10};
}

static void make(struct population *p, const struct ww_frame_launch *launch, size_t count) {
    memset(p, 0, sizeof *p);
    p->longer = p->issued = 1;
    ww_arena_init(&p->arena, 0);
    assert_int_equal(ww_frame_make(launch, count, &ww_frame_shape, &p->arena, &p->frame, &error), WW_OK);
    assert_true(p->frame.count <= MOST);
}

static void make_launches(struct population *p, size_t count, uint64_t step) {
    static struct ww_frame_launch launch[MOST];
    for (uint32_t i = 0; i < count; i++) launch[i] = launch_of(i, 20, 1000 + step * i);
    make(p, launch, count);
}

static enum ww_code measure(void *context, const struct ww_frame *frame, size_t unit, enum ww_measure_way way,
                            struct ww_measure *out, struct ww_error *e) {
    struct population *p = context;
    (void)e;
    *out = (struct ww_measure){
        .there = true, .instructions = frame->unit[unit].size, .replayed = frame->unit[unit].cost};
    if (way == WW_WAY_FAST) {
        for (int k = 0; k < WW_MEASURES; k++) out->y[k] = p->fast[unit];
        out->cost = p->cost;
        return WW_OK;
    }
    for (int k = 0; k < WW_MEASURES; k++) out->y[k] = p->y[unit] * (way == WW_WAY_LONGER ? p->longer : 1);
    if (frame->unit[unit].kind == WW_UNIT_WINDOW) {
        struct ww_rng r;
        ww_rng_seed(&r, unit);
        double issued = p->issued + p->scatter * normal(&r);
        out->work = frame->unit[unit].size;
        out->instructions *= issued;
        for (int k = 0; k < WW_MEASURES; k++) out->y[k] *= issued;
    }
    p->measured++;
    return WW_OK;
}

static void estimate(struct population *p, uint64_t seed, double target, struct ww_estimate *e) {
    struct ww_sample_options o = {
        .seed = seed, .target = target, .confidence = 0.95, .energy = true, .measure = measure, .context = p};
    o.variate = p->cost > 0;
    assert_int_equal(ww_sample(&p->frame, &o, &p->arena, e, &error), WW_OK);
}

static void parts_of_a_large_launch_are_all_of_it(void **state) {
    (void)state;
    struct ww_frame_launch launch = launch_of(3, 1234, 123400);
    struct population p;
    make(&p, &launch, 1);
    uint64_t at = 0;
    assert_true(p.frame.count > 20);
    for (size_t i = 0; i < p.frame.count; i++) {
        const struct ww_unit *u = &p.frame.unit[i];
        assert_int_equal(u->first, at);
        assert_true(u->end > u->first && u->from <= u->first);
        at = u->end;
    }
    assert_int_equal(at, 1234);
    assert_int_equal(p.frame.unit[0].kind, WW_UNIT_START);
    assert_int_equal(p.frame.unit[p.frame.count - 1].kind, WW_UNIT_TAIL);
    ww_arena_free(&p.arena);
}

static uint64_t longest_window(uint64_t ctas) {
    struct ww_frame_launch launch = launch_of(0, ctas, 100 * ctas);
    struct population p;
    uint64_t most = 0;
    make(&p, &launch, 1);
    for (size_t i = 0; i < p.frame.count; i++) {
        const struct ww_unit *u = &p.frame.unit[i];
        if (u->kind != WW_UNIT_WINDOW) continue;
        assert_true(u->from == 0 || u->from == u->first - (1 + ww_frame_shape.warm_up) * launch.resident);
        if (u->end - u->first > most) most = u->end - u->first;
    }
    ww_arena_free(&p.arena);
    return most / launch.resident;
}

static void windows_are_longer_in_long_launches(void **state) {
    (void)state;
    assert_int_equal(longest_window(10 * 63), 0); /* not cut into parts */
    assert_int_equal(longest_window(10 * 100), ww_frame_shape.window_least);
    assert_int_equal(longest_window(10 * 300), 300 / ww_frame_shape.windows);
    assert_int_equal(longest_window(10 * 1000), ww_frame_shape.window);
}

static void every_unit_is_in_one_stratum_of_its_kind_and_size(void **state) {
    (void)state;
    struct population p;
    make_launches(&p, 200, 40);
    size_t seen[MOST] = {0};
    assert_true(p.frame.strata > 4);
    for (size_t h = 0; h < p.frame.strata; h++) {
        const struct ww_stratum *s = &p.frame.stratum[h];
        double least = INFINITY, most = 0;
        for (size_t i = 0; i < s->count; i++) {
            size_t u = p.frame.order[s->first + i];
            seen[u]++;
            assert_int_equal(p.frame.unit[u].stratum, h);
            least = fmin(least, p.frame.unit[u].size);
            most = fmax(most, p.frame.unit[u].size);
        }
        assert_true(most <= 1.6 * least);
    }
    for (size_t i = 0; i < p.frame.count; i++) assert_int_equal(seen[i], 1);
    ww_arena_free(&p.arena);
}

static void a_small_program_is_replayed_in_full(void **state) {
    (void)state;
    struct population p;
    struct ww_estimate e;
    make_launches(&p, 3, 0);
    estimate(&p, 1, 0.03, &e);
    assert_true(e.all);
    assert_int_equal(e.reason, WW_SAMPLE_ALL);
    assert_int_equal(p.measured, 0);
    ww_arena_free(&p.arena);
}

static void a_program_of_few_instructions_is_not_sampled(void **state) {
    (void)state;
    struct population p;
    make_launches(&p, 200, 0);
    struct ww_sample_options o = {
        .target = 0.03, .confidence = 0.95, .least = 1, .measure = measure, .context = &p};
    struct ww_estimate e;
    for (size_t i = 0; i < p.frame.count; i++) p.y[i] = 1000;
    assert_int_equal(ww_sample(&p.frame, &o, &p.arena, &e, &error), WW_OK);
    assert_false(e.all);
    size_t measured = p.measured;
    o.least = p.frame.instructions + 1;
    assert_int_equal(ww_sample(&p.frame, &o, &p.arena, &e, &error), WW_OK);
    assert_true(e.all);
    assert_int_equal(e.reason, WW_SAMPLE_SMALL);
    assert_int_equal(p.measured, measured);
    ww_arena_free(&p.arena);
}

static void parts_of_launches_are_less_sure_than_launches(void **state) {
    (void)state;
    struct ww_frame_launch launch = launch_of(0, 10 * 4000, 1000000);
    struct population p;
    struct ww_estimate launches, parts;
    make_launches(&p, 100, 0);
    for (size_t i = 0; i < p.frame.count; i++) p.y[i] = p.frame.unit[i].size;
    estimate(&p, 1, 0.03, &launches);
    ww_arena_free(&p.arena);
    make(&p, &launch, 1);
    for (size_t i = 0; i < p.frame.count; i++) p.y[i] = p.frame.unit[i].size;
    estimate(&p, 1, 0.03, &parts);
    near(sqrt(launches.warm), WW_WARM_ERROR, 1e-9);
    near(sqrt(parts.warm), WW_WARM_ERROR_PARTS, 1e-9);
    near((parts.hi[0] - parts.lo[0]) / parts.total[0], 2 * 1.96 * WW_WARM_ERROR_PARTS, 1e-5);
    ww_arena_free(&p.arena);
}

static double warm_error(double issued, double scatter) {
    struct ww_frame_launch launch = launch_of(0, 10 * 4000, 1000000);
    struct population p;
    struct ww_estimate e;
    make(&p, &launch, 1);
    for (size_t i = 0; i < p.frame.count; i++) p.y[i] = p.frame.unit[i].size;
    p.issued = issued;
    p.scatter = scatter;
    estimate(&p, 1, 0.05, &e);
    assert_false(e.all);
    ww_arena_free(&p.arena);
    return sqrt(e.warm);
}

static void windows_that_issue_less_than_their_ctas_have_are_less_sure(void **state) {
    (void)state;
    assert_true(warm_error(0.99, 0) > 0.9 * 0.01 / sqrt(3) && warm_error(0.99, 0) < 1.2 * 0.01 / sqrt(3));
    near(warm_error(1.01, 0), warm_error(0.99, 0), 1e-6);
    /* by chance they may: of eight windows 0.35 % on average */
    assert_true(warm_error(1, 0.01) < 1.5 * WW_WARM_ERROR_PARTS);
    near(warm_error(1, 0), WW_WARM_ERROR_PARTS, 1e-9);
}

static void estimate_windows(double longer, double target, struct ww_estimate *e) {
    struct ww_frame_launch launch = launch_of(0, 10 * 4000, 1000000);
    struct population p;
    make(&p, &launch, 1);
    for (size_t i = 0; i < p.frame.count; i++) p.y[i] = p.frame.unit[i].size;
    p.longer = longer;
    estimate(&p, 1, target, e);
    ww_arena_free(&p.arena);
}

static void how_windows_begin_widens_and_corrects_nothing(void **state) {
    (void)state;
    struct ww_estimate alike, other;
    estimate_windows(1, 0.03, &alike);
    estimate_windows(1.02, 0.03, &other);
    assert_false(other.all);
    near(other.total[0], alike.total[0], 1e-6);
    near(other.bias[0], 0.02, 1e-9);
    double begins = sqrt(0.02 * 0.02 / 3 + WW_WARM_ERROR_PARTS * WW_WARM_ERROR_PARTS);
    near((other.hi[0] - other.lo[0]) / other.total[0], 2 * 1.96 * begins, 1e-4);
}

static void an_interval_that_stays_wider_than_the_target_is_not_given(void **state) {
    (void)state;
    struct ww_estimate e;
    estimate_windows(1.05, 0.03, &e); /* 5.7 % to either side */
    assert_true(e.all);
    assert_int_equal(e.reason, WW_SAMPLE_BEGINNING);
    estimate_windows(1.05, 0.06, &e);
    assert_false(e.all);
}

/* ---- estimates ---- */

static void time_in_proportion_to_instructions_is_known_exactly(void **state) {
    (void)state;
    struct population p;
    struct ww_estimate e;
    make_launches(&p, 120, 3);
    double sum = 0;
    for (size_t i = 0; i < p.frame.count; i++) sum += p.y[i] = 1.7 * p.frame.unit[i].size;
    estimate(&p, 1, 0.03, &e);
    near(e.total[0], sum, 1e-6 * sum);
    near(e.hi[0] - e.lo[0], 2 * 1.96 * WW_WARM_ERROR * sum, 1e-5 * sum); /* all that is left is warming's */
    assert_int_equal(e.reason, WW_SAMPLE_PILOT);
    ww_arena_free(&p.arena);
}

/* Draws by many seeds from units with a spread; gives coverage and the mean of the estimates. */
static double coverage_of(struct population *p, double sum, double target, size_t seeds, double *mean) {
    size_t covered = 0, sampled = 0;
    *mean = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct ww_estimate e;
        estimate(p, seed, target, &e);
        if (e.all) continue;
        sampled++;
        covered += e.lo[0] <= sum && sum <= e.hi[0];
        *mean += e.total[0];
    }
    assert_true(sampled > seeds / 2);
    *mean /= (double)sampled;
    return (double)covered / (double)sampled;
}

static void intervals_of_a_normal_population_cover_it(void **state) {
    (void)state;
    struct population p;
    struct ww_rng r;
    double sum = 0, mean;
    make_launches(&p, 200, 0);
    ww_rng_seed(&r, 8);
    for (size_t i = 0; i < p.frame.count; i++) sum += p.y[i] = 1000 * (1 + 0.05 * normal(&r));
    double coverage = coverage_of(&p, sum, 0.03, 600, &mean);
    if (coverage < 0.93 || coverage > 0.995) fail_msg("%g of the intervals hold the truth", coverage);
    near(mean, sum, 0.003 * sum);
    ww_arena_free(&p.arena);
}

static void a_noisy_population_needs_the_second_stage(void **state) {
    (void)state;
    struct population p;
    struct ww_rng r;
    struct ww_estimate quiet, noisy;
    make_launches(&p, 300, 0);
    ww_rng_seed(&r, 9);
    for (size_t i = 0; i < p.frame.count; i++) p.y[i] = 1000 * (1 + 0.002 * normal(&r));
    estimate(&p, 1, 0.03, &quiet);
    for (size_t i = 0; i < p.frame.count; i++) p.y[i] = 1000 * (1 + 0.12 * normal(&r));
    estimate(&p, 1, 0.05, &noisy);
    assert_int_equal(quiet.reason, WW_SAMPLE_PILOT);
    assert_true(noisy.reason == WW_SAMPLE_SECOND || noisy.reason == WW_SAMPLE_STRATA);
    assert_true(noisy.drawn > quiet.drawn);
    ww_arena_free(&p.arena);
}

/* ---- fast replay as control variate ---- */

static void a_variate_of_half_the_cost_pays_from_a_correlation_of_0_943(void **state) {
    (void)state;
    near(sqrt(ww_variate_pays_from(0.5)), 0.942809, 1e-6); /* sqrt(8)/3 */
    near(ww_variate_gain(sqrt(8) / 3, 0.5), 1, 1e-9);
    assert_true(ww_variate_gain(0.99, 0.5) < 1 && ww_variate_gain(0.9, 0.5) > 1);
    near(ww_variate_pays_from(1), 1, 0);
}

/* Cochran, 12.7: (sqrt(1 - rho^2) + rho sqrt(k))^2. */
static void a_perfect_variate_leaves_its_own_cost(void **state) {
    (void)state;
    near(ww_variate_gain(1, 0.1), 0.1, 1e-12);
    near(ww_variate_part(1, 0.1), 0, 1e-12);
    near(ww_variate_part(0.6, 0.25), 0.5 * 0.8 / 0.6, 1e-12);
}

static void a_correlation_of_few_units_is_reckoned_with_as_less(void **state) {
    (void)state;
    near(ww_variate_least(0.9, 102, 0.975), tanh(atanh(0.9) - 0.1959964), 1e-6);
    assert_true(ww_variate_least(0.9, 6, 0.9) < ww_variate_least(0.9, 60, 0.9));
    near(ww_variate_least(0.9, 2, 0.9), 0, 0);
    near(ww_variate_least(-0.5, 50, 0.9), 0, 0);
}

/* Launches alike that take 1000 cycles with a standard deviation of 120; fast replay tells `rho` of it. */
static double make_correlated(struct population *p, double rho, double cost, uint64_t seed) {
    struct ww_rng r;
    double sum = 0;
    make_launches(p, 390, 0);
    p->cost = cost;
    ww_rng_seed(&r, seed);
    for (size_t i = 0; i < p->frame.count; i++) {
        double a = normal(&r), b = normal(&r);
        sum += p->y[i] = 1000 + 120 * a;
        p->fast[i] = 800 + 90 * (rho * a + sqrt(1 - rho * rho) * b);
    }
    return sum;
}

static void its_slope_and_correlation_are_the_regressions(void **state) {
    (void)state;
    struct population p;
    struct ww_measure full[MOST] = {{.there = false}}, fast[MOST] = {{.there = false}};
    struct ww_variate v;
    double ratio[WW_MEASURES];
    make_correlated(&p, 1, 0.2, 3);
    for (size_t h = 0; h < p.frame.strata; h++) {
        struct ww_stratum *s = &p.frame.stratum[h];
        s->drawn = s->fast = s->count < 20 ? s->count : 20;
        for (size_t i = 0; i < s->drawn; i++) {
            size_t u = p.frame.order[s->first + i];
            measure(&p, &p.frame, u, WW_WAY_DRAWN, &full[u], &error);
            measure(&p, &p.frame, u, WW_WAY_FAST, &fast[u], &error);
        }
    }
    ww_sample_ratio_of(&p.frame, full, 0, ratio);
    ww_variate_fit(&p.frame, full, fast, 0, ratio, &v);
    near(v.slope[WW_MEASURE_CYCLES], 120.0 / 90, 1e-9);
    near(v.correlation[WW_MEASURE_CYCLES], 1, 1e-9);
    ww_arena_free(&p.arena);
}

/* Of seeds: how often the interval holds, the mean estimate, and what was paid, by a full replay of all units.
 */
static double cover(struct population *p, double truth, size_t seeds, double *mean, double *paid,
                    size_t *used) {
    size_t covered = 0;
    *mean = *paid = 0;
    *used = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct ww_estimate e;
        estimate(p, seed, 0.02, &e);
        *paid += (e.replayed + p->cost * e.fast_replayed) / p->frame.instructions / (double)seeds;
        *used += e.variate;
        *mean += (e.all ? truth : e.total[0]) / (double)seeds;
        covered += e.all || (e.lo[0] <= truth && truth <= e.hi[0]);
    }
    return (double)covered / (double)seeds;
}

static void a_variate_that_tells_much_halves_the_cost_and_keeps_the_coverage(void **state) {
    (void)state;
    struct population p;
    double truth, mean, plain, paid;
    size_t used;
    truth = make_correlated(&p, 0.99, 0, 21);
    cover(&p, truth, 300, &mean, &plain, &used);
    assert_int_equal(used, 0);
    ww_arena_free(&p.arena);
    truth = make_correlated(&p, 0.99, 0.1, 21);
    double coverage = cover(&p, truth, 300, &mean, &paid, &used);
    ww_arena_free(&p.arena);
    if (used < 200) fail_msg("%zu of 300 use it", used);
    if (coverage < 0.93 || coverage > 0.995) fail_msg("%g of the intervals hold the truth", coverage);
    near(mean, truth, 0.002 * truth);
    if (paid > 0.5 * plain) fail_msg("%g of all instructions in place of %g", paid, plain);
}

static void a_variate_that_tells_little_or_costs_much_is_left_out(void **state) {
    (void)state;
    static const double of[][2] = {{0, 0.1}, {0.5, 0.5}, {0.98, 0.9}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct population p;
        double mean, paid, truth = make_correlated(&p, of[i][0], of[i][1], 22 + i);
        size_t used;
        double coverage = cover(&p, truth, 100, &mean, &paid, &used);
        assert_true(coverage > 0.9);
        if (used > 5) fail_msg("correlation %g, cost %g: %zu of 100 use it", of[i][0], of[i][1], used);
        ww_arena_free(&p.arena);
    }
}

/* Windows of which one in twelve takes twice as long: a pilot may miss them, and then the rest of the sample
 * does not, so that strata are wanted whole. */
static void what_a_sample_takes_before_it_gives_up_is_less_than_it_may_take(void **state) {
    (void)state;
    struct ww_frame_launch launch = launch_of(0, 10 * 800, 1000000);
    struct population p;
    size_t begun = 0;
    make(&p, &launch, 1);
    for (size_t i = 0; i < p.frame.count; i++)
        p.y[i] = p.frame.unit[i].size * (i % 12 == 5 ? 2 : 1 + (double)(i % 3) / 50);
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct ww_estimate e;
        estimate(&p, seed, 0.02, &e);
        assert_true(e.replayed <= 0.7 * p.frame.instructions);
        begun += e.all && e.drawn > 12;
    }
    assert_true(begun > 5); /* some had drawn more than the least sample */
    ww_arena_free(&p.arena);
}

static void what_a_longer_way_changes_is_corrected_and_widens(void **state) {
    (void)state;
    struct population p;
    struct ww_estimate before, after;
    make_launches(&p, 100, 0);
    for (size_t i = 0; i < p.frame.count; i++) p.y[i] = 1000;
    estimate(&p, 1, 0.03, &before);
    p.longer = 1.02;
    estimate(&p, 1, 0.03, &after);
    near(before.total[0], 100000, 1e-3);
    near(after.total[0], 102000, 1e-3);
    assert_true(before.hi[0] - before.lo[0] < 500);
    assert_true(after.hi[0] - after.lo[0] > 1000);
    ww_arena_free(&p.arena);
}

static void a_seed_draws_the_same_units_again_and_another_seed_others(void **state) {
    (void)state;
    struct population p;
    struct ww_rng r;
    struct ww_estimate a, b, c;
    make_launches(&p, 200, 0);
    ww_rng_seed(&r, 10);
    for (size_t i = 0; i < p.frame.count; i++) p.y[i] = 1000 * (1 + 0.05 * normal(&r));
    estimate(&p, 1, 0.03, &a);
    estimate(&p, 2, 0.03, &b);
    estimate(&p, 1, 0.03, &c);
    assert_true(a.total[0] == c.total[0] && a.hi[0] == c.hi[0]);
    assert_true(a.total[0] != b.total[0]);
    ww_arena_free(&p.arena);
}

static void derived_figures_follow_the_delta_method(void **state) {
    (void)state;
    struct ww_estimate e = {.total = {100, 2, 8}, .df = {INFINITY, INFINITY, INFINITY}};
    double value, lo, hi;
    e.variance[1][1] = 0.0004;                    /* 1 % */
    e.variance[2][2] = 0.0064;                    /* 1 % */
    e.variance[1][2] = e.variance[2][1] = 0.0016; /* rise and fall together */
    ww_estimate_product(&e, 0.95, WW_MEASURE_JOULES, 1, WW_MEASURE_SECONDS, -1, &value, &lo, &hi);
    near(value, 4, 1e-12);
    near(hi - lo, 0, 1e-6);
    ww_estimate_product(&e, 0.95, WW_MEASURE_JOULES, 1, WW_MEASURE_SECONDS, 1, &value, &lo, &hi);
    near(value, 16, 1e-12);
    near(log(hi / lo) / 2, 1.95996 * 0.02, 1e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(students_t_has_its_tabulated_quantiles),
        cmocka_unit_test(degrees_of_freedom_of_a_sum_lie_between_the_least_and_all),
        cmocka_unit_test(steins_second_stage_follows_the_pilots_variance),
        cmocka_unit_test(two_stages_keep_their_coverage_and_their_width),
        cmocka_unit_test(stopping_when_it_looks_narrow_covers_too_little),
        cmocka_unit_test(parts_of_a_large_launch_are_all_of_it),
        cmocka_unit_test(windows_are_longer_in_long_launches),
        cmocka_unit_test(every_unit_is_in_one_stratum_of_its_kind_and_size),
        cmocka_unit_test(a_small_program_is_replayed_in_full),
        cmocka_unit_test(a_program_of_few_instructions_is_not_sampled),
        cmocka_unit_test(parts_of_launches_are_less_sure_than_launches),
        cmocka_unit_test(windows_that_issue_less_than_their_ctas_have_are_less_sure),
        cmocka_unit_test(how_windows_begin_widens_and_corrects_nothing),
        cmocka_unit_test(an_interval_that_stays_wider_than_the_target_is_not_given),
        cmocka_unit_test(time_in_proportion_to_instructions_is_known_exactly),
        cmocka_unit_test(intervals_of_a_normal_population_cover_it),
        cmocka_unit_test(a_noisy_population_needs_the_second_stage),
        cmocka_unit_test(what_a_sample_takes_before_it_gives_up_is_less_than_it_may_take),
        cmocka_unit_test(a_variate_of_half_the_cost_pays_from_a_correlation_of_0_943),
        cmocka_unit_test(a_perfect_variate_leaves_its_own_cost),
        cmocka_unit_test(a_correlation_of_few_units_is_reckoned_with_as_less),
        cmocka_unit_test(its_slope_and_correlation_are_the_regressions),
        cmocka_unit_test(a_variate_that_tells_much_halves_the_cost_and_keeps_the_coverage),
        cmocka_unit_test(a_variate_that_tells_little_or_costs_much_is_left_out),
        cmocka_unit_test(what_a_longer_way_changes_is_corrected_and_widens),
        cmocka_unit_test(a_seed_draws_the_same_units_again_and_another_seed_others),
        cmocka_unit_test(derived_figures_follow_the_delta_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
