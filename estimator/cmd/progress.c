/* Progress on a terminal, and Ctrl-C. */
#include "../base/escape.h"
#include "cmd.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define STEP 0.2 /* seconds between two updates */

/* A signal handler can only use a global. */
static volatile sig_atomic_t stop;

/* Chosen once, before a command begins. */
enum how { HOW_BAR, HOW_JSON, HOW_NONE };
static enum how how;

static void on_interrupt(int signal_number) {
    stop = 1;
    signal(signal_number, SIG_DFL); /* a second one ends the program */
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum ww_code ww_cmd_progress_mode(const char *mode, struct ww_error *error) {
    static const char *const names[] = {"bar", "json", "none"};
    for (int i = 0; i < 3; i++)
        if (strcmp(mode, names[i]) == 0) {
            how = (enum how)i;
            return WW_OK;
        }
    return ww_fail(error, WW_USAGE, "warpwatt: option --progress", "\"%.40s\": expected bar, json or none",
                   mode);
}

void ww_cmd_progress_begin(struct cmd_progress *p, const char *what, bool quiet) {
    *p = (struct cmd_progress){.what = what};
    p->quiet = how == HOW_NONE || (how == HOW_BAR && (quiet || !isatty(STDERR_FILENO)));
    p->start = p->last = p->begun = now();
    ww_eta_begin(&p->eta);
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* 1234567 as "1.23 M"; below 10 with what is behind the point, if it is a rate. */
static const char *scaled(double v, bool rate, char out[32]) {
    static const char *const prefix[] = {"", " k", " M", " G", " T"};
    size_t i = 0;
    while (v >= 1000 && i + 1 < sizeof prefix / sizeof prefix[0]) {
        v /= 1000;
        i++;
    }
    snprintf(out, 32, i || (rate && v < 10) ? "%.2f%s" : "%.0f%s", v, prefix[i]);
    return out;
}

/* "of 36 points": how many there are, 0 if that is not known, and their name. */
static uint64_t total_of(const char *unit, const char **name) {
    char *end;
    *name = unit;
    if (strncmp(unit, "of ", 3) != 0) return 0;
    uint64_t total = strtoull(unit + 3, &end, 10);
    if (*end != ' ') return 0;
    *name = end + 1;
    return total;
}

static double rate_of(const struct cmd_progress *p, double t) {
    return t > p->begun && p->done >= p->first ? (double)(p->done - p->first) / (t - p->begun) : 0;
}

static const char *clock_text(double seconds, char out[32]) {
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(out, 32, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, 32, "%lu:%02lu", s / 60, s % 60);
    return out;
}

static unsigned columns(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20 ? size.ws_col : 80;
}

/* "name  [####----]  42 %  15 of 36 points, 0.42/s, 0:30 left", as far as the terminal is wide. */
static void show_bar(const struct cmd_progress *p, double t) {
    enum { CELLS = 20 };
    char text[400], bar[2 * CELLS + 8] = "", a[32], b[32], c[32], percent[16] = "";
    const char *name;
    uint64_t total = total_of(p->unit, &name);
    double left = p->part >= 0 ? ww_eta_left(&p->eta) : -1;
    if (p->part >= 0) {
        int full = (int)(p->part * CELLS);
        snprintf(bar, sizeof bar, "[%.*s%.*s] ", full, "####################", CELLS - full,
                 "--------------------");
        snprintf(percent, sizeof percent, "%3.0f %%  ", floor(100 * p->part));
    }
    int n = snprintf(text, sizeof text, "%.60s: %s%s%s", ww_shown(p->what), bar, percent,
                     scaled((double)p->done, false, a));
    if (total) n += snprintf(text + n, sizeof text - (size_t)n, " of %s", scaled((double)total, false, b));
    n += snprintf(text + n, sizeof text - (size_t)n, " %.60s, %s/s", name, scaled(rate_of(p, t), true, c));
    if (left >= 0) snprintf(text + n, sizeof text - (size_t)n, ", %s left", clock_text(left, b));
    unsigned wide = columns() - 1;
    if (strlen(text) > wide) text[wide] = 0;
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
}

/* One line, one object (docs/reference/commands.md). */
static void show_json(const struct cmd_progress *p, double t, bool end) {
    const char *name;
    uint64_t total = total_of(p->unit, &name);
    double left = p->part >= 0 ? ww_eta_left(&p->eta) : -1;
    struct ww_jsonw w;
    ww_jsonw_begin(&w, stderr);
    ww_jsonw_open_flat(&w, NULL, '{');
    ww_jsonw_str(&w, "work", p->what);
    ww_jsonw_f64(&w, "part", p->part >= 0 ? p->part : (double)NAN);
    ww_jsonw_u64(&w, "done", p->done);
    if (total)
        ww_jsonw_u64(&w, "total", total);
    else
        ww_jsonw_null(&w, "total");
    ww_jsonw_str(&w, "unit", name);
    ww_jsonw_f64(&w, "per_second", rate_of(p, t));
    ww_jsonw_f64(&w, "seconds", t - p->start);
    ww_jsonw_f64(&w, "seconds_left", end ? 0 : left >= 0 ? left : (double)NAN);
    ww_jsonw_bool(&w, "end", end);
    ww_jsonw_close(&w, '}');
    ww_jsonw_end(&w, NULL);
    fflush(stderr);
}

/* Another piece of work begins: its name is another one, or less is done than before. */
static bool is_other(const struct cmd_progress *p, double part, uint64_t done, const char *unit) {
    return strcmp(unit, p->unit) != 0 || done < p->done || (part >= 0) != (p->part >= 0);
}

bool ww_cmd_progress_step(void *context, double part, uint64_t done, const char *unit) {
    struct cmd_progress *p = context;
    if (stop) return false;
    if (p->quiet) return true;
    double t = now();
    if (is_other(p, part, done, unit)) {
        ww_eta_begin(&p->eta);
        p->begun = t;
        p->first = done;
        snprintf(p->unit, sizeof p->unit, "%s", unit);
        p->part = part;
        if (part >= 0) ww_eta_add(&p->eta, t, part);
    }
    /* as much as before is done, but of more work than was known */
    if (part >= 0 && part < p->part) ww_eta_scale(&p->eta, part / p->part);
    p->part = part;
    p->done = done;
    if (t - p->last < STEP) return true;
    if (part >= 0) ww_eta_add(&p->eta, t, part);
    p->last = t;
    p->shown = how == HOW_BAR;
    if (how == HOW_JSON)
        show_json(p, t, false);
    else
        show_bar(p, t);
    return true;
}

enum ww_code ww_cmd_progress_end(struct cmd_progress *p, enum ww_code code, struct ww_error *error) {
    if (p->shown) fprintf(stderr, "\r\033[K");
    if (how == HOW_JSON && p->unit[0] && code == WW_OK) {
        if (p->part >= 0) p->part = 1;
        show_json(p, now(), true);
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (stop && code != WW_OK) return ww_fail(error, code, p->what, "interrupted; nothing was written");
    return code;
}

bool ww_cmd_interrupted(void) {
    return stop != 0;
}
