/* ap_scene: a small rendering pipeline, a kernel for each stage, in the order of a software pipeline that works on
 * buffers of vertices: transform and clip codes, lighting, projection, rasterisation of triangle strips or of their
 * edges into fragments, shading of fragments with a texture by the texture unit, and depth test with write by the
 * raster units (an atomic minimum of depth and colour). What is the same for all vertices of a draw (matrices,
 * viewport, scissor, material, fog, lights) lies in `state`, in global memory, and is read by every thread.
 *
 * Strips have STRIP vertices; the triangle at i has the vertices i, i + 1, i + 2. A CTA's part is a multiple of 32. */
#include "ap_device.h"

#define STRIP 64

/* Where things lie in `state`, in float4; as in workloads/scene.h. */
#define CLIP_ROWS 0
#define EYE_ROWS 4
#define NORMAL_ROWS 8
#define VIEW_SCALE 11
#define VIEW_OFFSET 12
#define SCISSOR 13
#define BASE 14
#define MATERIAL 15
#define FOG_COLOUR 16
#define FOG_RANGE 17
#define TEXTURE_ENV 18
#define LIGHT 20
#define LIGHT_STEP 8

static __device__ __forceinline__ float dot3(float4 a, float x, float y, float z) {
    return ww_fma(a.x, x, ww_fma(a.y, y, a.z * z));
}
static __device__ __forceinline__ float row4(float4 a, float x, float y, float z) {
    return ww_fma(a.x, x, ww_fma(a.y, y, ww_fma(a.z, z, a.w)));
}
static __device__ __forceinline__ float unit(float v) {
    return ww_fminf(ww_fmaxf(v, 0.0f), 1.0f);
}
static __device__ __forceinline__ unsigned byte_of(float v) {
    return (unsigned)ww_rintf(unit(v) * 255.0f);
}
static __device__ __forceinline__ unsigned pack(float r, float g, float b) {
    return byte_of(r) | byte_of(g) << 8 | byte_of(b) << 16 | 0xff000000u;
}
static __device__ __forceinline__ float channel(unsigned colour, unsigned n) {
    return (float)(colour >> (8 * n) & 255u);
}

/* ---- vertices ---- */

/* Clip coordinates, and a bit for each plane of the view volume that the vertex lies beyond. */
extern "C" __global__ void ap_transform(const float *position, unsigned pitch, const float4 *state, float4 *clip,
                                        unsigned *code, unsigned n, unsigned each) {
    AP_FOR(i, n, each) {
        float x = position[i], y = position[pitch + i], z = position[2 * pitch + i];
        float cx = row4(state[CLIP_ROWS], x, y, z), cy = row4(state[CLIP_ROWS + 1], x, y, z);
        float cz = row4(state[CLIP_ROWS + 2], x, y, z), cw = row4(state[CLIP_ROWS + 3], x, y, z);
        unsigned bits = (cx < -cw) | (cx > cw) << 1 | (cy < -cw) << 2 | (cy > cw) << 3 | (cz < -cw) << 4 |
                        (cz > cw) << 5;
        clip[i] = make_float4(cx, cy, cz, cw);
        code[i] = bits;
    }
}

