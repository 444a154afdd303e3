/* Shared memory multiplexing: barriers of the program allocate and free the public part of a CTA's shared
 * memory; the rest, if any, is private and static. So that not all CTAs contend for it, an SM takes only some
 * more of them than static management would allow (K + 1 to K + 3 in the paper, which finds K + 2 and K + 3
 * alike). */
#include "smem.h"

struct settings {
    uint32_t extra;
};

static const struct ww_param params[] = {
    WW_PARAM_U32(settings, extra, "extra", "CTA", 1, 64, 2,
                 "CTAs of an SM beyond those that static management allows"),
};

static void dynamic_plan(const void *settings, struct ww_smem_plan *plan) {
    const struct settings *s = settings;
    *plan = (struct ww_smem_plan){.dynamic = true, .extra = s->extra};
}

const struct ww_smem_ops ww_smem_dynamic = {
    .info = {.kind = WW_KIND_SMEM,
             .name = "dynamic",
             .help = "barriers of the program allocate and free shared memory",
             .paper =
                 "Yang, Xiang, Mantor, Rubin, Zhou: Shared Memory Multiplexing: A Novel Way to Improve GPGPU "
                 "Throughput, PACT 2012",
             .params = params,
             .param_count = sizeof params / sizeof params[0],
             .settings_size = sizeof(struct settings)},
    .plan = dynamic_plan,
};
