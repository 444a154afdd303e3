/* Counting bits. */
#include "bits.h"

#define TWO(n) (n), (n) + 1, (n) + 1, (n) + 2
#define FOUR(n) TWO(n), TWO((n) + 1), TWO((n) + 1), TWO((n) + 2)
#define SIX(n) FOUR(n), FOUR((n) + 1), FOUR((n) + 1), FOUR((n) + 2)

const uint8_t ww_bits_of_byte[256] = {SIX(0), SIX(1), SIX(1), SIX(2)};
