/* Progress on a terminal, and Ctrl-C. */
#include "../base/escape.h"
#include "cmd.h"
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* The one mutable global of the program: a signal handler can reach nothing else. */
static volatile sig_atomic_t stop;

static void on_interrupt(int signal_number) {
    stop = 1;
    signal(signal_number, SIG_DFL); /* a second one ends the program */
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void ww_cmd_progress_begin(struct cmd_progress *p, const char *what, bool quiet) {
    *p = (struct cmd_progress){.what = what, .quiet = quiet || !isatty(STDERR_FILENO)};
    p->start = p->last = now();
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* 1234567 as "1.23 M". */
static void scaled(double v, char out[32]) {
    static const char *const prefix[] = {"", " k", " M", " G", " T"};
    size_t i = 0;
    while (v >= 1000 && i + 1 < sizeof prefix / sizeof prefix[0]) {
        v /= 1000;
        i++;
    }
    snprintf(out, 32, i ? "%.2f%s" : "%.0f%s", v, prefix[i]);
}

bool ww_cmd_progress_step(void *context, double part, uint64_t done, const char *unit) {
    struct cmd_progress *p = context;
    if (stop) return false;
    if (p->quiet) return true;
    double t = now();
    if (t - p->last < 0.2) return true;
    p->last = t;
    p->shown = true;
    if (part < 0 && done == 0) {
        fprintf(stderr, "\r\033[K%s: waiting for %s", ww_shown(p->what), unit);
        fflush(stderr);
        return true;
    }
    char amount[32], rate[32];
    double spent = t - p->start;
    scaled((double)done, amount);
    scaled((double)done / spent, rate);
    fprintf(stderr, "\r\033[K%s: ", ww_shown(p->what));
    if (part >= 0) fprintf(stderr, "%3.0f %%  ", 100 * part);
    fprintf(stderr, "%s %s, %s/s", amount, unit, rate);
    if (part > 0.001) {
        unsigned long left = (unsigned long)(spent / part * (1 - part) + 0.5);
        fprintf(stderr, ", %lu:%02lu left", left / 60, left % 60);
    }
    fflush(stderr);
    return true;
}

enum ww_code ww_cmd_progress_end(struct cmd_progress *p, enum ww_code code, struct ww_error *error) {
    if (p->shown) fprintf(stderr, "\r\033[K");
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (stop && code != WW_OK) return ww_fail(error, code, p->what, "interrupted; nothing was written");
    return code;
}

bool ww_cmd_interrupted(void) {
    return stop != 0;
}
