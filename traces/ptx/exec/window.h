/* window.h: the window of resident CTAs of a launch, for every executor.
 *
 * CTAs take turns, so that one may wait for another. New ones begin in order when others finish, as long as
 * the window's state stays small (less so for a grid that fits as a whole), or when all residents only wait.
 * While the recorded streams of the window take more than two thirds of what is allowed only the oldest CTA
 * runs, unless it waits. */
#ifndef WW_TRACES_PTX_WINDOW_H
#define WW_TRACES_PTX_WINDOW_H

#include "../../../estimator/base/err.h"

#define WW_TURN 256u /* warp instructions of a warp's turn */
/* Of the first turn after a barrier. Each warp of the CTA gets it before any warp runs on to its next barrier:
 * on a GPU, what all warps read directly after a barrier is read before the first of them writes it anew. */
#define WW_TURN_RELEASED 16u

/* What an executor does with a CTA. */
struct ww_cta_ops {
    void *(*begin)(void *run, uint64_t index); /* NULL: no memory */
    void (*end)(void *cta);                    /* frees it */
    bool (*turn)(void *cta);                   /* one of each warp; true if some lane did more than wait */
    bool (*is_done)(const void *cta);          /* all its warps have ended */
    enum ww_code (*record)(void *cta, struct ww_error *error);
    void (*stuck)(void *cta, const char *text); /* fails the run at the CTA's first warp */
};

/* A launch as the window sees it. The executor's turns change what the pointers show. */
struct ww_window_run {
    const struct ww_cta_ops *ops;
    void *run;
    const char *kernel;
    uint64_t launch, cta_count; /* launch: its number, for progress */
    bool together;              /* a cooperative grid: all CTAs are resident, as on the device */
    const uint64_t *state_bytes, *stream_bytes; /* of all resident CTAs */
    uint64_t stream_limit;                      /* bytes of streams that are an error */
    const bool *failed;
    const enum ww_code *code;
    ww_progress_fn progress; /* or NULL */
    void *progress_context;
};

/* Runs all CTAs. Errors: what the executor says; WW_EXEC (CTAs wait for ever, or for others that have no room),
 * WW_NOMEM, WW_FAIL (stopped). */
enum ww_code ww_window_run(const struct ww_window_run *run, struct ww_error *error);

#endif
