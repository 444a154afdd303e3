/* A reference prediction table, which stride prefetchers and MTA share. */
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

const struct ww_param ww_stride_params[WW_STRIDE_PARAMS] = {
    WW_PARAM_U32(ww_stride_settings, entries, "entries", "entry", 1, WW_STRIDE_MOST, 64, "of the table"),
    WW_PARAM_U32(ww_stride_settings, distance, "distance", "stride", 1, 64, 1, "how far ahead it prefetches"),
    WW_PARAM_U32(ww_stride_settings, queue, "queue", "line", 1, 4096, 64, "lines that wait to be prefetched"),
    WW_PARAM_U32(ww_stride_settings, latency, "latency", "SM cycle", 0, 1000, 10,
                 "from a load to its prefetches"),
    WW_PARAM_BOOL(ww_stride_settings, send, "send", 1, "ask memory; false: learn and ask for nothing"),
};

void ww_stride_plan(const void *settings, struct ww_fetch_plan *plan) {
    const struct ww_stride_settings *s = settings;
    *plan = (struct ww_fetch_plan){.queue = s->queue, .latency = s->latency};
}

void ww_stride_begin(void *state, const void *settings, const struct ww_fetch_launch *launch) {
    (void)state;
    (void)settings;
    (void)launch;
}

void ww_stride_load(void *state, const void *settings, uint64_t key, const struct ww_fetch_load *load,
                    struct ww_fetch_requests *requests) {
    const struct ww_stride_settings *s = settings;
    const struct ww_stride_entry *e = ww_stride_access(state, s->entries, key, load->address[0]);
    if (!e->trained || !s->send) return;
    requests->request[requests->count++] = (struct ww_fetch_request){
        .base = (uint64_t)(e->stride * (int64_t)s->distance), .token = WW_FETCH_NO_TOKEN, .shifted = true};
}
