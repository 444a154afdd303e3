/* power_table.h: a power table after loading. Private to power/. Immutable once loaded.
 *
 *   events       energy of one event: counter x value, into one component (dynamic)
 *   static       watts that flow for as long as the launch, an active SM, or an idle SM lasts
 *   lane_model   AccelWattch's static power under divergence: chip watts with one lane per warp active, and
 *                the watts that each further lane adds, by which units the kernel uses
 */
#ifndef WW_POWER_TABLE_H
#define WW_POWER_TABLE_H

#include "../estimator/config/param.h"
#include "power.h"

enum power_unit { POWER_PJ, POWER_NJ };
enum power_per { POWER_PER_GPU, POWER_PER_ACTIVE_SM, POWER_PER_IDLE_SM };

/* Units that a lane-model category names, as bits. */
enum {
    POWER_USES_INT = 1,
    POWER_USES_FP = 2,
    POWER_USES_DP = 4,
    POWER_USES_SFU = 8,
    POWER_USES_TENSOR = 16,
    POWER_USES_TEX = 32
};

struct power_event {
    char component[WW_STR_MAX], event[WW_STR_MAX];
    uint32_t unit;
    double value;
    bool by_lanes;      /* scaled by the launch's mean share of active lanes */
    double uncertainty; /* relative, one standard deviation or half the spread of the sources */
    const char *source;
    /* resolved */
    enum ww_component to;
    enum ww_counter counter;
    double joules; /* per event */
};

struct power_static {
    char component[WW_STR_MAX];
    uint32_t per;
    double value; /* W */
    double uncertainty;
    const char *source;
    enum ww_component to;
};

struct power_lane {
    char component[WW_STR_MAX], uses[WW_STR_MAX];
    double first_lane, add_lane; /* W of the whole chip */
    double uncertainty;
    const char *source;
    enum ww_component to;
    uint32_t mask; /* POWER_USES_*; 0: the default category */
};

struct ww_power {
    struct ww_arena arena;
    const char *name, *description;
    struct power_event *event;
    size_t event_count;
    struct power_static *steady;
    size_t steady_count;
    struct power_lane *lane;
    size_t lane_count;
};

#endif
