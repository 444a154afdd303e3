/* CTAs that are too long to be replayed to their end: one wave of them is replayed twice, cut after two numbers
 * of steps, which gives what a step takes when the kernel's loop has set in. */
#include "trial.h"
#include "../../../traces/trace.h"
#include <math.h>
#include <stdlib.h>

#define CUT_STEPS 3e6      /* warp instructions of the longer one of the two replays */
#define CUT_LEAST 512      /* steps of a warp in it, at least */
#define CUT_ERROR 0.05     /* relative; docs/studies/tuning.md */
#define LENGTH_THREADS 5e7 /* thread instructions of a CTA up to which several are executed to their end */
#define PERIODS 4          /* times that a loop's instruction is executed at least, to be known as one */

enum { LENGTHS = 8, FULL_WAVES = 8 };

/* ---- lengths ---- */

static uint64_t middle_of(const uint32_t grid[3]) {
    return grid[0] / 2 + grid[0] * (grid[1] / 2 + (uint64_t)grid[1] * (grid[2] / 2));
}

enum ww_code ww_trial_lengths(struct trial *t, struct ww_alike *alike) {
    uint64_t probe[WW_ALIKE_PROBES], some[LENGTHS], one = middle_of(alike->grid);
    uint64_t n = ww_alike_probes(alike->grid, probe), step = n / LENGTHS ? n / LENGTHS : 1, count = 0;
    struct ww_record_stats stats;
    WW_TRY(ww_trial_count(t, &(struct ww_cta_pick){&one, 1, 0}, &stats));
    alike->instructions = (double)stats.warp_instructions;
    if (t->program->compare) t->v->row.compared_ctas = 1;
    if ((double)stats.thread_instructions > LENGTH_THREADS) return WW_OK;
    for (uint64_t i = step / 2; i < n && count < LENGTHS; i += step) some[count++] = probe[i];
    WW_TRY(ww_trial_count(t, &(struct ww_cta_pick){some, count, 0}, &stats));
    double first = alike->instructions;
    if (t->program->compare) t->v->row.compared_ctas = count + 1;
    alike->instructions = (double)stats.warp_instructions / (double)count;
    if (alike->instructions > 0) alike->error += fabs(first / alike->instructions - 1);
    return WW_OK;
}

/* ---- where to cut ---- */

/* Steps between two executions of the instruction that is executed least often, but PERIODS times: those of the
 * outermost loop that a stream has gone through so often. 0: there is none. */
static uint64_t period_of(const struct ww_warp_stream *w, uint32_t insts) {
    uint32_t *count = calloc(insts ? insts : 1, sizeof *count), rarest = 0, least = UINT32_MAX;
    uint64_t last = 0, before = 0;
    if (!count) return 0;
    for (uint32_t i = 0; i < w->step_count; i++)
        if (w->step[i].inst < insts) count[w->step[i].inst]++;
    for (uint32_t k = 0; k < insts; k++)
        if (count[k] >= PERIODS && count[k] < least) least = count[k], rarest = k;
    for (uint32_t i = 0; least != UINT32_MAX && i < w->step_count; i++)
        if (w->step[i].inst == rarest) before = last, last = i;
    free(count);
    return last - before;
}

/* Steps of a warp at the two cuts: a whole number of the loop's iterations lies between them. */
static enum ww_code places(struct trial *t, const char *path, double steps, uint64_t cut[2]) {
    struct ww_trace *trace;
    const struct ww_launch *launch;
    struct ww_cta_trace cta;
    uint64_t period = 0, half = (uint64_t)(steps / 2);
    WW_TRY(ww_trace_open(path, &trace, t->error));
    enum ww_code code = ww_trace_launch(trace, 0, &launch, t->error);
    if (code == WW_OK) code = ww_trace_load_cta(trace, 0, launch->cta_count / 2, &cta, t->error);
    if (code == WW_OK) {
        period = cta.warp_count ? period_of(&cta.warp[0], launch->inst_count) : 0;
        ww_trace_release_cta(trace, &cta);
    }
    ww_trace_close(trace);
    uint64_t iterations = period ? (half + period / 2) / period : 0;
    cut[0] = half;
    cut[1] = half + (period ? (iterations ? iterations : 1) * period : half);
    return code;
}

/* ---- replays ---- */

struct cut_run {
    double cycles; /* without the launch's overhead */
    double each;   /* warp instructions of a CTA */
    uint64_t ctas; /* that it had */
    struct ww_result *result;
};

static double fixed_of(const struct ww_gpu_spec *g, double cycles) {
    return fmin(cycles, g->launch_front_cycles + g->launch_end_cycles);
}

static enum ww_code replay_cut(struct trial *t, const struct ww_alike *alike, const struct ww_slice *slice,
                               const struct ww_gpu *gpu, uint64_t count, uint64_t steps, struct cut_run *out) {
    char path[WW_TRIAL_PATH];
    uint64_t *cta;
    *out = (struct cut_run){0};
    if (count > t->v->row.ctas) count = t->v->row.ctas; /* the grid has fewer than the slice takes */
    WW_TRY(ww_slice_block(alike->grid, slice, count, count, &cta, t->error));
    struct ww_cta_pick pick = {cta, count, steps};
    enum ww_code code = ww_trial_record(t, &pick, false, path);
    free(cta);
    if (code == WW_OK) code = ww_trial_run(t, gpu, count, path, &out->result);
    if (code != WW_OK) return code;
    double cycles = (double)out->result->cycles;
    out->cycles = cycles - fixed_of(&t->m->gpu->spec, cycles);
    out->each = (double)out->result->warp_instructions / (double)count;
    out->ctas = count;
    return WW_OK;
}

