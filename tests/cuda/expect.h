/* expect.h: a condition that a test program cannot go on without. */
#ifndef WW_TESTS_CUDA_EXPECT_H
#define WW_TESTS_CUDA_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                                                      \
    do {                                                                                                       \
        if (!(condition)) {                                                                                    \
            fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition);                           \
            exit(1);                                                                                           \
        }                                                                                                      \
    } while (0)

#endif
