/* exec_tex.c: texture fetches and surface accesses through handles.
 *
 * Filtering follows the CUDA C Programming Guide, "Texture Fetching": linear filtering between texel centres
 * with fractions of 8 bits. Mipmaps, cube maps and gathers are not there: a level is ignored, since objects
 * have one. What is recorded is the address of the (first) texel.
 */
#include "exec_decode.h"
#include "../front/mma.h"
#include "simt.h"
#include "tex.h"
#include <math.h>
#include <string.h>

struct texel {
    uint64_t raw[4]; /* integers extended to 64 bits, floats as the bits of a float */
    double f[4];
};

static const struct tex_object *object_of(struct ex_warp *w, const struct ex_inst *i, unsigned l,
                                          bool surface) {
    const struct ex_elem *e = &i->elem[i->ret_count];
    uint64_t handle = ex_lane(w, e->slot, e->width, l);
    const struct tex_object *o =
        handle && handle <= w->run->texture_count ? &w->run->texture[handle - 1] : NULL;
    if (o && o->live && o->surface == surface) return o;
    ww_ex_fail(w, l, WW_EXEC, "0x%llx is no %s object", (unsigned long long)handle,
               surface ? "surface" : "texture");
    return NULL;
}

static unsigned char *texel_host(struct ex_warp *w, unsigned l, uint64_t address, uint64_t bytes) {
    struct mem_alloc *m = ww_mem_find(w->run->mem, address);
    if (m && mem_holds(m, address, bytes)) return m->host + (address - m->base);
    ww_ex_fail(w, l, WW_EXEC, "out-of-bounds texture or surface access of %llu bytes at 0x%llx",
               (unsigned long long)bytes, (unsigned long long)address);
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
static bool fetch(struct ex_warp *w, unsigned l, const struct tex_object *o, const int64_t p[3],
                  struct texel *t, uint64_t *first) {
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
    const unsigned char *host = texel_host(w, l, at, o->element);
    if (!host) return false;
    if (!*first) *first = at;
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

static bool filtered(struct ex_warp *w, unsigned l, const struct tex_object *o, const double x[3],
                     unsigned dims, struct texel *t, uint64_t *first) {
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
        if (!fetch(w, l, o, p, &one, first)) return false;
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

/* Coordinates of lane l; layered ones come behind the layer. */
static void coordinates(struct ex_warp *w, const struct ex_inst *i, unsigned l, double x[3]) {
    const struct ptx_shape *s = &ww_ptx_shapes[i->src->geom];
    const struct ex_elem *e = &i->elem[i->ret_count + 1];
    bool layered = s->n != 0;
    x[0] = x[1] = x[2] = 0;
    for (unsigned n = 0; n < s->m; n++) {
        uint32_t raw = (uint32_t)ex_lane(w, e[n + layered].slot, e[n + layered].width, l);
        float f;
        memcpy(&f, &raw, sizeof f);
        x[n] = i->type2 == PTX_T_F32 ? (isnan(f) ? 0 : fmin(fmax(f, -1e9), 1e9)) : (int32_t)raw;
    }
    if (layered) x[s->m] = (int32_t)ex_lane(w, e[0].slot, e[0].width, l);
}

static bool sample(struct ex_warp *w, const struct ex_inst *i, unsigned l, const struct tex_object *o,
                   struct texel *t, uint64_t *first) {
    double x[3];
    unsigned dims = ww_ptx_shapes[i->src->geom].m;
    int64_t p[3];
    coordinates(w, i, l, x);
    if (i->type2 != PTX_T_F32) { /* tex1Dfetch: 0 outside */
        for (unsigned n = 0; n < 3; n++) p[n] = (int64_t)x[n];
        memset(t, 0, sizeof *t);
        if (p[0] < 0 || p[0] >= (int64_t)o->size[0]) return true;
        return fetch(w, l, o, p, t, first);
    }
    for (unsigned n = 0; n < dims && o->normalized; n++) x[n] *= (double)o->size[n];
    if (o->filter && (o->kind == TEX_FLOAT || o->as_float)) return filtered(w, l, o, x, dims, t, first);
    for (unsigned n = 0; n < 3; n++) p[n] = (int64_t)floor(x[n]);
    return fetch(w, l, o, p, t, first);
}

static void note(struct ex_warp *w, uint32_t mask) {
    w->group[0] = (struct access_group){PTX_S_GLOBAL, mask};
    w->group_count = 1;
}

static void texture(EX_ARGS) {
    for (uint32_t m = mask; m && !w->run->failed; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const struct tex_object *o = object_of(w, i, l, false);
        struct texel t;
        uint64_t first = 0;
        if (!o || !sample(w, i, l, o, &t, &first)) return;
        w->addr[l] = first ? first : o->address;
        for (uint32_t c = 0; c < i->ret_count; c++) {
            float f = (float)t.f[c];
            uint32_t u = (uint32_t)t.raw[c];
            if (i->type == PTX_T_F32 && o->as_float) memcpy(&u, &f, sizeof u);
            if (i->elem[c].slot != EX_NO_SLOT) ex_set_lane(w, i->elem[c].slot, i->elem[c].width, l, u);
        }
    }
    note(w, mask);
}

/* Address of a surface access of `bytes`; 0: nothing is done (mode zero). x is in bytes. */
static uint64_t surface_address(struct ex_warp *w, const struct ex_inst *i, unsigned l,
                                const struct tex_object *o, uint32_t bytes) {
    const struct ptx_shape *s = &ww_ptx_shapes[i->src->geom];
    const struct ex_elem *e = &i->elem[i->ret_count + 1];
    bool layered = s->n != 0;
    int64_t p[3] = {0, 0, 0}, most[3] = {(int64_t)(o->size[0] * o->element) - bytes, (int64_t)o->size[1] - 1,
                                         (int64_t)o->size[2] - 1};
    for (unsigned n = 0; n < s->m; n++)
        p[n] = (int32_t)ex_lane(w, e[n + layered].slot, e[n + layered].width, l);
    if (layered) p[s->m] = (int32_t)ex_lane(w, e[0].slot, e[0].width, l);
    for (unsigned n = 0; n < 3; n++) {
        if (p[n] >= 0 && p[n] <= most[n]) continue;
        if (i->mods & PTX_M_ZERO) return 0;
        if (!(i->mods & PTX_M_CLAMP)) {
            ww_ex_fail(w, l, WW_EXEC, "out-of-bounds surface access at (%lld bytes, %lld, %lld)",
                       (long long)p[0], (long long)p[1], (long long)p[2]);
            return 0;
        }
        p[n] = p[n] < 0 ? 0 : most[n];
    }
    return o->address + (uint64_t)p[0] + (uint64_t)p[1] * o->row + (uint64_t)p[2] * o->slice;
}

static void surface(EX_ARGS) {
    bool is_store = i->op == PTX_SUST;
    uint32_t all = i->bytes * i->ret_count;
    for (uint32_t m = mask; m && !w->run->failed; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const struct tex_object *o = object_of(w, i, l, true);
        uint64_t at = o ? surface_address(w, i, l, o, all) : 0;
        if (!o || w->run->failed) return;
        unsigned char *host = at ? texel_host(w, l, at, all) : NULL;
        w->addr[l] = at ? at : o->address;
        for (uint32_t c = 0; c < i->ret_count && !w->run->failed; c++) {
            const struct ex_elem *e = &i->elem[c];
            uint64_t v = 0;
            if (is_store) v = ex_lane(w, e->slot, e->width, l);
            if (is_store && host) memcpy(host + c * i->bytes, &v, i->bytes);
            if (is_store || e->slot == EX_NO_SLOT) continue;
            if (host) memcpy(&v, host + c * i->bytes, i->bytes);
            ex_set_lane(w, e->slot, e->width, l, v);
        }
    }
    note(w, mask);
}

/* ---- decoding ---- */

static enum ww_code add_elements(struct ex_decoder *d, const struct ptx_operand *o, uint8_t want) {
    struct ex_inst *i = d->out;
    uint32_t n = o->kind == PTX_O_VEC ? o->vec_count : 1;
    for (uint32_t k = 0; k < n; k++) {
        const struct ptx_operand *x = o->kind == PTX_O_VEC ? &o->vec[k] : o;
        struct ex_elem *e = &i->elem[i->elem_count++];
        e->slot = EX_NO_SLOT;
        e->width = want;
        if (x->kind == PTX_O_NONE) continue;
        WW_TRY(ww_ex_operand_slot(d, x, want, &e->slot, &e->width));
        if (e->slot == EX_NO_SLOT || e->width != want)
            return ww_ex_decode_fail(d, WW_INPUT, "a register's size does not fit the instruction's type");
    }
    return WW_OK;
}

enum ww_code ww_ex_decode_texture(struct ex_decoder *d) {
    const struct ptx_inst *p = d->inst;
    struct ex_inst *i = d->out;
    bool is_tex = p->op == PTX_TEX;
    const struct ptx_operand *data = &p->opnd[p->op == PTX_SUST], *at = &p->opnd[p->op != PTX_SUST];
    const struct ptx_shape *s = &ww_ptx_shapes[p->geom];
    bool known = !is_tex || p->type[0] == PTX_T_F32 || p->type[0] == PTX_T_S32 || p->type[0] == PTX_T_U32;
    bool coords = !is_tex || p->type[1] == PTX_T_F32 || p->type[1] == PTX_T_S32;
    if (p->geom < PTX_SHAPE_1D || at->kind != PTX_O_VEC || at->vec_count < 1u + s->m + s->n || !known ||
        !coords)
        return ww_ex_decode_fail(d, WW_UNSUPPORTED, "this form of the instruction is not supported");
    uint32_t count = at->vec_count + (data->kind == PTX_O_VEC ? data->vec_count : 1u);
    i->elem = ww_arena_array(&d->kernel->arena, count, sizeof *i->elem);
    if (!i->elem) return ww_fail_nomem(d->error, "decoding a kernel");
    i->bytes = (uint8_t)ww_ptx_type_bytes((enum ptx_type)p->type[0]);
    WW_TRY(add_elements(d, data, i->bytes == 8 ? 8 : 4));
    i->ret_count = i->elem_count;
    if (i->ret_count > 4) return ww_ex_decode_fail(d, WW_INPUT, "expected at most 4 elements");
    struct ptx_operand handle = at->vec[0], rest = *at;
    WW_TRY(add_elements(d, &handle, 8));
    rest.vec++;
    rest.vec_count--;
    WW_TRY(add_elements(d, &rest, 4));
    i->fn = is_tex ? texture : surface;
    i->kind = EX_MEM;
    return WW_OK;
}
