/* scene_fragments.c: references of rasterisation and shading.
 *
 * Which pixels a triangle or a line covers follows from window coordinates by whole numbers or by single
 * correctly rounded operations of floats: compared exactly, in the order of the pixels; so are depths of lines.
 * Weights in a triangle are off by a few roundings: depths may differ by 16 of 2^24 steps, texture coordinates
 * by 64 u of the sum of their terms. */
#include "scene.h"
#include <math.h>
#include <string.h>

struct fragments {
    uint32_t (*place)[2], *colour; /* place: pixel, depth */
    float (*uv)[2];
    uint32_t *head, *next; /* fragments of a pixel that no primitive has taken: number + 1, 0 ends */
    size_t n;
};

/* What the primitive has as inputs. */
struct inputs {
    float (*window)[4];
    uint32_t *code, *colour;
};

struct job {
    struct ww_host *h;
    const struct scene *s;
    const struct scene_draw *d;
    struct fragments f;
    struct inputs in;
};

static enum ww_code fail(const struct job *j, const char *what, size_t i, double got, double want,
                         double within) {
    return ww_fail(j->h->error, WW_MISMATCH, j->h->name, "fragment %s[%zu] is %.9g, expected %.9g within %.3g",
                   what, i, got, want, within);
}

/* True if fragment `at` may be what `primitive` (a triangle or a line) has at weights or depth `here`. */
typedef bool (*fits_fn)(const struct job *j, size_t at, const void *primitive, const double *here);

/* Takes a fragment of this pixel that fits; each is taken once. */
static enum ww_code take(const struct job *j, int x, int y, fits_fn fits, const void *primitive,
                         const double *here) {
    size_t pixel = (size_t)y * j->s->width + (size_t)x;
    for (uint32_t *f = &j->f.head[pixel]; *f; f = &j->f.next[*f - 1]) {
        if (!fits(j, *f - 1, primitive, here)) continue;
        *f = j->f.next[*f - 1];
        return WW_OK;
    }
    return ww_fail(j->h->error, WW_MISMATCH, j->h->name,
                   "pixel[%zu] has no such fragment, expected one of weights or depth %.9g, %.9g", pixel,
                   here[0], here[1]);
}

/* ---- triangles ---- */

struct triangle {
    size_t v[3]; /* vertices of the draw, in positive order */
    int x[3], y[3];
    double area;
};

static bool visible(const struct job *j, size_t i, struct triangle *t) {
    const uint32_t *c = j->in.code + i;
    if (i % SCENE_STRIP >= SCENE_STRIP - 2) return false;
    if ((c[0] & c[1] & c[2]) || ((c[0] | c[1] | c[2]) & 0x30u)) return false;
    for (unsigned k = 0; k < 3; k++) {
        t->v[k] = i + k;
        t->x[k] = (int)rintf(j->in.window[i + k][0] * 16.0f);
        t->y[k] = (int)rintf(j->in.window[i + k][1] * 16.0f);
    }
    t->area =
        (double)(t->x[1] - t->x[0]) * (t->y[2] - t->y[0]) - (double)(t->y[1] - t->y[0]) * (t->x[2] - t->x[0]);
    if (i % 2) return t->area > 0;
    int x = t->x[1], y = t->y[1];
    t->x[1] = t->x[2], t->y[1] = t->y[2];
    t->x[2] = x, t->y[2] = y;
    t->v[1] = i + 2, t->v[2] = i + 1;
    t->area = -t->area;
    return t->area > 0;
}

/* Twice the area of the pixel's centre with an edge; false if it lies outside of it. */
static bool beside(const struct triangle *t, unsigned a, unsigned b, int x, int y, double *e) {
    int dx = t->x[b] - t->x[a], dy = t->y[b] - t->y[a];
    *e = (double)dx * (16 * y + 8 - t->y[a]) - (double)dy * (16 * x + 8 - t->x[a]);
    return *e > 0 || (*e == 0 && (dy < 0 || (dy == 0 && dx > 0)));
}

static bool fits_uv(const struct job *j, const struct triangle *t, const double l[3], size_t at) {
    double q = 0, sum[2] = {0, 0}, size[2] = {0, 0};
    for (unsigned k = 0; k < 3; k++) {
        const float *uv = j->s->uv[j->d->from + t->v[k]];
        double w = l[k] * (double)j->in.window[t->v[k]][3];
        q += w;
        for (unsigned c = 0; c < 2; c++) {
            sum[c] += w * (double)uv[c];
            size[c] += fabs(w * (double)uv[c]);
        }
    }
    for (unsigned c = 0; c < 2; c++)
        if (!(fabs((double)j->f.uv[at][c] - sum[c] / q) <= 64 * WW_UNIT_ROUNDOFF * size[c] / q)) return false;
    return true;
}

