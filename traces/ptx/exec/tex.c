/* tex.c: what a texture unit does: texels, addressing modes, filtering, for every executor.
 *
 * Filtering follows the CUDA C Programming Guide, "Texture Fetching": linear filtering between texel centres
 * with fractions of 8 bits. Mipmaps, cube maps and gathers are not there: a level is ignored, since objects
 * have one.
 */
#include "tex.h"
#include "exec.h"
#include <math.h>
#include <string.h>

unsigned char *ww_tex_host(struct tex_access *a, uint64_t address, uint64_t bytes) {
    struct mem_alloc *m = ww_mem_find(a->mem, address);
    if (m && mem_holds(m, address, bytes)) return m->host + (address - m->base);
    a->bad = address;
    a->bad_bytes = bytes;
    return NULL;
}

static void decode_channel(const struct tex_object *o, unsigned c, const unsigned char *p, struct texel *t) {
    uint64_t v = 0;
    float f = 0;
    unsigned bits = o->bits[c];
    memcpy(&v, p, bits / 8);
    if (o->kind == TEX_FLOAT) {
        if (bits == 16)
            f = (float)ww_ex_f16_to_double((uint16_t)v);
        else
            memcpy(&f, &v, sizeof f);
        uint32_t u;
        memcpy(&u, &f, sizeof u);
        t->raw[c] = u;
        t->f[c] = f;
        return;
    }
    int64_t s = (int64_t)(v << (64 - bits)) >> (64 - bits);
    t->raw[c] = o->kind == TEX_SIGNED ? (uint64_t)s : v;
    double top = ldexp(1, (int)bits - (o->kind == TEX_SIGNED)) - 1;
    t->f[c] = o->kind == TEX_SIGNED ? fmax((double)s / top, -1) : (double)v / top;
}

/* The coordinate under the mode, or -1 outside (border). */
static int64_t address_mode(int64_t x, int64_t n, uint8_t mode, bool normalized) {
    if (x >= 0 && x < n) return x;
    if (mode == TEX_BORDER) return -1;
    if (mode == TEX_CLAMP || !normalized) return x < 0 ? 0 : n - 1;
    int64_t period = mode == TEX_MIRROR ? 2 * n : n, r = x % period;
    if (r < 0) r += period;
    return r < n ? r : period - 1 - r;
}

/* One texel; p: integer coordinates, not yet inside. */
static bool fetch(struct tex_access *a, const struct tex_object *o, const int64_t p[3], struct texel *t) {
    int64_t q[3];
    memset(t, 0, sizeof *t);
    bool outside = false;
    for (unsigned n = 0; n < 3; n++) {
        q[n] = address_mode(p[n], (int64_t)o->size[n], o->mode[n], o->normalized);
        outside = outside || q[n] < 0;
    }
    for (unsigned c = 0; c < 4 && outside; c++) {
        uint32_t u;
        memcpy(&u, &o->border[c], sizeof u);
        t->f[c] = o->border[c];
        t->raw[c] = o->kind == TEX_FLOAT ? u : (uint64_t)(int64_t)o->border[c];
    }
    if (outside) return true;
    uint64_t at =
        o->address + (uint64_t)q[0] * o->element + (uint64_t)q[1] * o->row + (uint64_t)q[2] * o->slice;
    const unsigned char *host = ww_tex_host(a, at, o->element);
    if (!host) return false;
    if (!a->first) a->first = at;
    for (unsigned c = 0, byte = 0; c < o->channels; byte += o->bits[c++] / 8u)
        decode_channel(o, c, host + byte, t);
    return true;
}

/* Weights of 8 bits between the texels around x; returns the lower one. */
static int64_t split(double x, double *weight) {
    double low = floor(x - 0.5);
    *weight = floor((x - 0.5 - low) * 256 + 0.5) / 256;
    return (int64_t)low;
}

static bool filtered(struct tex_access *a, const struct tex_object *o, const double x[3], unsigned dims,
                     struct texel *t) {
    int64_t base[3] = {0, 0, 0};
    double weight[3] = {0, 0, 0}, sum[4] = {0, 0, 0, 0};
    for (unsigned n = 0; n < dims; n++) base[n] = split(x[n], &weight[n]);
    for (unsigned n = dims; n < 3; n++) base[n] = (int64_t)x[n]; /* a layer */
    for (unsigned corner = 0; corner < 1u << dims; corner++) {
        int64_t p[3] = {base[0], base[1], base[2]};
        double share = 1;
        for (unsigned n = 0; n < dims; n++) {
            bool upper = corner >> n & 1u;
            p[n] += upper;
            share *= upper ? weight[n] : 1 - weight[n];
        }
        struct texel one;
        if (share == 0) continue;
        if (!fetch(a, o, p, &one)) return false;
        for (unsigned c = 0; c < 4; c++) sum[c] += share * one.f[c];
    }
    for (unsigned c = 0; c < 4; c++) {
        float f = (float)sum[c];
        uint32_t u;
        memcpy(&u, &f, sizeof u);
        t->f[c] = f;
        t->raw[c] = u;
    }
    return true;
}

bool ww_tex_sample(struct tex_access *a, const struct tex_object *o, const double at[3], unsigned dims,
                   bool integers, struct texel *t) {
    double x[3] = {at[0], at[1], at[2]};
    int64_t p[3];
    a->first = 0;
    if (integers) { /* tex1Dfetch: 0 outside */
        for (unsigned n = 0; n < 3; n++) p[n] = (int64_t)x[n];
        memset(t, 0, sizeof *t);
        if (p[0] < 0 || p[0] >= (int64_t)o->size[0]) return true;
        return fetch(a, o, p, t);
    }
    for (unsigned n = 0; n < dims && o->normalized; n++) x[n] *= (double)o->size[n];
    if (o->filter && (o->kind == TEX_FLOAT || o->as_float)) return filtered(a, o, x, dims, t);
    for (unsigned n = 0; n < 3; n++) p[n] = (int64_t)floor(x[n]);
    return fetch(a, o, p, t);
}

double ww_tex_coordinate(uint32_t raw, bool integer) {
    float f;
    memcpy(&f, &raw, sizeof f);
    return integer ? (int32_t)raw : isnan(f) ? 0 : fmin(fmax(f, -1e9), 1e9);
}

enum tex_place ww_surface_address(const struct tex_object *o, const int64_t at[3], uint32_t bytes,
                                  enum tex_outside outside, uint64_t *address) {
    int64_t p[3] = {at[0], at[1], at[2]}, most[3] = {(int64_t)(o->size[0] * o->element) - bytes,
                                                     (int64_t)o->size[1] - 1, (int64_t)o->size[2] - 1};
    for (unsigned n = 0; n < 3; n++) {
        if (p[n] >= 0 && p[n] <= most[n]) continue;
        if (outside == TEX_OUTSIDE_ZERO) return TEX_NOWHERE;
        if (outside == TEX_OUTSIDE_TRAP) return TEX_TRAPS;
        p[n] = p[n] < 0 ? 0 : most[n];
    }
    *address = o->address + (uint64_t)p[0] + (uint64_t)p[1] * o->row + (uint64_t)p[2] * o->slice;
    return TEX_HERE;
}
