/* `trace info --profile`: what the warps do, from all of the streams. */
#include "../../estimator/api/trace.h"
#include "../../estimator/base/locale.h"
#include "../../estimator/base/jsonw.h"
#include "../../estimator/base/escape.h"
#include "../../estimator/base/text.h"
#include "../profile/profile.h"

static double ratio(uint64_t a, uint64_t b) {
    return b ? (double)a / (double)b : 0;
}

/* ---- JSON ---- */

static void json_lanes(struct ww_jsonw *w, const struct ww_profile *p) {
    ww_jsonw_open_flat(w, "active_lanes", '[');
    for (int n = 0; n <= 32; n++) ww_jsonw_u64(w, NULL, p->lanes[n]);
    ww_jsonw_close(w, ']');
}

static void json_reuse(struct ww_jsonw *w, const struct ww_profile *p) {
    ww_jsonw_open(w, "reuse", '{');
    ww_jsonw_u64(w, "line_bytes", WW_PROFILE_LINE);
    ww_jsonw_f64(w, "tracked_share", p->reuse_rate);
    ww_jsonw_f64(w, "first_accesses", p->cold);
    ww_jsonw_open(w, "distance", '[');
    for (unsigned k = 0; k < WW_REUSE_BUCKETS; k++) {
        if (p->reuse[k] == 0) continue;
        ww_jsonw_open_flat(w, NULL, '{');
        ww_jsonw_u64(w, "lines_below", 1ull << k);
        ww_jsonw_f64(w, "accesses", p->reuse[k]);
        ww_jsonw_close(w, '}');
    }
    ww_jsonw_close(w, ']');
    ww_jsonw_close(w, '}');
}

static void json_launch(struct ww_jsonw *w, size_t number, const char *kernel, const struct ww_profile *p) {
    ww_jsonw_open(w, NULL, '{');
    ww_jsonw_u64(w, "launch", number);
    ww_jsonw_str(w, "kernel", kernel);
    ww_jsonw_u64(w, "warp_instructions", p->steps);
    ww_jsonw_u64(w, "thread_instructions", p->threads);
    json_lanes(w, p);
    ww_jsonw_u64(w, "branches", p->branches);
    ww_jsonw_u64(w, "barriers", p->barriers);
    ww_jsonw_u64(w, "flops", p->flops);
    ww_jsonw_u64(w, "global_loads", p->global_loads);
    ww_jsonw_u64(w, "texture_loads", p->loads_texture);
    ww_jsonw_u64(w, "invariant_loads", p->loads_invariant);
    ww_jsonw_u64(w, "fixed_offset_loads", p->loads_fixed);
    ww_jsonw_u64(w, "other_loads", p->loads_other);
    ww_jsonw_u64(w, "global_stores", p->global_stores);
    ww_jsonw_u64(w, "atomics", p->atomics);
    ww_jsonw_u64(w, "global_bytes", p->global_bytes);
    ww_jsonw_u64(w, "distinct_bytes", p->distinct_bytes);
    ww_jsonw_u64(w, "sectors", p->sectors);
    ww_jsonw_u64(w, "lines", p->lines);
    ww_jsonw_u64(w, "shared", p->shared);
    ww_jsonw_u64(w, "shared_passes", p->shared_passes);
    ww_jsonw_u64(w, "local", p->local);
    ww_jsonw_u64(w, "constant", p->constant);
    ww_jsonw_f64(w, "footprint_bytes", p->footprint);
    json_reuse(w, p);
    ww_jsonw_close(w, '}');
}

/* ---- text ---- */

static void text_reuse(const struct ww_profile *p, FILE *out) {
    double all = p->cold, sum = 0;
    for (unsigned k = 0; k < WW_REUSE_BUCKETS; k++) all += p->reuse[k];
    if (all == 0) return;
    fprintf(out, "  reuse: %.1f%% of line accesses are the first", 100 * p->cold / all);
    if (p->reuse_rate < 1) fprintf(out, " (%.3g%% of the lines tracked)", 100 * p->reuse_rate);
    fprintf(out, "\n         an LRU cache of     would hit\n");
    for (unsigned k = 0; k < WW_REUSE_BUCKETS; k++) {
        sum += p->reuse[k];
        if (p->reuse[k] < 0.001 * all) continue;
        double kib = (double)(1ull << k) * WW_PROFILE_LINE / 1024;
        fprintf(out, "         %12.6g KiB     %5.1f%%\n", kib, 100 * sum / all);
    }
}

