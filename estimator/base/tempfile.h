/* tempfile.h: temporary files and folders, none of which outlives its process for long.
 *
 * Each is locked (flock) while it is in use. A lock ends with its process, however that ends. So each call that
 * makes a temporary file or folder first removes those in the same place that are not locked. On network file
 * systems, whose locks are not reliable, nothing is locked and nothing removed.
 *
 *     next to a file: NAME.tmp-ww-PID, NAME.tmp-ww-PID-N of one process: $TMPDIR/warpwatt-tmp-PID,
 *     $TMPDIR/warpwatt-tmp-PID-N ($TMPDIR or /tmp)
 */
#ifndef WW_BASE_TEMPFILE_H
#define WW_BASE_TEMPFILE_H

#include "err.h"

struct ww_temp {
    char *path; /* NULL: none */
    int fd;     /* of the file, for writing; of the folder. It holds the lock */
};
#define WW_TEMP_NONE ((struct ww_temp){NULL, -1})

/* Makes an empty file in the folder of `target`. Errors: WW_IO, WW_NOMEM. */
enum ww_code ww_temp_beside(const char *target, struct ww_temp *temp, struct ww_error *error);
/* Makes an empty folder that this user alone can enter. Errors: WW_IO, WW_NOMEM. */
enum ww_code ww_temp_folder(struct ww_temp *temp, struct ww_error *error);
/* Removes the file, or the folder with the files in it (and with folders of files), and frees. After
 * ww_temp_kept, or of WW_TEMP_NONE, there is nothing to remove. */
void ww_temp_remove(struct ww_temp *temp);
/* The file has another name now: nothing is left to remove. Closes the descriptor, and frees. */
void ww_temp_kept(struct ww_temp *temp);

/* Removes the file that process `pid`, which has ended, made for `target`; true if there was one. */
bool ww_temp_remove_of(const char *target, long pid);

/* True for a file system on another machine, by what statfs says of it. */
bool ww_is_network_fs(uint64_t f_type);

#endif
