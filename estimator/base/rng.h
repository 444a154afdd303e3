/* rng.h: small seeded random numbers (xoshiro256**, seeded by splitmix64; Blackman and Vigna 2018).
 * The sequence for a seed is fixed for all time: results and recorded inputs depend on it. */
#ifndef WW_BASE_RNG_H
#define WW_BASE_RNG_H

#include <stdint.h>

struct ww_rng {
    uint64_t s[4];
};

static inline void ww_rng_seed(struct ww_rng *r, uint64_t seed) {
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        r->s[i] = z ^ (z >> 31);
    }
}

static inline uint64_t ww_rng_next(struct ww_rng *r) {
    uint64_t *s = r->s, x = s[1] * 5, t = s[1] << 17;
    x = ((x << 7) | (x >> 57)) * 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return x;
}

/* Uniform in [0, n) without bias that matters here (multiply-shift); n > 0. */
static inline uint32_t ww_rng_below(struct ww_rng *r, uint32_t n) {
    return (uint32_t)(((ww_rng_next(r) >> 32) * n) >> 32);
}

/* Uniform in [0, 1). */
static inline double ww_rng_unit(struct ww_rng *r) {
    return (double)(ww_rng_next(r) >> 11) * 0x1p-53;
}

#endif
