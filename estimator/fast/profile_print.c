/* profile_print.c: what a stored profile holds, for `warpwatt trace profile`. */
#include "../api/trace.h"
#include "../base/escape.h"
#include "../base/locale.h"
#include "../base/text.h"
#include "profile_file.h"
#include "profile_path.h"
#include <inttypes.h>

/* Of the counts of one or two lists (b may be NULL), the part at distances from so many lines on. */
static double share_beyond(const float *a, const float *b, double lines) {
    double all = 0, beyond = 0;
    for (unsigned i = 0; i < WW_REUSE_BINS; i++) {
        double n = (double)a[i] + (b ? (double)b[i] : 0);
        all += n;
        if (ww_reuse_bin_start(i) >= lines) beyond += n;
    }
    return all > 0 ? 100 * beyond / all : 0;
}

/* Cycles of the mean CTA's path where its planes were taken: their latencies are those of Volta, Maxwell,
 * Fermi. */
static void print_paths(const struct ww_kernel_profile *p, FILE *out) {
    static const char *const machine[3] = {"volta", "maxwell", "fermi"};
    fputs("  path of a CTA, cycles if loads take     40      160      450     1500\n", out);
    for (unsigned m = 0; m < 3; m++) {
        fprintf(out, "    %-30s", machine[m]);
        for (unsigned k = m; k < WW_PATH_PLANES; k += 3) {
            struct ww_path_latency l = ww_path_point(k);
            double sum = 0;
            for (int c = 0; c < WW_PATH_COUNT; c++) sum += (double)p->plane[k][c] * l.of[c];
            fprintf(out, " %8.0f", sum);
        }
        fputc('\n', out);
    }
}

static void print_reuse(const struct ww_kernel_profile *p, FILE *out) {
    static const uint32_t kib[] = {16, 64, 256, 1024, 4096};
    fputs("  loads that miss, % of sectors      16 KiB   64 KiB  256 KiB    1 MiB    4 MiB\n", out);
    for (unsigned level = 0; level < WW_LOCAL_LEVELS; level += 2) {
        fprintf(out, "    of %2u CTA%-20s", 1u << level, level ? "s on an SM" : " on an SM");
        for (unsigned i = 0; i < 5; i++)
            fprintf(
                out, " %8.1f",
                share_beyond(p->local_reuse[level].sector[0], p->local_reuse[level].sector[1], kib[i] * 8.0));
        fputc('\n', out);
    }
    fprintf(out, "    %-29s", "of all SMs");
    for (unsigned i = 0; i < 5; i++)
        fprintf(out, " %8.1f", share_beyond(p->global_reuse[WW_GLOBAL_LEVELS - 1].sector, NULL, kib[i] * 8.0));
    fputc('\n', out);
}

static void print_launch(const struct ww_kernel_profile *p, size_t index, FILE *out) {
    uint64_t loads = p->global_loads + p->local + p->texture;
    uint64_t lines = p->load_lines[0] + p->load_lines[1] + p->bypass_lines;
    fprintf(out, "\nlaunch %zu: %s\n", index, ww_shown(p->kernel));
    fprintf(out, "  %" PRIu64 " CTAs of %u warps; %.0f warp instructions each, at most %.0f, deviation %.0f\n",
            p->ctas, p->warps_per_cta, p->cta_mean, p->cta_max, p->cta_deviation);
    fprintf(out, "  %.2f lines a load, %.2f passes a shared access, %" PRIu64 " barriers of warps\n",
            loads ? (double)lines / (double)loads : 0,
            p->shared ? (double)(p->shared_passes + p->shared_store_passes) / (double)p->shared : 0,
            p->barriers);
    fprintf(out, "  DRAM: %.3f pieces of 256 bytes and %.4f stretches of 128 KiB for each sector missed\n",
            p->chunks_per_sector[WW_ROW_SECTORS][1], p->rows_per_sector[WW_ROW_SECTORS][1]);
    print_paths(p, out);
    if (lines) print_reuse(p, out);
}

enum ww_code ww_trace_print_model_profile(struct ww_trace *trace, const char *path, FILE *out,
                                          ww_progress_fn progress, void *context, struct ww_error *error) {
    WW_PLAIN_LOCALE;
    struct ww_model_profile profile;
    struct ww_error why;
    WW_TRY(ww_model_profile_of(trace, path, progress, context, &profile, &why, error));
    if (why.code == WW_OK)
        fprintf(out, "%s" WW_PROFILE_SUFFIX ": read, trace %s\n", ww_shown(path), profile.hash);
    else
        fprintf(out, "%s" WW_PROFILE_SUFFIX ": made (%s), trace %s\n", ww_shown(path), ww_shown(why.text),
                profile.hash);
    for (size_t i = 0; i < profile.count; i++) print_launch(&profile.launch[i], i, out);
    ww_model_profile_free(&profile);
    return ferror(out) ? ww_fail(error, WW_IO, "standard output", "cannot be written") : WW_OK;
}
