/* Numbers of half precision on the workloads' host sides. */
#include "half.h"
#include <math.h>

uint16_t ww_half(double v) {
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    int e;
    if (isnan(v)) return 0x7e00;
    if (a >= 65520) return sign | 0x7c00;
    if (a == 0) return sign;
    frexp(a, &e);                           /* a = f 2^e, f in [0.5, 1) */
    int step = e - 11 < -24 ? -24 : e - 11; /* a half's last bit is worth 2^step */
    long m = lrint(ldexp(a, -step));        /* ties to even */
    if (step == -24) return (uint16_t)(sign | m);
    return (uint16_t)(sign + ((step + 24) << 10) + m); /* m = 2048 carries into the exponent */
}

double ww_half_value(uint16_t bits) {
    int e = bits >> 10 & 31, m = bits & 1023;
    double a = e == 31 ? (m ? (double)NAN : (double)INFINITY) : e ? ldexp(m + 1024, e - 25) : ldexp(m, -24);
    return bits & 0x8000 ? -a : a;
}

enum ww_code ww_host_halves(struct ww_host *h, uint16_t **out, size_t count, uint32_t steps, double step) {
    WW_TRY(ww_host_array(h, out, count, sizeof **out));
    for (size_t i = 0; i < count; i++)
        (*out)[i] = ww_half(((double)ww_rng_below(&h->rng, 2 * steps - 1) - (double)(steps - 1)) * step);
    return WW_OK;
}

enum ww_code ww_host_upload_halves(struct ww_host *h, uint16_t **out, uint64_t *address, size_t count,
                                   uint32_t steps, double step) {
    WW_TRY(ww_host_halves(h, out, count, steps, step));
    return ww_host_upload(h, address, *out, count, sizeof **out);
}

enum ww_code ww_host_same_u16(struct ww_host *h, const char *array, const uint16_t *got, const uint16_t *want,
                              size_t n) {
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            return ww_fail(h->error, WW_MISMATCH, h->name, "%s[%zu] is 0x%04x, expected 0x%04x exactly", array,
                           i, got[i], want[i]);
    return WW_OK;
}

enum ww_code ww_host_near_f16(struct ww_host *h, const char *array, const uint16_t *got, const double *want,
                              const double *scale, size_t n, double factor) {
    for (size_t i = 0; i < n; i++) {
        double a = fabs(want[i]), value = ww_half_value(got[i]);
        double tolerance = 0x1p-11 * (a < 0x1p-14 ? 0x1p-14 : a) + factor * WW_UNIT_ROUNDOFF * scale[i];
        if (!(fabs(value - want[i]) <= tolerance)) /* true for NaN too */
            return ww_fail(h->error, WW_MISMATCH, h->name, "%s[%zu] is %.6g, expected %.6g within %.3g", array,
                           i, value, want[i], tolerance);
    }
    return WW_OK;
}
