/* Programs at random. */
#include "random_fixture.h"

static const enum ww_op arithmetic[] = {WW_OP_INT,  WW_OP_IMUL,    WW_OP_FP32,   WW_OP_FP64, WW_OP_SFU,
                                        WW_OP_FP16, WW_OP_SHUFFLE, WW_OP_BRANCH, WW_OP_NOP,  WW_OP_FENCE};
static const enum ww_space spaces[] = {WW_SPACE_GLOBAL, WW_SPACE_SHARED, WW_SPACE_LOCAL, WW_SPACE_CONST,
                                       WW_SPACE_GLOBAL};

void random_instructions(struct program *p, struct ww_rng *r) {
    for (int i = 0; i < 24; i++) {
        int d = (int)ww_rng_below(r, 12), a = (int)ww_rng_below(r, 12), b = (int)ww_rng_below(r, 12);
        program_inst(p, arithmetic[ww_rng_below(r, 10)], d, a, b);
    }
    for (int i = 0; i < 24; i++) {
        enum ww_space space = spaces[ww_rng_below(r, 5)];
        enum ww_op op = WW_OP_LOAD;
        uint32_t kind = ww_rng_below(r, 8);
        if (kind < 3 && space != WW_SPACE_CONST) op = WW_OP_STORE;
        if (kind == 3 && (space == WW_SPACE_GLOBAL || space == WW_SPACE_SHARED)) op = WW_OP_ATOMIC;
        if (kind == 4 && space == WW_SPACE_GLOBAL) op = WW_OP_REDUCE;
        bool result = op == WW_OP_LOAD || op == WW_OP_ATOMIC;
        uint32_t inst = program_memory(p, op, space, 1u << ww_rng_below(r, 5),
                                       result ? (int)ww_rng_below(r, 12) : -1, (int)ww_rng_below(r, 12));
        if (kind == 7) p->inst[inst].flags |= WW_INST_BYPASS_L1;
        if (kind == 6) p->inst[inst].flags |= WW_INST_READ_ONLY;
        if (kind == 5 && space == WW_SPACE_GLOBAL) {
            p->inst[inst].op = WW_OP_TEXTURE;
            p->inst[inst].space = WW_SPACE_TEX;
        }
    }
}

static void random_access(struct program *p, struct ww_rng *r, uint32_t warp, uint32_t inst, uint32_t mask) {
    uint64_t address[32];
    uint64_t base = ww_rng_below(r, 1u << 14) & ~15u;
    if (ww_rng_below(r, 3)) {
        program_access(p, warp, inst, mask, base, (int32_t)(ww_rng_below(r, 4) * p->inst[inst].width));
        return;
    }
    for (int i = 0; i < 32; i++) address[i] = ww_rng_below(r, 1u << 14) & ~15u;
    program_list(p, warp, inst, mask, address);
}

void random_streams(struct program *p, struct ww_rng *r) {
    uint32_t bar = program_inst(p, WW_OP_BARRIER, -1, -1, -1);
    for (uint32_t w = 0; w < p->launch.warps_per_cta * p->variants; w++) {
        uint32_t valid = w % p->launch.warps_per_cta + 1 == p->launch.warps_per_cta ? 0xffffu : ALL;
        for (int part = 0; part < 3; part++) {
            for (uint32_t n = ww_rng_below(r, 30); n; n--) {
                uint32_t inst = ww_rng_below(r, 48), mask = valid & (uint32_t)ww_rng_next(r);
                if (ww_rng_below(r, 2)) mask = valid;
                if (p->inst[inst].flags & WW_INST_ACCESS)
                    random_access(p, r, w, inst, mask);
                else
                    program_step(p, w, inst, mask);
            }
            if (part < 2) program_step(p, w, bar, valid);
        }
    }
}
