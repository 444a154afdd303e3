/* mask_list.h: a parameter that is a list of whole numbers: "0x2080,0x4100" or "1,3,1,1". */
#ifndef WW_CONFIG_MASK_LIST_H
#define WW_CONFIG_MASK_LIST_H

#include <stdbool.h>
#include <stdint.h>

#define WW_MASKS_MAX 32

/* Reads decimal or 0x numbers between commas into out; returns how many, 0 for "", -1 if the text is no such
 * list, or is longer than WW_MASKS_MAX. */
int ww_mask_list(const char *text, uint64_t out[WW_MASKS_MAX]);

#endif
