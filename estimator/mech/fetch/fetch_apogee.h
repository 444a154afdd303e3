/* fetch_apogee.h: APOGEE's prefetch table (A. Sethia, G. Dasika, M. Samadi, S. Mahlke, PACT 2013; Sethia's
 * dissertation, section 5.3): its fields and their widths, table 5.3b. */
#ifndef WW_MECH_FETCH_APOGEE_H
#define WW_MECH_FETCH_APOGEE_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of an entry: 76 with the states of 4 warps. */
#define WW_APOGEE_PC_BITS 10
#define WW_APOGEE_ADDRESS_BITS 28
#define WW_APOGEE_OFFSET_BITS 8
#define WW_APOGEE_CONFIDENCE_BITS 8
#define WW_APOGEE_THREAD_BITS 6
#define WW_APOGEE_DISTANCE_BITS 6
#define WW_APOGEE_TYPE_BITS 2
#define WW_APOGEE_STATE_BITS 2 /* of a warp */

#define WW_APOGEE_MOST 256 /* entries that a table can have */
#define WW_APOGEE_SCALAR ((1u << WW_APOGEE_THREAD_BITS) - 1)

/* Bits of a table: `warps` have a state in each entry. */
static inline uint32_t ww_apogee_bits(uint32_t entries, uint32_t warps) {
    return entries * (WW_APOGEE_PC_BITS + WW_APOGEE_ADDRESS_BITS + WW_APOGEE_OFFSET_BITS +
                      WW_APOGEE_CONFIDENCE_BITS + WW_APOGEE_THREAD_BITS + WW_APOGEE_DISTANCE_BITS +
                      WW_APOGEE_TYPE_BITS + WW_APOGEE_STATE_BITS * warps);
}

enum ww_apogee_type {
    WW_APOGEE_EMPTY,
    WW_APOGEE_FOA,     /* fixed offset address: pc is the load's own */
    WW_APOGEE_TIA,     /* thread-invariant address: pc is the load that the prefetch goes with */
    WW_APOGEE_TIA_SLOW /* the same, and its data came too late the last time: the slow bit */
};

/* 00, 01, 10. */
enum ww_apogee_state { WW_APOGEE_LOADED, WW_APOGEE_SENT, WW_APOGEE_BACK };

struct ww_apogee_entry {
    uint8_t type; /* enum ww_apogee_type */
    uint8_t confidence, thread, distance;
    uint16_t pc;
    int16_t offset;
    bool offset_known;
    uint64_t address;  /* the hardware keeps its low bits */
    uint8_t state[64]; /* by warp; of a TIA entry that of warp 0 stands for all */
    /* what the simulation keeps in addition to the fields */
    uint16_t life;       /* counts the entry's owners, so that completions for an old one are told apart */
    uint64_t used;       /* when; among equal confidences the oldest goes */
    uint16_t flying[64]; /* by warp: lines asked for that are not there yet */
    uint8_t due[64];     /* by warp: loads up to the one that the prefetch with this state is for */
    uint64_t target[64]; /* by warp: address of lane 0 that it was sent for */
};

struct ww_apogee {
    struct ww_apogee_entry entry[WW_APOGEE_MOST];
    uint64_t clock;
    uint16_t last; /* pc of the last accessed load */
    bool last_known;
};

#endif
