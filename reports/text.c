/* Text for people: numbers with SI prefixes and aligned tables. */
#include "../estimator/base/escape.h"
#include "text.h"
#include "../estimator/base/err.h"
#include "../estimator/base/jsonw.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *si(double v, const char *unit, const char *sign, char out[32]) {
    static const char *const prefixes[] = {"p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    enum { PLAIN = 4, LAST = 10 };
    int i = PLAIN;
    double a = v;
    if (!*unit && v < 1000) { /* a plain number needs no prefix */
        snprintf(out, 32, "%s%.4g", sign, v);
        return out;
    }
    while (a > 0 && a < 0.9995 && i > 0) a *= 1000, i--;
    while (a >= 999.5 && i < LAST) a /= 1000, i++;
    int decimals = a >= 99.95 ? 1 : a >= 9.995 ? 2 : 3;
    bool whole = a == floor(a) && i == PLAIN;
    snprintf(out, 32, "%s%.*f%s%s%.12s", sign, whole ? 0 : decimals, a, *unit || i != PLAIN ? " " : "",
             prefixes[i], unit);
    return out;
}

const char *ww_si(double v, const char *unit, char out[32]) {
    if (!(v >= 0)) return strcpy(out, "-");
    return si(v, unit, "", out);
}

/* Below the least prefix. */
#define NOTHING 5e-16

const char *ww_si_signed(double v, const char *unit, char out[32]) {
    if (!isfinite(v)) return strcpy(out, "-");
    if (fabs(v) < NOTHING) v = 0; /* what rounding leaves of two numbers that are the same */
    return si(fabs(v), unit, v < 0 ? "-" : v > 0 ? "+" : "", out);
}

const char *ww_percent(double part, char out[32]) {
    if (!(part >= 0)) return strcpy(out, "-");
    snprintf(out, 32, "%.1f %%", 100 * part);
    return out;
}

const char *ww_grouped(uint64_t v, char out[32]) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, v), used = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = 0;
    return out;
}

const char *ww_plain(double v, int digits, char out[32]) {
    if (!(v >= 0)) return strcpy(out, "-");
    int whole = v >= 1 ? (int)log10(v) + 1 : 1;
    snprintf(out, 32, "%.*f", digits > whole ? digits - whole : 0, v);
    return out;
}

void ww_clean_text(const char *s, char *out, size_t size) {
    size_t n = strlen(s), used = 0, keep = size - 1, head = n, tail = n;
    if (n > keep) {
        head = (keep - 3) / 2;
        tail = n - (keep - 3 - head);
        while (head > 0 && ((unsigned char)s[head] & 0xc0) == 0x80) head--;
        while (tail < n && ((unsigned char)s[tail] & 0xc0) == 0x80) tail++;
    }
    for (size_t i = 0; i < n;) {
        if (i == head && tail > head) {
            memcpy(out + used, "...", 3);
            used += 3;
            i = tail;
            continue;
        }
        bool shows;
        size_t length = ww_text_next(s + i, n - i, &shows);
        if (!shows) {
            out[used++] = '?';
        } else {
            memcpy(out + used, s + i, length);
            used += length;
        }
        i += length;
    }
    out[used] = 0;
}

void ww_grid_add(struct ww_grid *g, const char *text) {
    if (g->failed) return;
    if (g->count == g->capacity) {
        size_t capacity = g->capacity ? g->capacity * 2 : 64;
        struct ww_grid_cell *cell = realloc(g->cell, capacity * sizeof *cell);
        if (!cell) {
            g->failed = true;
            return;
        }
        g->cell = cell;
        g->capacity = capacity;
    }
    ww_clean_text(text, g->cell[g->count++].text, sizeof g->cell->text);
}

static int width_of(const char *s) {
    int n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void print_cell(const struct ww_grid *g, size_t i, int width, FILE *out) {
    unsigned column = (unsigned)(i % g->columns);
    const char *text = g->cell[i].text;
    int pad = width - width_of(text);
    bool left = g->left >> column & 1, last = column + 1 == g->columns;
    if (last && !*text) {
        putc('\n', out);
        return;
    }
    fputs("  ", out);
    if (!left) fprintf(out, "%*s", pad, "");
    fputs(text, out);
    if (left && !last) fprintf(out, "%*s", pad, "");
    if (last) putc('\n', out);
}

enum ww_code ww_grid_print(struct ww_grid *g, FILE *out, struct ww_error *error) {
    enum { COLUMNS_MAX = 32 };
    int width[COLUMNS_MAX] = {0};
    bool failed = g->failed || g->columns > COLUMNS_MAX;
    for (size_t i = 0; i < g->count && !failed; i++) {
        int w = width_of(g->cell[i].text);
        if (w > width[i % g->columns]) width[i % g->columns] = w;
    }
    for (size_t i = 0; i < g->count && !failed; i++) print_cell(g, i, width[i % g->columns], out);
    ww_grid_free(g);
    return failed ? ww_fail_nomem(error, "a table") : WW_OK;
}

void ww_grid_free(struct ww_grid *g) {
    free(g->cell);
    g->cell = NULL;
    g->count = g->capacity = 0;
}

enum ww_code ww_out_check(FILE *out, struct ww_error *error) {
    if (fflush(out) == 0 && !ferror(out)) return WW_OK;
    return ww_fail(error, WW_IO, "", "the output could not be written: %s", strerror(errno));
}
