/* ap_fft: one pass of a forward transform of n = 4^k complex numbers by radix 4 in Stockham's order: numbers n / 4 apart
 * are read, and written so that they come out sorted. Sines and cosines come from a table. */
#include "ap_device.h"

static __device__ __forceinline__ float2 times(float2 a, float2 b) {
    return make_float2(ww_fma(a.x, b.x, -(a.y * b.y)), ww_fma(a.x, b.y, a.y * b.x));
}

/* log_span: logarithm of the length of the transforms that are done; root[k] = exp(-2 pi i k / n). */
extern "C" __global__ void ap_fft(const float2 *in, const float2 *root, float2 *out, unsigned n, unsigned log_span,
                                  unsigned each) {
    unsigned quarter = n / 4, span = 1u << log_span, step = quarter >> log_span;
    AP_FOR(i, quarter, each) {
        unsigned j = i & (span - 1), to = 4 * (i - j) + j;
        float2 w = root[j * step], w2 = times(w, w);
        float2 a = in[i], b = times(in[i + quarter], w);
        float2 c = times(in[i + 2 * quarter], w2), d = times(in[i + 3 * quarter], times(w, w2));
        float2 ac = a + c, bd = b + d, ac_less = a - c, bd_less = b - d;
        out[to] = ac + bd;
        out[to + span] = make_float2(ac_less.x + bd_less.y, ac_less.y - bd_less.x);
        out[to + 2 * span] = ac - bd;
        out[to + 3 * span] = make_float2(ac_less.x - bd_less.y, ac_less.y + bd_less.x);
    }
}
