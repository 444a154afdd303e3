/* histo: the histogram of an image whose values gather around few of very many bins, with counts that stop at
 * 255, in four kernels: which rows of the histogram are popular, where each value is counted, counting in
 * shared memory, and the final counts. As Parboil's histo (J. A. Stratton et al., "Parboil: A Revised Benchmark
 * Suite for Scientific and Commercial Throughput Computing", IMPACT-12-01, 2012). Compared exactly. */
#include "host.h"
#include <string.h>

enum { BAND = 24576, WORDS = BAND / 4, MOST = 255, PRESCAN = 512 }; /* as the kernels have them */
#define OTHER 0x80000000u

struct settings {
    uint32_t size, width, height, rows, log_columns, parts, prescan, block, sample;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(width, "width", "value", 0, 2048, 0, "columns of the image, two for a thread; 0: 60, 996, 996")        \
    U32(height, "height", "value", 0, 16384, 0, "rows of the image; 0: 8, 320, 1040")                          \
    U32(rows, "rows", "row", 0, 4096, 0, "of the histogram; 0: 8, 256, 256")                                   \
    U32(log_columns, "log_columns", "", 4, 12, 12, "the histogram has 2^log_columns columns")                  \
    U32(parts, "parts", "CTA", 0, 256, 0, "that count for a band; 0: 1, 14, 14")                               \
    U32(prescan, "prescan", "CTA", 1, 1024, 64, "of 512 threads of the first kernel at most")                  \
    U32(block, "block", "thread", 1, 1024, 768, "threads of a CTA that counts")                                \
    ENUM(sample, "sample", "all|eighth", 0, "all", "what the first kernel looks at: all data, or an eighth")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct problem {
    const struct settings *s;
    uint32_t width, height, n, rows, log, bins, parts;
    uint32_t first, banded, bands; /* the bins that are counted in bands */
    uint32_t *data, *mapping, *want;
    uint64_t d_data, d_mapping, d_parts, d_other, d_histogram, d_range;
};

/* About normal around `middle`, by the sum of four uniform numbers; within 0 .. below - 1. */
static uint32_t around(struct ww_host *h, double middle, double deviation, uint32_t below) {
    double v = 0;
    for (int i = 0; i < 4; i++) v += ww_rng_unit(&h->rng) - 0.5;
    v = middle + v * deviation * 1.732;
    return v < 0 ? 0 : v >= below ? below - 1 : (uint32_t)v;
}

/* Three in a thousand values lie anywhere, a quarter very near to the middle. */
static uint32_t draw(struct ww_host *h, const struct problem *p) {
    uint32_t columns = 1u << p->log, kind = ww_rng_below(&h->rng, 1000);
    if (kind < 3) return ww_rng_below(&h->rng, p->bins);
    double narrow = kind < 253 ? 0.125 : 1;
    uint32_t row = around(h, p->rows * 0.45, 1.8 * narrow, p->rows);
    return row << p->log | around(h, columns * 0.5, columns / 16.0 * narrow, columns);
}

static enum ww_code make(struct ww_host *h, struct problem *p) {
    const int32_t range[2] = {INT32_MAX, INT32_MIN};
    WW_TRY(ww_host_array(h, &p->data, p->n, sizeof *p->data));
    WW_TRY(ww_host_array(h, &p->mapping, p->n, sizeof *p->mapping));
    WW_TRY(ww_host_array(h, &p->want, p->bins, sizeof *p->want));
    for (size_t i = 0; i < p->n; i++) p->data[i] = draw(h, p);
    WW_TRY(ww_host_upload(h, &p->d_data, p->data, p->n, sizeof *p->data));
    WW_TRY(ww_host_upload(h, &p->d_range, range, 2, sizeof *range));
    WW_TRY(ww_host_buffer(h, &p->d_mapping, p->n, sizeof *p->mapping));
    WW_TRY(ww_host_buffer(h, &p->d_other, p->bins, sizeof(uint32_t)));
    return ww_host_buffer(h, &p->d_histogram, p->bins, 1);
}

/* ---- prescan ---- */

static void want_range(const struct problem *p, uint32_t ctas, uint32_t cta, int32_t range[2]) {
    uint64_t sum = 0, off = 0, count = 0, share = p->n / ctas, end = p->n, piece = PRESCAN;
    uint64_t first = (uint64_t)cta * PRESCAN, step = (uint64_t)ctas * PRESCAN;
    if (p->s->sample) {
        first = cta * share;
        end = first + share / 8;
        step = piece = share ? share : 1;
    }
    for (uint64_t at = first; at < end; at += step)
        for (uint64_t i = at; i < at + piece && i < end; i++, count++) sum += p->data[i] >> p->log;
    if (!count) return;
    int32_t mean = (int32_t)(sum / count);
    for (uint64_t at = first; at < end; at += step)
        for (uint64_t i = at; i < at + piece && i < end; i++) {
            int32_t d = (int32_t)(p->data[i] >> p->log) - mean;
            off += (uint64_t)(d < 0 ? -d : d);
        }
    int32_t width = (int32_t)(4 * off / count) + 1;
    if (mean - width < range[0]) range[0] = mean - width;
    if (mean + width > range[1]) range[1] = mean + width;
}

static enum ww_code prescan(struct ww_host *h, struct problem *p) {
    uint32_t ctas = ww_host_ceil(p->n, PRESCAN), got[2], want[2];
    if (ctas > p->s->prescan) ctas = p->s->prescan;
    if (p->s->sample && p->n / ctas < 8)
        return ww_fail(h->error, WW_USAGE, h->name, "sample=eighth: expected 8 values or more for each CTA");
    const struct ww_host_shape shape = ww_host_line(ctas, PRESCAN);
    const struct ww_arg args[] = {WW_ARG(p->d_data), WW_ARG(p->d_range), WW_ARG(p->n), WW_ARG(p->log)};
    WW_TRY(ww_host_launch(h, p->s->sample ? "histo_prescan_eighth" : "histo_prescan", &shape, WW_ARGS(args)));
    int32_t range[2] = {INT32_MAX, INT32_MIN};
    for (uint32_t cta = 0; cta < ctas; cta++) want_range(p, ctas, cta, range);
    memcpy(want, range, sizeof want);
    WW_TRY(ww_host_read(h, got, p->d_range, 2, sizeof *got));
    WW_TRY(ww_host_same_u32(h, "range", got, want, 2));
    uint32_t low = range[0] < 0 ? 0 : (uint32_t)range[0];
    uint32_t high = range[1] >= (int32_t)p->rows ? p->rows - 1 : (uint32_t)range[1];
    p->first = low << p->log;
    p->banded = (high + 1 - low) << p->log;
    p->bands = ww_host_ceil(p->banded, BAND);
    return ww_host_buffer(h, &p->d_parts, (size_t)p->bands * p->parts * WORDS, sizeof(uint32_t));
}

/* ---- the others ---- */

static enum ww_code intermediates(struct ww_host *h, struct problem *p) {
    uint32_t *want;
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(p->height, 16), p->width / 2);
    const struct ww_arg args[] = {WW_ARG(p->d_data), WW_ARG(p->d_mapping), WW_ARG(p->height), WW_ARG(p->first),
                                  WW_ARG(p->banded)};
    WW_TRY(ww_host_launch(h, "histo_intermediates", &shape, WW_ARGS(args)));
    WW_TRY(ww_host_array(h, &want, p->n, sizeof *want));
    for (size_t i = 0; i < p->n; i++) {
        uint32_t bin = p->data[i], from = bin - p->first;
        bool in = bin >= p->first && from < p->banded;
        want[i] = in ? from / BAND << 16 | from % BAND : OTHER | bin;
    }
    WW_TRY(ww_host_read(h, p->mapping, p->d_mapping, p->n, sizeof *p->mapping));
    return ww_host_same_u32(h, "mapping", p->mapping, want, p->n);
}

