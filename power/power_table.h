/* power_table.h: a power table after loading. Private to power/. Immutable once loaded.
 *
 *   events       energy of one event: counter x value, into one component (dynamic)
 *   static       watts that flow for as long as the launch, an active SM, or an idle SM lasts
 *   lane_model   AccelWattch's static power under divergence: chip watts with one lane per warp active, and
 *                the watts that each further lane adds, by which units the kernel uses
 *   structures   shapes of memory structures that the values hold for; the laws of scaling.h give other shapes
 *   domains      clock domains: nominal clock, voltage against frequency, leakage against temperature
 */
#ifndef WW_POWER_TABLE_H
#define WW_POWER_TABLE_H

#include "../estimator/result/result.h"
#include "../estimator/config/param.h"
#include "power.h"
#include "scaling.h"

enum power_unit { POWER_PJ, POWER_NJ };
enum power_kind { POWER_FIXED, POWER_LEAKAGE, POWER_CLOCK, POWER_STANDBY };
enum power_domain { POWER_DOMAIN_SM, POWER_DOMAIN_L2, POWER_DOMAIN_DRAM, POWER_DOMAIN_COUNT };
enum power_scales { POWER_SCALES_NO, POWER_SCALES_REGISTERS, POWER_SCALES_WARPS };
enum power_per {
    POWER_PER_GPU,
    POWER_PER_ACTIVE_SM,
    POWER_PER_IDLE_SM,
    POWER_PER_STALLED_SM,
    POWER_PER_DMA_ENGINE
};

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
    enum ww_counter less; /* what of the counter is no such event; the same counter: nothing */
    double joules;        /* per event */
};

struct power_static {
    char component[WW_STR_MAX];
    uint32_t per, kind, scales;
    double value;    /* W */
    double at;       /* of what it scales with, for `value` */
    double area_mm2; /* of a unit that not every GPU has; 0: not known */
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

/* What the structures of the table's own GPU are like. */
enum power_structure_name {
    POWER_S_REGFILE,
    POWER_S_SHARED,
    POWER_S_L1,
    POWER_S_L2,
    POWER_S_TEXTURE,
    POWER_S_CONSTANT,
    POWER_S_ICACHE,
    POWER_S_L1_MSHR,
    POWER_S_L1_QUEUE,
    POWER_S_L2_MSHR,
    POWER_S_COUNT
};

struct power_structure {
    char component[WW_STR_MAX]; /* that its energy belongs to */
    char event[WW_STR_MAX];     /* empty: all events of the component scale with it; else searches of a queue */
    char leaks_in[WW_STR_MAX];  /* component that its leakage stands in */
    uint32_t name, kind;
    double bytes; /* of one copy, all banks */
    double row_bytes, ways;
    uint32_t banks, copies; /* copies: 0 for one in each SM */
    double node_nm, uncertainty;
    const char *source;
    enum ww_component to, from;
    enum ww_counter counter;
};

struct power_clock {
    uint32_t domain;
    double mhz;                  /* at nominal voltage */
    double slope;                /* relative voltage for relative frequency */
    double min_volts, max_volts; /* relative to nominal */
    double celsius;              /* that the leakage rows hold for */
    double double_celsius;       /* rise that doubles leakage; 0: leakage does not depend on temperature */
    double standby;              /* relative standby power for relative frequency */
    double uncertainty;
    const char *source;
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
    struct power_structure *structure;
    size_t structure_count;
    struct power_clock *clock;
    size_t clock_count;
    struct ww_scaling *scaling; /* there if there are structures */
};

/* Factors on the table's values in one run. */
struct power_point {
    double dynamic[WW_COMPONENT_COUNT]; /* voltage squared, and the shape of the component's structure */
    double clock[WW_COMPONENT_COUNT];   /* voltage squared and frequency: watts of clocks that run */
    double leakage[WW_COMPONENT_COUNT]; /* voltage and temperature */
    double standby[WW_COMPONENT_COUNT];
};

/* Domain of a component's clock; POWER_DOMAIN_COUNT for one that is in none. */
enum power_domain ww_power_domain_of(enum ww_component component);
/* The factors for a GPU's clocks, temperature and structures; all 1 for the table's own GPU. */
void ww_power_point_of(const struct ww_power *power, const struct ww_gpu_spec *gpu, struct power_point *out);
/* Adds what a GPU's structures cost more or less than the table's: energy of queue searches, leakage. After
 * all else; no part of `out` becomes negative. */
void ww_power_add_structures(const struct ww_power *power, const struct ww_gpu_spec *gpu,
                             const struct power_point *point, const uint64_t *counter, double seconds,
                             struct ww_energy *out);
/* Energy per access of the component's structure in this GPU over that of the table's. */
double ww_power_structure_factor(const struct ww_power *power, const struct ww_gpu_spec *gpu,
                                 enum ww_component component);

#endif
