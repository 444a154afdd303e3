/* cutcp: electrostatic potential with a cutoff on a lattice of points half an angstrom apart. Atoms lie in bins
 * of 4 angstroms with 8 places each; places that are empty hold atoms far away. A CTA takes 8 x 8 x 6 points, a
 * thread two of them; the atoms of the bins around come to shared memory, an atom for each thread at a time. */
#include "ww_device.h"

#define DEPTH 8     /* places of a bin; as the host has it */
#define THREADS 192 /* 8 x 8 x 3; 24 bins at a time */
#define SPACING 0.5f

static __device__ __forceinline__ float term(float charge, float r2, float inverse_cutoff2) {
    float s = 1.0f - r2 * inverse_cutoff2;
    return charge * ww_rsqrtf(r2) * s * s;
}

/* offset: of the bins around from the first of them, layer by layer of `layer` bins; a CTA's points lie in one
 * layer or in two, and `layers` is the number of them around one. */
extern "C" __global__ void cutcp_lattice(const float4 *__restrict__ atom, const unsigned *__restrict__ offset,
                                         float *__restrict__ potential, unsigned bins_x, unsigned bins_y,
                                         unsigned layer, unsigned layers, float cutoff2, float inverse_cutoff2) {
    __shared__ float4 near[THREADS];
    unsigned thread = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
    float x = (float)(blockIdx.x * 8 + threadIdx.x), y = (float)(blockIdx.y * 8 + threadIdx.y);
    float z = (float)(blockIdx.z * 6 + threadIdx.z);
    unsigned bin_z = blockIdx.z * 6 / 8;
    const float4 *first = atom + ((bin_z * bins_y + blockIdx.y) * bins_x + blockIdx.x) * DEPTH + thread % DEPTH;
    unsigned count = layer * (layers + (blockIdx.z * 6 + 5) / 8 - bin_z);
    float low = 0, high = 0; /* potential at z and three points above */
#pragma unroll 1
    for (unsigned done = 0; done < count; done += THREADS / DEPTH) {
        unsigned bin = done + thread / DEPTH;
        float4 mine = make_float4(1e9f, 0, 0, 0);
        if (bin < count) mine = first[offset[bin]];
        __syncthreads();
        near[thread] = mine;
        __syncthreads();
#pragma unroll 1
        for (unsigned i = 0; i < THREADS && i < (count - done) * DEPTH; i++) {
            float4 a = near[i];
            float dx = a.x - x * SPACING, dy = a.y - y * SPACING, dz = a.z - z * SPACING;
            float plane = dx * dx + dy * dy, r2 = plane + dz * dz;
            if (r2 < cutoff2) low += term(a.w, r2, inverse_cutoff2);
            dz -= 3 * SPACING;
            r2 = plane + dz * dz;
            if (r2 < cutoff2) high += term(a.w, r2, inverse_cutoff2);
        }
    }
    unsigned row = gridDim.x * 8, plane = gridDim.y * 8 * row;
    unsigned at = (unsigned)z * plane + (unsigned)y * row + (unsigned)x;
    potential[at] = low;
    potential[at + 3 * plane] = high;
}
