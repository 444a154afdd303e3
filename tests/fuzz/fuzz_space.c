/* Fuzzes the reader of space files, their conditions, and the choice of points. */
#include "../../estimator/study/sweep/sweep.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ww_sweep_space space;
    struct ww_sweep_plan plan;
    struct ww_error error = {.code = WW_OK};
    enum ww_code code = ww_sweep_space_parse((const char *)data, size, "fuzz.json", &space, &error);
    if (code == WW_OK) code = ww_sweep_pick(&space, WW_SWEEP_SOBOL, 16, 1, &plan, &error);
    if (code != WW_OK && (error.code != code || !error.text[0])) abort(); /* each failure says what was wrong */
    ww_sweep_space_free(&space);
    return 0;
}
