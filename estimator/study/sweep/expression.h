/* expression.h: whole-number expressions over a program's parameters. */
#ifndef WW_SWEEP_EXPRESSION_H
#define WW_SWEEP_EXPRESSION_H

#include "../../base/err.h"

/* The value of a name; false: there is no such name. */
typedef bool (*ww_expression_lookup)(const void *context, const char *name, int64_t *value);
/* Evaluates an expression such as "(n + TILE - 1) / TILE" or "x * y <= 1024 && (pad || x % 32 == 0)": 64-bit
 * whole numbers, decimal or 0x hexadecimal; names; unary + - !; * / %, + -, < <= > >=, == !=, &&, ||, a ? b : c
 * as in C; "and", "or", "not", "//" as in Python; min(a, b, ...), max(a, b, ...), ceil_div(a, b). Division
 * rounds towards 0 as in C, "//" and ceil_div down and up. What && || ? : do not take is not computed, but must
 * be right. Errors: WW_INPUT with the column: syntax, an unknown name, a division by 0, a value beyond 64 bits.
 */
enum ww_code ww_expression(const char *text, ww_expression_lookup lookup, const void *context,
                           const char *where, int64_t *value, struct ww_error *error);
/* Whether a text is a name that C takes for a macro: a letter or _, then letters, digits, _. */
bool ww_expression_is_name(const char *text);

#endif
