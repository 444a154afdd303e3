/* A CTA has all of its shared memory from its dispatch to its end. Allocations by barriers are ignored; the
 * barriers remain barriers. */
#include "smem.h"

static void static_plan(const void *settings, struct ww_smem_plan *plan) {
    (void)settings;
    *plan = (struct ww_smem_plan){.dynamic = false};
}

const struct ww_smem_ops ww_smem_static = {
    .info = {.kind = WW_KIND_SMEM,
             .name = "static",
             .analytic = WW_ANALYTIC_MODELLED,
             .help = "a CTA holds its shared memory from its dispatch to its end",
             .paper = "NVIDIA, CUDA C Programming Guide, hardware multithreading"},
    .plan = static_plan,
};
