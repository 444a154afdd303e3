/* Where warp-cycles are counted: by static instruction and state, and by epoch and state. */
#include "../../result/result.h"
#include "epoch.h"

#include <stdlib.h>
#include <string.h>

#define MOST_EPOCHS ((size_t)1 << 22)

static void grow(struct ww_epochs *e) {
    size_t capacity = e->capacity ? 2 * e->capacity : 64;
    struct ww_epoch *row = capacity > MOST_EPOCHS ? NULL : realloc(e->row, capacity * sizeof *row);
    if (!row) {
        e->failed = true;
        return;
    }
    e->row = row;
    e->capacity = capacity;
}

/* Makes sure that row[count] exists, and zeroes it. After a failure the last row takes everything: the
 * launch is given up soon after. */
static void open_row(struct ww_epochs *e) {
    if (e->count == e->capacity) grow(e);
    if (e->count < e->capacity) e->count++;
    e->now = &e->row[e->count - 1];
    if (!e->failed) memset(e->now, 0, sizeof *e->now);
    e->now->first_cycle = e->first;
    e->now->cycles = e->length;
}

enum ww_code ww_epochs_begin(struct ww_epochs *e, uint32_t length, struct ww_inst_count *inst,
                             struct ww_issue_count *issued, struct ww_error *error) {
    e->count = 0;
    e->failed = false;
    if (!e->capacity) grow(e);
    if (e->failed) return ww_fail_nomem(error, "epochs");
    e->inst = inst;
    e->issued = issued;
    e->length = length;
    e->first = 0;
    e->end = length;
    open_row(e);
    return WW_OK;
}

void ww_epochs_settle(struct ww_epochs *e, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        e->inst[i].stall[WW_S_ISSUED] += e->issued[i].issues;
        e->inst[i].stall[WW_S_EXCESS_ALU] += e->issued[i].excess;
        e->inst[i].counter[WW_I_ISSUES] += e->issued[i].issues;
        e->inst[i].counter[WW_I_THREAD_INSTRUCTIONS] += ww_issue_threads(&e->issued[i]);
        e->issued[i] = (struct ww_issue_count){0};
    }
}

void ww_epochs_free(struct ww_epochs *e) {
    free(e->row);
    *e = (struct ww_epochs){0};
}

void ww_epochs_advance(struct ww_epochs *e, uint64_t cycle) {
    while (cycle >= e->end && !e->failed) {
        e->first = e->end;
        e->end += e->length;
        open_row(e);
    }
}

void ww_epochs_count_long(struct ww_epochs *e, uint32_t state, uint64_t from, uint64_t to) {
    if (to > e->end) {
        ww_epochs_advance(e, to - 1);
        if (e->failed) return;
    }
    size_t i = (size_t)(from / e->length);
    while (from < to && i < e->count) {
        uint64_t end = e->row[i].first_cycle + e->length, part = (to < end ? to : end) - from;
        e->row[i].warp_cycles[state] += part;
        from += part;
        i++;
    }
}
