/* The folder that recordings of measured workloads lie in. */
#include "correlate.h"
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum ww_code ww_estimate_folder(const char *traces, char *dir, struct ww_error *error) {
    const char *tmp = getenv("TMPDIR");
    struct stat st;
    if (traces) {
        if (stat(traces, &st) != 0 || !S_ISDIR(st.st_mode))
            return ww_fail(error, WW_IO, traces, "is no folder");
        snprintf(dir, WW_ESTIMATE_FOLDER, "%s", traces);
        return WW_OK;
    }
    snprintf(dir, WW_ESTIMATE_FOLDER, "%.400s/warpwatt-estimates-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    return mkdtemp(dir) ? WW_OK : ww_fail(error, WW_IO, dir, "cannot be made");
}

void ww_estimate_folder_done(const char *traces, const char *dir) {
    char path[WW_ESTIMATE_FOLDER];
    DIR *d = traces ? NULL : opendir(dir);
    if (traces) return;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        snprintf(path, sizeof path, "%.3000s/%.1000s", dir, e->d_name);
        unlink(path);
    }
    if (d) closedir(d);
    rmdir(dir);
}
