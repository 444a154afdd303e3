/* Freeing a result. */
#include "result.h"
#include "../base/arena.h"
#include <stdlib.h>

void ww_result_free(struct ww_result *result) {
    if (!result) return;
    struct ww_arena *arena = result->owner;
    if (arena) ww_arena_free(arena);
    free(arena);
    free(result);
}
