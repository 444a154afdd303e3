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
