/* infile.h: files that are read. Opening one never waits: a FIFO may not have a writer. */
#ifndef WW_BASE_INFILE_H
#define WW_BASE_INFILE_H

#include "error.h"
#include <stdio.h>

/* Opens a regular file at its beginning; symbolic links are followed. Errors: WW_IO, with the path as place;
 * *file is NULL then. */
enum ww_code ww_infile_open(const char *path, FILE **file, struct ww_error *error);

#endif
