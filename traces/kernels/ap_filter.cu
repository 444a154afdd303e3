/* ap_filter: finds edges. A pixel's difference from the bilinear mean of the 3 x 3 around it (weights 1 2 1, 2 4 2,
 * 1 2 1); 0 on the image's frame. */
#include "ap_device.h"

extern "C" __global__ void ap_filter(const float *in, float *out, unsigned width, unsigned height, unsigned each) {
    unsigned n = width * height, start = blockIdx.x * each + threadIdx.x;
    unsigned y = start / width, x = start - y * width;
    unsigned down = blockDim.x / width, across = blockDim.x - down * width; /* to the next element of a thread */
    AP_FOR(i, n, each) {
        float edge = 0.0f;
        if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
            const float *above = in + (i - width), *here = in + i, *below = in + (i + width);
            float corners = above[-1] + above[1] + below[-1] + below[1];
            float sides = above[0] + here[-1] + here[1] + below[0];
            edge = ww_fabsf(here[0] - 0.0625f * (4.0f * here[0] + 2.0f * sides + corners));
        }
        out[i] = edge;
        x += across;
        y += down + (x >= width);
        x -= x >= width ? width : 0;
    }
}