/* Colours by LIGHTS positional lights: ambient, diffuse and specular terms, attenuation, a smooth spot. */
template <unsigned LIGHTS>
static __device__ __forceinline__ void light(const float *position, const float *normal, unsigned pitch,
                                             const float4 *state, unsigned *colour, unsigned n, unsigned each) {
    AP_FOR(i, n, each) {
        float x = position[i], y = position[pitch + i], z = position[2 * pitch + i];
        float ex = row4(state[EYE_ROWS], x, y, z), ey = row4(state[EYE_ROWS + 1], x, y, z);
        float ez = row4(state[EYE_ROWS + 2], x, y, z);
        x = normal[i], y = normal[pitch + i], z = normal[2 * pitch + i];
        float nx = dot3(state[NORMAL_ROWS], x, y, z), ny = dot3(state[NORMAL_ROWS + 1], x, y, z);
        float nz = dot3(state[NORMAL_ROWS + 2], x, y, z);
        float scale = ww_rsqrtf(ww_fma(nx, nx, ww_fma(ny, ny, nz * nz)));
        nx *= scale, ny *= scale, nz *= scale;
        float4 sum = state[BASE];
        float shininess = state[MATERIAL].x;
#pragma unroll
        for (unsigned l = 0; l < LIGHTS; l++) {
            const float4 *s = state + LIGHT + LIGHT_STEP * l;
            float vx = s[0].x - ex, vy = s[0].y - ey, vz = s[0].z - ez;
            float d2 = ww_fma(vx, vx, ww_fma(vy, vy, vz * vz)), inverse = ww_rsqrtf(d2);
            vx *= inverse, vy *= inverse, vz *= inverse;
            float fade = ww_fast_rcpf(ww_fma(s[1].z, d2, ww_fma(s[1].y, d2 * inverse, s[1].x)));
            fade *= ww_powf(ww_fmaxf(-dot3(s[2], vx, vy, vz), 0.0f), s[2].w);
            float towards = ww_fma(nx, vx, ww_fma(ny, vy, nz * vz)), diffuse = ww_fmaxf(towards, 0.0f);
            float hz = vz + 1.0f; /* half way between the light and the eye, far away */
            float half = ww_rsqrtf(ww_fma(vx, vx, ww_fma(vy, vy, hz * hz)));
            float shine = ww_fmaxf(ww_fma(nx, vx, ww_fma(ny, vy, nz * hz)) * half, 0.0f);
            float specular = towards > 0.0f ? ww_powf(shine, shininess) : 0.0f;
            sum.x = ww_fma(fade, ww_fma(specular, s[5].x, ww_fma(diffuse, s[4].x, s[3].x)), sum.x);
            sum.y = ww_fma(fade, ww_fma(specular, s[5].y, ww_fma(diffuse, s[4].y, s[3].y)), sum.y);
            sum.z = ww_fma(fade, ww_fma(specular, s[5].z, ww_fma(diffuse, s[4].z, s[3].z)), sum.z);
        }
        colour[i] = pack(sum.x, sum.y, sum.z);
    }
}

#define LIGHT_KERNEL(count)                                                                                    \
    extern "C" __global__ void ap_light##count(const float *position, const float *normal, unsigned pitch,     \
                                               const float4 *state, unsigned *colour, unsigned n,              \
                                               unsigned each) {                                                \
        light<count>(position, normal, pitch, state, colour, n, each);                                         \
    }
LIGHT_KERNEL(1)
LIGHT_KERNEL(2)

/* Window coordinates, and 1 / w. */
extern "C" __global__ void ap_project(const float4 *clip, const float4 *state, float4 *window, unsigned n,
                                      unsigned each) {
    AP_FOR(i, n, each) {
        float4 c = clip[i], scale = state[VIEW_SCALE], offset = state[VIEW_OFFSET];
        float w = ww_fast_rcpf(c.w);
        window[i] = make_float4(ww_fma(c.x * w, scale.x, offset.x), ww_fma(c.y * w, scale.y, offset.y),
                                ww_fma(c.z * w, scale.z, offset.z), w);
    }
}

/* ---- fragments ---- */

struct ap_fragments {
    uint2 *place; /* pixel, depth */
    unsigned *colour;
    float2 *uv;
};

static __device__ __forceinline__ unsigned depth_of(float z) {
    return (unsigned)(unit(z) * 16777215.0f);
}

/* Where this thread's `count` fragments begin: threads of a warp in their order, warps as they come. */
static __device__ __forceinline__ unsigned reserve(unsigned *cursor, unsigned count) {
    unsigned lane = threadIdx.x % 32;
    int sum = (int)count;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        int before = __shfl_sync(0xffffffffu, sum, (lane - d) % 32);
        if (lane >= d) sum += before;
    }
    int base = 0;
    if (lane == 31 && sum > 0) base = (int)atomicAdd(cursor, (unsigned)sum);
    base = __shfl_sync(0xffffffffu, base, 31);
    return (unsigned)(base + sum) - count;
}

/* A triangle in 1/16 pixels. */
struct ap_triangle {
    int x[3], y[3], area;
};

static __device__ __forceinline__ int min3(int a, int b, int c) {
    int m = a < b ? a : b;
    return m < c ? m : c;
}
static __device__ __forceinline__ int max3(int a, int b, int c) {
    int m = a > b ? a : b;
    return m > c ? m : c;
}
template <class T> static __device__ __forceinline__ void swap(T &a, T &b) {
    T c = a;
    a = b;
    b = c;
}

