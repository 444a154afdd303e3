/* mbarrier.h: mbarriers of shared memory in a trace: which steps complete a phase, and which wait for it.
 *
 * Such a step is of class barrier with number WW_MBARRIER. Its access is one word of the CTA's own barriers, or
 * as many words of other CTAs' barriers as it has lanes. A phase is known by the CTA, the barrier's offset in
 * its shared memory, and a running number. What ends a phase is counted in events: arrivals of threads, and
 * transactions. A wait says how many of these its phase had of the CTA itself, and how many of others of the
 * cluster. */
#ifndef WW_TRACES_MBARRIER_H
#define WW_TRACES_MBARRIER_H

#include "trace.h"
#include <stdio.h>

#define WW_MBARRIER 255u /* ww_inst.barrier */

enum ww_mbarrier_kind {
    WW_MBARRIER_NONE,   /* no effect on a wait */
    WW_MBARRIER_ARRIVE, /* `events` events, at once */
    WW_MBARRIER_COPIES, /* the same when all asynchronous copies of the warp before this step are done */
    WW_MBARRIER_WAIT    /* until the phase has had `events` events */
};

struct ww_mbarrier_step {
    uint32_t offset; /* below 2^24 */
    uint16_t phase, events;
    uint16_t others; /* of a wait: events of other CTAs; the access's stride */
    uint8_t kind;
    uint8_t rank; /* 1 + rank of the CTA whose barrier it is; 0: the step's own */
};

/* A word of another CTA's barrier has the kind in bit 31; code that handles own barriers alone sees kind 0. */
static inline uint64_t ww_mbarrier_pack(const struct ww_mbarrier_step *s) {
    uint64_t kind = s->rank ? (uint64_t)s->rank << 26 | (uint64_t)(s->kind == WW_MBARRIER_COPIES) << 31
                            : (uint64_t)s->kind << 24;
    return (uint64_t)s->offset | kind | (uint64_t)s->phase << 32 | (uint64_t)s->events << 48;
}
static inline struct ww_mbarrier_step ww_mbarrier_unpack(uint64_t word) {
    struct ww_mbarrier_step s = {.offset = (uint32_t)word & 0xffffffu,
                                 .phase = (uint16_t)(word >> 32),
                                 .events = (uint16_t)(word >> 48),
                                 .kind = (uint8_t)(word >> 24 & 3),
                                 .rank = (uint8_t)(word >> 26 & 31)};
    if (s.rank) s.kind = word >> 31 & 1 ? WW_MBARRIER_COPIES : WW_MBARRIER_ARRIVE;
    return s;
}
/* Whether the words of the access are of other CTAs' barriers. */
static inline bool ww_mbarrier_is_far(const struct ww_access *a) {
    return a->list != WW_AFFINE || a->base >> 26 & 31;
}
static inline struct ww_mbarrier_step ww_mbarrier_own(const struct ww_access *a) {
    struct ww_mbarrier_step s = ww_mbarrier_unpack(a->base);
    if (s.kind == WW_MBARRIER_WAIT && !s.rank) s.others = (uint16_t)a->stride;
    return s;
}

/* For errors: what a phase that is never completed still lacks. */
static inline void ww_mbarrier_say(char *text, size_t size, uint32_t rank, uint32_t offset, uint64_t pending,
                                   uint64_t expected, int64_t bytes) {
    snprintf(
        text, size,
        "; the last wait that failed was at the mbarrier at 0x%x of CTA %u of its cluster, which lacks %llu "
        "of %llu arrivals and %lld bytes",
        offset, rank, (unsigned long long)pending, (unsigned long long)expected, (long long)bytes);
}

/* What an instruction did at mbarriers. */
struct ww_mbarrier_steps {
    struct ww_mbarrier_step own;
    uint32_t far_count;
    struct ww_mbarrier_step far[32];
};
static inline void ww_mbarrier_clear(struct ww_mbarrier_steps *s) {
    s->own = (struct ww_mbarrier_step){0};
    s->far_count = 0;
}

