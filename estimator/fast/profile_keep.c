/* A copy of one CTA's streams, so that its group can be released. */
#include "profile_keep.h"

#include "../base/bits.h"
#include <stdlib.h>
#include <string.h>

/* One block of memory, in this order: streams, accesses, listed addresses, steps. */
struct room {
    struct ww_warp_stream *warp;
    struct ww_access *access;
    uint64_t *pool;
    struct ww_step *step;
};

/* Addresses that the list of an access has, 0 if it is none. */
static uint32_t listed(const struct ww_launch *launch, const struct ww_step *step,
                       const struct ww_access *access) {
    if (!(launch->inst[step->inst].flags & WW_INST_ACCESS) || access->list == WW_AFFINE) return 0;
    return ww_bits(step->mask);
}

static size_t listed_by(const struct ww_launch *launch, const struct ww_warp_stream *s) {
    const struct ww_access *a = s->access;
    size_t n = 0;
    for (uint32_t i = 0; i < s->step_count; i++) {
        n += listed(launch, &s->step[i], a);
        a += (launch->inst[s->step[i].inst].flags & WW_INST_ACCESS) != 0;
    }
    return n;
}

/* Copies a stream to where the room begins, and takes that from it. */
static void copy_stream(const struct ww_launch *launch, const struct ww_warp_stream *from, struct room *room) {
    struct ww_warp_stream *to = room->warp++;
    uint32_t used = 0;
    *to = *from;
    to->step = room->step;
    to->access = room->access;
    to->pool = room->pool;
    memcpy(room->step, from->step, from->step_count * sizeof *room->step);
    memcpy(room->access, from->access, from->access_count * sizeof *room->access);
    struct ww_access *a = room->access;
    for (uint32_t i = 0; i < from->step_count; i++) {
        uint32_t n = listed(launch, &from->step[i], a);
        if (n) {
            uint64_t address[32];
            memcpy(room->pool + used, ww_list_addresses(a, from->pool, n, address), n * sizeof *room->pool);
            a->list = used;
            used += n;
        }
        a += (launch->inst[from->step[i].inst].flags & WW_INST_ACCESS) != 0;
    }
    room->step += from->step_count;
    room->access += from->access_count;
    room->pool += used;
}

enum ww_code ww_keep_cta(const struct ww_launch *launch, const struct ww_cta_trace *cta,
                         struct ww_cta_trace *copy, struct ww_error *error) {
    size_t accesses = 0, addresses = 0, steps = 0;
    struct room room;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        accesses += cta->warp[w].access_count;
        addresses += listed_by(launch, &cta->warp[w]);
        steps += cta->warp[w].step_count;
    }
    *copy = *cta;
    copy->group = NULL;
    room.warp = malloc(cta->warp_count * sizeof *room.warp + accesses * sizeof *room.access +
                       addresses * sizeof *room.pool + steps * sizeof *room.step + 1);
    copy->warp = room.warp;
    if (!room.warp) return ww_fail_nomem(error, "profile");
    room.access = (struct ww_access *)(void *)(room.warp + cta->warp_count);
    room.pool = (uint64_t *)(void *)(room.access + accesses);
    room.step = (struct ww_step *)(void *)(room.pool + addresses);
    for (uint32_t w = 0; w < cta->warp_count; w++) copy_stream(launch, &cta->warp[w], &room);
    return WW_OK;
}

void ww_kept_free(struct ww_cta_trace *copy) {
    free((void *)(uintptr_t)copy->warp);
    copy->warp = NULL;
}
