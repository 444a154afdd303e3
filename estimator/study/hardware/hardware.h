/* hardware.h: measurements of real GPUs: reading them, comparing estimates with them, models from them.
 *
 * What is read is hostile until it is checked: every key, type and bound of reports/schema/hardware.json is,
 * and files are limited to 16 MiB, memory to MEASURED_LIMIT.
 */
#ifndef WW_MEASURED_MEASURED_H
#define WW_MEASURED_MEASURED_H

#include "../../result/measured.h"
#include "../../base/arena.h"
#include "../../base/err.h"

/* Parses the kit's JSON of n bytes into *m, whose arena is ready. `where`: the file's name. WW_INPUT, WW_NOMEM.
 */
enum ww_code ww_measured_parse_json(const char *text, size_t n, const char *where, struct ww_measured *m,
                                    struct ww_error *error);
/* The same of a CSV of points (docs/reference/hardware.md): a heading, then lines; columns in any order. */
enum ww_code ww_measured_parse_csv(const char *text, size_t n, const char *where, struct ww_measured *m,
                                   struct ww_error *error);
/* Whether a text is what `ncu --csv` prints, and the points of it: elapsed cycles and durations of kernels.
 * Errors: as above, WW_INPUT if it has neither. */
bool ww_measured_is_ncu(const char *text, size_t n);
enum ww_code ww_measured_parse_ncu(const char *text, size_t n, const char *where, struct ww_measured *m,
                                   struct ww_error *error);
/* Cuts a line into cells in place; quotes as in RFC 4180, but no line breaks in them. False: a quote is open,
 * or there are more than `most`. */
bool ww_csv_cut(char *line, char **cell, size_t most, size_t *count);
/* The arena of it. */
struct ww_arena *ww_measured_arena(struct ww_measured *m);

/* The value of "key=value" in `parameters`; false if there is no such word. `out` holds `size` bytes. */
bool ww_measured_word(const char *parameters, const char *key, char *out, size_t size);
/* The same as a number. */
bool ww_measured_number(const char *parameters, const char *key, double *out);
/* The figure of that part, method and parameters; NULL if there is none. */
const struct ww_measured_figure *ww_measured_find(const struct ww_measured *m, const char *part,
                                                  const char *method, const char *parameters);

/* ---- statistics ---- */

/* How estimates agree with measurements over `count` pairs. NAN where a figure is not defined: the errors for
 * no pair, the correlations below two pairs or if one side does not vary. */
struct ww_agreement {
    size_t count;
    double mape;     /* mean of |estimate - measured| / measured */
    double median;   /* of the same */
    double bias;     /* mean of (estimate - measured) / measured */
    double pearson;  /* of the values */
    double spearman; /* of their ranks; equal values share the mean of their ranks */
};
/* measured[i] > 0. Errors: WW_NOMEM. */
enum ww_code ww_agreement_of(const double *measured, const double *estimate, size_t count,
                             struct ww_agreement *out, struct ww_error *error);

#endif
