/* leukocyte: white blood cells in a frame of video are found by the gradient inverse coefficient of variation
 * and its dilation, and tracked by motion gradient vector flow (M. Boyer, D. Tarjan, S. T. Acton, K. Skadron,
 * "Accelerating Leukocyte Tracking using CUDA: A Case Study in Leveraging Manycore Coprocessors", IPDPS 2009,
 * which is Rodinia's leukocyte; N. Ray, S. T. Acton, "Motion Gradient Vector Flow", IEEE TMI 2004). The frame
 * is noise with ring-shaped cells. Tolerances. Score: see add_circle(). Dilation: exact, of the scores that the
 * kernel found. Flow: an iteration adds 8 terms with 8 roundings of numbers below 0.1, 8 sums and 5 more, below
 * 20 in all; it does not enlarge earlier errors, since 0.1 times the derivative of 8 terms stays below 1:
 * factor 20 for each, on 1. */
#include "host.h"
#include <math.h>

enum {
    POINTS = 150,
    CIRCLES = 7,
    RADIUS = 20,
    DISK = 12,
    TRACKERS = 320,
    DILATERS = 176
}; /* as the kernels have */

struct settings {
    uint32_t size, columns, rows, circles, cells, window_columns, window_rows, iterations;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(columns, "columns", "pixel", 0, 4096, 0, "of the frame less 40, CTAs; 0: 4, 32, 596")                  \
    U32(rows, "rows", "pixel", 0, 1024, 0, "of the frame less 40, threads of a CTA; 0: 20, 175, 175")          \
    U32(circles, "circles", "circle", 0, 7, 0, "the largest of seven that are looked at; 0: 1, 1, 7")          \
    U32(cells, "cells", "CTA", 0, 1024, 0, "that are tracked; 0: 1, 4, 36")                                    \
    U32(window_columns, "window_columns", "pixel", 0, 60, 0, "of a cell's window; 0: 9, 41, 41")               \
    U32(window_rows, "window_rows", "pixel", 0, 100, 0, "of a cell's window; 0: 7, 81, 81")                    \
    U32(iterations, "iterations", "iteration", 0, 1000, 0, "of the flow; 0: 2, 4, 20")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct problem {
    uint32_t columns, rows, circles; /* without the margin */
    uint32_t cells, window_columns, window_rows, iterations;
    float *grad[2], *gicov;
    uint64_t d_grad[2], d_gicov;
};

/* ---- input ---- */

/* Adds a ring of radius r around (x, y), with gradients that point outwards, to the frame. */
static void add_ring(const struct problem *p, double x, double y, double r) {
    size_t columns = p->columns + 2 * RADIUS, rows = p->rows + 2 * RADIUS;
    for (size_t c = 0; c < columns; c++)
        for (size_t i = 0; i < rows; i++) {
            double dx = (double)c - x, dy = (double)i - y, d = sqrt(dx * dx + dy * dy);
            if (d < 1 || fabs(d - r) > 1.5) continue;
            p->grad[0][c * rows + i] += (float)(dx / d);
            p->grad[1][c * rows + i] += (float)(dy / d);
        }
}

static enum ww_code make_frame(struct ww_host *h, struct problem *p) {
    uint32_t columns = p->columns + 2 * RADIUS, rows = p->rows + 2 * RADIUS;
    size_t n = (size_t)columns * rows;
    for (int d = 0; d < 2; d++) WW_TRY(ww_host_random(h, &p->grad[d], n, -0.3, 0.3));
    for (uint32_t i = 0; i < 1 + n / 4000; i++) /* one of about 40 x 100 pixels */
        add_ring(p, ww_rng_below(&h->rng, columns), ww_rng_below(&h->rng, rows),
                 8 + 2 * ww_rng_below(&h->rng, CIRCLES));
    for (int d = 0; d < 2; d++) WW_TRY(ww_host_upload(h, &p->d_grad[d], p->grad[d], n, sizeof **p->grad));
    WW_TRY(ww_host_array(h, &p->gicov, (size_t)p->columns * p->rows, sizeof *p->gicov));
    return ww_host_buffer(h, &p->d_gicov, (size_t)p->columns * p->rows, sizeof *p->gicov);
}

/* ---- detection ---- */

/* Takes a circle around a pixel into the score and its tolerance. A sample v is two products and a sum of the
 * table's values, 4 roundings of |gx cos| + |gy sin| (a); with sums of N samples the mean has N + 6 of their
 * mean. The variance has N + 4 of the squares' sum and of the product of sum and mean, and what v's error does
 * to them. The quotient's relative error is the variance's, twice the mean's and 4 more. */
static void add_circle(const struct problem *p, size_t x, size_t y, uint32_t k, double *want,
                       double *tolerance) {
    const double turn = 6.283185307179586, n = POINTS;
    double sum = 0, rough = 0, squares = 0, slope = 0;
    for (int i = 0; i < POINTS; i++) {
        double c = cos(turn * i / n), s = sin(turn * i / n);
        int64_t dx = (int64_t)round((8 + 2 * k) * c), dy = (int64_t)round((8 + 2 * k) * s);
        size_t at =
            (size_t)((int64_t)x + RADIUS + dx) * (p->rows + 2 * RADIUS) + (size_t)((int64_t)y + RADIUS + dy);
        double gx = (double)p->grad[0][at] * c, gy = (double)p->grad[1][at] * s, v = gx + gy;
        double a = fabs(gx) + fabs(gy);
        sum += v;
        rough += a;
        squares += v * v;
        slope += 2 * 4 * fabs(v) * a;
    }
    double mean = sum / n, variance = (squares - sum * mean) / (n - 1), score = mean * mean / variance;
    double mean_error = (n + 6) * rough / n;
    double variance_error =
        ((n + 4) * squares + slope + 4 * fabs(sum * mean) + 2 * fabs(sum) * mean_error) / (n - 1);
    double error = 2 * fabs(mean) * mean_error / variance + score * (variance_error / variance + 4);
    if (score > *want) *want = score;
    if (error > *tolerance) *tolerance = error;
}

static enum ww_code detect(struct ww_host *h, struct problem *p) {
    uint32_t rows = p->rows + 2 * RADIUS;
    const struct ww_host_shape shape = ww_host_line(p->columns, p->rows);
    const struct ww_arg args[] = {WW_ARG(p->d_grad[0]), WW_ARG(p->d_grad[1]), WW_ARG(p->d_gicov), WW_ARG(rows),
                                  WW_ARG(p->circles)};
    WW_TRY(ww_host_launch(h, "leukocyte_gicov", &shape, WW_ARGS(args)));
    size_t n = (size_t)p->columns * p->rows;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = CIRCLES - p->circles; k < CIRCLES; k++)
            add_circle(p, i / p->rows, i % p->rows, k, &want[i], &scale[i]);
    WW_TRY(ww_host_read(h, p->gicov, p->d_gicov, n, sizeof *p->gicov));
    return ww_host_near_f32(h, "gicov", p->gicov, want, scale, n, 1);
}

