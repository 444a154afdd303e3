/* marching: marching cubes, the step that generates the triangles of the cells that the surface cuts (W. E.
 * Lorensen, H. E. Cline, "Marching Cubes", SIGGRAPH 1987). The surface is where the field x^4 - 5x^2 + y^4 -
 * 5y^2 + z^4 - 5z^2 + level is 0. A CTA of 32 threads takes 32 cells; a thread keeps the points on the 12 edges
 * of its cell and their normals in shared memory, and picks from there those that the table names, as the CUDA
 * SDK's sample does. The table and the number of points by case are textures. The cells and the place of each
 * one's triangles come from a count and a scan before. Written by hand, marching_vtb is two such CTAs in one
 * that take turns, marching_co_vtb two that keep the first 16 of the 24 lists each for itself (figure 6 of the
 * paper that docs/studies/multiplexing.md names). */
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

/* Point and normal on edge e. */
static __device__ __forceinline__ void on_edge(float3 &point, float3 &normal, unsigned e, const float c[8][3],
                                               const float4 f[8]) {
    unsigned axis = e / 4, k = e % 4;
    unsigned i = axis == 0 ? 2 * k : axis == 1 ? (k & 1) + (k & 2) * 2 : k, j = i + (1u << axis);
    const float *a = c[i], *b = c[j];
    float4 fa = f[i], fb = f[j];
    float s = fa.w / (fa.w - fb.w);
    point = {a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])};
    normal = {fa.x + s * (fb.x - fa.x), fa.y + s * (fb.y - fa.y), fa.z + s * (fb.z - fa.z)};
}

static __device__ __forceinline__ void edges(float3 *point, float3 *normal, unsigned t, const float c[8][3],
                                             const float4 f[8]) {
#pragma unroll
    for (unsigned e = 0; e < EDGES; e++) on_edge(point[e * THREADS + t], normal[e * THREADS + t], e, c, f);
}

/* What all kernels are given. */
struct surface {
    const unsigned *cell, *first; /* by CTA's thread; by cell: where its points go */
    unsigned long long counts, table;
    float4 *point, *normal;
    unsigned cells, side, most;
    float level;
};

/* Points and normals of one cell by the table's edges. */
static __device__ __forceinline__ void triangles(const surface &s, const float3 *point, const float3 *normal,
                                                 unsigned t, unsigned cell, unsigned bits) {
    unsigned count = ww_tex1d(s.counts, bits);
    for (unsigned i = 0; i < count; i++) {
        unsigned e = ww_tex1d(s.table, bits * 16 + i), at = s.first[cell] + i;
        if (at >= s.most) continue;
        float3 p = point[e * THREADS + t], n = normal[e * THREADS + t];
        s.point[at] = make_float4(p.x, p.y, p.z, 1.0f);
        s.normal[at] = make_float4(n.x, n.y, n.z, 0.0f);
    }
}

static __device__ __forceinline__ unsigned cell_of(const surface &s, unsigned i) {
    return s.cell[i < s.cells ? i : s.cells - 1];
}

extern "C" __global__ void marching_triangles(surface s) {
    __shared__ float3 point[EDGES * THREADS], normal[EDGES * THREADS];
    unsigned t = threadIdx.x, cell = cell_of(s, blockIdx.x * THREADS + t);
    float c[8][3];
    float4 f[8];
    corners(c, f, cell, s.side, s.level);
    unsigned bits = inside(f);
    edges(point, normal, t, c, f);
    __syncthreads();
    triangles(s, point, normal, t, cell, bits);
}

extern "C" __global__ void marching_vtb(surface s) {
    __shared__ float3 point[EDGES * THREADS], normal[EDGES * THREADS];
    unsigned v_tb = threadIdx.x / THREADS, t = threadIdx.x % THREADS;
    unsigned cell = cell_of(s, (blockIdx.x * 2 + v_tb) * THREADS + t);
    float c[8][3];
    float4 f[8];
    corners(c, f, cell, s.side, s.level);
    unsigned bits = inside(f);
    if (v_tb == 0) edges(point, normal, t, c, f);
    __syncthreads();
    if (v_tb == 0) triangles(s, point, normal, t, cell, bits);
    __syncthreads();
    if (v_tb == 1) edges(point, normal, t, c, f);
    __syncthreads();
    if (v_tb == 1) triangles(s, point, normal, t, cell, bits);
}

/* ---- figure 6 ----
 *
 * Lists 0 to 11 are points, 12 to 23 normals; those from OWN on are public. */
#define OWN 16

static __device__ __forceinline__ float3 pick(const float3 *own, const float3 *both, unsigned t,
                                              unsigned list) {
    return list < OWN ? own[list * THREADS + t] : both[(list - OWN) * THREADS + t];
}

static __device__ __forceinline__ void share(const surface &s, const float3 *own, float3 *both,
                                             const float3 *late, unsigned t, unsigned cell, unsigned bits) {
#pragma unroll
    for (unsigned i = 0; i < 2 * EDGES - OWN; i++) both[i * THREADS + t] = late[i];
    unsigned count = ww_tex1d(s.counts, bits);
    for (unsigned i = 0; i < count; i++) {
        unsigned e = ww_tex1d(s.table, bits * 16 + i), at = s.first[cell] + i;
        if (at >= s.most) continue;
        float3 p = own[e * THREADS + t], n = pick(own, both, t, EDGES + e);
        s.point[at] = make_float4(p.x, p.y, p.z, 1.0f);
        s.normal[at] = make_float4(n.x, n.y, n.z, 0.0f);
    }
}

extern "C" __global__ void marching_co_vtb(surface s) {
    __shared__ float3 own[2][OWN * THREADS], both[(2 * EDGES - OWN) * THREADS];
    unsigned v_tb = threadIdx.x / THREADS, t = threadIdx.x % THREADS;
    unsigned cell = cell_of(s, (blockIdx.x * 2 + v_tb) * THREADS + t);
    float c[8][3];
    float4 f[8];
    corners(c, f, cell, s.side, s.level);
    unsigned bits = inside(f);
    float3 late[2 * EDGES - OWN];
#pragma unroll
    for (unsigned e = 0; e < EDGES; e++) {
        float3 p, n;
        on_edge(p, n, e, c, f);
        own[v_tb][e * THREADS + t] = p;
        if (EDGES + e < OWN)
            own[v_tb][(EDGES + e) * THREADS + t] = n;
        else
            late[EDGES + e - OWN] = n;
    }
    __syncthreads();
    if (v_tb == 0) share(s, own[0], both, late, t, cell, bits);
    __syncthreads();
    if (v_tb == 1) share(s, own[1], both, late, t, cell, bits);
}
