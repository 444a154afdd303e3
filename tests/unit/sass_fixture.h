/* sass_fixture.h: running the kernels of tests/sass/NAME.ptx as PTX and as machine code, for tests that compare
 * the two. A kernel has two parameters: addresses of the input and of the output. */
#ifndef WW_TESTS_SASS_FIXTURE_H
#define WW_TESTS_SASS_FIXTURE_H

#include "../../traces/ptx/device.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SASS_KERNELS 256

/* A PTX file: its header, which ends with .address_size, and kernels, each with its text. */
struct sass_text {
    char *all;
    unsigned sm;
    size_t header, kernels;
    char name[SASS_KERNELS][64];
    const char *at[SASS_KERNELS];
    size_t length[SASS_KERNELS];
};

extern const unsigned sass_archs[];
extern const size_t sass_arch_count;

void sass_read(struct sass_text *t, const char *name);
void sass_free(struct sass_text *t);
/* What became of a run: SKIPPED, there is no ptxas for the architecture; FAILED, a message has been printed. */
enum sass_outcome { SASS_RAN, SASS_SKIPPED, SASS_FAILED };
enum sass_outcome sass_run_ptx(const struct sass_text *t, size_t kernel, const void *in, size_t in_bytes,
                               void *out, size_t out_bytes, uint32_t ctas, uint32_t threads);
enum sass_outcome sass_run_machine(const struct sass_text *t, size_t kernel, const char *arch, const void *in,
                                   size_t in_bytes, void *out, size_t out_bytes, uint32_t ctas,
                                   uint32_t threads);

#endif