/* Every other triangle of a strip is turned round; one whose area is not positive then shows its back. */
static __device__ __forceinline__ ap_triangle triangle_of(const float4 *v, bool even) {
    ap_triangle t;
#pragma unroll
    for (unsigned k = 0; k < 3; k++) {
        t.x[k] = (int)ww_rintf(v[k].x * 16.0f);
        t.y[k] = (int)ww_rintf(v[k].y * 16.0f);
    }
    if (even) swap(t.x[1], t.x[2]), swap(t.y[1], t.y[2]);
    t.area = (t.x[1] - t.x[0]) * (t.y[2] - t.y[0]) - (t.y[1] - t.y[0]) * (t.x[2] - t.x[0]);
    return t;
}

/* Twice the area of a pixel's centre with an edge: at a pixel, and from pixel to pixel. `own` makes it negative on the
 * edge unless the triangle owns that: of two that share an edge one does. */
struct ap_edge {
    int at, across, up, own;
};

static __device__ __forceinline__ ap_edge edge(const ap_triangle &t, unsigned a, unsigned b, int x, int y) {
    int dx = t.x[b] - t.x[a], dy = t.y[b] - t.y[a];
    int at = dx * (16 * y + 8 - t.y[a]) - dy * (16 * x + 8 - t.x[a]);
    return {at, -16 * dy, 16 * dx, dy < 0 || (dy == 0 && dx > 0) ? 0 : -1};
}

/* A triangle is drawn a tile of 8 x 4 pixels at a time. */
#define TILE_X 8
#define TILE_Y 4

/* A tile: its first pixel; bits 8 y + x of the pixels that lie inside; weights of corners 1 and 2 at its first pixel
 * and from pixel to pixel. */
struct ap_tile {
    int x, y;
    unsigned bits;
    float one, one_x, one_y, two, two_x, two_y;
};

/* The tile at x0, y0 of a box of pixels up to x1, y1. */
static __device__ __forceinline__ ap_tile tile_of(const ap_triangle &t, int x0, int y0, int x1, int y1) {
    ap_edge a = edge(t, 1, 2, x0, y0), b = edge(t, 2, 0, x0, y0), c = edge(t, 0, 1, x0, y0);
    int right = x1 - x0 < TILE_X - 1 ? x1 - x0 : TILE_X - 1, high = y1 - y0 < TILE_Y - 1 ? y1 - y0 : TILE_Y - 1;
    int row0 = a.at + a.own, row1 = b.at + b.own, row2 = c.at + c.own;
    unsigned bits = 0;
    for (int y = 0; y <= high; y++) {
        int e0 = row0, e1 = row1, e2 = row2;
        for (int x = 0; x <= right; x++) {
            bits |= ((unsigned)~(e0 | e1 | e2) >> 31) << (TILE_X * y + x);
            e0 += a.across, e1 += b.across, e2 += c.across;
        }
        row0 += a.up, row1 += b.up, row2 += c.up;
    }
    float inverse = ww_fast_rcpf((float)t.area);
    return {x0,
            y0,
            bits,
            (float)b.at * inverse,
            (float)b.across * inverse,
            (float)b.up * inverse,
            (float)c.at * inverse,
            (float)c.across * inverse,
            (float)c.up * inverse};
}

/* Tile `number` of the triangle with these corners; *more: it has another one. */
static __device__ __forceinline__ ap_tile look(const float4 *v, bool even, float4 scissor, int number, bool *more) {
    ap_triangle t = triangle_of(v, even);
    ap_tile none = {};
    *more = false;
    if (t.area <= 0) return none;
    int x0 = max3((min3(t.x[0], t.x[1], t.x[2]) + 7) >> 4, (int)scissor.x, 0);
    int y0 = max3((min3(t.y[0], t.y[1], t.y[2]) + 7) >> 4, (int)scissor.y, 0);
    int x1 = (max3(t.x[0], t.x[1], t.x[2]) - 8) >> 4, y1 = (max3(t.y[0], t.y[1], t.y[2]) - 8) >> 4;
    x1 = x1 < (int)scissor.z ? x1 : (int)scissor.z, y1 = y1 < (int)scissor.w ? y1 : (int)scissor.w;
    if (x0 > x1 || y0 > y1) return none;
    bool large = x1 - x0 >= TILE_X || y1 - y0 >= TILE_Y;
    if (large) {
        int wide = (x1 - x0) / TILE_X + 1, row = number / wide;
        *more = number + 1 < wide * ((y1 - y0) / TILE_Y + 1);
        x0 += (number - row * wide) * TILE_X, y0 += row * TILE_Y;
    }
    return tile_of(t, x0, y0, x1, y1);
}

