/* sass_tex.c: texture fetches and surface accesses of machine code.
 *
 * The handle is a constant, a uniform register or (bindless) the first register of B; its lower 32 bits are the
 * object's number. Coordinates are in registers from A on: a layer first (textures) or last (surfaces). In the
 * SCR form A holds two of them and the rest follow in B. Of the components that the mask asks for, the first
 * two go to D, the others to D2. What is recorded is the address of the (first) texel.
 */
#include "../../ptx/exec/tex.h"
#include "access.h"

/* A texture instruction that has been taken apart. */
struct sx_texture {
    uint32_t handle;        /* slot */
    uint32_t coordinate[4]; /* slots, in the order of the registers */
    uint8_t dims;           /* without a layer */
    bool layered, integers;
    uint8_t mask;
    uint32_t out[4]; /* slots of the components that the mask asks for */
    enum tex_outside outside;
};

static const struct tex_object *object_of(struct sx_warp *w, const struct sx_texture *t, unsigned l,
                                          bool surface) {
    uint32_t handle = ((const uint32_t *)sx_src(w, t->handle))[l];
    const struct sx_run *r = w->run;
    const struct tex_object *o = handle && handle <= r->texture_count ? &r->texture[handle - 1] : NULL;
    if (o && o->live && o->surface == surface) return o;
    ww_sx_fail(w, l, WW_EXEC, "0x%x is no %s object", handle, surface ? "surface" : "texture");
    return NULL;
}

static void fail_access(struct sx_warp *w, unsigned l, const struct tex_access *a) {
    ww_sx_fail(w, l, WW_EXEC, "out-of-bounds texture or surface access of %llu bytes at 0x%llx",
               (unsigned long long)a->bad_bytes, (unsigned long long)a->bad);
}

static uint32_t coordinate(const struct sx_warp *w, const struct sx_texture *t, unsigned n, unsigned l) {
    return ((const uint32_t *)sx_src(w, t->coordinate[n]))[l];
}

static void note(struct sx_warp *w, uint32_t mask) {
    w->access[0] = (struct sx_access_group){WW_SPACE_TEX, mask};
    w->access_count = 1;
}

/* ---- textures ---- */

static void put(struct sx_warp *w, const struct sx_texture *t, unsigned l, const struct tex_object *o,
                const struct texel *v) {
    for (unsigned c = 0, at = 0; c < 4; c++) {
        if (!(t->mask >> c & 1u)) continue;
        float f = (float)v->f[c];
        uint32_t u = (uint32_t)v->raw[c];
        if (o->as_float) memcpy(&u, &f, sizeof u);
        ((uint32_t *)sx_dst(w, t->out[at++]))[l] = u;
    }
}

static void texture(SX_ARGS) {
    const struct sx_texture *t = i->texture;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m), dims = t->dims;
        const struct tex_object *o = object_of(w, t, l, false);
        struct tex_access a = {.mem = w->run->mem};
        struct texel v;
        double x[3] = {0, 0, 0};
        if (!o) return;
        for (unsigned n = 0; n < dims; n++)
            x[n] = ww_tex_coordinate(coordinate(w, t, n + t->layered, l), t->integers);
        if (t->layered) x[dims] = coordinate(w, t, 0, l) & 0xffff;
        if (dims == 2 && o->size[1] == 1 && x[1] == 0) dims = 1; /* ptxas fetches 1D as 2D with y = 0 */
        if (!ww_tex_sample(&a, o, x, dims, t->integers, &v)) {
            fail_access(w, l, &a);
            return;
        }
        w->addr[l] = a.first ? a.first : o->address;
        put(w, t, l, o, &v);
    }
    sx_set_pred(w, i->pd[0], SX_ALL, mask);
    note(w, mask);
}

/* Sizes of an object: width, height, depth, levels. */
static void query(SX_ARGS) {
    const struct sx_texture *t = i->texture;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t handle = ((const uint32_t *)sx_src(w, t->handle))[l];
        bool good = handle && handle <= w->run->texture_count && w->run->texture[handle - 1].live;
        if (!good) {
            ww_sx_fail(w, l, WW_EXEC, "0x%x is not a texture or surface object", handle);
            return;
        }
        const struct tex_object *o = &w->run->texture[handle - 1];
        struct texel v = {.raw = {o->size[0], o->size[1], o->size[2], 1}};
        struct tex_object plain = {.as_float = false};
        put(w, t, l, &plain, &v);
    }
}

