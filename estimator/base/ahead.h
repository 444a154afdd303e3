/* ahead.h: functions that do nothing but let the host load what is used soon (__builtin_prefetch). gcc takes
 * such a function for one without an effect and drops the calls of it, unless it is inlined before it is looked
 * at. */
#ifndef WW_BASE_AHEAD_H
#define WW_BASE_AHEAD_H

#define WW_AHEAD static inline __attribute__((always_inline)) void

#endif
