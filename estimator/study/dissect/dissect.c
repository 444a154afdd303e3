/* The microbenchmarks of a dissection, part by part. */
#include "../../api/dissect.h"
#include "../../base/locale.h"
#include "dissect.h"
#include "meter.h"
#include <time.h>

static double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Parts that need one GPU as it is described. */
static enum ww_code plain_parts(const struct ww_dissect_options *o, struct ww_dissect *out,
                                struct ww_error *error) {
    struct ww_meter m;
    enum ww_code code = ww_meter_open(&m, o, out, NULL, error);
    if (code == WW_OK) {
        out->sm_mhz = m.board.sm_mhz;
        out->gpu = ww_arena_strdup(&out->arena, m.board.name);
        if (!out->gpu) code = ww_fail_nomem(error, "a dissection");
    }
    if (code == WW_OK && (o->parts & WW_DISSECT_TLB)) code = ww_dissect_tlbs(&m, error);
    if (code == WW_OK && (o->parts & WW_DISSECT_GLOBAL)) code = ww_dissect_global(&m, error);
    if (code == WW_OK && (o->parts & WW_DISSECT_CURVES)) code = ww_dissect_curves(&m, error);
    ww_meter_close(&m);
    return code;
}

enum ww_code ww_dissect_run(const struct ww_dissect_options *o, struct ww_dissect *out,
                            struct ww_error *error) {
    double started = now_seconds();
    *out = (struct ww_dissect){.parts = o->parts};
    ww_arena_init(&out->arena, 0);
    WW_TRY(plain_parts(o, out, error));
    if (o->parts & WW_DISSECT_CACHES) WW_TRY(ww_dissect_caches(o, out, error));
    if (o->parts & WW_DISSECT_LATENCY) WW_TRY(ww_dissect_latency(o, out, error));
    if (o->parts & WW_DISSECT_SHARED) WW_TRY(ww_dissect_shared(o, out, error));
    out->host_seconds = now_seconds() - started;
    return WW_OK;
}

void ww_dissect_free(struct ww_dissect *d) {
    ww_arena_free(&d->arena);
}

enum ww_code ww_dissect_report(const struct ww_dissect_options *options, bool json, const char *plots,
                               FILE *out, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_dissect d;
    enum ww_code code = ww_dissect_run(options, &d, error);
    if (code == WW_OK && plots) code = ww_dissect_plots(&d, plots, error);
    if (code == WW_OK) code = json ? ww_dissect_json(&d, out, error) : ww_dissect_print(&d, out, error);
    ww_dissect_free(&d);
    return code;
}
