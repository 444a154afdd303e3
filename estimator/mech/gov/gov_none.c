/* No governor: as many CTAs as fit, all clocks as the GPU has them. */
#include "governor.h"

const struct ww_governor_ops ww_governor_none = {
    .info = {.kind = WW_KIND_GOVERNOR,
             .name = "none",
             .analytic = WW_ANALYTIC_MODELLED,
             .help = "as many CTAs as fit, clocks as the GPU has them",
             .paper = "NVIDIA: CUDA Occupancy Calculator"},
};
