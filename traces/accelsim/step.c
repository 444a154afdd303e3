/* One line becomes one step of its warp: memory space, addresses within it, barriers, branches. */
#include "../../estimator/api/foreign.h"
#include "import.h"
#include <stdlib.h>
#include <string.h>

#define LOCAL_FRAME ((uint64_t)65536) /* what local offsets are taken modulo */

static bool in_window(uint64_t address, uint64_t base) {
    return base && address >= base && address - base < WW_AS_WINDOW_BYTES;
}

/* Address of the first active lane. */
static uint64_t first_address(const struct ww_as_line *l) {
    if (!l->mask) return 0;
    if (l->form == WW_AS_LIST) return l->address[0];
    return l->base + (uint64_t)(int64_t)l->stride * (unsigned)__builtin_ctz(l->mask);
}

static unsigned space_of(const struct ww_as_import *im, const struct ww_as_line *l) {
    const struct ww_as_header *h = &im->header;
    if (l->code->declared) return l->code->inst.space;
    if (!l->code->row) return WW_SPACE_NONE;
    if (l->code->row->space != WW_SASS_GENERIC) return l->code->row->space;
    uint64_t first = first_address(l);
    if (l->mask && in_window(first, h->shared_base)) return WW_SPACE_SHARED;
    return l->mask && in_window(first, h->local_base) ? WW_SPACE_LOCAL : WW_SPACE_GLOBAL;
}

/* Offset in the CTA's shared memory, or in the thread's frame. */
static uint64_t map(const struct ww_as_import *im, unsigned space, uint64_t address) {
    const struct ww_as_header *h = &im->header;
    if (space == WW_SPACE_SHARED)
        return (in_window(address, h->shared_base) ? address - h->shared_base : address) % WW_AS_WINDOW_BYTES;
    if (space == WW_SPACE_LOCAL)
        return (in_window(address, h->local_base) ? address - h->local_base : address) % LOCAL_FRAME;
    return address;
}

static void note_local(struct ww_as_import *im, uint64_t end) {
    if (end > LOCAL_FRAME) end = LOCAL_FRAME;
    if (end > im->launch.local_bytes) im->launch.local_bytes = (uint32_t)(end + 3) & ~3u;
}

static void add_value(struct ww_as_warp *w, uint64_t value) {
    w->access[w->access_count++] = (struct ww_access){value, 0, WW_AFFINE};
}

/* Matrix rows: only the first 8, 16 or 32 lanes name one; the others' addresses mean nothing, so they repeat
 * those. */
static unsigned row_lanes(const struct ww_as_static *s) {
    if (s->declared || s->row->shape != WW_SASS_ROWS) return 32;
    return ww_sass_has(s->opcode, s->opcode_n, "4") ? 32 : ww_sass_has(s->opcode, s->opcode_n, "2") ? 16 : 8;
}

static void add_list(struct ww_as_import *im, struct ww_as_warp *w, const struct ww_as_line *l,
                     unsigned space) {
    const struct ww_as_static *s = l->code;
    unsigned rows = l->mask == UINT32_MAX ? row_lanes(s) : 32, n = (unsigned)__builtin_popcount(l->mask);
    bool keep = s->declared || space == WW_SPACE_GLOBAL;
    w->access[w->access_count++] = (struct ww_access){0, 0, w->pool_count};
    uint32_t mask = l->mask;
    for (unsigned i = 0; i < n; i++, mask &= mask - 1) {
        unsigned k = rows < 32 ? i % rows : i;
        uint64_t a = l->form == WW_AS_LIST ? l->address[k]
                                           : l->base + (uint64_t)(int64_t)l->stride *
                                                           (rows < 32 ? k : (unsigned)__builtin_ctz(mask));
        a = keep ? a : map(im, space, a);
        if (space == WW_SPACE_LOCAL && !s->declared) note_local(im, a + s->inst.width);
        w->pool[w->pool_count++] = a;
    }
}

static void add_affine(struct ww_as_import *im, struct ww_as_warp *w, const struct ww_as_line *l,
                       unsigned space) {
    uint64_t base = l->base;
    if (!l->code->declared && l->mask && space != WW_SPACE_GLOBAL) {
        uint64_t first = first_address(l), at = map(im, space, first);
        base += at - first;
        if (space == WW_SPACE_LOCAL) {
            unsigned span = 31u - (unsigned)__builtin_clz(l->mask) - (unsigned)__builtin_ctz(l->mask);
            uint64_t last = l->stride > 0 ? (uint64_t)l->stride * span : 0;
            note_local(im, at + last + l->code->inst.width);
        }
    }
    w->access[w->access_count++] = (struct ww_access){l->mask ? base : 0, l->mask ? l->stride : 0, WW_AFFINE};
}

static void push(struct ww_as_warp *w, uint32_t index, uint32_t mask) {
    w->step[w->step_count++] = (struct ww_step){index, mask};
}

