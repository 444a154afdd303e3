/* The rows of sass_opcode.def and what is known of each opcode. */
#include "row.h"

#define ROW(op, bits, forms, min, max, uniform, fields, opds)                                                  \
    {SASS_##op, bits, forms, min, max, uniform, fields, opds},
static const struct ww_sass_row rows[] = {
#include "sass_opcode.def"
};

const struct ww_sass_row *ww_sass_row(unsigned number) {
    return number < COUNT(rows) ? &rows[number] : NULL;
}

unsigned ww_sass_row_count(void) {
    return COUNT(rows);
}

static const struct ww_sass_opinfo infos[SASS_OP_COUNT] = {
    [SASS_INVALID] = {"INVALID", WW_OP_NOP, WW_SPACE_NONE, SASS_UNIT_BRU, SASS_LATENCY_FIXED},
#define OP(id, name, class, space, unit, latency)                                                              \
    [SASS_##id] = {name, WW_OP_##class, WW_SPACE_##space, SASS_UNIT_##unit, SASS_LATENCY_##latency},
#include "op.def"
#undef OP
};

const struct ww_sass_opinfo *ww_sass_opinfo(unsigned op) {
    return &infos[op < SASS_OP_COUNT ? op : SASS_INVALID];
}
