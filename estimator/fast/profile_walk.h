/* profile_walk.h: a warp's stream as accesses to lines, for all passes of the profiler. */
#ifndef WW_FAST_PROFILE_WALK_H
#define WW_FAST_PROFILE_WALK_H

#include "profile.h"

#define WW_WALK_LINES                                                                                          \
    64 /* of 128 bytes that one instruction touches at most: 32 lanes, each across a border                    \
        */

/* Kinds of access as the caches see them. */
enum ww_walk_kind {
    WW_WALK_NONE,   /* not of global or local memory, or without an active lane */
    WW_WALK_LOAD,   /* plain load: cached in the L1 where global loads are */
    WW_WALK_CACHED, /* read-only, texture or local load: always cached */
    WW_WALK_BYPASS, /* load past the L1 */
    WW_WALK_STORE,
    WW_WALK_ATOMIC
};

struct ww_walk_line {
    uint64_t line;    /* address / 128; those of local memory have WW_WALK_LOCAL set */
    uint32_t sectors; /* bit per 32 bytes */
};
#define WW_WALK_LOCAL (1ull << 62)

/* Place of a warp in its stream. */
struct ww_walk {
    const struct ww_warp_stream *stream;
    uint32_t step, access;
    uint32_t id; /* for the addresses of local memory: warps with one id share them */
};

enum ww_walk_kind ww_walk_kind(const struct ww_inst *inst);
/* Bytes addressed by a lane that is active: the `rank`th of the mask. */
uint64_t ww_walk_address(const struct ww_warp_stream *w, const struct ww_access *a, uint32_t lane,
                         uint32_t rank);
/* Lines of the access, in the order of the first lane that needs each; returns their number. */
unsigned ww_walk_lines(const struct ww_walk *w, const struct ww_inst *inst, const struct ww_access *a,
                       uint32_t mask, struct ww_walk_line out[WW_WALK_LINES]);
/* Passes of a shared access over 32 banks of 4 bytes, and (updates, may be NULL) the lanes that name its most
 * wanted word. */
uint32_t ww_walk_passes(const struct ww_warp_stream *w, const struct ww_inst *inst, const struct ww_access *a,
                        uint32_t mask, uint32_t *updates);

#endif
