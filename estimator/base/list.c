/* Lists of numbers as users write them, "0,2-4,9". */
#include "list.h"
#include <stdlib.h>
#include <string.h>

/* Digits at *p; false if there are none or they overflow. */
static bool number(const char **p, uint64_t *out) {
    uint64_t v = 0;
    const char *s = *p;
    if (*s < '0' || *s > '9') return false;
    for (; *s >= '0' && *s <= '9'; s++) {
        uint64_t digit = (uint64_t)(*s - '0');
        if (v > (UINT64_MAX - digit) / 10) return false;
        v = v * 10 + digit;
    }
    *p = s;
    *out = v;
    return true;
}

static bool one_range(const char **p, struct ww_range *r) {
    if (!number(p, &r->first)) return false;
    r->last = r->first;
    if (**p != '-') return true;
    (*p)++;
    return number(p, &r->last) && r->last >= r->first;
}

static int by_first(const void *a, const void *b) {
    const struct ww_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sorts and joins ranges that overlap or touch. */
static void normalise(struct ww_list *list) {
    size_t n = 0;
    qsort(list->range, list->count, sizeof *list->range, by_first);
    for (size_t i = 1; i < list->count; i++) {
        struct ww_range *last = &list->range[n], r = list->range[i];
        if (last->last != UINT64_MAX && r.first > last->last + 1)
            list->range[++n] = r;
        else if (r.last > last->last)
            last->last = r.last;
    }
    list->count = n + 1;
}

enum ww_code ww_list_parse(const char *text, uint64_t end, const char *where, struct ww_arena *arena,
                           struct ww_list *list, struct ww_error *error) {
    size_t items = 1;
    for (const char *p = text; p && *p; p++) items += *p == ',';
    list->count = 0;
    list->range = ww_arena_array(arena, items, sizeof *list->range);
    if (!list->range) return ww_fail_nomem(error, where);
    if (!text) {
        if (end > 0) list->range[list->count++] = (struct ww_range){0, end - 1};
        return WW_OK;
    }
    for (const char *p = text;; p++) {
        struct ww_range r;
        if (!one_range(&p, &r) || (*p && *p != ','))
            return ww_fail(error, WW_USAGE, where, "\"%.100s\": expected numbers and ranges such as 0,2-4",
                           text);
        if (r.last >= end)
            return ww_fail(error, WW_USAGE, where, "%llu: expected a number below %llu",
                           (unsigned long long)r.last, (unsigned long long)end);
        list->range[list->count++] = r;
        if (!*p) break;
    }
    normalise(list);
    return WW_OK;
}

bool ww_list_has(const struct ww_list *list, uint64_t v) {
    size_t lo = 0, hi = list->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (list->range[mid].last < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < list->count && list->range[lo].first <= v;
}
