/* The replacement: a repeating pattern is LRU or FIFO; another one is observed until each way's share is known.
 */
#include "infer_int.h"
#include <stdlib.h>

#define PASSES 40
#define SPACED_PASSES 12
#define BETWEEN 64u      /* lines of other sets between two of the one that is watched */
#define FEW_MEMBERS 129u /* sets up to this size are watched */
#define VICTIMS 24000u

/* The lines that miss when there is one line too many are those of one set. */
static enum ww_code find_members(struct ww_infer *f, struct ww_error *error) {
    size_t n = (size_t)(f->out->size / f->out->line) + 1, others = 0;
    uint64_t *position = ww_infer_positions(n, f->out->line);
    f->member = position;
    f->other = calloc(BETWEEN, sizeof *f->other);
    if (!position || !f->other) return ww_fail_nomem(error, "a chase");
    WW_TRY(ww_infer_run(f, position, n, PASSES, error));
    for (size_t i = 0; i < n; i++) {
        if (ww_infer_ever(f, n, 2, PASSES, i))
            f->member[f->member_count++] = position[i];
        else if (others < BETWEEN)
            f->other[others++] = position[i];
    }
    f->other_count = others;
    return WW_OK;
}

/* Adds the position, and lines of other sets: a level in front that is small forgets the position by them. */
static void put_spaced(const struct ww_infer *f, uint64_t *list, size_t *n, uint64_t position) {
    list[(*n)++] = position;
    for (size_t i = 0; i < f->other_count; i++) list[(*n)++] = f->other[i];
}

/* Whether each pass over the set, and one line more, misses as the one before, and misses all of them. */
static enum ww_code find_period(struct ww_infer *f, bool *periodic, bool *all, struct ww_error *error) {
    size_t step = 1 + f->other_count, n = 0, seen = 0, missed = 0, changed = 0;
    uint64_t *list = calloc(f->member_count * step, sizeof *list);
    if (!list) return ww_fail_nomem(error, "a chase");
    for (size_t i = 0; i < f->member_count; i++) put_spaced(f, list, &n, f->member[i]);
    enum ww_code code = ww_infer_run(f, list, n, SPACED_PASSES, error);
    free(list);
    for (uint32_t p = 3; code == WW_OK && p < SPACED_PASSES; p++)
        for (size_t i = 0; i < n; i += step) {
            changed += ww_infer_missed(f, n, p, i) != ww_infer_missed(f, n, p - 1, i);
            missed += ww_infer_missed(f, n, p, i);
            seen++;
        }
    *periodic = changed * 20 <= seen;
    *all = missed * 20 >= seen * 19;
    return code;
}

/* LRU keeps, and FIFO drops, the oldest line if it is used once more before a new one comes. */
static enum ww_code lru_or_fifo(struct ww_infer *f, struct ww_error *error) {
    size_t ways = f->member_count - 1, n = 0;
    uint64_t *list = calloc((ways + 3) * (1 + f->other_count), sizeof *list);
    if (!list) return ww_fail_nomem(error, "a chase");
    for (size_t i = 0; i < ways; i++) put_spaced(f, list, &n, f->member[i]);
    put_spaced(f, list, &n, f->member[0]);
    put_spaced(f, list, &n, f->member[ways]);
    list[n++] = f->member[0];
    enum ww_code code = ww_infer_run(f, list, n, 1, error);
    free(list);
    if (code == WW_OK) f->out->policy = ww_infer_missed(f, n, 0, n - 1) ? WW_POLICY_FIFO : WW_POLICY_LRU;
    return code;
}

/* One line of the set is always absent: it is the one that misses next, so what missed before it took its
 * place. way[i]: the way that member i is in; the first lines fill the ways in order. */
static void count_victims(struct ww_infer *f, size_t n, uint32_t passes) {
    size_t ways = n - 1, absent = n - 1;
    size_t *way = calloc(n, sizeof *way);
    uint64_t *taken = calloc(n, sizeof *taken), total = 0;
    if (!way || !taken) goto done;
    for (size_t i = 0; i < ways; i++) way[i] = i;
    for (size_t k = ways, waiting = SIZE_MAX; k < n * passes; k++) {
        size_t i = k % n;
        if (f->latency[k] <= f->plan->hit_at_most) continue;
        if (waiting != SIZE_MAX) { /* i was displaced by the line that missed before */
            way[waiting] = way[i];
            taken[way[i]]++;
            total++;
            absent = i;
        }
        waiting = absent = i;
    }
    (void)absent;
    f->out->way_count = (uint32_t)ways;
    f->out->victims = total;
    for (size_t w = 0; w < ways && w < WW_INFER_WAYS; w++)
        f->out->way[w] = total ? (double)taken[w] / (double)total : 0;
done:
    free(way);
    free(taken);
}

static enum ww_code watch(struct ww_infer *f, struct ww_error *error) {
    size_t n = f->member_count;
    if (n < 2 || n - 1 > WW_INFER_WAYS || n > FEW_MEMBERS) return WW_OK;
    /* About one miss a pass, more where ways are few. */
    uint32_t passes = VICTIMS;
    if (n * passes > 400000) passes = (uint32_t)(400000 / n);
    WW_TRY(ww_infer_run(f, f->member, n, passes, error));
    count_victims(f, n, passes);
    return WW_OK;
}

enum ww_code ww_infer_policy(struct ww_infer *f, struct ww_error *error) {
    bool periodic = true, all = true;
    WW_TRY(find_members(f, error));
    if (f->member_count < 2) return WW_OK;
    WW_TRY(find_period(f, &periodic, &all, error));
    if (periodic && all) return lru_or_fifo(f, error);
    f->out->policy = periodic ? WW_POLICY_PERIODIC : WW_POLICY_RANDOM;
    return periodic ? WW_OK : watch(f, error);
}