static float most_around(const struct problem *p, int64_t x0, int64_t y0) {
    float most = 0;
    for (int64_t x = x0 - DISK; x <= x0 + DISK; x++)
        for (int64_t y = y0 - DISK; y <= y0 + DISK; y++) {
            if (x < 0 || y < 0 || x >= p->columns || y >= p->rows) continue;
            if ((x - x0) * (x - x0) + (y - y0) * (y - y0) > DISK * DISK) continue;
            float v = p->gicov[(size_t)x * p->rows + (size_t)y];
            if (v > most) most = v;
        }
    return most;
}

static enum ww_code dilate(struct ww_host *h, struct problem *p) {
    uint32_t n = p->columns * p->rows;
    int32_t columns = (int32_t)p->columns, rows = (int32_t)p->rows;
    uint64_t d_out;
    float *got;
    double *want, *scale;
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale)); /* 0: exact */
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *got));
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(n, DILATERS), DILATERS);
    const struct ww_arg args[] = {WW_ARG(p->d_gicov), WW_ARG(d_out), WW_ARG(columns), WW_ARG(rows)};
    WW_TRY(ww_host_launch(h, "leukocyte_dilate", &shape, WW_ARGS(args)));
    for (uint32_t i = 0; i < n; i++) want[i] = (double)most_around(p, i / p->rows, i % p->rows);
    WW_TRY(ww_host_read(h, got, d_out, n, sizeof *got));
    return ww_host_near_f32(h, "dilated", got, want, scale, n, 1);
}

/* ---- tracking ---- */

static const float vx = 0.6f, vy = 0.8f; /* the cells' direction */

