/* srad: speckle-reducing anisotropic diffusion (Y. Yu, S. T. Acton, "Speckle Reducing Anisotropic Diffusion",
 * IEEE Trans. Image Processing 11(11), 2002), in two kernels as Rodinia's benchmark of that name. The image:
 * exp of numbers in [0, 1), so that it is positive; q0^2 is the image's relative variance, computed on the
 * host.
 *
 * Each launch is compared, given what the device holds before it. Tolerances: the differences are one
 * subtraction of exact numbers, factor 1. The coefficient divides by numbers of the size of 1 (the cut image
 * keeps 1 + lap / 4 above 1/4): its error is bounded term by term in coefficient(). The update: four products,
 * four sums and two scalings, factor 10 on the sum of absolute terms. */
#include "host.h"
#include <math.h>

enum { TILE = 16, FIELDS = 6 }; /* TILE of kernels/srad.cu; the four differences, coefficient, image */
static const float rate = 0.5f;

struct settings {
    uint32_t size, rows, cols, iterations;
};
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(rows, "rows", "pixel", 0, 8192, 0, "rows, a multiple of 16; 0: 32, 512, 1024")                         \
    U32(cols, "cols", "pixel", 0, 8192, 0, "columns, a multiple of 16; 0: 48, 512, 1024")                      \
    U32(iterations, "iterations", "iteration", 1, 100, 1, "iterations, two launches each")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

enum { NORTH, SOUTH, WEST, EAST, COEFFICIENT, IMAGE };
static const char *const names[FIELDS] = {"north", "south", "west", "east", "coefficient", "image"};

struct problem {
    uint32_t rows, cols;
    size_t pixels;
    float *field[FIELDS]; /* as the device holds them */
    double *want[FIELDS], *scale[FIELDS];
    uint64_t d[FIELDS];
};

static enum ww_code make(struct ww_host *h, struct problem *p) {
    p->pixels = (size_t)p->rows * p->cols;
    for (int f = 0; f < FIELDS; f++) {
        WW_TRY(ww_host_array(h, &p->field[f], p->pixels, sizeof(float)));
        WW_TRY(ww_host_array(h, &p->want[f], p->pixels, sizeof(double)));
        WW_TRY(ww_host_array(h, &p->scale[f], p->pixels, sizeof(double)));
    }
    for (size_t i = 0; i < p->pixels; i++) p->field[IMAGE][i] = (float)exp(ww_rng_unit(&h->rng));
    for (int f = 0; f < FIELDS; f++) WW_TRY(ww_host_upload(h, &p->d[f], p->field[f], p->pixels, sizeof(float)));
    return WW_OK;
}

/* Variance over squared mean. */
static float relative_variance(const struct problem *p) {
    double sum = 0, squares = 0, n = (double)p->pixels;
    for (size_t i = 0; i < p->pixels; i++) {
        double v = (double)p->field[IMAGE][i];
        sum += v;
        squares += v * v;
    }
    double mean = sum / n;
    return (float)((squares / n - mean * mean) / (mean * mean));
}

/* The neighbour's index in direction f, or i at the edge. */
static size_t neighbour(const struct problem *p, size_t i, int f) {
    size_t row = i / p->cols, col = i % p->cols;
    if (f == NORTH) return row > 0 ? i - p->cols : i;
    if (f == SOUTH) return row + 1 < p->rows ? i + p->cols : i;
    if (f == WEST) return col > 0 ? i - 1 : i;
    return col + 1 < p->cols ? i + 1 : i;
}

/* The coefficient of pixel i and, in *scale, a bound of its error in units of roundoff: each quantity's bound
 * is what its operands' bounds let through plus one rounding of its own an operation (12 for the four terms of
 * a sum, where a quotient may take two). */
