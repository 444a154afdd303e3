/* model_fold.c: a profile as curves of misses by capacity, once for all points. */
#include "model.h"
#include <stdlib.h>
#include <string.h>

static void fold_curve(const float *bins, struct ww_miss_curve *out) {
    double all = 0, behind = 0;
    for (int i = 0; i < WW_REUSE_BINS; i++) all += (double)bins[i];
    out->at[WW_REUSE_BINS] = 0;
    for (int i = WW_REUSE_BINS; i-- > 0;) {
        behind += (double)bins[i];
        out->at[i] = all > 0 ? (float)(behind / all) : 1;
    }
}

void ww_model_fold(const struct ww_kernel_profile *p, struct ww_model_kernel *k) {
    *k = (struct ww_model_kernel){.of = p, .times = 1};
    for (int level = 0; level < WW_LOCAL_LEVELS; level++)
        for (int type = 0; type < 2; type++) {
            const struct ww_local_reuse *r = &p->local_reuse[level];
            fold_curve(r->sector[type], &k->sector[level][type]);
            fold_curve(r->line[type], &k->line[level][type]);
            fold_curve(r->episode[type], &k->episode[level][type]);
        }
    for (int level = 0; level < WW_GLOBAL_LEVELS; level++) {
        const struct ww_global_reuse *r = &p->global_reuse[level];
        fold_curve(r->sector, &k->far_sector[level]);
        fold_curve(r->line, &k->far_line[level]);
        fold_curve(r->store, &k->far_store[level]);
        fold_curve(r->episode, &k->far_episode[level]);
    }
}

/* Launches of one kernel and shape that do the same work: only data differ. */
static bool alike(const struct ww_kernel_profile *a, const struct ww_kernel_profile *b) {
    return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 && a->warp_instructions == b->warp_instructions &&
           a->load_sectors[0] == b->load_sectors[0] && a->store_sectors == b->store_sectors &&
           a->global_reuse[0].sector[WW_REUSE_BINS - 1] == b->global_reuse[0].sector[WW_REUSE_BINS - 1];
}

enum ww_code ww_model_new(const struct ww_model_profile *profile, const bool *launches, struct ww_model *model,
                          struct ww_error *error) {
    *model = (struct ww_model){.kernel = calloc(profile->count ? profile->count : 1, sizeof *model->kernel)};
    if (!model->kernel) return ww_fail_nomem(error, "model");
    for (size_t i = 0; i < profile->count; i++) {
        const struct ww_kernel_profile *p = &profile->launch[i];
        size_t k = model->count;
        if ((launches && !launches[i]) || p->ctas == 0) continue;
        while (k > 0 && !alike(model->kernel[k - 1].of, p)) k--;
        if (k > 0)
            model->kernel[k - 1].times++;
        else
            ww_model_fold(p, &model->kernel[model->count++]);
    }
    return WW_OK;
}

void ww_model_free(struct ww_model *model) {
    free(model->kernel);
    *model = (struct ww_model){0};
}
