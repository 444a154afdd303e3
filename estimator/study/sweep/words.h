/* words.h: signs and words of an expression, read from left to right. */
#ifndef WW_SWEEP_WORDS_H
#define WW_SWEEP_WORDS_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool ww_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static inline const char *ww_word_skip(const char *p) {
    while (isspace((unsigned char)*p)) p++;
    return p;
}

/* Goes behind a sign or a word if it is next, blanks before it or not. */
static inline bool ww_word_take(const char **p, const char *sign) {
    size_t n = strlen(sign);
    *p = ww_word_skip(*p);
    if (strncmp(*p, sign, n) != 0 || (ww_word_char(sign[0]) && ww_word_char((*p)[n]))) return false;
    *p += n;
    return true;
}

#endif
