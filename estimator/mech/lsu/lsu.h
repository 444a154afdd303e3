/* lsu.h: kind "lsu", what the load/store unit does with a request that the L1 refuses. One plan per launch;
 * core holds the queue and counts. */
#ifndef WW_MECH_LSU_H
#define WW_MECH_LSU_H

#include "../mech.h"

struct ww_lsu_plan {
    uint32_t entries; /* line requests that can be put aside and tried again; 0: a refused one holds the unit */
    bool watch;       /* count cycles in which a warp's data lie in the L1 behind the held unit; costs time */
};

struct ww_lsu_ops {
    struct ww_mech_info info;
    /* The plan that the settings (what info.params describe) mean. */
    void (*plan)(const void *settings, struct ww_lsu_plan *plan);
};

#endif
