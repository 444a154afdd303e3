/* Expanding the control-flow paths of a CTA group. */
#include "../../estimator/base/bits.h"
#include "bytes.h"
#include "decode_int.h"
#include <stdlib.h>
#include <string.h>

/* Lengths of all paths. A step costs at most 1/inst_count of a byte in the run column, which bounds what a
 * file can make us allocate. */
static bool read_lengths(struct ww_wwt_decoder *x) {
    struct ww_wwt_decoded *d = x->d;
    struct ww_cursor *c = &x->col[WW_WWT_COL_LENGTH];
    const struct ww_cursor *run = &x->col[WW_WWT_COL_RUN];
    uint64_t most = (uint64_t)(run->end - run->p) * x->launch->inst_count, total = 0;
    if (most > WW_WWT_STEPS_MAX) most = WW_WWT_STEPS_MAX;
    for (size_t i = 0; i < d->path_count; i++) {
        uint64_t n = ww_wwt_varint(c);
        if (c->failed || n > most - total) return ww_wwt_reject(x, c, "paths have more steps than their data");
        d->path[i].step_count = (uint32_t)n;
        d->path[i].first_step = (size_t)total;
        total += n;
    }
    d->step_count = (size_t)total;
    d->step = ww_wwt_room(d, &d->step_room, d->step_count, sizeof *d->step);
    return d->step ? true : ww_wwt_no_memory(x);
}

/* Runs of consecutive instructions. before[i]: how many of the instructions below i have an access. */
static bool read_insts(struct ww_wwt_decoder *x, struct ww_wwt_path *path, const uint32_t *before) {
    struct ww_cursor *start = &x->col[WW_WWT_COL_START], *length = &x->col[WW_WWT_COL_RUN];
    struct ww_step *step = x->d->step + path->first_step, *end = step + path->step_count;
    uint64_t next = 0, count = x->launch->inst_count;
    while (step < end) {
        uint64_t inst = next + ww_wwt_svarint(start), n = ww_wwt_varint(length);
        if (inst >= count || n >= count - inst || n >= (uint64_t)(end - step))
            return ww_wwt_reject(x, start, "a step's instruction is out of range");
        if (start->failed || length->failed) return ww_wwt_reject(x, start, "the steps are cut off");
        next = inst + n + 1;
        path->access_count += before[next] - before[inst];
        for (uint32_t i = (uint32_t)inst; i < (uint32_t)next; i++) (step++)->inst = i;
    }
    return true;
}

/* The lanes of `parent` whose bit is set: bit n is that of the lane n of them from below. */
static uint32_t spread_plain(uint32_t bits, uint32_t parent) {
    uint32_t mask = 0;
    for (; parent; parent &= parent - 1, bits >>= 1) mask |= parent & (0u - parent) & (0u - (bits & 1u));
    return mask;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("bmi2"))) static uint32_t spread_host(uint32_t bits, uint32_t parent) {
    return __builtin_ia32_pdep_si(bits, parent);
}
#define SPREAD(bits, parent)                                                                                   \
    (__builtin_cpu_supports("bmi2") ? spread_host(bits, parent) : spread_plain(bits, parent))
#else
#define SPREAD(bits, parent) spread_plain(bits, parent)
#endif

static uint32_t read_subset(struct ww_wwt_decoder *x, uint32_t parent) {
    uint32_t n = ww_bits(parent);
    if (n <= 8) return SPREAD(ww_wwt_byte(&x->col[WW_WWT_COL_SUBSET]), parent);
    struct ww_cursor *c = &x->col[WW_WWT_COL_SUBSET_WIDE];
    uint32_t bits = ww_wwt_byte(c);
    for (uint32_t at = 8; at < n; at += 8) bits |= (uint32_t)ww_wwt_byte(c) << at;
    return SPREAD(bits, parent);
}

