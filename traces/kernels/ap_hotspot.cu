/* ap_hotspot: one step of the temperatures of a chip: a cell takes heat from its power, its four neighbours and the
 * air. A neighbour beyond the edge is the cell itself. */
#include "ap_device.h"

extern "C" __global__ void ap_hotspot(const float *in, const float *power, float *out, unsigned width,
                                      unsigned height, unsigned each, float capacity, float per_x, float per_y,
                                      float per_z) {
    const float air = 80.0f;
    unsigned n = width * height, start = blockIdx.x * each + threadIdx.x;
    unsigned y = start / width, x = start - y * width;
    unsigned down = blockDim.x / width, across = blockDim.x - down * width; /* to the next element of a thread */
    AP_FOR(i, n, each) {
        float t = in[i];
        float north = t, south = t, west = t, east = t;
        if (y > 0) north = in[i - width];
        if (y < height - 1) south = in[i + width];
        if (x > 0) west = in[i - 1];
        if (x < width - 1) east = in[i + 1];
        float flow = power[i] + (north + south - 2.0f * t) * per_y + (east + west - 2.0f * t) * per_x +
                     (air - t) * per_z;
        out[i] = t + capacity * flow;
        x += across;
        y += down + (x >= width);
        x -= x >= width ? width : 0;
    }
}
