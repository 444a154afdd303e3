/* wavefront.h: cached loads of a GPU whose L1 looks up several lines in a cycle (l1.tag_banks).
 *
 *   requests --tags: one line of each bank in a cycle--> data: 32 banks of 4 bytes, as shared memory's
 *
 * The bank of a line is its number folded: the exclusive or of its digits to the base of the banks. So a load
 * takes as many cycles of the tags as its lines have in the fullest bank, and as many of the data as a load
 * from shared memory at the same addresses; the unit turns to the next instruction when both are through. Both
 * rules are what RRZE-HPC/gpu-benches measured of an A100 (gpu-strides; docs/model/sm.md). */
#ifndef WW_CORE_WAVEFRONT_H
#define WW_CORE_WAVEFRONT_H

#include "sm.h"

/* Puts the requests of a load into the order of their look-ups: request i is in pass `pass[i]`, passes rise. */
void ww_wavefront_order(struct ww_coalescer *c, uint32_t banks, uint8_t pass[static WW_REQUEST_MAX]);
/* Cycles that the data of a whole load take. */
uint32_t ww_wavefront_data(struct ww_core *core, const struct ww_lsu_entry *e, const struct ww_dinst *d,
                           uint32_t requests);

#endif
