/* hash.h: 64-bit hashes for content identity and hash tables (not for security). */
#ifndef WW_BASE_HASH_H
#define WW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* One good mixing step (splitmix64 finaliser). */
static inline uint64_t ww_hash_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Hash of bytes, chained through `seed`. The same on every machine. */
uint64_t ww_hash_bytes(const void *data, size_t n, uint64_t seed);
/* CRC-32 (IEEE 802.3, as zlib's crc32), chained through `crc` (start with 0). */
uint32_t ww_crc32(uint32_t crc, const void *data, size_t n);

#endif
