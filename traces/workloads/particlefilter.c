/* particlefilter: a particle filter that follows a disc in a video (M. S. Arulampalam et al., "A Tutorial on
 * Particle Filters", IEEE Trans. Signal Processing 50(2), 2002), as Rodinia's benchmark of that name; `used` of
 * its frames are filtered. Weights are summed and cumulated on the host.
 *
 * Noise is a multiple of 1/16 (a sum of four uniform ones), so that places, and with whole-numbered pixels the
 * sum of the likelihood, are exact: below points * 23296 < 2^24 in sixteenths and units. The weight: two
 * roundings of an argument of magnitude below 21, e^v within 3 ulp (6 units): factor 6 + 3 * 21. Partial sums:
 * 10 more. Places after resampling are compared exactly, given the cumulated weights. */
#include "host.h"
#include <math.h>
#include <stdlib.h>

enum { BLOCK = 512, FOREGROUND = 228, BACKGROUND = 100, RADIUS = 5 }; /* of kernels/particlefilter.cu */

struct settings {
    uint32_t size, particles, width, height, frames, used, precision;
};
enum { SINGLE, DOUBLE };
#define PARAMS(U32, ENUM)                                                                                      \
    WW_SIZE_PARAM(ENUM)                                                                                        \
    U32(particles, "particles", "particle", 0, 1048576, 0, "particles; 0: 150, 3840, 23040")                   \
    U32(width, "width", "pixel", 16, 1024, 128, "width of the video")                                          \
    U32(height, "height", "pixel", 16, 1024, 128, "height of the video")                                       \
    U32(frames, "frames", "frame", 1, 64, 10, "frames of the video, interleaved")                              \
    U32(used, "used", "frame", 1, 64, 1, "frames filtered, at most `frames`; two launches each")               \
    ENUM(precision, "precision", "single|double", 0, "single", "of places and weights on the device")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

struct problem {
    const struct settings *s;
    uint32_t particles, points, pixels;
    uint8_t *video;
    int32_t *disc;
    float *x, *y, *noise[2], *weight, *cumulated, *level, *got, *partial;
    double *want, *scale, *wide; /* wide: on their way to or from a device with double precision */
    uint64_t d_x[2], d_y[2], d_noise[2], d_disc, d_video, d_index, d_weight, d_partial, d_cumulated, d_level;
};

static size_t place(const struct settings *s, uint32_t x, uint32_t y, uint32_t frame) {
    return ((size_t)x * s->height + y) * s->frames + frame;
}

/* The disc starts in the middle and moves by (1, -2) a frame; noise of -8 .. 7 on every pixel. */
static enum ww_code make_video(struct ww_host *h, struct problem *p) {
    const struct settings *s = p->s;
    p->pixels = s->width * s->height * s->frames;
    WW_TRY(ww_host_array(h, &p->video, p->pixels, 1));
    WW_TRY(ww_host_array(h, &p->disc, 2 * (2 * RADIUS + 1) * (2 * RADIUS + 1), sizeof *p->disc));
    for (uint32_t k = 0; k < s->frames; k++)
        for (uint32_t x = 0; x < s->width; x++)
            for (uint32_t y = 0; y < s->height; y++) {
                double dx = (double)x - s->width / 2 - 1.0 * k, dy = (double)y - s->height / 2 + 2.0 * k;
                uint32_t v = dx * dx + dy * dy < RADIUS * RADIUS ? FOREGROUND : BACKGROUND;
                p->video[place(s, x, y, k)] = (uint8_t)(v + ww_rng_below(&h->rng, 16) - 8);
            }
    for (int32_t dx = -RADIUS; dx <= RADIUS; dx++)
        for (int32_t dy = -RADIUS; dy <= RADIUS; dy++)
            if (dx * dx + dy * dy < RADIUS * RADIUS) {
                p->disc[2 * p->points] = dx;
                p->disc[2 * p->points++ + 1] = dy;
            }
    return WW_OK;
}

static size_t number_bytes(const struct problem *p) {
    return p->s->precision == DOUBLE ? sizeof(double) : sizeof(float);
}

