/* crc.h: CRC-32 as ww_crc32 (base/hash.h) computes it, several times as fast: eight bytes at a step with
 * tables that the reader and the writer make when they start (slicing-by-8; Kounavis and Berry 2005). */
#ifndef WW_WWT_CRC_H
#define WW_WWT_CRC_H

#include <stddef.h>
#include <stdint.h>

struct ww_wwt_crc {
    uint32_t table[8][256]; /* table[k][b]: what byte b does k bytes before the end of the step */
};

void ww_wwt_crc_init(struct ww_wwt_crc *t);
/* Chained through `crc`; start with 0. */
uint32_t ww_wwt_crc32(const struct ww_wwt_crc *t, uint32_t crc, const void *data, size_t n);

#endif
