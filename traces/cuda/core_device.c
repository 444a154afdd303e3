/* core_device.c: attributes and limits of the one device. */
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

#define STACK_MAX ((size_t)512 << 10) /* local memory of a thread */

enum { LIMIT_STACK, LIMIT_PRINTF, LIMIT_HEAP, LIMIT_L2_FETCH = 5, LIMIT_L2_PERSISTING };

/* Values are kept within what a GPU could give; stack and buffer are not bounded by them here. Those of the L2
 * are hints. */
int ww_rt_set_limit(int limit, size_t value) {
    if (limit == LIMIT_STACK && value > STACK_MAX) return RT_ERROR_INVALID_VALUE;
    if ((limit == LIMIT_PRINTF || limit == LIMIT_HEAP) && value > ww_rt_global_memory())
        return RT_ERROR_MEMORY_ALLOCATION;
    switch (limit) {
    case LIMIT_STACK:
        ww_rt.stack_limit = value;
        return 0;
    case LIMIT_PRINTF:
        ww_rt.fifo_limit = value;
        return 0;
    case LIMIT_HEAP:
        ww_rt_set_heap(value);
        return 0;
    case LIMIT_L2_FETCH:
    case LIMIT_L2_PERSISTING:
        return 0;
    default:
        return RT_ERROR_UNSUPPORTED_LIMIT;
    }
}

int ww_rt_get_limit(int limit, size_t *value) {
    switch (limit) {
    case LIMIT_STACK:
        *value = ww_rt.stack_limit;
        return 0;
    case LIMIT_PRINTF:
        *value = ww_rt.fifo_limit;
        return 0;
    case LIMIT_HEAP:
        *value = ww_rt_heap();
        return 0;
    case LIMIT_L2_FETCH:
        *value = 64;
        return 0;
    case LIMIT_L2_PERSISTING:
        *value = 0;
        return 0;
    default:
        return RT_ERROR_UNSUPPORTED_LIMIT;
    }
}
