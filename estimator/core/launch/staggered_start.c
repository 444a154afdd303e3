/* CTAs that are under way when replay begins. */
#include "../sm/occupancy.h"
#include "staggered_start.h"
#include "../../base/rng.h"
#include "engine.h"

/* Whether all that a warp needs at a barrier or behind it is that the others come too. */
static bool can_skip(const struct ww_launch *l) {
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    for (uint32_t i = 0; i < l->inst_count; i++) {
        const struct ww_inst *in = &l->inst[i];
        if (in->op == WW_OP_ASYNC_COPY || in->op == WW_OP_ASYNC_WAIT || in->op == WW_OP_DMA) return false;
        if (in->op != WW_OP_BARRIER) continue;
        if (in->flags & (WW_INST_ACCESS | WW_INST_BAR_ARRIVE | WW_INST_SMEM_ALLOC | WW_INST_SMEM_FREE))
            return false;
        if (in->barrier_threads && in->barrier_threads < threads) return false;
    }
    return true;
}

enum ww_code ww_staggered_start_begin(struct ww_staggered_start *u, const struct ww_gpu_spec *gpu,
                                      const struct ww_launch *launch, uint64_t first, struct ww_arena *arena,
                                      struct ww_error *error) {
    const char *limiter;
    *u = (struct ww_staggered_start){.launch = launch, .first = first, .sms = gpu->sm_count};
    if (first == 0 || !can_skip(launch)) return WW_OK;
    WW_TRY(ww_occupancy(gpu, launch, &u->ctas, &limiter, error));
    u->stream = ww_arena_array(arena, (size_t)u->sms * u->ctas * launch->warps_per_cta, sizeof *u->stream);
    return u->stream ? WW_OK : ww_fail_nomem(error, "CTAs that have started");
}

static bool is_barrier(const struct ww_staggered_start *u, const struct ww_step *step) {
    return u->launch->inst[step->inst].op == WW_OP_BARRIER;
}

static uint32_t count_barriers(const struct ww_staggered_start *u, const struct ww_warp_stream *s,
                               uint32_t steps) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < steps; i++) n += is_barrier(u, &s->step[i]);
    return n;
}

/* Leaves out about `steps` of a warp's steps: so many that it has passed as many barriers as the CTA's others.
 * At least one is left, its exit. */
static struct ww_warp_stream without(const struct ww_staggered_start *u, const struct ww_warp_stream *s,
                                     uint32_t steps, uint32_t barriers) {
    struct ww_warp_stream out = *s;
    for (uint32_t passed = 0; out.step_count > 1; out.step++, out.step_count--) {
        bool barrier = is_barrier(u, out.step);
        if (passed == barriers && (barrier || s->step_count - out.step_count >= steps)) break;
        passed += barrier;
        if (!(u->launch->inst[out.step->inst].flags & WW_INST_ACCESS)) continue;
        out.access++;
        out.access_count--;
    }
    return out;
}

void ww_staggered_start_skip(const struct ww_staggered_start *u, struct ww_cta_trace *cta) {
    uint64_t place = cta->index - u->first, round = place / u->sms;
    if (round >= u->ctas || !cta->warp_count) return;
    struct ww_warp_stream *left = u->stream + place * u->launch->warps_per_cta;
    struct ww_rng rng;
    ww_rng_seed(&rng, cta->index);
    double part = ((double)(u->ctas - round) - ww_rng_unit(&rng)) / u->ctas;
    uint32_t barriers = count_barriers(u, cta->warp, (uint32_t)(part * cta->warp->step_count));
    if (cta->warp_count > u->launch->warps_per_cta) return; /* which the engine refuses */
    for (uint32_t i = 0; i < cta->warp_count; i++)
        left[i] = without(u, &cta->warp[i], (uint32_t)(part * cta->warp[i].step_count), barriers);
    cta->warp = left;
}
