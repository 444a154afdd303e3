/* opcode.h: what the importer knows of SASS opcodes (opcode.def).
 *
 * The text names the first register of each operand only. A shape says how many follow:
 *
 *     WORD      one register each               LOAD     the result: as many as the width takes
 *     PAIRS     two each (64-bit)               STORE    the last source: as many as the width takes
 *     PAIR_SOURCES  two of each source          ATOMIC   both
 *     WIDE      .WIDE: result and addend two    ROWS     matrix rows of 16 bytes (LDSM, STSM)
 *     CONVERT   by .F64, .S64, .U64             COPY     global to shared, no data registers
 *     MATRIX    by the matrix's shape           BULK     TMA: addresses are not per lane
 *     CLOCK     two, unless .32                 JUMP     the immediate is the target
 *     TRAP      BPT.TRAP ends the thread; other BPT do nothing
 *
 * Addresses in registers take two registers for global and generic memory.
 */
#ifndef WW_ACCELSIM_SASS_H
#define WW_ACCELSIM_SASS_H

#include "../trace.h"

enum ww_sass_shape {
    WW_SASS_WORD,
    WW_SASS_PAIRS,
    WW_SASS_PAIR_SOURCES,
    WW_SASS_WIDE,
    WW_SASS_CONVERT,
    WW_SASS_MATRIX,
    WW_SASS_CLOCK,
    WW_SASS_LOAD,
    WW_SASS_STORE,
    WW_SASS_ATOMIC,
    WW_SASS_ROWS,
    WW_SASS_COPY,
    WW_SASS_BULK,
    WW_SASS_JUMP,
    WW_SASS_TRAP
};
#define WW_SASS_GENERIC WW_SPACE_COUNT

struct ww_sass_row {
    const char *mnemonic;
    uint8_t op, space, shape;
};

/* The row of an opcode (n bytes, with its suffixes), or NULL if it is unknown. */
const struct ww_sass_row *ww_sass_find(const char *opcode, size_t n);
/* True if one of the opcode's suffixes is `suffix`. */
bool ww_sass_has(const char *opcode, size_t n, const char *suffix);
/* Bytes that each lane accesses, by the opcode's first suffix that tells; 4 if none does. */
uint8_t ww_sass_width(const struct ww_sass_row *row, const char *opcode, size_t n);
/* Fills class, space, width, flags and the register counts of the operands, whose first registers and whose
 * number are there already; a generic space becomes global. */
void ww_sass_describe(const struct ww_sass_row *row, const char *opcode, size_t n, struct ww_inst *inst);

#endif
