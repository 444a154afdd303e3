/* ap_scene: seven scenes in the vertices of the thesis's table 5.2, through a rendering pipeline of kernels. */
#include "scene.h"
#include <string.h>

struct settings {
    uint32_t size, warps, ctas, scene, vertices, batch;
};
#define SCENES                                                                                                 \
    "hand_shaded|wolf_textured|wolf_wireframe|insect_textured|squid_textured|engine_shaded|room_solid"
#define PARAMS(U32, ENUM)                                                                                      \
    WW_APOGEE_PARAMS(U32, ENUM)                                                                                \
    ENUM(scene, "scene", SCENES, 0, "hand_shaded", "which scene")                                              \
    U32(vertices, "vertices", "vertex", 0, 1048576, 0,                                                         \
        "in whole strips of 64; 0: 384, a 500th of the scene's, a 100th")                                      \
    U32(batch, "batch", "vertex", 0, 16384, 0,                                                                 \
        "vertices of a draw, in whole strips; 0: the scene's (small: 192)")
static const struct ww_param params[] = {PARAMS(WW_ROW_U32, WW_ROW_ENUM)};

/* A draw is what Mesa 7's vertex buffer of 64 KiB holds in whole strips: vertices of 24 bytes (position,
 * normal), 32 (and texture coordinates), 12 (edges), 16 (position, colour, padding). A change of state ends a
 * draw early: there, a quarter. Table 5.2 has no figure for the room: that of the engine. */
static const struct scene_kind kinds[] = {
    {5.8, 42, 0, 2, false, false},   {16.2, 32, 256, 1, false, false}, {19.6, 85, 0, 0, true, false},
    {5.5, 32, 128, 1, false, false}, {2.4, 32, 512, 1, false, false},  {1.2, 10, 0, 2, false, false},
    {1.2, 64, 0, 0, false, true},
};

enum { FRAGMENTS_MOST = 24 }; /* of a vertex: quads are 2 x 2 pixels, seen from the front */

static uint32_t strips_of(uint32_t vertices) {
    return vertices < SCENE_STRIP ? 1 : vertices / SCENE_STRIP;
}

static void set_up(const struct settings *p, struct scene *s) {
    s->kind = &kinds[p->scene];
    uint32_t normal = (uint32_t)(s->kind->millions * 1e6 / 500), large = normal * 5;
    s->vertices = strips_of(ww_host_size(p->vertices, p->size, 384, normal, large)) * SCENE_STRIP;
    uint32_t own = s->kind->strips * SCENE_STRIP;
    s->strips = strips_of(ww_host_size(p->batch, p->size, 192, own, own));
    s->width =
        SCENE_STRIP * SCENE_QUAD * 85 / 628; /* what a strip goes around, less a margin that is cut off */
    s->height = s->strips * SCENE_QUAD * 85 / 100;
}

static enum ww_code upload(struct ww_host *h, const struct scene *s, struct scene_memory *m) {
    size_t n = s->vertices, side = s->kind->texture;
    WW_TRY(ww_host_upload(h, &m->position, s->position, 3 * n, sizeof *s->position));
    WW_TRY(ww_host_upload(h, &m->normal, s->normal, 3 * n, sizeof *s->normal));
    WW_TRY(ww_host_upload(h, &m->uv, s->uv, n, sizeof *s->uv));
    WW_TRY(ww_host_upload(h, &m->baked, s->baked, n, sizeof *s->baked));
    if (side == 0) return WW_OK;
    WW_TRY(ww_host_upload(h, &m->texels, s->texels, side * side, 4));
    const struct ww_device_image image = {m->texels, s->kind->texture, s->kind->texture};
    return ww_device_image(h->device, &image, &m->texture, h->error);
}