/* A bulk transfer: as many steps as its sectors need lanes. */
static enum ww_code add_bulk(struct ww_as_import *im, struct ww_as_warp *w, uint32_t lanes,
                             const struct ww_as_line *l, uint32_t plain, uint32_t with,
                             struct ww_error *error) {
    unsigned width = (unsigned)__builtin_popcount(lanes);
    if (!l->mask || !l->bulk_count || lanes == 0) {
        push(w, plain, l->mask);
        return WW_OK;
    }
    for (size_t i = 0; i < l->bulk_count; i += width) {
        size_t n = l->bulk_count - i < width ? l->bulk_count - i : width;
        if (!ww_as_warp_room(w, 2, 1, 32)) return ww_fail_nomem(error, "a warp");
        push(w, with, n == 32 ? UINT32_MAX : (1u << n) - 1);
        w->access[w->access_count++] = (struct ww_access){0, 0, w->pool_count};
        memcpy(w->pool + w->pool_count, l->bulk + i, n * sizeof *l->bulk);
        w->pool_count += (uint32_t)n;
        im->stats->bulk_steps += i != 0;
    }
    return WW_OK;
}

/* BAR's operands, from its immediates: version 6 has both, version 5 the last one, where a number of threads
 * (at least 32) hides the barrier's number. */
static void set_barrier(struct ww_as_import *im, const struct ww_as_line *l, struct ww_inst *inst) {
    uint64_t number = l->immediates ? l->immediate[0] : 0, threads = 0;
    if (im->header.version >= 6 && l->immediates > 1 && l->immediate[1] >= 32) threads = l->immediate[1];
    if (im->header.version == 5 && number >= 32) {
        threads = number;
        number = 0;
        im->stats->barriers_unnumbered++;
    }
    inst->barrier = number < 16 ? (uint8_t)number : 0;
    inst->barrier_threads = threads <= 1024 ? (uint16_t)threads : 0;
}

/* What the first line of a static instruction adds to it. */
static void complete_static(struct ww_as_import *im, const struct ww_as_line *l) {
    struct ww_as_static *s = l->code;
    if (s->complete) return;
    s->complete = true;
    if (s->inst.op == WW_OP_BARRIER) set_barrier(im, l, &s->inst);
    if (s->row && s->row->shape == WW_SASS_JUMP && l->immediates && l->immediate[0] <= s->pc)
        s->inst.flags |= WW_INST_BACK_EDGE;
}

/* A branch whose mask is part of the one before it was taken by some: it is conditional. */
static void note_branch(struct ww_as_import *im, const struct ww_as_warp *w, const struct ww_as_line *l,
                        uint32_t index) {
    struct ww_as_static *s = l->code;
    if (!s->row || s->row->shape != WW_SASS_JUMP || (s->inst.flags & WW_INST_BRANCH_COND)) return;
    if (l->mask == w->last_mask || (l->mask & ~w->last_mask)) return;
    s->inst.flags |= WW_INST_BRANCH_COND;
    im->parser.code->inst[index].flags |= WW_INST_BRANCH_COND;
}

static enum ww_code count_unknown(struct ww_as_import *im, const struct ww_as_static *s,
                                  struct ww_error *error) {
    struct ww_import_stats *st = im->stats;
    const char *dot = memchr(s->opcode, '.', s->opcode_n);
    int n = (int)(dot ? (size_t)(dot - s->opcode) : s->opcode_n);
    if (im->options->strict) {
        enum ww_code code = ww_as_bad(im->parser.in, error, "unknown opcode %.*s", n, s->opcode);
        if (error) error->code = WW_UNSUPPORTED;
        return code == WW_INPUT ? WW_UNSUPPORTED : code;
    }
    st->unknown_instructions++;
    for (size_t i = 0; i < st->unknown_count; i++)
        if (strncmp(st->unknown[i].opcode, s->opcode, (size_t)n) == 0 && !st->unknown[i].opcode[n]) {
            st->unknown[i].count++;
            return WW_OK;
        }
    if (st->unknown_count == WW_IMPORT_UNKNOWN_MAX || n >= (int)sizeof st->unknown[0].opcode) {
        st->unknown_more++;
        return WW_OK;
    }
    memcpy(st->unknown[st->unknown_count].opcode, s->opcode, (size_t)n);
    st->unknown[st->unknown_count++].count = 1;
    return WW_OK;
}

/* An asynchronous copy is written twice, first with its shared address: the second takes the first's place. */
static void drop_twin(struct ww_as_import *im, struct ww_as_warp *w, const struct ww_as_line *l) {
    bool twin = w->last_copy == l->code && w->step_count && w->step[w->step_count - 1].mask == l->mask;
    bool is_copy = l->code->row && l->code->row->shape == WW_SASS_COPY && l->form != WW_AS_NONE;
    if (twin) {
        w->step_count--;
        const struct ww_access *a = &w->access[--w->access_count];
        if (a->list != WW_AFFINE) w->pool_count = a->list;
        im->stats->twins++;
    }
    w->last_copy = is_copy && !twin ? l->code : NULL;
}

