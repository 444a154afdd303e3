/* The steps of migration in their order. */
#include "schema.h"

/* A step that adds counters of instructions and nothing else: they say themselves which step is theirs. */
static const char *const only_counters[] = {NULL};

const struct ww_db_step ww_db_steps[] = {
    {ww_db_tables_sql},     /* 1 */
    {ww_db_views_sql},      /* 2 */
    {ww_db_hardware_sql},   /* 3 */
    {ww_db_power_sql},      /* 4 */
    {ww_db_sweep_sql},      /* 5 */
    {ww_db_sampling_sql},   /* 6 */
    {ww_db_adaptive_sql},   /* 7 */
    {ww_db_timeline_sql},   /* 8 */
    {ww_db_scaled_sql},     /* 9 */
    {ww_db_launch_sql},     /* 10 */
    {only_counters},        /* 11 */
    {ww_db_code_sql},       /* 12 */
    {ww_db_override_sql},   /* 13 */
    {ww_db_variant_sql},    /* 14 */
    {ww_db_ncu_sql},        /* 15 */
    {ww_db_concurrent_sql}, /* 16 */
    {only_counters},        /* 17 */
    {ww_db_compared_sql},   /* 18 */
    {ww_db_copies_sql},     /* 19 */
    {ww_db_sizes_sql},      /* 20 */
    {ww_db_named_sql},      /* 21 */
    {ww_db_variate_sql},    /* 22 */
    {ww_db_energy_sql},     /* 23 */
};
const int ww_db_step_count = sizeof ww_db_steps / sizeof *ww_db_steps;
