/* How long work still takes. */
#include "eta.h"
#include <math.h>

#define RECENT 0.4      /* weight of the recent rate, */
#define RECENT_TIME 0.5 /* which is that of so much of the time */

void ww_eta_begin(struct ww_eta *e) {
    e->count = 0;
}

/* Every second one goes when there is no more room; the first and the last stay. */
static void thin(struct ww_eta *e) {
    size_t n = 0;
    for (size_t i = 0; i < e->count; i++)
        if (i % 2 == 0 || i + 1 == e->count) {
            e->at[n] = e->at[i];
            e->part[n++] = e->part[i];
        }
    e->count = n;
}

void ww_eta_add(struct ww_eta *e, double seconds, double part) {
    if (e->count == WW_ETA_SAMPLES) thin(e);
    e->at[e->count] = seconds;
    e->part[e->count++] = part;
}

void ww_eta_scale(struct ww_eta *e, double by) {
    for (size_t i = 0; i < e->count; i++) e->part[i] *= by;
}

static double rate_since(const struct ww_eta *e, size_t i) {
    size_t last = e->count - 1;
    double spent = e->at[last] - e->at[i];
    return spent > 0 ? (e->part[last] - e->part[i]) / spent : 0;
}

double ww_eta_left(const struct ww_eta *e) {
    if (e->count < 2) return -1;
    size_t last = e->count - 1, recent = last - 1;
    double from = e->at[last] - RECENT_TIME * (e->at[last] - e->at[0]);
    while (recent > 0 && e->at[recent] > from) recent--;
    double whole = rate_since(e, 0), late = rate_since(e, recent);
    if (!(whole > 0)) return -1;
    /* work that stands still for a while has no recent rate */
    double rate = late > whole / 16 ? pow(whole, 1 - RECENT) * pow(late, RECENT) : whole / 4;
    return (1 - e->part[last]) / rate;
}
