/* CRC-32 of zlib's polynomial, eight bytes at a step. */
#include "crc.h"
#include "format.h"

void ww_wwt_crc_init(struct ww_wwt_crc *t) {
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t c = b;
        for (int bit = 0; bit < 8; bit++) c = (c >> 1) ^ (c & 1 ? 0xedb88320u : 0);
        t->table[0][b] = c;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t b = 0; b < 256; b++) {
            uint32_t c = t->table[k - 1][b];
            t->table[k][b] = (c >> 8) ^ t->table[0][c & 255];
        }
}

uint32_t ww_wwt_crc32(const struct ww_wwt_crc *t, uint32_t crc, const void *data, size_t n) {
    const unsigned char *p = data;
    crc = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t low = ww_wwt_get32(p) ^ crc, high = ww_wwt_get32(p + 4);
        crc = t->table[7][low & 255] ^ t->table[6][low >> 8 & 255] ^ t->table[5][low >> 16 & 255] ^
              t->table[4][low >> 24] ^ t->table[3][high & 255] ^ t->table[2][high >> 8 & 255] ^
              t->table[1][high >> 16 & 255] ^ t->table[0][high >> 24];
    }
    while (n--) crc = (crc >> 8) ^ t->table[0][(crc ^ *p++) & 255];
    return ~crc;
}