static enum ww_code allocate(struct ww_host *h, const struct scene *s, struct scene_memory *m) {
    size_t n = (size_t)s->strips * SCENE_STRIP, most = n * FRAGMENTS_MOST;
    WW_TRY(ww_host_buffer(h, &m->state, STATE_COUNT, 16));
    WW_TRY(ww_host_buffer(h, &m->clip, n, 16));
    WW_TRY(ww_host_buffer(h, &m->code, n, 4));
    WW_TRY(ww_host_buffer(h, &m->colour, n, 4));
    WW_TRY(ww_host_buffer(h, &m->window, n, 16));
    WW_TRY(ww_host_buffer(h, &m->cursor, 1, 4));
    WW_TRY(ww_host_buffer(h, &m->place, most, 8));
    WW_TRY(ww_host_buffer(h, &m->shade, most, 4));
    WW_TRY(ww_host_buffer(h, &m->uv_out, most, 8));
    WW_TRY(ww_host_buffer(h, &m->frame, (size_t)s->width * s->height, 8));
    return ww_device_memset(h->device, m->frame, 255, (size_t)s->width * s->height * 8, h->error);
}

/* ---- the stages of a draw ---- */

struct launch {
    struct ww_host *h;
    struct ww_host_shape shape;
    uint32_t ctas;
};

static enum ww_code vertices(const struct launch *l, const struct scene *s, const struct scene_draw *d) {
    static const char *const light[] = {NULL, "ap_light1", "ap_light2"};
    const struct scene_memory *m = d->m;
    uint32_t each = ww_apogee_each(d->n, l->ctas), pitch = s->vertices;
    uint64_t position = m->position + 4u * (uint64_t)d->from, normal = m->normal + 4u * (uint64_t)d->from;
    const struct ww_arg clip[] = {WW_ARG(position), WW_ARG(pitch), WW_ARG(m->state), WW_ARG(m->clip),
                                  WW_ARG(m->code),  WW_ARG(d->n),  WW_ARG(each)};
    WW_TRY(ww_host_launch(l->h, "ap_transform", &l->shape, WW_ARGS(clip)));
    if (s->kind->lights) {
        const struct ww_arg colour[] = {WW_ARG(position),  WW_ARG(normal), WW_ARG(pitch), WW_ARG(m->state),
                                        WW_ARG(m->colour), WW_ARG(d->n),   WW_ARG(each)};
        WW_TRY(ww_host_launch(l->h, light[s->kind->lights], &l->shape, WW_ARGS(colour)));
    }
    const struct ww_arg window[] = {WW_ARG(m->clip), WW_ARG(m->state), WW_ARG(m->window), WW_ARG(d->n),
                                    WW_ARG(each)};
    return ww_host_launch(l->h, "ap_project", &l->shape, WW_ARGS(window));
}

static enum ww_code raster(const struct launch *l, const struct scene *s, const struct scene_draw *d) {
    const struct scene_memory *m = d->m;
    uint32_t each = ww_apogee_each(d->n, l->ctas);
    uint64_t colour = s->kind->baked ? m->baked + 4u * (uint64_t)d->from : m->colour;
    uint64_t uv = m->uv + 8u * (uint64_t)d->from;
    if (s->kind->lines) {
        const struct ww_arg args[] = {WW_ARG(m->window), WW_ARG(m->code),  WW_ARG(m->state),
                                      WW_ARG(s->width),  WW_ARG(m->place), WW_ARG(m->shade),
                                      WW_ARG(m->cursor), WW_ARG(d->n),     WW_ARG(each)};
        return ww_host_launch(l->h, "ap_lines", &l->shape, WW_ARGS(args));
    }
    if (!s->kind->texture) {
        const struct ww_arg args[] = {WW_ARG(m->window), WW_ARG(m->code),  WW_ARG(colour),   WW_ARG(m->state),
                                      WW_ARG(s->width),  WW_ARG(m->place), WW_ARG(m->shade), WW_ARG(m->cursor),
                                      WW_ARG(d->n),      WW_ARG(each)};
        return ww_host_launch(l->h, "ap_raster", &l->shape, WW_ARGS(args));
    }
    const struct ww_arg args[] = {WW_ARG(m->window), WW_ARG(m->code),   WW_ARG(colour),   WW_ARG(uv),
                                  WW_ARG(m->state),  WW_ARG(s->width),  WW_ARG(m->place), WW_ARG(m->shade),
                                  WW_ARG(m->uv_out), WW_ARG(m->cursor), WW_ARG(d->n),     WW_ARG(each)};
    return ww_host_launch(l->h, "ap_raster_uv", &l->shape, WW_ARGS(args));
}

