/* smem.h: kind "smem", who manages the shared memory of an SM. One plan per launch; core holds the table
 * (core/sm/shared_table.h) and counts. */
#ifndef WW_MECH_SMEM_H
#define WW_MECH_SMEM_H

#include "../mech.h"

struct ww_smem_plan {
    bool dynamic;   /* barriers of the trace allocate and free; false: they are barriers and nothing else */
    uint32_t extra; /* CTAs of an SM beyond those that static management would allow */
};

struct ww_smem_ops {
    struct ww_mech_info info;
    /* The plan that the settings (what info.params describe) mean. */
    void (*plan)(const void *settings, struct ww_smem_plan *plan);
};

#endif
