/* leukocyte: the detection and tracking of white blood cells in video. Images are stored column by column:
 * pixel (x, y) is at x * rows + y. */
#include "ww_device.h"

#define POINTS 150  /* of a circle; these five as the host has them */
#define CIRCLES 7   /* of radius 8, 10, ... 20 */
#define RADIUS 20   /* of the largest */
#define DISK 12     /* radius of the dilation */
#define TRACKERS 320 /* threads of the third kernel */

/* Sine and cosine by Taylor's series; the compiler evaluates it. */
static constexpr double series(double x, double term, int n) {
    return n > 40 ? 0 : term + series(x, -term * x * x / ((n + 1) * (n + 2)), n + 2);
}
static constexpr double angle(int i) {
    return 6.283185307179586 * i / POINTS;
}
static constexpr int nearest(double v) {
    return v < 0 ? (int)(v - 0.5) : (int)(v + 0.5);
}

/* A direction of a circle's points, and each circle's point there in pixels. */
struct ray {
    float cosine, sine;
    short x[CIRCLES], y[CIRCLES];
};
struct rays {
    ray of[POINTS];
    constexpr rays() : of() {
        for (int i = 0; i < POINTS; i++) {
            double a = angle(i), c = series(a, 1.0, 0), s = series(a, a, 1);
            of[i].cosine = (float)c;
            of[i].sine = (float)s;
            for (int k = 0; k < CIRCLES; k++) {
                of[i].x[k] = (short)nearest((8 + 2 * k) * c);
                of[i].y[k] = (short)nearest((8 + 2 * k) * s);
            }
        }
    }
};
static __constant__ const rays circle = rays();

/* How far the disk reaches up and down in each of its columns. */
struct disk_reach {
    int half[2 * DISK + 1];
    constexpr disk_reach() : half() {
        for (int x = -DISK; x <= DISK; x++)
            while (x * x + (half[x + DISK] + 1) * (half[x + DISK] + 1) <= DISK * DISK) half[x + DISK]++;
    }
};
static __constant__ const disk_reach disk = disk_reach();

/* Gradient inverse coefficient of variation: over the largest circles around a pixel, the largest of mean^2 / variance
 * of the gradient along the radius. CTA x takes column x, thread y row y, of the image without its margin of
 * RADIUS pixels. */
extern "C" __global__ void leukocyte_gicov(const float *__restrict__ grad_x, const float *__restrict__ grad_y,
                                           float *__restrict__ gicov, unsigned rows, unsigned circles_used) {
    int here = ((int)blockIdx.x + RADIUS) * (int)rows + (int)threadIdx.x + RADIUS;
    float best = 0;
#pragma unroll 1
    for (unsigned k = CIRCLES - circles_used; k < CIRCLES; k++) {
        float sum = 0, squares = 0;
#pragma unroll 1
        for (unsigned i = 0; i < POINTS; i++) {
            const ray *r = &circle.of[i];
            int at = r->x[k] * (int)rows + r->y[k] + here;
            float v = grad_x[at] * r->cosine + grad_y[at] * r->sine;
            sum += v;
            squares += v * v;
        }
        float mean = sum * (1.0f / POINTS);
        float variance = (squares - sum * mean) * (1.0f / (POINTS - 1));
        best = ww_fmaxf(best, mean * mean / variance);
    }
    gicov[blockIdx.x * blockDim.x + threadIdx.x] = best;
}

/* The largest value within the disk around each pixel. */
extern "C" __global__ void leukocyte_dilate(const float *__restrict__ in, float *__restrict__ out, int columns,
                                            int rows) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= columns * rows) return;
    int x0 = i / rows, y0 = i - x0 * rows;
    float most = 0;
#pragma unroll 1
    for (int dx = -DISK; dx <= DISK; dx++) {
        int x = x0 + dx, half = disk.half[dx + DISK];
        if (x < 0 || x >= columns) continue;
        int first = y0 - half > 0 ? y0 - half : 0, last = y0 + half < rows ? y0 + half : rows - 1;
        const float *p = in + x * rows + first;
#pragma unroll 1
        for (int left = last - first; left >= 0; left--, p++) most = ww_fmaxf(most, *p);
    }
    out[i] = most;
}

extern __shared__ float field[]; /* of track: before and after an iteration */

/* A smooth step from 0 to 1 around 0, of width WIDTH. */
#define WIDTH 0.1f
static __device__ __forceinline__ float step(float v) {
    return 0.5f + 0.5f * v / (ww_fabsf(v) + WIDTH);
}

/* What a neighbour in direction `along` (in units of the force) adds: its difference where it flows this way. */
static __device__ __forceinline__ float flow(float here, float there, float along) {
    float u = there - here;
    return step(u * along) * u;
}

/* Motion gradient vector flow: a CTA keeps the field of one cell's window in shared memory and iterates.
 * (vx, vy) is the direction in which the cell moves; image and field are pixels x * rows + y. */
extern "C" __global__ void leukocyte_imgvf(const float *__restrict__ image, float *__restrict__ out, int columns,
                                          int rows, unsigned iterations, float vx, float vy) {
    int n = columns * rows;
    const float *of_cell = image + (int)blockIdx.x * n;
    float *now = field, *next = field + n;
    for (int i = (int)threadIdx.x; i < n; i += TRACKERS) now[i] = of_cell[i];
    __syncthreads();
#pragma unroll 1
    for (unsigned t = 0; t < iterations; t++) {
#pragma unroll 1
        for (int i = (int)threadIdx.x; i < n; i += TRACKERS) {
            int x = i / rows, y = i - x * rows; /* neighbours beyond the edge are the edge itself */
            int l = x > 0 ? -rows : 0, r = x + 1 < columns ? rows : 0, u = y > 0 ? -1 : 0, d = y + 1 < rows ? 1 : 0;
            const float *p = now + i;
            float v = *p;
            float sum = flow(v, p[u], -vy) + flow(v, p[d], vy) + flow(v, p[l], -vx) + flow(v, p[r], vx);
            sum += flow(v, p[l + u], -vx - vy) + flow(v, p[r + u], vx - vy);
            sum += flow(v, p[l + d], vy - vx) + flow(v, p[r + d], vx + vy);
            float f = v + 0.1f * sum, pull = of_cell[i];
            next[i] = f - 0.2f * pull * (f - pull);
        }
        __syncthreads();
        float *swap = now;
        now = next;
        next = swap;
    }
    for (int i = (int)threadIdx.x; i < n; i += TRACKERS) out[(int)blockIdx.x * n + i] = now[i];
}
