/* validate.h: suites that measure what a publication states and compare the two.
 *
 * A suite is one function in a folder of its own, ../NAME/validate_NAME.c, and one line in validate.def. It
 * measures in this very call (a stored figure would say nothing of the program at hand) and adds one row for
 * each figure. What the publications state is data, reports/targets.csv; no suite has such a figure in its
 * code. A suite may include headers of every layer but the program's. It prints nothing.
 */
#ifndef WW_VALIDATE_VALIDATE_H
#define WW_VALIDATE_VALIDATE_H

#include "../../../api/validate.h"
#include "../../../base/arena.h"
#include "../../../base/err.h"

/* A published figure: a line of reports/targets.csv. */
struct ww_target {
    const char *id;
    const char *paper, *where; /* publication, and figure, table or section in it */
    const char *machine, *workload, *metric;
    const char *text; /* the figure as the file has it, "" if the publication states none */
    double value;     /* NAN if the text is no number */
    const char *unit; /* "struct": the figure describes a structure in words */
    const char *note;
};

/* Reads the targets that the library carries. They live in the arena. Errors: WW_INTERNAL (the file is not as
 * described: with line), WW_NOMEM. */
enum ww_code ww_targets_read(struct ww_arena *arena, const struct ww_target **target, size_t *count,
                             struct ww_error *error);
/* The same from any text of `size` bytes, `where` for errors: comma-separated values (RFC 4180) with the
 * heading id,paper,where,machine,workload,metric,value,unit,note. Errors: WW_INPUT with line (fields missing,
 * an id twice or empty), WW_NOMEM. */
enum ww_code ww_targets_parse(const char *text, size_t size, const char *where, struct ww_arena *arena,
                              const struct ww_target **target, size_t *count, struct ww_error *error);

/* How far ours may lie from the paper's. */
enum ww_validate_test {
    WW_VALIDATE_RELATIVE, /* |ours - paper| <= tolerance * |paper| */
    WW_VALIDATE_ABSOLUTE, /* |ours - paper| <= tolerance, in the row's unit; 0: exact */
    WW_VALIDATE_AT_LEAST, /* ours >= paper - tolerance */
    WW_VALIDATE_AT_MOST,  /* ours <= paper + tolerance */
    WW_VALIDATE_TEST_COUNT
};

struct ww_validate_row {
    const char *id;         /* of the target; unique in the set */
    const char *what;       /* one line: GPU, workload, metric */
    double ours, paper;     /* NAN: not measured; not stated */
    const char *ours_text;  /* rows of structure: both texts in place of the numbers, else NULL */
    const char *paper_text; /* (NULL here and not above: the publication states none) */
    const char *unit;       /* "" if there is none */
    enum ww_validate_test test;
    double tolerance; /* as `test` says, of what the suite's documentation names */
    bool uncounted;   /* informs only, although the publication states a figure */
    const char *why;  /* "" or what explains the deviation, or why the row is not counted */
    /* filled in by ww_validate_add: */
    double deviation; /* (ours - paper) / paper; NAN for texts, if either is NAN, or paper is 0 */
    bool within;      /* the test holds; texts: they are equal. Never where a side is missing. */
    bool counted;     /* the publication states a figure, and `uncounted` is not set */
};

/* A growing set of rows. Owns copies of all strings; freed as a whole. */
struct ww_validation {
    const char *suite;
    struct ww_validate_row *row;
    size_t count, capacity;
    const struct ww_target *target;
    size_t target_count;
    struct ww_arena arena;
};

/* Makes an empty set that knows the library's targets. Free with ww_validation_free, also after an error. */
enum ww_code ww_validation_init(struct ww_validation *v, const char *suite, struct ww_error *error);
void ww_validation_clear(struct ww_validation *v);
/* NULL if there is none. */
const struct ww_target *ww_target_find(const struct ww_validation *v, const char *id);

/* Adds a copy of the row and computes what the row says. Errors: WW_INTERNAL (id twice), WW_NOMEM. */
enum ww_code ww_validate_add(struct ww_validation *v, const struct ww_validate_row *row,
                             struct ww_error *error);
/* Adds what was measured for a target: texts, unit and the paper's figure come from it. `why` may be NULL.
 * Errors: as above, WW_INTERNAL (no such target). */
enum ww_code ww_validate_add_number(struct ww_validation *v, const char *id, double ours,
                                    enum ww_validate_test test, double tolerance, const char *why,
                                    struct ww_error *error);
/* The same for a target of structure: `ours` is text in the words of the target. */
enum ww_code ww_validate_add_text(struct ww_validation *v, const char *id, const char *ours, const char *why,
                                  struct ww_error *error);

/* A suite's function. It calls ww_validate_step between measurements. Errors: those of what it measures with;
 * a figure that cannot be measured is a row with NAN and a reason, no error. */
typedef enum ww_code (*ww_validate_suite_fn)(struct ww_validation *v, const struct ww_validate_options *options,
                                             struct ww_error *error);
/* Shows progress: `done` of `all` measurements. Errors: WW_FAIL (the user asked to stop). */
enum ww_code ww_validate_step(const struct ww_validate_options *options, uint64_t done, uint64_t all,
                              struct ww_error *error);

#define X(name, help)                                                                                          \
    enum ww_code ww_validate_suite_##name(struct ww_validation *v, const struct ww_validate_options *options,  \
                                          struct ww_error *error);
#include "validate.def"
#undef X

#endif