static enum ww_code add_memory(struct ww_as_import *im, struct ww_as_warp *w, uint32_t lanes,
                               const struct ww_as_line *l, struct ww_error *error) {
    struct ww_as_code *c = im->parser.code;
    struct ww_as_static *s = l->code;
    unsigned space = space_of(im, l);
    uint32_t with = 0, plain = 0;
    WW_TRY(ww_as_code_index(c, s, space, true, &with, error));
    if (!s->declared && s->row->shape == WW_SASS_BULK && l->form == WW_AS_NONE) {
        WW_TRY(ww_as_code_index(c, s, space, false, &plain, error));
        return add_bulk(im, w, lanes, l, plain, with, error);
    }
    push(w, with, l->mask);
    if (l->form == WW_AS_AFFINE && (l->mask != UINT32_MAX || row_lanes(s) == 32))
        add_affine(im, w, l, space);
    else
        add_list(im, w, l, space);
    return WW_OK;
}

/* Whether the step has an access, and whether it is a value instead of addresses. */
static bool has_access(const struct ww_as_import *im, const struct ww_as_line *l, bool *value) {
    const struct ww_as_static *s = l->code;
    bool control = s->inst.op == WW_OP_BARRIER || s->inst.op == WW_OP_SLEEP;
    if (s->declared) {
        *value = control;
        return (s->inst.flags & WW_INST_ACCESS) != 0;
    }
    *value = s->inst.op == WW_OP_SLEEP && im->header.version >= 5 && l->immediates;
    if (*value) return true;
    bool bulk = s->row && s->row->shape == WW_SASS_BULK && l->bulk_count;
    return s->row && s->row->space != WW_SPACE_NONE && (l->form != WW_AS_NONE || bulk);
}

static enum ww_code check_line(const struct ww_as_import *im, uint32_t lanes, const struct ww_as_line *l,
                               bool access, bool value, struct ww_error *error) {
    if (l->mask & ~lanes)
        return ww_as_bad(im->parser.in, error, "mask %08x has lanes that the warp does not have (%08x)",
                         l->mask, lanes);
    if (!l->code->declared || !access) return WW_OK;
    if (value && !l->immediates) return ww_as_bad(im->parser.in, error, "the instruction's value is missing");
    if (!value && l->form == WW_AS_NONE)
        return ww_as_bad(im->parser.in, error, "the instruction's addresses are missing");
    return WW_OK;
}

#define POLL_DISTANCE 64u /* instructions of a loop that waits, at most */

/* Counts loads of what every SM sees that repeat the address of the same load just before, while the warp wrote
 * nothing. */
static void note_poll(struct ww_as_import *im, struct ww_as_warp *w, const struct ww_as_line *l,
                      unsigned space) {
    const struct ww_as_static *s = l->code;
    uint16_t op = s->inst.op;
    bool load = op == WW_OP_LOAD && space == WW_SPACE_GLOBAL && s->inst.flags & WW_INST_BYPASS_L1 &&
                !(s->inst.flags & WW_INST_WAIT) && l->form != WW_AS_NONE;
    if (op == WW_OP_STORE || op == WW_OP_ATOMIC || op == WW_OP_REDUCE) w->poll = NULL;
    if (!load) return;
    uint64_t address = l->form == WW_AS_AFFINE ? l->base : l->address[0];
    bool again = w->poll == s && w->poll_address == address && w->step_count - w->poll_step <= POLL_DISTANCE;
    w->poll = s;
    w->poll_address = address;
    w->poll_step = w->step_count;
    if (!again || im->stats->polls++) return;
    snprintf(im->stats->polls_kernel, sizeof im->stats->polls_kernel, "%s", im->parser.code->kernel);
    im->stats->polls_pc = l->pc;
}

enum ww_code ww_as_step_add(struct ww_as_import *im, struct ww_as_warp *w, uint32_t warp,
                            const struct ww_as_line *l, struct ww_error *error) {
    uint32_t lanes = ww_as_lanes(&im->launch, warp), index = 0;
    bool value = false, access = has_access(im, l, &value);
    WW_TRY(check_line(im, lanes, l, access, value, error));
    if (!ww_as_warp_room(w, 1, 1, 32)) return ww_fail_nomem(error, "a warp");
    if (l->code->unknown) WW_TRY(count_unknown(im, l->code, error));
    complete_static(im, l);
    drop_twin(im, w, l);
    note_poll(im, w, l, space_of(im, l));
    if (access && !value) {
        WW_TRY(add_memory(im, w, lanes, l, error));
    } else {
        unsigned space = space_of(im, l);
        WW_TRY(ww_as_code_index(im->parser.code, l->code, space, access, &index, error));
        push(w, index, l->mask);
        if (value && access) add_value(w, l->immediate[0]);
        im->stats->addresses_dropped += l->form != WW_AS_NONE && !access;
        note_branch(im, w, l, index);
    }
    if (l->code->exits) w->exited |= l->mask;
    w->last_mask = l->mask;
    return WW_OK;
}
