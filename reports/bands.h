/* bands.h: how far estimates of a GPU have been from hardware, by size of the launch and by kind of
 * microbenchmark (reports/bands.csv). */
#ifndef WW_REPORTS_BANDS_H
#define WW_REPORTS_BANDS_H

#include <stddef.h>

enum { WW_BANDS = 12 };

struct ww_band {
    char of[32];                   /* "launches", or what microbenchmarks measured: "latency" */
    double from_cycles, to_cycles; /* of the measured launches; to 0: any size */
    unsigned programs, launches;   /* of microbenchmarks: curves, and points of them */
    double error, bias, p90;       /* parts of what was measured */
    char date[16];
};

/* How the columns go together: a program with many launches weighs in the last one only. */
#define WW_BANDS_LEGEND                                                                                        \
    "mean error and bias of launches: each program counts once; 9 of 10: each point counts once, so that it "  \
    "can be below the mean"

/* The bands of the model called `gpu`; 0: its estimates have not been compared with hardware. */
size_t ww_bands_of(const char *gpu, struct ww_band band[WW_BANDS]);
/* "below 10,000 cycles"; of microbenchmarks what they measured. */
const char *ww_band_name(const struct ww_band *band);

#endif