/* n numbers to and from the device. Places and levels are exact in both precisions. */
static enum ww_code put(struct ww_host *h, struct problem *p, uint64_t to, const float *numbers, size_t n) {
    const void *from = numbers;
    if (p->s->precision == DOUBLE) {
        for (size_t i = 0; i < n; i++) p->wide[i] = (double)numbers[i];
        from = p->wide;
    }
    return ww_device_write(h->device, to, from, n * number_bytes(p), h->error);
}
static enum ww_code get(struct ww_host *h, struct problem *p, float *numbers, uint64_t from, size_t n) {
    if (p->s->precision == SINGLE) return ww_host_read(h, numbers, from, n, sizeof *numbers);
    WW_TRY(ww_host_read(h, p->wide, from, n, sizeof *p->wide));
    for (size_t i = 0; i < n; i++) numbers[i] = (float)p->wide[i];
    return WW_OK;
}

static enum ww_code make(struct ww_host *h, struct problem *p) {
    size_t n = p->particles;
    float **const arrays[] = {&p->x,         &p->y,     &p->noise[0], &p->noise[1], &p->weight,
                              &p->cumulated, &p->level, &p->got,      &p->partial};
    uint64_t *const buffers[] = {&p->d_x[0],      &p->d_y[0],  &p->d_noise[0], &p->d_noise[1], &p->d_weight,
                                 &p->d_cumulated, &p->d_level, &p->d_x[1],     &p->d_y[1],     &p->d_partial};
    WW_TRY(make_video(h, p));
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        WW_TRY(ww_host_array(h, arrays[i], n, sizeof(float)));
    WW_TRY(ww_host_array(h, &p->want, n, sizeof *p->want));
    WW_TRY(ww_host_array(h, &p->scale, n, sizeof *p->scale));
    WW_TRY(ww_host_array(h, &p->wide, n, sizeof *p->wide));
    for (size_t i = 0; i < n; i++) {
        p->x[i] = (float)(p->s->width / 2);
        p->y[i] = (float)(p->s->height / 2);
    }
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        WW_TRY(ww_host_buffer(h, buffers[i], n, number_bytes(p)));
    WW_TRY(put(h, p, p->d_x[0], p->x, n));
    WW_TRY(put(h, p, p->d_y[0], p->y, n));
    WW_TRY(ww_host_upload(h, &p->d_disc, p->disc, 2 * (size_t)p->points, sizeof *p->disc));
    WW_TRY(ww_host_upload(h, &p->d_video, p->video, p->pixels, 1));
    return ww_host_buffer(h, &p->d_index, n * p->points, sizeof(int32_t));
}

static enum ww_code same(struct ww_host *h, const char *array, const float *got, const float *want, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(got[i] == want[i]))
            return ww_fail(h->error, WW_MISMATCH, h->name, "%s[%zu] is %.9g, expected %.9g exactly", array, i,
                           (double)got[i], (double)want[i]);
    return WW_OK;
}

/* Moves particle i as the kernel does and returns its weight. */
static double weigh(struct problem *p, size_t i, uint32_t frame) {
    const struct settings *s = p->s;
    p->x[i] += 1 + 5 * p->noise[0][i];
    p->y[i] += -2 + 2 * p->noise[1][i];
    int32_t x = (int32_t)rintf(p->x[i]), y = (int32_t)rintf(p->y[i]), height = (int32_t)s->height;
    double sum = 0;
    for (uint32_t d = 0; d < p->points; d++) {
        int32_t line = (x + p->disc[2 * d]) * height + y + p->disc[2 * d + 1];
        int32_t at = abs(line * (int32_t)s->frames + (int32_t)frame);
        double v = p->video[at < (int32_t)p->pixels ? at : 0];
        sum += (v - BACKGROUND) * (v - BACKGROUND) - (v - FOREGROUND) * (v - FOREGROUND);
    }
    return exp(sum / (800.0 * p->points));
}

static enum ww_code check_weights(struct ww_host *h, struct problem *p, uint32_t frame) {
    size_t n = p->particles, ctas = ww_host_ceil(n, BLOCK);
    for (size_t i = 0; i < n; i++) p->want[i] = p->scale[i] = weigh(p, i, frame);
    WW_TRY(get(h, p, p->weight, p->d_weight, n));
    WW_TRY(ww_host_near_f32(h, "weight", p->weight, p->want, p->scale, n, 69));
    WW_TRY(get(h, p, p->got, p->d_x[0], n));
    WW_TRY(same(h, "x", p->got, p->x, n));
    WW_TRY(get(h, p, p->got, p->d_y[0], n));
    WW_TRY(same(h, "y", p->got, p->y, n));
    for (size_t c = 0; c < ctas; c++) {
        p->want[c] = 0;
        for (size_t i = c * BLOCK; i < n && i < (c + 1) * BLOCK; i++) p->want[c] += (double)p->weight[i];
        p->scale[c] = p->want[c];
    }
    WW_TRY(get(h, p, p->partial, p->d_partial, ctas));
    return ww_host_near_f32(h, "partial", p->partial, p->want, p->scale, ctas, 10);
}

