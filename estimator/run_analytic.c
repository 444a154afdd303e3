/* Mode analytic. */
#include "run_int.h"

enum ww_code ww_run_analytic(struct run *r, struct ww_error *error) {
    (void)r;
    return ww_fail(error, WW_UNSUPPORTED, "--mode", "\"analytic\" is not supported yet");
}