static uint32_t read_mask(struct ww_wwt_decoder *x, unsigned token, uint32_t recent[WW_WWT_MASK_RECENT]) {
    uint32_t mask;
    unsigned place = WW_WWT_MASK_RECENT - 1; /* that the mask moves to the front from */
    if (token < WW_WWT_MASK_RECENT)
        mask = recent[place = token];
    else if (token == WW_WWT_MASK_REST)
        mask = recent[1] & ~recent[0];
    else if (token >= WW_WWT_MASK_SUBSET)
        mask = read_subset(x, recent[token - WW_WWT_MASK_SUBSET]);
    else
        mask = ww_cursor_u32(&x->col[WW_WWT_COL_MASK_BITS]);
    for (; place; place--) recent[place] = recent[place - 1];
    return recent[0] = mask;
}

/* Runs of equal masks. */
static bool read_masks(struct ww_wwt_decoder *x, struct ww_wwt_path *path) {
    struct ww_cursor *c = &x->col[WW_WWT_COL_MASK], *more = &x->col[WW_WWT_COL_MASK_RUN];
    struct ww_step *step = x->d->step + path->first_step, *end = step + path->step_count;
    uint32_t recent[WW_WWT_MASK_RECENT] = {UINT32_MAX};
    bool subsets = x->version >= WW_WWT_VERSION_SUBSET;
    unsigned most = subsets ? WW_WWT_MASK_SUBSET + WW_WWT_MASK_PARENTS - 1 : WW_WWT_MASK_LITERAL;
    while (step < end) {
        unsigned char byte = ww_wwt_byte(c);
        uint64_t n = byte >> 4;
        if (n == WW_WWT_MASK_LONG) n += ww_wwt_varint(more);
        if (c->failed || n >= (uint64_t)(end - step) || (byte & 15) > most)
            return ww_wwt_reject(x, c, "the masks do not fit the steps");
        uint32_t mask = read_mask(x, byte & 15, recent);
        path->mask |= mask;
        for (struct ww_step *last = step + n; step <= last; step++) step->mask = mask;
    }
    if (more->failed || x->col[WW_WWT_COL_MASK_BITS].failed || x->col[WW_WWT_COL_SUBSET].failed ||
        x->col[WW_WWT_COL_SUBSET_WIDE].failed)
        return ww_wwt_reject(x, c, "the masks are cut off");
    return true;
}

/* The steps that have an access, one after the other, for the access decoder. */
static bool collect_access_steps(struct ww_wwt_decoder *x) {
    struct ww_wwt_decoded *d = x->d;
    const struct ww_inst *inst = x->launch->inst;
    size_t total = 0;
    for (size_t k = 0; k < d->path_count; k++) {
        d->path[k].first_access = total;
        total += d->path[k].access_count;
    }
    d->access_step = malloc((total + 1) * sizeof *d->access_step);
    if (!d->access_step) return ww_wwt_no_memory(x);
    struct ww_step *to = d->access_step;
    for (const struct ww_step *step = d->step, *end = step + d->step_count; step < end; step++)
        if (inst[step->inst].flags & WW_INST_ACCESS) *to++ = *step;
    return true;
}

/* For each instruction, and the end of the table, how many before it have an access; NULL: no memory. */
static uint32_t *count_accesses(const struct ww_launch *l) {
    uint32_t *before = malloc(((size_t)l->inst_count + 1) * sizeof *before), n = 0;
    for (uint32_t i = 0; before && i <= l->inst_count; i++) {
        before[i] = n;
        if (i < l->inst_count) n += l->inst[i].flags & WW_INST_ACCESS;
    }
    return before;
}

static bool read_paths(struct ww_wwt_decoder *x, const uint32_t *before) {
    struct ww_wwt_decoded *d = x->d;
    for (size_t i = 0; i < d->path_count; i++)
        if (!read_insts(x, &d->path[i], before) || !read_masks(x, &d->path[i])) return false;
    return true;
}

bool ww_wwt_decode_paths(struct ww_wwt_decoder *x, size_t path_count) {
    _Static_assert(WW_INST_ACCESS == 1, "count_accesses adds the flag up");
    struct ww_wwt_decoded *d = x->d;
    d->path = calloc(path_count + 1, sizeof *d->path);
    if (!d->path) return ww_wwt_no_memory(x);
    d->path_count = path_count;
    if (!read_lengths(x)) return false;
    uint32_t *before = count_accesses(x->launch);
    bool ok = before ? read_paths(x, before) && collect_access_steps(x) : ww_wwt_no_memory(x);
    free(before);
    return ok;
}