static enum ww_code shade(const struct launch *l, const struct scene *s, const struct scene_draw *d) {
    const struct scene_memory *m = d->m;
    uint32_t n = d->fragments, each = ww_apogee_each(n, l->ctas);
    if (!s->kind->texture) {
        const struct ww_arg args[] = {WW_ARG(m->place), WW_ARG(m->shade), WW_ARG(m->state),
                                      WW_ARG(m->frame), WW_ARG(n),        WW_ARG(each)};
        return ww_host_launch(l->h, "ap_shade", &l->shape, WW_ARGS(args));
    }
    const struct ww_arg args[] = {WW_ARG(m->place), WW_ARG(m->shade), WW_ARG(m->uv_out), WW_ARG(m->texture),
                                  WW_ARG(m->state), WW_ARG(m->frame), WW_ARG(n),         WW_ARG(each)};
    return ww_host_launch(l->h, "ap_shade_uv", &l->shape, WW_ARGS(args));
}

static enum ww_code draw(const struct launch *l, const struct scene *s, struct scene_draw *d) {
    static const uint32_t none = 0;
    struct ww_host *h = l->h;
    const struct scene_memory *m = d->m;
    WW_TRY(ww_device_write(h->device, m->state, d->state, sizeof d->state, h->error));
    WW_TRY(ww_device_write(h->device, m->cursor, &none, sizeof none, h->error));
    WW_TRY(vertices(l, s, d));
    WW_TRY(ww_scene_check_vertices(h, s, d));
    WW_TRY(raster(l, s, d));
    WW_TRY(ww_host_read(h, &d->fragments, m->cursor, 1, sizeof d->fragments));
    WW_TRY(ww_scene_check_fragments(h, s, d));
    if (d->fragments) WW_TRY(shade(l, s, d));
    return ww_scene_check_frame(h, s, d);
}

static enum ww_code body(struct ww_host *h, const void *settings) {
    const struct settings *p = settings;
    struct scene s = {0};
    struct scene_memory m = {0};
    struct scene_draw d = {.m = &m};
    const struct launch l = {h, ww_apogee_shape(p->ctas, p->warps), p->ctas};
    set_up(p, &s);
    size_t pixels = (size_t)s.width * s.height;
    WW_TRY(ww_scene_mesh(h, &s));
    WW_TRY(upload(h, &s, &m));
    WW_TRY(allocate(h, &s, &m));
    WW_TRY(ww_host_array(h, &d.frame, pixels, sizeof *d.frame));
    memset(d.frame, 255, pixels * sizeof *d.frame);
    uint32_t most = s.strips * SCENE_STRIP;
    for (uint32_t number = 0; d.from < s.vertices; d.from += most, number++) {
        d.n = s.vertices - d.from < most ? s.vertices - d.from : most;
        ww_scene_state(h, &s, number, d.state);
        WW_TRY(draw(&l, &s, &d));
    }
    return WW_OK;
}

static enum ww_code run(const void *settings, struct ww_device *device, uint64_t seed, struct ww_error *error) {
    return ww_host_run("ap_scene", body, settings, device, seed, error);
}

const struct ww_workload_ops ww_workload_ap_scene = {
    .name = "ap_scene",
    .help = "scenes through a rendering pipeline of kernels, persistent threads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .param_text = PARAMS(WW_TEXT_U32, WW_TEXT_ENUM),
    .settings_size = sizeof(struct settings),
    .ptx_name = "ap_scene",
    .run = run,
};
