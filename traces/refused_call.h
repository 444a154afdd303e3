/* refused_call.h: functions that a kernel calls for something that is not modelled, by their names in PTX and
 * in machine code. */
#ifndef WW_TRACES_REFUSED_CALL_H
#define WW_TRACES_REFUSED_CALL_H

#include <stddef.h>
#include <string.h>

/* What calls of this function, or of one that the text names, stand for; NULL: nothing that is known. */
static inline const char *ww_refused_call(const char *text) {
    static const char *const names[][2] = {
        {"cudaGraphSetConditional", "a conditional node of a graph, which is not supported"},
        {"__cudaCDP2", "a launch from a kernel (dynamic parallelism), which is not supported"},
        {"__cuda_syscall_cnp", "a launch from a kernel (dynamic parallelism), which is not supported"},
        {"cudaLaunchDevice", "a launch from a kernel (dynamic parallelism), which is not supported"},
        {"cudaGetParameterBuffer", "a launch from a kernel (dynamic parallelism), which is not supported"},
    };
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        if (strstr(text, names[n][0])) return names[n][1];
    return NULL;
}

#endif
