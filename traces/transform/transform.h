/* transform.h: private to transform/: one launch at a time is changed, a unit of CTAs after the other.
 *
 * A kind's function `warp` writes one warp of a new CTA. It is called twice for every warp of every unit: first
 * it only marks which groups of instructions it will put where (planning), then, with the table laid out, it
 * writes. */
#ifndef WW_TRACES_TRANSFORM_TRANSFORM_H
#define WW_TRACES_TRANSFORM_TRANSFORM_H

#include "../../estimator/api/trace.h"
#include "../../estimator/base/list.h"
#include "rewrite.h"
#include "regions.h"

#define WW_TF_JOIN_MAX 4

struct ww_tf;
struct ww_tf_kind {
    const char *name;
    uint32_t ctas_min, ctas_max; /* that one new CTA takes */
    bool split, overlap;         /* needs a byte at which shared memory is split; lines that may overlap */
    bool one_copy;               /* the new CTA has the shared memory of one */
    /* Optional: looks at a unit before the planning. Optional: what stays the same for the launch. */
    enum ww_code (*look)(struct ww_tf *t);
    enum ww_code (*groups)(struct ww_tf *t);
    void (*warp)(struct ww_tf *t, uint32_t cta, uint32_t warp);
};

/* A store to the public part that waits for its region (split.c). */
struct ww_tf_late {
    uint32_t inst, temp, move, store; /* static store; first temporary register; groups */
};

struct ww_tf {
    const struct ww_tf_kind *kind;
    struct ww_trace *trace;
    const struct ww_launch *launch;
    struct ww_error *error;
    uint32_t join;
    uint64_t split; /* bytes of a CTA's shared memory that are private */
    const struct ww_list *overlap;
    const struct ww_transform_options *options; /* for progress */
    uint64_t done;                              /* CTAs that were looked at, in all passes */
    struct ww_arena launch_arena, unit_arena;
    struct ww_tf_code code;
    uint32_t prologue, guard, barrier, take, give; /* groups */
    /* the unit */
    struct ww_cta_trace cta[WW_TF_JOIN_MAX];
    struct ww_regions regions[WW_TF_JOIN_MAX];
    uint32_t *access[WW_TF_JOIN_MAX]; /* [warp * (most steps + 1) + step]: accesses before it */
    uint32_t steps_most, present;     /* CTAs of this unit */
    bool planning;
    struct ww_tf_stream *stream; /* of the warp being written */
    struct ww_tf_stream *streams;
    /* split.c: by static instruction */
    uint8_t *touched;
    uint32_t *late_of;
    struct ww_tf_late *late;
    uint32_t late_count, temps, late_done; /* late_done: bit per late store that waits, of the warp */
    uint32_t late_step[32];
    uint32_t *check;  /* groups */
    struct ww_d2 *d2; /* d2ma.h: of the launch */
    bool changed;     /* d2ma: some launch has copies */
};

/* Puts a group before the launch's instruction of a step of that warp (or at the end). */
void ww_tf_put(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step, uint32_t group);
/* Copies steps [from, to) of a warp. */
void ww_tf_steps(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t from, uint32_t to);
/* Copies one step, as it is. */
void ww_tf_copy_step(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step);
/* The access of a step that has one. */
const struct ww_access *ww_tf_access_of(const struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step);
enum ww_code ww_tf_refuse(const struct ww_tf *t, const char *what);
static inline const struct ww_inst *ww_tf_inst(const struct ww_tf *t, uint32_t cta, uint32_t warp,
                                               uint32_t step) {
    return &t->launch->inst[t->cta[cta].warp[warp].step[step].inst];
}
static inline struct ww_span *ww_tf_span(struct ww_tf *t, uint32_t cta, uint32_t region, uint32_t warp) {
    return &t->regions[cta].span[(size_t)region * t->regions[cta].warps + warp];
}

/* split.c: a step whose shared addresses are those of the split layout. */
void ww_tf_split_step(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step);
void ww_tf_late_stores(struct ww_tf *t, uint32_t cta, uint32_t warp, uint32_t step);

/* vtb.c, allocate.c: shared with split.c. */
enum ww_code ww_tf_vtb_look(struct ww_tf *t);
enum ww_code ww_tf_vtb_groups(struct ww_tf *t);
void ww_tf_vtb_warp(struct ww_tf *t, uint32_t cta, uint32_t warp);
enum ww_code ww_tf_allocate_groups(struct ww_tf *t);
void ww_tf_allocate_warp(struct ww_tf *t, uint32_t cta, uint32_t warp);

extern const struct ww_tf_kind ww_tf_vtb, ww_tf_vtb_pipe, ww_tf_co_vtb, ww_tf_hw, ww_tf_co_hw, ww_tf_d2ma;

#endif
