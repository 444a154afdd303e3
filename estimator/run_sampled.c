/* Mode sampled. */
#include "run_int.h"

enum ww_code ww_run_sampled(struct run *r, struct ww_error *error) {
    (void)r;
    return ww_fail(error, WW_UNSUPPORTED, "--mode", "\"sampled\" is not supported yet");
}
