/* 64-bit hashes for content identity and hash tables (not for security). */
#include "hash.h"

uint64_t ww_hash_bytes(const void *data, size_t n, uint64_t seed) {
    const unsigned char *p = data;
    uint64_t h = ww_hash_mix(seed ^ (n * 0x9e3779b97f4a7c15u) ^ 0x2545f4914f6cdd1du);
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t w = 0;
        for (int i = 0; i < 8; i++) w |= (uint64_t)p[i] << (8 * i);
        h = ww_hash_mix(h ^ w) + 0x9e3779b97f4a7c15u;
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < n; i++) tail |= (uint64_t)p[i] << (8 * i);
    return ww_hash_mix(h ^ tail);
}

/* Two steps of a nibble table for the reflected polynomial 0xEDB88320: small, and constant, so that
 * the library holds no mutable state. */
uint32_t ww_crc32(uint32_t crc, const void *data, size_t n) {
    static const uint32_t nibble[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const unsigned char *p = data;
    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        crc = (crc >> 4) ^ nibble[crc & 15];
        crc = (crc >> 4) ^ nibble[crc & 15];
    }
    return ~crc;
}
