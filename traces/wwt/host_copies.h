/* host_copies.h: the section of the index that says when copies may run (../host_copy.h). */
#ifndef WW_WWT_HOST_COPIES_H
#define WW_WWT_HOST_COPIES_H

#include "../../estimator/base/buf.h"
#include "../host_copy.h"

/* As a writer gathers them. */
struct ww_wwt_host {
    struct ww_buf copies, launches;
    uint64_t copy_count, launch_count; /* launches: that wait for copies */
    uint64_t last_launch,
        next_launch; /* launches before the last copy; the one behind the last that has a row */
    bool over;       /* there were too many */
};

bool ww_wwt_has_host(const struct ww_wwt_host *h);
void ww_wwt_put_host(struct ww_buf *b, const struct ww_wwt_host *h);
void ww_wwt_forget_host(struct ww_wwt_host *h);

#endif
