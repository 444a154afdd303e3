/* The folder that recordings of measured workloads lie in. */
#include "correlate.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum ww_code ww_estimate_folder(const char *traces, struct ww_temp *folder, struct ww_error *error) {
    struct stat st;
    *folder = WW_TEMP_NONE;
    if (!traces) return ww_temp_folder(folder, error);
    if (stat(traces, &st) != 0 || !S_ISDIR(st.st_mode)) return ww_fail(error, WW_IO, traces, "is not a folder");
    folder->path = strdup(traces);
    return folder->path ? WW_OK : ww_fail_nomem(error, traces);
}

void ww_estimate_folder_done(const char *traces, struct ww_temp *folder) {
    if (traces)
        ww_temp_kept(folder);
    else
        ww_temp_remove(folder);
}
