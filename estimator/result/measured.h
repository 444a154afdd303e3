/* measured.h: what was measured on a real GPU, in memory.
 *
 * Ownership: ww_measured_free frees it with all its texts. Each figure has its unit.
 */
#ifndef WW_MEASURED_H
#define WW_MEASURED_H

#include "../base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A microbenchmark's figure, or a power loop's. */
struct ww_measured_figure {
    const char *part;       /* "micro" or "power" */
    const char *method;     /* docs/reference/hardware.md lists them */
    const char *parameters; /* words "key=value" */
    const char *unit;
    double median, low, high; /* of the repetitions; low and high: quartiles */
    uint64_t count;
};

/* What is compared with estimates: of one launch, or of a whole workload or trace. */
enum ww_metric { WW_METRIC_TIME, WW_METRIC_CYCLES, WW_METRIC_POWER, WW_METRIC_ENERGY, WW_METRIC_COUNT };

#define WW_ALL_LAUNCHES UINT32_MAX

struct ww_measured_point {
    const char *workload;   /* a built-in workload, or the path of a trace that ends in .wwt */
    const char *parameters; /* words "key=value" */
    uint64_t seed;
    uint32_t launch;            /* WW_ALL_LAUNCHES: of all together */
    const char *kernel;         /* "" if not known */
    uint32_t grid[3], block[3]; /* of the launch, as the profiler reports them; 0 if not known */
    enum ww_metric metric;
    double value, low, high; /* s, SM cycles, W or J; low and high: quartiles, or the value */
    uint64_t count;          /* repetitions, 0 if not known */
    bool verified;           /* false: the output was wrong, so that the figure means nothing */
};

struct ww_measured {
    const char *source; /* the file's name as given */
    const char *hash;   /* of its bytes, hexadecimal */
    const char *gpu, *compute_capability, *driver;
    const char *gpu_json; /* all properties, one JSON object */
    const char *ended;    /* of the last run of the kit, UTC; "" if not known */
    uint32_t sms;         /* 0: not known, as are the rest */
    uint64_t l2_bytes, memory_clock_khz, memory_bus_bits;
    bool quick; /* no measurement: made with the kit's --quick */
    struct ww_measured_figure *figure;
    size_t figure_count;
    struct ww_measured_point *point;
    size_t point_count;
    void *arena; /* the library's */
};

#ifdef __cplusplus
extern "C" {
#endif

/* An empty one; NULL: no memory. */
WW_API struct ww_measured *ww_measured_new(void);
WW_API void ww_measured_free(struct ww_measured *measured);
/* "time_s", "cycles", "power_w", "energy_j"; NULL if out of range. */
WW_API const char *ww_metric_name(enum ww_metric metric);

#ifdef __cplusplus
}
#endif

#endif
