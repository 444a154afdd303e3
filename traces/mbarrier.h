/* mbarrier.h: how a trace tells of mbarriers in shared memory: which steps complete which phase, and which wait
 * for it.
 *
 * Such a step is of class barrier with number WW_MBARRIER; the base of its access is one word. A phase is known
 * by the barrier's offset in the CTA's shared memory and a running number. What ends a phase is counted in
 * events: arrivals of threads, and transactions, of the CTA itself alone. A wait says how many events its phase
 * had. */
#ifndef WW_TRACES_MBARRIER_H
#define WW_TRACES_MBARRIER_H

#include <stdbool.h>
#include <stdint.h>

#define WW_MBARRIER 255u /* ww_inst.barrier */

enum ww_mbarrier_kind {
    WW_MBARRIER_NONE,   /* nothing that anybody waits for */
    WW_MBARRIER_ARRIVE, /* `events` events, at once */
    WW_MBARRIER_COPIES, /* the same when all asynchronous copies of the warp before this step are done */
    WW_MBARRIER_WAIT    /* until the phase has had `events` events */
};

struct ww_mbarrier_step {
    uint32_t offset; /* below 2^24 */
    uint16_t phase, events;
    uint8_t kind;
};

static inline uint64_t ww_mbarrier_pack(const struct ww_mbarrier_step *s) {
    return (uint64_t)s->offset | (uint64_t)s->kind << 24 | (uint64_t)s->phase << 32 | (uint64_t)s->events << 48;
}
static inline struct ww_mbarrier_step ww_mbarrier_unpack(uint64_t word) {
    return (struct ww_mbarrier_step){.offset = (uint32_t)word & 0xffffffu,
                                     .phase = (uint16_t)(word >> 32),
                                     .events = (uint16_t)(word >> 48),
                                     .kind = (uint8_t)(word >> 24 & 3)};
}

/* What the recorder keeps of a CTA's mbarriers. */
#define WW_MBARRIER_MOST 32u /* others are recorded as NONE */
struct ww_mbarrier_log {
    struct ww_mbarrier_life {
        uint32_t offset;
        uint16_t phase, events, last; /* events of this phase and of the one before */
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
    b->events = 0;
    b->phase++;
}
/* The barrier begins anew: nobody waits for the phase before. */
static inline void ww_mbarrier_begin(struct ww_mbarrier_log *log, uint32_t offset) {
    struct ww_mbarrier_life *b = ww_mbarrier_life(log, offset);
    if (!b) return;
    b->events = 0;
    b->phase++;
    b->last = 0;
}
/* An event in the current phase: adds it to the step, which is of the first event's phase. */
static inline void ww_mbarrier_event(struct ww_mbarrier_log *log, uint32_t offset, uint8_t kind,
                                     struct ww_mbarrier_step *s) {
    struct ww_mbarrier_life *b = ww_mbarrier_life(log, offset);
    if (!b || b->events == UINT16_MAX || offset >> 24) return;
    if (!s->events) *s = (struct ww_mbarrier_step){.offset = offset, .phase = b->phase, .kind = kind};
    if (s->offset != offset || s->phase != b->phase) return; /* a step tells of one phase */
    s->events++;
    b->events++;
}
/* A wait that succeeds: for the phase before the current one. */
static inline void ww_mbarrier_waits(struct ww_mbarrier_log *log, uint32_t offset, struct ww_mbarrier_step *s) {
    struct ww_mbarrier_life *b = ww_mbarrier_life(log, offset);
    if (!b || offset >> 24) return;
    *s = (struct ww_mbarrier_step){
        .offset = offset, .phase = (uint16_t)(b->phase - 1), .events = b->last, .kind = WW_MBARRIER_WAIT};
}

#endif
