/* list.h: lists of numbers as users write them, "0,2-4,9". */
#ifndef WW_BASE_LIST_H
#define WW_BASE_LIST_H

#include "arena.h"
#include "err.h"

/* Inclusive ranges in ascending order, none touching. Lives in the arena. */
struct ww_list {
    struct ww_range {
        uint64_t first, last;
    } * range;
    size_t count;
};

/* Parses `text` (NULL: everything below `end`) into ranges of numbers < end. `where` goes into the error.
 * Errors: WW_USAGE (syntax, a number >= end, a range that runs backwards), WW_NOMEM. */
enum ww_code ww_list_parse(const char *text, uint64_t end, const char *where, struct ww_arena *arena,
                           struct ww_list *list, struct ww_error *error);
bool ww_list_has(const struct ww_list *list, uint64_t v);

#endif
