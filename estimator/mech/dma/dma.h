/* dma.h: kind "dma", when a bulk transfer starts. One plan per launch; core holds the engine (core/sm/dma.h)
 * and counts. */
#ifndef WW_MECH_DMA_H
#define WW_MECH_DMA_H

#include "../mech.h"

struct ww_dma_plan {
    bool start_last; /* a transfer starts with the last warp of its CTA that reaches it, else with the first */
};

struct ww_dma_ops {
    struct ww_mech_info info;
    /* The plan that the settings (what info.params describe) mean. */
    void (*plan)(const void *settings, struct ww_dma_plan *plan);
};

#endif
