/* writers.h: whether a trace in which the engine fills shared memory keeps the program of the one in which
 * warps do (transform d2ma): each load of shared memory must have the same last writer.
 *
 * A CTA is run warp by warp from barrier to barrier. The writer of a word is a store (its warp, its number
 * among the warp's stores that are no copies, the lane), or a copy: the global address that the word came from
 * (or a constant), and how often copies have filled the word. A bulk transfer fills the words of its tile when
 * the first warp comes to it.
 */
#ifndef WW_TRACES_TRANSFORM_WRITERS_H
#define WW_TRACES_TRANSFORM_WRITERS_H

#include "../../estimator/api/trace.h"
#include "../trace.h"

/* Words loaded from shared memory, over lanes, and those of another writer than before. */
struct ww_writers {
    uint64_t loads, changed;
};

/* Compares a CTA of launch `launch` of `before`, whose copies are the instructions with role WW_COPY_STORE
 * (copy.h), with the same one of `after`, whose warps run first to last and then, again, last to first. Adds to
 * *out: a loaded word counts twice, once for each order. Needs traces whose copies store 32-bit words. Errors:
 * WW_NOMEM, WW_UNSUPPORTED (an access beyond the CTA's shared memory; a transfer that no table holds), those of
 * the traces. */
enum ww_code ww_writers_compare(struct ww_trace *before, struct ww_trace *after, size_t launch, uint64_t cta,
                                const uint8_t *role, struct ww_writers *out, struct ww_error *error);

/* The same for all CTAs of all launches that `before` holds. */
enum ww_code ww_writers_compare_all(struct ww_trace *before, struct ww_trace *after, struct ww_writers *out,
                                    struct ww_error *error);

#endif
