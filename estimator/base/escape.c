/* Untrusted text, escaped for terminals, gnuplot and spreadsheets. */
#include "escape.h"
#include <string.h>

/* Code points that do not show: Cc, and what Unicode lists as Default_Ignorable_Code_Point, Bidi_Control, or as
 * separators of lines (DerivedCoreProperties.txt and PropList.txt of version 15). */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool is_tail(unsigned char c) {
    return (c & 0xc0) == 0x80;
}

size_t ww_utf8_length(const char *s, size_t n) {
    const unsigned char *p = (const unsigned char *)s;
    if (n == 0) return 0;
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    size_t want = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n < want) return 0;
    for (size_t i = 1; i < want; i++)
        if (!is_tail(p[i])) return 0;
    /* overlong forms, surrogates, and what lies above U+10FFFF */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)) return 0;
    if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
    return want;
}

uint32_t ww_utf8_code(const char *s, size_t length) {
    static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *p = (const unsigned char *)s;
    uint32_t c = p[0] & lead[length];
    for (size_t i = 1; i < length; i++) c = c << 6 | (p[i] & 0x3f);
    return c;
}

size_t ww_text_next(const char *s, size_t n, bool *shows) {
    size_t length = ww_utf8_length(s, n);
    *shows = length > 0;
    if (length == 0) return 1;
    uint32_t c = ww_utf8_code(s, length);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden && c >= hidden[i].first; i++)
        if (c <= hidden[i].last) *shows = false;
    return length;
}

/* Writes s with '?' for what does not show and for each of `also`, but keeps those of `keep`. */
static void put(FILE *out, const char *s, const char *keep, const char *also) {
    for (size_t n = strlen(s), length; n; s += length, n -= length) {
        bool shows;
        length = ww_text_next(s, n, &shows);
        if ((shows && !strchr(also, *s)) || strchr(keep, *s))
            fwrite(s, 1, length, out);
        else
            putc('?', out);
    }
}

void ww_put_text(FILE *out, const char *s) {
    put(out, s, "\t", "");
}

void ww_put_gnuplot(FILE *out, const char *s) {
    put(out, s, "", "'\"`\\");
}

const char *ww_shown(const char *s) {
    enum { COPIES = 8, ROOM = 512 };
    static _Thread_local char copies[COPIES][ROOM];
    static _Thread_local unsigned next;
    bool shows = true;
    if (!s) return "";
    for (size_t i = 0, n = strlen(s); i < n && shows;) i += ww_text_next(s + i, n - i, &shows);
    if (shows) return s;
    char *out = copies[next++ % COPIES];
    size_t used = 0;
    for (size_t n = strlen(s), length; n && used + 8 < ROOM; s += length, n -= length) {
        length = ww_text_next(s, n, &shows);
        memcpy(out + used, shows ? s : "?", shows ? length : 1);
        used += shows ? length : 1;
    }
    memcpy(out + used, "...", 4);
    if (!*s) out[used] = 0;
    return out;
}

/* ---- spreadsheets ---- */

static size_t digits(const char *s, size_t n) {
    size_t i = 0;
    while (i < n && s[i] >= '0' && s[i] <= '9') i++;
    return i;
}

/* Sign, digits, a fraction, an exponent. */
static bool is_number(const char *s, size_t n) {
    size_t i = n && (s[0] == '-' || s[0] == '+'), whole = digits(s + i, n - i), part = 0;
    i += whole;
    if (i < n && s[i] == '.') {
        part = digits(s + i + 1, n - i - 1);
        i += 1 + part;
    }
    if (whole + part == 0) return false;
    if (i < n && (s[i] == 'e' || s[i] == 'E')) {
        i += i + 1 < n && (s[i + 1] == '-' || s[i + 1] == '+') ? 2u : 1u;
        size_t exponent = digits(s + i, n - i);
        if (exponent == 0) return false;
        i += exponent;
    }
    return i == n;
}

/* The wide forms U+FF1D, U+FF0B, U+FF0D and U+FF20 begin formulas in some languages. */
static bool is_formula(const char *s, size_t n) {
    static const char *const begin[] = {
        "=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};
    size_t blank = 0;
    if (n && strchr("\t\r\n", s[0]) && s[0]) return true;
    while (blank < n && s[blank] == ' ') blank++;
    if (is_number(s + blank, n - blank)) return false;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
        size_t length = strlen(begin[i]);
        if (n - blank >= length && memcmp(s + blank, begin[i], length) == 0) return true;
    }
    return false;
}

void ww_put_csv(FILE *out, const char *s, size_t n) {
    bool quoted = false;
    for (size_t i = 0; i < n; i++) quoted |= s[i] == ',' || s[i] == '"' || s[i] == '\r' || s[i] == '\n';
    if (quoted) putc('"', out);
    if (is_formula(s, n)) putc('\'', out);
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"') putc('"', out);
        putc(s[i], out);
    }
    if (quoted) putc('"', out);
}
