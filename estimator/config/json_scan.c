/* Checks of JSON text that cJSON does not make; they run before cJSON. */
#include "json_scan.h"
#include <string.h>

/* Length of the UTF-8 sequence at p (n bytes are there), 0 if it is not one: overlong forms, surrogates and
 * values over U+10FFFF are not (RFC 3629). */
static size_t sequence(const unsigned char *p, size_t n) {
    if (p[0] < 0x80) return 1;
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len) return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)) return 0;
    if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
    return len;
}

const char *ww_json_scan(const char *text, size_t n, size_t *at, bool *unfinished) {
    const unsigned char *p = (const unsigned char *)text;
    unsigned depth = 0;
    bool in_string = false;
    for (size_t i = 0, len; i < n; i += len) {
        *at = i;
        len = sequence(p + i, n - i);
        if (len == 0) return "not UTF-8 text";
        if (p[i] == 0) return "a NUL byte";
        if (in_string) {
            if (p[i] < 0x20) return "a control character in a string";
            if (p[i] == '"') in_string = false;
            if (p[i] != '\\') continue;
            if (n - i >= 6 && memcmp(p + i, "\\u0000", 6) == 0) return "\\u0000 in a string";
            if (i + 1 < n && p[i + 1] < 0x80) len = 2; /* an escaped quote does not end the string */
        } else if (p[i] == '"') {
            in_string = true;
        } else if (p[i] == '[' || p[i] == '{') {
            if (++depth > WW_JSON_DEPTH_MAX) return "nested deeper than 64 levels";
        } else if ((p[i] == ']' || p[i] == '}') && depth) {
            depth--;
        }
    }
    *unfinished = in_string || depth || n == 0;
    return NULL;
}
