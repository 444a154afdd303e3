#include "fetch_stride.h"

static struct ww_stride_entry *find_or_replace(struct ww_stride_table *t, uint32_t entries, uint64_t key) {
    struct ww_stride_entry *victim = &t->entry[0];
    for (uint32_t i = 0; i < entries; i++) {
        struct ww_stride_entry *e = &t->entry[i];
        if (e->key == key) return e;
        if (e->used < victim->used) victim = e;
    }
    *victim = (struct ww_stride_entry){.key = key};
    return victim;
}

struct ww_stride_entry *ww_stride_access(struct ww_stride_table *t, uint32_t entries, uint64_t key,
                                         uint64_t address) {
    struct ww_stride_entry *e = find_or_replace(t, entries, key);
    bool fresh = e->used == 0;
    int64_t stride = (int64_t)(address - e->last);
    e->used = ++t->clock;
    e->last = address;
    if (fresh) return e;
    e->trained = e->known && stride == e->stride && stride != 0;
    e->known = true;
    e->stride = stride;
    return e;
}
