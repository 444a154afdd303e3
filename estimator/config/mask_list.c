/* A parameter that is a list of whole numbers: "0x2080,0x4100" or "1,3,1,1". */
#include "mask_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

int ww_mask_list(const char *text, uint64_t out[WW_MASKS_MAX]) {
    int count = 0;
    if (!*text) return 0;
    for (;;) {
        char *end;
        if (count == WW_MASKS_MAX || !isdigit((unsigned char)*text)) return -1;
        bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
        if (hex && !isxdigit((unsigned char)text[2])) return -1;
        errno = 0;
        out[count++] = strtoull(text, &end, hex ? 16 : 10);
        if (errno) return -1;
        if (!*end) return count;
        if (*end != ',') return -1;
        text = end + 1;
    }
}
