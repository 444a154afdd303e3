/* json_scan.h: checks of JSON text that cJSON does not make; they run before cJSON. */
#ifndef WW_CONFIG_JSON_SCAN_H
#define WW_CONFIG_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#define WW_JSON_DEPTH_MAX 64

/* Refuses nesting over WW_JSON_DEPTH_MAX, control characters and \u0000 in strings, and text that is not
 * UTF-8. Returns NULL if there is nothing of that kind, else what is wrong and in *at the byte where.
 * *unfinished: the text ends inside a string or with brackets open. */
const char *ww_json_scan(const char *text, size_t n, size_t *at, bool *unfinished);

#endif
