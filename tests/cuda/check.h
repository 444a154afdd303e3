/* check.h: what the CUDA programs of this folder share. Each prints "PASS" at its end and returns 0. */
#ifndef WW_TESTS_CUDA_CHECK_H
#define WW_TESTS_CUDA_CHECK_H

#include "expect.h"
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                            \
    do {                                                                                                       \
        cudaError_t check_code = (call);                                                                       \
        if (check_code != cudaSuccess) {                                                                       \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_code));     \
            exit(1);                                                                                           \
        }                                                                                                      \
    } while (0)

static inline int pass() {
    puts("PASS");
    return 0;
}

#endif
