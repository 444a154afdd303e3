/* `trace regions`: when CTAs use their shared memory. */
#include "../../estimator/api/trace.h"
#include "../../estimator/base/escape.h"
#include "../../estimator/base/locale.h"
#include "../../estimator/base/jsonw.h"
#include "../wwt/reader.h"
#include "regions.h"

#include <inttypes.h>

/* Of a launch; sums over its CTAs. */
struct use {
    uint64_t ctas, regions, least, most, accesses, steps, inside, bytes;
};

static void add_cta(struct use *u, const struct ww_cta_trace *cta, const struct ww_regions *r) {
    if (u->ctas == 0 || r->count < u->least) u->least = r->count;
    if (r->count > u->most) u->most = r->count;
    u->ctas++;
    u->regions += r->count;
    u->accesses += r->accesses;
    if (r->bytes_max > u->bytes) u->bytes = r->bytes_max;
    for (uint32_t w = 0; w < r->warps; w++) u->steps += cta->warp[w].step_count;
    for (size_t i = 0; i < (size_t)r->count * r->warps; i++) u->inside += r->span[i].end - r->span[i].begin;
}

static enum ww_code measure(struct ww_trace *trace, size_t index, const struct ww_launch *launch, struct use *u,
                            struct ww_error *error) {
    struct ww_arena arena;
    enum ww_code code = WW_OK;
    ww_arena_init(&arena, 0);
    for (uint64_t c = ww_trace_next_cta(trace, index, 0); c < launch->cta_count && code == WW_OK;
         c = ww_trace_next_cta(trace, index, c + 1)) {
        struct ww_cta_trace cta;
        struct ww_regions r;
        ww_arena_reset(&arena);
        code = ww_trace_load_cta(trace, index, c, &cta, error);
        if (code != WW_OK) break;
        code = ww_regions_find(launch, &cta, 0, &arena, &r, error);
        if (code == WW_OK) add_cta(u, &cta, &r);
        ww_trace_release_cta(trace, &cta);
    }
    ww_arena_free(&arena);
    return code;
}

static double share(uint64_t part, uint64_t all) {
    return all ? (double)part / (double)all : 0;
}

static void print_text(FILE *out, size_t index, const struct ww_launch *l, const struct use *u) {
    fprintf(out, "launch %zu: %s\n", index, ww_shown(l->kernel));
    fprintf(out, "    shared memory of a CTA   %" PRIu32 " bytes, accessed up to byte %" PRIu64 "\n",
            l->shared_static + l->shared_dynamic, u->bytes);
    fprintf(out, "    regions of a CTA         %.2f (%" PRIu64 " to %" PRIu64 ")\n", share(u->regions, u->ctas),
            u->least, u->most);
    fprintf(out, "    warp instructions inside %.1f %%, shared-memory instructions %.1f %%\n",
            100 * share(u->inside, u->steps), 100 * share(u->accesses, u->steps));
}

static void print_json(struct ww_jsonw *w, size_t index, const struct ww_launch *l, const struct use *u) {
    ww_jsonw_open(w, NULL, '{');
    ww_jsonw_u64(w, "launch", index);
    ww_jsonw_str(w, "kernel", l->kernel);
    ww_jsonw_u64(w, "shared_bytes", l->shared_static + l->shared_dynamic);
    ww_jsonw_u64(w, "accessed_bytes", u->bytes);
    ww_jsonw_u64(w, "ctas", u->ctas);
    ww_jsonw_u64(w, "regions", u->regions);
    ww_jsonw_u64(w, "warp_instructions", u->steps);
    ww_jsonw_u64(w, "warp_instructions_inside", u->inside);
    ww_jsonw_u64(w, "shared_instructions", u->accesses);
    ww_jsonw_close(w, '}');
}

enum ww_code ww_trace_print_regions(struct ww_trace *trace, bool json, FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_jsonw w;
    if (json) {
        ww_jsonw_begin(&w, out);
        ww_jsonw_open(&w, NULL, '[');
    }
    for (size_t i = 0; i < ww_trace_launch_count(trace); i++) {
        const struct ww_launch *launch;
        struct use u = {0};
        WW_TRY(ww_trace_launch(trace, i, &launch, error));
        WW_TRY(measure(trace, i, launch, &u, error));
        if (json)
            print_json(&w, i, launch, &u);
        else
            print_text(out, i, launch, &u);
    }
    if (!json) return WW_OK;
    ww_jsonw_close(&w, ']');
    return ww_jsonw_end(&w, error);
}
