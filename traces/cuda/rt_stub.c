/* rt_stub.c: entry points of the runtime that are not implemented. Each names itself once. */
#include "core.h"

#define X(name)                                                                                                \
    RT_EXPORT int name(void) {                                                                                 \
        return ww_rt_missing(#name);                                                                           \
    }
#include "rt_stub.def"
#undef X
