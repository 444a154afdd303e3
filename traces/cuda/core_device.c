/* core_device.c: attributes of the one device. */
#include "core.h"

static int rt_shared_default(const struct ww_gpu_spec *s) {
    int most = (int)(s->sm_shared_per_cta_kb << 10);
    return most < 49152 ? most : 49152;
}

bool ww_rt_attribute(int number, int *value) {
    const struct ww_gpu_spec *s = ww_rt.spec;
    if (number < 1 || number > 147) return false;
    switch (number) {
#define X(n, v)                                                                                                \
    case n:                                                                                                    \
        *value = v;                                                                                            \
        break;
#include "rt_attribute.def"
#undef X
    default:
        *value = 0;
        break;
    }
    return true;
}
