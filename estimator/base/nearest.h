/* nearest.h: the known word nearest to one that is not known, for "did you mean" in error texts.
 *
 * Use: init with the unknown word, offer every known one, then ask. Nothing is allocated; the candidates
 * offered must outlive the last use of the answer.
 */
#ifndef WW_BASE_NEAREST_H
#define WW_BASE_NEAREST_H

struct ww_nearest {
    const char *word, *best;
    unsigned distance; /* edits from word to best */
};

void ww_nearest_init(struct ww_nearest *n, const char *word);
void ww_nearest_offer(struct ww_nearest *n, const char *candidate);
/* The best candidate, or NULL if none is near enough to be meant (more than a third of it differs). */
const char *ww_nearest_get(const struct ww_nearest *n);
/* Edit distance (insert, delete, replace, swap of neighbours); words over 63 bytes: the longer's length. */
unsigned ww_edit_distance(const char *a, const char *b);

#endif
