/* Chases: each load needs the value of the one before. */
#include "internal.h"

#define POINTER_REG 4 /* the address, and the value that is the next one */

enum { LOAD, USE, EXIT, INST_COUNT };

/* `count` times the load, and one use of the last value. */
static enum ww_code new_chase(const char *kernel, uint32_t threads, size_t count, struct ww_micro **out,
                              struct ww_error *error) {
    if (count == 0 || count > UINT32_MAX - 2)
        return ww_fail(error, WW_USAGE, kernel, "a chase of %zu accesses", count);
    WW_TRY(ww_micro_new(kernel, 1, threads, INST_COUNT, count + 2, out, error));
    struct ww_micro *m = *out;
    const struct ww_operand pointer = {POINTER_REG, 1};
    uint32_t mask = threads >= 32 ? UINT32_MAX : (1u << threads) - 1;
    m->inst[LOAD].dst_count = m->inst[LOAD].src_count = 1;
    m->inst[LOAD].dst[0] = m->inst[LOAD].src[0] = pointer;
    m->inst[USE].op = WW_OP_INT;
    m->inst[USE].mnemonic = WW_MICRO_USE;
    m->inst[USE].src_count = 1;
    m->inst[USE].src[0] = pointer;
    m->inst[EXIT].op = WW_OP_EXIT;
    m->inst[EXIT].mnemonic = WW_MICRO_EXIT;
    m->step_count = (uint32_t)count + 2;
    m->access_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) m->step[i] = (struct ww_step){LOAD, mask};
    m->step[count] = (struct ww_step){USE, mask};
    m->step[count + 1] = (struct ww_step){EXIT, mask};
    m->timed_first = LOAD;
    m->timed_end = USE + 1;
    m->access = ww_arena_array(&m->arena, count, sizeof *m->access);
    if (m->access) return WW_OK;
    ww_micro_free(m);
    *out = NULL;
    return ww_fail_nomem(error, "a microbenchmark");
}

enum ww_code ww_micro_chase(const struct ww_micro_chase *what, struct ww_micro **out, struct ww_error *error) {
    *out = NULL;
    if (what->path >= WW_MICRO_PATH_COUNT) return ww_fail(error, WW_USAGE, "pchase", "no such path");
    WW_TRY(new_chase("pchase", 1, what->count, out, error));
    struct ww_micro *m = *out;
    ww_micro_set_path(&m->inst[LOAD], what->path);
    m->inst[LOAD].width = 4;
    m->launch.shared_static = what->shared_bytes;
    for (size_t i = 0; i < what->count; i++) m->access[i] = (struct ww_access){what->address[i], 0, WW_AFFINE};
    return WW_OK;
}

enum ww_code ww_micro_smem_stride(uint32_t stride, uint32_t width, size_t count, struct ww_micro **out,
                                  struct ww_error *error) {
    *out = NULL;
    if ((width != 4 && width != 8) || stride > 1024)
        return ww_fail(error, WW_USAGE, "smem_stride", "stride %u of words of %u bytes", stride, width);
    WW_TRY(new_chase("smem_stride", 32, count, out, error));
    struct ww_micro *m = *out;
    ww_micro_set_path(&m->inst[LOAD], WW_MICRO_SHARED);
    m->inst[LOAD].width = (uint8_t)width;
    if (width == 8) m->inst[LOAD].dst[0].n = m->inst[LOAD].src[0].n = m->inst[USE].src[0].n = 2;
    m->launch.shared_static = (31 * stride + 1) * width;
    for (size_t i = 0; i < count; i++)
        m->access[i] = (struct ww_access){0, (int32_t)(stride * width), WW_AFFINE};
    return WW_OK;
}
