/* spmv: y = A x, A in compressed sparse rows: the entries of row r are start[r] .. start[r + 1] - 1. */
#include "ww_device.h"

/* A thread per row: rows of different lengths diverge, neighbours' entries lie apart. */
extern "C" __global__ void spmv_scalar(unsigned rows, const unsigned *__restrict__ start,
                                       const unsigned *__restrict__ column, const float *__restrict__ value,
                                       const float *__restrict__ x, float *__restrict__ y) {
    unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    unsigned end = start[r + 1];
#pragma unroll 1
    for (unsigned e = start[r]; e < end; e++) sum += value[e] * x[column[e]];
    y[r] = sum;
}

/* A warp per row: entries are read together and added by shuffles. blockDim.x is a multiple of 32. */
extern "C" __global__ void spmv_vector(unsigned rows, const unsigned *__restrict__ start,
                                       const unsigned *__restrict__ column, const float *__restrict__ value,
                                       const float *__restrict__ x, float *__restrict__ y) {
    unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    float sum = 0.0f;
    unsigned end = start[r + 1];
#pragma unroll 1
    for (unsigned e = start[r] + lane; e < end; e += 32) sum += value[e] * x[column[e]];
#pragma unroll
    for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(0xffffffffu, sum, delta);
    if (lane == 0) y[r] = sum;
}

/* A thread per row of jagged diagonals: rows are ordered by length, the k-th entries of all that have one lie
 * side by side, in steps of 32 rows. order: a row's row of the matrix; count: the length of 32 rows. */
extern "C" __global__ void spmv_jds(unsigned rows, const unsigned *__restrict__ count,
                                    const unsigned *__restrict__ start, const unsigned *__restrict__ column,
                                    const float *__restrict__ value, const unsigned *__restrict__ order,
                                    const float *__restrict__ x, float *__restrict__ y) {
    unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    unsigned n = count[r / 32];
#pragma unroll 1
    for (unsigned k = 0; k < n; k++) {
        unsigned e = start[k] + r;
        sum += value[e] * x[column[e]];
    }
    y[order[r]] = sum;
}

/* The same with the diagonals' starts in constant memory and loads ahead of their use, as Parboil's: while an
 * entry and its element of x are multiplied, those of the next step have been asked for. */
struct starts {
    unsigned at[64];
};
extern "C" __global__ void spmv_jds_ahead(unsigned rows, const unsigned *__restrict__ count,
                                          struct starts start, const unsigned *__restrict__ column,
                                          const float *__restrict__ value, const unsigned *__restrict__ order,
                                          const float *__restrict__ x, float *__restrict__ y) {
    unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    unsigned n = count[r / 32];
    float sum = 0.0f, a = 0.0f, b = 0.0f;
    if (n > 0) {
        unsigned e = start.at[0] + r, next = n > 1 ? start.at[1] + r : e, c = column[next];
        a = value[e];
        b = x[column[e]];
#pragma unroll 1
        for (unsigned k = 1; k < n; k++) {
            float a_next = value[next], b_next = x[c];
            if (k + 1 < n) {
                next = start.at[k + 1] + r;
                c = column[next];
            }
            sum += a * b;
            a = a_next;
            b = b_next;
        }
    }
    y[order[r]] = sum + a * b;
}

/* The same with the lengths of 32 rows in constant memory, too. */
#define MOST 5000
extern "C" {
__constant__ unsigned spmv_length[MOST];
__constant__ unsigned spmv_start[MOST];
}
extern "C" __global__ void spmv_jds_constant(unsigned rows, const unsigned *__restrict__ column,
                                             const float *__restrict__ value,
                                             const unsigned *__restrict__ order, const float *__restrict__ x,
                                             float *__restrict__ y) {
    unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    unsigned n = spmv_length[r / 32];
    float sum = 0.0f, a = 0.0f, b = 0.0f;
    if (n > 0) {
        unsigned e = spmv_start[0] + r, next = n > 1 ? spmv_start[1] + r : e, c = column[next];
        a = value[e];
        b = x[column[e]];
#pragma unroll 1
        for (unsigned k = 1; k < n; k++) {
            float a_next = value[next], b_next = x[c];
            if (k + 1 < n) {
                next = spmv_start[k + 1] + r;
                c = column[next];
            }
            sum += a * b;
            a = a_next;
            b = b_next;
        }
    }
    y[order[r]] = sum + a * b;
}
