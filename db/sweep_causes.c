/* Why points of a sweep are invalid: reasons that differ in numbers and settings only are one cause. */
#include "sweep.h"
#include "db.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 256      /* further ones count as one */
#define PATTERN 300     /* characters of a reason that are compared */
#define PREFIX "--set " /* a reason about the machine begins with all settings of its point */

struct group {
    char pattern[PATTERN];
    struct ww_sweep_cause cause;
};

/* The reason behind the settings of its point. */
static const char *without_settings(const char *reason) {
    while (strncmp(reason, PREFIX, strlen(PREFIX)) == 0) {
        const char *end = strchr(reason + strlen(PREFIX), ' ');
        if (!end) break;
        reason = end + 1;
    }
    return reason;
}

/* The same with "#" for each number, and for what stands in quotes. */
static void pattern_of(const char *reason, char out[PATTERN]) {
    size_t n = 0;
    bool quoted = false;
    for (const char *p = without_settings(reason); *p && n + 1 < PATTERN; p++) {
        if (*p == '"') quoted = !quoted;
        bool number = isdigit((unsigned char)*p) || (*p == '.' && n && out[n - 1] == '#');
        if (number || (quoted && *p != '"')) {
            if (!n || out[n - 1] != '#') out[n++] = '#';
        } else {
            out[n++] = *p;
        }
    }
    out[n] = 0;
}

static void add(struct group *group, size_t *count, const char *reason) {
    char pattern[PATTERN];
    size_t i = 0;
    pattern_of(reason, pattern);
    while (i < *count && strcmp(group[i].pattern, pattern) != 0) i++;
    if (i == GROUPS) i = GROUPS - 1;
    struct group *g = &group[i];
    if (i == *count) {
        ++*count;
        memcpy(g->pattern, pattern, sizeof pattern);
        snprintf(g->cause.reason, sizeof g->cause.reason, "%s", reason);
    }
    g->cause.points++;
}

static int by_points(const void *a, const void *b) {
    uint64_t x = ((const struct group *)a)->cause.points, y = ((const struct group *)b)->cause.points;
    return x == y  ? strcmp(((const struct group *)a)->pattern, ((const struct group *)b)->pattern)
           : x < y ? 1
                   : -1;
}

enum ww_code ww_db_sweep_causes(struct ww_db *db, const struct ww_db_sweep *sweep,
                                struct ww_sweep_cause cause[WW_SWEEP_CAUSES], uint64_t *causes,
                                struct ww_error *error) {
    struct ww_select s;
    size_t count = 0;
    struct group *group = calloc(GROUPS, sizeof *group);
    *causes = 0;
    if (!group) return ww_fail_nomem(error, "a sweep");
    enum ww_code code = ww_select_open(
        &s, db, "SELECT reason FROM sweep_point WHERE sweep_id = ?1 AND reason <> '' ORDER BY ord", sweep->id,
        error);
    while (code == WW_OK && ww_select_row(&s)) {
        const unsigned char *reason = sqlite3_column_text(s.stmt, 0);
        add(group, &count, reason ? (const char *)reason : "");
    }
    if (code == WW_OK) code = ww_select_close(&s);
    qsort(group, count, sizeof *group, by_points);
    for (size_t i = 0; i < count && i < WW_SWEEP_CAUSES; i++) cause[i] = group[i].cause;
    *causes = count;
    free(group);
    return code;
}
