// attention HEADS QUERIES KEYS LAUNCHES: the forward kernel of FlashAttention on heads of 128 halves, without PyTorch, and rows of the
// result beside a computation in double precision. Their sources are not part of this project: compile it with their folders
// (scripts/figures.py, table attention). FORM: 2 FlashAttention 2, 3 FlashAttention 3, 30 its first release of July 2024.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_fwd_launch_template.h"

#define DIM 128
#ifndef IS_CAUSAL
#define IS_CAUSAL false
#endif

#if FORM == 2
using FLASH_NAMESPACE::Flash_fwd_params;
#elif FORM == 3
void prepare_varlen_num_blocks(Flash_fwd_params &, cudaStream_t, bool, int, int, bool) {} // only called for other forms
#endif

static double uniform(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

// Numbers of a normal distribution on the GPU and the host.
static cutlass::half_t *numbers(size_t count, uint32_t seed, cutlass::half_t **device) {
    cutlass::half_t *host = (cutlass::half_t *)malloc(count * sizeof *host);
    for (size_t i = 0; i < count; i++) {
        double u = uniform(&seed) + 1e-7, v = uniform(&seed);
        host[i] = cutlass::half_t((float)(sqrt(-2 * log(u)) * cos(6.283185307179586 * v)));
    }
    cudaMalloc((void **)device, count * sizeof *host);
    cudaMemcpy(*device, host, count * sizeof *host, cudaMemcpyHostToDevice);
    return host;
}

static void launch(Flash_fwd_params &p) {
#if FORM == 2
    FLASH_NAMESPACE::run_flash_fwd<Flash_fwd_kernel_traits<DIM, 128, 64, 4, false, false, cutlass::half_t>, false, false>(p, 0);
#elif FORM == 3
    run_flash_fwd<90, DIM, DIM, IS_CAUSAL ? 1 : 2, cutlass::half_t, cutlass::half_t, IS_CAUSAL, false, false, false, false, false,
                  false, false, false, false>(p, 0);
#else
    run_flash_fwd<Flash_fwd_kernel_traits<DIM, 128, IS_CAUSAL ? 128 : 176, 12, 2, false, IS_CAUSAL ? 1 : 2, cutlass::half_t>, IS_CAUSAL>(
        p, 0);
#endif
}

static double worst_error(const cutlass::half_t *q, const cutlass::half_t *k, const cutlass::half_t *v, const cutlass::half_t *o, int heads,
                          int queries, int keys) {
    double worst = 0, *score = (double *)malloc(keys * sizeof *score);
    for (int h = 0; h < heads; h++)
        for (int i = h * 11 % 97; i < queries; i += 397) {
            int seen = IS_CAUSAL ? i + 1 + keys - queries : keys;
            double most = -HUGE_VAL, sum = 0, row[DIM] = {0};
            for (int j = 0; j < seen; j++) {
                double dot = 0;
                for (int e = 0; e < DIM; e++)
                    dot += (double)(float)q[((size_t)i * heads + h) * DIM + e] * (double)(float)k[((size_t)j * heads + h) * DIM + e];
                score[j] = dot / sqrt((double)DIM);
                most = fmax(most, score[j]);
            }
            for (int j = 0; j < seen; j++) {
                double weight = exp(score[j] - most);
                sum += weight;
                for (int e = 0; e < DIM; e++) row[e] += weight * (double)(float)v[((size_t)j * heads + h) * DIM + e];
            }
            for (int e = 0; e < DIM; e++)
                worst = fmax(worst, fabs(row[e] / sum - (double)(float)o[((size_t)i * heads + h) * DIM + e]));
        }
    free(score);
    return worst;
}

int main(int count, char **word) {
    if (count != 5) return 2;
    int heads = atoi(word[1]), queries = atoi(word[2]), keys = atoi(word[3]), launches = atoi(word[4]), *tiles;
    size_t nq = (size_t)heads * queries * DIM, nk = (size_t)heads * keys * DIM;
    cutlass::half_t *device[4], *q = numbers(nq, 1, &device[0]), *k = numbers(nk, 2, &device[1]), *v = numbers(nk, 3, &device[2]);
    float *sums;
    cudaMalloc((void **)&device[3], nq * sizeof *q);
    cudaMalloc((void **)&sums, (size_t)heads * queries * sizeof *sums);
    cudaMalloc((void **)&tiles, 64);

    Flash_fwd_params p;
    memset((void *)&p, 0, sizeof p);
    p.q_ptr = device[0];
    p.k_ptr = device[1];
    p.v_ptr = device[2];
    p.o_ptr = device[3];
    p.softmax_lse_ptr = sums;
    p.q_row_stride = p.k_row_stride = p.v_row_stride = p.o_row_stride = heads * DIM;
    p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride = DIM;
    p.q_batch_stride = p.o_batch_stride = (int64_t)queries * heads * DIM;
    p.k_batch_stride = p.v_batch_stride = (int64_t)keys * heads * DIM;
    p.h = p.h_k = heads;
    p.b = p.num_splits = 1;
    p.seqlen_q = p.seqlen_q_rounded = queries;
    p.seqlen_k = p.seqlen_k_rounded = keys;
    p.d = p.d_rounded = DIM;
    p.scale_softmax = 1 / sqrtf((float)DIM);
    p.window_size_left = p.window_size_right = -1;
    p.p_dropout = p.rp_dropout = 1;
    p.is_causal = IS_CAUSAL;
#if FORM == 3
    p.b_k = 1;
    p.dv = p.dv_rounded = DIM;
    p.v_dim_stride = 1;
    p.total_q = queries;
    p.total_k = keys;
    p.window_size_right = IS_CAUSAL ? 0 : -1;
    p.arch = 90;
    p.num_sm = 132;
#else
    p.h_h_k_ratio = 1;
    p.scale_softmax_log2 = p.scale_softmax * 1.44269504f;
    p.scale_softmax_rp_dropout = p.scale_softmax;
#endif
#if FORM != 2
    p.tile_count_semaphore = tiles;
#endif
    for (int i = 0; i < launches; i++) {
        cudaMemset(tiles, 0, 64);
        launch(p);
    }
    cudaError_t code = cudaDeviceSynchronize();
    cutlass::half_t *o = (cutlass::half_t *)malloc(nq * sizeof *o);
    cudaMemcpy(o, device[3], nq * sizeof *o, cudaMemcpyDeviceToHost);
    double error = code == cudaSuccess ? worst_error(q, k, v, o, heads, queries, keys) : HUGE_VAL;
    if (error > 1e-3) fprintf(stderr, "attention: %s, error %g\n", cudaGetErrorString(code), error);
    return error > 1e-3;
}
