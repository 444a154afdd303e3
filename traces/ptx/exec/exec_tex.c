/* exec_tex.c: texture fetches and surface accesses through handles.
 *
 * What is recorded is the address of the (first) texel.
 */
#include "exec_decode.h"
#include "../front/mma.h"
#include "simt.h"
#include "tex.h"
#include <string.h>

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

static void fail_access(struct ex_warp *w, unsigned l, const struct tex_access *a) {
    ww_ex_fail(w, l, WW_EXEC, "out-of-bounds texture or surface access of %llu bytes at 0x%llx",
               (unsigned long long)a->bad_bytes, (unsigned long long)a->bad);
}

/* Coordinates of lane l; layered ones come behind the layer. */
static void coordinates(struct ex_warp *w, const struct ex_inst *i, unsigned l, double x[3]) {
    const struct ptx_shape *s = &ww_ptx_shapes[i->src->geom];
    const struct ex_elem *e = &i->elem[i->ret_count + 1];
    bool layered = s->n != 0;
    x[0] = x[1] = x[2] = 0;
    for (unsigned n = 0; n < s->m; n++) {
        uint32_t raw = (uint32_t)ex_lane(w, e[n + layered].slot, e[n + layered].width, l);
        x[n] = ww_tex_coordinate(raw, i->type2 != PTX_T_F32);
    }
    if (layered) x[s->m] = (int32_t)ex_lane(w, e[0].slot, e[0].width, l);
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
        struct tex_access a = {.mem = w->run->mem};
        double x[3];
        if (!o) return;
        coordinates(w, i, l, x);
        if (!ww_tex_sample(&a, o, x, ww_ptx_shapes[i->src->geom].m, i->type2 != PTX_T_F32, &t)) {
            fail_access(w, l, &a);
            return;
        }
        w->addr[l] = a.first ? a.first : o->address;
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
    int64_t p[3] = {0, 0, 0};
    for (unsigned n = 0; n < s->m; n++)
        p[n] = (int32_t)ex_lane(w, e[n + layered].slot, e[n + layered].width, l);
    if (layered) p[s->m] = (int32_t)ex_lane(w, e[0].slot, e[0].width, l);
    enum tex_outside outside = i->mods & PTX_M_ZERO    ? TEX_OUTSIDE_ZERO
                               : i->mods & PTX_M_CLAMP ? TEX_OUTSIDE_CLAMP
                                                       : TEX_OUTSIDE_TRAP;
    uint64_t address = 0;
    if (ww_surface_address(o, p, bytes, outside, &address) == TEX_TRAPS)
        ww_ex_fail(w, l, WW_EXEC, "out-of-bounds surface access at (%lld bytes, %lld, %lld)", (long long)p[0],
                   (long long)p[1], (long long)p[2]);
    return address;
}

static void surface(EX_ARGS) {
    bool is_store = i->op == PTX_SUST;
    uint32_t all = i->bytes * i->ret_count;
    for (uint32_t m = mask; m && !w->run->failed; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const struct tex_object *o = object_of(w, i, l, true);
        uint64_t at = o ? surface_address(w, i, l, o, all) : 0;
        if (!o || w->run->failed) return;
        struct tex_access access = {.mem = w->run->mem};
        unsigned char *host = at ? ww_tex_host(&access, at, all) : NULL;
        if (at && !host) fail_access(w, l, &access);
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
