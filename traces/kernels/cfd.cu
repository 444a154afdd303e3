/* cfd: finite volumes for the compressible Euler equations on an unstructured mesh of elements with four faces.
 * Arrays hold field after field: variable v of element i is at v * n + i, neighbour f at f * n + i, component
 * d of the normal of face f at (f * 3 + d) * n + i. Normals point outwards, their length is the face's area. */
#include "ww_device.h"

#define FACES 4
#define WALL (-1) /* neighbours that are none: a wall, the undisturbed flow */
#define GAMMA 1.4f
#define SMOOTHING 0.2f

struct state {
    float density, mx, my, mz, energy;
};

static __device__ __forceinline__ state load(const float *__restrict__ v, unsigned n, unsigned i) {
    state u = {v[i], v[n + i], v[2 * n + i], v[3 * n + i], v[4 * n + i]};
    return u;
}

/* Pressure, and the flow's speed plus that of sound. */
static __device__ __forceinline__ float pressure(const state &u, float inverse, float *speeds) {
    float square = (u.mx * u.mx + u.my * u.my + u.mz * u.mz) * inverse; /* density times speed squared */
    float p = (GAMMA - 1.0f) * (u.energy - 0.5f * square);
    *speeds = ww_sqrtf(square * inverse) + ww_sqrtf(GAMMA * p * inverse);
    return p;
}

/* Takes half of the flux of u through the normal from r. */
static __device__ __forceinline__ void take_flux(state *r, const state &u, float inverse, float p, float nx,
                                                 float ny, float nz) {
    float mass = 0.5f * (u.mx * nx + u.my * ny + u.mz * nz), v = mass * inverse, half = 0.5f * p;
    r->density -= mass;
    r->mx -= u.mx * v + half * nx;
    r->my -= u.my * v + half * ny;
    r->mz -= u.mz * v + half * nz;
    r->energy -= v * (u.energy + p);
}

/* step[i]: local time step by the size of the element and the fastest wave. */
extern "C" __global__ void cfd_step_factor(const float *__restrict__ variables, const float *__restrict__ area,
                                           float *__restrict__ step, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    state u = load(variables, n, i);
    float speeds;
    pressure(u, 1.0f / u.density, &speeds);
    step[i] = 0.5f / (ww_sqrtf(area[i]) * speeds);
}

/* flux: what flows into each element: central differences and an artificial viscosity. */
extern "C" __global__ void cfd_compute_flux(const int *__restrict__ neighbour, const float *__restrict__ normal,
                                            const float *__restrict__ variables, float *__restrict__ flux,
                                            unsigned n, state far) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    state u = load(variables, n, i), r = {0, 0, 0, 0, 0};
    float inverse = 1.0f / u.density, speeds, p = pressure(u, inverse, &speeds);
#pragma unroll 1
    for (unsigned f = 0; f < FACES; f++) {
        int other = neighbour[f * n + i];
        float nx = normal[(3 * f) * n + i], ny = normal[(3 * f + 1) * n + i], nz = normal[(3 * f + 2) * n + i];
        if (other == WALL) {
            r.mx -= p * nx;
            r.my -= p * ny;
            r.mz -= p * nz;
            continue;
        }
        state w = far;
        if (other >= 0) w = load(variables, n, (unsigned)other);
        float w_inverse = 1.0f / w.density, w_speeds, w_p = pressure(w, w_inverse, &w_speeds);
        float k = other >= 0 ? 0.5f * SMOOTHING * ww_sqrtf(nx * nx + ny * ny + nz * nz) * (speeds + w_speeds) : 0;
        r.density += k * (w.density - u.density);
        r.mx += k * (w.mx - u.mx);
        r.my += k * (w.my - u.my);
        r.mz += k * (w.mz - u.mz);
        r.energy += k * (w.energy - u.energy);
        take_flux(&r, w, w_inverse, w_p, nx, ny, nz);
        take_flux(&r, u, inverse, p, nx, ny, nz);
    }
    flux[i] = r.density;
    flux[n + i] = r.mx;
    flux[2 * n + i] = r.my;
    flux[3 * n + i] = r.mz;
    flux[4 * n + i] = r.energy;
}

/* One stage of the Runge-Kutta scheme: variables = old + part step flux. */
extern "C" __global__ void cfd_time_step(const float *__restrict__ old, const float *__restrict__ step,
                                         const float *__restrict__ flux, float *__restrict__ variables,
                                         unsigned n, float part) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float factor = part * step[i];
#pragma unroll 1
    for (unsigned v = 0; v < 5; v++) variables[v * n + i] = old[v * n + i] + factor * flux[v * n + i];
}
