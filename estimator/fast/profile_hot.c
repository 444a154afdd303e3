/* Which pieces of memory the atomics of a launch update most. */
#include "profile_hot.h"
#include "../base/hash.h"
#include <stdlib.h>

#define SLOTS 8192u /* of the hash table; half of them are used at most */

struct ww_hot {
    struct piece {
        uint64_t number, updates; /* number: + 1, 0: none */
    } piece[SLOTS];
    uint32_t count;
};

struct ww_hot *ww_hot_new(void) {
    return calloc(1, sizeof(struct ww_hot));
}

void ww_hot_free(struct ww_hot *h) {
    free(h);
}

void ww_hot_add(struct ww_hot *h, uint64_t piece) {
    uint32_t i = (uint32_t)ww_hash_mix(piece) & (SLOTS - 1);
    while (h->piece[i].number && h->piece[i].number != piece + 1) i = (i + 1) & (SLOTS - 1);
    if (!h->piece[i].number) {
        if (h->count == SLOTS / 2) return;
        h->count++;
        h->piece[i].number = piece + 1;
    }
    h->piece[i].updates++;
}

/* Of equally many updates the lower address, so that the order does not depend on the hash table. */
static bool before(const struct piece *a, uint64_t piece, uint64_t updates) {
    return a->updates > updates || (a->updates == updates && a->number - 1 < piece);
}

void ww_hot_most(const struct ww_hot *h, struct ww_kernel_profile *to) {
    unsigned n = 0;
    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct piece *p = &h->piece[i];
        if (!p->number) continue;
        unsigned at = n < WW_HOT_PIECES ? n++ : WW_HOT_PIECES;
        for (; at > 0 && before(p, to->hot_piece[at - 1], to->hot_updates[at - 1]); at--)
            if (at < WW_HOT_PIECES) {
                to->hot_piece[at] = to->hot_piece[at - 1];
                to->hot_updates[at] = to->hot_updates[at - 1];
            }
        if (at == WW_HOT_PIECES) continue;
        to->hot_piece[at] = p->number - 1;
        to->hot_updates[at] = p->updates;
    }
}
