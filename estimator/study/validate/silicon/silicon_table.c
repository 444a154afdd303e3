/* Reads reports/silicon.csv, which the build puts into the library. */
#include "silicon_int.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char ww_silicon_csv[];
extern const size_t ww_silicon_csv_size;

enum { FIELDS = 10, LONGEST = 512 };
static const char heading[] = "suite,program,launch,cycles,warp_instructions,l1_hit_percent,l2_hit_percent,"
                              "dram_read_bytes,dram_write_bytes,accelsim_cycles";

static enum ww_code refuse(const char *name, unsigned line, const char *text, struct ww_error *error) {
    char where[320];
    snprintf(where, sizeof where, "%.200s:%u", name, line);
    return ww_fail(error, WW_INPUT, where, "%s", text);
}

/* Empty: NAN. False if it is no number, or below 0. */
static bool number(const char *text, double *out) {
    char *end;
    *out = NAN;
    if (!*text) return true;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out) && *out >= 0;
}

/* Cuts a copy of the line at its commas; the number of fields. */
static int split(char *line, char *field[FIELDS]) {
    int n = 0;
    for (char *at = line; n < FIELDS; n++) {
        field[n] = at;
        at = strchr(at, ',');
        if (!at) return n + 1;
        *at++ = 0;
    }
    return FIELDS + 1;
}

static bool read_row(char *line, struct ww_silicon_row *row) {
    char *f[FIELDS];
    double launch;
    if (split(line, f) != FIELDS || !*f[0] || !*f[1]) return false;
    *row = (struct ww_silicon_row){.suite = f[0], .program = f[1], .launch = -1};
    row->ours = (struct ww_silicon_figures){NAN, NAN, NAN, NAN, NAN, NAN};
    bool good = number(f[2], &launch) && !(launch > 1e9) && number(f[3], &row->hw.cycles) &&
                number(f[4], &row->hw.warp_instructions) && number(f[5], &row->hw.l1_hit_percent) &&
                number(f[6], &row->hw.l2_hit_percent) && number(f[7], &row->hw.dram_read_bytes) &&
                number(f[8], &row->hw.dram_write_bytes) && number(f[9], &row->accelsim_cycles);
    if (good && !isnan(launch)) row->launch = (long)launch;
    return good && row->hw.cycles > 0 && row->hw.warp_instructions > 0;
}

static bool is_twice(const struct ww_silicon_row *row, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (row[i].launch == row[count].launch && strcmp(row[i].program, row[count].program) == 0 &&
            strcmp(row[i].suite, row[count].suite) == 0)
            return true;
    return false;
}

enum ww_code ww_silicon_parse(const char *text, size_t size, const char *where, struct ww_arena *arena,
                              struct ww_silicon_row **row, size_t *count, struct ww_error *error) {
    size_t lines = 1, n = 0;
    unsigned line = 0;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    struct ww_silicon_row *list = ww_arena_array(arena, lines, sizeof *list);
    if (!list) return ww_fail_nomem(error, where);
    for (const char *at = text, *stop; at < text + size; at = stop + 1) {
        for (stop = at; stop < text + size && *stop != '\n';) stop++;
        size_t length = (size_t)(stop - at);
        char *copy = length < LONGEST ? ww_arena_alloc(arena, length + 1) : NULL;
        if (length >= LONGEST) return refuse(where, line + 1, "the line is too long", error);
        if (!copy) return ww_fail_nomem(error, where);
        memcpy(copy, at, length);
        copy[length] = 0;
        if (length && copy[length - 1] == '\r') copy[length - 1] = 0;
        if (++line == 1) {
            if (strcmp(copy, heading) != 0) return refuse(where, line, "another heading was expected", error);
            continue;
        }
        if (!read_row(copy, &list[n]))
            return refuse(where, line, "10 fields were expected, counts from the third on", error);
        if (is_twice(list, n)) return refuse(where, line, "this launch has a line already", error);
        list[n++].line = line;
    }
    *row = list;
    *count = n;
    return WW_OK;
}

enum ww_code ww_silicon_read(struct ww_arena *arena, struct ww_silicon_row **row, size_t *count,
                             struct ww_error *error) {
    enum ww_code code =
        ww_silicon_parse(ww_silicon_csv, ww_silicon_csv_size, "reports/silicon.csv", arena, row, count, error);
    if (code == WW_INPUT && error) error->code = WW_INTERNAL; /* not the user's input */
    return code == WW_INPUT ? WW_INTERNAL : code;
}
