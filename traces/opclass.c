/* Names of instruction classes and memory spaces. */
#include "trace.h"

static const struct {
    const char *name;
    enum ww_pipe pipe;
} ops[WW_OP_COUNT] = {
#define X(id, name, pipe, help) [WW_OP_##id] = {name, WW_PIPE_##pipe},
#include "opclass.def"
#undef X
};

static const char *const spaces[WW_SPACE_COUNT] = {
    [WW_SPACE_NONE] = "none",   [WW_SPACE_GLOBAL] = "global", [WW_SPACE_SHARED] = "shared",
    [WW_SPACE_LOCAL] = "local", [WW_SPACE_CONST] = "const",   [WW_SPACE_TEX] = "tex",
};

const char *ww_op_name(enum ww_op op) {
    return (unsigned)op < WW_OP_COUNT ? ops[op].name : NULL;
}

enum ww_pipe ww_op_pipe(enum ww_op op) {
    return (unsigned)op < WW_OP_COUNT ? ops[op].pipe : WW_PIPE_NONE;
}

const char *ww_space_name(enum ww_space space) {
    return (unsigned)space < WW_SPACE_COUNT ? spaces[space] : NULL;
}