static bool fits_triangle(const struct job *j, size_t at, const void *primitive, const double *e) {
    const struct triangle *t = primitive;
    double z = 0, colour[3] = {0, 0, 0}, l[3];
    for (unsigned k = 0; k < 3; k++) {
        l[k] = e[k] / t->area;
        z += l[k] * (double)j->in.window[t->v[k]][2];
        for (unsigned c = 0; c < 3; c++) colour[c] += l[k] * (j->in.colour[t->v[k]] >> (8 * c) & 255u) / 255;
    }
    z = (z < 0 ? 0 : z > 1 ? 1 : z) * 16777215;
    return fabs(j->f.place[at][1] - z) <= 16 && ww_scene_is_colour(j->f.colour[at], colour) &&
           (!j->s->kind->texture || fits_uv(j, t, l, at));
}

/* Takes the fragments of a triangle; counts them. */
static enum ww_code check_triangle(const struct job *j, size_t i, size_t *count) {
    struct triangle t;
    double e[3];
    if (!visible(j, i, &t)) return WW_OK;
    int low = (int)fmin(fmin(t.y[0], t.y[1]), t.y[2]) / 16 - 1,
        high = (int)fmax(fmax(t.y[0], t.y[1]), t.y[2]) / 16 + 1;
    int left = (int)fmin(fmin(t.x[0], t.x[1]), t.x[2]) / 16 - 1,
        right = (int)fmax(fmax(t.x[0], t.x[1]), t.x[2]) / 16 + 1;
    for (int y = low < 0 ? 0 : low; y <= high && y < (int)j->s->height; y++)
        for (int x = left < 0 ? 0 : left; x <= right && x < (int)j->s->width; x++) {
            bool in =
                beside(&t, 1, 2, x, y, &e[0]) && beside(&t, 2, 0, x, y, &e[1]) && beside(&t, 0, 1, x, y, &e[2]);
            if (!in) continue;
            WW_TRY(take(j, x, y, fits_triangle, &t, e));
            ++*count;
        }
    return WW_OK;
}

/* ---- lines ---- */

/* primitive: unused. *here: the depth. */
static bool fits_line(const struct job *j, size_t at, const void *primitive, const double *here) {
    double base[3];
    (void)primitive;
    for (unsigned k = 0; k < 3; k++) base[k] = (double)j->d->state[STATE_BASE][k];
    return j->f.place[at][1] == here[0] && ww_scene_is_colour(j->f.colour[at], base);
}

static enum ww_code check_line(const struct job *j, size_t i, unsigned step, size_t *count) {
    const uint32_t *c = j->in.code + i;
    if (i % SCENE_STRIP + step >= SCENE_STRIP || (c[0] & c[step]) || ((c[0] | c[step]) & 0x30u)) return WW_OK;
    const float *a = j->in.window[i], *b = j->in.window[i + step];
    float dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
    float steps = fmaxf(ceilf(fmaxf(fabsf(dx), fabsf(dy))), 1.0f);
    for (float k = 0; k < steps; k += 1) {
        float x = floorf(fmaf(k, dx / steps, a[0])), y = floorf(fmaf(k, dy / steps, a[1]));
        float z = fmaf(k, dz / steps, a[2]);
        if (x < 0 || y < 0 || x >= (float)j->s->width || y >= (float)j->s->height) continue;
        const double depth[2] = {floor((double)((z < 0 ? 0 : z > 1 ? 1 : z) * 16777215.0f)), 0};
        WW_TRY(take(j, (int)x, (int)y, fits_line, NULL, depth));
        ++*count;
    }
    return WW_OK;
}

/* ---- both ---- */

static enum ww_code load_fragments(struct job *j) {
    struct fragments *f = &j->f;
    size_t pixels = (size_t)j->s->width * j->s->height;
    f->n = j->d->fragments;
    WW_TRY(ww_host_array(j->h, &f->place, f->n + 1, sizeof *f->place));
    WW_TRY(ww_host_array(j->h, &f->colour, f->n + 1, sizeof *f->colour));
    WW_TRY(ww_host_array(j->h, &f->uv, f->n + 1, sizeof *f->uv));
    WW_TRY(ww_host_array(j->h, &f->next, f->n + 1, sizeof *f->next));
    WW_TRY(ww_host_array(j->h, &f->head, pixels, sizeof *f->head));
    if (f->n == 0) return WW_OK;
    WW_TRY(ww_host_read(j->h, f->place, j->d->m->place, f->n, sizeof *f->place));
    WW_TRY(ww_host_read(j->h, f->colour, j->d->m->shade, f->n, sizeof *f->colour));
    WW_TRY(ww_host_read(j->h, f->uv, j->d->m->uv_out, f->n, sizeof *f->uv));
    for (uint32_t i = 0; i < f->n; i++) {
        if (f->place[i][0] >= pixels) return fail(j, "pixel", i, f->place[i][0], (double)pixels, 0);
        f->next[i] = f->head[f->place[i][0]];
        f->head[f->place[i][0]] = i + 1;
    }
    return WW_OK;
}

