/* kernel_print.h: printf of kernels, for every executor. */
#ifndef WW_TRACES_PTX_KERNEL_PRINT_H
#define WW_TRACES_PTX_KERNEL_PRINT_H

#include "../../../estimator/base/err.h"
#include <stdio.h>

/* Memory of the thread that prints. */
struct kernel_reader {
    void *context;
    /* `bytes` bytes at a generic address; NULL, and failed, if they are not there. */
    const unsigned char *(*at)(void *context, uint64_t address, uint32_t bytes);
    void (*fail)(void *context, enum ww_code code, const char *text);
    bool failed; /* set by both */
};

/* vprintf of the device runtime; `out` NULL: the text is made and dropped. */
void ww_kernel_vprintf(struct kernel_reader *reader, uint64_t format, uint64_t args, FILE *out);

#endif
