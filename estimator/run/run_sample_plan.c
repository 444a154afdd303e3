/* What a sample will cost the host, so that progress shows the time left in mode sampled, too. A plan is of
 * units whose launches, and what warms the caches before them, are known; it grows when the pilot shows that
 * more are needed. */
#include "run_sample.h"

/* Cost of an instruction that only warms caches, relative to one that is replayed. */
#define WARM_COST 0.1
/* Cost of a unit that is measured again with a longer warm-up, relative to the first time. */
#define LONGER_COST 1.3

static double pace_of(const struct ww_sampler *s, size_t position) {
    const struct ww_frame_launch *l = &s->launch[position];
    return s->run->cost && l->warp_instructions ? s->run->cost[position].cost / (double)l->warp_instructions
                                                : 1;
}

static double warmed_before(const struct ww_sampler *s, size_t position, uint64_t end) {
    double sum = 0;
    size_t first;
    uint64_t from;
    ww_sampler_reach(s, position, end, &first, &from);
    for (; first <= position; first++, from = 0) {
        const struct ww_frame_launch *l = &s->launch[first];
        uint64_t to = first == position ? end : l->ctas;
        sum += (double)l->warp_instructions * (double)(to - from) / (double)l->ctas;
    }
    return sum;
}

static double cost_of(const struct ww_sampler *s, size_t unit) {
    const struct ww_unit *u = &s->frame.unit[unit];
    size_t position = ww_sampler_position(s, u->launch);
    double warmed = unit < s->head ? 0 : warmed_before(s, position, u->from);
    return u->cost * pace_of(s, position) + WARM_COST * warmed;
}

/* Of the units that the plan wants: what is left to be measured, and the mean of all. */
static double left_of(const struct ww_sampler *s, const size_t *wanted, double *mean) {
    double left = 0, sum = 0, n = 0;
    for (size_t h = 0; h < s->frame.strata; h++) {
        const struct ww_stratum *st = &s->frame.stratum[h];
        size_t end = wanted && wanted[h] > st->drawn ? wanted[h] : st->drawn;
        for (size_t i = 0; i < end; i++) {
            size_t unit = s->frame.order[st->first + i];
            double cost = cost_of(s, unit);
            if (!s->kept[0][unit].there) left += cost;
            sum += cost;
            n++;
        }
    }
    *mean = n > 0 ? sum / n : 0;
    return left;
}

void ww_sampler_plan(void *context, const size_t *wanted, size_t pairs) {
    struct ww_sampler *s = context;
    double mean, left = left_of(s, wanted, &mean);
    s->run->all_cost = s->run->spent_cost + left + (double)pairs * LONGER_COST * mean;
}

void ww_sampler_spend(struct ww_sampler *s, size_t position, double replayed, double warmed) {
    double cost = pace_of(s, position) * replayed + WARM_COST * warmed;
    s->run->spent_cost += cost;
    s->run->before += (uint64_t)replayed;
    s->planned -= cost;
}

void ww_sampler_begin_unit(struct ww_sampler *s, size_t unit, enum ww_measure_way way) {
    s->run->current_cost.cost = pace_of(s, ww_sampler_position(s, s->frame.unit[unit].launch));
    s->planned = way == WW_WAY_LONGER ? LONGER_COST * cost_of(s, unit) : cost_of(s, unit);
    for (size_t u = unit + 1; u < s->head && unit < s->head; u++) s->planned += cost_of(s, u);
}

/* What it cost, compared with the plan. */
void ww_sampler_end_unit(struct ww_sampler *s) {
    if (!(s->run->all_cost > 0)) return; /* no progress is asked for */
    s->run->all_cost -= s->planned;
    if (s->run->all_cost < s->run->spent_cost) s->run->all_cost = s->run->spent_cost;
}
