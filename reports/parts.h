/* parts.h: pieces of JSON that several reports share. A value that is not known is null. */
#ifndef WW_REPORTS_PARTS_H
#define WW_REPORTS_PARTS_H

#include "../estimator/result/result.h"
#include "../estimator/base/jsonw.h"
#include "figures.h"

/* null if v < 0, which is how figures.h says "not known". */
void ww_part_known(struct ww_jsonw *w, const char *key, double v);
/* The members of a summary (reports/schema/run.json), between the braces of the caller's object. */
void ww_part_summary(struct ww_jsonw *w, const struct ww_result *result, int64_t run_id);
/* Null: not known (ww_counter_known). */
void ww_part_counters(struct ww_jsonw *w, const char *key, const struct ww_result *r,
                      const struct ww_launch_result *launch);
/* With `zeros` false only states that have cycles are written. */
void ww_part_states(struct ww_jsonw *w, const char *key, const uint64_t state[WW_STATE_COUNT], bool zeros);
void ww_part_slots(struct ww_jsonw *w, const char *key, const uint64_t slot[WW_SLOT_COUNT]);
void ww_part_memory(struct ww_jsonw *w, const char *key, const struct ww_launch_result *launch);
/* Counters of an instruction, from `first` on and before `end`, as members of the caller's object; null: those
 * that are not known (bit i of `unknown`). */
void ww_part_inst_counters(struct ww_jsonw *w, const uint64_t counter[WW_INST_COUNTER_COUNT], uint64_t unknown,
                           int first, int end);
/* null if the energy is not known. */
void ww_part_energy(struct ww_jsonw *w, const char *key, const struct ww_energy *energy, uint64_t time_ps);

#endif
