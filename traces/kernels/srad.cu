/* srad: one iteration of speckle-reducing anisotropic diffusion on a rows x cols image of a multiple of TILE on
 * each side; beyond the edge the image goes on with its edge's value. A CTA of TILE x TILE threads takes a
 * tile, which it holds in shared memory with the rows and columns around it. */
#include "ww_device.h"

#define TILE 16

/* The differences to the four neighbours, and the diffusion coefficient from the local statistics:
 * q^2 = (|grad I|^2 / (2 I^2) - (lap I / I)^2 / 16) / (1 + lap I / (4 I))^2,
 * c = 1 / (1 + (q^2 - q0^2) / (q0^2 (1 + q0^2))), cut to [0, 1]. */
extern "C" __global__ void srad_coefficient(const float *__restrict__ image, float *__restrict__ north,
                                            float *__restrict__ south, float *__restrict__ west,
                                            float *__restrict__ east, float *__restrict__ coefficient, int rows,
                                            int cols, float q0_squared) {
    __shared__ float centre[TILE][TILE], above[TILE], below[TILE], before[TILE], after[TILE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int col = (int)blockIdx.x * TILE + x, row = (int)blockIdx.y * TILE + y, i = row * cols + col;
    centre[y][x] = image[i];
    if (y == 0) above[x] = image[row > 0 ? i - cols : i];
    if (y == TILE - 1) below[x] = image[row + 1 < rows ? i + cols : i];
    if (x == 0) before[y] = image[col > 0 ? i - 1 : i];
    if (x == TILE - 1) after[y] = image[col + 1 < cols ? i + 1 : i];
    __syncthreads();
    float v = centre[y][x];
    float n = (y == 0 ? above[x] : centre[y - 1][x]) - v;
    float s = (y == TILE - 1 ? below[x] : centre[y + 1][x]) - v;
    float w = (x == 0 ? before[y] : centre[y][x - 1]) - v;
    float e = (x == TILE - 1 ? after[y] : centre[y][x + 1]) - v;
    float gradient = (n * n + s * s + w * w + e * e) / (v * v);
    float laplacian = (n + s + w + e) / v;
    float number = 0.5f * gradient - 0.0625f * laplacian * laplacian;
    float root = 1.0f + 0.25f * laplacian;
    float q = number / (root * root);
    float c = 1.0f / (1.0f + (q - q0_squared) / (q0_squared * (1.0f + q0_squared)));
    coefficient[i] = ww_fminf(ww_fmaxf(c, 0.0f), 1.0f);
    north[i] = n;
    south[i] = s;
    west[i] = w;
    east[i] = e;
}

/* I += rate / 4 (c north + c west + c_south south + c_east east). */
extern "C" __global__ void srad_update(float *__restrict__ image, const float *__restrict__ north,
                                       const float *__restrict__ south, const float *__restrict__ west,
                                       const float *__restrict__ east, const float *__restrict__ coefficient,
                                       int rows, int cols, float rate) {
    __shared__ float centre[TILE][TILE], below[TILE], after[TILE], pixel[TILE][TILE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    int col = (int)blockIdx.x * TILE + x, row = (int)blockIdx.y * TILE + y, i = row * cols + col;
    centre[y][x] = coefficient[i];
    pixel[y][x] = image[i];
    if (y == TILE - 1) below[x] = coefficient[row + 1 < rows ? i + cols : i];
    if (x == TILE - 1) after[y] = coefficient[col + 1 < cols ? i + 1 : i];
    __syncthreads();
    float c = centre[y][x];
    float cs = y == TILE - 1 ? below[x] : centre[y + 1][x];
    float ce = x == TILE - 1 ? after[y] : centre[y][x + 1];
    float divergence = c * north[i] + cs * south[i] + c * west[i] + ce * east[i];
    image[i] = pixel[y][x] + 0.25f * rate * divergence;
}