/* Writes the fragments of a tile from `at` on. z, w, c: depth, 1 / w and colours of the corners. */
template <bool TEXTURED>
static __device__ __forceinline__ void emit(const ap_tile &t, const float *z, const float *w, const unsigned *c,
                                            const float2 *m, unsigned width, const ap_fragments &out, unsigned at) {
    for (unsigned bits = t.bits; bits; bits &= bits - 1, at++) {
        int bit = 31 - __clz((int)(bits & (0u - bits))), x = bit % TILE_X, y = bit / TILE_X;
        float l1 = ww_fma((float)x, t.one_x, ww_fma((float)y, t.one_y, t.one));
        float l2 = ww_fma((float)x, t.two_x, ww_fma((float)y, t.two_y, t.two)), l0 = 1.0f - l1 - l2;
        unsigned mixed = 0xff000000u;
#pragma unroll
        for (unsigned n = 0; n < 3; n++) {
            float last = l2 * channel(c[2], n);
            mixed |= (unsigned)ww_rintf(ww_fma(l0, channel(c[0], n), ww_fma(l1, channel(c[1], n), last))) << (8 * n);
        }
        float depth = ww_fma(l0, z[0], ww_fma(l1, z[1], l2 * z[2]));
        out.place[at] = {(unsigned)(t.y + y) * width + (unsigned)(t.x + x), depth_of(depth)};
        out.colour[at] = mixed;
        if (TEXTURED) {
            float q0 = l0 * w[0], q1 = l1 * w[1], q2 = l2 * w[2], q = ww_fast_rcpf(q0 + q1 + q2);
            out.uv[at] = make_float2(ww_fma(q0, m[0].x, ww_fma(q1, m[1].x, q2 * m[2].x)) * q,
                                     ww_fma(q0, m[0].y, ww_fma(q1, m[1].y, q2 * m[2].y)) * q);
        }
    }
}

template <bool TEXTURED>
static __device__ __forceinline__ void raster(const float4 *window, const unsigned *code, const unsigned *colour,
                                              const float2 *uv, const float4 *state, unsigned width,
                                              ap_fragments out, unsigned *cursor, unsigned n, unsigned each) {
    AP_FOR(i, n, each) {
        bool even = i % 2 == 0, more = i % STRIP < STRIP - 2;
        int number = 0;
        do {
            ap_tile t = {};
            float z[3], w[3];
            if (more) {
                unsigned c0 = code[i], c1 = code[i + 1], c2 = code[i + 2];
                more = (c0 & c1 & c2) == 0 && ((c0 | c1 | c2) & 0x30u) == 0;
            }
            if (more) {
                float4 v[3] = {window[i], window[i + 1], window[i + 2]};
                t = look(v, even, state[SCISSOR], number++, &more);
                z[0] = v[0].z, z[1] = v[1].z, z[2] = v[2].z, w[0] = v[0].w, w[1] = v[1].w, w[2] = v[2].w;
            }
            unsigned at = reserve(cursor, (unsigned)__popc(t.bits));
            if (t.bits == 0) continue;
            unsigned c[3] = {colour[i], colour[i + 1], colour[i + 2]};
            float2 m[3] = {};
            if (TEXTURED) m[0] = uv[i], m[1] = uv[i + 1], m[2] = uv[i + 2];
            if (even) swap(z[1], z[2]), swap(w[1], w[2]), swap(c[1], c[2]), swap(m[1], m[2]);
            emit<TEXTURED>(t, z, w, c, m, width, out, at);
        } while (__any_sync(0xffffffffu, more));
    }
}

extern "C" __global__ void ap_raster(const float4 *window, const unsigned *code, const unsigned *colour,
                                     const float4 *state, unsigned width, uint2 *place, unsigned *shade,
                                     unsigned *cursor, unsigned n, unsigned each) {
    raster<false>(window, code, colour, 0, state, width, {place, shade, 0}, cursor, n, each);
}

extern "C" __global__ void ap_raster_uv(const float4 *window, const unsigned *code, const unsigned *colour,
                                        const float2 *uv, const float4 *state, unsigned width, uint2 *place,
                                        unsigned *shade, float2 *uv_out, unsigned *cursor, unsigned n,
                                        unsigned each) {
    raster<true>(window, code, colour, uv, state, width, {place, shade, uv_out}, cursor, n, each);
}

