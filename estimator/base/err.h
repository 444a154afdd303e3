/* err.h: errors.
 *
 * Every function that can fail returns an enum ww_code and takes a struct ww_error * as its last
 * argument. On failure it fills the error once, where the cause is known: where (file and place in it), and a
 * text that gives the value met and what was expected. Callers pass both on unchanged with WW_TRY, or add
 * context in front of `where` with ww_error_within(). Only the program prints. */
#ifndef WW_BASE_ERR_H
#define WW_BASE_ERR_H

#include "error.h"
#include <stdarg.h>

#define WW_TRY(call)                                                                                           \
    do {                                                                                                       \
        enum ww_code ww_try_code_ = (call);                                                                    \
        if (ww_try_code_ != WW_OK) return ww_try_code_;                                                        \
    } while (0)

/* Fills *e (which may be NULL) and returns `code`. `where` names file and place, for example
 * "kernel.ptx:12" or "gtx480.json: $.sm.count"; NULL or "" where there is none. */
__attribute__((format(printf, 4, 5))) enum ww_code ww_fail(struct ww_error *e, enum ww_code code,
                                                           const char *where, const char *fmt, ...);

/* Puts "prefix: " in front of e->where; returns e's code. */
enum ww_code ww_error_within(struct ww_error *e, const char *prefix);

/* WW_NOMEM with the standard text. */
enum ww_code ww_fail_nomem(struct ww_error *e, const char *what);

#endif
