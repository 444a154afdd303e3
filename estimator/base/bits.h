/* bits.h: counting bits. The compiler's built-in calls a library function where it may not assume the
 * machine's instruction; these few operations cost less. */
#ifndef WW_BASE_BITS_H
#define WW_BASE_BITS_H

#include <stdint.h>

/* Bits set. */
static inline uint32_t ww_bits(uint32_t v) {
    v = v - ((v >> 1) & 0x55555555u);
    v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
    return (((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}

/* Bits set in each byte. */
extern const uint8_t ww_bits_of_byte[256];

static inline uint32_t ww_bits8(uint32_t byte) {
    return ww_bits_of_byte[byte & 255];
}

#endif
