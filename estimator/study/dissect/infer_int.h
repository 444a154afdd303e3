/* infer_int.h: the parts of the inference, for its own files. */
#ifndef WW_DISSECT_INFER_INT_H
#define WW_DISSECT_INFER_INT_H

#include "infer.h"

struct ww_infer {
    const struct ww_box *box;
    const struct ww_infer_plan *plan;
    struct ww_arena *arena; /* of the result */
    struct ww_infer_cache *out;
    /* of the last run */
    uint64_t *address;
    uint32_t *latency;
    size_t room;
    /* stage 2 */
    uint32_t *set_of;               /* by line, + 1; 0: unknown */
    size_t line_count, known_count; /* lines that fit; elements of set_of */
    uint64_t *member; /* positions of the lines of the set that overflows first, that one too many included */
    size_t member_count;
    uint64_t *other; /* some lines of other sets */
    size_t other_count;
};

/* Chases the positions `passes` times. */
enum ww_code ww_infer_run(struct ww_infer *f, const uint64_t *position, size_t count, uint32_t passes,
                          struct ww_error *error);
/* Passes over n elements in which a line of a rarely replaced way is missed almost surely. */
static inline uint32_t ww_infer_passes(size_t n) {
    size_t passes = 40000 / (n ? n : 1);
    return passes < 24 ? 24 : passes > 400 ? 400 : (uint32_t)passes;
}
/* Whether element i of n missed in pass p of the last run; whether it did in any pass from `from` on. */
static inline bool ww_infer_missed(const struct ww_infer *f, size_t n, uint32_t p, size_t i) {
    return f->latency[p * n + i] > f->plan->hit_at_most;
}
bool ww_infer_ever(const struct ww_infer *f, size_t n, uint32_t from, uint32_t passes, size_t i);
/* `count` positions from 0 in steps of `step`; the caller frees. NULL: no memory. */
uint64_t *ww_infer_positions(size_t count, uint64_t step);

enum ww_code ww_infer_size(struct ww_infer *f, struct ww_error *error);
enum ww_code ww_infer_line(struct ww_infer *f, struct ww_error *error);
enum ww_code ww_infer_policy(struct ww_infer *f, struct ww_error *error);
enum ww_code ww_infer_sets(struct ww_infer *f, struct ww_error *error);
void ww_infer_map(struct ww_infer *f);

#endif
