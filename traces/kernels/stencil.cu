/* stencil: out = c0 * centre + c1 * (sum of the 6 neighbours) inside an x * y * z box, x fastest; the
 * outermost layer keeps its value. */
#include "ww_device.h"

/* A thread per point: a CTA takes blockDim.x * blockDim.y points of one z-plane (blockIdx.z). */
extern "C" __global__ void stencil_point(const float *__restrict__ in, float *__restrict__ out, unsigned nx,
                                         unsigned ny, unsigned nz, float c0, float c1) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z, plane = nx * ny, i = (z * ny + y) * nx + x;
    if (x >= nx || y >= ny) return;
    float v = in[i];
    if (x > 0 && x + 1 < nx && y > 0 && y + 1 < ny && z > 0 && z + 1 < nz)
        v = c0 * v + c1 * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane]);
    out[i] = v;
}

/* A thread per column: it walks along z and keeps the planes below and above in registers. */
extern "C" __global__ void stencil_march(const float *__restrict__ in, float *__restrict__ out, unsigned nx,
                                         unsigned ny, unsigned nz, float c0, float c1) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned plane = nx * ny, i = y * nx + x;
    if (x >= nx || y >= ny) return;
    bool inside = x > 0 && x + 1 < nx && y > 0 && y + 1 < ny;
    float below = in[i], centre = below;
    float above = nz > 1 ? in[i + plane] : centre;
#pragma unroll 1
    for (unsigned z = 0; z < nz; z++, i += plane) {
        float v = centre;
        if (inside && z > 0 && z + 1 < nz)
            v = c0 * v + c1 * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + below + above);
        out[i] = v;
        below = centre;
        centre = above;
        if (z + 2 < nz) above = in[i + 2 * plane];
    }
}

#define TILE_X 64 /* points: two a thread, TILE_X / 2 apart */
#define TILE_Y 4

/* One point of a plane whose tile is in shared memory: neighbours outside the tile come from global memory. */
static __device__ __forceinline__ float next_to(const float (*plane)[TILE_X], unsigned tx, unsigned ty,
                                                const float *__restrict__ in, unsigned i, unsigned nx) {
    float left = tx > 0 ? plane[ty][tx - 1] : in[i - 1];
    float right = tx + 1 < TILE_X ? plane[ty][tx + 1] : in[i + 1];
    float up = ty > 0 ? plane[ty - 1][tx] : in[i - nx];
    float down = ty + 1 < TILE_Y ? plane[ty + 1][tx] : in[i + nx];
    return left + right + up + down;
}

/* Two columns per thread: a CTA of TILE_X / 2 x TILE_Y threads walks along z with one plane of its tile in
 * shared memory. */
extern "C" __global__ void stencil_shared(const float *__restrict__ in, float *__restrict__ out, unsigned nx,
                                          unsigned ny, unsigned nz, float c0, float c1) {
    __shared__ float plane[TILE_Y][TILE_X];
    unsigned tx = threadIdx.x, ty = threadIdx.y, y = blockIdx.y * TILE_Y + ty, step = nx * ny;
    float below[2], centre[2], above[2];
    bool valid[2], inside[2];
    unsigned place[2];
#pragma unroll
    for (unsigned p = 0; p < 2; p++) {
        unsigned x = blockIdx.x * TILE_X + tx + p * TILE_X / 2;
        valid[p] = x < nx && y < ny;
        inside[p] = x > 0 && x + 1 < nx && y > 0 && y + 1 < ny;
        place[p] = y * nx + x;
        below[p] = centre[p] = valid[p] ? in[place[p]] : 0.0f;
        above[p] = valid[p] && nz > 1 ? in[place[p] + step] : 0.0f;
    }
#pragma unroll 1
    for (unsigned z = 0; z < nz; z++) {
        __syncthreads();
#pragma unroll
        for (unsigned p = 0; p < 2; p++) plane[ty][tx + p * TILE_X / 2] = centre[p];
        __syncthreads();
#pragma unroll
        for (unsigned p = 0; p < 2; p++) {
            float v = centre[p];
            if (inside[p] && z > 0 && z + 1 < nz)
                v = c0 * v +
                    c1 * (next_to(plane, tx + p * TILE_X / 2, ty, in, place[p], nx) + below[p] + above[p]);
            if (valid[p]) out[place[p]] = v;
            below[p] = centre[p];
            centre[p] = above[p];
            if (valid[p] && z + 2 < nz) above[p] = in[place[p] + 2 * step];
            place[p] += step;
        }
    }
}
