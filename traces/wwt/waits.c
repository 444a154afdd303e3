/* waits.c: words of memory that steps wait for (WW_INST_WAIT), by launch, in the index. */
#include "format.h"
#include "index.h"
#include "waits.h"
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void settle(struct ww_wwt_words *w) {
    size_t n = 0;
    if (!w->count) return;
    qsort(w->word, w->count, sizeof *w->word, compare);
    for (size_t i = 0; i < w->count; i++)
        if (!n || w->word[n - 1] != w->word[i]) w->word[n++] = w->word[i];
    w->count = n;
}

static bool add_word(struct ww_wwt_words *w, uint64_t word) {
    if (w->count && w->word[w->count - 1] == word) return true;
    if (w->count == w->room) {
        settle(w);
        if (w->count >= w->room / 2) {
            size_t room = w->room ? 2 * w->room : 64;
            uint64_t *grown = realloc(w->word, room * sizeof *grown);
            if (!grown) return false;
            w->word = grown;
            w->room = room;
        }
    }
    w->word[w->count++] = word;
    return true;
}

bool ww_wwt_has_waits(const struct ww_launch *l) {
    for (uint32_t i = 0; i < l->inst_count; i++)
        if (l->inst[i].flags & WW_INST_WAIT) return true;
    return false;
}

bool ww_wwt_note_waits(struct ww_wwt_words *to, const struct ww_launch *l, const struct ww_cta_trace *cta) {
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        const struct ww_warp_stream *w = &cta->warp[n];
        const struct ww_access *a = w->access;
        for (uint32_t k = 0; k < w->step_count; k++) {
            uint32_t flags = w->step[k].inst < l->inst_count ? l->inst[w->step[k].inst].flags : 0;
            if ((flags & WW_INST_WAIT) && w->step[k].mask && a->list == WW_AFFINE &&
                !add_word(to, a->base >> 2))
                return false;
            a += flags & WW_INST_ACCESS;
        }
    }
    return true;
}

const char *ww_wwt_put_waits(struct ww_wwt_waits *to, struct ww_wwt_words *words, size_t launch) {
    if (!words->count) return NULL;
    settle(words);
    if (words->count > WW_WWT_WORDS_MAX) return "its steps wait for writes of more than 1048576 words";
    ww_buf_varint(&to->rows, launch - to->next);
    ww_buf_varint(&to->rows, words->count);
    for (size_t i = 0; i < words->count; i++)
        ww_buf_varint(&to->rows, i ? words->word[i] - words->word[i - 1] : words->word[0]);
    to->next = launch + 1;
    to->count++;
    return NULL;
}

static bool get_words(struct ww_cursor *c, struct ww_arena *arena, struct ww_launch *l, const char **why) {
    uint64_t count = ww_cursor_varint(c), at = 0;
    if (c->failed || !count || count > WW_WWT_WORDS_MAX || count > (uint64_t)(c->end - c->p)) return false;
    uint64_t *word = ww_arena_array(arena, (size_t)count, sizeof *word);
    if (!word) {
        *why = NULL;
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t more = ww_cursor_varint(c);
        if (c->failed || (i && !more) || more > (UINT64_MAX >> 2) - at) return false;
        word[i] = at += more;
    }
    l->wait_word = word;
    l->wait_words = (uint32_t)count;
    return true;
}

bool ww_wwt_get_waits(struct ww_cursor *c, struct ww_arena *arena, struct ww_wwt_index *index,
                      const char **why) {
    uint64_t at = 0;
    if (c->p == c->end) return true;
    *why = "the words that launches wait for are malformed";
    uint64_t rows = ww_cursor_varint(c);
    if (c->failed || (rows == 0 && c->p == c->end) || rows > index->launch_count) return false;
    for (uint64_t n = 0; n < rows; n++, at++) {
        uint64_t skipped = ww_cursor_varint(c);
        if (c->failed || at >= index->launch_count || skipped >= index->launch_count - at) return false;
        at += skipped;
        if (!get_words(c, arena, &index->launch[at].view, why)) return false;
    }
    return true;
}