/* Calls draw(x, y, z) for each pixel of the line from a to b, without its end, that lies in the scissor. */
template <class DRAW>
static __device__ __forceinline__ void walk(float4 a, float4 b, float4 scissor, DRAW draw) {
    float dx = b.x - a.x, dy = b.y - a.y;
    float steps = ww_fmaxf(ww_ceilf(ww_fmaxf(ww_fabsf(dx), ww_fabsf(dy))), 1.0f);
    float sx = dx / steps, sy = dy / steps, sz = (b.z - a.z) / steps;
    for (float k = 0.0f; k < steps; k += 1.0f) {
        float x = ww_floorf(ww_fma(k, sx, a.x)), y = ww_floorf(ww_fma(k, sy, a.y));
        if (x >= scissor.x && x <= scissor.z && y >= scissor.y && y <= scissor.w) draw(x, y, ww_fma(k, sz, a.z));
    }
}

/* The edges from each vertex of a strip to the next two. */
extern "C" __global__ void ap_lines(const float4 *window, const unsigned *code, const float4 *state,
                                    unsigned width, uint2 *place, unsigned *shade, unsigned *cursor, unsigned n, unsigned each) {
    AP_FOR(i, n, each) {
        unsigned c0 = code[i];
        float4 a = window[i];
#pragma unroll
        for (unsigned s = 1; s <= 2; s++) {
            unsigned count = 0;
            float4 b = a, scissor = state[SCISSOR];
            if (i % STRIP + s < STRIP) {
                unsigned c1 = code[i + s];
                b = window[i + s];
                if ((c0 & c1) == 0 && ((c0 | c1) & 0x30u) == 0)
                    walk(a, b, scissor, [&](float, float, float) { count++; });
            }
            unsigned at = reserve(cursor, count);
            if (count == 0) continue;
            float4 base = state[BASE];
            unsigned colour = pack(base.x, base.y, base.z);
            walk(a, b, scissor, [&](float x, float y, float z) {
                place[at] = {(unsigned)y * width + (unsigned)x, depth_of(z)};
                shade[at++] = colour;
            });
        }
    }
}

static __device__ __forceinline__ float4 texel(unsigned long long texture, float2 at) {
    float4 t;
    float r, g, b, a;
    asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=f"(r), "=f"(g), "=f"(b), "=f"(a)
        : "l"(texture), "f"(at.x), "f"(at.y));
    t = make_float4(r, g, b, a);
    return t;
}

/* Colour by texture and fog; then depth test and write. */
template <bool TEXTURED>
static __device__ __forceinline__ void shade(const uint2 *place, const unsigned *colour, const float2 *uv,
                                             unsigned long long texture, const float4 *state,
                                             unsigned long long *frame, unsigned n, unsigned each) {
    AP_FOR(i, n, each) {
        uint2 at = place[i];
        unsigned c = colour[i];
        float4 fog = state[FOG_COLOUR], range = state[FOG_RANGE], env = state[TEXTURE_ENV];
        float r = channel(c, 0) * env.x, g = channel(c, 1) * env.y, b = channel(c, 2) * env.z;
        if (TEXTURED) {
            float4 t = texel(texture, uv[i]);
            r *= t.x, g *= t.y, b *= t.z;
        }
        float clear = unit(ww_fma((float)at.y, range.x, range.y));
        r = ww_fma(clear, r - fog.x, fog.x), g = ww_fma(clear, g - fog.y, fog.y);
        b = ww_fma(clear, b - fog.z, fog.z);
        atomicMin(frame + at.x, (unsigned long long)at.y << 32 | pack(r, g, b));
    }
}

extern "C" __global__ void ap_shade(const uint2 *place, const unsigned *colour, const float4 *state,
                                    unsigned long long *frame, unsigned n, unsigned each) {
    shade<false>(place, colour, 0, 0, state, frame, n, each);
}

extern "C" __global__ void ap_shade_uv(const uint2 *place, const unsigned *colour, const float2 *uv,
                                       unsigned long long texture, const float4 *state,
                                       unsigned long long *frame, unsigned n, unsigned each) {
    shade<true>(place, colour, uv, texture, state, frame, n, each);
}
