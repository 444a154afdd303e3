/* lbm: one step of the lattice Boltzmann method with 19 velocities in three dimensions (D3Q19, BGK): each
 * cell's distributions collide and are pushed to the neighbours. The distributions of a row of cells lie
 * together, each in PITCH words, so that they are constant distances apart: distribution q of cell x of row r
 * is at (r * 19 + q) * PITCH + x. Rows before and behind the lattice are a margin. A CTA takes one row. */
#include "ww_device.h"

/* X(q, x, y, z, weight, opposite): the velocities. */
#define VELOCITIES(X)                                                                                          \
    X(0, 0, 0, 0, 1.0f / 3.0f, 0)                                                                              \
    X(1, 0, 1, 0, 1.0f / 18.0f, 2)                                                                             \
    X(2, 0, -1, 0, 1.0f / 18.0f, 1)                                                                            \
    X(3, 1, 0, 0, 1.0f / 18.0f, 4)                                                                             \
    X(4, -1, 0, 0, 1.0f / 18.0f, 3)                                                                            \
    X(5, 0, 0, 1, 1.0f / 18.0f, 6)                                                                             \
    X(6, 0, 0, -1, 1.0f / 18.0f, 5)                                                                            \
    X(7, 1, 1, 0, 1.0f / 36.0f, 10)                                                                            \
    X(8, -1, 1, 0, 1.0f / 36.0f, 9)                                                                            \
    X(9, 1, -1, 0, 1.0f / 36.0f, 8)                                                                            \
    X(10, -1, -1, 0, 1.0f / 36.0f, 7)                                                                          \
    X(11, 0, 1, 1, 1.0f / 36.0f, 14)                                                                           \
    X(12, 0, 1, -1, 1.0f / 36.0f, 13)                                                                          \
    X(13, 0, -1, 1, 1.0f / 36.0f, 12)                                                                          \
    X(14, 0, -1, -1, 1.0f / 36.0f, 11)                                                                         \
    X(15, 1, 0, 1, 1.0f / 36.0f, 18)                                                                           \
    X(16, 1, 0, -1, 1.0f / 36.0f, 17)                                                                          \
    X(17, -1, 0, 1, 1.0f / 36.0f, 16)                                                                          \
    X(18, -1, 0, -1, 1.0f / 36.0f, 15)

/* sum + k u for k of -1, 0, 1 known to the compiler, without arithmetic for k = 0 or where sum is empty. */
static __device__ __forceinline__ float along(float sum, bool empty, int k, float u) {
    if (k == 0) return sum;
    if (empty) return k > 0 ? u : -u;
    return k > 0 ? sum + u : sum - u;
}

#define PITCH 128
#define OBSTACLE 1u
#define ACCEL 2u
#define OMEGA 1.95f

/* Back where they came from: opposite ones change places. */
static __device__ __forceinline__ void bounce(float *f) {
#define SWAP(q, x, y, z, weight, opposite)                                                                     \
    if (q < opposite) {                                                                                        \
        float t = f[q];                                                                                        \
        f[q] = f[opposite];                                                                                    \
        f[opposite] = t;                                                                                       \
    }
    VELOCITIES(SWAP)
}

static __device__ __forceinline__ void collide(float *f, bool driven) {
    float density = 0, ux = 0, uy = 0, uz = 0;
#define MOMENTS(q, x, y, z, weight, opposite)                                                                  \
    density += f[q];                                                                                           \
    ux = along(ux, false, x, f[q]);                                                                            \
    uy = along(uy, false, y, f[q]);                                                                            \
    uz = along(uz, false, z, f[q]);
    VELOCITIES(MOMENTS)
    float inverse = 1.0f / density;
    ux = driven ? 0.005f : ux * inverse;
    uy = driven ? 0.002f : uy * inverse;
    uz = driven ? 0.0f : uz * inverse;
    float base = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
#define RELAX(q, x, y, z, weight, opposite)                                                                    \
    {                                                                                                          \
        float a = along(along(along(0.0f, true, x, ux), (x) == 0, y, uy), (x) == 0 && (y) == 0, z, uz);        \
        f[q] = (1.0f - OMEGA) * f[q] + OMEGA * (weight)*density * (base + a * (4.5f * a + 3.0f));              \
    }
    VELOCITIES(RELAX)
}

/* flag: of each cell, without margin. margin: rows of it before the lattice. Planes have gridDim.x rows. */
extern "C" __global__ void lbm_stream_collide(const float *__restrict__ in, float *__restrict__ out,
                                              const unsigned *__restrict__ flag, unsigned margin) {
    unsigned row = blockIdx.y * gridDim.x + blockIdx.x;
    unsigned first = (row + margin) * (19 * PITCH) + threadIdx.x;
    const float *from = in + first;
    float *to = out + first;
    float f[19];
#define LOAD(q, x, y, z, weight, opposite) f[q] = from[q * PITCH];
    VELOCITIES(LOAD)
    unsigned kind = flag[row * PITCH + threadIdx.x];
    if (kind & OBSTACLE) bounce(f);
    else collide(f, (kind & ACCEL) != 0);
    int plane = (int)gridDim.x;
#define PUSH(q, x, y, z, weight, opposite) to[((y) + (z)*plane) * (19 * PITCH) + q * PITCH + (x)] = f[q];
    VELOCITIES(PUSH)
}