static void text_launch(size_t number, const char *kernel, const struct ww_profile *p, FILE *out) {
    uint64_t global = p->global_loads + p->global_stores + p->atomics, full = p->lanes[32];
    fprintf(out, "\nlaunch %zu: ", number);
    ww_put_text(out, kernel);
    fputc('\n', out);
    fprintf(out,
            "  divergence: %.1f of 32 lanes active, %.1f%% of warp instructions with all, %.1f%% with none\n",
            ratio(p->threads, p->steps), 100 * ratio(full, p->steps), 100 * ratio(p->lanes[0], p->steps));
    fprintf(out,
            "  global: %llu loads, %llu stores, %llu atomics; %.2f sectors and %.2f lines each, %.1f%% of the "
            "bytes "
            "moved are asked for\n",
            (unsigned long long)p->global_loads, (unsigned long long)p->global_stores,
            (unsigned long long)p->atomics, ratio(p->sectors, global), ratio(p->lines, global),
            100 * ratio(p->distinct_bytes, p->sectors * 32));
    if (p->global_loads)
        fprintf(
            out,
            "  loads: %.1f%% at a fixed offset from lane to lane, %.1f%% at one address, %.1f%% of textures, "
            "%.1f%% other\n",
            100 * ratio(p->loads_fixed, p->global_loads), 100 * ratio(p->loads_invariant, p->global_loads),
            100 * ratio(p->loads_texture, p->global_loads), 100 * ratio(p->loads_other, p->global_loads));
    if (p->shared)
        fprintf(out, "  shared: %llu accesses, %.2f passes each\n", (unsigned long long)p->shared,
                ratio(p->shared_passes, p->shared));
    if (p->local) fprintf(out, "  local: %llu accesses\n", (unsigned long long)p->local);
    if (p->constant) fprintf(out, "  constant: %llu accesses\n", (unsigned long long)p->constant);
    fprintf(out, "  arithmetic: %llu floating-point operations, %.3g for each byte of the sectors\n",
            (unsigned long long)p->flops, ratio(p->flops, p->sectors * 32));
    fprintf(out, "  footprint: %.6g KiB\n", p->footprint / 1024);
    text_reuse(p, out);
}

/* ---- both ---- */

static enum ww_code each_launch(struct ww_trace *trace, struct ww_reuse *reuse, struct ww_jsonw *w, FILE *out,
                                ww_progress_fn progress, void *context, struct ww_error *error) {
    for (size_t i = 0; i < ww_trace_launch_count(trace); i++) {
        struct ww_profile p;
        const struct ww_launch *launch;
        WW_TRY(ww_trace_launch(trace, i, &launch, error));
        if (progress && !progress(context, -1, i, "launches"))
            return ww_fail(error, WW_FAIL, "profile", "stopped before the end");
        WW_TRY(ww_profile_launch(trace, i, reuse, progress, context, &p, error));
        if (w)
            json_launch(w, i, launch->kernel, &p);
        else
            text_launch(i, launch->kernel, &p, out);
    }
    return WW_OK;
}

enum ww_code ww_trace_print_profile(struct ww_trace *trace, bool json, FILE *out, ww_progress_fn progress,
                                    void *context, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_jsonw w;
    struct ww_reuse *reuse = ww_reuse_new();
    if (!reuse) return ww_fail_nomem(error, "a profile");
    if (json) {
        ww_jsonw_begin(&w, out);
        ww_jsonw_open(&w, NULL, '{');
        ww_jsonw_open(&w, "launches", '[');
    }
    enum ww_code code = each_launch(trace, reuse, json ? &w : NULL, out, progress, context, error);
    ww_reuse_free(reuse);
    WW_TRY(code);
    if (!json) return ferror(out) ? ww_written(out, error) : WW_OK;
    ww_jsonw_close(&w, ']');
    ww_jsonw_close(&w, '}');
    return ww_jsonw_end(&w, error);
}
