/* Runs, the order of the stages, and the first of them: the size. */
#include "infer_int.h"
#include <stdlib.h>

/* Passes over an array of which one line too many is in some set: a random replacement shows in one of them. */
#define SIZE_PASSES 5

const char *ww_policy_name(enum ww_policy policy) {
    static const char *const name[] = {"unknown", "LRU", "FIFO", "periodic, not LRU", "not LRU"};
    return name[policy];
}

static uint64_t address_of(const struct ww_infer_plan *p, uint64_t position) {
    uint64_t k = position / p->unit;
    return p->base + position + (p->stagger ? k * p->stagger % p->unit : 0);
}

static enum ww_code make_room(struct ww_infer *f, size_t n, struct ww_error *error) {
    if (n <= f->room) return WW_OK;
    free(f->address);
    free(f->latency);
    f->room = 0;
    f->address = calloc(n, sizeof *f->address);
    f->latency = calloc(n, sizeof *f->latency);
    if (!f->address || !f->latency) return ww_fail_nomem(error, "a chase");
    f->room = n;
    return WW_OK;
}

enum ww_code ww_infer_run(struct ww_infer *f, const uint64_t *position, size_t count, uint32_t passes,
                          struct ww_error *error) {
    size_t n = count * passes;
    WW_TRY(make_room(f, n, error));
    for (size_t i = 0; i < count; i++) f->address[i] = address_of(f->plan, position[i]);
    for (size_t i = count; i < n; i++) f->address[i] = f->address[i - count];
    f->out->accesses += n;
    return f->box->chase(f->box->context, f->address, n, f->latency, error);
}

bool ww_infer_ever(const struct ww_infer *f, size_t n, uint32_t from, uint32_t passes, size_t i) {
    for (uint32_t p = from; p < passes; p++)
        if (ww_infer_missed(f, n, p, i)) return true;
    return false;
}

uint64_t *ww_infer_positions(size_t count, uint64_t step) {
    uint64_t *position = calloc(count ? count : 1, sizeof *position);
    for (size_t i = 0; position && i < count; i++) position[i] = i * step;
    return position;
}

/* Whether every access after the first pass hits, for an array of `bytes`. */
static enum ww_code fits(struct ww_infer *f, uint64_t bytes, bool *all_hit, struct ww_error *error) {
    uint64_t step = f->plan->size_step ? f->plan->size_step : f->plan->unit;
    size_t n = (size_t)((bytes + step - 1) / step);
    uint64_t *position = ww_infer_positions(n, step);
    if (!position) return ww_fail_nomem(error, "a chase");
    enum ww_code code = ww_infer_run(f, position, n, SIZE_PASSES, error);
    free(position);
    *all_hit = true;
    for (size_t i = n; code == WW_OK && i < n * SIZE_PASSES && *all_hit; i++)
        *all_hit = f->latency[i] <= f->plan->hit_at_most;
    return code;
}

/* The largest array of which all accesses hit: doubled until one misses, then halved in. */
enum ww_code ww_infer_size(struct ww_infer *f, struct ww_error *error) {
    const struct ww_infer_plan *p = f->plan;
    uint64_t good = 0, bad = 0, precision = p->precision ? p->precision : p->unit;
    for (uint64_t size = p->smallest; size <= p->largest && !bad; size *= 2) {
        bool all_hit;
        WW_TRY(fits(f, size, &all_hit, error));
        if (all_hit)
            good = size;
        else
            bad = size;
    }
    if (!bad || !good) return WW_OK;
    while (bad - good > precision) {
        uint64_t middle = good + (bad - good) / 2 / precision * precision;
        bool all_hit;
        WW_TRY(fits(f, middle, &all_hit, error));
        if (all_hit)
            good = middle;
        else
            bad = middle;
    }
    f->out->size = good;
    f->out->found = true;
    return WW_OK;
}

static enum ww_code stages(struct ww_infer *f, struct ww_error *error) {
    WW_TRY(ww_infer_size(f, error));
    if (!f->out->found) return WW_OK;
    WW_TRY(ww_infer_line(f, error));
    if (!f->plan->sets || !f->out->line) return WW_OK;
    WW_TRY(ww_infer_policy(f, error));
    WW_TRY(ww_infer_sets(f, error));
    ww_infer_map(f);
    return WW_OK;
}

enum ww_code ww_infer(const struct ww_box *box, const struct ww_infer_plan *plan, struct ww_arena *arena,
                      struct ww_infer_cache *out, struct ww_error *error) {
    struct ww_infer f = {.box = box, .plan = plan, .arena = arena, .out = out};
    *out = (struct ww_infer_cache){.found = false};
    enum ww_code code = stages(&f, error);
    free(f.address);
    free(f.latency);
    free(f.set_of);
    free(f.member);
    free(f.other);
    return code;
}
