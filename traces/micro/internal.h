/* internal.h: what a microbenchmark is, for the files that make them. */
#ifndef WW_TRACES_MICRO_INTERNAL_H
#define WW_TRACES_MICRO_INTERNAL_H

#include "micro.h"

/* Mnemonics: indices of the launch's strings. */
enum {
    WW_MICRO_LD = 1,
    WW_MICRO_ST,
    WW_MICRO_USE,
    WW_MICRO_BAR,
    WW_MICRO_CLOCK,
    WW_MICRO_EXIT,
    WW_MICRO_FADD,
    WW_MICRO_FFMA,
    WW_MICRO_DMUL
};

struct ww_micro {
    struct ww_arena arena;
    struct ww_launch launch;
    struct ww_inst *inst;
    struct ww_step *step; /* of every warp with all its lanes */
    uint32_t step_count, access_count;
    uint32_t timed_first, timed_end;
    struct ww_access *access; /* of all warps of all CTAs, or NULL: addresses() gives them */
    void (*addresses)(const struct ww_micro *m, uint64_t cta, uint32_t warp, struct ww_access *out);
    /* Accesses, and as many steps, that are left out at the beginning of each of the CTA's warps; may be NULL.
     */
    uint32_t (*left_out)(const struct ww_micro *m, uint64_t cta);
    const uint64_t *pool; /* that their lists index, or NULL */
    struct ww_micro_bulk bulk;
    struct ww_micro_lanes lanes;
    struct ww_micro_scale scale;
    struct ww_micro_stream stream;
    struct ww_micro_roofline roofline;
};

/* A launch with room for instructions and steps. *out is the caller's. Errors: WW_NOMEM. */
enum ww_code ww_micro_new(const char *kernel, uint32_t ctas, uint32_t cta_size, uint32_t inst_count,
                          size_t step_count, struct ww_micro **out, struct ww_error *error);
/* Makes the instruction a load on the path. */
void ww_micro_set_path(struct ww_inst *inst, enum ww_micro_path path);

#endif
