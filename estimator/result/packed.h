/* packed.h: counters per instruction in few bytes, for results of many launches.
 *
 * What is the same in every launch of a kernel is kept once; counters are, for each instruction,
 *
 *     | bit i: value i is not 0, (VALUES + 7) / 8 bytes | varints of those |
 *
 * All memory is the arena's that is given to ww_pc_pack.
 */
#ifndef WW_RESULT_PACKED_H
#define WW_RESULT_PACKED_H

#include "../base/arena.h"
#include "../base/buf.h"
#include "../base/err.h"
#include "result.h"

#define WW_PC_CODES 8 /* kernels whose instructions are remembered: launches often take turns */

/* An instruction without its counters. */
struct ww_pc_inst {
    uint32_t inst, pc, line;
    const char *file, *mnemonic;
};
struct ww_pc_code {
    const struct ww_pc_inst *inst;
    size_t count;
};
struct ww_pc_packed {
    struct ww_pc_code code;
    const unsigned char *bytes;
    size_t n;
};
/* State between the launches of a result; begins as {0}. */
struct ww_pc_packer {
    struct ww_pc_code code[WW_PC_CODES];
    unsigned next; /* that is replaced */
    struct ww_buf bytes;
};

/* Moves the launch's rows into l->pc_packed; l->pc is NULL and l->pc_count 0 then. Errors: WW_NOMEM. */
enum ww_code ww_pc_pack(struct ww_pc_packer *p, struct ww_launch_result *l, struct ww_arena *arena,
                        struct ww_error *error);
void ww_pc_packer_free(struct ww_pc_packer *p);
/* The rows again, of which there are packed->code.count: free() them. NULL: no memory. */
struct ww_pc_row *ww_pc_unpack(const struct ww_pc_packed *packed);

#endif
