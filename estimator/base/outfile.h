/* outfile.h: where a file that is written under a temporary name and then renamed may go.
 *
 * A rename would put a regular file in the place of a device, a FIFO or a symbolic link; so the target is
 * looked at before any work is done.
 */
#ifndef WW_BASE_OUTFILE_H
#define WW_BASE_OUTFILE_H

#include "err.h"

/* Resolves `path` into *target, which the caller frees: the regular file that it names, through symbolic links
 * (also through one whose file does not exist yet), or the new name itself. Errors: WW_USAGE ("-", or something
 * that exists and is no regular file), WW_IO (links without end), WW_NOMEM. */
enum ww_code ww_outfile_resolve(const char *path, char **target, struct ww_error *error);

/* WW_USAGE if both names stand for one file that exists: writing `out` would destroy what is read. */
enum ww_code ww_outfile_not_input(const char *out, const char *in, struct ww_error *error);

#endif
