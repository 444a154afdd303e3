/* The replacement: what repeats is LRU or FIFO; what does not is watched until each way's share is known. */
#include "infer_int.h"
#include <stdlib.h>

#define PASSES 40
#define FEW_MEMBERS 129u /* sets up to this size are watched */
#define VICTIMS 24000u

/* The lines that miss when there is one line too many are those of one set. */
static enum ww_code find_members(struct ww_infer *f, bool *periodic, bool *all, struct ww_error *error) {
    size_t n = (size_t)(f->out->size / f->out->line) + 1;
    uint64_t *position = ww_infer_positions(n, f->out->line);
    if (!position) return ww_fail_nomem(error, "a chase");
    f->member = position;
    WW_TRY(ww_infer_run(f, position, n, PASSES, error));
    size_t seen = 0, missed = 0, changed = 0;
    for (size_t i = 0; i < n; i++) {
        if (!ww_infer_ever(f, n, 2, PASSES, i)) continue;
        for (uint32_t p = 3; p < PASSES; p++) {
            changed += ww_infer_missed(f, n, p, i) != ww_infer_missed(f, n, p - 1, i);
            missed += ww_infer_missed(f, n, p, i);
            seen++;
        }
        f->member[f->member_count++] = position[i];
    }
    /* A level in front that answers now and then (a TLB's first) hides a miss in a few passes. */
    *periodic = changed * 10 <= seen;
    *all = missed * 10 >= seen * 9;
    return WW_OK;
}

/* LRU keeps, and FIFO drops, the oldest line if it is used once more before a new one comes. */
static enum ww_code lru_or_fifo(struct ww_infer *f, struct ww_error *error) {
    size_t ways = f->member_count - 1, n = 0;
    uint64_t *position = calloc(ways + 4, sizeof *position);
    if (!position) return ww_fail_nomem(error, "a chase");
    for (size_t i = 0; i < ways; i++) position[n++] = f->member[i];
    position[n++] = f->member[0];
    position[n++] = f->member[ways];
    position[n++] = f->member[0];
    enum ww_code code = ww_infer_run(f, position, n, 1, error);
    free(position);
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
    WW_TRY(find_members(f, &periodic, &all, error));
    if (f->member_count < 2) return WW_OK;
    if (periodic && all) return lru_or_fifo(f, error);
    f->out->policy = periodic ? WW_POLICY_PERIODIC : WW_POLICY_RANDOM;
    return periodic ? WW_OK : watch(f, error);
}
