/* scene.h: the parts of the workload ap_scene: what the scenes are, their meshes and the state of their draws,
 * and the references of each stage.
 *
 * A scene is a number of vertices in strips of SCENE_STRIP, drawn a buffer full at a time: a draw is a bumpy
 * cylinder of `strips` strips that go once around it, so that one half shows its back, seen from one of four
 * sides that take turns, under its own materials and lights. What grows with the size is the number of draws.
 */
#ifndef WW_TRACES_WORKLOADS_SCENE_H
#define WW_TRACES_WORKLOADS_SCENE_H

#include "apogee.h"

enum {
    SCENE_STRIP = 64,
    SCENE_LIGHTS_MAX = 2,
    SCENE_QUAD = 2 /* pixels of a quad's side, seen from the front */
};

/* The state of a draw: float4 at these places, as in kernels/ap_scene.cu. */
enum {
    STATE_CLIP = 0,
    STATE_EYE = 4,
    STATE_NORMAL = 8,
    STATE_VIEW_SCALE = 11,
    STATE_VIEW_OFFSET = 12,
    STATE_SCISSOR = 13,
    STATE_BASE = 14,
    STATE_MATERIAL = 15,
    STATE_FOG_COLOUR = 16,
    STATE_FOG_RANGE = 17,
    STATE_TEXTURE_ENV = 18,
    STATE_LIGHT = 20,
    STATE_LIGHT_STEP = 8,
    STATE_COUNT = STATE_LIGHT + SCENE_LIGHTS_MAX * STATE_LIGHT_STEP
};

struct scene_kind {
    double millions; /* vertices of table 5.2 */
    uint32_t
        strips; /* of a draw: what a vertex buffer of 64 KiB holds, less where state changes cut it short */
    uint32_t texture; /* texels of a side, or 0 */
    uint32_t lights;
    bool lines, baked; /* edges only; colours come with the vertices */
};

struct scene {
    const struct scene_kind *kind;
    uint32_t vertices, strips, width, height; /* strips: of a full draw; the frame in pixels */
    float *position, *normal;                 /* three planes of `vertices` */
    float (*uv)[2];
    uint32_t *baked;
    unsigned char *texels; /* 4 bytes each */
    float view[4][3];      /* angles */
};

/* Device memory: inputs of all vertices, the rest of one draw. */
struct scene_memory {
    uint64_t position, normal, uv, baked, texels, texture;
    uint64_t state, clip, code, colour, window, cursor, place, shade, uv_out, frame;
};

/* What a draw is and what the device made of it. */
struct scene_draw {
    uint32_t from, n, fragments; /* vertices from, from + n */
    float state[STATE_COUNT][4];
    const struct scene_memory *m;
    uint64_t *frame; /* before the draw */
};

/* Fills the arrays of a scene whose first line of fields is set. Errors: WW_NOMEM. */
enum ww_code ww_scene_mesh(struct ww_host *h, struct scene *s);
/* The state of draw number d. */
void ww_scene_state(struct ww_host *h, const struct scene *s, uint32_t d, float (*state)[4]);

/* Compare what the stages left in memory, each with what it should have made of its input as the device has it.
 * Errors: WW_MISMATCH, WW_NOMEM. */
enum ww_code ww_scene_check_vertices(struct ww_host *h, const struct scene *s, const struct scene_draw *d);
enum ww_code ww_scene_check_fragments(struct ww_host *h, const struct scene *s, const struct scene_draw *d);
enum ww_code ww_scene_check_frame(struct ww_host *h, const struct scene *s, struct scene_draw *d);

/* A packed colour within half a step and 1/16 of `want` (channels of 0 to 1, clamped), the sum of rounding to a
 * step and of a float's errors before it. */
enum ww_code ww_scene_same_colour(struct ww_host *h, const char *array, size_t i, uint32_t got,
                                  const double want[3]);
bool ww_scene_is_colour(uint32_t got, const double want[3]);

#endif