static double coefficient(const struct problem *p, size_t i, double q0, double *scale) {
    double v = (double)p->field[IMAGE][i], squares = 0, sum = 0, size = 0;
    for (int f = NORTH; f <= EAST; f++) {
        double d = p->want[f][i];
        squares += d * d;
        sum += d;
        size += fabs(d);
    }
    double g = squares / (v * v), l = sum / v, l_error = 6 * size / v;
    double number = 0.5 * g - l * l / 16, root = 1 + l / 4;
    double number_error = 12 * (0.5 * g + l * l / 16) + fabs(l) * l_error / 8;
    double root_error = l_error / 4 + fabs(root);
    double q = number / (root * root);
    double q_error = number_error / (root * root) + fabs(q) * (2 * root_error / fabs(root) + 4);
    double span = q0 * (1 + q0), r = 1 + (q - q0) / span;
    double r_error = (q_error + fabs(q - q0)) / span + 5 * fabs(r - 1) + fabs(r);
    double c = 1 / r;
    *scale = c * c * r_error + 2 * fabs(c);
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

static enum ww_code check_coefficient(struct ww_host *h, struct problem *p, double q0) {
    const float *image = p->field[IMAGE];
    for (size_t i = 0; i < p->pixels; i++) {
        for (int f = NORTH; f <= EAST; f++) {
            p->want[f][i] = (double)image[neighbour(p, i, f)] - (double)image[i];
            p->scale[f][i] = fabs(p->want[f][i]);
        }
        p->want[COEFFICIENT][i] = coefficient(p, i, q0, &p->scale[COEFFICIENT][i]);
    }
    for (int f = NORTH; f <= COEFFICIENT; f++) {
        WW_TRY(ww_host_read(h, p->field[f], p->d[f], p->pixels, sizeof(float)));
        WW_TRY(ww_host_near_f32(h, names[f], p->field[f], p->want[f], p->scale[f], p->pixels, 1));
    }
    return WW_OK;
}

static enum ww_code check_update(struct ww_host *h, struct problem *p) {
    for (size_t i = 0; i < p->pixels; i++) {
        double sum = (double)p->field[IMAGE][i], size = fabs(sum);
        for (int f = NORTH; f <= EAST; f++) {
            size_t at = f == SOUTH || f == EAST ? neighbour(p, i, f) : i;
            double term = 0.25 * (double)rate * (double)p->field[COEFFICIENT][at] * (double)p->field[f][i];
            sum += term;
            size += fabs(term);
        }
        p->want[IMAGE][i] = sum;
        p->scale[IMAGE][i] = size;
    }
    WW_TRY(ww_host_read(h, p->field[IMAGE], p->d[IMAGE], p->pixels, sizeof(float)));
    return ww_host_near_f32(h, names[IMAGE], p->field[IMAGE], p->want[IMAGE], p->scale[IMAGE], p->pixels, 10);
}

static enum ww_code iterate(struct ww_host *h, struct problem *p) {
    const struct ww_host_shape shape = {.grid = {p->cols / TILE, p->rows / TILE, 1}, .block = {TILE, TILE, 1}};
    float q0 = relative_variance(p);
    const struct ww_arg first[] = {WW_ARG(p->d[IMAGE]), WW_ARG(p->d[NORTH]), WW_ARG(p->d[SOUTH]),
                                   WW_ARG(p->d[WEST]),  WW_ARG(p->d[EAST]),  WW_ARG(p->d[COEFFICIENT]),
                                   WW_ARG(p->rows),     WW_ARG(p->cols),     WW_ARG(q0)};
    WW_TRY(ww_host_launch(h, "srad_coefficient", &shape, WW_ARGS(first)));
    WW_TRY(check_coefficient(h, p, (double)q0));
    const struct ww_arg second[] = {WW_ARG(p->d[IMAGE]), WW_ARG(p->d[NORTH]), WW_ARG(p->d[SOUTH]),
                                    WW_ARG(p->d[WEST]),  WW_ARG(p->d[EAST]),  WW_ARG(p->d[COEFFICIENT]),
                                    WW_ARG(p->rows),     WW_ARG(p->cols),     WW_ARG(rate)};
    WW_TRY(ww_host_launch(h, "srad_update", &shape, WW_ARGS(second)));
    return check_update(h, p);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.rows = ww_host_size(s->rows, s->size, 32, 512, 1024),
                        .cols = ww_host_size(s->cols, s->size, 48, 512, 1024)};
    if (p.rows % TILE || p.cols % TILE)
        return ww_fail(h->error, WW_USAGE, h->name, "rows=%u, cols=%u: expected multiples of %d", p.rows,
                       p.cols, TILE);
    WW_TRY(make(h, &p));
    for (uint32_t i = 0; i < s->iterations; i++) WW_TRY(iterate(h, &p));
    return WW_OK;
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("srad", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_srad = {
    .name = "srad",
    .help = "speckle-reducing diffusion of an image: tiles in shared memory with their borders, streaming",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "srad",
    .run = run,
};
