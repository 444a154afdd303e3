/* pidpath.c: names of files that hold the number of the process that writes them. */
#include "pidpath.h"
#include "buf.h"
#include <string.h>

bool ww_pidpath_is(const char *path) {
    return strstr(path, "%p") != NULL;
}

char *ww_pidpath(const char *path, long pid) {
    struct ww_buf b = {0};
    for (const char *at; (at = strstr(path, "%p")) != NULL; path = at + 2)
        ww_buf_printf(&b, "%.*s%ld", (int)(at - path), path, pid);
    ww_buf_printf(&b, "%s", path);
    if (!b.failed) return b.p;
    ww_buf_free(&b);
    return NULL;
}
