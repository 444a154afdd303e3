/* half.h: numbers of half precision (IEEE 754 binary16) on the workloads' host sides, as their 16 bits.
 *
 * A half result is compared with a reference in double precision. The kernel computes in single precision and
 * rounds once at the end: the allowed difference is half a step of a half at the result, 2^-11 of it (of the
 * smallest normal number 2^-14 below that), and `factor` * 2^-24 * scale[i] for the roundings before, as host.h
 * says.
 */
#ifndef WW_TRACES_WORKLOADS_HALF_H
#define WW_TRACES_WORKLOADS_HALF_H

#include "host.h"

/* Rounded to nearest, ties to even; too large a number becomes infinity. */
uint16_t ww_half(double v);
double ww_half_value(uint16_t bits);

/* count random multiples of `step` (a power of two, so that halves hold them) of magnitude below steps * step.
 * steps <= 2048. */
enum ww_code ww_host_halves(struct ww_host *h, uint16_t **out, size_t count, uint32_t steps, double step);
/* The same in device memory, too. */
enum ww_code ww_host_upload_halves(struct ww_host *h, uint16_t **out, uint64_t *address, size_t count,
                                   uint32_t steps, double step);
enum ww_code ww_host_same_u16(struct ww_host *h, const char *array, const uint16_t *got, const uint16_t *want,
                              size_t n);
/* Errors: WW_MISMATCH with the first that differs by more. */
enum ww_code ww_host_near_f16(struct ww_host *h, const char *array, const uint16_t *got, const double *want,
                              const double *scale, size_t n, double factor);

#endif