/* One iteration on one cell's window. */
static void iterate(const struct problem *p, const float *image, const double *now, double *next) {
    int64_t columns = p->window_columns, rows = p->window_rows;
    for (int64_t x = 0; x < columns; x++)
        for (int64_t y = 0; y < rows; y++) {
            double v = now[x * rows + y], pull = (double)image[x * rows + y], sum = 0;
            for (int64_t d = 0; d < 9; d++) {
                int64_t dx = d / 3 - 1, dy = d % 3 - 1, nx = x + dx, ny = y + dy;
                nx = nx < 0 ? 0 : nx >= columns ? columns - 1 : nx;
                ny = ny < 0 ? 0 : ny >= rows ? rows - 1 : ny;
                double u = now[nx * rows + ny] - v;
                double along = u * ((double)dx * (double)vx + (double)dy * (double)vy);
                if (d != 4) sum += (0.5 + 0.5 * along / (fabs(along) + (double)0.1f)) * u;
            }
            double f = v + (double)0.1f * sum;
            next[x * rows + y] = f - (double)0.2f * pull * (f - pull);
        }
}

static enum ww_code check_track(struct ww_host *h, const struct problem *p, const float *image,
                                uint64_t d_out) {
    size_t window = (size_t)p->window_columns * p->window_rows, n = window * p->cells;
    double *field[2], *scale;
    float *got;
    for (int i = 0; i < 2; i++) WW_TRY(ww_host_array(h, &field[i], n, sizeof(double)));
    WW_TRY(ww_host_array(h, &scale, n, sizeof *scale));
    WW_TRY(ww_host_array(h, &got, n, sizeof *got));
    for (size_t i = 0; i < n; i++) {
        field[0][i] = (double)image[i];
        scale[i] = 1;
    }
    for (size_t at = 0; at < n; at += window)
        for (uint32_t t = 0; t < p->iterations; t++)
            iterate(p, image + at, field[t & 1] + at, field[~t & 1] + at);
    WW_TRY(ww_host_read(h, got, d_out, n, sizeof *got));
    return ww_host_near_f32(h, "flow", got, field[p->iterations & 1], scale, n, 20.0 * p->iterations);
}

/* Each window shows a bright ring in noise. */
static enum ww_code track(struct ww_host *h, const struct problem *p) {
    uint32_t window = p->window_columns * p->window_rows;
    int32_t columns = (int32_t)p->window_columns, rows = (int32_t)p->window_rows;
    size_t n = (size_t)window * p->cells;
    float *image;
    uint64_t d_image, d_out;
    WW_TRY(ww_host_random(h, &image, n, 0, 0.3));
    for (size_t i = 0; i < n; i++) {
        double dx = (double)(i % window / p->window_rows) - 0.5 * columns;
        double dy = (double)(i % window % p->window_rows) - 0.5 * rows;
        if (fabs(sqrt(dx * dx + dy * dy) - 0.3 * columns) < 1.5) image[i] += 0.7f;
    }
    WW_TRY(ww_host_upload(h, &d_image, image, n, sizeof *image));
    WW_TRY(ww_host_buffer(h, &d_out, n, sizeof *image));
    struct ww_host_shape shape = ww_host_line(p->cells, TRACKERS);
    shape.shared = 2 * window * (uint32_t)sizeof(float);
    const struct ww_arg args[] = {WW_ARG(d_image),       WW_ARG(d_out), WW_ARG(columns), WW_ARG(rows),
                                  WW_ARG(p->iterations), WW_ARG(vx),    WW_ARG(vy)};
    WW_TRY(ww_host_launch(h, "leukocyte_imgvf", &shape, WW_ARGS(args)));
    return check_track(h, p, image, d_out);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.columns = ww_host_size(s->columns, s->size, 4, 32, 596),
                        .rows = ww_host_size(s->rows, s->size, 20, 175, 175),
                        .circles = ww_host_size(s->circles, s->size, 1, 1, 7),
                        .cells = ww_host_size(s->cells, s->size, 1, 4, 36),
                        .window_columns = ww_host_size(s->window_columns, s->size, 9, 41, 41),
                        .window_rows = ww_host_size(s->window_rows, s->size, 7, 81, 81),
                        .iterations = ww_host_size(s->iterations, s->size, 2, 4, 20)};
    WW_TRY(make_frame(h, &p));
    WW_TRY(detect(h, &p));
    WW_TRY(dilate(h, &p));
    return track(h, &p);
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("leukocyte", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_leukocyte = {
    .name = "leukocyte",
    .help = "cells in video: gathers along circles, dilation by a disk, iterated flow in shared memory",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "leukocyte",
    .run = run,
};
