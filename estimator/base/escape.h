/* escape.h: untrusted text, where some characters have an effect beyond their glyph.
 *
 * Names of kernels, files, GPUs and columns come from files of others. On a terminal, control characters are
 * commands, characters that change the direction of writing make a text look like another, and characters
 * without width are invisible. In a gnuplot script a quote or a line break ends the text, and what follows is a
 * command. A spreadsheet may take a cell for a formula. All text that is not a constant of the program passes
 * one of these functions when it is written. JSON needs none: its writer (jsonw.h) escapes these characters,
 * and what is read back is the same text. */
#ifndef WW_BASE_ESCAPE_H
#define WW_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length of the UTF-8 sequence at s (n bytes left), 0 if there is none that is valid; its code point. */
size_t ww_utf8_length(const char *s, size_t n);
uint32_t ww_utf8_code(const char *s, size_t length);

/* Length of the character at s, n > 0 bytes left, at least 1. *shows: false for controls, for characters
 * without width or that change the direction of writing, and for a byte that is not UTF-8. */
size_t ww_text_next(const char *s, size_t n, bool *shows);

/* Writes a text for people: every character that does not show becomes '?', line breaks too; tabs stay. */
void ww_put_text(FILE *out, const char *s);
/* The same as an argument of printf, tabs replaced: s itself if there is nothing to replace, else a copy, cut
 * off if it is long, that lives until the thread's eighth call from here. NULL gives "". */
const char *ww_shown(const char *s);

/* Writes a text that may stand between quotes in a gnuplot script, in a comment of one, and between double
 * quotes in its data: the above, and quotes, backquotes and backslashes, become '?'. */
void ww_put_gnuplot(FILE *out, const char *s);

/* Writes n bytes of text as a field of CSV (RFC 4180): in quotes if it holds a comma, a quote or a line break,
 * and with an apostrophe in front if a spreadsheet would take it for a formula: it begins with = + - or @, also
 * behind blanks, or with a tab or a line break. What is a number as a whole, "-1.5e3", is left as it is. */
void ww_put_csv(FILE *out, const char *s, size_t n);

#endif
