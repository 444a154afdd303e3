/* particlefilter: one frame of a particle filter that follows a bright disc in a noisy video. Pixel (x, y) of
 * frame k is video[(x * height + y) * frames + k]. */
#include "ww_device.h"

#define BLOCK 512
#define FOREGROUND 228.0f
#define BACKGROUND 100.0f

/* Moves each particle, writes the places of the pixels that the disc would cover there (index: `points` a
 * particle), reads them back for how much more they look like foreground than like background, and weighs the
 * particle by it. partial: sums of the weights by CTA. */
extern "C" __global__ void
particlefilter_likelihood(float *__restrict__ x, float *__restrict__ y, const float *__restrict__ noise_x,
                          const float *__restrict__ noise_y, const int *__restrict__ disc,
                          const unsigned char *__restrict__ video, int *index, float *__restrict__ weight,
                          float *__restrict__ partial, int particles, int points, int height, int frames,
                          int frame, int pixels) {
    __shared__ float sum[BLOCK];
    int t = (int)threadIdx.x, i = (int)blockIdx.x * BLOCK + t;
    float w = 0.0f;
    if (i < particles) {
        float at_x = x[i] + 1.0f + 5.0f * noise_x[i], at_y = y[i] - 2.0f + 2.0f * noise_y[i];
        x[i] = at_x;
        y[i] = at_y;
        int px = (int)ww_rintf(at_x), py = (int)ww_rintf(at_y);
        int *mine = index + i * points;
#pragma unroll 1
        for (int p = 0; p < points; p++) {
            int at = ((px + disc[2 * p]) * height + py + disc[2 * p + 1]) * frames + frame;
            at = at < 0 ? -at : at;
            mine[p] = at < pixels ? at : 0;
        }
        float likelihood = 0.0f;
#pragma unroll 1
        for (int p = 0; p < points; p++) {
            float v = (float)video[mine[p]], b = v - BACKGROUND, f = v - FOREGROUND;
            likelihood += b * b - f * f;
        }
        w = ww_expf(likelihood / (800.0f * (float)points));
        weight[i] = w;
    }
    sum[t] = w;
    __syncthreads();
#pragma unroll 1
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step) sum[t] += sum[t + step];
        __syncthreads();
    }
    if (t == 0) partial[blockIdx.x] = sum[0];
}

/* Draws particle i anew: the first whose cumulated weight reaches level[i], found by a search from the first.
 */
extern "C" __global__ void particlefilter_find_index(const float *__restrict__ x, const float *__restrict__ y,
                                                     const float *__restrict__ cumulated,
                                                     const float *__restrict__ level, float *__restrict__ new_x,
                                                     float *__restrict__ new_y, int particles) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= particles) return;
    float u = level[i];
    int found = 0;
#pragma unroll 1
    while (found < particles - 1 && cumulated[found] < u) found++;
    new_x[i] = x[found];
    new_y[i] = y[found];
}

/* The same two kernels with places and weights in double precision, as Rodinia has them. */
extern "C" __global__ void
particlefilter_likelihood_f64(double *__restrict__ x, double *__restrict__ y,
                              const double *__restrict__ noise_x, const double *__restrict__ noise_y,
                              const int *__restrict__ disc, const unsigned char *__restrict__ video, int *index,
                              double *__restrict__ weight, double *__restrict__ partial, int particles,
                              int points, int height, int frames, int frame, int pixels) {
    __shared__ double sum[BLOCK];
    int t = (int)threadIdx.x, i = (int)blockIdx.x * BLOCK + t;
    double w = 0.0;
    if (i < particles) {
        double at_x = x[i] + 1.0 + 5.0 * noise_x[i], at_y = y[i] - 2.0 + 2.0 * noise_y[i];
        x[i] = at_x;
        y[i] = at_y;
        int px, py;
        asm("cvt.rni.s32.f64 %0, %1;" : "=r"(px) : "d"(at_x));
        asm("cvt.rni.s32.f64 %0, %1;" : "=r"(py) : "d"(at_y));
        int *mine = index + i * points;
#pragma unroll 1
        for (int p = 0; p < points; p++) {
            int at = ((px + disc[2 * p]) * height + py + disc[2 * p + 1]) * frames + frame;
            at = at < 0 ? -at : at;
            mine[p] = at < pixels ? at : 0;
        }
        double likelihood = 0.0;
#pragma unroll 1
        for (int p = 0; p < points; p++) {
            double v = (double)video[mine[p]], b = v - 100.0, f = v - 228.0;
            likelihood += b * b - f * f;
        }
        w = ww_exp(likelihood / (800.0 * (double)points));
        weight[i] = w;
    }
    sum[t] = w;
    __syncthreads();
#pragma unroll 1
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step) sum[t] += sum[t + step];
        __syncthreads();
    }
    if (t == 0) partial[blockIdx.x] = sum[0];
}

extern "C" __global__ void
particlefilter_find_index_f64(const double *__restrict__ x, const double *__restrict__ y,
                              const double *__restrict__ cumulated, const double *__restrict__ level,
                              double *__restrict__ new_x, double *__restrict__ new_y, int particles) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= particles) return;
    double u = level[i];
    int found = 0;
#pragma unroll 1
    while (found < particles - 1 && cumulated[found] < u) found++;
    new_x[i] = x[found];
    new_y[i] = y[found];
}
