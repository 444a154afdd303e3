/* Suite "roofline": watts and rates of kernels that read words and make 0.25 to 96.25 operations of each byte,
 * against what RRZE-HPC/gpu-benches (gpu-roofline) measured of A100 boards and an L40.
 *
 * As on the board, CTAs fill the GPU once; unlike there, CTAs read side by side, not each a part of the arrays
 * of its own. A board's run lasts seconds; here a few passes are replayed, without a launch around them, and
 * energy is their watts. Where the board was at its power limit its clock is not the model's: such rows inform
 * only. */
#include "../../../../power/power.h"
#include "../../../config/gpu.h"
#include "../../dissect/meter.h"
#include "../rows/validate.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WATTS_TOLERANCE 0.08
#define RATE_TOLERANCE 0.10
enum { CTA = 256, PASS = 4, LEAST_WORDS = 8, MOST_WORDS = 24, STEPS = 2500 };

/* "roof-l40-48-w", "roof-a100-8-gflops": rounds, and what is compared. */
struct row {
    char gpu[16], metric[8];
    uint32_t rounds;
};

static bool read_id(const struct ww_target *t, struct row *r) {
    size_t n = strlen(t->machine);
    if (strncmp(t->id, "roof-", 5) != 0 || strncmp(t->id + 5, t->machine, n) != 0 || n >= sizeof r->gpu)
        return false;
    memcpy(r->gpu, t->machine, n + 1);
    return sscanf(t->id + 5 + n, "-%u-%7[a-z]", &r->rounds, r->metric) == 2;
}

struct figures {
    double watts, gflops, gbps;
};

static enum ww_code measure(struct ww_meter *m, uint32_t rounds, struct figures *f, struct ww_error *error) {
    uint32_t words = STEPS / (rounds + 4) / PASS * PASS;
    struct ww_micro_roofline what = {.cta_size = CTA, .rounds = rounds};
    struct ww_power *power = NULL;
    struct ww_bench_result r;
    struct ww_micro *micro = NULL;
    struct ww_energy energy = {0};
    what.words = words < LEAST_WORDS ? LEAST_WORDS : words > MOST_WORDS ? MOST_WORDS : words;
    what.ctas = m->board.sms * (m->board.max_threads / CTA);
    enum ww_code code = ww_power_load(m->board.name, true, &power, error);
    if (code == WW_OK) code = ww_bench_reset(m->bench, error);
    if (code == WW_OK) code = ww_micro_roofline(&what, &micro, error);
    if (code == WW_OK) code = ww_bench_run(m->bench, micro, 0, &r, error);
    if (code == WW_OK) {
        double words_read = 2.0 * what.words * what.cta_size * what.ctas, us = (double)r.time_ps / 1e6;
        ww_power_launch(power, &m->gpu->spec, r.launch, &energy);
        *f = (struct figures){.watts = energy.total_j / us * 1e6,
                              .gbps = words_read * 4 / us / 1e3,
                              .gflops = words_read * (1 + rounds) / us / 1e3};
    }
    ww_micro_free(micro);
    ww_power_free(power);
    return code;
}

static enum ww_code measure_on(const struct row *r, struct figures *f, struct ww_error *error) {
    const struct ww_dissect_options o = {.gpu = r->gpu};
    struct ww_dissect out = {0};
    struct ww_meter m;
    ww_arena_init(&out.arena, 0);
    enum ww_code code = ww_meter_open(&m, &o, &out, NULL, error);
    if (code == WW_OK) code = measure(&m, r->rounds, f, error);
    ww_meter_close(&m);
    ww_arena_free(&out.arena);
    return code;
}

static enum ww_code add(struct ww_validation *v, const struct ww_target *t, const struct row *r,
                        const struct figures *f, struct ww_error *error) {
    bool watts = strcmp(r->metric, "w") == 0, limited = strstr(t->note, "limit") != NULL;
    const char *what = ww_arena_printf(&v->arena, "%s, %s: %s", t->machine, t->workload, t->metric);
    if (!what) return ww_fail_nomem(error, v->suite);
    struct ww_validate_row row = {.id = t->id,
                                  .what = what,
                                  .ours = watts                            ? f->watts
                                          : strcmp(r->metric, "gbps") == 0 ? f->gbps
                                                                           : f->gflops,
                                  .paper = t->value,
                                  .unit = t->unit,
                                  .test = WW_VALIDATE_RELATIVE,
                                  .tolerance = watts ? WATTS_TOLERANCE : RATE_TOLERANCE,
                                  .uncounted = limited,
                                  .why = limited ? "the board was at its power limit, at another clock" : ""};
    return ww_validate_add(v, &row, error);
}

enum ww_code ww_validate_suite_roofline(struct ww_validation *v, const struct ww_validate_options *options,
                                        struct ww_error *error) {
    struct row row, before = {.gpu = ""};
    struct figures f = {NAN, NAN, NAN};
    uint64_t all = 0;
    for (size_t i = 0; i < v->target_count; i++) all += read_id(&v->target[i], &row);
    for (size_t i = 0; i < v->target_count; i++) {
        if (!read_id(&v->target[i], &row)) continue;
        if (row.rounds != before.rounds || strcmp(row.gpu, before.gpu) != 0)
            WW_TRY(measure_on(&row, &f, error));
        before = row;
        WW_TRY(add(v, &v->target[i], &row, &f, error));
        WW_TRY(ww_validate_step(options, v->count, all, error));
    }
    return WW_OK;
}
