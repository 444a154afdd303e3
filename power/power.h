/* power.h: joules from counters, by tables in the manner of GPUWattch and AccelWattch.
 *
 * A table is JSON: energy per event by component, leakage by component, constant power, DRAM energies,
 * each row with value, unit, uncertainty and source (power/tables/, docs/model/power.md).
 */
#ifndef WW_POWER_POWER_H
#define WW_POWER_POWER_H

#include "../estimator/result/result.h"
#include "../estimator/base/arena.h"
#include "../estimator/base/err.h"
#include "../estimator/config/gpu.h"
#include <stdio.h>

struct ww_power;
/* The file of the table of that name (or path ending in .json). Errors: WW_INPUT (there is none), WW_USAGE. */
enum ww_code ww_power_path(const char *name, char *path, size_t size, struct ww_error *error);
/* Loads the table of that name (or path ending in .json). *power is NULL with WW_OK if `required` is false
 * and there is none. Errors: WW_INPUT, WW_IO. */
enum ww_code ww_power_load(const char *name, bool required, struct ww_power **power, struct ww_error *error);
void ww_power_free(struct ww_power *power);
const char *ww_power_name(const struct ww_power *power);
/* Energy of a launch from its counters, cycles and time. */
void ww_power_launch(const struct ww_power *power, const struct ww_gpu_spec *gpu,
                     const struct ww_launch_result *launch, struct ww_energy *out);

/* The same from the launch's segments, each at its own clocks: `epoch` has a row for each of the launch's
 * epochs and all of them add up to *out. What depends on the mean share of active lanes or on which units the
 * kernel uses takes that of the whole launch. The launch's overhead counts with the first segment. */
void ww_power_segments(const struct ww_power *power, const struct ww_gpu_spec *gpu,
                       const struct ww_launch_result *launch, const struct ww_segment *segment, size_t count,
                       struct ww_epoch_energy *epoch, struct ww_energy *out);

/* Area of the memory structures that the table describes, in the shapes that the GPU gives them, by the laws of
 * scaling.h. False if it describes none: the area is not known. */
bool ww_power_area(const struct ww_power *power, const struct ww_gpu_spec *gpu, double *mm2);

/* A factor on the values of one component. */
struct ww_power_factor {
    double value, uncertainty; /* uncertainty: relative, of the rows that it is for */
    bool fitted;               /* false: value is 1, the rows stay as they are */
};
struct ww_power_factors {
    struct ww_power_factor dynamic[WW_COMPONENT_COUNT], steady[WW_COMPONENT_COUNT];
};
/* Writes the table as JSON with its values times the factors; `source` names what they were fitted to. The
 * caller looks at ferror(out). */
void ww_power_write(const struct ww_power *power, const struct ww_power_factors *by, const char *source,
                    FILE *out);

#endif
