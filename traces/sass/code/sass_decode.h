/* sass_decode.h: from 128 bits to a decoded instruction. Nothing is guessed: an opcode, a modifier value or a
 * bit that the tables do not know is an error. Any input is safe. The tables are constant; all functions may
 * run in parallel. */
#ifndef WW_SASS_DECODE_H
#define WW_SASS_DECODE_H

#include "../../../estimator/base/err.h"
#include "../../trace.h"
#include "insn.h"

/* The unit that executes an opcode. */
enum ww_sass_unit {
    SASS_UNIT_BRU,    /* branches and barriers */
    SASS_UNIT_ALU,    /* integer and logic */
    SASS_UNIT_FMA,    /* single precision and integer multiplication */
    SASS_UNIT_HALF,   /* packed half precision */
    SASS_UNIT_FP64,   /* double precision */
    SASS_UNIT_XU,     /* transcendental functions and conversions */
    SASS_UNIT_UDP,    /* uniform datapath */
    SASS_UNIT_SREG,   /* special registers */
    SASS_UNIT_LSU,    /* memory, lanes of a warp */
    SASS_UNIT_TEX,    /* textures and surfaces */
    SASS_UNIT_TENSOR, /* matrices */
};
/* Who guards the result: see op.def. */
enum ww_sass_latency { SASS_LATENCY_FIXED, SASS_LATENCY_VARIABLE, SASS_LATENCY_BRANCH };

struct ww_sass_opinfo {
    const char *name;
    enum ww_op class;
    enum ww_space space;
    enum ww_sass_unit unit;
    enum ww_sass_latency latency;
};

/* What is known of an opcode (enum ww_sass_op). */
const struct ww_sass_opinfo *ww_sass_opinfo(unsigned op);

/* Decodes the instruction raw[0], raw[1] at byte `offset` of a function's code. arch is the compute capability
 * times 10 (75). `where` names the code in errors: WW_UNSUPPORTED with offset and bits for what the tables do
 * not know. */
enum ww_code ww_sass_decode(unsigned arch, const uint64_t raw[2], uint32_t offset, const char *where,
                            struct ww_sass_insn *insn, struct ww_error *error);

/* Decodes `bytes` (a multiple of 16) of code into insns, which has bytes / 16 entries. */
enum ww_code ww_sass_decode_all(unsigned arch, const void *code, uint32_t bytes, const char *where,
                                struct ww_sass_insn *insns, struct ww_error *error);

#endif
