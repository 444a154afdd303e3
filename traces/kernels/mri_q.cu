/* mri_q: the matrix Q of a non-Cartesian MRI reconstruction: Q(x) = sum over samples k of |phi_k|^2 e^(2 pi i k
 * x). */
#include "ww_device.h"

#define BLOCK 256

extern "C" __global__ void mri_q_phi_mag(const float *__restrict__ real, const float *__restrict__ imaginary,
                                         float *__restrict__ magnitude, unsigned samples) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < samples) magnitude[i] = real[i] * real[i] + imaginary[i] * imaginary[i];
}

/* A thread per voxel; samples (kx, ky, kz, |phi|^2) go through shared memory BLOCK at a time. The phase is
 * taken in turns and reduced to half a turn, where the special-function unit is accurate. */
extern "C" __global__ void mri_q_compute(const float *__restrict__ px, const float *__restrict__ py,
                                         const float *__restrict__ pz, const float4 *__restrict__ sample,
                                         float *__restrict__ real, float *__restrict__ imaginary,
                                         unsigned voxels, unsigned samples) {
    __shared__ float4 k[BLOCK];
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    bool valid = i < voxels;
    float x = valid ? px[i] : 0.0f, y = valid ? py[i] : 0.0f, z = valid ? pz[i] : 0.0f;
    float qr = 0.0f, qi = 0.0f;
#pragma unroll 1
    for (unsigned first = 0; first < samples; first += BLOCK) {
        unsigned size = samples - first < BLOCK ? samples - first : BLOCK;
        __syncthreads();
        if (threadIdx.x < size) k[threadIdx.x] = sample[first + threadIdx.x];
        __syncthreads();
#pragma unroll 1
        for (unsigned s = 0; s < size; s++) {
            float4 v = k[s];
            float turns = v.x * x + v.y * y + v.z * z;
            float angle = 6.28318531f * (turns - ww_rintf(turns));
            qr += v.w * ww_fast_cosf(angle);
            qi += v.w * ww_fast_sinf(angle);
        }
    }
    if (!valid) return;
    real[i] = qr;
    imaginary[i] = qi;
}
