/* scene_mesh.c: bumpy cylinders in strips, and the state of a draw. */
#include "scene.h"
#include <math.h>
#include <string.h>

enum { COLUMNS = SCENE_STRIP / 2 };

/* A strip goes once around the object, whose half that begins with column 0 is seen. */
static const double around = 6.283185307179586 / (COLUMNS - 1), radius = (COLUMNS - 1) / 6.283185307179586;

/* Distances of a patch's nodes from the axis, (strips + 1) x COLUMNS. */
static void bumps(struct ww_host *h, double *z, uint32_t rows, uint32_t d) {
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < COLUMNS; c++)
            z[r * COLUMNS + c] =
                radius + 0.2 * sin(2 * around * c + d) * cos(0.4 * r) + 0.1 * (ww_rng_unit(&h->rng) - 0.5);
}

static void put_vertex(struct scene *s, size_t v, const double *z, uint32_t r, uint32_t c, uint32_t rows) {
    uint32_t up = r + 1 < rows ? r + 1 : r, down = r > 0 ? r - 1 : r;
    double slope = (z[up * COLUMNS + c] - z[down * COLUMNS + c]) / (up - down), n = sqrt(1 + slope * slope);
    double angle = around * c - 1.5707963267948966, far = z[r * COLUMNS + c];
    size_t all = s->vertices;
    s->position[v] = (float)(far * sin(angle));
    s->position[all + v] = (float)(r - s->strips / 2.0);
    s->position[2 * all + v] = (float)(far * cos(angle));
    s->normal[v] = (float)(sin(angle) / n);
    s->normal[all + v] = (float)(-slope / n);
    s->normal[2 * all + v] = (float)(cos(angle) / n);
}

static void put_looks(struct ww_host *h, struct scene *s, size_t v, const double at[2], uint32_t r,
                      uint32_t c) {
    double side = s->kind->texture ? s->kind->texture : 1;
    s->uv[v][0] = (float)(at[0] + SCENE_QUAD * c / side);
    s->uv[v][1] = (float)(at[1] + SCENE_QUAD * r / side);
    s->baked[v] = 0xff000000u | (uint32_t)(ww_rng_below(&h->rng, 1u << 24));
}

static void patch(struct ww_host *h, struct scene *s, double *z, uint32_t from, uint32_t n, uint32_t d) {
    const double at[2] = {ww_rng_unit(&h->rng), ww_rng_unit(&h->rng)};
    bumps(h, z, s->strips + 1, d);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t j = v % SCENE_STRIP, r = v / SCENE_STRIP + j % 2, c = j / 2;
        put_vertex(s, from + v, z, r, c, s->strips + 1);
        put_looks(h, s, from + v, at, r, c);
    }
}

enum ww_code ww_scene_mesh(struct ww_host *h, struct scene *s) {
    static const float view[4][3] = {
        {0.25f, 0.10f, 0.1f}, {-0.2f, 0.3f, -0.2f}, {0.1f, -0.3f, 0.15f}, {-0.3f, -0.1f, 0.05f}};
    size_t texels = (size_t)s->kind->texture * s->kind->texture * 4;
    double *z;
    memcpy(s->view, view, sizeof view);
    WW_TRY(ww_host_array(h, &z, (size_t)(s->strips + 1) * COLUMNS, sizeof *z));
    WW_TRY(ww_host_array(h, &s->position, 3 * (size_t)s->vertices, sizeof *s->position));
    WW_TRY(ww_host_array(h, &s->normal, 3 * (size_t)s->vertices, sizeof *s->normal));
    WW_TRY(ww_host_array(h, &s->uv, s->vertices, sizeof *s->uv));
    WW_TRY(ww_host_array(h, &s->baked, s->vertices, sizeof *s->baked));
    WW_TRY(ww_host_array(h, &s->texels, texels ? texels : 1, 1));
    for (size_t t = 0; t < texels; t++) s->texels[t] = (unsigned char)ww_rng_below(&h->rng, 256);
    uint32_t most = s->strips * SCENE_STRIP;
    for (uint32_t from = 0, d = 0; from < s->vertices; from += most, d++)
        patch(h, s, z, from, s->vertices - from < most ? s->vertices - from : most, d);
    return WW_OK;
}

