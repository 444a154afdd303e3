/* The paper's figures, as data files and one gnuplot script. */
#include "../../base/escape.h"
#include "dissect.h"
#include "../../base/outfile.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct folder {
    const char *dir;
    FILE *script;
};

static enum ww_code open_in(const struct folder *f, const char *name, FILE **out, struct ww_error *error) {
    char path[4096];
    WW_TRY(ww_outfile_check_in(f->dir, name, error));
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    *out = fopen(path, "w");
    return *out ? WW_OK : ww_fail(error, WW_IO, path, "cannot write: %s", strerror(errno));
}

static enum ww_code close_in(FILE *file, const char *name, struct ww_error *error) {
    bool bad = ferror(file) != 0;
    bad |= fclose(file) != 0;
    return bad ? ww_fail(error, WW_IO, name, "cannot write") : WW_OK;
}

static void script(const struct folder *f, const char *name, const char *title, const char *x, const char *y,
                   const char *more) {
    fprintf(f->script,
            "reset\nset terminal svg size 720,480 background 'white'\nset output '%s.svg'\nset title '%s'\nset "
            "xlabel '%s'\n"
            "set ylabel '%s'\nset key outside\n%s\n",
            name, title, x, y, more);
}

static enum ww_code strides_of_sizes(const struct folder *f, const struct ww_dissect *d,
                                     struct ww_error *error) {
    const struct ww_dissect_classic *c = &d->classic;
    FILE *out;
    WW_TRY(open_in(f, "fig4.dat", &out, error));
    for (size_t i = 0; i < c->saavedra_count; i++) {
        if (i && c->saavedra[i].bytes != c->saavedra[i - 1].bytes) fprintf(out, "\n\n");
        if (!i || c->saavedra[i].bytes != c->saavedra[i - 1].bytes)
            fprintf(out, "\"%lluKB\"\n", (unsigned long long)c->saavedra[i].bytes / 1024);
        fprintf(out, "%llu %.3f\n", (unsigned long long)c->saavedra[i].stride, c->saavedra[i].cycles);
    }
    script(f, "fig4", "Strides at fixed sizes, texture cache (Saavedra)", "stride, bytes", "cycles",
           "set logscale x 2\n"
           "plot for [i=0:4] 'fig4.dat' index i using 1:2 with linespoints title columnheader(1)");
    return close_in(out, "fig4.dat", error);
}

static enum ww_code sizes_at_stride(const struct folder *f, const struct ww_dissect *d,
                                    struct ww_error *error) {
    FILE *out;
    WW_TRY(open_in(f, "fig5.dat", &out, error));
    for (size_t i = 0; i < d->classic.wong_count; i++)
        fprintf(out, "%.4f %.3f\n", (double)d->classic.wong[i].bytes / 1024, d->classic.wong[i].cycles);
    script(f, "fig5", "Sizes at one stride, texture cache (Wong)", "size, KB", "cycles",
           "plot 'fig5.dat' using 1:2 with linespoints notitle");
    return close_in(out, "fig5.dat", error);
}

/* Part of the lines that miss, over the size. */
static enum ww_code miss_rates(const struct folder *f, const struct ww_dissect *d, struct ww_error *error) {
    FILE *out;
    const struct ww_infer_cache *c = &d->tlb[d->tlb_count - 1].c;
    size_t lines = c->line ? (size_t)(c->size / c->line) : 0, missing = 0;
    WW_TRY(open_in(f, "fig8.dat", &out, error));
    fprintf(out, "%llu 0\n", (unsigned long long)(c->size >> 20));
    for (size_t i = 0; i < c->grown_count; i++) {
        missing += c->grown[i];
        size_t all = lines + i + 1;
        fprintf(out, "%llu %.4f\n", (unsigned long long)(all * c->line >> 20),
                (double)(missing + i + 1 < all ? missing + i + 1 : all) / (double)all);
    }
    script(f, "fig8", "Misses of the last TLB level", "size, MB", "miss rate",
           "plot 'fig8.dat' using 1:2 with linespoints notitle");
    return close_in(out, "fig8.dat", error);
}

