/* core_int.h: the microbenchmarks of the suite "core", as reports/core.sass has them.
 *
 * Lines of that file; what stands behind the machine code of an instruction is for people (a test checks it):
 *
 *     gpu NAME BASE KEY=VALUE ...    a GPU of models/ with other parameters
 *     kernel NAME sm_NN              what follows, up to the next such line, is of this kernel
 *     turn                           from here on, what a warp repeats; before it, what it executes once
 *     repeat N ... end               so many copies of the instructions between them, one behind the other
 *     skip N                         so many instructions lie here that are not executed
 *     at BASE STRIDE                 addresses of the next instruction: lane l's is BASE + STRIDE * l
 *     idle                           no lane executes the next instruction (its predicate is false)
 *     [>] HEX TEXT                   an instruction's 128 bits as `warpwatt disasm --bits` prints them; >:
 * timed run ID GPU KEY=VALUE ... a row: the target that it is compared with, and how it is measured
 *
 * Keys of a run: warps (of the CTA), turns (a number: cycles from the first timed instruction to the last one
 * in the last turn; A:B: cycles of a launch of B turns less those of one of A, for a turn), of (the turn that
 * is timed, from 0), cluster (CTAs, which make up one cluster; an address of rank r has r + 1 above bit 24),
 * launch (1 or 2: of a first or a second one), per (what the cycles are divided by), control (0: registers
 * decide, whatever the compiler wrote). */
#ifndef WW_VALIDATE_CORE_INT_H
#define WW_VALIDATE_CORE_INT_H

#include "../../../../traces/micro/micro.h"
#include "../rows/validate.h"

struct core_gpu {
    const char *name, *base;
    const char **set;
    uint32_t count;
};

struct core_run {
    const char *id;
    const struct core_gpu *gpu;
    uint32_t warps, turns, more, of, launch, cluster; /* more: B of turns=A:B, else 0 */
    bool control;
    double per, ours;
};

struct core_kernel {
    const char *name, *arch;
    struct ww_inst *inst;
    struct ww_access *access;                    /* by instruction */
    uint32_t *mask;                              /* the same: lanes that execute it */
    uint32_t *path;                              /* instructions in the order in which they are executed */
    uint32_t inst_count, path_count, turn, room; /* turn: place in the path at which it begins */
    const char **string;                         /* mnemonics; [0] is "" */
    uint32_t string_count;
    uint32_t first, last; /* instructions that are timed, UINT32_MAX: none */
    struct core_run *run;
    uint32_t run_count;
};

struct core_suite {
    struct core_gpu *gpu;
    struct core_kernel *kernel;
    uint32_t gpu_count, kernel_count;
};

/* Reads the text, which is not changed. All memory is the arena's. Errors: WW_INPUT with the line, WW_NOMEM. */
enum ww_code ww_core_read(const char *text, size_t size, const char *name, struct ww_arena *arena,
                          struct core_suite *out, struct ww_error *error);
/* The kernel with so many turns, as a microbenchmark. */
enum ww_code ww_core_micro(const struct core_kernel *k, const struct core_run *run, uint32_t turns,
                           struct ww_micro **out, struct ww_error *error);

#endif
