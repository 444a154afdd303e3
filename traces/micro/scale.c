/* A small kernel: one double a thread. */
#include "internal.h"

/* Registers: index, address, value, product. */
enum { INDEX = 4, ADDRESS = 6, VALUE = 8, PRODUCT = 10 };
/* Special registers, index, bound and address take eight instructions; then load, multiplication, store. */
enum { FIRST, PROLOGUE = 8, LOAD = FIRST + PROLOGUE, MULTIPLY, STORE, EXIT, INST_COUNT };

static void addresses(const struct ww_micro *m, uint64_t cta, uint32_t warp, struct ww_access *out) {
    uint64_t at = (cta * m->scale.cta_size + warp * 32u) * 8;
    out[0] = (struct ww_access){m->scale.from + at, 8, WW_AFFINE};
    out[1] = (struct ww_access){m->scale.to + at, 8, WW_AFFINE};
}

static void set_instructions(struct ww_micro *m) {
    const struct ww_operand address = {ADDRESS, 2}, value = {VALUE, 2}, product = {PRODUCT, 2};
    struct ww_inst *inst = m->inst;
    for (uint32_t i = FIRST; i < PROLOGUE; i++) {
        inst[i].op = i < 2 ? WW_OP_SYSREG : WW_OP_INT;
        inst[i].mnemonic = WW_MICRO_USE;
        inst[i].dst_count = inst[i].src_count = 1;
        inst[i].src[0] = (struct ww_operand){INDEX, 1};
        inst[i].dst[0] = i + 1 < PROLOGUE ? inst[i].src[0] : address;
    }
    ww_micro_set_path(&inst[LOAD], WW_MICRO_GLOBAL);
    inst[LOAD].width = inst[STORE].width = 8;
    inst[LOAD].dst_count = inst[LOAD].src_count = 1;
    inst[LOAD].dst[0] = value;
    inst[LOAD].src[0] = address;
    inst[MULTIPLY].op = WW_OP_FP64;
    inst[MULTIPLY].mnemonic = WW_MICRO_DMUL;
    inst[MULTIPLY].dst_count = inst[MULTIPLY].src_count = 1;
    inst[MULTIPLY].dst[0] = product;
    inst[MULTIPLY].src[0] = value;
    inst[STORE].op = WW_OP_STORE;
    inst[STORE].space = WW_SPACE_GLOBAL;
    inst[STORE].mnemonic = WW_MICRO_ST;
    inst[STORE].flags = WW_INST_ACCESS;
    inst[STORE].src_count = 2;
    inst[STORE].src[0] = address;
    inst[STORE].src[1] = product;
    inst[EXIT].op = WW_OP_EXIT;
    inst[EXIT].mnemonic = WW_MICRO_EXIT;
}

enum ww_code ww_micro_scale(const struct ww_micro_scale *what, struct ww_micro **out, struct ww_error *error) {
    *out = NULL;
    if (what->ctas == 0 || what->cta_size == 0 || what->cta_size > 1024 || what->cta_size % 32)
        return ww_fail(error, WW_USAGE, "scale", "%u CTAs of %u threads", what->ctas, what->cta_size);
    WW_TRY(ww_micro_new("scale", what->ctas, what->cta_size, INST_COUNT, INST_COUNT, out, error));
    struct ww_micro *m = *out;
    m->scale = *what;
    m->addresses = addresses;
    set_instructions(m);
    for (uint32_t i = 0; i < INST_COUNT; i++) m->step[i] = (struct ww_step){i, UINT32_MAX};
    m->step_count = INST_COUNT;
    m->access_count = 2;
    return WW_OK;
}