static enum ww_code copies(const struct folder *f, const char *name, const struct ww_dissect_point *p,
                           size_t count, uint32_t warps_of, struct ww_error *error) {
    FILE *out;
    char file[32];
    snprintf(file, sizeof file, "%s.dat", name);
    WW_TRY(open_in(f, file, &out, error));
    fprintf(out, "# CTAs, threads of a CTA, words at a time, %s, GB/s\n",
            warps_of ? "warps of an SM" : "threads");
    for (size_t i = 0; i < count; i++) {
        uint32_t threads = p[i].ctas * p[i].cta_size;
        fprintf(out, "%u %u %u %u %.3f\n", p[i].ctas, p[i].cta_size, p[i].ilp,
                warps_of ? threads / warps_of : threads, p[i].gbps);
    }
    return close_in(out, file, error);
}

/* A column's heading: the GPU's name is the name of a file. */
static void put_name(FILE *out, const char *gpu, const char *pattern) {
    fputs(" \"", out);
    ww_put_gnuplot(out, gpu);
    fprintf(out, " %s\"", pattern);
}

static enum ww_code patterns(const struct folder *f, const struct ww_dissect *d, struct ww_error *error) {
    FILE *out;
    WW_TRY(open_in(f, "fig14.dat", &out, error));
    fprintf(out, "pattern");
    for (size_t i = 0; i < d->pattern_count; i++) put_name(out, d->gpu, d->pattern[i].name);
    for (int k = 0; k < 6; k++) {
        fprintf(out, "\nP%d", k + 1);
        for (size_t i = 0; i < d->pattern_count; i++)
            if (isnan(d->pattern[i].p[k]))
                fprintf(out, " ?");
            else
                fprintf(out, " %.0f", d->pattern[i].p[k]);
    }
    fprintf(out, "\n");
    script(f, "fig14", "Latency of a global load", "pattern", "cycles",
           "set style data histograms\nset style fill solid\nset logscale y\nset xrange [-1:6]\n"
           "set yrange [10:*]\nset datafile missing '?'\n"
           "plot for [i=2:*] 'fig14.dat' using i:xtic(1) title columnheader(i)");
    return close_in(out, "fig14.dat", error);
}

static enum ww_code strides(const struct folder *f, const struct ww_dissect *d, struct ww_error *error) {
    FILE *out;
    WW_TRY(open_in(f, "fig17.dat", &out, error));
    for (size_t i = 0; i < WW_DISSECT_STRIDES; i++) {
        const struct ww_dissect_stride *s = &d->shared.stride[i];
        fprintf(out, "%u %.2f", s->stride, s->cycles);
        fprintf(out, isnan(s->cycles8) ? " ?\n" : " %.2f\n", s->cycles8);
    }
    script(f, "fig17", "Shared memory, a warp with a stride", "stride, words of 4 bytes", "cycles",
           "plot 'fig17.dat' using 1:2 with linespoints notitle");
    if (d->shared.modes)
        script(f, "fig19", "Shared memory by mode of the banks", "stride, words of 4 bytes", "cycles",
               "set datafile missing '?'\nplot 'fig17.dat' every 2::1 using 1:2 with linespoints title '4-byte "
               "mode', "
               "'' every 2::1 using 1:3 with linespoints title '8-byte mode'");
    return close_in(out, "fig17.dat", error);
}

static enum ww_code curve(const struct folder *f, const char *name, const struct ww_dissect_xy *p, size_t count,
                          struct ww_error *error) {
    FILE *out;
    WW_TRY(open_in(f, name, &out, error));
    for (size_t i = 0; i < count; i++)
        if (!isnan(p[i].y)) fprintf(out, "%.3f %.3f\n", (double)p[i].bytes / 1024, p[i].y);
    return close_in(out, name, error);
}

static enum ww_code streams(const struct folder *f, const struct ww_dissect_curves *c, struct ww_error *error) {
    FILE *out;
    WW_TRY(open_in(f, "curve-stream.dat", &out, error));
    fprintf(out, "# CTAs of an SM, threads of a CTA, threads of an SM, GB/s of reads, of triads\n");
    for (size_t i = 0; i < c->stream_count; i++)
        fprintf(out, "%u %u %u %.3f %.3f\n", c->stream[i].ctas, c->stream[i].cta_size,
                c->stream[i].ctas * c->stream[i].cta_size, c->stream[i].read, c->stream[i].triad);
    script(f, "curve-stream", "Streams", "threads of an SM", "GB/s",
           "plot 'curve-stream.dat' using 3:4 with linespoints title 'read', "
           "'' using 3:5 with linespoints title 'triad'");
    return close_in(out, "curve-stream.dat", error);
}