/* Waves of the grid on the whole GPU: those that are full, and the CTAs that its fullest SM has in the last. */
static uint64_t waves_of(const struct trial *t, uint64_t ctas, uint64_t *rest) {
    uint64_t all = t->v->row.ctas, sms = t->m->gpu->spec.sm_count, full = all / (ctas * sms);
    *rest = (all - full * ctas * sms + sms - 1) / sms;
    return full;
}

/* A wave's cycles from two cuts of it: to the second, and what each further step adds at the pace between. */
static double wave_cycles(const struct ww_alike *alike, const struct cut_run *a, const struct cut_run *b) {
    double more = alike->instructions - b->each, between = b->each - a->each;
    return between > 0 ? b->cycles + more * (b->cycles - a->cycles) / between : b->cycles;
}

static enum ww_code by_two_cuts(struct trial *t, const struct ww_alike *alike, const struct ww_slice *slice,
                                const struct ww_gpu *gpu, uint64_t ctas, const uint64_t cut[2],
                                struct ww_db_sweep_result *out) {
    struct cut_run run[2] = {{0}}, last = {0};
    uint64_t rest, full = waves_of(t, ctas, &rest), sms = slice->sms;
    if (!full) ctas = rest, rest = 0, full = 1;
    enum ww_code code = replay_cut(t, alike, slice, gpu, ctas * sms, cut[0], &run[0]);
    if (code == WW_OK) code = replay_cut(t, alike, slice, gpu, ctas * sms, cut[1], &run[1]);
    double part = (double)rest / (double)ctas;
    if (code == WW_OK && rest && rest < ctas && full < FULL_WAVES) {
        code = replay_cut(t, alike, slice, gpu, rest * sms, cut[0], &last);
        if (code == WW_OK) part = fmin(1, last.cycles / run[0].cycles);
    }
    if (code == WW_OK) {
        double fixed = fixed_of(&t->m->gpu->spec, (double)run[1].result->cycles);
        t->v->row.recorded_ctas = run[0].ctas;
        ww_trial_describe(run[1].result, &t->v->row);
        ww_trial_result(t, alike, run[1].result,
                        fixed + ((double)full + part) * wave_cycles(alike, &run[0], &run[1]), out);
        out->host_seconds = run[0].result->host_seconds + run[1].result->host_seconds +
                            (last.result ? last.result->host_seconds : 0);
    }
    ww_result_free(run[0].result);
    ww_result_free(run[1].result);
    ww_result_free(last.result);
    return code;
}

/* The analytical model knows no waves: in proportion to instructions. */
static enum ww_code by_proportion(struct trial *t, const struct ww_alike *alike, const struct ww_slice *slice,
                                  const struct ww_gpu *gpu, uint64_t ctas, uint64_t steps,
                                  struct ww_db_sweep_result *out) {
    struct cut_run run;
    uint64_t slots = ctas * slice->sms, all = t->v->row.ctas;
    double share = (double)all * slice->part;
    if (share < (double)slots) slots = (uint64_t)ceil(share);
    enum ww_code code = replay_cut(t, alike, slice, gpu, slots, steps, &run);
    if (code == WW_OK) {
        double fixed = fixed_of(&t->m->gpu->spec, (double)run.result->cycles);
        double waves = fmax(1, share / (double)slots);
        t->v->row.recorded_ctas = slots;
        ww_trial_describe(run.result, &t->v->row);
        ww_trial_result(t, alike, run.result, fixed + waves * run.cycles * alike->instructions / run.each, out);
    }
    ww_result_free(run.result);
    return code;
}

enum ww_code ww_trial_cut(struct trial *t, const struct ww_alike *alike, const struct ww_slice *slice,
                          uint64_t ctas, const char *probes, struct ww_db_sweep_result *out) {
    struct ww_gpu *gpu = NULL;
    uint64_t cut[2];
    double steps = CUT_STEPS / (double)(ctas * slice->sms * t->v->row.warps_per_cta);
    WW_TRY(places(t, probes, fmax(steps, CUT_LEAST), cut));
    struct ww_slice with = *slice;
    enum ww_code code = t->mode ? WW_OK : ww_trial_set_sharing(t, alike, &with, ctas, cut[0]);
    if (code == WW_OK) code = ww_trial_slice_gpu(t, &with, &gpu);
    if (code == WW_OK)
        code = t->mode ? by_proportion(t, alike, slice, gpu, ctas, cut[1], out)
                       : by_two_cuts(t, alike, slice, gpu, ctas, cut, out);
    ww_gpu_free(gpu);
    t->v->row.error = alike->error + WW_SLICE_ERROR + CUT_ERROR + fabs(slice->memory - 1);
    return code;
}
