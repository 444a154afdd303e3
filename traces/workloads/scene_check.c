/* scene_check.c: references of the stages on vertices, and what the checks share. */
#include "scene.h"
#include <math.h>
#include <string.h>

static double clamped(double v) {
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

bool ww_scene_is_colour(uint32_t got, const double want[3]) {
    for (unsigned k = 0; k < 3; k++)
        if (!(fabs((got >> (8 * k) & 255u) - 255 * clamped(want[k])) <= 0.5 + 1.0 / 16)) return false;
    return got >> 24 == 255;
}

enum ww_code ww_scene_same_colour(struct ww_host *h, const char *array, size_t i, uint32_t got,
                                  const double want[3]) {
    if (ww_scene_is_colour(got, want)) return WW_OK;
    return ww_fail(h->error, WW_MISMATCH, h->name,
                   "%s[%zu] is 0x%08x, expected (%.2f, %.2f, %.2f) within 0.5625", array, i, (unsigned)got,
                   255 * clamped(want[0]), 255 * clamped(want[1]), 255 * clamped(want[2]));
}

static double dot(const float *row, const double v[3], double *size) {
    double sum = 0;
    *size = 0;
    for (unsigned k = 0; k < 3; k++) {
        sum += (double)row[k] * v[k];
        *size += fabs((double)row[k] * v[k]);
    }
    return sum;
}

static void vector(const struct scene *s, const float *planes, size_t v, double out[3]) {
    for (size_t k = 0; k < 3; k++) out[k] = planes[k * s->vertices + v];
}

/* ---- transform ---- */

static uint32_t code_of(const float c[4]) {
    uint32_t bits = 0;
    for (unsigned k = 0; k < 3; k++)
        bits |= (uint32_t)(c[k] < -c[3]) << (2 * k) | (uint32_t)(c[k] > c[3]) << (2 * k + 1);
    return bits;
}

static enum ww_code check_clip(struct ww_host *h, const struct scene *s, const struct scene_draw *d,
                               float (*clip)[4]) {
    uint32_t *code, *want_code;
    double(*want)[4], (*scale)[4], v[3];
    WW_TRY(ww_host_array(h, &code, d->n, sizeof *code));
    WW_TRY(ww_host_array(h, &want_code, d->n, sizeof *code));
    WW_TRY(ww_host_array(h, &want, d->n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, d->n, sizeof *scale));
    WW_TRY(ww_host_read(h, code, d->m->code, d->n, sizeof *code));
    for (size_t i = 0; i < d->n; i++) {
        vector(s, s->position, d->from + i, v);
        for (unsigned k = 0; k < 4; k++) {
            const float *row = d->state[STATE_CLIP + k];
            want[i][k] = dot(row, v, &scale[i][k]) + (double)row[3];
            scale[i][k] += fabs((double)row[3]);
        }
        want_code[i] = code_of(clip[i]);
    }
    WW_TRY(ww_host_near_f32(h, "clip", clip[0], want[0], scale[0], 4 * (size_t)d->n, 4));
    return ww_host_same_u32(h, "code", code, want_code, d->n);
}

/* ---- lighting ---- */

static void normalise(double v[3]) {
    double n = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (unsigned k = 0; k < 3; k++) v[k] /= n;
}

static double inner(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A light's terms. `edge`: the surface is so nearly parallel to the light that either side is right. */
static void add_light(const float (*light)[4], const double eye[3], const double n[3], double shininess,
                      bool behind, bool *edge, double sum[3]) {
    double to[3], spot[3], half[3];
    for (unsigned k = 0; k < 3; k++) to[k] = (double)light[0][k] - eye[k];
    double d = sqrt(inner(to, to));
    normalise(to);
    for (unsigned k = 0; k < 3; k++) spot[k] = (double)light[2][k];
    double fade = 1 / ((double)light[1][0] + (double)light[1][1] * d + (double)light[1][2] * d * d);
    fade *= pow(fmax(-inner(spot, to), 0), (double)light[2][3]);
    memcpy(half, to, sizeof half);
    half[2] += 1;
    normalise(half);
    double towards = inner(n, to), shine = fmax(inner(n, half), 0);
    *edge = *edge || fabs(towards) < 1e-5;
    bool lit = fabs(towards) < 1e-5 ? !behind : towards > 0;
    double specular = lit ? pow(shine, shininess) : 0;
    for (unsigned k = 0; k < 3; k++)
        sum[k] += fade * ((double)light[3][k] + fmax(towards, 0) * (double)light[4][k] +
                          specular * (double)light[5][k]);
}

static bool colour_of(const struct scene *s, const struct scene_draw *d, size_t v, bool behind, double sum[3]) {
    double p[3], m[3], eye[3], n[3], unused;
    bool edge = false;
    vector(s, s->position, v, p);
    vector(s, s->normal, v, m);
    for (unsigned k = 0; k < 3; k++) {
        eye[k] = dot(d->state[STATE_EYE + k], p, &unused) + (double)d->state[STATE_EYE + k][3];
        n[k] = dot(d->state[STATE_NORMAL + k], m, &unused);
        sum[k] = (double)d->state[STATE_BASE][k];
    }
    normalise(n);
    for (uint32_t l = 0; l < s->kind->lights; l++)
        add_light(d->state + STATE_LIGHT + STATE_LIGHT_STEP * l, eye, n, (double)d->state[STATE_MATERIAL][0],
                  behind, &edge, sum);
    return edge;
}

static enum ww_code check_colours(struct ww_host *h, const struct scene *s, const struct scene_draw *d) {
    uint32_t *got;
    double want[3];
    WW_TRY(ww_host_array(h, &got, d->n, sizeof *got));
    WW_TRY(ww_host_read(h, got, d->m->colour, d->n, sizeof *got));
    for (size_t i = 0; i < d->n; i++) {
        bool edge = colour_of(s, d, d->from + i, false, want);
        if (edge && !ww_scene_is_colour(got[i], want)) (void)colour_of(s, d, d->from + i, true, want);
        WW_TRY(ww_scene_same_colour(h, "colour", i, got[i], want));
    }
    return WW_OK;
}

/* ---- projection ---- */

/* rcp.approx is within 1 ulp, 2 u: with the product and the sum, 4 roundings, and 1 / w itself 2. */
static enum ww_code check_window(struct ww_host *h, const struct scene_draw *d, float (*clip)[4]) {
    float(*got)[4];
    double(*want)[4], (*scale)[4];
    WW_TRY(ww_host_array(h, &got, d->n, sizeof *got));
    WW_TRY(ww_host_array(h, &want, d->n, sizeof *want));
    WW_TRY(ww_host_array(h, &scale, d->n, sizeof *scale));
    WW_TRY(ww_host_read(h, got, d->m->window, d->n, sizeof *got));
    for (size_t i = 0; i < d->n; i++)
        for (unsigned k = 0; k < 4; k++) {
            double inverse = 1 / (double)clip[i][3], offset = (double)d->state[STATE_VIEW_OFFSET][k];
            double v = (double)clip[i][k] * inverse * (double)d->state[STATE_VIEW_SCALE][k];
            want[i][k] = k == 3 ? inverse : v + offset;
            scale[i][k] = k == 3 ? fabs(inverse) : fabs(v) + fabs(offset);
        }
    return ww_host_near_f32(h, "window", got[0], want[0], scale[0], 4 * (size_t)d->n, 4);
}

enum ww_code ww_scene_check_vertices(struct ww_host *h, const struct scene *s, const struct scene_draw *d) {
    float(*clip)[4];
    WW_TRY(ww_host_array(h, &clip, d->n, sizeof *clip));
    WW_TRY(ww_host_read(h, clip, d->m->clip, d->n, sizeof *clip));
    WW_TRY(check_clip(h, s, d, clip));
    if (s->kind->lights) WW_TRY(check_colours(h, s, d));
    return check_window(h, d, clip);
}
