/* Reads reports/bands.csv, which the build puts into the library and scripts/silicon-bands.py writes. */
#include "bands.h"
#include <stdio.h>
#include <string.h>

extern const char ww_bands_csv[];
extern const size_t ww_bands_csv_size;

size_t ww_bands_of(const char *gpu, struct ww_band band[WW_BANDS]) {
    const char *end = ww_bands_csv + ww_bands_csv_size;
    size_t n = 0, length = strlen(gpu);
    for (const char *at = ww_bands_csv, *stop; at < end && n < WW_BANDS; at = stop + 1) {
        struct ww_band b = {0};
        for (stop = at; stop < end && *stop != '\n';) stop++;
        if ((size_t)(stop - at) <= length || strncmp(at, gpu, length) != 0 || at[length] != ',') continue;
        if (sscanf(at + length, ",%lf,%lf,%u,%u,%lf,%lf,%lf,%15[0-9-],%31[^,\n]", &b.from_cycles, &b.to_cycles,
                   &b.programs, &b.launches, &b.error, &b.bias, &b.p90, b.date, b.of) != 9)
            continue;
        b.error /= 100, b.bias /= 100, b.p90 /= 100;
        band[n++] = b;
    }
    return n;
}

const char *ww_band_name(const struct ww_band *band) {
    if (strcmp(band->of, "launches") != 0) return band->of;
    if (band->from_cycles < 1) return "below 10,000 cycles";
    return band->to_cycles > 0 ? "10,000 to 100,000 cycles" : "100,000 cycles and more";
}
