/* pidpath.h: names of files that hold the number of the process that writes them. */
#ifndef WW_BASE_PIDPATH_H
#define WW_BASE_PIDPATH_H

#include <stdbool.h>

/* True if the path has a %p. */
bool ww_pidpath_is(const char *path);
/* The path with each %p replaced by the number. free() it; NULL: no memory. */
char *ww_pidpath(const char *path, long pid);

#endif
