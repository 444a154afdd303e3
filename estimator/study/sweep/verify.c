/* Verifying the variants that a sweep of a program ends with: replays see the outputs of some CTAs, so the
 * fastest variants are executed whole before they are reported. */
#include "../../../db/sweep.h"
#include "variant.h"
#include <string.h>

#define PICKS 3       /* variants that are verified: the fastest */
#define WRONG_MOST 16 /* variants that are found wrong, before the search for right ones ends */
#define THREAD_MOST                                                                                            \
    2e10 /* thread instructions of a variant that is executed whole: some 10 s of a processor                  \
          */

static bool has_outputs(const struct sweep_job *job) {
    return job->variants && job->space.program->compare && !job->options->shard;
}

static bool too_long(const struct ww_db_sweep_pick *p) {
    return (double)p->thread_instructions > THREAD_MOST;
}

static enum ww_code verify(struct sweep_job *job, const struct ww_db_sweep_pick *p, bool *wrong,
                           struct ww_error *error) {
    struct ww_sweep_machine m;
    const uint16_t *level = job->plan.level + p->ord * job->space.param_count;
    enum ww_code code = ww_sweep_machine(&job->space, level, job->power, &m, error);
    if (code == WW_OK && !m.reason[0] && !p->differs) code = ww_variant_verify(job, &m, error);
    *wrong = p->differs || m.reason[0];
    if (code == WW_OK)
        code = ww_db_sweep_compared(job->db, &job->head, p->config, *wrong ? 0 : p->ctas,
                                    m.reason[0] ? m.reason : NULL, error);
    ww_sweep_machine_free(&m);
    return code;
}

/* The fastest of those that are still to be executed; false: there is none. */
static bool next_of(const struct ww_db_sweep_pick *pick, size_t n, struct ww_db_sweep_pick *out) {
    for (size_t i = 0; i < n; i++) {
        *out = pick[i];
        if (out->differs || (out->compared_ctas < out->ctas && !too_long(out))) return true;
    }
    return false;
}

enum ww_code ww_sweep_verify(struct sweep_job *job, bool *wrong, struct ww_error *error) {
    struct ww_db_sweep_pick pick[PICKS], p;
    size_t n;
    uint64_t before = 0;
    double least;
    *wrong = false;
    if (!has_outputs(job)) return WW_OK;
    job->alone = true;
    while (before < WRONG_MOST) {
        bool differs;
        WW_TRY(ww_db_sweep_fastest(job->db, &job->head, pick, PICKS, &n, error));
        if (!next_of(pick, n, &p)) break;
        WW_TRY(verify(job, &p, &differs, error));
        *wrong = *wrong || differs;
        WW_TRY(ww_db_sweep_compared_counts(job->db, &job->head, &before, &least, error));
    }
    job->alone = false;
    return WW_OK;
}

enum ww_code ww_sweep_verified(const struct sweep_job *job, struct ww_sweep_summary *summary,
                               struct ww_error *error) {
    struct ww_db_sweep_pick pick[PICKS];
    size_t n;
    if (!has_outputs(job)) return WW_OK;
    WW_TRY(ww_db_sweep_fastest(job->db, &job->head, pick, PICKS, &n, error));
    for (size_t i = 0; i < n; i++) {
        summary->verified += pick[i].compared_ctas == pick[i].ctas;
        summary->too_long += pick[i].compared_ctas < pick[i].ctas && too_long(&pick[i]);
    }
    return ww_db_sweep_compared_counts(job->db, &job->head, &summary->wrong, &summary->compared, error);
}