static enum ww_code weigh_all(struct ww_host *h, struct problem *p, uint32_t frame) {
    for (int d = 0; d < 2; d++) {
        for (size_t i = 0; i < p->particles; i++) {
            uint32_t sum = 0;
            for (int k = 0; k < 4; k++) sum += ww_rng_below(&h->rng, 8);
            p->noise[d][i] = ((float)sum - 14) / 16;
        }
        WW_TRY(put(h, p, p->d_noise[d], p->noise[d], p->particles));
    }
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(p->particles, BLOCK), BLOCK);
    const struct ww_arg args[] = {WW_ARG(p->d_x[0]),     WW_ARG(p->d_y[0]),   WW_ARG(p->d_noise[0]),
                                  WW_ARG(p->d_noise[1]), WW_ARG(p->d_disc),   WW_ARG(p->d_video),
                                  WW_ARG(p->d_index),    WW_ARG(p->d_weight), WW_ARG(p->d_partial),
                                  WW_ARG(p->particles),  WW_ARG(p->points),   WW_ARG(p->s->height),
                                  WW_ARG(p->s->frames),  WW_ARG(frame),       WW_ARG(p->pixels)};
    WW_TRY(ww_host_launch(h, p->s->precision ? "particlefilter_likelihood_f64" : "particlefilter_likelihood",
                          &shape, WW_ARGS(args)));
    return check_weights(h, p, frame);
}

static enum ww_code resample(struct ww_host *h, struct problem *p) {
    size_t n = p->particles;
    double total = 0, sum = 0, first = ww_rng_unit(&h->rng);
    for (size_t i = 0; i < n; i++) total += (double)p->weight[i];
    for (size_t i = 0; i < n; i++) {
        sum += (double)p->weight[i];
        p->cumulated[i] = (float)(sum / total);
        p->level[i] = (float)(((double)i + first) / (double)n);
    }
    WW_TRY(put(h, p, p->d_cumulated, p->cumulated, n));
    WW_TRY(put(h, p, p->d_level, p->level, n));
    const struct ww_host_shape shape = ww_host_line(ww_host_ceil(n, BLOCK), BLOCK);
    const struct ww_arg args[] = {WW_ARG(p->d_x[0]),   WW_ARG(p->d_y[0]), WW_ARG(p->d_cumulated),
                                  WW_ARG(p->d_level),  WW_ARG(p->d_x[1]), WW_ARG(p->d_y[1]),
                                  WW_ARG(p->particles)};
    WW_TRY(ww_host_launch(h, p->s->precision ? "particlefilter_find_index_f64" : "particlefilter_find_index",
                          &shape, WW_ARGS(args)));
    size_t found = 0; /* levels ascend */
    for (size_t i = 0; i < n; i++) {
        while (found < n - 1 && p->cumulated[found] < p->level[i]) found++;
        p->noise[0][i] = p->x[found];
        p->noise[1][i] = p->y[found];
    }
    for (int d = 0; d < 2; d++) {
        float *now = d ? p->y : p->x;
        uint64_t from = d ? p->d_y[1] : p->d_x[1], to = d ? p->d_y[0] : p->d_x[0];
        for (size_t i = 0; i < n; i++) now[i] = p->noise[d][i];
        WW_TRY(get(h, p, p->got, from, n));
        WW_TRY(same(h, d ? "new y" : "new x", p->got, now, n));
        WW_TRY(put(h, p, to, now, n));
    }
    return WW_OK;
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *s = settings;
    struct problem p = {.s = s, .particles = ww_host_size(s->particles, s->size, 150, 3840, 23040)};
    if (s->used > s->frames)
        return ww_fail(h->error, WW_USAGE, h->name, "used=%u: expected at most frames=%u", s->used, s->frames);
    WW_TRY(make(h, &p));
    for (uint32_t k = 0; k < s->used; k++) {
        WW_TRY(weigh_all(h, &p, k));
        WW_TRY(resample(h, &p));
    }
    return WW_OK;
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("particlefilter", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_particlefilter = {
    .name = "particlefilter",
    .help = "particle filter on a video: strided rows that thrash the L1, then long searches",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "particlefilter",
    .run = run,
};
