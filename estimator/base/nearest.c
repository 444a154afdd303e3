/* The known word nearest to one that is not known, for "did you mean" in error texts. */
#include "nearest.h"
#include <ctype.h>
#include <limits.h>
#include <string.h>

#define WORD_MAX 63

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

unsigned ww_edit_distance(const char *a, const char *b) {
    size_t na = strlen(a), nb = strlen(b);
    if (na > WORD_MAX || nb > WORD_MAX) return strcmp(a, b) ? (unsigned)(na > nb ? na : nb) : 0;
    /* Optimal string alignment: three rows are enough, since a swap looks back two. */
    unsigned row[3][WORD_MAX + 1];
    for (unsigned j = 0; j <= nb; j++) row[0][j] = j;
    for (unsigned i = 1; i <= na; i++) {
        unsigned *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            unsigned d = up[j - 1] + (a[i - 1] != b[j - 1]);
            d = least(d, least(up[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d = least(d, up2[j - 2] + 1);
            now[j] = d;
        }
    }
    return row[na % 3][nb];
}

void ww_nearest_init(struct ww_nearest *n, const char *word) {
    *n = (struct ww_nearest){.word = word, .distance = UINT_MAX};
}

/* Small letters; of a longer word the beginning. */
static void fold(const char *word, char out[WORD_MAX + 1]) {
    size_t i = 0;
    for (; i < WORD_MAX && word[i]; i++) out[i] = (char)tolower((unsigned char)word[i]);
    out[i] = 0;
}

/* V100 is v100, and not a100, which is one letter away, too. */
void ww_nearest_offer(struct ww_nearest *n, const char *candidate) {
    char word[WORD_MAX + 1], other[WORD_MAX + 1];
    fold(n->word, word);
    fold(candidate, other);
    unsigned d = ww_edit_distance(word, other);
    if (d < n->distance) {
        n->distance = d;
        n->best = candidate;
    }
}

const char *ww_nearest_get(const struct ww_nearest *n) {
    if (!n->best) return NULL;
    size_t limit = strlen(n->best) / 3;
    if (limit < 1) limit = 1;
    return n->distance <= limit ? n->best : NULL;
}
