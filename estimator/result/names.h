/* names.h: names, units and meaning of the enumerations in result.h. Part of warpwatt.h. */
#ifndef WW_RESULT_NAMES_H
#define WW_RESULT_NAMES_H

#include "../base/error.h"
#include "result.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names of the enumerations in result.h; NULL if out of range. */
WW_API const char *ww_counter_name(enum ww_counter c);
WW_API const char *ww_counter_unit(enum ww_counter c);
WW_API const char *ww_counter_level(enum ww_counter c);
WW_API const char *ww_counter_help(enum ww_counter c);
WW_API const char *ww_inst_counter_name(enum ww_inst_counter c);
/* Of its column in reports of source lines; NULL: it has none. */
WW_API const char *ww_inst_counter_heading(enum ww_inst_counter c);
WW_API const char *ww_inst_counter_help(enum ww_inst_counter c);
/* Step of the database's schema that made its column. */
WW_API int ww_inst_counter_step(enum ww_inst_counter c);
/* Misses of runs that are older than counters of merges count both. */
WW_API bool ww_inst_counter_has_merges(const struct ww_launch_result *l, enum ww_inst_counter c);
WW_API const char *ww_state_name(enum ww_warp_state s);
WW_API const char *ww_state_nsight(enum ww_warp_state s);
WW_API const char *ww_state_help(enum ww_warp_state s);
WW_API const char *ww_slot_name(enum ww_slot s);
WW_API const char *ww_slot_help(enum ww_slot s);
WW_API const char *ww_component_name(enum ww_component c);
WW_API const char *ww_component_help(enum ww_component c);
/* Components that reports and sweeps add up, in this order: instructions and registers; lanes; load/store,
 * shared memory and L1; interconnect and L2; DRAM and its controllers; SM pipeline and clocks; idle SMs;
 * constant. */
enum { WW_ENERGY_GROUPS = 8 };
/* The group of a component, below WW_ENERGY_GROUPS. */
WW_API uint32_t ww_energy_group(enum ww_component c);
/* Of enum ww_copy_way: "to device". */
WW_API const char *ww_copy_way_name(uint32_t way);

/* Which counter is the i-th that runs keep by epoch; i < WW_EPOCH_COUNTERS. */
WW_API enum ww_counter ww_epoch_counter(size_t i);

#ifdef __cplusplus
}
#endif

#endif
