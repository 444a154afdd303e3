/* marching: marching cubes, the step that generates the triangles of the cells that the surface cuts (W. E.
 * Lorensen, H. E. Cline, "Marching Cubes", SIGGRAPH 1987). The surface is where the field x^4 - 5x^2 + y^4 -
 * 5y^2 + z^4 - 5z^2 + level is 0. A CTA of 32 threads takes 32 cells; a thread keeps the points on the 12 edges
 * of its cell and their normals in shared memory, and picks from there those that the table names. The cells
 * and the place of each one's triangles come from a count and a scan before. marching_vtb is two such CTAs in
 * one that take turns, written by hand. */
#include "ww_device.h"

#define THREADS 32
#define EDGES 12

#ifndef __NVCC__
struct float3 {
    float x, y, z;
};
#endif

static __device__ __forceinline__ float field(float x, float y, float z, float level) {
    x *= 3.0f, y *= 3.0f, z *= 3.0f;
    float xx = x * x, yy = y * y, zz = z * z;
    return xx * xx - 5.0f * xx + yy * yy - 5.0f * yy + zz * zz - 5.0f * zz + level;
}

/* The field and its differences over a small step along each axis. */
static __device__ __forceinline__ float4 field4(float x, float y, float z, float level) {
    const float d = 0.001f;
    float v = field(x, y, z, level);
    return make_float4(field(x + d, y, z, level) - v, field(x, y + d, z, level) - v,
                       field(x, y, z + d, level) - v, v);
}

static __device__ __forceinline__ void edge(float3 *point, float3 *normal, unsigned t, unsigned e,
                                            const float *a, const float *b, float4 fa, float4 fb) {
    float s = fa.w / (fa.w - fb.w);
    point[e * THREADS + t] = {a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])};
    normal[e * THREADS + t] = {fa.x + s * (fb.x - fa.x), fa.y + s * (fb.y - fa.y), fa.z + s * (fb.z - fa.z)};
}

/* Corners of a cell by bits of their number: x 1, y 2, z 4. Edges 0-3 along x, 4-7 along y, 8-11 along z, each
 * by the number of its lower corner's other two bits. */
static __device__ __forceinline__ void corners(float c[8][3], float4 f[8], unsigned cell, unsigned side,
                                               float level) {
    float h = 2.0f / (float)side;
    float x = (float)(cell % side) * h - 1.0f, y = (float)(cell / side % side) * h - 1.0f;
    float z = (float)(cell / (side * side)) * h - 1.0f;
#pragma unroll
    for (unsigned i = 0; i < 8; i++) {
        c[i][0] = x + (i & 1 ? h : 0.0f);
        c[i][1] = y + (i & 2 ? h : 0.0f);
        c[i][2] = z + (i & 4 ? h : 0.0f);
        f[i] = field4(c[i][0], c[i][1], c[i][2], level);
    }
}

static __device__ __forceinline__ unsigned inside(const float4 f[8]) {
    unsigned bits = 0;
#pragma unroll
    for (unsigned i = 0; i < 8; i++) bits |= f[i].w < 0.0f ? 1u << i : 0u;
    return bits;
}

static __device__ __forceinline__ void edges(float3 *point, float3 *normal, unsigned t, float c[8][3],
                                             float4 f[8]) {
#pragma unroll
    for (unsigned e = 0; e < EDGES; e++) {
        unsigned axis = e / 4, k = e % 4;
        unsigned a = axis == 0 ? 2 * k : axis == 1 ? (k & 1) + (k & 2) * 2 : k, b = a + (1u << axis);
        edge(point, normal, t, e, c[a], c[b], f[a], f[b]);
    }
}

static __device__ __forceinline__ void triangles(const float3 *point, const float3 *normal, unsigned t,
                                                 unsigned bits, unsigned first,
                                                 const unsigned *__restrict__ table,
                                                 float4 *__restrict__ out_point,
                                                 float4 *__restrict__ out_normal, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        unsigned e = table[bits * 16 + i];
        float3 p = point[e * THREADS + t], n = normal[e * THREADS + t];
        out_point[first + i] = make_float4(p.x, p.y, p.z, 1.0f);
        out_normal[first + i] = make_float4(n.x, n.y, n.z, 0.0f);
    }
}

extern "C" __global__ void marching_triangles(const unsigned *__restrict__ cell,
                                              const unsigned *__restrict__ first,
                                              const unsigned *__restrict__ counts,
                                              const unsigned *__restrict__ table,
                                              float4 *__restrict__ out_point, float4 *__restrict__ out_normal,
                                              unsigned cells, unsigned side, float level) {
    __shared__ float3 point[EDGES * THREADS], normal[EDGES * THREADS];
    unsigned t = threadIdx.x, i = blockIdx.x * THREADS + t;
    if (i >= cells) i = cells - 1;
    float c[8][3];
    float4 f[8];
    corners(c, f, cell[i], side, level);
    unsigned bits = inside(f), count = counts[bits], at = first[i];
    edges(point, normal, t, c, f);
    __syncthreads();
    triangles(point, normal, t, bits, at, table, out_point, out_normal, count);
}

extern "C" __global__ void marching_vtb(const unsigned *__restrict__ cell, const unsigned *__restrict__ first,
                                        const unsigned *__restrict__ counts, const unsigned *__restrict__ table,
                                        float4 *__restrict__ out_point, float4 *__restrict__ out_normal,
                                        unsigned cells, unsigned side, float level) {
    __shared__ float3 point[EDGES * THREADS], normal[EDGES * THREADS];
    unsigned v_tb = threadIdx.x / THREADS, t = threadIdx.x % THREADS;
    unsigned i = (blockIdx.x * 2 + v_tb) * THREADS + t;
    if (i >= cells) i = cells - 1;
    float c[8][3];
    float4 f[8];
    corners(c, f, cell[i], side, level);
    unsigned bits = inside(f), count = counts[bits], at = first[i];
    if (v_tb == 0) edges(point, normal, t, c, f);
    __syncthreads();
    if (v_tb == 0) triangles(point, normal, t, bits, at, table, out_point, out_normal, count);
    __syncthreads();
    if (v_tb == 1) edges(point, normal, t, c, f);
    __syncthreads();
    if (v_tb == 1) triangles(point, normal, t, bits, at, table, out_point, out_normal, count);
}
