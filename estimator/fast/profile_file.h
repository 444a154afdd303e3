/* profile_file.h: profiles stored next to their traces.
 *
 *   FILE.profile:  "WWPROF" version(2)  size of the rest(8)  hash of the trace(16)  launches(8)
 *                  each launch: its struct's fields in order, little-endian
 *                  (integers 8 bytes, reals as IEEE 754 doubles or floats as in the struct)
 *                  CRC-32 of everything before it(4)
 *
 * The name is the trace's with ".profile" behind it. A profile belongs to the trace whose content hash it
 * holds.
 */
#ifndef WW_FAST_PROFILE_FILE_H
#define WW_FAST_PROFILE_FILE_H

#include "../api/trace.h"
#include "../base/buf.h"
#include "profile.h"

#define WW_PROFILE_VERSION 3
#define WW_PROFILE_SUFFIX ".profile"

/* The profile as bytes of such a file. Errors: WW_NOMEM. */
enum ww_code ww_model_profile_print(const struct ww_model_profile *profile, struct ww_buf *out,
                                    struct ww_error *error);
/* And back. `where` names the bytes in errors. Errors: WW_INPUT (no profile, another version, damaged),
 * WW_NOMEM. */
enum ww_code ww_model_profile_parse(const void *bytes, size_t n, const char *where,
                                    struct ww_model_profile *profile, struct ww_error *error);
/* Writes under a temporary name and renames. Errors: WW_IO, WW_NOMEM. */
enum ww_code ww_model_profile_save(const struct ww_model_profile *profile, const char *path,
                                   struct ww_error *error);
/* Errors: WW_IO (not there), WW_INPUT, WW_NOMEM. */
enum ww_code ww_model_profile_load(const char *path, struct ww_model_profile *profile, struct ww_error *error);
/* The stored profile of an open trace at `path`, or a new one, which is stored if that is possible (a folder
 * that cannot be written is no error). One that is damaged, of another version or of another trace is made
 * anew; *made (may be NULL) says which it was, "" for one that was read. Errors: those of
 * ww_model_profile_make. */
enum ww_code ww_model_profile_of(struct ww_trace *trace, const char *path, ww_progress_fn progress,
                                 void *context, struct ww_model_profile *profile, struct ww_error *made,
                                 struct ww_error *error);

#endif