static enum ww_code load_inputs(struct job *j) {
    struct inputs *in = &j->in;
    size_t n = j->d->n;
    WW_TRY(ww_host_array(j->h, &in->window, n, sizeof *in->window));
    WW_TRY(ww_host_array(j->h, &in->code, n, sizeof *in->code));
    WW_TRY(ww_host_array(j->h, &in->colour, n, sizeof *in->colour));
    WW_TRY(ww_host_read(j->h, in->window, j->d->m->window, n, sizeof *in->window));
    WW_TRY(ww_host_read(j->h, in->code, j->d->m->code, n, sizeof *in->code));
    if (j->s->kind->baked)
        memcpy(in->colour, j->s->baked + j->d->from, n * sizeof *in->colour);
    else
        WW_TRY(ww_host_read(j->h, in->colour, j->d->m->colour, n, sizeof *in->colour));
    return WW_OK;
}

enum ww_code ww_scene_check_fragments(struct ww_host *h, const struct scene *s, const struct scene_draw *d) {
    struct job j = {.h = h, .s = s, .d = d};
    size_t count = 0;
    WW_TRY(load_fragments(&j));
    WW_TRY(load_inputs(&j));
    for (size_t i = 0; i < d->n; i++) {
        if (!s->kind->lines) WW_TRY(check_triangle(&j, i, &count));
        for (unsigned step = 1; step <= 2 && s->kind->lines; step++) WW_TRY(check_line(&j, i, step, &count));
    }
    return count == j.f.n ? WW_OK : fail(&j, "count", 0, (double)j.f.n, (double)count, 0);
}

/* ---- shading ---- */

/* The CUDA C Programming Guide's linear filtering, with fractions of 8 bits and wrapped coordinates. */
static void texel(const struct scene *s, const float uv[2], double out[3]) {
    int64_t side = s->kind->texture, low[2];
    double weight[2];
    for (unsigned k = 0; k < 2; k++) {
        double x = (double)uv[k] * (double)side - 0.5;
        low[k] = (int64_t)floor(x);
        weight[k] = floor((x - floor(x)) * 256 + 0.5) / 256;
    }
    memset(out, 0, 3 * sizeof *out);
    for (int corner = 0; corner < 4; corner++) {
        int64_t x = ((low[0] + corner % 2) % side + side) % side,
                y = ((low[1] + corner / 2) % side + side) % side;
        double share = (corner % 2 ? weight[0] : 1 - weight[0]) * (corner / 2 ? weight[1] : 1 - weight[1]);
        for (int c = 0; c < 3; c++) out[c] += share * s->texels[(y * side + x) * 4 + c] / 255;
    }
}

static void shaded(const struct job *j, size_t at, double out[3]) {
    const float(*state)[4] = j->d->state;
    double texture[3] = {1, 1, 1};
    double clear =
        (double)j->f.place[at][1] * (double)state[STATE_FOG_RANGE][0] + (double)state[STATE_FOG_RANGE][1];
    clear = clear < 0 ? 0 : clear > 1 ? 1 : clear;
    if (j->s->kind->texture) texel(j->s, j->f.uv[at], texture);
    for (unsigned k = 0; k < 3; k++) {
        double c = (j->f.colour[at] >> (8 * k) & 255u) * (double)state[STATE_TEXTURE_ENV][k] * texture[k];
        double fog = (double)state[STATE_FOG_COLOUR][k];
        out[k] = fog + clear * (c - fog);
    }
}

/* A pixel holds the nearest of what it held and of the draw's fragments, in one of the colours of that depth.
 */
enum ww_code ww_scene_check_frame(struct ww_host *h, const struct scene *s, struct scene_draw *d) {
    struct job j = {.h = h, .s = s, .d = d};
    size_t pixels = (size_t)s->width * s->height;
    uint64_t *got;
    uint32_t *nearest;
    unsigned char *right;
    WW_TRY(load_fragments(&j));
    WW_TRY(ww_host_array(h, &got, pixels, sizeof *got));
    WW_TRY(ww_host_array(h, &nearest, pixels, sizeof *nearest));
    WW_TRY(ww_host_array(h, &right, pixels, 1));
    WW_TRY(ww_host_read(h, got, d->m->frame, pixels, sizeof *got));
    for (size_t p = 0; p < pixels; p++) nearest[p] = (uint32_t)(d->frame[p] >> 32);
    for (size_t f = 0; f < j.f.n; f++)
        if (j.f.place[f][1] < nearest[j.f.place[f][0]]) nearest[j.f.place[f][0]] = j.f.place[f][1];
    for (size_t p = 0; p < pixels; p++) right[p] = got[p] == d->frame[p] && nearest[p] == d->frame[p] >> 32;
    for (size_t f = 0; f < j.f.n; f++) {
        uint32_t p = j.f.place[f][0];
        double colour[3];
        if (right[p] || j.f.place[f][1] != nearest[p] || got[p] >> 32 != nearest[p]) continue;
        shaded(&j, f, colour);
        right[p] = ww_scene_is_colour((uint32_t)got[p], colour);
    }
    for (size_t p = 0; p < pixels; p++)
        if (!right[p])
            return ww_fail(
                h->error, WW_MISMATCH, h->name,
                "frame[%zu] is depth %u, colour 0x%08x, expected depth %u and a colour of its fragments", p,
                (unsigned)(got[p] >> 32), (unsigned)got[p], (unsigned)nearest[p]);
    memcpy(d->frame, got, pixels * sizeof *got);
    return WW_OK;
}
