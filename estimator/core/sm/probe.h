/* probe.h: when chosen instructions issued, as a kernel that reads clock() would learn it.
 *
 * The caller owns the probe and its room; the engine writes only while it replays. Samples of one warp are in
 * the order of their cycles; those of different SMs are in the order in which the engine steps them.
 */
#ifndef WW_CORE_PROBE_H
#define WW_CORE_PROBE_H

#include <stddef.h>
#include <stdint.h>

struct ww_probe_sample {
    uint64_t cycle; /* of the launch, SM clock */
    uint32_t inst;  /* static instruction */
    uint16_t sm, warp;
};

struct ww_probe {
    uint32_t first, end; /* static instructions first .. end - 1 are noted */
    struct ww_probe_sample *sample;
    size_t count; /* met; those beyond `capacity` are not kept */
    size_t capacity;
};

/* Transfers from global to shared memory that have completed, in the order of their completion. */
struct ww_transfer {
    uint64_t cta, asked, first, last,
        done; /* cycles: first instruction, first and last request, data written */
    uint32_t sm, buffer;
};

struct ww_transfer_log {
    struct ww_transfer *row;
    size_t count; /* met; those beyond `capacity` are not kept */
    size_t capacity;
};

static inline void ww_probe_issue(struct ww_probe *p, uint32_t sm, uint32_t warp, uint32_t inst,
                                  uint64_t cycle) {
    if (inst < p->first || inst >= p->end) return;
    if (p->count < p->capacity)
        p->sample[p->count] = (struct ww_probe_sample){cycle, inst, (uint16_t)sm, (uint16_t)warp};
    p->count++;
}

#endif
