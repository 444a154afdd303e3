/* source_text.h: the text of a source file and its hash, as recorders and reports read them. */
#ifndef WW_SOURCE_TEXT_H
#define WW_SOURCE_TEXT_H

#include <stddef.h>

enum { WW_SOURCE_TEXT_MAX = 4 << 20, WW_SOURCE_TEXT_HASH = 17 };

/* The text and the hash (16 hex digits) of a regular file of at most WW_SOURCE_TEXT_MAX bytes; NULL: there is
 * none, it is empty, or no memory. The caller frees it. */
char *ww_source_read(const char *path, size_t *bytes, char hash[WW_SOURCE_TEXT_HASH]);

#endif
