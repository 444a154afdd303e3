/* Lists between the SMs and the memory system, when these are apart. */
#include "exchange.h"

#include <stdlib.h>

struct ww_exchange *ww_exchange_new(uint32_t sms) {
    size_t bytes =
        (sizeof(struct ww_exchange) + 2 * WW_HOST_LINE - 1) / (2 * WW_HOST_LINE) * (2 * WW_HOST_LINE);
    struct ww_exchange *x = aligned_alloc(2 * WW_HOST_LINE, bytes);
    if (!x) return NULL;
    *x = (struct ww_exchange){.retry = calloc(sms, sizeof *x->retry),
                              .reply = calloc(sms, sizeof *x->reply),
                              .retry_ps = UINT64_MAX,
                              .watched = WW_TOLD_NONE,
                              .sms = sms};
    if (!x->retry || !x->reply) {
        ww_exchange_free(x);
        return NULL;
    }
    for (uint32_t i = 0; i < sms; i++) x->retry[i] = UINT64_MAX;
    return x;
}

void ww_exchange_free(struct ww_exchange *x) {
    if (!x) return;
    free(x->tell.item);
    free(x->told.item);
    free(x->took.item);
    free(x->taken.item);
    free(x->take.item);
    free(x->send.item);
    free(x->retry);
    free(x->reply);
    free(x);
}

/* Twice as long a list. */
static void *grow(void *item, uint32_t *capacity, size_t size) {
    uint32_t more = *capacity ? 2 * *capacity : 1024;
    void *grown = more < 1u << 30 ? realloc(item, more * size) : NULL;
    if (grown) *capacity = more;
    return grown;
}

bool ww_exchange_more_told(struct ww_exchange *x) {
    struct ww_told_list *l = &x->tell;
    struct ww_told *grown = grow(l->item, &l->capacity, sizeof *grown);
    if (grown) l->item = grown;
    if (!grown) x->failed = true;
    return grown;
}

bool ww_exchange_more_taken(struct ww_exchange *x) {
    struct ww_taken_list *l = &x->took;
    struct ww_taken *grown = grow(l->item, &l->capacity, sizeof *grown);
    if (grown) l->item = grown;
    if (!grown) x->failed = true;
    return grown;
}

bool ww_exchange_more_sent(struct ww_exchange *x) {
    struct ww_sent_list *l = &x->send;
    struct ww_sent *grown = grow(l->item, &l->capacity, sizeof *grown);
    if (grown) l->item = grown;
    if (!grown) x->full = true;
    return grown;
}

void ww_exchange_retry(struct ww_exchange *x, uint16_t sm, uint64_t ps) {
    if (ps < x->tick_ps) ps = x->tick_ps;
    x->retry[sm] = ps;
    if (ps < x->retry_ps) x->retry_ps = ps;
}

uint16_t ww_exchange_take_retry(struct ww_exchange *x) {
    uint32_t first = 0;
    uint64_t next = UINT64_MAX;
    while (x->retry[first] != x->retry_ps) first++;
    x->retry[first] = UINT64_MAX;
    for (uint32_t i = 0; i < x->sms; i++)
        if (x->retry[i] < next) next = x->retry[i];
    x->retry_ps = next;
    return (uint16_t)first;
}