/* ---- surfaces ---- */

/* Where the access is; 0: nowhere, nothing is done. False: the run has failed. */
static bool surface_address(struct sx_warp *w, const struct sx_texture *t, unsigned l,
                            const struct tex_object *o, uint32_t bytes, uint64_t *address) {
    int64_t p[3] = {0, 0, 0};
    unsigned count = t->dims + t->layered;
    for (unsigned n = 0; n < count; n++) p[n] = (int32_t)coordinate(w, t, n, l);
    *address = 0;
    if (ww_surface_address(o, p, bytes, t->outside, address) != TEX_TRAPS) return true;
    ww_sx_fail(w, l, WW_EXEC, "out-of-bounds surface access at (%lld bytes, %lld, %lld)", (long long)p[0],
               (long long)p[1], (long long)p[2]);
    return false;
}

static void surface(SX_ARGS) {
    const struct sx_texture *t = i->texture;
    unsigned char *host[SX_LANES], zero[16] = {0};
    uint32_t bytes = i->bytes, here = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const struct tex_object *o = object_of(w, t, l, true);
        struct tex_access a = {.mem = w->run->mem};
        uint64_t at;
        if (!o || !surface_address(w, t, l, o, bytes, &at)) return;
        host[l] = at ? ww_tex_host(&a, at, bytes) : zero;
        if (!host[l]) {
            fail_access(w, l, &a);
            return;
        }
        if (at) here |= 1u << l;
        w->addr[l] = at ? at : o->address;
    }
    if (i->src->op == SASS_SUST)
        ww_sx_store_rows(sx_src(w, i->b), bytes, here, host);
    else
        ww_sx_load_rows(sx_dst(w, i->d), i->type, mask, host);
    sx_set_pred(w, i->pd[0], SX_ALL, mask);
    note(w, mask);
}

/* ---- building ---- */

static bool shape(struct sx_texture *t, uint8_t dim) {
    static const uint8_t dims[] = {[SASS_DIM_1D] = 1,  [SASS_DIM_2D] = 2,  [SASS_DIM_3D] = 3,
                                   [SASS_DIM_A1D] = 1, [SASS_DIM_A2D] = 2, [SASS_DIM_BUFFER] = 1};
    t->layered = dim == SASS_DIM_A1D || dim == SASS_DIM_A2D;
    t->dims = dim < sizeof dims ? dims[dim] : 0;
    return t->dims != 0; /* no cubes */
}

static uint32_t source(struct sx_builder *b, const struct ww_sass_insn *in, struct ww_sass_operand o) {
    struct ww_sass_insn one = *in;
    one.opd[SASS_A] = o;
    return ww_sx_src(b, &one, SASS_A, 1);
}

/* The n-th register of an operand; RZ stays. */
static uint32_t nth(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot slot, uint32_t n) {
    struct ww_sass_operand o = {.kind = SASS_K_REG, .reg = in->opd[slot].reg};
    if (o.reg != SASS_RZ) o.reg = (uint8_t)(o.reg + n < SASS_RZ ? o.reg + n : SASS_RZ - 1u);
    return source(b, in, o);
}

/* C and PS3: c[C][4 * PS3], or C: a uniform register; bindless: the first register of `registers`. */
static uint32_t handle(struct sx_builder *b, const struct ww_sass_insn *in, enum ww_sass_slot registers) {
    const struct ww_sass_operand *c = &in->opd[SASS_C];
    if (c->kind == SASS_K_UREG) return source(b, in, *c);
    if (c->kind == SASS_K_IMM)
        return source(b, in,
                      (struct ww_sass_operand){.kind = SASS_K_CONST,
                                               .reg = SASS_RZ,
                                               .bank = (uint8_t)c->imm,
                                               .imm = in->opd[SASS_PS3].imm * 4});
    return nth(b, in, registers, 0);
}

