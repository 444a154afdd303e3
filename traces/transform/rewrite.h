/* rewrite.h: a launch's instructions with new ones between them, and streams of steps over them.
 *
 * A transform first declares which groups of instructions it will insert before which of the launch's (a site),
 * over all CTAs; then the table is laid out anew, with new program counters; then streams are written. */
#ifndef WW_TRACES_TRANSFORM_CODE_H
#define WW_TRACES_TRANSFORM_CODE_H

#include "../trace.h"

#define WW_TF_GROUP_MAX 6
#define WW_TF_NONE UINT32_MAX

/* Instructions inserted together; program counters, files and lines are set at their site. */
struct ww_tf_group {
    struct ww_inst inst[WW_TF_GROUP_MAX];
    const char *mnemonic[WW_TF_GROUP_MAX]; /* NULL: as in inst, a string of the launch */
    uint32_t count;
};

struct ww_tf_site {
    uint32_t group, first,
        next; /* first: its instructions' number in the new table; next site of the same place */
};

/* All memory is the arena's, but for growing lists, which ww_tf_code_free frees. */
struct ww_tf_code {
    const struct ww_launch *from;
    struct ww_arena *arena;
    struct ww_tf_group *group;
    struct ww_tf_site *site;
    uint32_t groups, group_cap, sites, site_cap;
    uint32_t *head;       /* by place (an instruction, or past the last): its sites */
    uint32_t *moved;      /* by instruction: its number in the new table */
    const uint8_t *gone;  /* by instruction: not in the new table; NULL: all are */
    struct ww_launch out; /* of ww_tf_layout: with the table; the rest as in `from` */
    bool failed;          /* memory ran out */
};

bool ww_tf_code_init(struct ww_tf_code *c, const struct ww_launch *from, struct ww_arena *arena);
void ww_tf_code_free(struct ww_tf_code *c);
/* A group, empty; its number. */
uint32_t ww_tf_group(struct ww_tf_code *c);
/* Appends an instruction to it. registers: destination and source, or WW_TF_NONE. */
void ww_tf_add(struct ww_tf_code *c, uint32_t group, enum ww_op op, const char *mnemonic, uint32_t dst,
               uint32_t src);
/* Appends a copy of one of the launch's; the copy can be changed. NULL: out of memory. */
struct ww_inst *ww_tf_copy(struct ww_tf_code *c, uint32_t group, uint32_t inst);
/* The group will be inserted before instruction `place`. */
void ww_tf_mark(struct ww_tf_code *c, uint32_t place, uint32_t group);
/* Lays out the table. Errors: WW_NOMEM, WW_UNSUPPORTED (too many instructions). */
enum ww_code ww_tf_layout(struct ww_tf_code *c, struct ww_error *error);
/* Number of the first instruction of a group at a place that was marked, in the new table. */
uint32_t ww_tf_at(const struct ww_tf_code *c, uint32_t place, uint32_t group);

/* A warp's new stream; grows. */
struct ww_tf_stream {
    struct ww_step *step;
    struct ww_access *access;
    uint64_t *pool;
    uint32_t steps, accesses, step_cap, access_cap;
    size_t pooled, pool_cap;
    bool failed;
};
void ww_tf_stream_clear(struct ww_tf_stream *s);
void ww_tf_stream_free(struct ww_tf_stream *s);
void ww_tf_step(struct ww_tf_stream *s, uint32_t inst, uint32_t mask);
/* All instructions of a group at a place. */
void ww_tf_emit(struct ww_tf_stream *s, const struct ww_tf_code *c, uint32_t place, uint32_t group,
                uint32_t mask);
/* An access of the lanes of mask; addresses by lane. */
void ww_tf_access(struct ww_tf_stream *s, uint32_t mask, const uint64_t address[32]);
/* A list of words, as of a bulk transfer: those of the first lanes of mask, 0 of the rest. */
void ww_tf_words(struct ww_tf_stream *s, uint32_t mask, const uint64_t *word, uint32_t n);
/* The same as in another stream, with its pool. */
void ww_tf_same_access(struct ww_tf_stream *s, uint32_t mask, const struct ww_access *a, const uint64_t *pool);

/* A predicate and a register that the launch does not use (the last predicate if all are used). */
uint32_t ww_tf_free_predicate(const struct ww_launch *launch);
/* The first of `n` registers beyond those of the launch, or WW_TF_NONE if there are not so many. */
uint32_t ww_tf_free_registers(const struct ww_launch *launch, uint32_t n);

#endif