/* What the recorder keeps of a CTA's mbarriers. */
#define WW_MBARRIER_MOST 32u /* others are recorded as NONE */
struct ww_mbarrier_log {
    struct ww_mbarrier_life {
        uint32_t offset;
        uint16_t phase;
        uint16_t events, last;        /* of the CTA in this phase and in the one before */
        uint16_t others, last_others; /* the same of other CTAs */
    } bar[WW_MBARRIER_MOST];
    uint32_t count;
};

static inline struct ww_mbarrier_life *ww_mbarrier_life(struct ww_mbarrier_log *log, uint32_t offset) {
    for (uint32_t n = 0; n < log->count; n++)
        if (log->bar[n].offset == offset) return &log->bar[n];
    if (log->count == WW_MBARRIER_MOST) return 0;
    log->bar[log->count] = (struct ww_mbarrier_life){.offset = offset};
    return &log->bar[log->count++];
}
/* The phase is over, by whatever event. */
static inline void ww_mbarrier_flip(struct ww_mbarrier_log *log, uint32_t offset) {
    struct ww_mbarrier_life *b = ww_mbarrier_life(log, offset);
    if (!b) return;
    b->last = b->events;
    b->last_others = b->others;
    b->events = b->others = 0;
    b->phase++;
}
/* The barrier is initialised again: no wait is for the phase before. */
static inline void ww_mbarrier_begin(struct ww_mbarrier_log *log, uint32_t offset) {
    struct ww_mbarrier_life *b = ww_mbarrier_life(log, offset);
    if (!b) return;
    b->events = b->others = b->last = b->last_others = 0;
    b->phase++;
}
static inline bool ww_mbarrier_is_of(const struct ww_mbarrier_step *s, uint32_t offset, uint16_t phase,
                                     uint8_t rank) {
    return s->offset == offset && s->phase == phase && s->rank == rank;
}
/* An event in the current phase of the CTA's own barrier. A step records one phase, the first one. */
static inline void ww_mbarrier_event(struct ww_mbarrier_log *log, uint32_t offset, uint8_t kind,
                                     struct ww_mbarrier_steps *to) {
    struct ww_mbarrier_life *b = ww_mbarrier_life(log, offset);
    struct ww_mbarrier_step *s = &to->own;
    if (!b || b->events == UINT16_MAX || offset >> 24) return;
    if (!s->events) *s = (struct ww_mbarrier_step){.offset = offset, .phase = b->phase, .kind = kind};
    if (!ww_mbarrier_is_of(s, offset, b->phase, 0)) return;
    s->events++;
    b->events++;
}
/* An event that another CTA brings; rank: of the CTA whose log it is. */
static inline void ww_mbarrier_event_far(struct ww_mbarrier_log *log, uint32_t offset, uint8_t kind,
                                         uint32_t rank, struct ww_mbarrier_steps *to) {
    struct ww_mbarrier_life *b = ww_mbarrier_life(log, offset);
    uint32_t n = 0;
    if (!b || b->others == INT16_MAX || offset >> 24) return;
    while (n < to->far_count && !ww_mbarrier_is_of(&to->far[n], offset, b->phase, (uint8_t)(rank + 1))) n++;
    if (n == sizeof to->far / sizeof *to->far) return;
    if (n == to->far_count)
        to->far[to->far_count++] = (struct ww_mbarrier_step){
            .offset = offset, .phase = b->phase, .kind = kind, .rank = (uint8_t)(rank + 1)};
    to->far[n].events++;
    b->others++;
}
/* A wait that succeeds: for the phase before the current one. */
static inline void ww_mbarrier_waits(struct ww_mbarrier_log *log, uint32_t offset,
                                     struct ww_mbarrier_steps *to) {
    struct ww_mbarrier_life *b = ww_mbarrier_life(log, offset);
    if (!b || offset >> 24) return;
    to->own = (struct ww_mbarrier_step){.offset = offset,
                                        .phase = (uint16_t)(b->phase - 1),
                                        .events = b->last,
                                        .others = b->last_others,
                                        .kind = WW_MBARRIER_WAIT};
}

#endif
