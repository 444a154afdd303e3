/* eta.h: how long work still takes, from how far it was at what times.
 *
 * The caller adds (seconds, part of 1) as the work goes on; parts do not fall. Time is counted from the first
 * one that was added, so that what comes before (reading, recording) does not count. The rate is a weighted
 * geometric mean of that since the beginning and that of the last half of the time: the first is steady, the
 * second follows a change.
 */
#ifndef WW_BASE_ETA_H
#define WW_BASE_ETA_H

#include <stddef.h>

enum { WW_ETA_SAMPLES = 96 };

struct ww_eta {
    double at[WW_ETA_SAMPLES], part[WW_ETA_SAMPLES];
    size_t count;
};

void ww_eta_begin(struct ww_eta *e);
void ww_eta_add(struct ww_eta *e, double seconds, double part);
/* The total work has turned out larger (by < 1): all parts added so far are multiplied by `by`. */
void ww_eta_scale(struct ww_eta *e, double by);
/* Seconds left after the last sample; < 0: not known yet. */
double ww_eta_left(const struct ww_eta *e);

#endif
