/* validate.h: suites that compare our figures with published ones. Part of warpwatt.h. */
#ifndef WW_API_VALIDATE_H
#define WW_API_VALIDATE_H

#include "../base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Suites that measure what publications state (docs/studies/validation.md); NULL if out of range. */
WW_API size_t ww_validate_suite_count(void);
WW_API const char *ww_validate_suite_name(size_t i);
WW_API const char *ww_validate_suite_help(size_t i);
struct ww_validate_options {
    unsigned jobs;      /* threads to measure with, at least 1; results do not depend on it */
    bool small;         /* small inputs, where a suite has them: a trial in seconds; its figures mean nothing */
    const char *traces; /* folder with recorded programs, for the suite silicon; NULL: it measures nothing */
    ww_progress_fn progress;
    void *context;
};
struct ww_validation; /* rows of a suite: our figure, the publication's, the tolerance */
/* Runs a suite. A row outside its tolerance is no error. Errors: WW_USAGE (unknown name), WW_FAIL (progress
 * stopped it), those of ww_run. */
WW_API enum ww_code ww_validate(const char *name, const struct ww_validate_options *options,
                                struct ww_validation **validation, struct ww_error *error);
WW_API void ww_validation_free(struct ww_validation *validation);
/* Prints the rows of `count` suites: a table each, or one array for all (reports/schema/validate.json). */
WW_API enum ww_code ww_validation_print(struct ww_validation *const *validation, size_t count, bool json,
                                        FILE *out, struct ww_error *error);

#ifdef __cplusplus
}
#endif

#endif
