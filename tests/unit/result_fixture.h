/* result_fixture.h: results with made-up numbers that obey every conservation law.
 *
 * The same options give the same result. Free with ww_result_free(). */
#ifndef WW_TESTS_RESULT_FIXTURE_H
#define WW_TESTS_RESULT_FIXTURE_H

#include "../../estimator/warpwatt.h"

struct ww_fixture {
    uint64_t seed;     /* of the numbers */
    const char *gpu;   /* NULL: "testgpu" */
    const char *trace; /* path; NULL: "dir/fixture.wwt" */
    const char *hash;  /* of the trace; NULL: "00112233445566778899aabbccddeeff" */
    size_t launches;   /* 0: 2 */
    bool no_energy;    /* the GPU has no power table */
};

/* `options` may be NULL. Ends the test if memory runs out. */
struct ww_result *ww_fixture_result(const struct ww_fixture *options);

/* Fails the running test, naming the field, unless the two results are equal in every field. */
void ww_fixture_assert_equal(const struct ww_result *a, const struct ww_result *b);

/* Fails the running test unless `sub` occurs in the text. */
void ww_fixture_assert_contains(const char *text, const char *sub);

/* Path of a file of the source tree ("docs/reference/query.md") as seen from here; ends the test if there is
 * none. `out` holds 512 bytes. */
const char *ww_fixture_source_file(const char *name, char out[512]);
/* The whole text of a file; free() it. Ends the test if it cannot be read. */
char *ww_fixture_read(const char *path);

#endif
