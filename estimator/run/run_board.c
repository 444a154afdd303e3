/* Launches whose estimated watts are above what the GPU's board is built for: a real board would lower its
 * clocks. */
#include "../base/demangle.h"
#include "run_int.h"
#include <math.h>
#include <string.h>

/* The watts of the run's launches, compared with the board's power. */
struct above {
    size_t launches;
    uint64_t time_ps;
    double most;                           /* watts */
    const struct ww_launch_result *launch; /* which draws the most */
};

static struct above find_above(const struct ww_result *result, double tdp) {
    struct above a = {.most = tdp};
    for (size_t i = 0; i < result->launch_count; i++) {
        const struct ww_launch_result *l = &result->launch[i];
        double watts = l->energy.known && l->time_ps ? l->energy.total_j / ((double)l->time_ps * 1e-12) : 0;
        if (watts <= tdp) continue;
        a.launches++;
        a.time_ps += l->time_ps;
        if (watts > a.most) {
            a.most = watts;
            a.launch = l;
        }
    }
    return a;
}

enum ww_code ww_run_tell_board(struct run *r, struct ww_error *error) {
    struct ww_result *result = r->result;
    double tdp = r->options->gpu->spec.board_tdp_w;
    struct above a = find_above(result, tdp);
    char kernel[WW_NAME_SHORT];
    const char *clock = r->options->clock_control;
    if (tdp <= 0 || !a.launch || (clock && strcmp(clock, "limit") == 0)) return WW_OK;
    const char *before = result->warning;
    result->warning = ww_arena_printf(
        r->arena,
        "%s%s%zu of %zu launches, %.3g %% of the time, are above the %.4g W of the board "
        "(board.tdp_w), most of all %s "
        "with %.4g W: the board would lower its clocks, the estimate does so only with --clock-control limit",
        before ? before : "", before ? "; " : "", a.launches, result->launch_count,
        fmin(100, 100.0 * (double)a.time_ps / (double)result->time_ps), tdp,
        ww_short_name(a.launch->kernel, kernel), a.most);
    return result->warning ? WW_OK : ww_fail_nomem(error, "result");
}
