/* output.h: a new text file, plain or under xz. */
#ifndef WW_ACCELSIM_OUTPUT_H
#define WW_ACCELSIM_OUTPUT_H

#include "../../estimator/base/err.h"

struct ww_as_output;

/* Begins the file, which has its name when it is whole; it must not be there yet. Errors: WW_IO, WW_NOMEM. */
enum ww_code ww_as_output_open(const char *path, bool xz, struct ww_as_output **out, struct ww_error *error);
enum ww_code ww_as_output_write(struct ww_as_output *out, const void *data, size_t n, struct ww_error *error);
/* Ends the file, or removes it if `code` is an error, which is returned then. Adds its size to *bytes. Frees
 * out (NULL is fine). */
enum ww_code ww_as_output_close(struct ww_as_output *out, enum ww_code code, uint64_t *bytes,
                                struct ww_error *error);

#endif