static struct sx_texture *new_texture(struct sx_builder *b, const struct ww_sass_insn *in) {
    struct sx_texture *t = ww_arena_array(&ww_sx_building(b)->arena, 1, sizeof *t);
    if (!t) {
        ww_sx_problem(b, WW_NOMEM, "memory ran out");
        return NULL;
    }
    t->mask = in->opd[SASS_E].kind == SASS_K_IMM ? (uint8_t)(in->opd[SASS_E].imm & 15) : 15;
    for (uint32_t c = 0, at = 0; c < 4; c++) {
        if (!((uint32_t)t->mask >> c & 1u)) continue;
        struct ww_sass_insn one = *in;
        enum ww_sass_slot slot = at < 2 ? SASS_D : SASS_D2;
        struct ww_sass_operand *o = &one.opd[slot];
        if (o->kind == SASS_K_REG && o->reg != SASS_RZ) o->reg = (uint8_t)(o->reg + at % 2);
        t->out[at++] = ww_sx_dst(b, &one, slot, 1);
    }
    return t;
}

static bool pick_fetch(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    struct sx_texture *t = new_texture(b, in);
    if (!t || !shape(t, in->mod[SASS_M_DIM])) return false;
    bool plain = !in->mod[SASS_M_COMPARE] && !in->mod[SASS_M_AOFFI] && !in->mod[SASS_M_MULTISAMPLE] &&
                 !in->mod[SASS_M_EXTRA2]; /* EXTRA2: results of 16 bits */
    bool split = in->mod[SASS_M_EXTRA], bindless = in->mod[SASS_M_BINDLESS];
    t->integers = in->op == SASS_TLD;
    t->handle = handle(b, in, SASS_B);
    for (uint32_t n = 0; n < (uint32_t)t->dims + t->layered; n++)
        t->coordinate[n] = split && n >= 2 ? nth(b, in, SASS_B, n - 2 + bindless) : nth(b, in, SASS_A, n);
    i->texture = t;
    i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
    i->fn = texture;
    return plain;
}

static bool pick_query(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    struct sx_texture *t = new_texture(b, in);
    if (!t || in->mod[SASS_M_QUERY]) return false; /* not of dimensions */
    t->handle = handle(b, in, SASS_A);
    i->texture = t;
    i->kind = SX_DATA;
    i->fn = query;
    return true;
}

static bool pick_surface(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    struct sx_texture *t = new_texture(b, in);
    bool is_store = in->op == SASS_SUST;
    if (!t || !shape(t, in->mod[SASS_M_DIM]) || in->mod[SASS_M_FORMATTED]) return false;
    if (!in->mod[SASS_M_EXTRA]) return false; /* EXTRA: x counts bytes */
    t->outside = in->mod[SASS_M_CLAMP] == SASS_CLAMP_IGN    ? TEX_OUTSIDE_ZERO
                 : in->mod[SASS_M_CLAMP] == SASS_CLAMP_NEAR ? TEX_OUTSIDE_CLAMP
                                                            : TEX_OUTSIDE_TRAP;
    t->handle = handle(b, in, SASS_C);
    for (uint32_t n = 0; n < (uint32_t)t->dims + t->layered; n++) t->coordinate[n] = nth(b, in, SASS_A, n);
    i->texture = t;
    i->type = in->mod[SASS_M_TYPE];
    i->bytes = (uint8_t)ww_sx_type_bytes(i->type);
    uint32_t rows = (i->bytes + 3u) / 4;
    if (is_store)
        i->b = ww_sx_src(b, in, SASS_B, rows);
    else
        i->d = ww_sx_dst(b, in, SASS_D, rows);
    i->pd[0] = ww_sx_pred_dst(b, in, SASS_PD);
    i->fn = surface;
    return true;
}

bool ww_sx_pick_texture(struct sx_builder *b, const struct ww_sass_insn *in, struct sx_inst *i) {
    bool known;
    i->kind = SX_MEM;
    switch (in->op) {
    case SASS_TEX:
    case SASS_TLD:
        known = pick_fetch(b, in, i);
        break;
    case SASS_TXQ:
        known = pick_query(b, in, i);
        break;
    case SASS_SULD:
    case SASS_SUST:
        known = pick_surface(b, in, i);
        break;
    default:
        known = false;
        break;
    }
    if (!known) i->kind = SX_DATA;
    return known;
}