static enum ww_code count(struct ww_host *h, const struct problem *p) {
    const struct ww_host_shape shape = {.grid = {p->parts, p->bands, 1}, .block = {p->s->block, 1, 1}};
    const struct ww_arg args[] = {WW_ARG(p->d_mapping), WW_ARG(p->d_parts), WW_ARG(p->d_other), WW_ARG(p->n)};
    return ww_host_launch(h, "histo_main", &shape, WW_ARGS(args));
}

static enum ww_code finish(struct ww_host *h, struct problem *p) {
    uint32_t words = p->bins / 4, first = p->first / 4, banded = p->banded / 4, *got;
    uint32_t ctas = ww_host_ceil(words, 512);
    const struct ww_host_shape shape = ww_host_line(ctas < 42 ? ctas : 42, 512);
    const struct ww_arg args[] = {WW_ARG(p->d_parts), WW_ARG(p->d_other), WW_ARG(p->d_histogram), WW_ARG(words),
                                  WW_ARG(first),      WW_ARG(banded),     WW_ARG(p->parts)};
    WW_TRY(ww_host_launch(h, "histo_final", &shape, WW_ARGS(args)));
    WW_TRY(ww_host_array(h, &got, words, sizeof *got));
    WW_TRY(ww_host_read(h, got, p->d_histogram, words, sizeof *got));
    for (size_t i = 0; i < p->n; i++)
        if (p->want[p->data[i]] < MOST) p->want[p->data[i]]++;
    for (size_t w = 0; w < words; w++) {
        const uint32_t *c = p->want + 4 * w;
        p->want[w] = c[0] | c[1] << 8 | c[2] << 16 | c[3] << 24; /* behind what is still to be read */
    }
    return ww_host_same_u32(h, "histogram", got, p->want, words);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.s = s,
                        .width = ww_host_size(s->width, s->size, 60, 996, 996),
                        .height = ww_host_size(s->height, s->size, 8, 320, 1040),
                        .rows = ww_host_size(s->rows, s->size, 8, 256, 256),
                        .log = s->log_columns,
                        .parts = ww_host_size(s->parts, s->size, 1, 14, 14)};
    if (p.width % 2) return ww_fail(h->error, WW_USAGE, h->name, "width=%u: expected an even number", p.width);
    p.n = p.width * p.height;
    p.bins = p.rows << p.log;
    WW_TRY(make(h, &p));
    WW_TRY(prescan(h, &p));
    WW_TRY(intermediates(h, &p));
    WW_TRY(count(h, &p));
    return finish(h, &p);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("histo", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_histo = {
    .name = "histo",
    .help = "saturating histogram of very many bins: scan, mapping, byte counts in shared memory, final counts",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "histo",
    .run = run,
};
