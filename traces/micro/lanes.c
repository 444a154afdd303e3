/* Loads of a warp whose lanes lie apart. */
#include "internal.h"

#define ARRAY ((uint64_t)1 << 32)
#define STEP 4u /* elements between the loads of a thread */

/* Registers: the address, the sum, the loads' values. */
enum { POINTER = 4, SUM = 6, VALUE = 8 };
/* Instructions: address, loads, multiply-adds, exit. */
enum { ADD, LOAD, LOADS = 8, FMA = LOAD + LOADS, FMAS = LOADS / 2, EXIT = FMA + FMAS, INST_COUNT };

static uint64_t place(const struct ww_micro_lanes *l, uint32_t thread) {
    uint64_t x = thread % l->columns, y = thread / l->columns;
    return ARRAY + (l->first + (x % 64) * l->column + (y % 32) * l->row) * l->width;
}

/* Whether the lanes of the warp are the same distance apart; *stride: in bytes. */
static bool affine(const struct ww_micro_lanes *l, uint32_t warp, int64_t *stride) {
    *stride = (int64_t)(place(l, warp * 32 + 1) - place(l, warp * 32));
    for (uint32_t k = 2; k < 32; k++)
        if ((int64_t)(place(l, warp * 32 + k) - place(l, warp * 32 + k - 1)) != *stride) return false;
    return true;
}

static void addresses(const struct ww_micro *m, uint64_t cta, uint32_t warp, struct ww_access *out) {
    const struct ww_micro_lanes *l = &m->lanes;
    int64_t stride;
    bool even = affine(l, warp, &stride);
    (void)cta;
    for (uint32_t r = 0; r < l->repeats; r++)
        for (uint32_t k = 0; k < LOADS; k++)
            *out++ = even ? (struct ww_access){.base = place(l, warp * 32) + (uint64_t)k * STEP * l->width,
                                               .stride = (int32_t)stride,
                                               .list = WW_AFFINE}
                          : (struct ww_access){.list = (warp * LOADS + k) * 32};
}

/* Addresses of all loads of a repetition, lane by lane. */
static bool make_pool(struct ww_micro *m) {
    const struct ww_micro_lanes *l = &m->lanes;
    uint64_t *pool = ww_arena_array(&m->arena, (size_t)l->cta_size * LOADS, sizeof *pool);
    if (!pool) return false;
    for (uint32_t t = 0; t < l->cta_size; t++)
        for (uint32_t k = 0; k < LOADS; k++)
            pool[(t / 32 * LOADS + k) * 32 + t % 32] = place(l, t) + (uint64_t)k * STEP * l->width;
    m->pool = pool;
    return true;
}

static void set_instructions(struct ww_micro *m, uint32_t width) {
    uint16_t n = (uint16_t)(width / 4);
    m->inst[ADD].op = WW_OP_INT;
    m->inst[ADD].mnemonic = WW_MICRO_USE;
    m->inst[ADD].dst_count = m->inst[ADD].src_count = 1;
    m->inst[ADD].dst[0] = m->inst[ADD].src[0] = (struct ww_operand){POINTER, 1};
    for (uint16_t k = 0; k < LOADS; k++) {
        struct ww_inst *load = &m->inst[LOAD + k];
        ww_micro_set_path(load, WW_MICRO_GLOBAL);
        load->width = (uint8_t)width;
        load->dst_count = load->src_count = 1;
        load->dst[0] = (struct ww_operand){(uint16_t)(VALUE + k * n), n};
        load->src[0] = (struct ww_operand){POINTER, 1};
    }
    for (uint16_t k = 0; k < FMAS; k++) {
        struct ww_inst *fma = &m->inst[FMA + k];
        fma->op = width == 8 ? WW_OP_FP64 : WW_OP_FP32;
        fma->mnemonic = WW_MICRO_FFMA;
        fma->dst_count = 1;
        fma->src_count = 3;
        fma->dst[0] = fma->src[2] = (struct ww_operand){SUM, n};
        fma->src[0] = (struct ww_operand){(uint16_t)(VALUE + 2 * k * n), n};
        fma->src[1] = (struct ww_operand){(uint16_t)(VALUE + (2 * k + 1) * n), n};
    }
    m->inst[EXIT].op = WW_OP_EXIT;
    m->inst[EXIT].mnemonic = WW_MICRO_EXIT;
}

enum ww_code ww_micro_lanes_read(const struct ww_micro_lanes *what, struct ww_micro **out,
                                 struct ww_error *error) {
    *out = NULL;
    if (what->cta_size == 0 || what->cta_size > 1024 || what->cta_size % 32 || what->columns == 0 ||
        what->repeats == 0 || what->repeats > 100000 || (what->width != 4 && what->width != 8))
        return ww_fail(error, WW_USAGE, "lanes_read", "%u threads in %u columns, %u bytes, %u repetitions",
                       what->cta_size, what->columns, what->width, what->repeats);
    size_t steps = (size_t)what->repeats * EXIT + 1;
    WW_TRY(ww_micro_new("lanes_read", 1, what->cta_size, INST_COUNT, steps, out, error));
    struct ww_micro *m = *out;
    m->lanes = *what;
    m->addresses = addresses;
    m->launch.registers_per_thread = VALUE + LOADS * 2;
    set_instructions(m, what->width);
    for (uint32_t i = 0; i < what->repeats * EXIT; i++) m->step[i] = (struct ww_step){i % EXIT, UINT32_MAX};
    m->step[steps - 1] = (struct ww_step){EXIT, UINT32_MAX};
    m->step_count = (uint32_t)steps;
    m->access_count = what->repeats * LOADS;
    m->timed_first = LOAD;
    m->timed_end = FMA;
    if (make_pool(m)) return WW_OK;
    ww_micro_free(m);
    *out = NULL;
    return ww_fail_nomem(error, "a microbenchmark");
}
