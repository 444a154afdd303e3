/* waits.h: words of memory that steps of a launch wait for, in the index. */
#ifndef WW_WWT_WAITS_H
#define WW_WWT_WAITS_H

#include "index.h"

#define WW_WWT_WORDS_MAX 1048576u /* of a launch */

/* Words of the open launch: address / 4, with repetitions. */
struct ww_wwt_words {
    uint64_t *word;
    size_t count, room;
};
/* Rows of the launches that have such words. */
struct ww_wwt_waits {
    struct ww_buf rows;
    size_t count, next; /* rows; the launch behind the last one that has a row */
};

/* Whether an instruction of the launch waits. */
bool ww_wwt_has_waits(const struct ww_launch *l);
/* Adds the words of a CTA. False: no memory. */
bool ww_wwt_note_waits(struct ww_wwt_words *to, const struct ww_launch *l, const struct ww_cta_trace *cta);
/* The launch's row, if it has words; what is wrong with them, or NULL. */
const char *ww_wwt_put_waits(struct ww_wwt_waits *to, struct ww_wwt_words *words, size_t launch);
/* Reads what is left of the index. False: malformed (*why; NULL: no memory). */
bool ww_wwt_get_waits(struct ww_cursor *c, struct ww_arena *arena, struct ww_wwt_index *index,
                      const char **why);

#endif
