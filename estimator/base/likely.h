/* likely.h: which way a condition goes as a rule, so that the compiler keeps the host's registers for that way.
 */
#ifndef WW_BASE_LIKELY_H
#define WW_BASE_LIKELY_H

#define WW_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define WW_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
