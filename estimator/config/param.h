/* param.h: parameters as rows.
 *
 * A parameter is one row: key, type, unit, bounds, default, help, and its place in a C struct. Reading
 * from JSON or from "key=value" text, checking, printing, help and documents all come from the rows.
 * Rows are constant; the struct that they describe belongs to the caller.
 */
#ifndef WW_CONFIG_PARAM_H
#define WW_CONFIG_PARAM_H

#include "../api/gpu.h"
#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include <math.h>

enum ww_param_type { WW_U32, WW_U64, WW_F64, WW_BOOL, WW_ENUM, WW_STR };

#define WW_STR_MAX 64
#define WW_REQUIRED ((double)NAN) /* default of a parameter that must be given */

struct ww_param {
    const char *key; /* dotted */
    enum ww_param_type type;
    const char *unit;     /* "" if none; for WW_ENUM the names, "a|b|c" */
    double min, max;      /* inclusive; both 0 for bool, enum and string */
    double def;           /* default; enum: index; bool: 0 or 1; WW_REQUIRED: none */
    const char *def_text; /* default of a WW_STR */
    const char *help;
    size_t offset; /* in the struct: uint32_t, uint64_t, double, bool, uint32_t (enum), char[WW_STR_MAX] */
};

#define WW_PARAM_U32(s, f, key, unit, min, max, def, help)                                                     \
    { key, WW_U32, unit, min, max, def, NULL, help, offsetof(struct s, f) }
#define WW_PARAM_U64(s, f, key, unit, min, max, def, help)                                                     \
    { key, WW_U64, unit, min, max, def, NULL, help, offsetof(struct s, f) }
#define WW_PARAM_F64(s, f, key, unit, min, max, def, help)                                                     \
    { key, WW_F64, unit, min, max, def, NULL, help, offsetof(struct s, f) }
#define WW_PARAM_BOOL(s, f, key, def, help)                                                                    \
    { key, WW_BOOL, "", 0, 0, def, NULL, help, offsetof(struct s, f) }
#define WW_PARAM_ENUM(s, f, key, names, def, help)                                                             \
    { key, WW_ENUM, names, 0, 0, def, NULL, help, offsetof(struct s, f) }
#define WW_PARAM_STR(s, f, key, def, help)                                                                     \
    { key, WW_STR, "", 0, 0, 0, def, help, offsetof(struct s, f) }

/* Index of `key` in rows, or -1. */
int ww_param_find(const struct ww_param *rows, size_t count, const char *key);
/* The row key nearest to an unknown one, or NULL if none is near. */
const char *ww_param_nearest(const struct ww_param *rows, size_t count, const char *key);
/* Sets every row of `object` to its default. Returns the number of rows that have none. */
size_t ww_param_defaults(const struct ww_param *rows, size_t count, void *object);
/* Sets one row from text, under its type and bounds. `where` goes into the error.
 * Errors: WW_INPUT. */
enum ww_code ww_param_set_text(const struct ww_param *row, void *object, const char *text, const char *where,
                               struct ww_error *error);
/* Sets one numeric, bool or enum row; value must be whole for integers. */
enum ww_code ww_param_set_number(const struct ww_param *row, void *object, double value, const char *where,
                                 struct ww_error *error);
/* Appends the value as it would stand in JSON (strings and enum names quoted; numbers in %.17g shortest). */
void ww_param_print_json(const struct ww_param *row, const void *object, struct ww_buf *out);
/* Appends the value as text for people and for "key=value". */
void ww_param_print_text(const struct ww_param *row, const void *object, struct ww_buf *out);
/* Appends the bounds as text ("1..1024", "a|b|c", "true|false"). */
void ww_param_print_bounds(const struct ww_param *row, struct ww_buf *out);
/* Name of value v of an enum row, copied into out[WW_STR_MAX]; false if out of range. */
bool ww_param_enum_name(const struct ww_param *row, uint32_t v, char *out);
/* Fills the public view of a row and its value in `object`; texts that do not fit end in "...". */
void ww_param_view_fill(const struct ww_param *row, const void *object, const char *source,
                        struct ww_param_view *view);
/* Shortest decimal text that reads back as the same double. */
void ww_print_double(double v, struct ww_buf *out);

#endif