/* ---- state ---- */

static void turn(double m[3][3], unsigned a, unsigned b, double angle) {
    double c = cos(angle), s = sin(angle);
    for (unsigned k = 0; k < 3; k++) {
        double x = m[a][k], y = m[b][k];
        m[a][k] = c * x - s * y;
        m[b][k] = s * x + c * y;
    }
}

static void set(float *row, double x, double y, double z, double w) {
    row[0] = (float)x;
    row[1] = (float)y;
    row[2] = (float)z;
    row[3] = (float)w;
}

/* The object lies `distance` away, where a unit is SCENE_QUAD pixels wide. */
static void set_view(const struct scene *s, uint32_t d, float (*state)[4]) {
    const double distance = 100, near = 20, far = 200;
    double m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, z[4];
    double fx = 2 * SCENE_QUAD * distance / s->width, fy = 2 * SCENE_QUAD * distance / s->height;
    turn(m, 1, 2, (double)s->view[d % 4][0]);
    turn(m, 0, 2, (double)s->view[d % 4][1]);
    turn(m, 0, 1, (double)s->view[d % 4][2]);
    for (unsigned k = 0; k < 3; k++) {
        set(state[STATE_EYE + k], m[k][0], m[k][1], m[k][2], k == 2 ? -distance : 0);
        set(state[STATE_NORMAL + k], m[k][0], m[k][1], m[k][2], 0);
        z[k] = m[2][k];
    }
    z[3] = -distance;
    double a = (near + far) / (near - far), b = 2 * near * far / (near - far);
    set(state[STATE_CLIP], fx * m[0][0], fx * m[0][1], fx * m[0][2], 0);
    set(state[STATE_CLIP + 1], fy * m[1][0], fy * m[1][1], fy * m[1][2], 0);
    set(state[STATE_CLIP + 2], a * z[0], a * z[1], a * z[2], a * z[3] + b);
    set(state[STATE_CLIP + 3], -z[0], -z[1], -z[2], -z[3]);
    set(state[STATE_VIEW_SCALE], s->width / 2.0, s->height / 2.0, 0.5, 0);
    set(state[STATE_VIEW_OFFSET], s->width / 2.0, s->height / 2.0, 0.5, 0);
    set(state[STATE_SCISSOR], 0, 0, s->width - 1, s->height - 1);
}

/* A random triple of [low, high), behind it w. */
static void set_random(struct ww_host *h, float *row, double low, double high, double w) {
    double v[3];
    for (unsigned k = 0; k < 3; k++) v[k] = low + (high - low) * ww_rng_unit(&h->rng);
    set(row, v[0], v[1], v[2], w);
}

static void set_light(struct ww_host *h, float (*light)[4], double share) {
    set_random(h, light[0], -30, 30, 1);
    light[0][2] = -60;
    set(light[1], 1, 0.002, 0.0001, 0);
    set(light[2], 0, 0, -1, 2);
    set_random(h, light[3], 0, 0.1 * share, 0);
    set_random(h, light[4], 0.3 * share, 0.8 * share, 0);
    set_random(h, light[5], 0.1 * share, 0.4 * share, 0);
}

void ww_scene_state(struct ww_host *h, const struct scene *s, uint32_t d, float (*state)[4]) {
    memset(state, 0, STATE_COUNT * sizeof *state);
    set_view(s, d, state);
    set_random(h, state[STATE_BASE], 0.05, 0.2, 1);
    set(state[STATE_MATERIAL], 8.0 + ww_rng_below(&h->rng, 16), 0, 0, 0);
    set_random(h, state[STATE_FOG_COLOUR], 0.4, 0.6, 1);
    set(state[STATE_FOG_RANGE], -0.75 / 16777215, 1.25, 0, 0);
    set_random(h, state[STATE_TEXTURE_ENV], 0.9 / 255, 1.0 / 255, 0);
    for (uint32_t l = 0; l < s->kind->lights; l++)
        set_light(h, state + STATE_LIGHT + STATE_LIGHT_STEP * l, 1.0 / s->kind->lights);
}