static enum ww_code curves(const struct folder *f, const struct ww_dissect_curves *c, struct ww_error *error) {
    WW_TRY(curve(f, "curve-latency.dat", c->latency, c->latency_count, error));
    WW_TRY(curve(f, "curve-same.dat", c->cache, c->cache_count, error));
    WW_TRY(curve(f, "curve-parts.dat", c->l2, c->l2_count, error));
    script(f, "curve-latency", "Random chase", "size, KB", "cycles",
           "set logscale x 2\nplot 'curve-latency.dat' using 1:2 with linespoints notitle");
    script(f, "curve-bandwidth", "Reads by all SMs", "size, KB", "GB/s",
           "set logscale xy\nplot 'curve-same.dat' using 1:2 with linespoints title 'the same', "
           "'curve-parts.dat' using 1:2 with linespoints title 'parts'");
    return streams(f, c, error);
}

static enum ww_code figures(const struct folder *f, const struct ww_dissect *d, struct ww_error *error) {
    if (d->classic.measured) WW_TRY(strides_of_sizes(f, d, error));
    if (d->classic.measured) WW_TRY(sizes_at_stride(f, d, error));
    if (d->tlb_count) WW_TRY(miss_rates(f, d, error));
    if (d->global.measured) {
        WW_TRY(copies(f, "fig12", d->global.point, d->global.point_count, 0, error));
        script(
            f, "fig12", "Global copy", "CTAs", "GB/s",
            "set logscale x 2\nset datafile missing NaN\n"
            "plot for [s in '64 256 1024'] for [i in '1 2 4'] 'fig12.dat' using 1:($2==s && $3==i ? $5 : NaN) "
            "with linespoints title 'CTA '.s.', ILP '.i");
    }
    if (d->pattern_count) WW_TRY(patterns(f, d, error));
    if (d->curves.measured) WW_TRY(curves(f, &d->curves, error));
    if (!d->shared.measured) return WW_OK;
    WW_TRY(strides(f, d, error));
    WW_TRY(copies(f, "fig15", d->shared.point, d->shared.point_count, 32, error));
    script(f, "fig15", "Shared copy of an SM", "warps", "GB/s",
           "set logscale x 2\nplot for [i in '1 2 4 6 8'] 'fig15.dat' using ($3==i ? $4 : 1/0):5 "
           "with points title 'ILP '.i");
    return WW_OK;
}

/* What gnuplot would write over. */
static enum ww_code check_images(const char *dir, struct ww_error *error) {
    static const char *const image[] = {
        "fig4.svg",  "fig5.svg",  "fig8.svg",          "fig12.svg",           "fig14.svg",       "fig15.svg",
        "fig17.svg", "fig19.svg", "curve-latency.svg", "curve-bandwidth.svg", "curve-stream.svg"};
    for (size_t i = 0; i < sizeof image / sizeof *image; i++) WW_TRY(ww_outfile_check_in(dir, image[i], error));
    return WW_OK;
}

/* Draws, if there is a gnuplot; its failure is no error of ours. */
static void draw(const char *dir) {
    pid_t child = fork();
    if (child == 0) {
        if (chdir(dir) != 0) _exit(127);
        FILE *null = freopen("/dev/null", "w", stderr);
        if (null) execlp("gnuplot", "gnuplot", "figures.gp", (char *)NULL);
        _exit(127);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

enum ww_code ww_dissect_plots(const struct ww_dissect *d, const char *dir, struct ww_error *error) {
    struct folder f = {.dir = dir};
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return ww_fail(error, WW_IO, dir, "cannot make the folder: %s", strerror(errno));
    WW_TRY(open_in(&f, "figures.gp", &f.script, error));
    fputs("# gnuplot figures.gp: figures of the dissection of ", f.script);
    ww_put_gnuplot(f.script, d->gpu);
    fputc('\n', f.script);
    enum ww_code code = figures(&f, d, error);
    struct ww_error late;
    enum ww_code closed = close_in(f.script, "figures.gp", code == WW_OK ? error : &late);
    if (code == WW_OK) code = closed;
    WW_TRY(code);
    WW_TRY(check_images(dir, error));
    draw(dir);
    return WW_OK;
}
