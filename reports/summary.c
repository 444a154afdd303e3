/* The summary of one run: an object for scripts, some lines for people. */
#include "../estimator/api/report.h"
#include "../estimator/result/result.h"
#include "../estimator/result/names.h"
#include "../estimator/base/locale.h"
#include "parts.h"
#include "text.h"
#include <inttypes.h>

static enum ww_code summary_json(const struct ww_result *r, int64_t run_id, FILE *out, struct ww_error *error) {
    struct ww_jsonw w;
    ww_jsonw_begin(&w, out);
    ww_jsonw_open(&w, NULL, '{');
    ww_part_summary(&w, r, run_id);
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}

static void print_title(const struct ww_result *r, int64_t run_id, FILE *out) {
    char trace[200], gpu[100], with[400], mode[80];
    ww_clean_text(r->trace, trace, sizeof trace);
    ww_clean_text(r->gpu, gpu, sizeof gpu);
    if (run_id >= 0) fprintf(out, "run %" PRId64 ": ", run_id);
    ww_say_overrides(r, with, sizeof with);
    ww_say_mode(r, mode);
    fprintf(out, "%s on %s%s, %s, ", trace, gpu, with, mode);
    if (r->sampling.row_count) fprintf(out, "%" PRIu64 " of ", r->sampling.replayed_launches);
    uint64_t launches = r->sampling.reason ? r->sampling.launches : r->launch_count;
    fprintf(out, "%" PRIu64 " launch%s\n", launches, launches == 1 ? "" : "es");
}

static void print_energy(const struct ww_result *r, FILE *out) {
    char a[32], b[32];
    if (!r->energy_known) {
        fputs("  energy        -  (no power table)\n", out);
        return;
    }
    fprintf(out, "  energy        %s\n  power         %s\n", ww_si(r->energy_j, "J", a),
            ww_si(ww_watts(r->energy_j, true, r->time_ps), "W", b));
}

/* The interval, where the estimate is not exact. */
static void print_interval(const struct ww_result *r, FILE *out) {
    char a[32], b[32];
    if (r->cycles_interval.lo < r->cycles_interval.hi)
        fprintf(out, "  interval      %s to %s cycles at %.4g %% confidence\n",
                ww_si(r->cycles_interval.lo, "", a), ww_si(r->cycles_interval.hi, "", b), 100 * r->confidence);
    if (r->cycles_interval.lo < r->cycles_interval.hi && r->energy_known)
        fprintf(out, "                %s to %s\n", ww_si(r->energy_interval.lo, "J", a),
                ww_si(r->energy_interval.hi, "J", b));
}

/* What a sampled run replayed, and why it stopped there. */
static void print_sampling(const struct ww_result *r, FILE *out) {
    const struct ww_sampling *s = &r->sampling;
    char a[32], b[32], c[32];
    if (!s->reason) return;
    fprintf(out, "  replayed      %s of the instructions (%s), %s of %s CTAs\n",
            ww_percent(ww_ratio((double)s->replayed_instructions, (double)r->warp_instructions), c),
            ww_grouped(s->replayed_instructions, a), ww_grouped(s->replayed_ctas, b),
            ww_grouped(s->ctas, (char[32]){0}));
    fprintf(out, "                %s\n", s->reason);
    if (s->fast_units)
        fprintf(out, "  estimator     %s: correlation %.2f (it pays from %.2f), %s units by fast replay\n",
                s->estimator, s->correlation, s->pays_from, ww_grouped(s->fast_units, a));
}

/* The overhead of launches, in addition to their CTAs: cycles are active ones, elapsed time has a part of its
 * own. */
static void print_launch(const struct ww_launch_result *sum, FILE *out) {
    const uint64_t *c = sum->counter;
    uint64_t cycles = c[WW_C_LAUNCH_FRONT_CYCLES] + c[WW_C_LAUNCH_END_CYCLES];
    char a[32], b[32];
    if (!cycles) return;
    fprintf(out, "  overhead      %s of the cycles", ww_grouped(cycles, a));
    if (c[WW_C_LAUNCH_LATENCY_PS])
        fprintf(out, ", and %s in addition", ww_si((double)c[WW_C_LAUNCH_LATENCY_PS] * 1e-12, "s", b));
    if (c[WW_C_LAUNCH_HIDDEN_PS])
        fprintf(out, "; %s of it overlap the launch before",
                ww_si((double)c[WW_C_LAUNCH_HIDDEN_PS] * 1e-12, "s", b));
    fputc('\n', out);
}

/* Launches whose times overlap: their sum is more than the run's. */
static void print_concurrent(const struct ww_result *r, FILE *out) {
    uint64_t launches = 0, shared = 0;
    char a[32], b[32];
    for (size_t i = 0; i < r->launch_count; i++) {
        launches += r->launch[i].concurrent > 0;
        shared += r->launch[i].shared_ps;
    }
    if (launches)
        fprintf(out,
                "  side by side  %s launches, whose times overlap by %s (--serialize: one after the other)\n",
                ww_grouped(launches, a), ww_si((double)shared * 1e-12, "s", b));
}

/* The whole program, if copies take time. */
static void print_copies(const struct ww_result *r, FILE *out) {
    uint64_t bytes = 0;
    char a[32], b[32], c[32];
    if (!r->copy_count) return;
    for (size_t i = 0; i < r->copy_count; i++) bytes += r->copy[i].bytes;
    fprintf(out, "  with copies   %s (%s cop%s of %s; the GPU is without a launch %s of it)\n",
            ww_si((double)r->with_copies_ps * 1e-12, "s", a), ww_grouped(r->copy_count, b),
            r->copy_count == 1 ? "y" : "ies", ww_si((double)bytes, "B", c),
            ww_percent(1 - ww_ratio((double)ww_launches_ps(r), (double)r->with_copies_ps), (char[32]){0}));
}

static enum ww_code summary_text(const struct ww_result *r, int64_t run_id, FILE *out, struct ww_error *error) {
    struct ww_launch_result sum;
    char a[32], b[32];
    ww_sum_launches(r, &sum);
    print_title(r, run_id, out);
    fprintf(out, "  time          %s (%s SM cycles)\n", ww_si((double)r->time_ps / 1e12, "s", a),
            ww_grouped(r->cycles, b));
    print_launch(&sum, out);
    print_concurrent(r, out);
    print_copies(r, out);
    fprintf(out, "  instructions  %s of warps, %s of threads\n", ww_grouped(r->warp_instructions, a),
            ww_grouped(r->thread_instructions, b));
    fprintf(out, "  IPC           %s\n", ww_plain(ww_ipc(&sum), 4, a));
    print_energy(r, out);
    print_interval(r, out);
    print_sampling(r, out);
    int top = ww_top_stall(sum.warp_cycles);
    if (top >= 0)
        fprintf(out, "  top stall     %s, %s of resident warps' time\n", ww_state_name((enum ww_warp_state)top),
                ww_percent(ww_ratio((double)sum.warp_cycles[top], (double)sum.resident_warp_cycles), a));
    fprintf(out, "  computed in   %s\n", ww_si(r->host_seconds, "s", a));
    return ww_out_check(out, error);
}

enum ww_code ww_report_summary(const struct ww_result *result, int64_t run_id, bool json, FILE *out,
                               struct ww_error *error) {
    WW_PLAIN_LOCALE;
    return json ? summary_json(result, run_id, out, error) : summary_text(result, run_id, out, error);
}
